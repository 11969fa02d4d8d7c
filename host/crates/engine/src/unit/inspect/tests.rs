use super::*;
use crate::contract::{
    Answers, BalancePart, ColumnRead, Description, Evaluation, JudgePart, Kind, Reason, Setting,
    SettingColumn, TableRead, Value,
};
use placewright_model::schema::Schema;

fn column(name: &str, kind: Kind) -> ColumnRead {
    ColumnRead {
        column: name.to_owned(),
        kind,
        required: true,
        gate: false,
    }
}

fn table(name: &str, columns: Vec<ColumnRead>) -> TableRead {
    TableRead {
        table: name.to_owned(),
        columns,
    }
}

fn setting(name: &str, kind: Kind) -> Setting {
    Setting {
        name: name.to_owned(),
        kind,
        measure: None,
        default: None,
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: Vec::new(),
        meaning: "Something".to_owned(),
        columns: Vec::new(),
    }
}

fn description(reads: Vec<TableRead>) -> Description {
    Description {
        name: "sound".to_owned(),
        version: "1.2.3".to_owned(),
        summary: "Finds nothing wrong.".to_owned(),
        aliases: Vec::new(),
        settings: Vec::new(),
        judge: Some(JudgePart {
            answers: Answers::BOTH,
            evaluation: Evaluation::RowWise,
            reads,
            reasons: vec![Reason {
                text: "is full".to_owned(),
                passing: true,
            }],
            cost_range: Some((0.0, 1.0)),
        }),
        selection: None,
        effects: None,
        balance: None,
        order: None,
        explain: None,
    }
}

fn found(description: &Description) -> Vec<String> {
    problems(description, &[Part::Unit, Part::Judge], Schema::built_in())
}

fn assert_found(description: &Description, sentence: &str) {
    let found = found(description);
    assert!(
        found.len() == 1 && found[0].contains(sentence),
        "wanted: {sentence}\nfound: {found:#?}"
    );
}

#[test]
fn a_sound_description_has_no_problems() {
    let mut sound = description(vec![
        table("request", vec![column("now", Kind::Integer)]),
        table("members", vec![column("memory", Kind::Integer)]),
        table(
            "hosts",
            vec![
                column("memory.free", Kind::Integer),
                column("watch.cpu-over.since", Kind::Integer),
                column("attribute.rack", Kind::Text),
            ],
        ),
        table("hosts/attribute.racks", vec![column("any", Kind::Text)]),
        table("settings", vec![column("headroom", Kind::Integer)]),
        table("settings/limits", vec![column("name", Kind::Text)]),
    ]);
    let mut limits = setting("limits", Kind::Text);
    limits.columns = vec![SettingColumn {
        name: "name".to_owned(),
        kind: Kind::Text,
        required: true,
        meaning: "Of what".to_owned(),
    }];
    sound.settings = vec![setting("headroom", Kind::Integer), limits];
    assert_eq!(found(&sound), [] as [String; 0]);
}

#[test]
fn reads_that_cannot_be_served_are_found() {
    let hosts = || table("hosts", vec![]);
    for (reads, sentence) in [
        (vec![hosts(), hosts()], "the table hosts is declared twice"),
        (
            vec![table("hosts/vms", vec![])],
            "hosts is not declared before it",
        ),
        (
            vec![table(
                "hosts",
                vec![column("id", Kind::Text), column("id", Kind::Text)],
            )],
            "the column id is declared twice",
        ),
        (
            vec![table("candidates", vec![])],
            "exists for the part selection or explain only",
        ),
        (
            vec![table("groups", vec![]), table("groups/vms", vec![])],
            "exists for the part balance only",
        ),
        (
            vec![table("host", vec![])],
            "there is no table host (did you mean hosts?)",
        ),
        (
            vec![table(
                "hosts",
                vec![ColumnRead {
                    gate: true,
                    ..column("power.managed", Kind::Boolean)
                }],
            )],
            "is a gate; only columns of request and members can be",
        ),
        (
            vec![table("settings", vec![column("headrom", Kind::Integer)])],
            "there is no setting headrom",
        ),
        (
            vec![table("settings", vec![]), table("settings/limits", vec![])],
            "there is no setting limits that is a table",
        ),
    ] {
        assert_found(&description(reads), sentence);
    }
}

#[test]
fn parts_that_contradict_themselves_are_found() {
    let sound = || description(vec![table("hosts", vec![])]);
    let mut silent = sound();
    if let Some(judge) = &mut silent.judge {
        judge.reasons.clear();
    }
    assert_found(&silent, "declares no reason");
    let mut wordy = sound();
    if let Some(judge) = &mut wordy.judge {
        judge.reasons = (0..256)
            .map(|number| Reason {
                text: format!("reason {number}"),
                passing: false,
            })
            .collect();
    }
    assert_found(&wordy, "it has 256 reasons, and at most 255 are allowed");
    let mut unexported = sound();
    unexported.balance = Some(BalancePart {
        writes: Vec::new(),
        reads: Vec::new(),
        reasons: Vec::new(),
    });
    assert_found(
        &unexported,
        "the part balance is described and the interface placewright:policy/balance@0.1.0 is not exported",
    );
    let mut unversioned = sound();
    unversioned.version = "one".to_owned();
    assert_found(&unversioned, "no semantic version");
    let mut escaped = sound();
    escaped.summary = "red \u{1b}[31m".to_owned();
    assert_found(&escaped, "control character");
}

