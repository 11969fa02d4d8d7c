use placewright_engine::contract::{
    Answers, BalancePart, ColumnRead, Description, EffectsPart, Evaluation, JudgePart,
    Kind as ValueKind, Setting, TableRead,
};
use placewright_policy::{UnitDescriptions, UnitName};

use super::*;

/// Units that stand for some of oVirt's.
struct Units(Vec<Description>);

impl UnitDescriptions for Units {
    fn find(&self, unit: &UnitName) -> Option<&Description> {
        let is = |name: &String| **name == *unit.name;
        self.0
            .iter()
            .find(|known| is(&known.name) || known.aliases.iter().any(is))
    }

    fn digest(&self, _: &str) -> Option<String> {
        None
    }

    fn names(&self) -> Vec<&str> {
        let names = self.0.iter();
        names
            .flat_map(|unit| std::iter::once(&unit.name).chain(&unit.aliases))
            .map(String::as_str)
            .collect()
    }
}

fn unit(name: &str, aliases: &[&str], answers: Option<Answers>) -> Description {
    Description {
        name: name.into(),
        version: "1.0.0".into(),
        summary: String::new(),
        aliases: aliases.iter().map(ToString::to_string).collect(),
        settings: Vec::new(),
        judge: answers.map(|answers| JudgePart {
            answers,
            evaluation: Evaluation::RowWise,
            reads: Vec::new(),
            reasons: Vec::new(),
            cost_range: None,
        }),
        selection: None,
        effects: None,
        balance: None,
        order: None,
        explain: None,
    }
}

fn setting(name: &str, kind: ValueKind, measure: Option<&str>) -> Setting {
    Setting {
        name: name.into(),
        kind,
        measure: measure.map(Into::into),
        default: None,
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: Vec::new(),
        meaning: String::new(),
        columns: Vec::new(),
    }
}

fn moving(reads: Option<&str>) -> Option<BalancePart> {
    let reads = reads.map(|column| TableRead {
        table: "hosts".into(),
        columns: vec![ColumnRead {
            column: column.into(),
            kind: ValueKind::Integer,
            required: false,
            gate: false,
        }],
    });
    Some(BalancePart {
        writes: Vec::new(),
        reads: reads.into_iter().collect(),
        reasons: Vec::new(),
    })
}

const CPU: &str = "6d636bf6-a35c-4f9d-b68d-0731f720cddc";
const EVEN_GUESTS: &str = "d58c8e32-44e1-418f-9222-52cd887bf9e0";

fn units() -> Units {
    use ValueKind::{Boolean, Integer, Number};
    let affinity = [
        "84e6ddee-ab0d-42dd-82f0-c297779db566",
        "84e6ddee-ab0d-42dd-82f0-c297779db567",
        "e69808a9-8a41-40f1-94ba-dd5d385d82d8",
        "427aed70-dae3-48ba-8fe9-a902a9d563c8",
    ];
    let even = ["7db4ab05-81ab-42e8-868a-aee2df483edb", "EvenCpu"];
    Units(vec![
        Description {
            settings: vec![setting("require-topology", Boolean, None)],
            ..unit("cpu", &[CPU], Some(Answers::BOTH))
        },
        Description {
            settings: vec![
                setting("vms", Boolean, None),
                setting("hosts", Boolean, None),
            ],
            ..unit("affinity", &affinity, Some(Answers::BOTH))
        },
        Description {
            settings: vec![
                setting("high-utilization", Number, Some("fraction")),
                setting("over-commit-duration", Integer, Some("seconds")),
                setting("low-memory", Integer, Some("bytes")),
                setting("high-memory", Integer, None),
                setting("vcpu-to-cpu-ratio", Number, None),
            ],
            balance: moving(Some("watch.cpu-over.since")),
            ..unit("even-distribution", &even, Some(Answers::COSTS))
        },
        Description {
            settings: vec![setting("spm-vm-grace", Integer, None)],
            balance: moving(None),
            ..unit(
                "even-guests",
                &[EVEN_GUESTS, "OptimalForEvenGuestDistribution"],
                Some(Answers::COSTS),
            )
        },
        Description {
            effects: Some(EffectsPart {
                reads: Vec::new(),
                writes: Vec::new(),
            }),
            ..unit(
                "pin-to-host",
                &["12262ab6-9690-4bc3-a2b3-35573b172d54"],
                Some(Answers::VERDICTS),
            )
        },
        Description {
            balance: moving(None),
            ..unit("enforcement", &["AffinityRulesEnforcement"], None)
        },
    ])
}

