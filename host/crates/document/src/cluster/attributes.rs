//! The attributes that a cluster's document adds to the schema.

use crate::form::{BOOLEAN, Fields, Key, Shape, TEXT, key};
use crate::{Content, Entry, Node, Place, Problems, Table, Word, words};
use placewright_model::schema::{Attribute, AttributeShape, LONGEST_NAME, Schema};
use placewright_model::{Kind, Measure};

/// What attributes can be defined for.
pub(crate) const FORM: &[Key] = &[
    key("hosts", Shape::Open, "Attributes of hosts"),
    key("vms", Shape::Open, "Attributes of VMs"),
    key("tenants", Shape::Open, "Attributes of tenants"),
    key("clusters", Shape::Open, "Attributes of clusters"),
];

/// An attribute that is not written as its kind alone.
pub(crate) const ATTRIBUTE: &[Key] = &[
    key("kind", Shape::Word(words::<Kind>), "Kind of its values"),
    key(
        "measure",
        Shape::Word(words::<Measure>),
        "Unit of measure of its values",
    ),
    key("meaning", TEXT, "One sentence").such_as("The team that answers for it"),
    key(
        "need",
        BOOLEAN,
        "Of VMs: whether a request with a value of it is refused where no filter of the policy reads it",
    ),
    key(
        "table",
        Shape::Open,
        "For an attribute that is a table: its columns, each as its kind or as a table of kind and measure",
    ),
];

/// The most columns of an attribute that is a table.
const MOST_COLUMNS: usize = 256;

/// A column of an attribute that is a table.
pub(crate) const COLUMN: &[Key] = &[
    crate::form::required("kind", Shape::Word(words::<Kind>), "Kind of its values"),
    key(
        "measure",
        Shape::Word(words::<Measure>),
        "Unit of measure of its values",
    ),
];

/// The built-in schema with the attributes of the document.
pub(super) fn schema(document: &Fields<'_>, problems: &mut Problems) -> Schema {
    let mut schema = Schema::default();
    for (attribute, place) in read(document, problems) {
        if let Err(error) = schema.define(&attribute) {
            problems.add(place, error.to_string());
        }
    }
    schema
}

/// The attributes that a document defines, each with its place.
pub(crate) fn read<'t>(
    document: &Fields<'t>,
    problems: &mut Problems,
) -> Vec<(Attribute, &'t Place)> {
    let Some(table) = document.table("attributes") else {
        return Vec::new();
    };
    let entities = Fields::read(table, FORM, "\"attributes\"", problems);
    let mut attributes = Vec::new();
    for entity in FORM {
        let entries = entities.table(entity.name).map(|table| &table.entries);
        for entry in entries.into_iter().flatten() {
            let defined = attribute(entity.name, entry, problems);
            attributes.extend(defined.map(|it| (it, &entry.place)));
        }
    }
    attributes
}

fn attribute(entity: &'static str, entry: &Entry, problems: &mut Problems) -> Option<Attribute> {
    let (shape, meaning, need) = shape(&entry.node, problems)?;
    if need && entity != "vms" {
        let message = format!("attributes of {entity} are no needs: only those of vms can be");
        problems.add(&entry.node.place, message);
    }
    Some(Attribute {
        entity,
        name: entry.key.as_ref().to_owned(),
        shape,
        meaning,
        need,
    })
}

/// What an attribute is, what it means, and whether it is a need.
fn shape(node: &Node, problems: &mut Problems) -> Option<(AttributeShape, String, bool)> {
    let Content::Table(table) = &node.content else {
        let (kind, measure) = column(node, problems)?;
        return Some((AttributeShape::Column(kind, measure), String::new(), false));
    };
    let fields = Fields::read(table, ATTRIBUTE, "an attribute", problems);
    let shape = match fields.table("table") {
        Some(columns) => {
            if let Some(place) = fields.place_of("kind").or(fields.place_of("measure")) {
                problems.add(
                    place,
                    "an attribute that is a table has no kind and no measure: its columns have",
                );
            }
            AttributeShape::Table(self::columns(columns, problems)?)
        }
        None if table.get("kind").is_none() && table.get("table").is_none() => {
            problems.add(
                &node.place,
                "an attribute needs \"kind\" or, if it is a table, \"table\"",
            );
            return None;
        }
        None => {
            let (kind, measure) = kind(&fields, problems)?;
            AttributeShape::Column(kind, measure)
        }
    };
    let meaning = fields.text("meaning");
    let meaning = meaning.as_deref().unwrap_or_default().to_owned();
    Some((shape, meaning, fields.boolean("need").unwrap_or_default()))
}

fn columns(table: &Table, problems: &mut Problems) -> Option<Vec<(String, Kind, Option<Measure>)>> {
    if table.entries.is_empty() {
        problems.add(&table.place, "a table needs at least one column");
        return None;
    }
    if table.entries.len() > MOST_COLUMNS {
        let message = format!("a table has at most {MOST_COLUMNS} columns");
        problems.add(&table.place, message);
        return None;
    }
    let columns = table.entries.iter().filter_map(|entry| {
        if entry.key.len() > LONGEST_NAME {
            let message = format!("the name of a column has at most {LONGEST_NAME} bytes");
            problems.add(&entry.place, message);
            return None;
        }
        let (kind, measure) = column(&entry.node, problems)?;
        Some((entry.key.as_ref().to_owned(), kind, measure))
    });
    Some(columns.collect())
}

/// `"integer"` or `{ kind = "integer", measure = "bytes" }`.
fn column(node: &Node, problems: &mut Problems) -> Option<(Kind, Option<Measure>)> {
    match &node.content {
        Content::Table(table) => {
            let fields = Fields::read(table, COLUMN, "a column", problems);
            kind(&fields, problems)
        }
        Content::Text(word) => {
            let kind = Kind::from_word(word);
            if kind.is_none() {
                misspelt(node, word, problems);
            }
            Some((kind?, None))
        }
        other => {
            problems.add(
                &node.place,
                format!(
                    "an attribute is defined by a kind, or by a table, not by {}",
                    other.noun()
                ),
            );
            None
        }
    }
}

fn misspelt(node: &Node, word: &str, problems: &mut Problems) {
    let kinds = words::<Kind>();
    problems.add_misnamed(
        &node.place,
        format!(
            "\"{}\" is no kind of values: there are {}",
            crate::shown(word),
            crate::alternatives(&kinds).replace(" or ", " and ")
        ),
        word,
        kinds,
    );
}

/// The kind and measure of a column, if they go together.
fn kind(fields: &Fields<'_>, problems: &mut Problems) -> Option<(Kind, Option<Measure>)> {
    let kind: Kind = fields.word("kind")?;
    let measure: Option<Measure> = fields.word("measure");
    let fits = match measure {
        None => true,
        Some(Measure::Fraction) => kind == Kind::Number,
        Some(Measure::Percent) => matches!(kind, Kind::Number | Kind::Integer),
        Some(_) => kind == Kind::Integer,
    };
    if let (false, Some(measure), Some(place)) = (fits, measure, fields.place_of("measure")) {
        let right = match measure {
            Measure::Fraction | Measure::Percent => Kind::Number,
            _ => Kind::Integer,
        };
        problems.add(
            place,
            format!("values in {measure} are of kind \"{right}\", not \"{kind}\""),
        );
        return None;
    }
    Some((kind, measure))
}
