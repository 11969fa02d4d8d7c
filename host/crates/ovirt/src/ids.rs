//! Ids as oVirt's clients know them: UUIDs, the same for the same thing at all times.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The UUID of a thing: of its kind, and of the names that tell it from others of that kind. It
/// is of version 8, which leaves to us what it is made of.
pub(crate) fn of(kind: &str, names: &[&str]) -> String {
    let names = names.iter();
    made(names.fold(Sha256::new_with_prefix(kind), |digest, name| {
        named(digest, name)
    }))
    .to_string()
}

/// A digest that goes on with a name.
fn named(digest: Sha256, name: &str) -> Sha256 {
    // No name has this byte, so that no two lists of names are one text.
    digest.chain_update([0]).chain_update(name)
}

fn made(digest: Sha256) -> Uuid {
    let digest: [u8; 32] = digest.finalize().into();
    Uuid::new_v8(digest.first_chunk().copied().unwrap_or_default())
}

/// The UUIDs of the hosts or of the VMs of a cluster.
pub(crate) struct Ids {
    /// What all of them begin with.
    prefix: Sha256,
}

impl Ids {
    /// Those of a kind in a cluster.
    pub(crate) fn new(kind: &str, cluster: &str) -> Self {
        Self {
            prefix: named(Sha256::new_with_prefix(kind), cluster),
        }
    }

    /// The UUID of one: its own id, if that is a UUID already, as that of a host which comes from
    /// an engine.
    pub(crate) fn of(&self, id: &str) -> String {
        match is_uuid(id) {
            true => id.to_owned(),
            false => self.made(id).to_string(),
        }
    }

    /// The UUID that is made of an id; None: the id is one itself.
    pub(crate) fn made_of(&self, id: &str) -> Option<Uuid> {
        (!is_uuid(id)).then(|| self.made(id))
    }

    fn made(&self, id: &str) -> Uuid {
        made(named(self.prefix.clone(), id))
    }
}

/// Whether a text is written as UUIDs are.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_one_uuid_and_no_other_has_it() {
        let id = of("policy", &["mine"]);
        assert!(is_uuid(&id), "{id}");
        assert_eq!(id, of("policy", &["mine"]));
        for other in [
            of("policy", &["yours"]),
            of("cluster", &["mine"]),
            of("policy", &["mi", "ne"]),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn hosts_of_an_engine_have_their_ids() {
        let id = "7db4ab05-81ab-42e8-868a-aee2df483edb";
        let hosts = Ids::new("host", "c");
        assert_eq!(hosts.of(id), id);
        let made = hosts.of("h1");
        assert!(is_uuid(&made));
        assert_eq!(made, of("host", &["c", "h1"]));
        let uuid = Uuid::parse_str(&made).unwrap();
        assert_eq!(hosts.made_of("h1"), Some(uuid));
        assert_ne!(hosts.made_of("h2"), Some(uuid));
        assert_eq!(hosts.made_of(id), None, "it has an id of its own");
        assert_ne!(made, Ids::new("host", "d").of("h1"));
    }
}