const RANKS: Options = Options {
    ranks: true,
    mandatory: false,
};

/// The policy document, and what is said of losses.
fn imported(texts: &[&str], options: Options) -> Result<(String, String), String> {
    let name = |text: &str, number| match text.trim_start().starts_with('<') {
        true => format!("{number}.xml"),
        false => format!("{number}.json"),
    };
    let documents: Result<Vec<_>, Problems> = (1..)
        .zip(texts)
        .map(|(number, text)| parse(text, &name(text, number)))
        .collect();
    let carried = documents.and_then(|documents| {
        let policy = Policy::read(&documents, None)?;
        let carried = carry(&policy, &units(), options)?;
        Ok((policy, carried))
    });
    let (policy, carried) = carried.map_err(|problems| problems.to_string())?;
    let losses: Vec<_> = carried.losses.iter().map(ToString::to_string).collect();
    let document = Document {
        policy: &policy,
        carried: &carried,
    };
    Ok((document.to_string(), losses.join("\n")))
}

fn document(texts: &[&str]) -> String {
    let (document, losses) = imported(texts, RANKS).unwrap();
    assert_eq!(losses, "");
    document
}

fn problems(texts: &[&str]) -> String {
    imported(texts, RANKS).unwrap_err()
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<scheduling_policy href="/ovirt-engine/api/schedulingpolicies/1" id="1">
  <name>busy "rooms"</name>
  <description>spreads work</description>
  <balances>
    <balance id="d58c8e32-44e1-418f-9222-52cd887bf9e0">
      <scheduling_policy_unit id="d58c8e32-44e1-418f-9222-52cd887bf9e0"/>
    </balance>
  </balances>
  <default_policy>false</default_policy>
  <filters>
    <filter id="84e6ddee-ab0d-42dd-82f0-c297779db566">
      <position>1</position>
      <scheduling_policy_unit id="84e6ddee-ab0d-42dd-82f0-c297779db566"/>
    </filter>
    <filter id="e69808a9-8a41-40f1-94ba-dd5d385d82d8"/>
    <filter id="6d636bf6-a35c-4f9d-b68d-0731f720cddc">
      <position>-1</position>
      <scheduling_policy_unit href="/ovirt-engine/api/schedulingpolicyunits/6D636BF6-a35c-4f9d-b68d-0731f720cddc"/>
    </filter>
  </filters>
  <locked>false</locked>
  <properties>
    <property><name>SpmVmGrace</name><value>7</value></property>
    <property><name>HighUtilization</name><value>80</value></property>
  </properties>
  <weights>
    <weight id="7db4ab05-81ab-42e8-868a-aee2df483edb">
      <factor> 2 </factor>
    </weight>
    <weight id="427aed70-dae3-48ba-8fe9-a902a9d563c8"/>
  </weights>
</scheduling_policy>
"#;

const JSON: &str = r#"{
  "name": "busy \"rooms\"", "description": "spreads work", "locked": "false",
  "properties": {"property": [
    {"name": "SpmVmGrace", "value": "7"}, {"name": "HighUtilization", "value": 80}
  ]},
  "link": [{"href": "/x/filters", "rel": "filters"}],
  "filters": {"filter": [
    {"id": "84e6ddee-ab0d-42dd-82f0-c297779db566", "position": "1"},
    {"scheduling_policy_unit": {"id": "e69808a9-8a41-40f1-94ba-dd5d385d82d8"}, "position": 0},
    {"id": "6d636bf6-a35c-4f9d-b68d-0731f720cddc", "position": -1}
  ]},
  "weights": [
    {"id": "7db4ab05-81ab-42e8-868a-aee2df483edb", "factor": "2"},
    {"scheduling_policy_unit": {"name": "VmToHostsAffinityGroups"}}
  ],
  "balances": {"balance": [{"id": "d58c8e32-44e1-418f-9222-52cd887bf9e0"}]}
}"#;

const CARRIED: &str = r#"# Carried over from a scheduling policy of oVirt.
name = 'busy "rooms"'
description = "spreads work"

[settings]
spm-vm-grace = 7
high-utilization = "80 %"

[[filters]]
unit = "cpu"
position = "first"
settings = { require-topology = true }

[[filters]]
name = "affinity-hosts"
unit = "affinity"
settings = { vms = false, hosts = true }

[[filters]]
name = "affinity-vms"
unit = "affinity"
position = "last"
settings = { vms = true, hosts = false }

[[costs]]
unit = "even-distribution"
factor = 2
scaling = "stretched-rank"

