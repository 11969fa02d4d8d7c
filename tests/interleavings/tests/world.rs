//! A deployment of one cluster, with a clock that is set by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use placewright_deployment::cluster::Placed;
use placewright_deployment::{
    Attach, Cluster, ClusterState, Deployment, DeploymentError, DeploymentOptions, Edit,
    KeptArtifacts, Origin,
};
use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_library::live::{Library, LibraryOptions, Surroundings};
use placewright_library::stage::Trials;
use placewright_model::{Request, Vm};
use placewright_plugins as plugins;
use placewright_store::{Store, StoreOptions};
use placewright_tests::component::by_default;
use placewright_tests::units::component;
use shuttle::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// When the clock begins, in seconds.
pub(crate) const BEGIN: i64 = 1000;

/// Seconds after which no reservation of the beginning holds.
pub(crate) const EXPIRY: i64 = 301;

/// VMs that a host has room for.
pub(crate) const ROOM: usize = 2;

/// Hosts of the cluster.
pub(crate) const HOSTS: usize = 2;

const HOST_LIST: &str = r#"
    [[hosts]]
    id = "a"
    cpu.cores = 8
    memory.total = "8 GiB"
    [[hosts]]
    id = "b"
    cpu.cores = 8
    memory.total = "8 GiB"
"#;

/// Both units are replaced together, so that what mixes generations shows.
pub(crate) const POLICY: &str = r#"
    [[stages]]
    name = "main"
    [[stages.filters]]
    name = "room"
    unit = "worst-fit"
    [[stages.filters]]
    name = "affinity"
    unit = "affinity"
    [[stages.costs]]
    name = "spread"
    unit = "worst-fit"
"#;

/// The same component with other bytes: with a section that nobody reads.
pub(crate) fn variant(component: &[u8], number: u8) -> Vec<u8> {
    [component, &[0, 4, 2, b'v', b'n', number]].concat()
}

pub(crate) fn embedded(name: &str) -> &'static [u8] {
    let unit = plugins::UNITS.iter().find(|unit| unit.name == name);
    unit.unwrap().bytes
}

fn engine() -> Engine {
    static ENGINE: OnceLock<(Engine, tempfile::TempDir)> = OnceLock::new();
    let made = ENGINE.get_or_init(|| {
        let limits = Limits {
            instances: 200,
            ..Limits::default()
        };
        let code = tempfile::tempdir().unwrap();
        let engine = Engine::new(limits, Some(&code.path().join("code"))).unwrap();
        (engine, code)
    });
    made.0.clone()
}

/// Generations 0 to 3: the same units, each time with other bytes.
pub(crate) fn generations() -> &'static [Arc<Generation>] {
    static MADE: OnceLock<Vec<Arc<Generation>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let engine = engine();
        let of = |number: u8| {
            let names = ["worst-fit", "affinity"].iter();
            let units = names.map(|name| {
                let bytes = variant(embedded(name), number);
                Unit::load(&engine, &bytes, name).unwrap()
            });
            Arc::new(Generation::new(units).unwrap())
        };
        (0..4).map(of).collect()
    })
}

/// A generation in which the unit "misbehaving" does what its name says, and one in
/// which it does not.
pub(crate) fn bad_and_good() -> &'static [Arc<Generation>; 2] {
    static MADE: OnceLock<[Arc<Generation>; 2]> = OnceLock::new();
    MADE.get_or_init(|| {
        let good = component("misbehaving");
        [by_default(&good, "panics"), good.to_vec()].map(|bytes| {
            let unit = Unit::load(&engine(), &bytes, "misbehaving").unwrap();
            Arc::new(Generation::new([unit]).unwrap())
        })
    })
}

/// A deployment, and what its tests need beside it.
pub(crate) struct World {
    pub(crate) deployment: Arc<Deployment>,
    pub(crate) store: Store,
    pub(crate) clock: Arc<AtomicI64>,
    /// The last generation of which it was said that it is in force.
    pub(crate) acknowledged: AtomicUsize,
}

/// How many turns may wait, where that does not matter.
pub(crate) const MANY: usize = 1000;

impl World {
    /// With the policy "mine" and the cluster "c", which it decides in.
    pub(crate) fn new() -> Arc<Self> {
        Self::with(&generations()[0], POLICY, MANY)
    }

    pub(crate) fn with(generation: &Generation, policy: &str, waiting: usize) -> Arc<Self> {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        let clock = Arc::new(AtomicI64::new(BEGIN));
        let world = Self::start(store, clock, generation, waiting);
        let edit = edit(policy, None);
        world.deployment.put_policy(&edit, "somebody").unwrap();
        world.create("c");
        world
    }

    fn start(
        store: Store,
        clock: Arc<AtomicI64>,
        generation: &Generation,
        waiting: usize,
    ) -> Arc<Self> {
        let time = clock.clone();
        let options = DeploymentOptions {
            // However slow the machine is, nobody waits for so long.
            wait: Duration::from_secs(24 * 3600),
            waiting,
            clock: Arc::new(move || time.load(Ordering::SeqCst)),
            ..DeploymentOptions::default()
        };
        let around = Surroundings {
            artifacts: Arc::new(KeptArtifacts::new(store.clone())),
            events: Arc::new(|_, _| {}),
            clock: Arc::new(|| UNIX_EPOCH),
        };
        let of_library = LibraryOptions::default();
        let library = Library::open(engine(), generation, of_library, around).unwrap();
        let (events, telemetry) = (Arc::default(), Arc::default());
        let started = Deployment::start(store.clone(), library, events, telemetry, options);
        let started = started.unwrap();
        assert_eq!(started.problems, Vec::<String>::new());
        Arc::new(Self {
            deployment: started.deployment,
            store,
            clock,
            acknowledged: AtomicUsize::new(0),
        })
    }

