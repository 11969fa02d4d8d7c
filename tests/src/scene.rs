//! Small clusters, policies over the units for tests, and schedulers of both.

use std::sync::Arc;
use std::time::Duration;

use placewright_document::Problems;
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Scheduler, SchedulerOptions};

use crate::units;

/// Bytes of a GiB.
pub const GIB: i64 = 1 << 30;

/// A cluster of so many hosts, `h0` with 16 cores and 64 GiB, each further one with
/// 16 GiB more.
///
/// # Panics
/// Never: the hosts fit the schema.
pub fn cluster(hosts: usize) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for number in 0..hosts {
        let memory = (64 + 16 * number as i64) * GIB;
        let host = Host::new(format!("h{number}"))
            .with("cpu.cores", 16_i64)
            .with("memory.total", memory);
        inventory.add_host(host).expect("ids differ and facts fit");
    }
    inventory
}

/// A VM of one core and 4 GiB.
pub fn vm(id: &str) -> Vm {
    Vm::new(id).with("cpu", 1000_i64).with("memory", 4 * GIB)
}

/// A request to place that VM alone.
pub fn request(vm: Vm) -> Request {
    Request {
        members: vec![vm],
        ..Request::default()
    }
}

/// The policy of a document called `policy.toml`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn policy(text: &str, generation: &Generation) -> Result<Policy, Problems> {
    Policy::load(text, "policy.toml", generation, Schema::built_in())
}

/// A policy with one filter: the unit, set to go wrong in that way.
pub fn filtering(unit: &str, how: &str) -> String {
    format!("[[filters]]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A policy with one cost function: the unit, set to go wrong in that way.
pub fn costing(unit: &str, how: &str) -> String {
    format!("[[costs]]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A policy with a balance part: the unit, set to go wrong in that way.
pub fn balancing(unit: &str, how: &str) -> String {
    format!("[balance]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A policy with one selection: the unit, set to go wrong in that way.
pub fn selecting(unit: &str, how: &str) -> String {
    format!("[[selections]]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A policy with effects: the unit, set to go wrong in that way.
pub fn following(unit: &str, how: &str) -> String {
    format!("[[effects]]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A policy with an order part: the unit, set to go wrong in that way.
pub fn ordering(unit: &str, how: &str) -> String {
    format!("[order]\nunit = '{unit}'\nsettings.how = '{how}'\n")
}

/// A scheduler of the cluster under the policy. A decision may take long, since
/// other tests run beside this one.
///
/// # Panics
/// If there is anything wrong with the policy.
pub fn scheduler(inventory: Inventory, text: &str, generation: &Generation) -> Scheduler {
    limited(inventory, text, generation, Duration::from_secs(60))
}

/// A scheduler of the cluster under the policy, whose decisions may take no longer
/// than `limit`.
///
/// # Panics
/// If there is anything wrong with the policy.
pub fn limited(
    inventory: Inventory,
    text: &str,
    generation: &Generation,
    limit: Duration,
) -> Scheduler {
    let policy = match policy(text, generation) {
        Ok(policy) => Arc::new(policy),
        Err(problems) => panic!("{problems}"),
    };
    let options = SchedulerOptions {
        chain_limit: limit,
        unheeded: Unheeded::Ignore,
        ..SchedulerOptions::default()
    };
    Scheduler::new(inventory, policy, generation, options).expect("the policy was checked")
}

/// The generation of both units for tests, which most scenes need.
pub fn both() -> Generation {
    units::generation(&["misbehaving", "unsound"])
}
