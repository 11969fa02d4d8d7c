//! Huge pages: keeps the hosts with enough free huge pages of each size that the VMs
//! need. Without this filter, what lacks is made from ordinary memory, as the filter
//! `memory` counts it.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("has-huge-pages", gate)]
    needs_pages: bool,
    #[table("huge-pages")]
    pages: Rows<Needed>,
}

/// Huge pages that a VM needs.
#[derive(Row)]
struct Needed {
    size: Bytes,
    count: i64,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("huge-pages")]
    pages: Rows<Available>,
    #[table("current")]
    current: Rows<Current>,
}

/// Huge pages of a host.
#[derive(Row)]
struct Available {
    size: Bytes,
    free: i64,
    pending: i64,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has too few free huge pages
    TooFew,
    /// has too few free huge pages until pending VMs have started
    #[reason(passing)]
    TooFewWhilePending,
}

/// The pages that are needed: number of the VM, size, number of pages.
struct Need(Vec<(i64, Bytes, i64)>);

impl Need {
    /// Has the host enough pages of each size for the VMs that do not run there,
    /// if this is what it has in a row?
    fn is_met(&self, host: &Host, available: impl Fn(&Available) -> i64) -> bool {
        let runs_here = |vm: i64| host.current.iter().any(|row| row.member == vm);
        let of_size = |size: Bytes| {
            let wanted = self.0.iter().filter(|(_, known, _)| *known == size);
            let newcomers = wanted.filter(|(vm, ..)| !runs_here(*vm));
            let needed = newcomers.fold(0_i64, |sum, (_, _, count)| sum.saturating_add(*count));
            let rows = host.pages.iter().filter(|pages| pages.size == size);
            let found = rows.fold(0_i64, |sum, pages| {
                sum.saturating_add(available(&pages).max(0))
            });
            needed <= found
        };
        self.0.iter().all(|(_, size, _)| of_size(*size))
    }
}

struct HugePages;

impl RowWise for HugePages {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        let mut needed = Vec::new();
        for (number, vm) in (0..).zip(&request.vms) {
            let pages = vm.pages.iter();
            needed.extend(pages.map(|pages| (number, pages.size, pages.count)));
        }
        Ok(Need(needed))
    }
}

impl RowFilter for HugePages {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let unpromised = |pages: &Available| pages.free - pages.pending;
        Verdict::keep_if(need.is_met(host, |pages| pages.free), Reason::TooFew)
            .and(|| Verdict::keep_if(need.is_met(host, unpromised), Reason::TooFewWhilePending))
    }
}

placewright_sdk::export!(
    HugePages: filter,
    aliases = ["HugePages", "23e07b34-66dd-4735-bc45-bcddded02c05"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(pages: &[(i64, i64)]) -> Vm {
        let row = |&(mib, count): &(i64, i64)| Needed {
            size: Bytes::mib(mib),
            count,
        };
        Vm {
            needs_pages: !pages.is_empty(),
            pages: pages.iter().map(row).collect(),
        }
    }

    /// MiB, free, pending.
    fn host(pages: &[(i64, i64, i64)]) -> Host {
        let row = |&(mib, free, pending): &(i64, i64, i64)| Available {
            size: Bytes::mib(mib),
            free,
            pending,
        };
        Host {
            pages: pages.iter().map(row).collect(),
            current: Rows::default(),
        }
    }

    fn keep(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
        let request = Request { vms: vms.into() };
        let need = HugePages::prepare(&request, &()).expect("nothing is refused");
        HugePages::keep(&need, host)
    }

    const TOO_FEW: Verdict<Reason> = Verdict::Remove(Reason::TooFew);

    #[test]
    fn vms_without_huge_pages_run_anywhere() {
        assert_eq!(keep(vec![vm(&[])], &host(&[])), Verdict::Keep);
    }

    #[test]
    fn pages_of_each_size_must_be_free_for_all_vms_together() {
        let two = || vec![vm(&[(2, 100)]), vm(&[(2, 28), (1024, 1)])];
        assert_eq!(
            keep(two(), &host(&[(2, 128, 0), (1024, 1, 0)])),
            Verdict::Keep
        );
        assert_eq!(keep(two(), &host(&[(2, 127, 0), (1024, 1, 0)])), TOO_FEW);
        assert_eq!(keep(two(), &host(&[(2, 128, 0), (1024, 0, 0)])), TOO_FEW);
        assert_eq!(keep(two(), &host(&[(2, 500, 0)])), TOO_FEW);
    }

    #[test]
    fn pages_of_another_size_are_no_help_and_no_harm() {
        let one = || vec![vm(&[(1, 10)])];
        assert_eq!(keep(one(), &host(&[(2, 100, 0)])), TOO_FEW);
        assert_eq!(
            keep(one(), &host(&[(2, 0, 100), (1, 10, 0)])),
            Verdict::Keep
        );
    }

    #[test]
    fn pages_that_pending_vms_will_take_are_not_free() {
        let one = || vec![vm(&[(2, 10)])];
        assert_eq!(keep(one(), &host(&[(2, 14, 4)])), Verdict::Keep);
        assert_eq!(
            keep(one(), &host(&[(2, 14, 5)])),
            Verdict::Remove(Reason::TooFewWhilePending)
        );
        assert_eq!(keep(one(), &host(&[(2, 9, 5)])), TOO_FEW);
    }

    #[test]
    fn a_vm_that_runs_on_the_host_has_its_pages() {
        let own = Host {
            current: vec![Current { member: 0 }].into(),
            ..host(&[(2, 5, 0)])
        };
        assert_eq!(
            keep(vec![vm(&[(2, 10)]), vm(&[(2, 5)])], &own),
            Verdict::Keep
        );
        assert_eq!(keep(vec![vm(&[(2, 10)]), vm(&[(2, 6)])], &own), TOO_FEW);
    }
}
