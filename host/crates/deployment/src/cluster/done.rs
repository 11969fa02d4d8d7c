//! Who did what: told when it is kept.

use std::mem;
use std::sync::Arc;

use super::{Changed, ClusterState, Counted, Replacement};
use crate::DeploymentError;
use crate::events::{EventKind, Events, News};
use placewright_document::InventoryChanges;
use placewright_inventory::Touched;
use placewright_scheduler::Decision;

/// Who does what nobody asked for.
pub(crate) const SERVER: &str = "server";

/// What is told when it is kept.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) events: Arc<Events>,
    pub(super) at: i64,
    pub(super) news: Vec<News>,
}

impl Told {
    pub(super) fn tell(self) {
        for news in self.news {
            self.events.tell(self.at, news);
        }
    }
}

impl ClusterState {
    /// Do `work` for somebody.
    pub(super) fn done_by<R>(
        &mut self,
        by: Arc<str>,
        work: impl FnOnce(&mut Self) -> Result<R, DeploymentError>,
    ) -> Result<R, DeploymentError> {
        let before = mem::replace(&mut self.by, by);
        let done = work(self);
        // Before somebody else has the turn.
        self.note();
        self.tell_host_states();
        self.by = before;
        done
    }

    /// Tell of what this turn did when it is kept: of this cluster, done by whoever has the
    /// turn.
    pub(super) fn tell_when_kept(&mut self, news: News) {
        self.news.push(News {
            cluster: Some(self.name.clone()),
            by: news.by.or_else(|| Some(self.by.clone())),
            ..news
        });
    }

    /// What this turn did, to be told when it is kept.
    pub(super) fn take_news(&mut self) -> Told {
        Told {
            events: self.events.clone(),
            at: self.now(),
            news: mem::take(&mut self.news),
        }
    }

    /// Tell of the places that a decision reserved.
    pub(super) fn tell_placed(&mut self, decision: &Decision) {
        let Some(host) = &decision.host else {
            return;
        };
        for vm in &decision.request.members {
            let vm = &vm.id;
            if self.pending_on(vm).is_none() {
                // It runs there already and stays as it is.
                continue;
            }
            let message = match self.runs_on(vm).is_some_and(|there| there == *host) {
                true => format!(
                    "a place for {vm} is reserved on {host}, where it runs, to run on as the request says"
                ),
                false => format!("a place for {vm} is reserved on {host}"),
            };
            self.tell_when_kept(News {
                kind: EventKind::VmPlaced,
                vm: Some(vm.clone()),
                host: Some(host.clone()),
                decision: Some(decision.number),
                message,
                ..News::default()
            });
        }
    }

    /// Id of the host on which a VM runs.
    fn runs_on(&self, vm: &str) -> Option<Arc<str>> {
        let slot = self.inventory().running(vm)?.slot;
        Some(self.inventory().host(slot)?.id.clone())
    }

    /// Id of the host on which a place is reserved for a VM.
    fn pending_on(&self, vm: &str) -> Option<Arc<str>> {
        let slot = self.inventory().pending(vm)?.slot;
        Some(self.inventory().host(slot)?.id.clone())
    }

    /// Confirm VMs as [`ClusterState::confirm`], and tell of those that had a place reserved.
    ///
    /// # Errors
    /// As there.
    pub fn confirm_and_tell<I: AsRef<str>>(
        &mut self,
        vms: &[I],
        host: Option<&str>,
    ) -> Result<(), DeploymentError> {
        let before = self.places(vms);
        self.confirm(vms, host)?;
        for (vm, from, to) in before {
            let Some(host) = to else { continue };
            let (kind, message) = match from {
                Some(from) if from == host => (
                    EventKind::VmResized,
                    format!("{vm} runs on {host} as its last request says"),
                ),
                Some(from) => (
                    EventKind::VmMoved,
                    format!("{vm} moved from {from} to {host}"),
                ),
                None => (EventKind::VmConfirmed, format!("{vm} runs on {host}")),
            };
            self.tell_when_kept(News {
                kind,
                vm: Some(vm),
                host: Some(host),
                message,
                ..News::default()
            });
        }
        Ok(())
    }

    /// Give places back as [`ClusterState::cancel`], and tell of it.
    ///
    /// # Errors
    /// As there.
    pub fn cancel_and_tell<I: AsRef<str>>(&mut self, vms: &[I]) -> Result<(), DeploymentError> {
        let before = self.places(vms);
        self.cancel(vms)?;
        for (vm, _, to) in before {
            let Some(host) = to else { continue };
            self.tell_when_kept(News {
                kind: EventKind::VmCancelled,
                message: format!("the place of {vm} on {host} was given back"),
                vm: Some(vm),
                host: Some(host),
                ..News::default()
            });
        }
        Ok(())
    }

    /// Carry out changes as [`ClusterState::change`], and tell of all but statistics.
    ///
    /// # Errors
    /// As there.
    pub fn change_and_tell(
        &mut self,
        changes: InventoryChanges,
    ) -> Result<Changed, DeploymentError> {
        let changed = self.change(changes)?;
        let Touched {
            hosts,
            vms,
            tenants,
            groups,
            facts,
            // What is measured is no change to be told of.
            noted: _,
            measured_vms: _,
        } = &self.touched;
        let counts = [
            (hosts.len(), "host"),
            (vms.len(), "VM"),
            (tenants.len(), "tenant"),
            (groups.len(), "group"),
            (usize::from(*facts), "fact of the cluster"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, what)| match count {
                1 => format!("1 {what}"),
                count => format!("{count} {what}s"),
            })
            .collect();
        if !counts.is_empty() {
            self.tell_when_kept(News {
                kind: EventKind::InventoryChanged,
                message: format!("changed: {}", counts.join(", ")),
                ..News::default()
            });
        }
        Ok(changed)
    }

    /// Replace the inventory as [`ClusterState::replace`], and tell of it.
    ///
    /// # Errors
    /// As there.
    pub fn replace_and_tell(
        &mut self,
        replacement: Replacement,
    ) -> Result<Counted, DeploymentError> {
        let counted = self.replace(replacement)?;
        self.tell_when_kept(News {
            kind: EventKind::InventoryChanged,
            message: format!(
                "replaced: {} hosts, {} VMs",
                self.inventory().host_count(),
                self.inventory().running_count()
            ),
            ..News::default()
        });
        Ok(counted)
    }

    /// Where VMs run, and where they have places reserved.
    #[expect(clippy::type_complexity, reason = "used once, right there")]
    fn places<I: AsRef<str>>(
        &mut self,
        vms: &[I],
    ) -> Vec<(Arc<str>, Option<Arc<str>>, Option<Arc<str>>)> {
        // What has expired by now is none of them.
        self.advance();
        let ids = vms.iter().map(|vm| Arc::<str>::from(vm.as_ref()));
        ids.map(|vm| {
            let (runs, pending) = (self.runs_on(&vm), self.pending_on(&vm));
            (vm, runs, pending)
        })
        .collect()
    }
}
