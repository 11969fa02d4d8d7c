use super::*;
use crate::parse;

const FORM: &[Key] = &[
    required("id", TEXT, "What it is called"),
    key("hosts", Shape::Texts, "Hosts"),
    key("rows", Shape::OpenTables, "Rows"),
    key("on", BOOLEAN, "Whether"),
];

fn problems(text: &str) -> String {
    let table = parse(text, "d.toml").unwrap();
    let mut problems = Problems::new();
    Fields::read(&table, FORM, "a thing", &mut problems);
    problems.or(()).unwrap_err().to_string()
}

#[test]
fn fields_are_read_by_their_form() {
    let table = parse("id = 'a'\nhosts = ['x']\nrows = [{}]\non = true", "d.toml").unwrap();
    let mut problems = Problems::new();
    let fields = Fields::read(&table, FORM, "a thing", &mut problems);
    assert!(problems.is_empty(), "{problems}");
    assert_eq!(fields.text("id").as_deref(), Some("a"));
    assert_eq!(fields.list("hosts"), ["x".into()]);
    assert_eq!(fields.tables("rows").len(), 1);
    assert_eq!(fields.boolean("on"), Some(true));
    assert_eq!(fields.boolean("off"), None);
}

#[test]
fn what_does_not_fit_the_form_is_said() {
    assert_eq!(
        problems("host = 1"),
        "d.toml:1:1: a thing has no key \"host\" (did you mean \"hosts\"?)\n\
         d.toml:1:1: a thing needs \"id\": what it is called"
    );
    assert_eq!(
        problems("id = 1\nhosts = ['a', 'b', 'a', 2]\non = 'yes'"),
        "d.toml:1:6: \"id\" must be a text, not a whole number\n\
         d.toml:2:20: \"hosts\" names \"a\" twice\n\
         d.toml:2:25: \"hosts\" must be a text, not a whole number\n\
         d.toml:3:6: \"on\" must be true or false, not a text"
    );
    assert_eq!(
        problems("id = 'a'\nhosts = ['', \"a\\nb\"]"),
        "d.toml:2:10: \"hosts\" has names that are not empty\n\
         d.toml:2:14: \"hosts\" has names of one line without control characters, not \"a\\nb\""
    );
    assert_eq!(
        problems("id = 'a'\nrows = [3]"),
        "d.toml:2:9: each entry of \"rows\" must be a table, not a whole number"
    );
    assert_eq!(
        problems("id = 'a'\n[rows]\n"),
        "d.toml:2:1: \"rows\" must be a list of tables, not a table; in TOML, begin each one with [[rows]]"
    );
}

#[test]
fn what_is_no_table_is_told_the_keys_of_one() {
    assert_eq!(table_of([]), "a table");
    assert_eq!(table_of(["id", "to"]), "a table (its keys: \"id\", \"to\")");
    assert!(table_of(["k"; 9]).ends_with("\"k\", ...)"));
}
