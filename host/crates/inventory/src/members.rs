//! Which members groups have, those of others among them: worked out once for each group, however
//! many groups come, change and go together.
//!
//! A group has the own members of others, and not those that these have of others again. So it
//! takes no order of the groups, and each list of own members is looked up in once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::group::{GroupEntry, Groups, Presence, Unsettled};
use super::{Inventory, InventoryError, weight};
use placewright_model::Group;
use placewright_model::budget::{Collection, Full};

/// Members by numbers, which are quick to compare, and which of them were seen in this round.
#[derive(Default)]
struct Names<'g> {
    numbers: HashMap<&'g Arc<str>, u32, RandomState>,
    ids: Vec<&'g Arc<str>>,
    /// By number: the round in which it was seen last.
    seen: Vec<u32>,
    round: u32,
}

impl<'g> Names<'g> {
    fn number_all(&mut self, ids: &'g [Arc<str>]) -> Vec<u32> {
        ids.iter().map(|id| self.number(id)).collect()
    }

    fn number(&mut self, id: &'g Arc<str>) -> u32 {
        *self.numbers.entry(id).or_insert_with(|| {
            self.ids.push(id);
            self.seen.push(0);
            self.ids.len() as u32 - 1
        })
    }

    /// Those of the own members that are told for the first time, and then those of others that
    /// are.
    fn distinct<'l>(
        &mut self,
        own: &[u32],
        others: impl Iterator<Item = &'l [u32]>,
    ) -> (Vec<u32>, Vec<u32>) {
        self.round += 1;
        let (seen, round) = (&mut self.seen, self.round);
        let mut is_new =
            |number: &u32| std::mem::replace(&mut seen[*number as usize], round) != round;
        let own = own.iter().copied().filter(&mut is_new).collect();
        let mut taken = Vec::new();
        for list in others {
            taken.extend(list.iter().copied().filter(&mut is_new));
        }
        (own, taken)
    }

    fn ids(&self, numbers: &[u32]) -> impl Iterator<Item = &'g Arc<str>> {
        numbers.iter().map(|number| self.ids[*number as usize])
    }
}

/// The members that a group has of its own, by their numbers.
struct Own {
    vms: Vec<u32>,
    hosts: Vec<u32>,
}

/// What was worked out of a group.
struct Settled {
    number: u32,
    /// The members that it has of others.
    vms: Vec<Arc<str>>,
    hosts: Vec<Arc<str>>,
    presence: Vec<(u32, Presence)>,
    slots: Vec<u32>,
    bytes: u64,
}

/// VMs with the numbers of the groups that they have come to be in, in the order of the groups'
/// ids.
type NewGroups = Vec<(Arc<str>, Vec<u32>)>;

