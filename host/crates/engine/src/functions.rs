//! Compiled functions in memory, so that of a unit that has changed a little, a little is
//! compiled.
//!
//! Whoever writes a unit hands it in again and again, and most functions are as they were;
//! units in one language share many, too. The compiler looks a function up by a digest of all
//! that its code follows from. So no code depends on what is kept here, only the time that
//! it takes to make it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wasmtime::CacheStore;

/// How much is kept: the functions of some twenty units of the usual size.
const MOST_BYTES: usize = 8 << 20;

/// What a function takes besides its key and its code, about.
const OVERHEAD: usize = 64;

type Half = HashMap<Box<[u8]>, Vec<u8>>;

/// Functions that were lately compiled or looked up.
#[derive(Debug, Default)]
pub(super) struct Functions(Mutex<Kept>);

/// When the younger half is full, it becomes the older one, and what that held is let go:
/// nobody has looked it up for as long as it took to fill half of the room.
#[derive(Default)]
struct Kept {
    younger: Half,
    older: Half,
    /// What the younger half takes.
    bytes: usize,
}

impl Functions {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheStore for Functions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        self.lock().get(key).map(Cow::Owned)
    }

    fn insert(&self, key: &[u8], code: Vec<u8>) -> bool {
        self.lock().put(key.into(), code)
    }
}

impl Kept {
    fn get(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        if let Some(code) = self.younger.get(key) {
            return Some(code.clone());
        }
        let (key, code) = self.older.remove_entry(key)?;
        self.put(key, code.clone());
        Some(code)
    }

    /// False if it is too large to be kept.
    fn put(&mut self, key: Box<[u8]>, code: Vec<u8>) -> bool {
        const HALF: usize = MOST_BYTES / 2;
        let with_key = key.len() + OVERHEAD;
        let bytes = with_key + code.len();
        if bytes > HALF {
            return false;
        }
        if self.bytes + bytes > HALF {
            self.older = mem::take(&mut self.younger);
            self.bytes = 0;
        }
        self.bytes += bytes;
        // Two threads may have compiled the same one.
        if let Some(same) = self.younger.insert(key, code) {
            self.bytes -= with_key + same.len();
        }
        true
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let functions = self.younger.len() + self.older.len();
        f.debug_struct("Kept")
            .field("functions", &functions)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wasmtime::component::Component;
    use wasmtime::{Config, Engine};

    use super::super::{Limits, settings};
    use super::*;
    use placewright_plugins as plugins;

    fn key(number: usize) -> [u8; 8] {
        number.to_le_bytes()
    }

    #[test]
    fn what_was_looked_up_lately_is_kept_and_the_rest_is_let_go_in_time() {
        let functions = Functions::default();
        let code = vec![7; 1 << 20];
        for number in 0..20 {
            assert!(functions.insert(&key(number), code.clone()));
            assert_eq!(functions.get(&key(0)).as_deref(), Some(&*code));
        }
        assert_eq!(functions.get(&key(1)), None);
        let kept = functions.lock();
        let bytes = |half: &Half| half.values().map(Vec::len).sum::<usize>();
        assert!(bytes(&kept.younger) + bytes(&kept.older) <= MOST_BYTES);
    }

    #[test]
    fn what_takes_more_than_half_of_the_room_drives_nothing_out() {
        let functions = Functions::default();
        functions.insert(&key(0), vec![1]);
        assert!(!functions.insert(&key(1), vec![1; MOST_BYTES]));
        assert!(functions.get(&key(0)).is_some());
    }

    #[test]
    fn code_is_the_same_bit_for_bit_whatever_was_compiled_before() {
        let functions = Arc::new(Functions::default());
        let keeping = |config: &mut Config| {
            let functions = functions.clone();
            config.enable_incremental_compilation(functions).unwrap();
        };
        let engine = |set: &dyn Fn(&mut Config)| {
            let mut config = settings(&Limits::default());
            set(&mut config);
            Engine::new(&config).unwrap()
        };
        let (plain, keeping) = (engine(&|_| {}), engine(&keeping));
        let code = |engine: &Engine, bytes: &[u8]| {
            let component = Component::new(engine, bytes).unwrap();
            component.serialize().unwrap()
        };
        let mut units = plugins::UNITS.iter().map(|unit| unit.bytes);
        let [one, other]: [&[u8]; 2] = [units.next().unwrap(), units.next_back().unwrap()];
        for bytes in [one, other, one] {
            assert!(code(&plain, bytes) == code(&keeping, bytes));
        }
        assert!(!functions.lock().younger.is_empty());
    }
}
