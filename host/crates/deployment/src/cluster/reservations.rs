//! Places that are reserved: shown, confirmed, renewed, given back, and ended in time.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ClusterState;
use super::done::SERVER;
use super::ended::{Ended, How};
use crate::DeploymentError;
use crate::events::{EventKind, News};
use placewright_inventory::{Expired, Inventory, VmEntry};
use placewright_model::{HostState, Rfc3339, rfc3339};
use placewright_records::telemetry::ReservationEnd;
use placewright_store::Change;

/// Why a place is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReservationKind {
    /// The VM is to start there.
    Place,
    /// The VM runs elsewhere and is to move there.
    Migrate,
    /// The VM runs there and is to run on with other amounts: it holds the place for what it
    /// asks for beyond what it has.
    Resize,
}

/// A place that is reserved for a VM which does not run there yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Reservation {
    /// Id of the VM.
    #[schema(value_type = String, example = "web-3")]
    pub vm: Arc<str>,
    /// Id of the host on which the place is.
    #[schema(value_type = String, example = "h1")]
    pub host: Arc<str>,
    /// Why the place is reserved.
    pub kind: ReservationKind,
    /// Id of the host where the VM runs until it has moved, or on which it is to run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "h2")]
    pub from: Option<Arc<str>>,
    /// If it has another host: whether it runs while it is moved (a live migration); false: it is
    /// stopped or paused, or is started on its new host, as the old one is down or faulty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub live: Option<bool>,
    /// When it was made, in seconds since 1970-01-01 UTC.
    #[schema(required = true, example = 1764000000)]
    pub since: Option<i64>,
    /// The same time.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub since_time: Option<Rfc3339>,
    /// The second after which it ends unless the VM is confirmed; null: it does not end by
    /// itself.
    #[schema(required = true, example = 1764000300)]
    pub expires: Option<i64>,
    /// The same time; null: it does not end by itself.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub expires_time: Option<Rfc3339>,
    /// Number of the decision that made it; null: no decision did.
    #[schema(required = true, example = 17)]
    pub decision: Option<u64>,
}

