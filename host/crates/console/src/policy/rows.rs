//! Settings that are tables: their rows as fields of a form.
//!
//! The field of a cell is called `rows/NUMBER/KIND/COLUMN/SETTING` within its entry: the number of the
//! row, counted from 0; the kind of the column, since digits in a column of texts are written as a text;
//! the names of the column and of the setting. After the last row the form has an empty one, which
//! joins the table once it has a value. A row that has no value any more is removed.

use maud::{Markup, html};
use serde_json::Value;
use toml_edit::{Array, InlineTable, Item, Table, TableLike};

use super::document::{nth, put, shown};
use super::setting::{State, described, invalid, wrong};
use crate::format::cut;
use crate::value::{items, text};

/// What the key of a cell's field begins with.
pub(super) const ROWS: &str = "rows/";

/// The rows of a setting: the columns of each, with values as fields show them.
pub(super) type Rows = Vec<Vec<(String, String)>>;

/// The rows that a document has. None: it has something else, which no field can show.
pub(super) fn read(item: &Item) -> Option<Rows> {
    let row = |row: &dyn TableLike| {
        let cells = row.iter();
        let cells = cells.map(|(column, value)| Some((column.to_owned(), shown(value)?)));
        cells.collect::<Option<Vec<_>>>()
    };
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|it| row(it)).collect(),
        Item::Value(toml_edit::Value::Array(values)) => {
            let rows = values.iter();
            rows.map(|it| row(it.as_inline_table()?)).collect()
        }
        _ => None,
    }
}

/// The key of a cell's field.
fn key(number: usize, (column, kind): (&str, &str), setting: &str) -> String {
    format!("{ROWS}{number}/{kind}/{column}/{setting}")
}

/// The columns of a setting: those that the unit declares, then those that only rows of the document
/// have. The name, the kind and the meaning of each.
fn columns<'s>(declared: &'s Value, rows: &'s Rows) -> Vec<(&'s str, &'s str, &'s str)> {
    let known = items(declared, "table").iter();
    let mut columns: Vec<_> = known
        .map(|it| (text(it, "column"), text(it, "kind"), text(it, "meaning")))
        .collect();
    for (name, _) in rows.iter().flatten() {
        if columns.iter().all(|(known, ..)| known != name) {
            columns.push((name, "", "The unit has no such column."));
        }
    }
    columns
}

/// The keys of the fields of all cells, row by row, with those of the row that can be filled in.
pub(super) fn keys(declared: &Value, rows: &Rows) -> Vec<String> {
    let columns = columns(declared, rows);
    let numbers = 0..=rows.len();
    let keys = numbers.flat_map(|number| {
        let cells = columns.iter();
        cells.map(move |(name, kind, _)| key(number, (name, kind), text(declared, "name")))
    });
    keys.collect()
}

/// The rows as a table of fields. `field` gives the name of a field by its key, and `id` is that of the
/// setting as a whole.
pub(super) fn form(
    declared: &Value,
    rows: &Rows,
    (id, field): (&str, &dyn Fn(&str) -> String),
    state: &State<'_>,
) -> Markup {
    let setting = text(declared, "name");
    let columns = columns(declared, rows);
    let last = if state.may {
        rows.len() + 1
    } else {
        rows.len()
    };
    let value = |number: usize, column: &str| {
        let row = rows.get(number)?;
        let cell = row.iter().find(|(name, _)| name == column)?;
        Some(cell.1.as_str())
    };
    html! {
        div.scroll.rows id=(id) role="group" aria-label={ "Rows of " (cut(setting, 60)) } { table.flat {
            thead { tr {
                @for (name, _, meaning) in &columns { th scope="col" title=(cut(meaning, 240)) { (cut(name, 40)) } }
                @if state.may { th scope="col" { span.vh { "Remove" } } }
            } }
            tbody { @for number in 0..last { tr {
                @for (name, kind, _) in &columns {
                    @let field = field(&key(number, (name, kind), setting));
                    td { (cell(&field, value(number, name), (number, rows.len(), name), state)) }
                }
                @if state.may { td { @if number < rows.len() {
                    button.btn.quiet.small.with-script type="button" data-empty aria-label={ "Remove row " (number + 1) " of " (cut(setting, 60)) } { "×" }
                } } }
            } } }
        } }
        @if state.may { div.bar {
            button.btn.small type="submit" name="deed" value="try" data-redraw="There is a new row." data-then=(id) { "Add a row" }
            span.small.dim { "A row without any value is removed." }
        } }
    }
}