#[test]
fn settings_that_make_no_sense_are_found() {
    let with = |change: fn(&mut Setting)| {
        let mut setting = setting("headroom", Kind::Integer);
        change(&mut setting);
        let mut description = description(vec![table("hosts", vec![])]);
        description.settings = vec![setting];
        description
    };
    for (bad, sentence) in [
        (
            with(|s| s.measure = Some("pounds".to_owned())),
            "there is no measure",
        ),
        (
            with(|s| s.measure = Some("fraction".to_owned())),
            "does not fit the kind",
        ),
        (
            with(|s| s.default = Some(Value::Text("1".to_owned()))),
            "the default is of kind text",
        ),
        (
            with(|s| s.default = Some(Value::Integer(1 << 53))),
            "beyond",
        ),
        (
            with(|s| {
                s.least = Some(1.0);
                s.default = Some(Value::Integer(0));
            }),
            "outside the bounds",
        ),
        (
            with(|s| {
                s.least = Some(2.0);
                s.greatest = Some(1.0);
            }),
            "nothing is at least 2",
        ),
        (
            with(|s| {
                s.kind = Kind::Text;
                s.pattern = Some("(".to_owned());
            }),
            "no regular expression",
        ),
        (
            with(|s| {
                s.kind = Kind::Text;
                s.pattern = Some("a|b".to_owned());
                s.default = Some(Value::Text("ab".to_owned()));
            }),
            "does not match the pattern",
        ),
        (
            with(|s| {
                s.kind = Kind::Text;
                s.choices = vec!["a".to_owned()];
                s.default = Some(Value::Text("b".to_owned()));
            }),
            "not one of the choices",
        ),
        (
            with(|s| {
                s.required = true;
                s.default = Some(Value::Integer(1));
            }),
            "required and has a default",
        ),
        (with(|s| s.meaning.clear()), "the meaning is empty"),
    ] {
        assert_found(&bad, sentence);
    }
}

#[test]
fn names_texts_and_lists_beyond_their_bounds_are_found_and_quoted_in_short() {
    use crate::contract::bounds::{LIST, NAME, TEXT};

    let long = "x".repeat(1 << 20);
    type Change<'c> = &'c dyn Fn(&mut Description);
    let changes: [(&str, Change<'_>); 12] = [
        ("the name has", &|it| it.name = long.clone()),
        ("the version has", &|it| it.version = long.clone()),
        ("the summary has", &|it| it.summary = long.clone()),
        ("an alias has", &|it| it.aliases = vec![long.clone()]),
        ("256 are allowed", &|it| {
            it.aliases = vec!["x".to_owned(); LIST + 1];
        }),
        ("256 are allowed", &|it| {
            it.settings = vec![setting("x", Kind::Text); LIST + 1];
        }),
        ("the name of a setting has", &|it| {
            it.settings = vec![setting(&long, Kind::Text)];
        }),
        ("the pattern has", &|it| {
            let mut with_pattern = setting("x", Kind::Text);
            with_pattern.pattern = Some(long.clone());
            it.settings = vec![with_pattern];
        }),
        ("the name of a table has", &|it| {
            it.judge.as_mut().unwrap().reads = vec![table(&long, vec![])];
        }),
        ("the name of a column has", &|it| {
            let columns = vec![column(&long, Kind::Text)];
            it.judge.as_mut().unwrap().reads = vec![table("hosts", columns)];
        }),
        ("256 are allowed", &|it| {
            let columns = vec![column("x", Kind::Text); LIST + 1];
            it.judge.as_mut().unwrap().reads = vec![table("hosts", columns)];
        }),
        ("a reason has", &|it| {
            it.judge.as_mut().unwrap().reasons[0].text = long.clone();
        }),
    ];
    for (sentence, change) in changes {
        let mut changed = description(vec![]);
        change(&mut changed);
        assert_found(&changed, sentence);
        assert!(found(&changed)[0].len() < 200, "{sentence}");
    }
    let mut longest = description(vec![]);
    longest.name = "x".repeat(NAME);
    longest.summary = "x".repeat(TEXT);
    assert_eq!(found(&longest), [] as [String; 0]);
}

#[test]
fn of_many_problems_twenty_are_told() {
    let mut many = description(vec![]);
    let settings = (0..200).map(|number| setting(&format!("X{number}"), Kind::Text));
    many.settings = settings.collect();
    let found = found(&many);
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "and 180 more");
}

#[test]
fn a_pattern_that_takes_much_to_compile_is_found() {
    let mut patterned = description(vec![]);
    let mut text = setting("text", Kind::Text);
    text.pattern = Some(r"\w{40}\w{40}".to_owned());
    patterned.settings = vec![text];
    assert_found(&patterned, "the pattern is no regular expression");
    patterned.settings[0].pattern = Some("[a-z0-9.-]{1,63}".to_owned());
    assert_eq!(found(&patterned), [] as [String; 0]);
}

#[test]
fn the_least_integer_is_no_default() {
    let mut least = description(vec![]);
    let mut integer = setting("integer", Kind::Integer);
    integer.default = Some(Value::Integer(i64::MIN));
    least.settings = vec![integer];
    assert_found(&least, "is beyond");
}