[[costs]]
name = "affinity-hosts"
unit = "affinity"
factor = 1
scaling = "rank"
settings = { vms = false, hosts = true }

# oVirt keeps up affinity besides, as the unit enforcement does.
[balance]
unit = "even-guests"

[[watches]]
name = "cpu-over"
column = "cpu.usage"
at-least = "80 %"
at-most = "0 %"
"#;

#[test]
fn a_policy_with_its_lists_is_carried_over_from_xml_and_from_json() {
    assert_eq!(document(&[XML]), CARRIED);
    assert_eq!(document(&[JSON]), CARRIED);
}

#[test]
fn the_lists_may_be_documents_of_their_own() {
    let policy = r#"<scheduling_policy>
        <name>apart</name>
        <link href="/x/filters" rel="filters"/><link href="/x/weights" rel="weights"/>
        <link href="/x/balances" rel="balances"/><link href="/x/clusters" rel="clusters"/>
    </scheduling_policy>"#;
    let filters = format!(r#"<filters><filter id="{CPU}" position="-1"/></filters>"#);
    let weights = r#"{"weight": [{"scheduling_policy_unit": {"name": "EvenCpu"}}]}"#;
    // What an engine answers in JSON for a list of nothing.
    let text = document(&[&filters, policy, "{}", weights]);
    assert!(text.contains("position = \"first\""), "{text}");
    assert!(
        text.contains("unit = \"even-distribution\"\nfactor = 1"),
        "{text}"
    );
    assert_eq!(
        problems(&[&filters, policy]),
        "2.xml:3:48: the policy's weights are not in the file, only a link to them; ask the engine for \
         the policy with ?follow=filters,weights,balances, or give the answer of .../weights as another file\n\
         2.xml:4:9: the policy's balances are not in the file, only a link to them; ask the engine for \
         the policy with ?follow=filters,weights,balances, or give the answer of .../balances as another file"
    );
    let said = problems(&[XML, &filters]);
    assert!(
        said.starts_with("2.xml:1:1: the policy has its filters at 1.xml:11:3; "),
        "{said}"
    );
    let said = problems(&[policy, &filters, &filters]);
    assert!(
        said.contains("3.xml:1:1: filters stand here for the second time"),
        "{said}"
    );
}

#[test]
fn attributes_are_read_as_version_3_wrote_them() {
    let policy = format!(
        r#"<scheduling_policy id="1" name="old">
        <thresholds high="70" duration="180"/>
        <weights><weight id="7db4ab05-81ab-42e8-868a-aee2df483edb" factor="3"/></weights>
        <balances><balance id="{EVEN_GUESTS}"><scheduling_policy_unit type="load_balancing" id="{EVEN_GUESTS}"/></balance></balances>
        </scheduling_policy>"#
    );
    let text = document(&[&policy]);
    assert!(text.contains("name = \"old\""), "{text}");
    assert!(text.contains("factor = 3"), "{text}");
    assert!(
        text.contains("high-utilization = \"70 %\"\nover-commit-duration = \"3 min\""),
        "{text}"
    );
    let said = problems(&[&policy.replace("180", "100")]);
    assert_eq!(
        said,
        "1.xml:2:31: \"duration\" must be a whole number that 60 divides, not \"100\""
    );
}

#[test]
fn the_parameters_of_a_cluster_go_before_those_of_its_policy() {
    let cluster = r#"<cluster id="c"><name>c</name><custom_scheduling_policy_properties>
        <property><name>HighUtilization</name><value>95</value></property>
        </custom_scheduling_policy_properties><scheduling_policy id="1"/></cluster>"#;
    let text = document(&[XML, cluster]);
    assert!(text.contains("high-utilization = \"95 %\""), "{text}");
    assert!(text.contains("at-least = \"95 %\""), "{text}");
    assert!(text.contains("spm-vm-grace = 7"), "{text}");
}

#[test]
fn parameters_are_written_in_the_measures_of_their_settings() {
    let policy = r#"{"name": "a", "weights": {"weight": [{"id": "7db4ab05-81ab-42e8-868a-aee2df483edb"}]},
        "properties": {"property": [
            {"name": "MaxFreeMemoryForOverUtilized", "value": "512"},
            {"name": "MinFreeMemoryForUnderUtilized", "value": "2"},
            {"name": "VCpuToPhysicalCpuRatio", "value": "1.50"},
            {"name": "CpuOverCommitDurationMinutes", "value": "5"}
        ]}}"#;
    let text = document(&[policy]);
    assert!(
        text.contains(
            "low-memory = \"512 MiB\"\nhigh-memory = 2097152\nvcpu-to-cpu-ratio = 1.5\n\
             over-commit-duration = \"5 min\"\n"
        ),
        "{text}"
    );
    assert!(text.contains("at-least = \"75 %\""), "{text}");
    let said = problems(&[&policy.replace("512", &"9".repeat(30))]);
    assert!(
        said.contains("\"MaxFreeMemoryForOverUtilized\" is too great"),
        "{said}"
    );
}

