//! Hosts by what is said of them, as sets of bits: hosts by who removes them.

use fixedbitset::FixedBitSet;

/// Sets of hosts, each of those of which one thing is said. No host is in two.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By what is said, ascending.
    groups: Vec<Group>,
    slots: usize,
}

/// The hosts, by slot, of which the same is said.
#[derive(Debug)]
pub(crate) struct Group {
    /// What is said, as a number.
    pub(crate) said: u16,
    pub(crate) hosts: FixedBitSet,
    pub(crate) count: usize,
}

impl Groups {
    /// Make room for so many hosts.
    pub(crate) fn grow(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        for group in &mut self.groups {
            group.hosts.grow(slots);
        }
    }

    /// Take a host out of the group of which `old` is said.
    pub(crate) fn remove(&mut self, slot: u32, old: u16) {
        if let Ok(place) = self.place(old) {
            let group = &mut self.groups[place];
            group.count -= 1;
            group.hosts.set(slot as usize, false);
        }
    }

    /// Put a host, of which there is room, that is in no group into that of which `new` is said.
    pub(crate) fn insert(&mut self, slot: u32, new: u16) {
        let place = self.place(new).unwrap_or_else(|place| {
            let group = Group {
                said: new,
                hosts: FixedBitSet::with_capacity(self.slots),
                count: 0,
            };
            self.groups.insert(place, group);
            place
        });
        let group = &mut self.groups[place];
        group.count += 1;
        group.hosts.insert(slot as usize);
    }

    /// The group of which this is said, if any host is or was in it.
    pub(crate) fn get(&self, said: u16) -> Option<&Group> {
        Some(&self.groups[self.place(said).ok()?])
    }

    /// All groups that are not empty, by what is said.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.count > 0)
    }

    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        let groups = self.groups.iter();
        groups
            .map(|group| size_of::<Group>() + size_of_val(group.hosts.as_slice()))
            .sum()
    }

    fn place(&self, said: u16) -> Result<usize, usize> {
        self.groups.binary_search_by_key(&said, |group| group.said)
    }
}
