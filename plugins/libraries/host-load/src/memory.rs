//! The memory that hosts have left to promise, as a preference counts it: without
//! what VMs take beside their own memory.
//!
//! Counted in MiB and in floats of 32 bits, as in oVirt's scheduler: in another unit of
//! measure its formulas are not the same, and in other floats some costs are rounded to
//! the other side.

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    /// Memory that it was promised.
    pub memory: Bytes,
}

/// A member that runs on the host now, and what it holds there.
#[derive(Row)]
pub struct Current {
    /// Row number in `members`.
    pub member: i64,
    /// Memory that it was promised there.
    pub memory: Bytes,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
pub struct Request {
    /// They take memory together.
    #[table("members")]
    pub vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    /// Physical memory.
    #[column("memory.total")]
    pub total: Bytes,
    /// Memory that the host keeps for itself.
    #[column("memory.reserved")]
    pub reserved: Bytes,
    /// How much of its memory may be promised.
    #[column("memory.overcommit")]
    pub overcommit: f64,
    /// Memory promised to the VMs that run here.
    #[column("memory.committed")]
    pub committed: Bytes,
    /// Memory promised to the VMs that have a place reserved here.
    #[column("memory.pending")]
    pub pending: Bytes,
    /// The members that run here.
    #[table("current")]
    pub current: Rows<Current>,
}

impl Host {
    /// MiB that it has left to promise; 0 where more was promised than may be.
    fn left(&self) -> f32 {
        let limit = mib(self.total) * self.overcommit;
        let promised = mib(self.committed) + mib(self.pending);
        let left = limit - promised - mib(self.reserved).max(0.0);
        left.max(0.0) as f32
    }
}

/// Memory in MiB.
pub fn mib(memory: Bytes) -> f64 {
    memory.0 as f64 / Bytes::mib(1).0 as f64
}

/// What hosts have left to promise, before and after VMs are placed there.
#[derive(Debug, PartialEq)]
pub struct Left {
    /// MiB that the host with the most has left before.
    pub most: f32,
    /// MiB that each host has left afterwards; less than 0 where the VMs take more
    /// than there is.
    pub after: Vec<f32>,
}

impl Left {
    /// On all hosts. A VM takes what it asks for, less what it holds where it runs already.
    pub fn of(request: &Request, hosts: &Rows<Host>) -> Self {
        let needs: Vec<f64> = request.vms.iter().map(|vm| mib(vm.memory)).collect();
        let all: f64 = needs.iter().sum();
        let mut left = Self {
            most: 0.0,
            after: Vec::with_capacity(hosts.len()),
        };
        for host in hosts {
            let before = host.left();
            let held = host.current.iter().filter_map(|row| {
                let asked = needs.get(usize::try_from(row.member).ok()?)?;
                Some(asked.min(mib(row.memory)))
            });
            left.most = left.most.max(before);
            left.after.push(before - (all - held.sum::<f64>()) as f32);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(committed: i64) -> Host {
        Host {
            total: Bytes::mib(1_024),
            reserved: Bytes(0),
            overcommit: 1.0,
            committed: Bytes::mib(committed),
            pending: Bytes(0),
            current: Rows::default(),
        }
    }

    fn left(hosts: Vec<Host>) -> Left {
        let vm = |mib| Vm {
            memory: Bytes::mib(mib),
        };
        let request = Request {
            vms: vec![vm(100), vm(28)].into(),
        };
        Left::of(&request, &hosts.into())
    }

    #[test]
    fn what_is_left_is_what_may_be_promised_without_what_was() {
        let generous = Host {
            overcommit: 2.0,
            reserved: Bytes::mib(24),
            pending: Bytes::mib(100),
            ..host(900)
        };
        let (most, after) = (1_024.0, vec![896.0, 896.0]);
        assert_eq!(left(vec![host(0), generous]), Left { most, after });
    }

    #[test]
    fn a_vm_takes_nothing_where_it_runs() {
        let own = Host {
            current: vec![held(28)].into(),
            ..host(0)
        };
        assert_eq!(left(vec![own]).after, [924.0]);
    }

    fn held(mib: i64) -> Current {
        Current {
            member: 1,
            memory: Bytes::mib(mib),
        }
    }

    #[test]
    fn a_vm_takes_its_growth_where_it_runs_and_all_where_it_holds_nothing() {
        let with = |mib| Host {
            current: vec![held(mib)].into(),
            ..host(0)
        };
        assert_eq!(left(vec![with(8)]).after, [904.0]);
        assert_eq!(left(vec![with(0)]).after, [896.0]);
        assert_eq!(left(vec![with(500)]).after, [924.0]);
    }

    #[test]
    fn a_host_that_promised_too_much_has_nothing_left() {
        let (most, after) = (0.0, vec![-128.0]);
        assert_eq!(left(vec![host(2_000)]), Left { most, after });
    }
}
