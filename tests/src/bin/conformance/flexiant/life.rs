//! Cases of kind `life`: VMs start and stop, nodes and keys change meanwhile.
//!
//! The case plays the VM manager: it keeps the documents of the VMs, with what the
//! decisions tell it to write into them, and reports what runs where.

mod document;
mod event;
mod vm_manager;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::compared::Compared;
use super::form::{Case, Config, Mebibytes, Node, Resources, nullable};
use super::policy;
use crate::units::Units;
use crate::vectors::read;
use event::Event;
use vm_manager::Manager;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Life {
    cfg: Config,
    nodes: Vec<Node>,
    vms: Vec<LifeVm>,
    events: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LifeVm {
    id: String,
    ram_mb: Mebibytes,
    vcpus: i64,
    /// What it takes of the node's free memory when it runs.
    resident_mb: Mebibytes,
    res: Resources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lived {
    steps: Vec<Option<Start>>,
    #[serde(rename = "where")]
    places: BTreeMap<String, String>,
}

/// What comes of a start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    #[serde(deserialize_with = "nullable")]
    fail: Option<String>,
    acceptable: Vec<String>,
    /// Value and weight of the keys that the VM got from its node, by name.
    sticky: BTreeMap<String, [f64; 2]>,
}

/// Run a case.
pub(super) fn compare(case: &Value, units: &Units) -> Result<Compared, String> {
    let case: Case<Life, Lived> = read(case)?;
    let Life {
        cfg,
        nodes,
        vms,
        events,
    } = case.given;
    if cfg.local_storage {
        return Err("field in.cfg.local_storage: cases of kind life have none".to_owned());
    }
    if events.len() != case.out.steps.len() {
        return Err(format!(
            "field out.steps: {} steps for {} events",
            case.out.steps.len(),
            events.len()
        ));
    }
    let mut compared = Compared::default();
    let mut manager = Manager::new(nodes, vms, units, &policy::of(&cfg)?)?;
    for (number, (event, expected)) in events.iter().zip(&case.out.steps).enumerate() {
        let failed = |why| format!("field in.events[{number}]: {why}");
        let event = Event::read(event).map_err(failed)?;
        let got = step(&mut manager, event, &mut compared).map_err(failed)?;
        let what = format!("step {number}");
        match (expected, got) {
            (Some(expected), Some(got)) => start(&what, expected, &got, &mut compared),
            (Some(_), None) => compared.differs(&what, "what comes of a start", "no start"),
            (None, Some(_)) => compared.differs(&what, "null", "what comes of a start"),
            (None, None) => {}
        }
        manager.check(&what, &mut compared);
    }
    compared.same_entries("where is", &case.out.places, &manager.places());
    Ok(compared)
}

/// What comes of one event: something, if it is a start.
fn step(
    manager: &mut Manager,
    event: Event,
    compared: &mut Compared,
) -> Result<Option<Start>, String> {
    match event {
        Event::Start { vm } => return manager.start(&vm, compared).map(Some),
        Event::Stop { vm } => manager.stop(&vm)?,
        Event::SetKey { vm, level, key } => manager.set_key(&vm, level, &key)?,
        Event::Node { node, set } => manager.set_node(&node, set)?,
        Event::NodeKey { node, name, v } => manager.set_node_key(&node, &name, v)?,
    }
    Ok(None)
}

fn start(what: &str, expected: &Start, got: &Start, compared: &mut Compared) {
    compared.same(&format!("fail of {what}"), &expected.fail, &got.fail);
    compared.same(
        &format!("acceptable of {what}"),
        &expected.acceptable,
        &got.acceptable,
    );
    compared.same_entries(&format!("sticky of {what}"), &expected.sticky, &got.sticky);
}
