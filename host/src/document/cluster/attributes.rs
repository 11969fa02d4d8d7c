//! The attributes that a cluster's document adds to the schema.

use crate::document::form::{BOOLEAN, Fields, Key, Shape, TEXT, key};
use crate::document::{Content, Entry, Node, Problems, Table, Word, words};
use crate::model::schema::Schema;
use crate::model::{Kind, Measure};

/// What attributes can be defined for.
pub(super) const FORM: &[Key] = &[
    key("hosts", Shape::Open, "Attributes of hosts"),
    key("vms", Shape::Open, "Attributes of VMs"),
    key("tenants", Shape::Open, "Attributes of tenants"),
    key("clusters", Shape::Open, "Attributes of clusters"),
];

/// An attribute that is not written as its kind alone.
pub(in crate::document) const ATTRIBUTE: &[Key] = &[
    key("kind", Shape::Word(words::<Kind>), "Kind of its values"),
    key(
        "measure",
        Shape::Word(words::<Measure>),
        "Unit of measure of its values",
    ),
    key("meaning", TEXT, "One sentence"),
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

const COLUMN: &[Key] = &[
    crate::document::form::required("kind", Shape::Word(words::<Kind>), "Kind of its values"),
    key(
        "measure",
        Shape::Word(words::<Measure>),
        "Unit of measure of its values",
    ),
];

impl Word for Kind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("text", Self::Text),
    ];
}

impl Word for Measure {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("bytes", Self::Bytes),
        ("millicores", Self::Millicores),
        ("seconds", Self::Seconds),
        ("time", Self::Time),
        ("fraction", Self::Fraction),
        ("percent", Self::Percent),
    ];
}

/// The built-in schema with the attributes of the document.
pub(super) fn schema(document: &Fields<'_>, problems: &mut Problems) -> Schema {
    let mut schema = Schema::default();
    let Some(table) = document.table("attributes") else {
        return schema;
    };
    let entities = Fields::read(table, FORM, "\"attributes\"", problems);
    for entity in FORM {
        if let Some(table) = entities.table(entity.name) {
            for entry in &table.entries {
                define(&mut schema, entity.name, entry, problems);
            }
        }
    }
    schema
}

fn define(schema: &mut Schema, entity: &str, entry: &Entry, problems: &mut Problems) {
    let Some(attribute) = Attribute::read(&entry.node, problems) else {
        return;
    };
    let (name, meaning) = (&*entry.key, &*attribute.meaning);
    let defined = match attribute.shape {
        AttributeShape::Column(kind, measure) => {
            schema.define_attribute(entity, name, kind, measure, meaning)
        }
        AttributeShape::Table(columns) => {
            schema.define_attribute_table(entity, name, &columns, meaning)
        }
    };
    match defined {
        Err(error) => problems.add(&entry.place, error.to_string()),
        Ok(()) if attribute.need && entity == "vms" => schema.declare_need(name, meaning),
        Ok(()) if attribute.need => problems.add(
            &entry.node.place,
            format!("attributes of {entity} are no needs: only those of vms can be"),
        ),
        Ok(()) => {}
    }
}

struct Attribute {
    shape: AttributeShape,
    meaning: String,
    need: bool,
}

enum AttributeShape {
    Column(Kind, Option<Measure>),
    Table(Vec<(String, Kind, Option<Measure>)>),
}

impl Attribute {
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Content::Table(table) = &node.content else {
            let (kind, measure) = column(node, problems)?;
            return Some(Self {
                shape: AttributeShape::Column(kind, measure),
                meaning: String::new(),
                need: false,
            });
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
        Some(Self {
            shape,
            meaning: meaning.as_deref().unwrap_or_default().to_owned(),
            need: fields.boolean("need").unwrap_or_default(),
        })
    }
}

fn columns(table: &Table, problems: &mut Problems) -> Option<Vec<(String, Kind, Option<Measure>)>> {
    if table.entries.is_empty() {
        problems.add(&table.place, "a table needs at least one column");
        return None;
    }
    let columns = table.entries.iter().filter_map(|entry| {
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
            crate::document::shown(word),
            crate::document::alternatives(&kinds).replace(" or ", " and ")
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
