//! One number for all decisions of a replay, so that two programs can be compared
//! bit for bit.

use std::hash::Hasher;

use fnv::FnvHasher;

/// What stands for the host of an arrival that was rejected.
const REJECTED: u32 = u32::MAX;

/// FNV-1a, 64 bits, over one little-endian 32-bit number per arrival.
#[derive(Default)]
pub(super) struct DecisionHash(FnvHasher);

impl DecisionHash {
    /// Take the next arrival in: the number of its host, or none if it was rejected.
    pub(super) fn decided(&mut self, host: Option<u32>) {
        self.0.write(&host.unwrap_or(REJECTED).to_le_bytes());
    }

    /// The hash so far, as 16 hexadecimal digits.
    pub(super) fn digits(&self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let mut hash = DecisionHash::default();
        assert_eq!(hash.digits(), "cbf29ce484222325");
        for host in [Some(0), Some(1), None, Some(258)] {
            hash.decided(host);
        }
        // Worked out by hand from offset and prime, byte by byte.
        let mut expected: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in [0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 2, 1, 0, 0] {
            expected = (expected ^ byte).wrapping_mul(0x100_0000_01b3);
        }
        assert_eq!(hash.digits(), format!("{expected:016x}"));
    }
}