    pub(crate) fn create(&self, name: &str) -> Arc<Cluster> {
        let text = format!("name = \"{name}\"\n{HOST_LIST}");
        let document = ClusterDocument::read(&text, "c.toml").unwrap();
        self.deployment.create_cluster(document, attach()).unwrap()
    }

    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        self.deployment.cluster("c").unwrap()
    }

    /// Have generation `number` come into force.
    pub(crate) fn reload(&self, number: usize) {
        let adopted = self.deployment.adopt(generations()[number].clone());
        adopted.unwrap();
        self.acknowledged.store(number, Ordering::SeqCst);
    }

    /// Ask for a place for a VM, half as large as a host's room is, and check what
    /// decided and that no host is overfilled.
    pub(crate) fn place(&self, id: &str) -> Result<Option<String>, DeploymentError> {
        let least = self.acknowledged.load(Ordering::SeqCst);
        let asked = request(id);
        let turn = self.cluster().turn(move |state| {
            let begins_with = decides(state);
            let placed = state.place(asked, None)?;
            let ends_with = past(state, &placed);
            Ok((placed, begins_with, ends_with, fullest(state.inventory())))
        });
        let (placed, begins_with, ends_with, fullest) = turn.wait()?;
        assert_eq!(begins_with, ends_with, "another generation ends a decision");
        assert!(
            begins_with.iter().all(|it| *it == begins_with[0]),
            "generations are mixed: {begins_with:?}"
        );
        assert!(
            begins_with[0] >= least,
            "generation {} decides after {least} was acknowledged",
            begins_with[0]
        );
        assert!(fullest <= ROOM, "{fullest} VMs on a host");
        Ok(placed.host.map(|host| host.to_string()))
    }

    /// Do as a restart does, with what the store has, and check that it is all there.
    pub(crate) fn restart(self: Arc<Self>, generation: &Generation) -> Arc<Self> {
        let before = document(&self.cluster());
        self.deployment.stop();
        let (store, clock) = (self.store.clone(), self.clock.clone());
        drop(self);
        let world = Self::start(store, clock, generation, MANY);
        assert_eq!(before, document(&world.cluster()), "what was kept differs");
        world
    }

    /// The ids of the VMs that run, and of those that hold a place besides.
    pub(crate) fn vms(&self) -> BTreeMap<String, bool> {
        let turn = self.cluster().turn(|state| {
            let inventory = state.inventory();
            let hosts = inventory.hosts();
            let vms = hosts.flat_map(|(_, host)| inventory.vms_of(host));
            let vms: Vec<_> = vms.map(|it| (it.vm.id.to_string(), it.pending)).collect();
            Ok(vms)
        });
        let vms = turn.wait().unwrap();
        let all: BTreeMap<_, _> = vms.iter().cloned().collect();
        assert_eq!(all.len(), vms.len(), "a VM is twice there: {vms:?}");
        all
    }
}

fn document(cluster: &Cluster) -> serde_json::Value {
    let document = cluster.turn(|state| Ok((state.document(), state.scheduler().next_number())));
    serde_json::to_value(document.wait().unwrap()).unwrap()
}

pub(crate) fn edit(text: &str, revision: Option<u64>) -> Edit {
    Edit {
        name: "mine".to_owned(),
        text: text.to_owned(),
        origin: Origin::Api,
        revision,
    }
}

pub(crate) fn attach() -> Attach {
    Attach {
        policy: "mine".to_owned(),
        ..Attach::default()
    }
}

pub(crate) fn request(id: &str) -> Request {
    Request {
        members: vec![Vm::new(id).with("memory", 4_i64 << 30)],
        now: BEGIN,
        ..Request::default()
    }
}

/// The generations of the units that a cluster decides by.
pub(crate) fn decides(state: &ClusterState) -> Vec<usize> {
    numbers(&state.scheduler().chain().units())
}

fn past(state: &ClusterState, placed: &Placed) -> Vec<usize> {
    let shown: serde_json::Value = serde_json::from_str(&placed.body).unwrap();
    let past = state.past(shown["number"].as_u64().unwrap()).unwrap();
    numbers(&past.chain().units())
}

fn numbers(units: &[&Arc<Unit>]) -> Vec<usize> {
    let number = |unit: &&Arc<Unit>| {
        let mut generations = generations().iter();
        generations.position(|it| it.get(unit.name()).map(|it| it.digest()) == Some(unit.digest()))
    };
    units.iter().filter_map(number).collect()
}

fn fullest(inventory: &Inventory) -> usize {
    let hosts = inventory.hosts();
    let counts = hosts.map(|(_, host)| inventory.vms_of(host).count());
    counts.max().unwrap_or(0)
}