/// What is found of a VM that is confirmed or cancelled.
enum Found<'a> {
    /// A place is reserved on this host.
    Reserved(&'a Arc<str>),
    /// It runs on this host and has no place reserved.
    Runs(&'a Arc<str>),
    /// It has no place at all.
    Nowhere,
}

impl ClusterState {
    /// The place that is reserved for a VM.
    ///
    /// # Errors
    /// If there is none; then what came of the last one is told, if it is known.
    pub fn reservation(&mut self, vm: &str) -> Result<Reservation, DeploymentError> {
        self.advance();
        let pending = self.inventory().pending(vm);
        let shown = pending.and_then(|entry| self.shown_reservation(entry));
        shown.ok_or_else(|| self.no_reservation(vm))
    }

    /// At most so many reservations, by VM, from after that VM on; and the VM after which
    /// the rest comes, if there is any.
    pub fn reservations(
        &mut self,
        after: Option<&str>,
        most: usize,
    ) -> (Vec<Reservation>, Option<Arc<str>>) {
        self.advance();
        let inventory = self.inventory();
        let (ids, next) = super::shown::part(inventory.pending_ids(), after, most);
        let shown = ids.iter().filter_map(|id| {
            let entry = inventory.pending(id)?;
            self.shown_reservation(entry)
        });
        (shown.collect(), next)
    }

    fn shown_reservation(&self, entry: &VmEntry) -> Option<Reservation> {
        let inventory = self.inventory();
        let host = |entry: &VmEntry| inventory.host(entry.slot).map(|host| host.id.clone());
        let running = inventory.running(&entry.vm.id);
        let kind = match running {
            Some(running) if running.slot == entry.slot => ReservationKind::Resize,
            Some(_) => ReservationKind::Migrate,
            None => ReservationKind::Place,
        };
        let is_move = kind == ReservationKind::Migrate;
        let from = running.and_then(host);
        Some(Reservation {
            vm: entry.vm.id.clone(),
            host: host(entry)?,
            kind,
            live: is_move.then(|| inventory.moves_live(&entry.vm.id)),
            from,
            since: entry.since,
            since_time: entry.since.map(Rfc3339),
            expires: entry.expires,
            expires_time: entry.expires.map(Rfc3339),
            decision: entry.decision,
        })
    }

    /// Keep the place that is reserved for a VM for as long again, or for so many seconds
    /// from now on; 0: until it is confirmed or given back.
    ///
    /// # Errors
    /// If no place is reserved, or not for so long may one be.
    pub fn renew(
        &mut self,
        vm: &str,
        seconds: Option<i64>,
    ) -> Result<Reservation, DeploymentError> {
        let now = self.advance();
        self.check_duration(seconds)?;
        if self.inventory().pending(vm).is_none() {
            return Err(self.no_reservation(vm));
        }
        let seconds = match seconds {
            Some(seconds) => Some(seconds).filter(|seconds| *seconds > 0),
            None => self.scheduler.options().reservation,
        };
        let expires = seconds.map(|seconds| now.saturating_add(seconds));
        self.scheduler.inventory_mut().renew_vm(vm, expires)?;
        self.reservation(vm)
    }

    /// Whether places may be reserved for so many seconds; 0: for good.
    ///
    /// # Errors
    /// If not.
    pub(super) fn check_duration(&self, seconds: Option<i64>) -> Result<(), DeploymentError> {
        // Where places are usually reserved for good, a request may want that too.
        let usual = self.scheduler.options().reservation;
        let (Some(seconds), Some(longest), Some(usual)) =
            (seconds, self.longest_reservation, usual)
        else {
            return Ok(());
        };
        let longest = longest.max(usual);
        match (1..=longest).contains(&seconds) {
            true => Ok(()),
            false => Err(DeploymentError::Duration { seconds, longest }),
        }
    }

    /// The VMs run where their places were reserved: on that host, if one is named. For
    /// those that run there already nothing changes.
    ///
    /// # Errors
    /// If a VM is not known, its place was not on that host, or it has ended, or the host is
    /// down or faulty; then nothing is changed.
    pub fn confirm<I: AsRef<str>>(
        &mut self,
        vms: &[I],
        host: Option<&str>,
    ) -> Result<(), DeploymentError> {
        self.advance();
        let mut confirmed = Vec::new();
        let vms: BTreeSet<&str> = vms.iter().map(AsRef::as_ref).collect();
        for vm in vms {
            if self.is_to_confirm(vm, host)? {
                confirmed.push(vm);
            }
        }
        self.all_or_none(&confirmed, Inventory::confirm_vm)?;
        for vm in confirmed {
            self.meter.reservation_ended(ReservationEnd::Confirmed);
            self.forget_end(vm);
        }
        Ok(())
    }

    /// Whether a VM has a place that is to be confirmed; not if it runs there already.
    fn is_to_confirm(&self, vm: &str, host: Option<&str>) -> Result<bool, DeploymentError> {
        let ended = self.ended.of(vm);
        let running = self.running_on(vm);
        let is = |there: &str| host.is_none_or(|host| *host == *there);
        match self.found(vm) {
            Found::Reserved(there) if is(there) => match self.lost_state(there) {
                None => Ok(true),
                Some(state) => Err(DeploymentError::HostLost {
                    vm: vm.into(),
                    host: there.clone(),
                    state,
                }),
            },
            Found::Reserved(_)
                if host.is_some_and(|host| running.is_some_and(|it| **it == *host)) =>
            {
                Ok(false)
            }
            Found::Reserved(there) => Err(DeploymentError::OtherHost {
                vm: vm.into(),
                given: host.unwrap_or_default().into(),
                truth: format!("its place is reserved on {there}"),
            }),
            Found::Runs(there) => match (host, ended) {
                // That it runs there does not say that it may run with what it asked for.
                (_, Some(ended)) if ended.growth && ended.host == *there && is(there) => {
                    Err(DeploymentError::ReservationEnded {
                        vm: vm.into(),
                        truth: format!("{ended}; it runs there with what it had: place it again"),
                    })
                }
                (Some(host), _) if *host == **there => Ok(false),
                (None, None) => Ok(false),
                (None, Some(ended)) if ended.host == *there => Ok(false),
                (_, Some(ended)) if is(&ended.host) => Err(DeploymentError::ReservationEnded {
                    vm: vm.into(),
                    truth: format!("{ended}; it runs on {there}"),
                }),
                (_, _) => Err(DeploymentError::OtherHost {
                    vm: vm.into(),
                    given: host.unwrap_or_default().into(),
                    truth: format!("it already runs on {there}"),
                }),
            },
            Found::Nowhere => Err(self.no_reservation(vm)),
        }
    }

    /// The state of a host, if it runs nothing in it.
    fn lost_state(&self, host: &str) -> Option<HostState> {
        let inventory = self.inventory();
        let state = inventory.host_state(inventory.slot(host)?);
        state.is_lost().then_some(state)
    }

    /// The places that were reserved for the VMs are given back. For those whose places
    /// have ended already nothing changes.
    ///
    /// # Errors
    /// If a VM is not known, or runs and has no place reserved; then nothing is changed.
    pub fn cancel<I: AsRef<str>>(&mut self, vms: &[I]) -> Result<(), DeploymentError> {
        let now = self.advance();
        let mut cancelled = Vec::new();
        let vms: BTreeSet<&str> = vms.iter().map(AsRef::as_ref).collect();
        for vm in vms {
            match self.found(vm) {
                Found::Reserved(_) => cancelled.extend(self.released(vm, now)),
                _ if self.ended.of(vm).is_some() => {}
                Found::Runs(host) => {
                    return Err(DeploymentError::VmRuns {
                        vm: vm.into(),
                        truth: format!("already runs on {host}; there is no reservation to cancel"),
                    });
                }
                Found::Nowhere => return Err(self.no_reservation(vm)),
            }
        }
        let ids: Vec<&str> = cancelled.iter().map(|(vm, _)| &**vm).collect();
        self.all_or_none(&ids, Inventory::cancel_vm)?;
        for (vm, ended) in cancelled {
            self.note_end(vm, ended);
        }
        Ok(())
    }

    fn all_or_none(
        &mut self,
        vms: &[&str],
        change: impl Fn(&mut Inventory, &str) -> Result<(), placewright_inventory::InventoryError>,
    ) -> Result<(), DeploymentError> {
        let inventory = self.scheduler.inventory_mut();
        Ok(inventory.all_or_nothing(|inventory| {
            let mut vms = vms.iter();
            vms.try_for_each(|vm| change(inventory, vm))
        })?)
    }

    fn found(&self, vm: &str) -> Found<'_> {
        let inventory = self.inventory();
        let pending = inventory.pending(vm);
        let reserved = pending.and_then(|entry| inventory.host(entry.slot));
        match (reserved, self.running_on(vm)) {
            (Some(host), _) => Found::Reserved(&host.id),
            (None, Some(host)) => Found::Runs(host),
            (None, None) => Found::Nowhere,
        }
    }

    /// Id of the host that a VM runs on.
    pub(super) fn running_on(&self, vm: &str) -> Option<&Arc<str>> {
        let inventory = self.inventory();
        let host = inventory.host(inventory.running(vm)?.slot)?;
        Some(&host.id)
    }

    /// That there is no place reserved for a VM, and what is known instead.
    fn no_reservation(&self, vm: &str) -> DeploymentError {
        let (ended, running) = (self.ended.of(vm), self.running_on(vm));
        let truth = match (ended, running) {
            (Some(ended), Some(host)) if ended.host != *host => {
                format!("{ended}; it runs on {host}")
            }
            (_, Some(host)) => {
                return DeploymentError::VmRuns {
                    vm: vm.into(),
                    truth: format!("already runs on {host}; there is no reservation"),
                };
            }
            (Some(ended), None) => format!("{ended}: place it again"),
            (None, None) => {
                return placewright_inventory::InventoryError::UnknownVm(vm.into()).into();
            }
        };
        DeploymentError::ReservationEnded {
            vm: vm.into(),
            truth,
        }
    }

    /// What is to be remembered when the place that is reserved for a VM is given back;
    /// None if there is none.
    pub(super) fn released(&self, vm: &str, now: i64) -> Option<(Arc<str>, Ended)> {
        let entry = self.inventory().pending(vm)?;
        let host = self.inventory().host(entry.slot)?.id.clone();
        let ended = Ended {
            at: now,
            how: How::Released,
            growth: self.running_on(vm) == Some(&host),
            host,
            decision: entry.decision,
        };
        Some((entry.vm.id.clone(), ended))
    }

    /// Remember how the last reservation of a VM ended.
    pub(super) fn note_end(&mut self, vm: Arc<str>, ended: Ended) {
        let now = ended.at;
        self.meter.reservation_ended(ended.how.into());
        self.changes.push(Change::PutEndedReservation {
            cluster: self.name.to_string(),
            vm: vm.to_string(),
            body: super::durable::json(&ended),
        });
        self.ended.note(vm, ended);
        while let Some(vm) = self.ended.oldest(now) {
            self.forget_end(&vm);
        }
    }

    fn forget_end(&mut self, vm: &str) {
        if self.ended.forget(vm) {
            self.changes.push(Change::RemoveEndedReservation {
                cluster: self.name.to_string(),
                vm: vm.to_owned(),
            });
        }
    }

    /// What came of the last reservation of a VM, as it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn restore_end(&mut self, vm: &str, body: &str) -> serde_json::Result<()> {
        self.ended.note(vm.into(), serde_json::from_str(body)?);
        Ok(())
    }

    /// A reservation has ended by itself.
    pub(super) fn reservation_expired(&mut self, expired: Expired, now: i64) {
        let Expired {
            vm,
            host,
            expires,
            decision,
        } = expired;
        self.tell_when_kept(News {
            kind: EventKind::ReservationExpired,
            by: Some(SERVER.into()),
            vm: Some(vm.clone()),
            host: Some(host.clone()),
            decision,
            message: format!(
                "the place reserved for VM \"{vm}\" on {host} until {} was not confirmed and is free again",
                rfc3339(expires)
            ),
            ..News::default()
        });
        let ended = Ended {
            at: now,
            how: How::Expired,
            growth: self.running_on(&vm) == Some(&host),
            host,
            decision,
        };
        self.note_end(vm, ended);
    }

    /// The place that is reserved for a VM ends: its host is in this state, in which it runs
    /// nothing.
    pub(super) fn lose_place(&mut self, vm: &Arc<str>, state: &str) {
        let now = self.inventory().clock();
        let Some((vm, ended)) = self.released(vm, now) else {
            return;
        };
        if let Err(error) = self.scheduler.inventory_mut().cancel_vm(&vm) {
            tracing::error!(cluster = %self.name, %vm, %error, "a place on a lost host cannot be given back");
            return;
        }
        let host = ended.host.clone();
        self.tell_when_kept(News {
            kind: EventKind::ReservationLost,
            by: Some(SERVER.into()),
            vm: Some(vm.clone()),
            host: Some(host.clone()),
            decision: ended.decision,
            message: format!(
                "the place reserved for VM \"{vm}\" on {host} has ended: the state of {host} is {state}; place the VM again, or plan again"
            ),
            ..News::default()
        });
        self.note_end(
            vm,
            Ended {
                how: How::HostLost,
                ..ended
            },
        );
    }

    /// Until when the places are held that a decision reserved for these VMs, or the first
    /// of them that ends; None: for good.
    pub(super) fn held_until(&self, decision: u64, vms: &[Arc<str>]) -> Option<i64> {
        let pending = vms.iter().filter_map(|vm| self.inventory().pending(vm));
        let held = pending.filter(|entry| entry.decision == Some(decision));
        held.filter_map(|entry| entry.expires).min()
    }

    /// What has become by now of the places that a decision reserved for these VMs on
    /// this host.
    pub(super) fn standing(&self, decision: u64, vms: &[Arc<str>], host: &str) -> Standing {
        let inventory = self.inventory();
        let mut standing = Standing::Confirmed;
        for vm in vms {
            let pending = inventory.pending(vm);
            let pending = pending.filter(|entry| entry.decision == Some(decision));
            let of_vm = match (pending, self.running_on(vm), self.ended.of(vm)) {
                (Some(_), ..) => Standing::Held,
                (None, Some(there), ended)
                    if **there == *host
                        && !ended.is_some_and(|it| it.growth && it.decision == Some(decision)) =>
                {
                    Standing::Confirmed
                }
                (None, _, Some(ended)) if ended.decision == Some(decision) => match ended.how {
                    How::Expired => Standing::Expired,
                    How::Released => Standing::Released,
                    How::HostLost => Standing::Ended,
                },
                (None, ..) => Standing::Ended,
            };
            standing = standing.max(of_vm);
        }
        standing
    }
}

/// What has become of the places that a decision reserved; of several VMs, the last that
/// is true of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = ReservationStanding)]
pub enum Standing {
    /// The VM runs there.
    Confirmed,
    /// It is reserved as yet.
    Held,
    /// It has ended, and how is no longer known.
    Ended,
    /// Somebody gave it back.
    Released,
    /// Its time was up.
    Expired,
}

impl Standing {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Held => "held",
            Self::Ended => "ended",
            Self::Released => "released",
            Self::Expired => "expired",
        }
    }
}
