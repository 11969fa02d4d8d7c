//! What a policy says besides its lists of entries, changed by the fields of a form: rules for
//! ties, settings for all units, units for batches and balance, watches.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::changes::WORDS;
use super::document::{nth, put, put_setting};
use super::rows;
use crate::url::Pairs;

/// The field of the rules for ties, which comes once for each.
pub(super) const TIES: &str = "policy/tie-rule";
/// What the names of fields about a watch that is to be added begin with.
pub(super) const NEW_WATCH: &str = "watch/new";
/// The fields of a setting for all units that is to be added, and of a need.
pub(super) const NEW_SETTING: [&str; 2] = ["policy/new-setting", "policy/new-setting-value"];
pub(super) const NEW_NEED: [&str; 2] = ["policy/new-need", "policy/new-need-word"];

/// The keys of a watch.
pub(super) const WATCH: [&str; 4] = ["name", "column", "at-least", "at-most"];

/// Change what a field is about. None: the document has no such part.
pub(super) fn change(
    document: &mut DocumentMut,
    name: &str,
    value: &str,
    fields: &Pairs,
) -> Option<()> {
    let all = |name: &str| given(fields, name);
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        ["policy", "tie-rule"] => ties(document, &all(TIES)),
        ["policy", "description"] => {
            // Forms end lines in a way of their own.
            let value = value.replace("\r\n", "\n");
            put(document.as_table_mut(), "description", &value, "");
        }
        ["policy", key] if WORDS.iter().any(|(known, _)| known == key) => {
            let usual = WORDS.iter().find(|(known, _)| known == key);
            put(document.as_table_mut(), key, value, usual?.1);
        }
        ["policy", table @ ("order" | "balance"), "unit"] => alone(document, table, value),
        [
            "policy",
            table @ ("order" | "balance"),
            "settings",
            name @ ..,
        ] => {
            if let Some(entry) = of_the_form(document, table, fields) {
                put_setting(entry, &name.join("/"), value)?;
            }
        }
        ["policy", table @ ("order" | "balance"), cell @ ..] if is_cell(cell) => {
            if let Some(entry) = of_the_form(document, table, fields) {
                rows::put_cell(entry, &cell.join("/"), value)?;
            }
        }
        ["policy", "order" | "balance", "of"] => {}
        ["policy", table @ ("settings" | "unheeded-needs"), key @ ..] => {
            in_table(document, table, &key.join("/"), value)?;
        }
        ["policy", "new-setting"] => {
            let given = all(NEW_SETTING[1]).first().copied().unwrap_or_default();
            if !value.is_empty() {
                in_table(document, "settings", value, given)?;
            }
        }
        ["policy", "new-need"] => {
            let word = all(NEW_NEED[1]).first().copied().unwrap_or_default();
            if !value.is_empty() {
                in_table(document, "unheeded-needs", value, word)?;
            }
        }
        // They come with the fields that name what is added.
        ["policy", "new-setting-value" | "new-need-word"] => {}
        ["stage", number, "keep"] => {
            let stage = nth(document.get_mut("stages")?, number.parse().ok()?)?;
            put(stage, "keep", value, "all");
        }
        ["watch", "new", "name"] if !value.is_empty() => add_watch(document, value, fields)?,
        ["watch", "new", key] if WATCH.contains(key) => {}
        ["watch", number, key] if WATCH.contains(key) => {
            let watch = nth(document.get_mut("watches")?, number.parse().ok()?)?;
            put(watch, key, value, "");
        }
        _ => return None,
    }
    Some(())
}

/// What is entered in the fields of a name.
fn given<'f>(fields: &'f Pairs, name: &str) -> Vec<&'f str> {
    let found = fields.iter().filter(|(known, _)| known == name);
    let entered = found.map(|(_, value)| value.trim());
    entered.filter(|value| !value.is_empty()).collect()
}

/// The table that names one unit, if that is still the unit whose fields the form has.
fn of_the_form<'d>(
    document: &'d mut DocumentMut,
    table: &str,
    fields: &Pairs,
) -> Option<&'d mut dyn TableLike> {
    let of = given(fields, &format!("policy/{table}/of"));
    let entry = document.get_mut(table)?.as_table_like_mut()?;
    let unit = entry.get("unit").and_then(Item::as_str);
    of.first()
        .is_none_or(|of| unit == Some(of))
        .then_some(entry)
}

/// Whether the rest of a field's name is that of a cell of a table.
fn is_cell(parts: &[&str]) -> bool {
    rows::setting(&parts.join("/")).is_some()
}