#[test]
fn where_values_are_added_up_units_scale_as_ovirts_do_by_themselves() {
    let options = Options {
        ranks: false,
        mandatory: false,
    };
    let (text, _) = imported(&[XML], options).unwrap();
    assert!(text.contains("factor = 2\nscaling = \"stretch\""), "{text}");
    let weights =
        r#"{"name": "a", "weights": {"weight": [{"scheduling_policy_unit": {"name": "Cpu"}}]}}"#;
    let (text, _) = imported(&[weights], options).unwrap();
    assert!(
        text.contains("unit = \"cpu\"\nfactor = 1\nsettings"),
        "{text}"
    );
}

#[test]
fn mandatory_filters_stand_before_all_others_and_once() {
    let policy = format!(
        r#"<scheduling_policy><name>a</name><filters>
        <filter id="12262ab6-9690-4bc3-a2b3-35573b172d54"/><filter id="{CPU}" position="-1"/>
        </filters></scheduling_policy>"#
    );
    let options = Options {
        ranks: true,
        mandatory: true,
    };
    let (text, losses) = imported(&[&policy], options).unwrap();
    assert!(
        text.ends_with(
            "\n[[filters]]\nunit = \"pin-to-host\"\n\n[[filters]]\nunit = \"cpu\"\n\
             settings = { require-topology = true }\n\n[[effects]]\nunit = \"pin-to-host\"\n"
        ),
        "{text}"
    );
    // Of the eight, the units for tests know one.
    assert_eq!(losses.lines().count(), 7, "{losses}");
    assert!(
        losses.contains(
            "warning: mandatory filter \"CPU-Level\" has no unit here: \
             hosts that it would leave out stay"
        ),
        "{losses}"
    );
    let text = document(&[&policy]);
    assert!(
        text.contains("unit = \"cpu\"\nposition = \"first\"\n"),
        "{text}"
    );
}

#[test]
fn what_has_no_unit_here_is_left_out_and_told() {
    let policy = r#"{"name": "a",
        "filters": {"filter": [
            {"id": "e659c871-0bf1-4ccc-b748-f28f5d08dffd"},
            {"scheduling_policy_unit": {"id": "0", "name": "Mine\u001b[31m"}},
            {"scheduling_policy_unit": {"name": "OptimalForEvenGuestDistribution"}}
        ]},
        "balances": {"balance": [{"id": "38440000-8cf0-14bd-c43e-10b96e4ef00a"}]},
        "properties": {"property": [
            {"name": "HeSparesCount", "value": "0"}, {"name": "ScaleDown", "value": "2"}
        ]}}"#;
    let (text, losses) = imported(&[policy], RANKS).unwrap();
    let lost = [
        "filter \"HA\" (e659c871-0bf1-4ccc-b748-f28f5d08dffd) is about the VM that runs oVirt's engine, \
         and there is none here: hosts that it would leave out stay",
        "filter \"Mine\u{fffd}[31m\" (0) has no unit here, by its id or its name: \
         hosts that it would leave out stay",
        "filter \"OptimalForEvenGuestDistribution\" has no unit here, by its id or its name: \
         hosts that it would leave out stay",
        "property \"HeSparesCount\" = \"0\": no unit here has such a parameter",
        "property \"ScaleDown\" = \"2\": none of the units that are carried over has a setting \"scale-down\"",
    ];
    let places = ["3:13", "4:13", "5:13", "9:13", "9:54"];
    let warnings: Vec<_> = lost
        .iter()
        .zip(places)
        .map(|(lost, place)| format!("warning: 1.json:{place}: {lost}"))
        .collect();
    assert_eq!(losses, warnings.join("\n"));
    let comments: String = lost
        .iter()
        .map(|lost| format!("# Lost: {lost}\n"))
        .collect();
    assert_eq!(
        text,
        format!(
            "# Carried over from a scheduling policy of oVirt.\n{comments}name = \"a\"\nfilters = []\n\n\
             [balance]\nunit = \"enforcement\"\n"
        )
    );
}

