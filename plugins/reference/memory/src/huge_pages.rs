//! Huge pages: memory that comes from pages which a host has set aside, as far as
//! it has them, and else from its ordinary memory.

use placewright_sdk::prelude::*;

/// Huge pages that a VM needs.
#[derive(Row)]
pub struct VmPages {
    pub size: Bytes,
    pub count: i64,
}

/// Huge pages of a host.
#[derive(Row)]
pub struct HostPages {
    pub size: Bytes,
    pub free: i64,
    pub pending: Option<i64>,
    /// What of the host's pending memory is to be in these pages; negative where VMs that run here
    /// are to have ordinary memory instead of such pages.
    #[column("memory.pending")]
    pub pending_memory: Option<Bytes>,
}

/// The memory in a host's pages that nobody has, nor is about to get.
#[inline(never)]
pub fn free_bytes(pages: Rows<HostPages>) -> i64 {
    let free = pages.iter().map(|pages| {
        let free = pages.free.saturating_sub(pages.pending.unwrap_or(0));
        free.max(0).saturating_mul(pages.size.0.max(0))
    });
    free.fold(0, i64::saturating_add)
}

/// What of a host's pending memory comes from its free pages. Pages that are pending for others
/// are none of these: VMs that run already have them, though no measurement shows it. Negative
/// where VMs give pages back for ordinary memory.
#[inline(never)]
pub fn pending_bytes(pages: Rows<HostPages>) -> i64 {
    let in_pages = pages.iter().map(|pages| {
        let bytes = |count: i64| count.max(0).saturating_mul(pages.size.0.max(0));
        let wanted = pages.pending_memory.map_or(0, |memory| memory.0);
        if wanted < 0 {
            return wanted;
        }
        let of_others = bytes(pages.pending.unwrap_or(0)).saturating_sub(wanted);
        let free = bytes(pages.free).saturating_sub(of_others.max(0));
        wanted.min(free.max(0))
    });
    in_pages.fold(0, i64::saturating_add)
}

/// Numbers of pages by their size.
#[derive(Clone, Default)]
pub struct Pages(Vec<(i64, i64)>);

impl Pages {
    pub fn of(rows: &Rows<VmPages>) -> Self {
        let mut pages = Self::default();
        for row in rows {
            pages.count(row.size.0, row.count);
        }
        pages
    }

    fn count(&mut self, size: i64, count: i64) {
        match self.0.iter_mut().find(|(known, _)| *known == size) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.0.push((size, count)),
        }
    }

    /// Adds the pages of another VM.
    pub fn add(&mut self, other: &Self) {
        for &(size, count) in &other.0 {
            self.count(size, count);
        }
    }

    /// Takes away the pages that are held, of each size not below none.
    pub fn less(&mut self, held: &Self) {
        for (size, count) in &mut self.0 {
            let of_size = held.0.iter().filter(|(known, _)| known == size);
            let held = of_size.fold(0, |sum: i64, (_, count)| sum.saturating_add(*count));
            *count = count.saturating_sub(held).max(0);
        }
        self.0.retain(|(_, count)| *count > 0);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The memory in all pages.
    pub fn bytes(&self) -> i64 {
        let bytes = self
            .0
            .iter()
            .map(|&(size, count)| size.saturating_mul(count));
        bytes.fold(0, i64::saturating_add)
    }

    /// The memory in those pages that a host has not free.
    #[inline(always)]
    pub fn lacking(&self, host: &Rows<HostPages>) -> i64 {
        // Few VMs need any. Rows that are lent to a function keep the whole host in memory,
        // where a copy of none costs nothing.
        match self.is_empty() {
            true => 0,
            false => self.lacking_of(host.clone()),
        }
    }

    #[inline(never)]
    fn lacking_of(&self, host: Rows<HostPages>) -> i64 {
        let lacking = |&(size, count): &(i64, i64)| {
            let pages = host.iter().filter(|pages| pages.size.0 == size);
            let free = pages.map(|pages| (pages.free - pages.pending.unwrap_or(0)).max(0));
            let lacking = count.saturating_sub(free.fold(0, i64::saturating_add));
            lacking.max(0).saturating_mul(size)
        };
        self.0.iter().map(lacking).fold(0, i64::saturating_add)
    }
}
