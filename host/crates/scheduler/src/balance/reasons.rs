//! Why a plan has no moves, and what was measured where it has some.

use std::sync::Arc;

use super::pass::{Pass, of_running};
use super::{MoveError, RemovedHosts};
use crate::place;
use placewright_chain::Balancing;
use placewright_inventory::Inventory;
use placewright_model::{Kind, Measure, Request, Value};
use placewright_policy::{Policy, Watch};

impl Pass<'_> {
    /// Say why the plan has no moves.
    pub(super) fn give_reasons(&mut self) {
        let mut reasons = Vec::new();
        if self.options.repairs {
            reasons.push(match self.plan.stuck.len() {
                0 => "no VM runs on a host that is not up, no hard group is broken, and no host has promised more than it may"
                    .to_owned(),
                1 => "1 VM should leave its host and cannot".to_owned(),
                stuck => format!("{stuck} VMs should leave their hosts and cannot"),
            });
        }
        let chain = self.runner.chain().clone();
        match chain.balancing() {
            None => reasons.push(format!(
                "policy \"{}\" names no unit that balances, so that load is not looked at",
                chain.policy().name
            )),
            Some(balancing) => {
                let refused = self.plan.refused.iter().map(|it| &it.because);
                reasons.push(proposed(&balancing, self.world, refused));
                reasons.extend(self.example());
                if self.plan.refused.is_empty() {
                    let now = self.plan.now;
                    reasons.extend(watched(chain.policy(), &balancing, self.world, now));
                    reasons.extend(on_the_move(self.world));
                }
            }
        }
        self.plan.reasons = reasons;
    }

    /// Of the first VM for which the filters leave none of the proposed hosts: what they say
    /// of all others, if they leave none of these either.
    fn example(&mut self) -> Option<String> {
        let mut refused = self.plan.refused.iter();
        let refused = refused.find(|it| it.because == MoveError::NoHost)?;
        let (vm, from) = (refused.vm.clone(), refused.from.clone());
        let request = Request {
            excluded: vec![from],
            ..of_running(self.world, &[&vm], self.plan.now).ok()?
        };
        let draw = place::draw(self.scheduling, &request, self.number).ok()?;
        // Whatever is wrong with the request was no reason to fail before.
        let decided = self.runner.decide(self.world, &request, draw).ok()?;
        let why = MoveError::Nowhere {
            considered: decided.considered,
            removed: decided.removed.iter().map(RemovedHosts::from).collect(),
            vms: vec![vm.clone()],
            nearest: None,
        };
        let nobody_is_left = decided.chosen.is_none();
        nobody_is_left.then(|| format!("for example VM {vm}: {why}"))
    }

    /// What was measured of a host of which the balance unit reads since when a condition
    /// holds, and it does: ` (cpu.usage is 91.0 %, and at least 80.0 % for 150 s)`.
    pub(super) fn measured(&self, slot: u32) -> String {
        let chain = self.runner.chain();
        let Some(balancing) = chain.balancing() else {
            return String::new();
        };
        let watches = chain.policy().watches.iter();
        let read = watches.filter(|watch| balancing.reads_host(&since_column(&watch.name)));
        let said = read.filter_map(|watch| {
            let since = since(self.world, watch, slot)?;
            let value = self.world.host_value(slot, &watch.column)?;
            Some(format!(
                "{} is {}, and {} for {} s",
                watch.column,
                amount(self.world, &watch.column, &value),
                bounds(self.world, watch),
                self.plan.now.saturating_sub(since)
            ))
        });
        let said: Vec<String> = said.collect();
        match said.is_empty() {
            true => String::new(),
            false => format!(" ({})", said.join("; ")),
        }
    }
}