#[test]
fn everything_that_an_engine_would_not_store_is_told_at_once() {
    let policy = format!(
        r#"<scheduling_policy>
<filters>
<filter id="{CPU}" position="-1"/>
<filter id="84e6ddee-ab0d-42dd-82f0-c297779db566" position="-1"/>
<filter id="{CPU}"/>
<filter position="2" id="a"/>
<filter/>
<filter id="b"><scheduling_policy_unit id="b"><type>weight</type></scheduling_policy_unit></filter>
<filter id="c"><position>0</position><position>1</position></filter>
</filters>
<weights><weight id="d" factor="-1"/><weight id="e" factor="lots"/><filter id="d"/></weights>
<balances><balance id="f"/><balance id="g"/></balances>
<properties><property><value>1</value></property></properties>
</scheduling_policy>"#
    );
    let expected = [
        "1:1: the policy needs a name; give it one in an element \"name\"".to_owned(),
        "4:1: only one filter can be first, and that is the one at 1.xml:3:1; give this one position 0".to_owned(),
        format!("5:1: filter {CPU} stands here for the second time; the first is at 1.xml:3:1"),
        "6:9: \"position\" must be -1 for the first, 1 for the last, or 0, not \"2\"".to_owned(),
        "7:1: a filter names no unit; give its id: <scheduling_policy_unit id=\"...\"/>".to_owned(),
        "8:47: filter b is of type \"weight\", and only units of type filter stand among the filters".to_owned(),
        "9:38: \"position\" is \"1\" here and \"0\" at 1.xml:9:16; leave only what is right".to_owned(),
        "11:25: \"factor\" must be a whole number from 0, not \"-1\"".to_owned(),
        "11:53: \"factor\" must be a whole number from 0, not \"lots\"".to_owned(),
        "11:68: a filter stands among the weights; move it to the filters".to_owned(),
        "12:28: a policy has one balance, and that is the one at 1.xml:12:11; leave one of them out".to_owned(),
        "13:13: a property needs a name; give it one, or leave it out".to_owned(),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|line| format!("1.xml:{line}"))
        .collect();
    assert_eq!(problems(&[&policy]), expected.join("\n"));
}

#[test]
fn units_and_values_that_fit_no_policy_are_refused() {
    let policy = format!(
        r#"{{"name": "a", "balances": {{"balance": [{{"id": "{CPU}"}}]}},
        "properties": {{"property": [{{"name": "HighUtilization", "value": "150"}}]}}}}"#
    );
    assert_eq!(
        problems(&[&policy]),
        format!(
            "1.json:1:40: balance {CPU} is the unit \"cpu\", which cannot stand among the balances; \
             move it or leave it out\n\
             1.json:2:37: property \"HighUtilization\" must match [5-9][0-9], and \"150\" does not; \
             correct it, or leave it out"
        )
    );
}

#[test]
fn what_is_no_policy_is_refused_with_what_to_give() {
    for (text, part) in [
        ("", "1.json:1:1: this is neither XML"),
        ("[]", "1.json:1:1: this is neither XML"),
        ("{", "1.json:1:1: this is no JSON"),
        (
            "<html><body/></html>",
            "1.xml:1:1: \"html\" is no part of a scheduling policy; give what",
        ),
        (
            "{\"cpu\": 1}",
            "1.json:1:1: this is no part of a scheduling policy",
        ),
        ("<filters/>", "1.xml:1:1: there is no policy; give what"),
        ("{}", "1.json:1:1: there is no policy; give what"),
        (
            "<fault><detail>[no]</detail><reason>Operation Failed</reason></fault>",
            "1.xml:1:1: the engine refused to answer: \"Operation Failed\" \"[no]\"",
        ),
    ] {
        let said = problems(&[text]);
        assert!(said.starts_with(part), "{text}: {said}");
    }
}

#[test]
fn one_of_several_policies_is_chosen_by_name_or_id() {
    let text = "<scheduling_policies><scheduling_policy id='1'><name>a</name></scheduling_policy>\
                <scheduling_policy id='2'><name>b</name></scheduling_policy></scheduling_policies>";
    let documents = [parse(text, "p.xml").unwrap()];
    let chosen = |name| Policy::read(&documents, name).map_err(|problems| problems.to_string());
    assert_eq!(chosen(Some("b")).unwrap().name, "b");
    assert_eq!(chosen(Some("1")).unwrap().name, "a");
    assert_eq!(
        chosen(None).unwrap_err(),
        "p.xml:1:22: there are several policies; choose one with --name: \"a\", \"b\""
    );
    assert_eq!(
        chosen(Some("c")).unwrap_err(),
        "p.xml:1:22: there is no policy of name or id \"c\"; there is \"a\", \"b\""
    );
}
