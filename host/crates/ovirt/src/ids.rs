//! Ids as oVirt's clients know them: UUIDs, the same for the same thing at all times.

use sha2::{Digest, Sha256};

/// The UUID of a thing: of its kind, and of the names that tell it from others of that kind. It
/// is of version 8, which leaves to us what it is made of.
pub(crate) fn of(kind: &str, names: &[&str]) -> String {
    let mut digest = Sha256::new();
    digest.update(kind);
    for name in names {
        // No name has this byte, so that no two lists of names are one text.
        digest.update([0]);
        digest.update(name);
    }
    let digest: [u8; 32] = digest.finalize().into();
    let mut bytes: [u8; 16] = digest.first_chunk().copied().unwrap_or_default();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex::encode(bytes);
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    let parts = parts.map(|(from, to)| text.get(from..to).unwrap_or_default());
    parts.join("-")
}

/// The UUID of a host or VM: its own id, if that is one already, as that of a host which comes
/// from an engine.
pub(crate) fn own_or_made(kind: &str, cluster: &str, id: &str) -> String {
    match is_uuid(id) {
        true => id.to_owned(),
        false => of(kind, &[cluster, id]),
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
        assert_eq!(own_or_made("host", "c", id), id);
        assert!(is_uuid(&own_or_made("host", "c", "h1")));
        assert_ne!(
            own_or_made("host", "c", "h1"),
            own_or_made("host", "d", "h1")
        );
    }
}
