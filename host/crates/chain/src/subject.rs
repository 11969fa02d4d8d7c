//! The request at hand, looked up in the inventory: what relations are made of.

use std::sync::Arc;

use super::plan::Source;
use placewright_inventory::{GroupEntry, Inventory, Shape, VmEntry};
use placewright_model::{Facts, GroupRule, Request, Vm};

/// A request with everything about it that does not depend on which host is asked
/// about.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) request: &'a Request,
    pub(super) members: Vec<Member<'a>>,
    /// Rows of `groups`.
    pub(super) groups: Vec<GroupRow<'a>>,
    /// Relations, in the order of slots.
    pub(super) current: Vec<Relation>,
    pub(super) pinned: Vec<Relation>,
    pub(super) preferred: Vec<Relation>,
    pub(super) group_members: Vec<Relation>,
    pub(super) group_hosts: Vec<Relation>,
    pub(super) location: Vec<Relation>,
    pub(super) bindings: Vec<Binding<'a>>,
    /// The number that decides what is left to chance.
    pub(super) draw: f64,
}

/// A VM to be placed.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) vm: &'a Vm,
    pub(super) shape: Shape,
    /// Where it runs now.
    pub(super) slot: Option<u32>,
}

/// A member on the host where it runs: a row of `hosts/current`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'a> {
    /// Its number.
    pub(super) member: i64,
    /// The host.
    pub(super) slot: u32,
    /// The VM, by its id.
    pub(super) id: Option<&'a Arc<str>>,
    /// What it holds there; None: the question is asked as if it had no place.
    pub(super) entry: Option<&'a VmEntry>,
}

/// A row of `groups`.
#[derive(Debug)]
pub(super) struct GroupRow<'a> {
    pub(super) entry: &'a GroupEntry,
    /// Which members are in it, by number, ascending.
    members: Vec<usize>,
    /// Whether a VM of it that is no member has a place, on a host that is not lost.
    pub(super) elsewhere: bool,
}

impl GroupRow<'_> {
    /// How many members are in it.
    pub(super) fn here(&self) -> i64 {
        self.members.len() as i64
    }
}

/// A row of a relation: the host's slot, and the numbers of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relation {
    pub(super) slot: u32,
    pub(super) numbers: [i64; 3],
}

/// A row of `hosts/bindings`: the host's slot, and the row of `tenant/bindings`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding<'a> {
    pub(super) slot: u32,
    pub(super) row: i64,
    pub(super) facts: &'a Facts,
}

impl<'a> Subject<'a> {
    pub(super) fn new(request: &'a Request, inventory: &'a Inventory, draw: f64) -> Self {
        let members: Vec<Member<'a>> = request
            .members
            .iter()
            .map(|vm| Member {
                vm,
                shape: Shape::of(&vm.facts),
                slot: inventory.runs_on(&vm.id),
            })
            .collect();
        let mut subject = Self {
            request,
            groups: group_rows(&members, inventory),
            current: Vec::new(),
            pinned: Vec::new(),
            preferred: Vec::new(),
            group_members: Vec::new(),
            group_hosts: Vec::new(),
            location: Vec::new(),
            bindings: bindings(request, inventory),
            members,
            draw,
        };
        subject.relate_members(inventory);
        subject.relate_groups(inventory);
        subject
    }

    /// The slots of the hosts that have rows in a relation; None if the source is no
    /// relation.
    pub(super) fn related_slots(&self, source: Source) -> Option<Vec<u32>> {
        let slots = |relation: &[Relation]| relation.iter().map(|row| row.slot).collect();
        Some(match source {
            Source::Bindings => self.bindings.iter().map(|row| row.slot).collect(),
            _ => slots(self.relation(source)?),
        })
    }

    /// The rows of a relation; None if the source is none, or has columns of its own.
    pub(super) fn relation(&self, source: Source) -> Option<&[Relation]> {
        Some(match source {
            Source::Current => &self.current,
            Source::Pinned => &self.pinned,
            Source::Preferred => &self.preferred,
            Source::GroupMembersHere => &self.group_members,
            Source::GroupsOfHost => &self.group_hosts,
            Source::Location => &self.location,
            _ => return None,
        })
    }