fn cell(
    field: &str,
    value: Option<&str>,
    (number, of, column): (usize, usize, &str),
    state: &State<'_>,
) -> Markup {
    let label = match number < of {
        true => format!("{} of row {}", cut(column, 40), number + 1),
        false => format!("{} of a new row", cut(column, 40)),
    };
    html! {
        input.field.small id=(field) name=(field) value=(value.unwrap_or_default()) size="14" aria-label=(label) readonly[!state.may]
            aria-invalid=[invalid(field, state.faults)] aria-describedby=[described(field, false, state.faults)] autofocus[state.first == Some(field)];
        (wrong(field, state.faults))
    }
}

/// The number of a row, the kind of a column, its name and that of the setting, of a cell's key.
fn parts(key: &str) -> Option<(usize, &str, &str, &str)> {
    let mut parts = key.strip_prefix(ROWS)?.splitn(4, '/');
    let number = parts.next()?.parse().ok()?;
    Some((number, parts.next()?, parts.next()?, parts.next()?))
}

/// The setting that a cell belongs to.
pub(super) fn setting(key: &str) -> Option<&str> {
    Some(parts(key)?.3)
}

/// Put the value of a cell into an entry. None: it has no such row.
pub(super) fn put_cell(entry: &mut dyn TableLike, key: &str, value: &str) -> Option<()> {
    let (number, kind, column, setting) = parts(key)?;
    let rows = entry
        .get("settings")
        .and_then(|it| it.get(setting))
        .map_or(Some(0), |item| read(item).map(|rows| rows.len()))?;
    if number >= rows {
        if value.is_empty() {
            return Some(());
        }
        (number == rows).then_some(())?;
        add_row(entry, setting)?;
    }
    let row = nth(entry.get_mut("settings")?.get_mut(setting)?, number)?;
    put(row, column, value, "");
    // A number in a column of texts is a text.
    let is_text = kind == "text" && row.get(column).is_some_and(|it| !it.is_str());
    if is_text && let Some(Item::Value(cell)) = row.get_mut(column) {
        let decor = cell.decor().clone();
        *cell = value.into();
        *cell.decor_mut() = decor;
    }
    Some(())
}

fn add_row(entry: &mut dyn TableLike, setting: &str) -> Option<()> {
    let empty = || Item::Value(InlineTable::new().into());
    let settings = entry.entry("settings").or_insert_with(empty);
    let settings = settings.as_table_like_mut()?;
    let none = || Item::Value(Array::new().into());
    match settings.entry(setting).or_insert_with(none) {
        Item::ArrayOfTables(tables) => tables.push(Table::new()),
        Item::Value(toml_edit::Value::Array(rows)) => rows.push(InlineTable::new()),
        _ => return None,
    }
    Some(())
}

