//! Everything that requests can make grow has a bound: each list of the program's state and each
//! table of the store belongs to a collection, or to what requests cannot make grow for good.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use placewright_model::budget::{self, Collection};
use placewright_tests::repository;

/// Where state lies that outlives a request.
const CRATES: [&str; 6] = [
    "api",
    "console",
    "deployment",
    "inventory",
    "ovirt",
    "scheduler",
];

/// What of `http` outlives a request.
const OF_HTTP: [&str; 2] = ["http/src/access", "http/src/idempotency"];

/// Lists that requests do not make grow for good, and why.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "it goes with the request, the answer or the turn",
        &[
            "Call.follow",
            "Groups.unsettled",
            "Known.ids",
            "Known.names",
            "Labelled.members",
            "Named.made",
            "Now.doomed",
            "Vms.known",
            "Named.names",
            "Names.numbers",
            "Work.own",
            "NewSettings.overrides",
            "SettingsPatch.overrides",
            "ChangeShown.set",
            "Attach.overrides",
            "Comparison.seen",
            "Row.costs",
            "Sequence.added",
            "Sequence.moved",
            "SavedChain.units",
            "SavedMeasured.at",
            "SavedMeasured.since",
            "ClusterSums.hosts",
            "HostColumns.columns",
            "UnitReplayed.clusters",
            "ShadowShown.clusters",
            "Touched.hosts",
            "Touched.vms",
            "Touched.tenants",
            "Touched.groups",
            "Touched.noted",
            "Touched.measured_vms",
            "Totals.amounts",
            "AttachingEnds.list",
            "Body.clusters",
            "Caller.clusters",
            "Person.clusters",
            "NewToken.clusters",
            "TokenShown.clusters",
            "TokenWanted.clusters",
            "Deployment.attaching",
            "Lists.dated",
            "Lists.different_hosts",
            "Lists.last_without_load",
            "Measured.at",
        ],
    ),
    (
        "hosts and VMs of the inventory, each once, while they are there",
        &[
            "Down.to_start",
            "Body.lost",
            "Gate.lost",
            "Restarts.lost",
            "Restarts.stuck",
            "Rows.lost",
        ],
    ),
    (
        "an entry for each minute of an hour, however much is asked",
        &["Rates.minutes"],
    ),
    (
        "a share for each host of one decision that a page shows, and gone with the page",
        &["Matrix.chances"],
    ),
    (
        "requests that wait for a turn hold their bodies, which are bounded",
        &["Batch.again", "Batch.unset", "ByAsker.askers"],
    ),
    (
        "it goes with a stream of events, of which there may be few",
        &[
            "Told.missed",
            "Following.to_send",
            "Frames.clusters",
            "Steps.last",
        ],
    ),
    (
        "one for each cluster, which admins make",
        &[
            "Set.due",
            "Deployment.clusters",
            "Deployment.unread",
            "Deployment.restarts",
            "Deployment.leaving",
            "Deployment.due",
            "Site.said",
            "Site.upgrades",
        ],
    ),
    (
        "it belongs to a token, of which there may be few, and names few clusters",
        &["KnownTokens.by_digest", "Token.clusters"],
    ),
    ("it stands in the configuration", &["GroupRole.clusters"]),
    (
        "one for each unit or policy that is in force",
        &[
            "Breakers.parts",
            "Failures.units",
            "ClusterState.counted",
            "Refused.files",
            "InForce.distrusted",
            "Deployment.shadows",
            "Set.wanted",
            "Set.failed",
            "Set.given_up",
            "UnitsNamed.policies",
        ],
    ),
];

/// Tables of the store that only those fill who may put units or clusters there.
const TABLES_OF_ADMINS: [&str; 3] = ["artifacts", "units", "settings"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// Whether a type is a list that grows: what is only a `Vec` stands beside one of these.
fn grows(kind: &str) -> bool {
    let lists = [
        "VecDeque<",
        "BTreeMap<",
        "HashMap<",
        "BTreeSet<",
        "HashSet<",
        "ById<",
    ];
    lists.iter().any(|list| kind.contains(list))
}

/// The fields of structures in a source that are lists, as `Structure.field`.
fn lists(source: &str) -> Vec<String> {
    let (mut structure, mut found) = (None, Vec::new());
    for line in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(place) = words.iter().position(|word| *word == "struct")
            && line.ends_with('{')
            && !line.starts_with(' ')
        {
            let name = words[place + 1].split(['<', '(']).next();
            structure = name.map(str::to_owned);
        } else if line == "}" {
            structure = None;
        } else if let (Some(name), Some((field, kind))) = (&structure, line.split_once(": "))
            && grows(kind)
            && !line.trim_start().starts_with("//")
        {
            let field = field.split_whitespace().last().unwrap_or_default();
            found.push(format!("{name}.{field}"));
        }
    }
    found
}

#[test]
fn every_list_that_requests_can_make_grow_belongs_to_a_collection() {
    let crates = repository().join("host/crates");
    let mut files = Vec::new();
    for name in CRATES {
        sources(&crates.join(name).join("src"), &mut files);
    }
    for folder in OF_HTTP {
        sources(&crates.join(folder), &mut files);
    }
    let found: BTreeSet<String> = files
        .iter()
        .flat_map(|file| lists(&fs::read_to_string(file).unwrap()))
        .collect();
    let rows = Collection::all().flat_map(|collection| collection.row().fields);
    let others = OTHERS.iter().flat_map(|(_, fields)| *fields);
    let known: BTreeSet<String> = rows.chain(others).map(|it| (*it).to_owned()).collect();
    let unknown: Vec<_> = found.difference(&known).collect();
    assert!(
        unknown.is_empty(),
        "{unknown:?}: give each a row in host/crates/model/src/budget/rows.rs, with a bound that is enforced, or say here why requests cannot make it grow"
    );
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "{gone:?} are there no more");
}

#[test]
fn every_table_of_the_store_belongs_to_a_collection() {
    let folder = repository().join("host/crates/store/src/schema");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let name = line.strip_prefix("CREATE TABLE ");
            found.extend(
                name.and_then(|rest| rest.split([' ', '(']).next())
                    .map(str::to_owned),
            );
        }
    }
    let rows = Collection::all().flat_map(|collection| collection.row().tables);
    let known: BTreeSet<String> = rows
        .chain(&TABLES_OF_ADMINS)
        .map(|it| (*it).to_owned())
        .collect();
    assert_eq!(found, known);
}

#[test]
fn the_table_of_the_documentation_is_that_of_the_program() {
    let file = repository().join("SECURITY.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("<!-- collections -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- /collections -->").unwrap();
    if std::env::var("UPDATE_BOOK").is_ok_and(|value| value == "1") {
        let table = budget::table();
        let text = format!("{before}<!-- collections -->\n{table}<!-- /collections -->{after}");
        fs::write(&file, text).unwrap();
        return;
    }
    assert_eq!(
        table,
        budget::table(),
        "run UPDATE_BOOK=1 cargo test -p placewright-tests --test main collections::"
    );
}
