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

/// A member that runs on the host now, and the pages that it holds there.
#[derive(Row)]
struct Current {
    member: i64,
    #[table("huge-pages")]
    pages: Rows<Needed>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has too few free huge pages
    TooFew,
    /// has too few free huge pages until pending VMs have started
    #[reason(passing)]
    TooFewWhilePending,
}

/// Numbers of pages by their size.
#[derive(Clone, Default)]
struct Pages(Vec<(Bytes, i64)>);

impl Pages {
    fn of(rows: &Rows<Needed>) -> Self {
        let mut pages = Self::default();
        for row in rows {
            pages.count(row.size, row.count);
        }
        pages
    }

    fn count(&mut self, size: Bytes, count: i64) {
        match self.0.iter_mut().find(|(known, _)| *known == size) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.0.push((size, count)),
        }
    }
}

impl Resources for Pages {
    fn add(&mut self, other: &Self) {
        for (size, count) in &other.0 {
            self.count(*size, *count);
        }
    }

    fn less(&mut self, held: &Self) {
        for (size, count) in &mut self.0 {
            let held = held.0.iter().find(|(known, _)| known == size);
            *count = count
                .saturating_sub(held.map_or(0, |(_, count)| *count))
                .max(0);
        }
        self.0.retain(|(_, count)| *count > 0);
    }
}

impl Pages {
    /// Has the host enough pages of each size, if this is what it has in a row?
    fn are_there(&self, host: &Host, available: impl Fn(&Available) -> i64) -> bool {
        self.0.iter().all(|(size, needed)| {
            let rows = host.pages.iter().filter(|pages| pages.size == *size);
            let found = rows.fold(0_i64, |sum, pages| {
                sum.saturating_add(available(&pages).max(0))
            });
            *needed <= found
        })
    }
}

struct HugePages;

impl RowWise for HugePages {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Takes<Pages>;

    fn prepare(request: &Request, (): &()) -> Result<Takes<Pages>, Problem> {
        Ok(Takes::of(request.vms.iter().map(|vm| Pages::of(&vm.pages))))
    }
}

impl RowFilter for HugePages {
    fn keep(asked: &Takes<Pages>, host: &Host) -> Verdict<Reason> {
        let held = |row: Current| (row.member, Pages::of(&row.pages));
        let needed = asked.on(&host.current, held);
        let unpromised = |pages: &Available| pages.free - pages.pending;
        Verdict::keep_if(needed.are_there(host, |pages| pages.free), Reason::TooFew).and(|| {
            Verdict::keep_if(
                needed.are_there(host, unpromised),
                Reason::TooFewWhilePending,
            )
        })
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
            current: vec![Current {
                member: 0,
                pages: vm(&[(2, 10)]).pages,
            }]
            .into(),
            ..host(&[(2, 5, 0)])
        };
        assert_eq!(
            keep(vec![vm(&[(2, 10)]), vm(&[(2, 5)])], &own),
            Verdict::Keep
        );
        assert_eq!(keep(vec![vm(&[(2, 10)]), vm(&[(2, 6)])], &own), TOO_FEW);
        assert_eq!(keep(vec![vm(&[(2, 15)])], &own), Verdict::Keep);
        assert_eq!(keep(vec![vm(&[(2, 16)])], &own), TOO_FEW);
    }
}
