use super::*;
use placewright_engine::contract::{
    Answers, BalancePart, ColumnRead, Description, Evaluation, JudgePart, Kind, SelectionPart,
    Setting, SettingColumn, TableRead, Value,
};
use placewright_model::schema::Schema;
use placewright_model::{self as model, Facts};

struct Units(Vec<(Description, &'static str)>);

impl UnitDescriptions for Units {
    fn find(&self, unit: &UnitName) -> Option<&Description> {
        self.0
            .iter()
            .find(|(description, digest)| {
                let named = *unit.name == *description.name
                    || description
                        .aliases
                        .iter()
                        .any(|alias| **alias == *unit.name);
                let pin = unit.pin.as_deref().unwrap_or("");
                named && digest.starts_with(pin)
            })
            .map(|(description, _)| description)
    }

    fn digest(&self, name: &str) -> Option<String> {
        let mut units = self.0.iter();
        let found = units.find(|(description, _)| description.name == name);
        found.map(|(_, digest)| (*digest).to_owned())
    }

    fn names(&self) -> Vec<&str> {
        let descriptions = self.0.iter().map(|(description, _)| description);
        descriptions
            .flat_map(|unit| std::iter::once(&unit.name).chain(&unit.aliases))
            .map(String::as_str)
            .collect()
    }
}

fn unit(name: &str) -> Description {
    Description {
        name: name.into(),
        version: "1.0.0".into(),
        summary: String::new(),
        aliases: Vec::new(),
        settings: Vec::new(),
        judge: None,
        selection: None,
        effects: None,
        balance: None,
        order: None,
        explain: None,
    }
}

fn judge(answers: Answers) -> Option<JudgePart> {
    Some(JudgePart {
        answers,
        evaluation: Evaluation::RowWise,
        reads: Vec::new(),
        reasons: Vec::new(),
        cost_range: None,
    })
}

fn setting(name: &str, kind: Kind) -> Setting {
    Setting {
        name: name.into(),
        kind,
        measure: None,
        default: None,
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: Vec::new(),
        meaning: "What it does".into(),
        columns: Vec::new(),
    }
}

fn reading(table: &str, column: &str, kind: Kind, required: bool) -> Vec<TableRead> {
    vec![TableRead {
        table: table.into(),
        columns: vec![ColumnRead {
            column: column.into(),
            kind,
            required,
            gate: false,
        }],
    }]
}

fn units() -> Units {
    let memory = Description {
        aliases: vec!["Memory".into()],
        judge: judge(Answers::VERDICTS),
        settings: vec![
            Setting {
                measure: Some("bytes".into()),
                default: Some(Value::Integer(1 << 30)),
                least: Some(0.0),
                greatest: Some(f64::from(1 << 20) * 1024.0 * 1024.0),
                ..setting("headroom", Kind::Integer)
            },
            Setting {
                columns: vec![
                    SettingColumn {
                        name: "zone".into(),
                        kind: Kind::Text,
                        required: true,
                        meaning: "Name of the zone".into(),
                    },
                    SettingColumn {
                        name: "share".into(),
                        kind: Kind::Number,
                        required: false,
                        meaning: "Its share".into(),
                    },
                ],
                ..setting("zones", Kind::Integer)
            },
        ],
        ..unit("memory")
    };
    let even = Description {
        judge: Some(JudgePart {
            cost_range: Some((0.0, 1.0)),
            ..judge(Answers::BOTH).unwrap()
        }),
        settings: vec![
            Setting {
                choices: vec!["cpu".into(), "memory".into()],
                default: Some(Value::Text("cpu".into())),
                ..setting("by", Kind::Text)
            },
            Setting {
                pattern: Some("[a-z]+|x".into()),
                ..setting("word", Kind::Text)
            },
        ],
        ..unit("even-distribution")
    };
    let saving = Description {
        judge: judge(Answers::COSTS),
        balance: Some(BalancePart {
            writes: Vec::new(),
            reads: Vec::new(),
            reasons: Vec::new(),
        }),
        settings: vec![Setting {
            required: true,
            measure: Some("fraction".into()),
            greatest: Some(1.0),
            ..setting("threshold", Kind::Number)
        }],
        ..unit("power-saving")
    };
    let step = Description {
        judge: judge(Answers::COSTS),
        settings: vec![Setting {
            measure: Some("millicores".into()),
            default: Some(Value::Integer(1000)),
            ..setting("step", Kind::Integer)
        }],
        ..unit("room")
    };
    let selection = |name: &str, position| Description {
        selection: Some(SelectionPart {
            reads: Vec::new(),
            position,
        }),
        ..unit(name)
    };
    let rack = Description {
        judge: Some(JudgePart {
            reads: reading("hosts", "attribute.rack", Kind::Text, true),
            ..judge(Answers::VERDICTS).unwrap()
        }),
        ..unit("rack")
    };
    let team = Description {
        judge: Some(JudgePart {
            reads: reading("hosts/vms", "attribute.team", Kind::Text, false),
            ..judge(Answers::VERDICTS).unwrap()
        }),
        ..unit("team")
    };
    Units(vec![
        (memory, "9f2c41"),
        (even, "aaaa00"),
        (saving, "bbbb00"),
        (
            selection("softmax", placewright_engine::contract::Position::Last),
            "cc00",
        ),
        (
            selection("top", placewright_engine::contract::Position::First),
            "dd00",
        ),
        (rack, "ee00"),
        (team, "ff00"),
        (step, "0011"),
        (unit("nothing"), "1100"),
    ])
}

fn load(text: &str) -> Result<Policy, String> {
    Policy::load(text, "p.toml", &units(), Schema::built_in())
        .map_err(|problems| problems.to_string().replace("p.toml:", ""))
}

fn problems(text: &str) -> String {
    load(text).err().unwrap_or_else(|| "no problem".to_owned())
}

const TOML: &str = r#"
name = "even"
description = "Spread"
tie-rule = ["listed", "draw"]
settings = { headroom = "2 GiB" }

[[stages]]
keep = "best"
[[stages.filters]]
unit = "memory"
position = "last"
settings = { zones = [{ zone = "a", share = 1 }, { zone = "b" }] }
[[stages.filters]]
unit = "memory@9F2C"
settings.headroom = 5
enabled = false
[[stages.filters]]
unit = "even-distribution"
position = "first"
on-failure = "leave-out"

[[stages]]
name = "second"
[[stages.costs]]
unit = "even-distribution"
name = "spread"
factor = -0.5
scaling = "range"
tier = 2
settings = { by = "memory", word = "abc" }
[[stages.costs]]
unit = "power-saving"
on-failure = "fail"
settings.threshold = "80 %"
[[stages.selections]]
unit = "top"
on-failure = "fail"
[[stages.selections]]
unit = "softmax"

[balance]
unit = "power-saving"
settings.threshold = 0.5

[[watches]]
name = "busy"
column = "cpu.usage"
at-least = "90 %"
[[watches]]
name = "roomy"
column = "memory.total"
at-most = "1 GiB"
"#;

#[test]
fn a_policy_is_read_and_completed() {
    let policy = load(TOML).unwrap();
    assert_eq!(&*policy.name, "even");
    assert_eq!(policy.tie_rule, [Tie::Listed, Tie::Draw]);
    let [first, second] = &policy.stages[..] else {
        panic!("there are two stages");
    };
    assert_eq!((&*first.name, &*second.name), ("stage-1", "second"));

    assert_eq!((first.keep, second.keep), (Keep::Best, Keep::All));
    let names: Vec<_> = first.filters.iter().map(|filter| &*filter.name).collect();
    assert_eq!(names, ["even-distribution", "memory-2", "memory"]);
    let [even, pinned, memory] = &first.filters[..] else {
        panic!("there are three filters");
    };
    assert_eq!(even.on_failure, OnFailure::LeaveOut);
    assert_eq!(pinned.unit.to_string(), "memory@9f2c");
    assert_eq!(pinned.settings.value("headroom"), Some(&5.into()));
    assert!(!pinned.enabled);
    assert_eq!(memory.on_failure, OnFailure::Fail);
    assert_eq!(memory.settings.values, [Some((2_i64 << 30).into())]);
    assert_eq!(
        memory.settings.tables,
        [vec![
            Facts::new().with("zone", "a").with("share", 1.0),
            Facts::new().with("zone", "b"),
        ]]
    );

    let [spread, saving] = &second.costs[..] else {
        panic!("there are two costs");
    };
    assert_eq!((spread.factor, spread.tier), (-0.5, 2));
    assert_eq!(spread.scaling, Scaling::Range);
    assert_eq!(spread.settings.value("by"), Some(&"memory".into()));
    assert_eq!((saving.factor, saving.tier), (1.0, 1));
    assert_eq!(saving.settings.value("threshold"), Some(&0.8.into()));
    let names: Vec<_> = second.selections.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["top", "softmax"]);
    assert_eq!(second.selections[1].on_failure, OnFailure::BestCost);

    assert_eq!(
        policy.balance.unwrap().settings.value("threshold"),
        Some(&0.5.into())
    );
    assert_eq!(policy.watches[0].at_least, Some(0.9));
    assert_eq!(policy.watches[1].at_most, Some(1_073_741_824.0));
}

#[test]
fn a_policy_of_one_stage_needs_no_stages() {
    let policy =
        load("[[filters]]\nunit = 'Memory'\n[[costs]]\nunit = 'even-distribution'").unwrap();
    assert_eq!(&*policy.name, "p");
    assert_eq!(policy.tie_rule, Tie::DEFAULT);
    let [stage] = &policy.stages[..] else {
        panic!("there is one stage");
    };
    assert_eq!(&*stage.filters[0].unit.name, "memory");
    assert_eq!(
        stage.filters[0].settings.value("headroom"),
        Some(&model::Value::Integer(1 << 30))
    );
    assert_eq!(&*stage.costs[0].name, "even-distribution");
    assert_eq!(load("").unwrap().stages.len(), 1);
    assert_eq!(load("stages = []").unwrap().stages.len(), 1);
}

#[test]
fn a_policy_is_written_as_a_document_that_gives_it_again() {
    let policy = load(TOML).unwrap();
    let toml = toml::to_string(&policy).unwrap();
    assert_eq!(load(&toml), Ok(policy.clone()), "{toml}");
    let json = serde_json::to_string(&policy).unwrap();
    let again = Policy::load(&json, "p.json", &units(), Schema::built_in());
    assert_eq!(again, Ok(policy));
}

#[test]
fn settings_and_watches_of_cpu_count_cores() {
    let text = "costs = [{ unit = 'room', settings = { step = 1.5 } }, { unit = 'room', name = 'other' }]\n\
                watches = [{ name = 'promised', column = 'cpu.committed', at-least = 20, at-most = '64 cores' }]";
    let policy = load(text).unwrap();
    let step = |entry: usize| {
        policy.stages[0].costs[entry]
            .settings
            .value("step")
            .cloned()
    };
    assert_eq!(step(0), Some(placewright_model::Value::Integer(1500)));
    let watch = &policy.watches[0];
    assert_eq!(
        (watch.at_least, watch.at_most),
        (Some(20_000.0), Some(64_000.0))
    );
    let json = serde_json::to_value(&policy).unwrap();
    let costs = &json["stages"][0]["costs"];
    assert_eq!(costs[0]["settings"]["step"], 1.5);
    assert_eq!(costs[1]["settings"]["step"], 1);
    assert_eq!(json["watches"][0]["at-least"], 20.0);
    let again = Policy::load(&json.to_string(), "p.json", &units(), Schema::built_in());
    assert_eq!(again, Ok(policy));
}

#[test]
fn keys_and_words_are_checked_without_units() {
    let error = Policy::read(
        "tie-rules = []\ntie-rule = ['fewest', 'id', 'id']\n[[filters]]\nposition = 'fist'\non-failure = 'best-cost'\n\
         [[costs]]\nunit = 'a@b'\nfactor = inf\ntier = 0\nscaling = 'minmax'",
        "p.toml",
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.toml:1:1: a policy has no key \"tie-rules\" (did you mean \"tie-rule\"?)\n\
         p.toml:2:13: \"tie-rule\" must be \"fewest-vms\", \"listed\", \"id\" or \"draw\", not \"fewest\" (did you mean \"fewest-vms\"?)\n\
         p.toml:2:29: \"tie-rule\" names \"id\" twice\n\
         p.toml:3:1: a filter needs \"unit\": name or alias of the unit, if need be with the beginning of its digest: memory, memory@9f2c41\n\
         p.toml:4:12: \"position\" must be \"first\", \"any\" or \"last\", not \"fist\" (did you mean \"first\"?)\n\
         p.toml:5:14: \"on-failure\" must be \"fail\" or \"leave-out\", not \"best-cost\"\n\
         p.toml:7:8: \"b\" after \"a@\" is not the beginning of a digest: it has 1 digit, and at least 4 are needed; write 4 to 64 hexadecimal digits of the unit's SHA-256 digest after the \"@\", for example \"memory@9f2c41\"\n\
         p.toml:8:10: \"factor\" must be a finite number, not inf\n\
         p.toml:9:8: \"tier\" must be from 1 to 4294967295, not 0\n\
         p.toml:10:11: \"scaling\" must be \"none\", \"range\", \"min-max\", \"rank\", \"stretch\" or \"stretched-rank\", \
         not \"minmax\" (did you mean \"min-max\"?)"
    );
    assert_eq!(
        problems("stages = []\n[[costs]]\nunit = 'even-distribution'"),
        "2:1: \"costs\" beside \"stages\" belongs to no stage; put it into one"
    );
}

#[test]
fn units_must_be_there_and_fit_their_lists() {
    assert_eq!(
        problems(
            "[[filters]]\nunit = 'memry'\n[[filters]]\nunit = 'memory@0123'\n[[filters]]\nunit = 'power-saving'\n\
             [[costs]]\nunit = 'memory'\n[[costs]]\nunit = 'nothing'\n[balance]\nunit = 'even-distribution'"
        ),
        "2:8: there is no unit \"memry\" (did you mean \"memory\"?)\n\
         4:8: there is a unit \"memory\", but none whose digest begins with 0123: in force is version 1.0.0, with the digest 9f2c41; write \"memory@9f2c41\", or put the version in force that you want\n\
         5:1: unit \"power-saving\" needs the setting \"threshold\": what it does\n\
         6:8: unit \"power-saving\" gives no verdicts, so it cannot stand under \"filters\"; it can stand under \"costs\" or \"balance\"\n\
         8:8: unit \"memory\" gives no costs, so it cannot stand under \"costs\"; it can stand under \"filters\"\n\
         10:8: unit \"nothing\" gives no costs, so it cannot stand under \"costs\"; it has no part that a policy can use\n\
         12:8: unit \"even-distribution\" proposes no moves, so it cannot stand under \"balance\"; it can stand under \"filters\" or \"costs\""
    );
}

#[test]
fn a_unit_that_is_like_none_is_told_with_what_to_do() {
    assert_eq!(
        problems(
            "[[filters]]\nunit = 'quux-zzz'\n[[filters]]\nunit = 'memory@0123456789ab0000'\n[[filters]]\nunit = 'memry@0123'"
        ),
        "2:8: there is no unit \"quux-zzz\" in force: take one of the list of units (GET /v1/units), or hand this one in first\n\
         4:8: there is a unit \"memory\", but none whose digest begins with 0123456789ab…: in force is version 1.0.0, with the digest 9f2c41; \
         write \"memory@9f2c41\", or put the version in force that you want\n\
         6:8: there is no unit \"memry\" (did you mean \"memory\"?)"
    );
}

#[test]
fn settings_are_checked() {
    assert_eq!(
        problems(
            "settings = { headrom = 1 }\n[[filters]]\nunit = 'memory'\n[filters.settings]\nheadroom = -1\n\
             zones = [{ share = 'x', zon = 1 }, 3]\nhead = 1\n\
             [[costs]]\nunit = 'even-distribution'\nsettings = { by = 'disk', word = 'abC' }"
        ),
        "1:14: no unit of this policy has a setting \"headrom\" (did you mean \"headroom\"?)\n\
         5:12: \"headroom\" of unit \"memory\" must be from 0 to 1.0 TiB, not -1\n\
         6:10: a row of \"zones\" of unit \"memory\" needs \"zone\": name of the zone\n\
         6:20: \"share\" of unit \"memory\" must be a number, not a text\n\
         6:25: a row of \"zones\" of unit \"memory\" has no \"zon\" (did you mean \"zone\"?)\n\
         6:36: each entry of \"zones\" of unit \"memory\" must be a table (its keys: \"zone\", \"share\"), not a whole number\n\
         7:1: unit \"memory\" has no setting \"head\" (did you mean \"headroom\"?)\n\
         10:19: \"by\" of unit \"even-distribution\" must be \"cpu\" or \"memory\", not \"disk\"\n\
         10:34: \"word\" of unit \"even-distribution\" must match the pattern [a-z]+|x, and \"abC\" does not"
    );
    assert_eq!(
        problems("settings.headroom = 'lots'\n[[filters]]\nunit = 'memory'"),
        "1:21: \"headroom\" of unit \"memory\" must be an amount of memory, not \"lots\"; write for example \"8 GiB\""
    );
}

#[test]
fn names_and_positions_are_checked() {
    assert_eq!(
        problems(
            "[[filters]]\nunit = 'memory'\nname = 'm'\nposition = 'first'\n\
             [[filters]]\nunit = 'even-distribution'\nname = 'm'\nposition = 'first'\n\
             [[filters]]\nunit = 'memory'\nposition = 'first'\nenabled = false\nname = ''\n\
             [[selections]]\nunit = 'top'\n[[selections]]\nunit = 'top'"
        ),
        "7:8: there is a second filter \"m\"; the first is at 3:8\n\
         8:12: only one filter of a stage can be first, and that is the one at 4:12\n\
         13:8: the name of a filter must not be empty\n\
         17:8: unit \"top\" must stand first among the selections of a stage, \
         since it gives the shares that the others start from"
    );
}

#[test]
fn a_range_must_be_declared_to_scale_by_it() {
    assert_eq!(
        problems("[[costs]]\nunit = 'power-saving'\nscaling = 'range'\nsettings.threshold = 1"),
        "3:11: unit \"power-saving\" does not say between which numbers its costs lie, so \"range\" cannot scale them; use \"min-max\" or \"rank\""
    );
}

#[test]
fn a_cluster_must_have_the_attributes_that_units_need() {
    let text = "[[filters]]\nunit = 'rack'\n[[filters]]\nunit = 'team'";
    assert_eq!(
        problems(text),
        "2:8: unit \"rack\" needs \"attribute.rack\" of hosts, which this cluster does not have; define it in the cluster's document under [attributes.hosts]"
    );
    let mut schema = Schema::default();
    for (entity, name, kind) in [
        ("hosts", "rack", model::Kind::Text),
        ("vms", "team", model::Kind::Integer),
    ] {
        schema
            .define_attribute(entity, name, kind, None, "")
            .unwrap();
    }
    assert_eq!(
        Policy::load(text, "p.toml", &units(), &schema)
            .unwrap_err()
            .to_string(),
        "p.toml:4:8: unit \"team\" reads \"attribute.team\" of hosts/vms as text, and in this cluster it is integer"
    );
}

#[test]
fn watches_are_checked() {
    assert_eq!(
        problems(
            "[[watches]]\nname = 'Busy'\ncolumn = 'cpu.usge'\nat-least = 1\n\
             [[watches]]\nname = 'a'\ncolumn = 'name'\n\
             [[watches]]\nname = 'a'\ncolumn = 'memory.total'\nat-least = '2 GiB'\nat-most = 5\n\
             [[watches]]\nname = 'b'\ncolumn = 'vcpus'"
        ),
        "2:8: \"Busy\" is no name for a watch: use lower-case letters, digits, hyphens and dots\n\
         3:10: a host has no \"cpu.usge\" (did you mean \"cpu.usage\"?)\n\
         7:10: \"name\" of a host is text, and only integers and numbers can be watched\n\
         9:8: there is a second watch \"a\"; the first is at 6:8\n\
         13:1: a watch needs \"at-least\" or \"at-most\": the values for which it holds"
    );
}

#[test]
fn the_example_policies_are_good() {
    let judging = |name: &str| Description {
        judge: judge(Answers::BOTH),
        ..unit(name)
    };
    let saving = Description {
        balance: Some(BalancePart {
            writes: Vec::new(),
            reads: Vec::new(),
            reasons: Vec::new(),
        }),
        ..judging("power-saving")
    };
    let others = ["memory", "cpu", "network", "affinity", "even-distribution"];
    let units = others.map(|name| (judging(name), ""));
    let units = Units(units.into_iter().chain([(saving, "")]).collect());
    for (text, file, stages) in [
        (include_str!("../../../examples/even.toml"), "even.toml", 1),
        (
            include_str!("../../../examples/saving.toml"),
            "saving.toml",
            2,
        ),
    ] {
        let policy = Policy::load(text, file, &units, Schema::built_in())
            .unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(policy.stages.len(), stages);
    }
}

#[test]
fn a_setting_for_all_units_that_every_entry_sets_itself_is_remarked_on() {
    let remarks = |text: &str| load(text).unwrap().remarks();
    let shared = "[settings]\nheadroom = '1 GiB'\n";
    let own = "[[filters]]\nunit = 'memory'\nsettings.headroom = '2 GiB'\n";
    let other = "[[filters]]\nunit = 'memory'\nname = 'more'\n";
    let told = remarks(&format!("{shared}{own}"));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("\"headroom\" for all units has no effect"),
        "{told:?}"
    );
    assert_eq!(remarks(&format!("{shared}{own}{other}")), [""; 0]);
    assert_eq!(remarks(&format!("{shared}{other}")), [""; 0]);
}

#[test]
fn a_policy_has_a_thousand_entries_at_most_wherever_they_stand() {
    let units = Units(vec![(
        Description {
            judge: judge(Answers::COSTS),
            ..unit("cheap")
        },
        "00",
    )]);
    let cost =
        |number: usize| format!("[[stages.costs]]\nname = \"c{number}\"\nunit = \"cheap\"\n");
    let policy = |costs: usize| {
        let costs: String = (0..costs).map(cost).collect();
        format!("[[stages]]\nname = \"main\"\nfilters = []\n{costs}")
    };
    // The stage counts as well.
    Policy::load(&policy(999), "p.toml", &units, Schema::built_in()).unwrap();
    let many = policy(1000);
    for refused in [
        Policy::load(&many, "p.toml", &units, Schema::built_in()).map(drop),
        Policy::read(&many, "p.toml").map(drop),
    ] {
        let refused = refused.unwrap_err().to_string();
        let told = "the entries would be 1001, and may be 1000: let fewer units decide";
        assert!(refused.contains(told), "{refused}");
    }
}