/// What the unit proposes, and what came of it.
fn proposed<'b>(
    balancing: &Balancing<'_>,
    world: &Inventory,
    refused: impl Iterator<Item = &'b MoveError>,
) -> String {
    let unit = balancing.unit;
    let (hosts, vms) = (world.host_count(), world.running_count());
    // In the order in which they come first.
    let mut counts: Vec<(&MoveError, usize)> = Vec::new();
    for because in refused {
        match counts.iter_mut().find(|(known, _)| *known == because) {
            Some((_, count)) => *count += 1,
            None => counts.push((because, 1)),
        }
    }
    if counts.is_empty() {
        return format!("unit \"{unit}\" sees {hosts} hosts and {vms} VMs, and proposes no move");
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let why = counts.iter().map(|(why, count)| format!("{count}: {why}"));
    let why: Vec<String> = why.collect();
    format!(
        "unit \"{unit}\" proposes to move {all} VMs, of which none is moved: {}",
        why.join("; ")
    )
}

/// The conditions of which the unit reads since when they hold: where they do, and for how
/// long.
fn watched(policy: &Policy, balancing: &Balancing<'_>, world: &Inventory, now: i64) -> Vec<String> {
    let mut said = Vec::new();
    for name in balancing.watches_read() {
        let Some(watch) = policy.watches.iter().find(|watch| *watch.name == *name) else {
            said.push(format!(
                "{} is not given: policy \"{}\" has no watch of the name {name}",
                since_column(name),
                policy.name
            ));
            continue;
        };
        said.push(held(watch, balancing, world, now));
        let hosts = world.host_count();
        let unknown = world.hosts().map(|(slot, _)| slot);
        let unknown = unknown.filter(|slot| world.host_value(*slot, &watch.column).is_none());
        let unknown = unknown.count();
        if unknown > 0 {
            said.push(format!(
                "{} is not known of {unknown} of {hosts} hosts",
                watch.column
            ));
        }
    }
    said
}

fn held(watch: &Watch, balancing: &Balancing<'_>, world: &Inventory, now: i64) -> String {
    let hosts = world.hosts();
    let held = hosts.filter_map(|(slot, host)| Some((since(world, watch, slot)?, &host.id)));
    let held: Vec<(i64, &Arc<str>)> = held.collect();
    let (column, bounds) = (&watch.column, bounds(world, watch));
    let Some((since, longest)) = held.iter().min() else {
        return format!("{column} is {bounds} on no host (watch {})", watch.name);
    };
    let lasted = now.saturating_sub(*since);
    let mut said = format!(
        "{column} is {bounds} on {} of {} hosts (watch {}), longest on host {longest}: for {lasted} s",
        held.len(),
        world.host_count(),
        watch.name
    );
    for (setting, seconds) in balancing.durations() {
        if lasted < seconds {
            said += &format!("; setting {setting} asks for {seconds} s");
            if lasted == 0 {
                said += &format!(", and {} is not given", since_column(&watch.name));
            }
        }
    }
    said
}

/// Units look at no host that has more or fewer VMs soon.
fn on_the_move(world: &Inventory) -> Option<String> {
    let pending = world.pending_count();
    (pending > 0).then(|| {
        format!("{pending} places are reserved, and units may leave hosts alone that VMs are to come to or leave")
    })
}

fn since_column(watch: &str) -> String {
    format!("watch.{watch}.since")
}

fn since(world: &Inventory, watch: &Watch, slot: u32) -> Option<i64> {
    match world.host_value(slot, &since_column(&watch.name))? {
        Value::Integer(since) => Some(since),
        _ => None,
    }
}

fn bounds(world: &Inventory, watch: &Watch) -> String {
    let shown = |bound: f64| amount(world, &watch.column, &Value::Number(bound));
    match (watch.at_least, watch.at_most) {
        (Some(least), Some(most)) if least <= most => {
            format!("from {} to {}", shown(least), shown(most))
        }
        (Some(least), Some(most)) => {
            format!("at most {} or at least {}", shown(most), shown(least))
        }
        (Some(least), None) => format!("at least {}", shown(least)),
        (None, Some(most)) => format!("at most {}", shown(most)),
        (None, None) => "anything".to_owned(),
    }
}

/// An amount of a host's column as a person would write it.
fn amount(world: &Inventory, column: &str, value: &Value) -> String {
    let known = world.schema().column("hosts", column);
    let Some(measure) = known.as_ref().and_then(|column| column.measure) else {
        return value.to_string();
    };
    let is_integer = known.is_some_and(|column| column.kind == Kind::Integer);
    match value {
        Value::Number(number) if is_integer && measure != Measure::Fraction => {
            measure.display(&Value::Integer(*number as i64))
        }
        value => measure.display(value),
    }
}
