//! What requests leave behind, and how much of it there may be.
//!
//! Everything that requests can make grow is a [`Collection`], with a bound, somebody who pays
//! for it, and something that happens at the bound. The errors, the metrics and the table of
//! `SECURITY.md` are made from the rows here.

mod rows;

use std::fmt;
use std::sync::Arc;

/// Something that grows by requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collection {
    /// Hosts, VMs, groups, tenants and attributes of a cluster.
    Inventory,
    /// The columns of a cluster's hosts.
    Columns,
    /// The texts of these columns.
    Texts,
    /// What leads back to earlier versions of an inventory.
    Journal,
    /// Answers that are given again.
    Answers,
    /// Recorded decisions with their requests.
    Decisions,
    /// The rows of a cluster as they were when recorded decisions were made.
    History,
    /// Plans of moves.
    Plans,
    /// VMs that stay where they are since a balance has moved them a short time ago.
    CoolDown,
    /// Reservations that have ended.
    EndedReservations,
    /// Names of what has changed lately.
    Changes,
    /// What the store has failed to keep.
    Unstored,
    /// What is different in a cluster from its policy.
    Overrides,
    /// Policies, with the texts that are in force.
    Policies,
    /// Earlier texts of a policy.
    Revisions,
    /// The entries of a policy.
    Entries,
    /// Answers of routes that no cluster stores, given again to a repeated request.
    Repeats,
    /// Jobs of oVirt's clients.
    Jobs,
    /// What happened to units.
    UnitEvents,
    /// Tokens that admins have issued.
    Tokens,
    /// Quotas of tenants.
    Quotas,
    /// Events that are remembered.
    Events,
}

/// Whose a collection is: who fills it, and whom it concerns that it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    /// A cluster: all who may change it fill the same.
    Cluster,
    /// Of all clusters, the one with the most gives back first.
    LargestCluster,
    /// A caller within a cluster: the one with the most gives back first.
    CallerInCluster,
    /// A caller: the one with the most gives back first.
    Caller,
    /// Whoever made policies.
    Owner,
    /// One policy.
    Policy,
    /// The server.
    Server,
}

/// What a bound counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Bytes, as they are estimated to be in memory.
    Bytes,
    /// Things.
    Things,
}

/// What happens to what does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtBound {
    /// It is refused, and nothing has changed.
    Refused,
    /// It is taken in, and the oldest goes.
    OldestGoes,
    /// What nobody uses any more goes.
    UnusedGoes,
}

/// What is known of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The word for programs: the label of metrics.
    pub word: &'static str,
    /// What it is called in sentences, such as `the inventory`.
    pub title: &'static str,
    /// Who pays for it.
    pub payer: Payer,
    /// How much there may be unless an option says otherwise.
    pub bound: u64,
    /// What that counts.
    pub counted: Counted,
    /// The option that sets the bound, if there is one.
    pub option: Option<&'static str>,
    /// What happens to what does not fit.
    pub at_bound: AtBound,
    /// How there comes to be room, as what somebody is told to do; or what is lost.
    pub remedy: &'static str,
    /// Where it is held: fields of structures, as `Structure.field`.
    pub fields: &'static [&'static str],
    /// Where it is stored: tables of the store.
    pub tables: &'static [&'static str],
}

impl Collection {
    /// What is known of it.
    pub fn row(self) -> Row {
        rows::of(self)
    }

    /// How much there may be unless an option says otherwise.
    pub fn bound(self) -> u64 {
        self.row().bound
    }

    /// The same as a count of things in memory.
    pub fn most(self) -> usize {
        usize::try_from(self.bound()).unwrap_or(usize::MAX)
    }

    /// Every collection.
    pub fn all() -> impl Iterator<Item = Self> {
        rows::ALL.into_iter()
    }
}

/// How much of a cluster's collections there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterBounds {
    /// Bytes of [`Collection::Inventory`].
    pub inventory: u64,
    /// Bytes of [`Collection::Columns`].
    pub columns: u64,
}

impl ClusterBounds {
    /// No bound: for inventories that no requests change.
    pub const NONE: Self = Self {
        inventory: u64::MAX,
        columns: u64::MAX,
    };
}

impl Default for ClusterBounds {
    fn default() -> Self {
        Self {
            inventory: Collection::Inventory.bound(),
            columns: Collection::Columns.bound(),
        }
    }
}

