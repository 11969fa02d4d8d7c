//! A seeded fleet, the chain of the five reference units over it, and a request.

use std::path::Path;
use std::sync::Arc;

use placewright_chain::Chain;
use placewright_engine::contract::Call;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_policy::Policy;

/// Every unit gives what it can; costs are not scaled, so that the twin is plain.
pub(crate) const POLICY: &str = r#"
name = "bench"
tie-rule = ["id"]

[[filters]]
unit = "memory"
[[filters]]
unit = "cpu"
settings = { overcommit = 4.0 }
[[filters]]
unit = "affinity"

[[costs]]
unit = "memory"
factor = 1.0
[[costs]]
unit = "cpu"
settings = { overcommit = 4.0 }
[[costs]]
unit = "affinity"
[[costs]]
unit = "even-distribution"
[[costs]]
unit = "power-saving"
"#;

const GIB: i64 = 1 << 30;

/// All that a decision needs.
pub(crate) struct Bench {
    pub inventory: Inventory,
    pub chain: Arc<Chain>,
    pub request: Request,
}

impl Bench {
    /// A fleet of `hosts` hosts, half full.
    pub(crate) fn new(hosts: usize) -> Self {
        let generation = generation();
        let mut inventory = fleet(hosts);
        let policy = Policy::load(POLICY, "bench.toml", &generation, inventory.schema())
            .expect("the policy fits the units");
        let chain = Chain::resolve(Arc::new(policy), &generation, &mut inventory)
            .expect("the units are there");
        let request = Request {
            members: vec![vm("new", 2)],
            ..Request::default()
        };
        Self {
            inventory,
            chain: Arc::new(chain),
            request,
        }
    }
}

/// The units of all variants.
pub(crate) fn generation() -> Generation {
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    Generation::new(units(&engine)).expect("seven names")
}

/// The five units, one that looks at all hosts at once and one that filters by networks, loaded by an engine.
pub(crate) fn units(engine: &Engine) -> [Arc<Unit>; 7] {
    let names = [
        "memory",
        "cpu",
        "affinity",
        "even-distribution",
        "power-saving",
        "memory-spreading",
        "network",
    ];
    names.map(|name| Unit::load(engine, &component(name), name).expect("the unit loads"))
}

/// The built component of a unit of this repository.
pub(crate) fn component(name: &str) -> Vec<u8> {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let groups = std::fs::read_dir(&plugins).expect("the repository has plugins");
    let files = groups
        .flatten()
        .map(|group| group.path().join(name).join(name).with_extension("wasm"));
    let bytes = files.flat_map(std::fs::read).next();
    bytes.unwrap_or_else(|| panic!("no group in {} has {name}.wasm", plugins.display()))
}

fn vm(id: &str, cores: i64) -> Vm {
    Vm::new(id)
        .with("cores", cores)
        .with("memory", cores * 4 * GIB)
}

/// A linear congruential generator (Knuth's MMIX constants): any will do.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next one, from 0 and below that.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 = (self.0)
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// So many hosts, half full.
pub(crate) fn fleet(hosts: usize) -> Inventory {
    let mut inventory = Inventory::new("bench", Arc::new(Schema::default()));
    let mut numbers = Numbers::new(42);
    let mut next = |below: u64| numbers.below(below);
    for number in 0..hosts {
        let id = format!("host-{number:06}");
        let usage = next(256) as f64 / 256.0;
        let host = Host::new(id.as_str())
            .with("cpu.sockets", 2i64)
            .with("cpu.cores", 40i64)
            .with("cpu.threads", 80i64)
            .with("memory.total", 512 * GIB)
            .with("memory.free", 300 * GIB)
            .with("cpu.usage", usage);
        inventory.add_host(host).expect("a new host");
        for place in 0..next(16) {
            let cores = 1 << next(4);
            let running = vm(&format!("vm-{number}-{place}"), cores);
            inventory.run_vm(running, &id).expect("a new VM");
        }
    }
    inventory
}

/// The unit `best-fit` with a call of 10 rows of the nine columns that it reads of hosts, and one
/// without rows.
pub(crate) fn nine_columns() -> (Arc<Unit>, Call, Call) {
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    let unit = Unit::load(&engine, &component("best-fit"), "best-fit").expect("the unit loads");
    let call = |rows: u32| {
        let host_columns = [40_000, 8_000, 0, 512 * GIB, 0, 128 * GIB, 0];
        let mut integers = vec![2_000, 8 * GIB];
        for value in host_columns {
            integers.extend(std::iter::repeat_n(value, rows as usize));
        }
        // Offsets of `hosts/current`: no VM of the request runs on any host.
        integers.extend(std::iter::repeat_n(0, rows as usize + 1));
        integers.extend([10, 256 << 20]);
        Call {
            rows: vec![1, rows, 0, 1],
            integers,
            // How much of CPU and memory may be promised.
            numbers: vec![1.0; 2 * rows as usize],
            ..Call::default()
        }
    };
    (unit.clone(), call(10), call(0))
}
