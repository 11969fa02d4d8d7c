//! What targets stand on: engines, units and small clusters, made once a process.

use std::sync::{Arc, OnceLock};

use placewright_document::ClusterDocument;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_library::{Generation, load_all};
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_tests::target_folder;

/// The engine of all targets. Compiled code of the built-in units is kept beside what is built.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let limits = Limits {
            instances: 64,
            ..Limits::default()
        };
        let code = target_folder().join("fuzz-code");
        Engine::new(limits, Some(&code)).expect("an engine can be set up")
    })
}

/// An engine that keeps no code: for units of which each is loaded once.
pub(crate) fn forgetful() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let limits = Limits {
            instances: 16,
            ..Limits::default()
        };
        Engine::new(limits, None).expect("an engine can be set up")
    })
}

/// A few of the units that come with the program: of every part at least one.
pub(crate) fn units() -> &'static Generation {
    const NAMES: [&str; 8] = [
        "affinity",
        "affinity-enforcement",
        "cpu",
        "even-guest-distribution",
        "memory",
        "placement-keys",
        "priority",
        "worst-fit",
    ];
    static UNITS: OnceLock<Generation> = OnceLock::new();
    UNITS.get_or_init(|| {
        let wanted = plugins::UNITS.iter();
        let wanted: Vec<(String, &[u8])> = wanted
            .filter(|unit| NAMES.contains(&unit.name))
            .map(|unit| (unit.name.to_owned(), unit.bytes))
            .collect();
        let units = load_all(engine(), &wanted).into_iter();
        Generation::new(units.map(|unit| unit.expect("a built-in unit loads")))
            .expect("their names differ")
    })
}

/// A small cluster with something of everything.
pub(crate) const CLUSTER: &str = r#"
name = "c"
[attributes.hosts]
rack = { kind = "text", meaning = "Where it stands" }
[attributes.vms]
tier = { kind = "integer", meaning = "How important it is", need = true }
[[tenants]]
id = "t"
[[hosts]]
id = "h0"
cpu.cores = 16
memory.total = "64 GiB"
attribute.rack = "r1"
gpus = [{ index = 0 }]
[[hosts.vms]]
id = "v0"
tenant = "t"
cpu = 2
memory = "4 GiB"
[[hosts]]
id = "h1"
cpu.cores = 16
memory.total = "80 GiB"
[[hosts]]
id = "h2"
cpu.cores = 16
memory.total = "96 GiB"
state = "maintenance"
[[vms]]
id = "v1"
host = "h1"
memory = "8 GiB"
pending = true
[[groups]]
id = "apart"
vms = ["v0", "v1"]
rule = "negative"
hard = true
"#;

/// The cluster of [`CLUSTER`].
pub(crate) fn cluster() -> Inventory {
    static READ: OnceLock<ClusterDocument> = OnceLock::new();
    let document = READ.get_or_init(|| match ClusterDocument::read(CLUSTER, "c.toml") {
        Ok(document) => document,
        Err(problems) => panic!("{problems}"),
    });
    Inventory::of_document(document.clone(), 1000).expect("the document goes together")
}

/// The schema of the cluster.
pub(crate) fn schema() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(|| cluster().schema().clone()).clone()
}
