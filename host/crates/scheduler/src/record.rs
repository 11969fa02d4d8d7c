//! The decisions that are remembered: bounded by how many they are, and by their bytes. A request
//! may be as large as a body, and shares of chance are as many as hosts.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Decision;
use placewright_inventory::{Inventory, facts_bytes, vm_bytes};
use placewright_model::Request;

/// Bytes of a decision besides what is counted of it.
const DECISION: u64 = 600;
/// An id in a list, or a share with one.
const NAME: u64 = 56;
/// A reason, a need, or something that follows.
const REASON: u64 = 160;

/// A decision that is remembered.
pub(crate) struct Recorded {
    pub(crate) decision: Arc<Decision>,
    pub(crate) made_on: MadeOn,
}

/// The inventory that a decision was made on.
#[derive(Clone)]
pub(crate) enum MadeOn {
    /// The scheduler's own, which knows its past.
    Inventory,
    /// A copy of it, on which a batch was tried.
    Copy(Arc<Inventory>),
    /// A copy that is no longer kept.
    Gone,
}

/// The last decisions, oldest first.
#[derive(Default)]
pub(crate) struct Record {
    /// Each with its bytes.
    list: VecDeque<(Recorded, u64)>,
    bytes: u64,
}

fn of_names(names: &[Arc<str>]) -> u64 {
    names.iter().map(|name| NAME + name.len() as u64).sum()
}

fn of_request(request: &Request) -> u64 {
    let members: u64 = request.members.iter().map(vm_bytes).sum();
    let lists = [&request.allowed, &request.excluded, &request.preferred];
    let lists: u64 = lists.into_iter().map(|names| of_names(names)).sum();
    let unset = request.unset.iter();
    let unset: u64 = unset
        .map(|(vm, names)| NAME + vm.len() as u64 + of_names(names))
        .sum();
    members + facts_bytes(&request.facts) + lists + unset
}

/// Bytes of a decision with its request; what an inventory made of it is counted there.
fn of_decision(decision: &Decision) -> u64 {
    let decided = &decision.decided;
    let removed = decided.removed.iter();
    let removed: u64 = removed
        .map(|removed| REASON + removed.reason.len() as u64 + of_names(&removed.names))
        .sum();
    let shares: usize = decision.shares.iter().map(Vec::len).sum();
    let writes: usize = decision.followed.iter().map(|it| 1 + it.writes.len()).sum();
    let others = decided.left_out.len() + writes + decision.moves.len() + decision.unheeded.len();
    let sentences = decision.unknown.iter().chain(&decision.unreserved);
    let sentences: u64 = sentences.map(|it| REASON + it.len() as u64).sum();
    let refused = (decision.refused.as_ref()).map_or(0, |it| REASON + it.because.len() as u64);
    DECISION
        + refused
        + of_request(&decision.request)
        + removed
        + NAME * shares as u64
        + REASON * others as u64
        + sentences
}

impl Record {
    /// Remember a decision, at most so many of so many bytes; the oldest go, and never the last.
    pub(crate) fn push(&mut self, recorded: Recorded, most: usize, bytes: u64) {
        if most == 0 {
            return;
        }
        let taken = of_decision(&recorded.decision);
        self.bytes += taken;
        self.list.push_back((recorded, taken));
        while self.list.len() > 1 && (self.list.len() > most || self.bytes > bytes) {
            self.forget_oldest(1);
        }
    }

    /// Forget so many of the oldest.
    pub(crate) fn forget_oldest(&mut self, count: usize) {
        for _ in 0..count {
            let Some((_, taken)) = self.list.pop_front() else {
                break;
            };
            self.bytes -= taken;
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Recorded> {
        self.list.iter().map(|(recorded, _)| recorded)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Recorded> {
        self.list.iter_mut().map(|(recorded, _)| recorded)
    }
}
