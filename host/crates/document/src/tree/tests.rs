use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A tree without its places, for comparing.
fn outline(table: &Table) -> String {
    let entries: Vec<_> = table
        .entries
        .iter()
        .map(|entry| format!("{}={}", entry.key, outline_of(&entry.node)))
        .collect();
    format!("{{{}}}", entries.join(" "))
}

fn outline_of(node: &Node) -> String {
    match &node.content {
        Content::List(list) => {
            let list: Vec<_> = list.iter().map(outline_of).collect();
            format!("[{}]", list.join(" "))
        }
        Content::Table(table) => outline(table),
        content => format!("{content:?}"),
    }
}

fn problems(text: &str, file: &str) -> String {
    parse(text, file).unwrap_err().to_string()
}

#[test]
fn toml_and_json_give_the_same_tree_in_written_order() {
    let toml = r#"
z = 1
a = [1.5, true, "x"]
t.b = "y"
t.a = 99999999999999999999
[[rows]]
id = "r"
[rows.below]
deep = -3
"#;
    let json = r#"{ // with a comment
"z": 1, "a": [1.5, true, "x"], "t": {"b": "y", "a": 99999999999999999999},
"rows": [{"id": "r", "below": {"deep": -3}}], "nothing": null }"#;
    let toml = outline(&parse(toml, "d.toml").unwrap());
    assert_eq!(toml, outline(&parse(json, "d.json").unwrap()));
    assert_eq!(toml, outline(&parse(json, "standard input").unwrap()));
    assert!(toml.starts_with("{z=Integer(1) a="), "{toml}");
}

#[test]
fn values_know_their_places() {
    let table = parse("a = 1\n[b]\n  c = [2,\n  3]\n", "d.toml").unwrap();
    let Some(Content::Table(b)) = table.get("b").map(|node| &node.content) else {
        panic!("b is a table");
    };
    assert_eq!(b.entries[0].place.to_string(), "d.toml:3:3");
    let Content::List(list) = &b.entries[0].node.content else {
        panic!("c is a list");
    };
    assert_eq!(list[1].place.to_string(), "d.toml:4:3");
}

#[test]
fn mistakes_in_the_writing_have_places() {
    assert_eq!(
        problems("a = 1\nb = \n", "d.toml"),
        "d.toml:2:5: this is no TOML: string values must be quoted, expected literal string"
    );
    assert_eq!(
        problems("a = 1\na = 2\n", "d.toml"),
        "d.toml:2:1: this is no TOML: duplicate key"
    );
    assert_eq!(
        problems("{\"a\": 1,\n \"b\" 2}", "d.json"),
        "d.json:2:6: this is no JSON: Expected colon after the string or word in object property"
    );
    assert_eq!(
        problems("{\"a\": 1,\n \"a\": 2}", "d.json"),
        "d.json:2:2: the key \"a\" stands here for the second time; the first is at d.json:1:2"
    );
    assert_eq!(
        problems("[1]", "d.json"),
        "d.json:1:1: a document is an object: it begins with { and ends with }"
    );
    assert_eq!(
        problems("{\"a\": [null]}", "d.json"),
        "d.json:1:8: null is no value of a list; leave it out"
    );
    assert!(parse("", "d.json").is_err());
    assert!(parse("", "d.toml").is_ok());
}

#[test]
fn depth_is_bounded_and_costs_no_stack() {
    let json = format!("{{\"a\": {}{}}}", "[".repeat(300), "]".repeat(300));
    assert!(problems(&json, "d.json").contains("deeper than 64 levels"));
    let json = format!("{{\"a\": {}", "[".repeat(1_000_000));
    assert!(problems(&json, "d.json").contains("deeper than 64 levels"));
    // Dotted keys in tables: a few kilobytes, thousands of levels.
    let dotted = vec!["a"; 70].join(".");
    let toml = format!(
        "{dotted} = {}1{}",
        format!("{{{dotted} = ").repeat(70),
        "}".repeat(70)
    );
    assert!(problems(&toml, "d.toml").contains("deeper than 64 levels"));
}

/// A document of so many numbers in a list.
fn numbers(count: usize, list: [&str; 2]) -> String {
    let [begin, end] = list;
    format!("{begin}{}0]{end}", "0,".repeat(count - 1))
}

#[test]
fn values_are_bounded_while_a_document_is_read() {
    for (file, list) in [("d.json", ["{\"a\":[", "}"]), ("d.toml", ["a=[", ""])] {
        assert!(parse(&numbers(9_000, list), file).is_ok(), "{file}");
        let told = problems(&numbers(100_000, list), file);
        assert!(told.contains("this one holds more"), "{file}: {told}");
        assert_eq!(told.lines().count(), 1, "{file}: {told}");
    }
    // Longer values may be more.
    let texts = vec!["\"1234567\""; 100_000].join(",");
    assert!(parse(&format!("{{\"a\":[{texts}]}}"), "d.json").is_ok());
    assert!(parse(&format!("a=[{texts}]"), "d.toml").is_ok());
    // Nulls are values, though they are left out.
    let nulls = vec!["null"; 100_000].join(",");
    let told = problems(&format!("{{\"a\":[{nulls}]}}"), "d.json");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 101, "{told}");
    assert!(
        lines[100].starts_with("and ") && lines[100].ends_with(" more"),
        "{told}"
    );
}

#[test]
fn words_and_signs_of_toml_are_bounded() {
    let told = problems(&"\n".repeat(4_000_001), "d.toml");
    assert!(told.contains("at most 4000000 words and signs"), "{told}");
}

#[test]
fn mistakes_in_a_long_toml_document_are_told_as_those_in_a_short_one() {
    let mistakes = "=\na = x\nb = \"\\q\"\n[c\n";
    let short = problems(mistakes, "d.toml");
    let long = problems(&format!("{mistakes}{}", "#\n".repeat(50_000)), "d.toml");
    let lines = |told: &str| -> BTreeSet<String> { told.lines().map(str::to_owned).collect() };
    assert!(lines(&long).is_subset(&lines(&short)), "{long}\n{short}");
    assert!(lines(&long).len() >= 4, "{long}");
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    for (text, column, sentence) in [
        ("{\"a\": 1 \"b\": 2}", 8, "Expected comma"),
        ("{\"a\": 1,}", 8, "Trailing commas are not allowed"),
        ("{\"a\": [1,]}", 9, "Trailing commas are not allowed"),
        ("{\"a\": [1 2]}", 9, "Expected comma"),
        ("{\"a\": [1", 7, "Unterminated array"),
        ("{\"a\": 1", 1, "Unterminated object"),
        (
            "{\"a\":",
            6,
            "Expected value after colon in object property",
        ),
        ("{a: 1}", 2, "Expected string for object property"),
        ("{[1]}", 2, "Unexpected token in object"),
        ("{\"a\": ]}", 7, "Unexpected close bracket"),
        ("{} {}", 4, "Text cannot contain more than one JSON value"),
        ("no", 1, "Unexpected word"),
    ] {
        let expected = format!("d.json:1:{column}: this is no JSON: {sentence}");
        assert_eq!(problems(text, "d.json"), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", toml in "[\\[\\]{}=.\"'a-c0-9,# \n\\\\_-]{0,200}") {
        for text in [&text, &toml] {
            let _ = parse(text, "d.toml");
            let _ = parse(text, "d.json");
            let _ = parse(text, "-");
        }
    }
}