/// Take away rows that have no value, a setting that has no row, and settings if there are none.
pub(super) fn tidy(entry: &mut dyn TableLike, setting: &str) {
    let Some(settings) = entry.get_mut("settings").and_then(Item::as_table_like_mut) else {
        return;
    };
    let is_empty = match settings.get_mut(setting) {
        Some(Item::ArrayOfTables(tables)) => {
            tables.retain(|row| !row.is_empty());
            tables.is_empty()
        }
        Some(Item::Value(toml_edit::Value::Array(rows))) => {
            let first = rows.get(0).map(|row| row.decor().clone());
            rows.retain(|row| row.as_inline_table().is_none_or(|row| !row.is_empty()));
            // The first row follows the bracket as the first one did.
            if let Some((row, decor)) = rows.get_mut(0).zip(first) {
                *row.decor_mut() = decor;
            }
            rows.is_empty()
        }
        _ => return,
    };
    if is_empty {
        settings.remove(setting);
    }
    if settings.is_empty() {
        entry.remove("settings");
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::with_fields;
    use super::*;
    use serde_json::json;

    const INLINE: &str = "[[selections]]\nunit = \"shares\"\nsettings = { weights = [{ account = \"a\", weight = 3 }, { account = \"b\", weight = 1 }] } # mine\n";
    const TABLES: &str = "[[selections]]\nunit = \"shares\"\n[[selections.settings.weights]]\naccount = \"a\"\nweight = 3\n";

    /// The document with what the cells of `weights` say.
    fn changed(text: &str, cells: &[(usize, &str, &str)]) -> String {
        let kinds = [("account", "text"), ("weight", "integer")];
        let fields = cells.iter().map(|(number, column, value)| {
            let kind = kinds.iter().find(|(name, _)| name == column).unwrap();
            let key = key(*number, *kind, "weights");
            (format!("entry/-/selections/0/{key}"), (*value).to_owned())
        });
        with_fields(text, &fields.collect()).unwrap()
    }

    #[test]
    fn cells_change_rows_and_leave_all_else_as_it_is() {
        let same = [(0, "account", "a"), (0, "weight", "3"), (2, "account", "")];
        assert_eq!(changed(INLINE, &same), INLINE);
        let other = changed(INLINE, &[(0, "weight", "5")]);
        assert_eq!(other, INLINE.replace("weight = 3", "weight = 5"));
        let other = changed(TABLES, &[(0, "weight", "5")]);
        assert_eq!(other, TABLES.replace("weight = 3", "weight = 5"));
    }

    #[test]
    fn the_row_after_the_last_is_added_once_it_has_a_value() {
        let new = [(2, "account", "2024"), (2, "weight", "0.5")];
        let text = changed(INLINE, &new);
        let row = "{ account = \"2024\", weight = 0.5 }";
        assert!(text.contains(row), "{text}");
        assert!(text.ends_with(" # mine\n"), "{text}");
        let new = [(1, "account", "b"), (1, "weight", "7")];
        let text = changed(TABLES, &new);
        let row = "[[selections.settings.weights]]\naccount = \"b\"\nweight = 7\n";
        assert!(text.ends_with(row), "{text}");
        let none = "[[selections]]\nunit = \"shares\"\n";
        let text = changed(none, &[(0, "account", "a"), (0, "weight", "2")]);
        let all = "settings = { weights = [{ account = \"a\", weight = 2 }] }\n";
        assert_eq!(text, format!("{none}{all}"));
        assert_eq!(changed(none, &[(0, "account", "")]), none);
    }

    #[test]
    fn a_row_without_any_value_is_removed_and_a_setting_without_rows_too() {
        let empty = |number| [(number, "account", ""), (number, "weight", "")];
        let text = changed(INLINE, &empty(0));
        assert!(
            text.contains("weights = [{ account = \"b\", weight = 1 }]"),
            "{text}"
        );
        let all = [empty(0), empty(1)].concat();
        let text = changed(INLINE, &all);
        assert!(!text.contains("settings"), "{text}");
        let text = changed(TABLES, &empty(0));
        assert!(!text.contains("weights"), "{text}");
    }

    #[test]
    fn a_cell_of_a_row_that_is_not_there_is_refused() {
        let field = "entry/-/selections/0/rows/7/text/account/weights".to_owned();
        let fields = vec![(field, "a".to_owned())];
        assert!(with_fields(INLINE, &fields.into_iter().collect()).is_err());
    }

    #[test]
    fn the_fields_have_the_columns_of_the_unit_and_those_that_only_the_document_has() {
        let declared = json!({"name": "weights", "table": [
            {"column": "account", "kind": "text"}, {"column": "weight", "kind": "number"},
        ]});
        let document: toml_edit::DocumentMut = "weights = [{ account = \"a\", wieght = 3 }]"
            .parse()
            .unwrap();
        let rows = read(&document["weights"]).unwrap();
        assert_eq!(
            keys(&declared, &rows),
            [
                "rows/0/text/account/weights",
                "rows/0/number/weight/weights",
                "rows/0//wieght/weights",
                "rows/1/text/account/weights",
                "rows/1/number/weight/weights",
                "rows/1//wieght/weights",
            ]
        );
        let nested: toml_edit::DocumentMut = "weights = [{ a = [1] }]\nother = 3".parse().unwrap();
        assert!(read(&nested["weights"]).is_none());
        assert!(read(&nested["other"]).is_none());
    }
}