/// The table of all collections as the documentation has it, in Markdown.
pub fn table() -> String {
    let mut table =
        "| What requests leave behind | At most | Who pays | At the bound |\n|---|---|---|---|\n"
            .to_owned();
    for row in Collection::all().map(Collection::row) {
        let bound = match (row.counted, row.option) {
            (Counted::Bytes, None) => Bytes(row.bound).to_string(),
            (Counted::Bytes, Some(option)) => format!("{} (`{option}`)", Bytes(row.bound)),
            (Counted::Things, None) => row.bound.to_string(),
            (Counted::Things, Some(option)) => format!("{} (`{option}`)", row.bound),
        };
        let payer = match row.payer {
            Payer::Cluster => "the cluster",
            Payer::LargestCluster => "the cluster with the most, or the server itself",
            Payer::CallerInCluster => "the caller with the most in the cluster",
            Payer::Caller => "the caller with the most",
            Payer::Owner => "whoever made them",
            Payer::Policy => "the policy",
            Payer::Server => "the server",
        };
        let happens = match row.at_bound {
            AtBound::Refused => "refused, nothing changes",
            AtBound::OldestGoes => "the oldest goes",
            AtBound::UnusedGoes => "unused ones go",
        };
        let Row { title, remedy, .. } = row;
        table += &format!("| {title} | {bound} | {payer} | {happens}: {remedy} |\n");
    }
    table
}

/// Something does not fit into a collection: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Full {
    /// Which one.
    pub collection: Collection,
    /// Whose it is: the name of a cluster, a token or a policy; None: the server's.
    pub of: Option<Arc<str>>,
    /// How much there would be.
    pub wanted: u64,
    /// How much there may be.
    pub bound: u64,
}

impl Full {
    /// That so much fits.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(
        collection: Collection,
        of: &Arc<str>,
        wanted: u64,
        bound: u64,
    ) -> Result<(), Self> {
        match wanted <= bound {
            true => Ok(()),
            false => Err(Self {
                collection,
                of: Some(of.clone()),
                wanted,
                bound,
            }),
        }
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row {
            title,
            payer,
            counted,
            option,
            remedy,
            ..
        } = self.collection.row();
        write!(f, "{title}")?;
        if let Some(of) = &self.of {
            match payer {
                Payer::Cluster | Payer::CallerInCluster => write!(f, " of cluster \"{of}\"")?,
                Payer::Caller | Payer::Owner => write!(f, " of \"{of}\"")?,
                Payer::Policy => write!(f, " of policy \"{of}\"")?,
                Payer::Server | Payer::LargestCluster => {}
            }
        }
        match counted {
            Counted::Bytes => write!(
                f,
                " would take {}, and may take {}",
                Bytes(self.wanted),
                Bytes(self.bound)
            )?,
            Counted::Things => {
                write!(f, " would be {}, and may be {}", self.wanted, self.bound)?;
            }
        }
        match option {
            Some(option) => write!(f, ": {remedy}, or have option {option} raised"),
            None => write!(f, ": {remedy}"),
        }
    }
}

/// Bytes in a unit of which they are some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        let Some((shift, unit)) = units.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
            return write!(f, "{bytes} bytes");
        };
        match bytes % (1 << shift) {
            0 => write!(f, "{} {unit}", bytes >> shift),
            _ => write!(f, "{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_full_says_whose_it_is_how_full_and_how_it_is_emptied() {
        let full = Full::check(Collection::Inventory, &"alpha".into(), 3 << 29, 1 << 30);
        let text = full.unwrap_err().to_string();
        assert_eq!(
            text,
            "the inventory of cluster \"alpha\" would take 1.5 GiB, and may take 1 GiB: \
             remove hosts, VMs, groups, tenants, or attributes of them, or have option \
             inventory-bytes raised"
        );
        assert_eq!(
            Full::check(Collection::Columns, &"alpha".into(), 5, 5),
            Ok(())
        );
    }

    #[test]
    fn bytes_are_told_in_a_unit_of_which_there_are_some() {
        let told = |bytes| Bytes(bytes).to_string();
        assert_eq!(told(1023), "1023 bytes");
        assert_eq!(told(4 << 20), "4 MiB");
        assert_eq!(told((4 << 20) + (1 << 19)), "4.5 MiB");
    }
}
