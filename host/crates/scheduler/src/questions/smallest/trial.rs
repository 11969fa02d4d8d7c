//! The cluster and the request with changes, asked about.

use std::sync::Arc;

use super::lever::{Lever, Place, allows};
use super::{Turned, value};
use crate::questions::QuestionError;
use crate::{Cancel, PlaceError, departure};
use placewright_chain::Runner;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::{GroupRule, Request};

/// A copy of the cluster in which changes are made and taken back.
pub(super) struct World<'a> {
    runner: Runner,
    pub(super) inventory: Inventory,
    request: &'a Request,
    draw: f64,
    host: &'a Arc<str>,
    cancel: &'a Cancel,
    trials: usize,
}

impl<'a> World<'a> {
    pub(super) fn new(
        runner: Runner,
        mut inventory: Inventory,
        (request, draw, host): (&'a Request, f64, &'a Arc<str>),
        (cancel, trials): (&'a Cancel, usize),
    ) -> Self {
        inventory.advance(request.now);
        Self {
            runner,
            inventory,
            request,
            draw,
            host,
            cancel,
            trials,
        }
    }

    pub(super) fn host(&self) -> &'a Arc<str> {
        self.host
    }

    pub(super) fn request(&self) -> &'a Request {
        self.request
    }

    /// Whether there is nothing left of the work that the question may take.
    pub(super) fn is_spent(&self) -> bool {
        self.trials == 0
    }

    /// Whether no filter removes the host when all this is changed. Where there is no answer, or
    /// the work that the question may take is done, it does not pass.
    ///
    /// # Errors
    /// If the question's time is up.
    pub(super) fn passes(&mut self, turned: &[Turned<'_>]) -> Result<bool, QuestionError> {
        if self.trials == 0 {
            return Ok(false);
        }
        self.trials -= 1;
        self.cancel.check().map_err(PlaceError::from)?;
        let mut request = self.changed(turned);
        if !allows(&request, self.host) {
            return Ok(false);
        }
        request.allowed = vec![self.host.clone()];
        let left = self.supposing(turned, |world, slot| {
            departure::confine(&world.inventory, &mut request).ok()?;
            let left = world.runner.remaining(&world.inventory, &request).ok()?;
            Some(left.contains(&slot))
        });
        Ok(left == Some(true))
    }

    /// Whether the host is chosen when all this is changed; None if a filter removes it beside
    /// the other hosts.
    ///
    /// # Errors
    /// If the question's time is up.
    pub(super) fn decides(&mut self, turned: &[Turned<'_>]) -> Result<Option<bool>, QuestionError> {
        self.cancel.check().map_err(PlaceError::from)?;
        let mut request = self.changed(turned);
        Ok(self.supposing(turned, |world, slot| {
            departure::confine(&world.inventory, &mut request).ok()?;
            let left = world.runner.remaining(&world.inventory, &request).ok()?;
            if !left.contains(&slot) {
                return None;
            }
            let decided = world.runner.decide(&world.inventory, &request, world.draw);
            let chosen = decided.ok()?.chosen;
            Some(chosen.is_some_and(|chosen| chosen.slot == slot))
        }))
    }

    /// Make the changes to the cluster, ask, and take them back.
    fn supposing<T>(
        &mut self,
        turned: &[Turned<'_>],
        ask: impl FnOnce(&mut Self, u32) -> Option<T>,
    ) -> Option<T> {
        let slot = self.inventory.slot(self.host)?;
        let transaction = self.inventory.begin();
        let mut made = turned.iter();
        let made = made.try_for_each(|(lever, at)| self.change(lever, *at));
        let answer = match made {
            Ok(()) => ask(self, slot),
            Err(_) => None,
        };
        self.inventory.roll_back(transaction);
        answer
    }

    /// Make a change that is one of the cluster.
    fn change(&mut self, lever: &Lever, at: i64) -> Result<(), InventoryError> {
        match &lever.place {
            Place::Host(column) => {
                let value = value(lever, at);
                self.inventory.set_host_value(self.host, column, value)
            }
            Place::Elsewhere(id) => self.inventory.remove_vm(id),
            Place::Group(id) => {
                let Some(entry) = self.inventory.group(id) else {
                    return Ok(());
                };
                let mut group = entry.given().clone();
                for rule in [&mut group.vm_rule, &mut group.host_rule] {
                    let Some(GroupRule::Positive { hard } | GroupRule::Negative { hard }) = rule
                    else {
                        continue;
                    };
                    *hard = false;
                }
                self.inventory.set_group(group)
            }
            _ => Ok(()),
        }
    }

    /// The request with the changes that are its own.
    fn changed(&self, turned: &[Turned<'_>]) -> Request {
        let mut request = self.request.clone();
        for (lever, at) in turned {
            match &lever.place {
                Place::Member(number, _, column) => {
                    let facts = &mut request.members[*number].facts;
                    match value(lever, *at) {
                        Some(value) => facts.set(column.clone(), value),
                        None => facts.unset(column),
                    }
                }
                Place::MemberTable(number, _, table) => {
                    drop(request.members[*number].facts.take_rows(table));
                }
                Place::Pinning(number, _, list) => {
                    let pinning = &mut request.members[*number].pinning;
                    match &**list {
                        "pinned" => pinning.pinned.clear(),
                        _ => pinning.location.clear(),
                    }
                }
                Place::Zone => {
                    request.facts.unset("zone");
                    let members = request.members.iter_mut();
                    members.for_each(|member| member.facts.unset("zone"));
                }
                Place::Allowed => {
                    request.excluded.retain(|host| host != self.host);
                    if !allows(&request, self.host) {
                        request.allowed.push(self.host.clone());
                    }
                }
                Place::Host(_) | Place::Group(_) | Place::Elsewhere(_) => {}
            }
        }
        request
    }
}
