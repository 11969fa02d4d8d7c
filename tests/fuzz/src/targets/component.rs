//! Bytes that are taken for a unit, up to the end of inspection; and signatures.

use std::sync::OnceLock;

use placewright_engine::Limits;
use placewright_engine::unit::Inspected;
use placewright_library::signature::{Key, Signatures};

/// Inspection ends in a result, whatever the bytes.
pub(crate) fn component(input: &[u8]) {
    match Inspected::new(input, &Limits::default()) {
        Ok(inspected) => {
            let shown = inspected.to_string();
            assert!(shown.contains("exports"), "{shown}");
            assert_eq!(inspected.digest().to_string().len(), 64);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// No signature that was not made with the key is taken for one: not within the bytes and not
/// beside them.
pub(crate) fn signature(input: &[u8]) {
    static KEY: OnceLock<Key> = OnceLock::new();
    // The y of the curve's base point: a key of which nobody here has the secret.
    let key = KEY.get_or_init(|| {
        let key = format!("58{}", "66".repeat(31));
        Key::new("somebody", &key).expect("a point of the curve")
    });
    let trusted = Signatures {
        keys: vec![key.clone()],
        require: true,
    };
    let (bytes, beside) = input.split_at(input.len() / 2);
    for beside in [None, Some(beside)] {
        assert!(trusted.check(bytes, beside).is_err(), "nobody signed this");
    }
    if let Ok(text) = std::str::from_utf8(input) {
        // What is a key has a name and 32 bytes.
        if let Ok(key) = Key::new("it", text) {
            assert_eq!(key.bytes().len(), 32);
        }
    }
}