impl Inventory {
    /// Do `work`, in which groups come, change and go, and then work out which members they have:
    /// until then, that is not up to date. All of it is done, or nothing.
    ///
    /// # Errors
    /// As `work`, or if the members that groups have of others do not fit.
    pub fn group_together<T, E: From<InventoryError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.all_or_nothing(|inventory| {
            let done = inventory.hold_groups(work)?;
            inventory.settle_if_due()?;
            Ok(done)
        })
    }

    /// Do `work`, at whose end groups whose members are to be worked out may be left.
    pub(super) fn hold_groups<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.groups.held += 1;
        let done = work(self);
        self.groups.held -= 1;
        done
    }

    fn settle_if_due(&mut self) -> Result<(), InventoryError> {
        match self.groups.held {
            0 => self.settle_groups(self.bounds.inventory),
            _ => Ok(()),
        }
    }

    /// The same for groups that were there before: they fit.
    pub(super) fn settle_old_groups(&mut self) {
        if self.groups.held == 0 {
            // Nothing is more than that: it does not fail.
            let _ = self.settle_groups(u64::MAX);
        }
    }

    /// How often the members of a group were worked out so far.
    #[cfg(any(test, feature = "testing"))]
    pub fn worked_out_groups(&self) -> usize {
        self.groups.worked_out
    }

    /// Work out which members those groups have that have changed, or have members of such.
    ///
    /// # Errors
    /// If one that grows comes to more bytes than that with all others; then nothing is changed.
    fn settle_groups(&mut self, bound: u64) -> Result<(), InventoryError> {
        if self.groups.unsettled.is_empty() {
            return Ok(());
        }
        let (settled, new_groups) = self.work_out(bound)?;
        #[cfg(any(test, feature = "testing"))]
        {
            self.groups.worked_out += settled.len();
        }
        self.groups.settle(settled, new_groups);
        Ok(())
    }

    fn work_out(&self, bound: u64) -> Result<(Vec<Settled>, NewGroups), InventoryError> {
        let groups = &self.groups;
        let numbers = groups.unsettled.keys();
        let entries = numbers.filter_map(|number| Some((*number, groups.entry(*number)?)));
        let mut total = self.bytes();
        let mut due: Vec<Due<'_>> = entries
            .map(|(number, entry)| {
                let bytes = weight::of_new_group(entry.given());
                total = total - entry.bytes + bytes;
                Due {
                    number,
                    group: entry.given(),
                    bytes,
                }
            })
            .collect();
        due.sort_unstable_by_key(|due| &due.group.id);
        let mut work = Work::begin(groups, &due);
        let mut settled = Vec::with_capacity(due.len());
        let mut grows = false;
        for due in due {
            let members = work.members_of(&due);
            let more = work.bytes_of_taken(&members);
            total += more;
            // Those that are to come take so much at least.
            grows |= due.bytes + more > groups.unsettled[&due.number].bytes;
            if grows {
                Full::check(Collection::Inventory, &self.name, total, bound)?;
            }
            settled.push(Settled {
                number: due.number,
                vms: work.vms.ids(&members.vms).cloned().collect(),
                hosts: work.hosts.ids(&members.hosts).cloned().collect(),
                presence: self.presence_of(&mut work, &members, due.number),
                slots: self.slots_of(&work, &members),
                bytes: due.bytes + more,
            });
        }
        Ok((settled, work.new_groups()))
    }

    /// Where the VMs of a group are, which are known from now on to be in it.
    fn presence_of(
        &self,
        work: &mut Work<'_>,
        members: &Members,
        group: u32,
    ) -> Vec<(u32, Presence)> {
        let mut places = Vec::new();
        for vm in members.own_vms.iter().chain(&members.vms) {
            let index = *vm as usize;
            let id = work.vms.ids[index];
            let of_vm = work.places[index].get_or_insert_with(|| self.places_of(id));
            places.extend(of_vm.iter().flatten());
            work.groups_of[index].push(group);
        }
        presence(places)
    }

    fn slots_of(&self, work: &Work<'_>, members: &Members) -> Vec<u32> {
        let (own, taken) = (&members.own_hosts, &members.hosts);
        let ids = work.hosts.ids(own).chain(work.hosts.ids(taken));
        let mut slots: Vec<u32> = ids.filter_map(|host| self.slot(host)).collect();
        slots.sort_unstable();
        slots
    }

    /// The hosts where a VM has a place, and whether it may not be moved from there. One that
    /// moves has two.
    fn places_of(&self, vm: &str) -> Places {
        [false, true].map(|pending| {
            let placed = self.placed(vm, pending)?;
            Some((placed.slot, !placed.shape.migratable))
        })
    }
}

/// Where a VM runs and where it has a place reserved.
type Places = [Option<(u32, bool)>; 2];

/// A group whose members are to be worked out.
struct Due<'g> {
    number: u32,
    /// As it was given.
    group: &'g Group,
    /// Bytes that it takes without the members that it has of others.
    bytes: u64,
}

/// The members of a group by their numbers, each once: those of its own, and those that it has of
/// others besides.
struct Members {
    own_vms: Vec<u32>,
    vms: Vec<u32>,
    own_hosts: Vec<u32>,
    hosts: Vec<u32>,
}

/// What is known while members are worked out.
struct Work<'g> {
    groups: &'g Groups,
    vms: Names<'g>,
    hosts: Names<'g>,
    /// By the number of a group.
    own: BTreeMap<u32, Own>,
    /// By the number of a VM, once they were looked up.
    places: Vec<Option<Places>>,
    /// By the number of a VM: the groups that it is in of those that were worked out.
    groups_of: Vec<Vec<u32>>,
}