    /// What a member holds on the host of this row of `hosts/current`.
    pub(super) fn held<'i>(&self, row: &Relation, inventory: &'i Inventory) -> Held<'i>
    where
        'a: 'i,
    {
        let [member, ..] = row.numbers;
        let vm = usize::try_from(member)
            .ok()
            .and_then(|place| self.members.get(place));
        let entry = vm.and_then(|member| inventory.running(&member.vm.id));
        Held {
            member,
            slot: row.slot,
            id: vm.map(|member| &member.vm.id),
            entry: entry.filter(|entry| entry.slot == row.slot),
        }
    }

    fn relate_members(&mut self, inventory: &Inventory) {
        for (number, member) in (0i64..).zip(&self.members) {
            let row = |slot| Relation {
                slot,
                numbers: [number, 0, 0],
            };
            let named = |ids: &[Arc<str>]| -> Vec<Relation> {
                ids.iter()
                    .filter_map(|id| Some(row(inventory.slot(id)?)))
                    .collect()
            };
            self.location
                .extend(member.vm.pinning.location.iter().filter_map(|(id, score)| {
                    Some(Relation {
                        slot: inventory.slot(id)?,
                        numbers: [number, *score, 0],
                    })
                }));
            self.current.extend(member.slot.map(row));
            self.pinned.extend(named(&member.vm.pinning.pinned));
            self.preferred.extend(named(&member.vm.pinning.preferred));
        }
        for relation in [&mut self.current, &mut self.pinned, &mut self.preferred] {
            relation.sort_unstable();
            relation.dedup();
        }
        // Several scores for one host all count, equal ones too.
        self.location.sort_unstable();
    }

    fn relate_groups(&mut self, inventory: &Inventory) {
        for (number, row) in (0i64..).zip(&self.groups) {
            // Where members of the group have a place themselves, and what others leave.
            let mut own: Vec<&VmEntry> = (row.members.iter())
                .flat_map(|member| {
                    let id = &self.members[*member].vm.id;
                    [inventory.running(id), inventory.pending(id)]
                })
                .flatten()
                .collect();
            own.extend(self.leaving(row, inventory));
            self.group_members.reserve(row.entry.presence.len());
            for (slot, presence) in &row.entry.presence {
                let mut here = *presence;
                for place in own.iter().filter(|place| place.slot == *slot) {
                    here.vms -= 1;
                    here.unmovable -= i64::from(!place.shape.migratable);
                }
                if here.vms > 0 && !inventory.is_lost(*slot) {
                    self.group_members.push(Relation {
                        slot: *slot,
                        numbers: [number, here.vms, here.unmovable],
                    });
                }
            }
            self.group_hosts
                .extend(row.entry.hosts.iter().map(|slot| Relation {
                    slot: *slot,
                    numbers: [number, 0, 0],
                }));
        }
        self.group_members.sort_unstable();
        self.group_hosts.sort_unstable();
    }
}

impl<'a> Subject<'a> {
    /// Of a group that wants its VMs together, those that are on the move, where they still run,
    /// members of the request excepted: whoever joins them joins them where they go. For a group
    /// that wants its VMs apart they are still there.
    fn leaving<'i>(
        &self,
        row: &GroupRow<'i>,
        inventory: &'i Inventory,
    ) -> impl Iterator<Item = &'i VmEntry> {
        let joins = matches!(row.entry.group.vm_rule, Some(GroupRule::Positive { .. }));
        let mut presence = row.entry.presence.iter();
        let any = joins && presence.any(|(slot, _)| inventory.is_on_the_move(*slot));
        let vms = any
            .then(|| row.entry.group.vms.iter())
            .into_iter()
            .flatten();
        vms.filter_map(move |id| {
            let goes = inventory.pending(id)?.slot;
            let entry = inventory.running(id).filter(|entry| entry.slot != goes)?;
            let mut members = row.members.iter();
            let is_member = members.any(|number| self.members[*number].vm.id == *id);
            (!is_member).then_some(entry)
        })
    }
}

/// The bindings of the request's tenant to hosts that are there, in the order of
/// slots, those of one host in the order of the tenant's.
fn bindings<'a>(request: &Request, inventory: &'a Inventory) -> Vec<Binding<'a>> {
    let tenant = request.facts.text("tenant");
    let rows = tenant
        .and_then(|id| inventory.tenant(id))
        .map_or(&[][..], |tenant| tenant.rows("bindings"));
    let mut bindings: Vec<Binding<'a>> = (0i64..)
        .zip(rows)
        .filter_map(|(row, facts)| {
            let slot = inventory.slot(facts.text("host")?)?;
            Some(Binding { slot, row, facts })
        })
        .collect();
    bindings.sort_by_key(|binding| binding.slot);
    bindings
}

/// The groups of the members, in the order of their values, so that requests of
/// one shape give one table; ids only order what is equal.
fn group_rows<'a>(members: &[Member<'a>], inventory: &'a Inventory) -> Vec<GroupRow<'a>> {
    let mut rows: Vec<GroupRow<'a>> = Vec::new();
    for (number, member) in members.iter().enumerate() {
        for entry in inventory.groups_of(&member.vm.id) {
            match rows
                .iter_mut()
                .find(|row| row.entry.group.id == entry.group.id)
            {
                Some(row) => row.members.push(number),
                None => rows.push(GroupRow {
                    entry,
                    members: vec![number],
                    elsewhere: false,
                }),
            }
        }
    }
    for row in &mut rows {
        // Who lies on a host that is lost keeps nobody: whoever is placed first chooses.
        let presence = row.entry.presence.iter();
        let presence = presence.filter(|(slot, _)| !inventory.is_lost(*slot));
        let placed: i64 = presence.map(|(_, presence)| presence.vms).sum();
        let counts = |entry: Option<&VmEntry>| {
            i64::from(entry.is_some_and(|entry| !inventory.is_lost(entry.slot)))
        };
        let own: i64 = (row.members.iter())
            .map(|member| {
                let id = &members[*member].vm.id;
                counts(inventory.running(id)) + counts(inventory.pending(id))
            })
            .sum();
        row.elsewhere = placed > own;
    }
    rows.sort_by(|a, b| {
        group_key(a)
            .partial_cmp(&group_key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    rows
}

type GroupKey<'a> = ((u8, bool), (u8, bool), f64, i64, bool, &'a Arc<str>);

fn group_key<'a>(row: &GroupRow<'a>) -> GroupKey<'a> {
    let group = &row.entry.group;
    (
        rule_key(group.vm_rule),
        rule_key(group.host_rule),
        group.priority,
        row.here(),
        row.elsewhere,
        &group.id,
    )
}

fn rule_key(rule: Option<GroupRule>) -> (u8, bool) {
    match rule {
        None => (0, false),
        Some(GroupRule::Positive { hard }) => (1, hard),
        Some(GroupRule::Negative { hard }) => (2, hard),
    }
}