/// Take away what has no value any more of the settings that are tables, of a unit that a table of the
/// policy names.
pub(super) fn tidy(document: &mut DocumentMut, name: &str) {
    let mut parts = name.splitn(3, '/');
    let (Some("policy"), Some(table @ ("order" | "balance")), Some(key)) =
        (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    if let Some(setting) = rows::setting(key)
        && let Some(entry) = document.get_mut(table).and_then(Item::as_table_like_mut)
    {
        rows::tidy(entry, setting);
    }
}

/// Put the rules for ties, unless the document says them already, or they are the usual ones and
/// it says none.
fn ties(document: &mut DocumentMut, rules: &[&str]) {
    let known = document.get("tie-rule").and_then(Item::as_array);
    let known: Option<Vec<&str>> =
        known.map(|rules| rules.iter().filter_map(Value::as_str).collect());
    match (&known, rules) {
        (Some(known), rules) if known == rules => return,
        (None, []) => return,
        _ => {}
    }
    if rules.is_empty() {
        document.remove("tie-rule");
        return;
    }
    let rules: Array = rules.iter().copied().collect();
    let mut new = Value::Array(rules);
    if let Some(Item::Value(old)) = document.get("tie-rule") {
        *new.decor_mut() = old.decor().clone();
    }
    document.insert("tie-rule", Item::Value(new));
}

/// Put the unit of a table that names one, or take the table away.
fn alone(document: &mut DocumentMut, name: &str, unit: &str) {
    let known = document.get(name).and_then(|it| it.get("unit"));
    if known.and_then(Item::as_str).unwrap_or_default() == unit {
        return;
    }
    if unit.is_empty() {
        document.remove(name);
        return;
    }
    // Another unit has other settings.
    let is_inline = document.get(name).is_some_and(Item::is_inline_table);
    let new = match is_inline {
        true => {
            let mut table = InlineTable::new();
            table.insert("unit", unit.into());
            Item::Value(Value::InlineTable(table))
        }
        false => {
            let mut table = Table::new();
            table.insert("unit", toml_edit::value(unit));
            if let Some(Item::Table(old)) = document.get(name) {
                *table.decor_mut() = old.decor().clone();
                table.set_position(old.position());
            }
            Item::Table(table)
        }
    };
    document.insert(name, new);
}

/// Put a value into a table of the policy, which is made where there is none, and taken away where
/// nothing is left in it.
fn in_table(document: &mut DocumentMut, name: &str, key: &str, value: &str) -> Option<()> {
    if document.get(name).is_none() {
        if value.is_empty() {
            return Some(());
        }
        document.insert(name, Item::Table(Table::new()));
    }
    let table: &mut dyn TableLike = document.get_mut(name)?.as_table_like_mut()?;
    put(table, key, value, "");
    if table.is_empty() {
        document.remove(name);
    }
    Some(())
}

/// Add a watch at the end of their list.
fn add_watch(document: &mut DocumentMut, name: &str, fields: &Pairs) -> Option<()> {
    let mut watch = Table::new();
    watch.insert("name", toml_edit::value(name));
    for key in &WATCH[1..] {
        let field = format!("{NEW_WATCH}/{key}");
        let said = fields.iter().find(|(known, _)| *known == field);
        put(
            &mut watch,
            key,
            said.map_or("", |(_, value)| value.trim()),
            "",
        );
    }
    match document.get_mut("watches") {
        Some(Item::ArrayOfTables(tables)) => tables.push(watch),
        Some(Item::Value(Value::Array(values))) => values.push(watch.into_inline_table()),
        Some(_) => return None,
        None => {
            let mut tables = toml_edit::ArrayOfTables::new();
            tables.push(watch);
            document.insert("watches", Item::ArrayOfTables(tables));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::document::with_fields;

    const TEXT: &str = "name = \"a\"\ntie-rule = [\"id\"] # by name\n\n[settings]\nhigh = 80 # percent\n\n[[filters]]\nunit = \"cpu\"\n\n# Now and then.\n[balance]\nunit = \"even\"\nsettings = { threshold = 5 }\n\n[[watches]]\nname = \"busy\"\ncolumn = \"cpu.usage\"\nat-least = \"80 %\"\n";

    fn changed(fields: &[(&str, &str)]) -> String {
        let fields = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        with_fields(TEXT, &fields.collect()).unwrap()
    }

    #[test]
    fn a_form_that_says_what_the_document_says_changes_nothing() {
        let same = [
            ("policy/tie-rule", "id"),
            ("policy/tie-rule", ""),
            ("policy/description", ""),
            ("policy/infinite-costs", "last-resort"),
            ("policy/search", "allowed"),
            ("policy/unheeded", "refuse"),
            ("policy/order/unit", ""),
            ("policy/balance/unit", "even"),
            ("policy/balance/settings/threshold", "5"),
            ("policy/balance/settings/other", ""),
            ("policy/settings/high", "80"),
            ("policy/new-setting", ""),
            ("policy/new-setting-value", ""),
            ("policy/new-need", ""),
            ("policy/new-need-word", "warn"),
            ("watch/0/name", "busy"),
            ("watch/0/at-least", "80 %"),
            ("watch/0/at-most", ""),
            ("watch/new/name", ""),
            ("watch/new/column", "cpu.usage"),
        ];
        assert_eq!(changed(&same), TEXT);
    }

    #[test]
    fn ties_balance_and_what_else_a_policy_says_are_changed_and_comments_stay() {
        let text = changed(&[
            ("policy/tie-rule", "fewest-vms"),
            ("policy/tie-rule", "draw"),
            ("policy/tie-rule", ""),
            ("policy/unheeded", "warn"),
            ("policy/description", "Ours"),
            ("policy/balance/settings/threshold", "7"),
            ("policy/settings/high", "70"),
            ("policy/new-setting", "low"),
            ("policy/new-setting-value", "20"),
            ("policy/new-need", "zone"),
            ("policy/new-need-word", "ignore"),
            ("policy/order/unit", "by-size"),
            ("watch/0/at-least", "90 %"),
            ("watch/new/name", "idle"),
            ("watch/new/column", "cpu.usage"),
            ("watch/new/at-most", "20 %"),
        ]);
        for part in [
            "tie-rule = [\"fewest-vms\", \"draw\"] # by name",
            "unheeded = \"warn\"",
            "description = \"Ours\"",
            "settings = { threshold = 7 }",
            "high = 70 # percent",
            "low = 20",
            "[unheeded-needs]\nzone = \"ignore\"",
            "[order]\nunit = \"by-size\"",
            "at-least = \"90 %\"",
            "name = \"idle\"\ncolumn = \"cpu.usage\"\nat-most = \"20 %\"",
            "# Now and then.\n[balance]",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.parse::<toml_edit::DocumentMut>().is_ok());
    }

    #[test]
    fn rows_of_a_table_setting_are_changed_added_and_removed_where_one_unit_is_named() {
        let text = "[balance]\nunit = \"shares\"\nsettings = { weights = [{ account = \"a\", weight = 3 }] }\n";
        let cells = |cells: &[(&str, &str)]| {
            let field = |(cell, value): &(&str, &str)| {
                let name = format!("policy/balance/rows/{cell}/weights");
                (name, (*value).to_owned())
            };
            cells.iter().map(field).collect::<Vec<_>>()
        };
        let same = cells(&[("0/text/account", "a"), ("0/integer/weight", "3")]);
        assert_eq!(with_fields(text, &same).unwrap(), text);
        let more = cells(&[("1/text/account", "7"), ("1/integer/weight", "5")]);
        let more = with_fields(text, &more).unwrap();
        assert!(more.contains("{ account = \"7\", weight = 5 }"), "{more}");
        let none = cells(&[("0/text/account", ""), ("0/integer/weight", "")]);
        let none = with_fields(text, &none).unwrap();
        assert_eq!(none, "[balance]\nunit = \"shares\"\n");
        // Cells of another unit's form are passed over.
        let mut of_another = cells(&[("0/integer/weight", "9")]);
        of_another.push(("policy/balance/of".to_owned(), "other".to_owned()));
        assert_eq!(with_fields(text, &of_another).unwrap(), text);
    }

    #[test]
    fn what_is_emptied_is_taken_away() {
        let text = changed(&[
            ("policy/tie-rule", ""),
            ("policy/balance/unit", ""),
            ("policy/balance/settings/threshold", "5"),
            ("policy/settings/high", ""),
        ]);
        for gone in ["tie-rule", "balance", "threshold", "[settings]", "high"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        // Another unit has other settings.
        let text = changed(&[
            ("policy/balance/of", "even"),
            ("policy/balance/unit", "other"),
            ("policy/balance/settings/threshold", "5"),
        ]);
        assert!(text.contains("[balance]\nunit = \"other\"\n"), "{text}");
        assert!(!text.contains("threshold"), "{text}");
    }
}