impl<'g> Work<'g> {
    /// Know the own members of these groups, and of those of which they have members.
    fn begin(groups: &'g Groups, due: &[Due<'g>]) -> Self {
        let (mut vms, mut hosts) = (Names::default(), Names::default());
        let mut own = BTreeMap::new();
        for due in due {
            let others = due.group.vms_of.iter().chain(&due.group.hosts_of);
            let others = others.filter_map(|id| groups.number(id));
            for number in others.chain([due.number]) {
                let known = groups.entry(number).map(GroupEntry::given);
                let Some(known) = known.filter(|_| !own.contains_key(&number)) else {
                    continue;
                };
                let members = Own {
                    vms: vms.number_all(&known.vms),
                    hosts: hosts.number_all(&known.hosts),
                };
                own.insert(number, members);
            }
        }
        Self {
            groups,
            places: vec![None; vms.ids.len()],
            groups_of: vec![Vec::new(); vms.ids.len()],
            vms,
            hosts,
            own,
        }
    }

    fn members_of(&mut self, due: &Due<'_>) -> Members {
        let Self {
            groups,
            vms,
            hosts,
            own,
            ..
        } = self;
        let of = |ids: &[Arc<str>]| -> Vec<&Own> {
            let numbers = ids.iter().filter_map(|id| groups.number(id));
            numbers.filter_map(|number| own.get(&number)).collect()
        };
        let of_vms = of(&due.group.vms_of);
        let of_hosts = of(&due.group.hosts_of);
        let known = own.get(&due.number);
        let (own_vms, taken_vms) = vms.distinct(
            known.map_or(&[], |own| &own.vms),
            of_vms.iter().map(|other| &*other.vms),
        );
        let (own_hosts, taken_hosts) = hosts.distinct(
            known.map_or(&[], |own| &own.hosts),
            of_hosts.iter().map(|other| &*other.hosts),
        );
        Members {
            own_vms,
            vms: taken_vms,
            own_hosts,
            hosts: taken_hosts,
        }
    }

    /// Bytes of the members that a group has of others.
    fn bytes_of_taken(&self, members: &Members) -> u64 {
        let vms = self.vms.ids(&members.vms);
        let hosts = self.hosts.ids(&members.hosts);
        let vms = vms.map(|id| weight::of_member(id)).sum::<u64>();
        vms + hosts.map(|id| weight::of_id(id)).sum::<u64>()
    }

    fn new_groups(self) -> NewGroups {
        let ids = self.vms.ids.into_iter().cloned();
        let all = ids.zip(self.groups_of);
        all.filter(|(_, numbers)| !numbers.is_empty()).collect()
    }
}

/// How many VMs there are on which hosts, of the place of each.
fn presence(mut places: Vec<(u32, bool)>) -> Vec<(u32, Presence)> {
    places.sort_unstable();
    let mut counted: Vec<(u32, Presence)> = Vec::new();
    for (slot, unmovable) in places {
        if counted.last().is_none_or(|(last, _)| *last != slot) {
            counted.push((slot, Presence::default()));
        }
        if let Some((_, presence)) = counted.last_mut() {
            presence.vms += 1;
            presence.unmovable += i64::from(unmovable);
        }
    }
    counted
}

impl Groups {
    /// Take in what was worked out of all groups of which something was to be.
    fn settle(&mut self, settled: Vec<Settled>, new_groups: NewGroups) {
        let mut unsettled = std::mem::take(&mut self.unsettled);
        self.forget_vms(&mut unsettled);
        for number in unsettled.into_keys() {
            if self.entry(number).is_none() {
                self.free.push(number);
            }
        }
        for group in settled {
            let Some(entry) = &mut self.entries[group.number as usize] else {
                continue;
            };
            if let Some(given) = &entry.given {
                entry.group.vms.clone_from(&given.vms);
                entry.group.hosts.clone_from(&given.hosts);
                entry.group.vms.extend(group.vms);
                entry.group.hosts.extend(group.hosts);
            }
            self.bytes = self.bytes - entry.bytes + group.bytes;
            entry.bytes = group.bytes;
            entry.presence = group.presence;
            entry.hosts = group.slots;
        }
        for (vm, numbers) in new_groups {
            self.know_groups(vm, numbers);
        }
    }

    /// None of these groups is one of any VM any more.
    fn forget_vms(&mut self, unsettled: &mut BTreeMap<u32, Unsettled>) {
        let mut forgotten: HashSet<Arc<str>, RandomState> = HashSet::default();
        for (number, old) in unsettled.iter_mut() {
            let unchanged = self.entries[*number as usize].as_ref();
            let vms = match &mut old.vms {
                Some(vms) => &*vms,
                // It is as it was, but for what others have given.
                None => unchanged.map_or(&[][..], |entry| &entry.group.vms),
            };
            let new = vms.iter().filter(|vm| !forgotten.contains(*vm));
            let new: Vec<Arc<str>> = new.cloned().collect();
            forgotten.extend(new);
        }
        for vm in forgotten {
            if let Some(of_vm) = self.of_vms.get_mut(&vm) {
                of_vm.retain(|number| !unsettled.contains_key(number));
                if of_vm.is_empty() {
                    self.of_vms.remove(&vm);
                }
            }
        }
    }

    /// A VM is in these groups, which are in the order of their ids, besides those that are known.
    fn know_groups(&mut self, vm: Arc<str>, new: Vec<u32>) {
        let entries = &self.entries;
        let id = |number: &u32| {
            let entry = entries[*number as usize].as_ref();
            entry.map(|entry| &entry.group.id)
        };
        let of_vm = self.of_vms.entry(vm).or_default();
        // Of few groups each is put in its place, of many all together.
        if of_vm.len() / 8 > new.len() {
            for number in new {
                let place = of_vm.partition_point(|other| id(other) < id(&number));
                of_vm.insert(place, number);
            }
        } else {
            of_vm.extend(new);
            of_vm.sort_by(|a, b| id(a).cmp(&id(b)));
        }
    }
}

#[cfg(test)]
mod tests;
