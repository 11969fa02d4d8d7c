//! Where VMs could go: what the filters leave, whatever it costs there.

use std::sync::Arc;

use super::{QuestionError, Situation, give_back};
use crate::check_named_vms;
use placewright_model::Request;

impl Situation<'_> {
    /// The ids of the hosts that no filter of the policy removes, sorted. Costs are not asked
    /// for, and no selection is: it takes a fraction of the time of a decision.
    ///
    /// # Errors
    /// As for [`Situation::decide`], but for what only costs and selections can lead to.
    pub fn remaining(&self, request: &Request) -> Result<Vec<Arc<str>>, QuestionError> {
        check_named_vms(self.inventory, &request.named)?;
        let mut scheduler = self.scheduler(self.policy.clone())?;
        give_back(&mut scheduler, request)?;
        let slots = scheduler.remaining(Request {
            named: Vec::new(),
            ..request.clone()
        })?;
        let inventory = scheduler.inventory();
        let hosts = slots.into_iter().filter_map(|slot| inventory.host(slot));
        let mut hosts: Vec<Arc<str>> = hosts.map(|host| host.id.clone()).collect();
        hosts.sort_unstable();
        Ok(hosts)
    }
}
