//! The states of hosts, and what they mean for the VMs there.

use super::Word;

/// The state of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HostState {
    /// It runs VMs, and takes new ones.
    #[default]
    Up,
    /// It runs VMs, and takes no new ones.
    Maintenance,
    /// It runs nothing.
    Down,
    /// It is faulty: its VMs are taken to run no more.
    Error,
}

impl Word for HostState {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("up", Self::Up),
        ("maintenance", Self::Maintenance),
        ("down", Self::Down),
        ("error", Self::Error),
    ];
}

/// How a VM leaves a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// It is moved while it runs.
    Live,
    /// It is started elsewhere: it does not run while it moves.
    Cold,
    /// Not at all, unless somebody stops it.
    Barred,
}

impl HostState {
    /// The state of that name; a host of which none is given is up.
    pub fn of(word: Option<&str>) -> Self {
        word.map_or(Self::Up, |word| {
            // Of a state that nobody knows nothing is known that would be in the way of a VM
            // there, and no new one is put there.
            Self::from_word(word).unwrap_or(Self::Maintenance)
        })
    }

    /// Whether what is said to run there runs no more: VMs are started elsewhere, and keep no
    /// others of their groups.
    pub fn is_lost(self) -> bool {
        matches!(self, Self::Down | Self::Error)
    }

    /// How a VM leaves a host in this state: the one rule for placements, migrations, plans
    /// and evacuations.
    pub fn departure(self, migratable: bool) -> Departure {
        match (self, migratable) {
            (Self::Down | Self::Error, _) => Departure::Cold,
            (Self::Up | Self::Maintenance, true) => Departure::Live,
            (Self::Up | Self::Maintenance, false) => Departure::Barred,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_says_how_a_vm_leaves_a_host_in_each_state() {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../book/src/empty-a-host.md"
        );
        let page = std::fs::read_to_string(page).unwrap();
        for (word, state) in HostState::WORDS {
            for migratable in [true, false] {
                let how = match state.departure(migratable) {
                    Departure::Live => "is moved while it runs",
                    Departure::Cold => "is started elsewhere",
                    Departure::Barred => "stays",
                };
                let cells = format!("| `{word}` | {migratable} | {how}");
                assert!(page.contains(&cells), "the page lacks {cells}");
            }
        }
    }
}
