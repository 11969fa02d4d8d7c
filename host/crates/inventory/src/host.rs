//! One host of the inventory, its columns apart.

use std::sync::Arc;

use placewright_model::{Facts, Host, Value};

/// An amount with a name of the operator's choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// Its name.
    pub name: Arc<str>,
    /// How much of it the host has.
    pub total: i64,
    /// Needed by the VMs that run on the host, and by what is not listed.
    pub used: i64,
    /// Needed by the VMs that have a place reserved.
    pub pending: i64,
}

/// A host: what was given of it, and what it carries.
#[derive(Debug, Clone)]
pub struct HostEntry {
    /// Its id.
    pub id: Arc<str>,
    /// As given; sums over VMs are in the columns.
    pub facts: Facts,
    /// Entries of the VM table, running and pending, in the order of the VMs' ids.
    pub vms: Vec<u32>,
    /// Its amounts, by name.
    pub amounts: Vec<Amount>,
    /// What came as statistics.
    pub(super) measured: Vec<Reading>,
    /// How many of its VMs have each width, those that have CPUs to themselves apart: the
    /// narrowest first.
    widths: Vec<(i64, u32)>,
    /// What its VMs take of its memory that no measurement shows: summed up as they come and go, since
    /// there may be very many.
    pub(super) unmeasured: UnmeasuredMemory,
    /// Place in the order in which hosts were added.
    pub listed: i64,
}

/// Memory of VMs that no measurement shows yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UnmeasuredMemory {
    /// In bytes.
    pub(super) bytes: i128,
    /// Of how many VMs no measurement shows any.
    pub(super) vms: i64,
}

impl UnmeasuredMemory {
    /// With this besides (`by` = 1), or without it (`by` = -1).
    pub(super) fn and(self, other: Self, by: i64) -> Self {
        Self {
            bytes: self.bytes + i128::from(by) * other.bytes,
            vms: self.vms + by * other.vms,
        }
    }
}

/// A column or table that came as statistics.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) name: Arc<str>,
    /// When it was measured, in seconds.
    pub(super) at: i64,
    /// What a client gave, where the fact is rounded; None: the fact is what was given.
    pub(super) given: Option<Value>,
}

impl HostEntry {
    pub(super) fn new(host: Host, listed: i64) -> Self {
        let amounts = amounts_of(&host.facts);
        Self {
            id: host.id,
            facts: host.facts,
            vms: Vec::new(),
            amounts,
            measured: Vec::new(),
            widths: Vec::new(),
            unmeasured: UnmeasuredMemory::default(),
            listed,
        }
    }

    /// Count a VM of that width in (`by` = 1) or out (`by` = -1). Gives the width of the
    /// widest that there is then; 0 if there is none.
    pub(super) fn count_width(&mut self, width: i64, by: i64) -> i64 {
        match self
            .widths
            .binary_search_by_key(&width, |(known, _)| *known)
        {
            Ok(place) if by > 0 => self.widths[place].1 += 1,
            Ok(place) if self.widths[place].1 > 1 => self.widths[place].1 -= 1,
            Ok(place) => drop(self.widths.remove(place)),
            Err(place) if by > 0 => self.widths.insert(place, (width, 1)),
            Err(_) => {}
        }
        self.widths.last().map_or(0, |(width, _)| *width)
    }

    /// The width of the widest VM that counts beside those of these widths, which count, too; 0 if
    /// there is none.
    pub(super) fn widest_beside(&self, widths: &[i64]) -> i64 {
        let own = |width: i64| widths.iter().filter(|own| **own == width).count();
        let mut rest = self.widths.iter().rev();
        let rest =
            rest.find(|(width, count)| usize::try_from(*count).unwrap_or(usize::MAX) > own(*width));
        rest.map_or(0, |(width, _)| *width)
    }

    /// Add to what VMs take of an amount. One that the host does not have is the
    /// concern of filters.
    pub(super) fn count_amount(&mut self, name: &str, by: i64, pending: bool) {
        if let Some(amount) = self.amounts.iter_mut().find(|a| &*a.name == name) {
            let sum = if pending {
                &mut amount.pending
            } else {
                &mut amount.used
            };
            *sum = sum.saturating_add(by);
        }
    }
}

/// The amounts that the facts of a host give.
pub(super) fn amounts_of(facts: &Facts) -> Vec<Amount> {
    facts
        .rows("amounts")
        .iter()
        .filter_map(|row| {
            let Some(Value::Text(name)) = row.get("name") else {
                return None;
            };
            Some(Amount {
                name: name.clone(),
                total: row.integer("total").unwrap_or(0),
                used: row.integer("used").unwrap_or(0),
                pending: row.integer("pending").unwrap_or(0),
            })
        })
        .collect()
}
