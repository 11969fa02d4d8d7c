//! Gives freed memory back to the system. The allocator of glibc keeps what was freed for whatever
//! comes next, by thread: large documents, which one thread reads and others carry out and drop,
//! leave several times their size behind.

/// See to it as long as the program runs.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn give_back() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) use glibc::give_back;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::time::{Duration, Instant};
    use std::{fs, thread};

    /// So often it is looked how much memory is resident.
    const EVERY: Duration = Duration::from_millis(250);

    /// And so often, how much of it is in use, even if hardly more is resident: what was removed
    /// is freed without any growth.
    const AT_LEAST: Duration = Duration::from_secs(5);

    /// Bytes that are too few to look more closely for.
    const LITTLE: u64 = 16 << 20;

    /// Bytes freed, and resident all the same, from which on they are given back.
    const MUCH: u64 = 64 << 20;

    /// See to it as long as the program runs.
    pub(in super::super) fn give_back() {
        let begun = thread::Builder::new().name("memory".to_owned()).spawn(|| {
            let mut seen = Seen::default();
            while let Some(resident) = resident() {
                if seen.is_to_be_looked_at(resident) {
                    seen.look(resident);
                }
                thread::sleep(EVERY);
            }
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "freed memory is not given back to the system");
        }
    }

    /// What was seen last. Bytes.
    #[derive(Debug, Default)]
    struct Seen {
        /// When it was looked closely, and what was resident then.
        looked: Option<(Instant, u64)>,
        /// What was resident and not in use after memory was given back, or before any was freed:
        /// code, stacks, units.
        spare: u64,
    }

    impl Seen {
        fn is_to_be_looked_at(&self, resident: u64) -> bool {
            self.looked
                .is_none_or(|(at, before)| resident >= before + LITTLE || at.elapsed() >= AT_LEAST)
        }

        fn look(&mut self, mut resident: u64) {
            let spare = |resident: u64| resident.saturating_sub(in_use());
            if self.is_much(spare(resident)) {
                trim();
                resident = self::resident().unwrap_or(resident);
                self.spare = spare(resident);
            }
            self.looked = Some((Instant::now(), resident));
        }

        /// Whether so much is resident and not in use that it is to be given back.
        fn is_much(&mut self, spare: u64) -> bool {
            // What units and stacks took may be given back meanwhile.
            self.spare = self.spare.min(spare);
            spare >= self.spare + MUCH
        }
    }

    /// Resident memory of this process in bytes; None: the system does not say.
    fn resident() -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
        let number: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(number * 1024)
    }

    /// Bytes that the allocator has given out.
    #[expect(unsafe_code, reason = "there is no other way to ask the allocator")]
    fn in_use() -> u64 {
        // SAFETY: it takes nothing, and may be called at any time by any thread.
        let info = unsafe { libc::mallinfo2() };
        (info.uordblks as u64).saturating_add(info.hblkhd as u64)
    }

    /// Have the allocator give back all pages that hold nothing.
    #[expect(unsafe_code, reason = "there is no other way to ask the allocator")]
    fn trim() {
        // SAFETY: it may be called at any time by any thread, and what is in use stays as it is.
        unsafe { libc::malloc_trim(0) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn memory_is_given_back_once_much_is_resident_and_not_in_use() {
            let mut seen = Seen {
                looked: None,
                spare: 100 << 20,
            };
            assert!(!seen.is_much(150 << 20));
            assert!(seen.is_much(164 << 20));
            assert!(!seen.is_much(40 << 20));
            assert!(seen.is_much(104 << 20), "less is spare by now");
        }

        #[test]
        fn what_is_resident_is_looked_at_as_it_grows_and_now_and_then() {
            let mut seen = Seen::default();
            assert!(seen.is_to_be_looked_at(0));
            let now = Instant::now();
            seen.looked = Some((now, 100 << 20));
            assert!(!seen.is_to_be_looked_at(110 << 20));
            assert!(seen.is_to_be_looked_at(116 << 20));
            seen.looked = now.checked_sub(AT_LEAST).map(|at| (at, 100 << 20));
            assert!(seen.is_to_be_looked_at(100 << 20));
        }
    }
}
