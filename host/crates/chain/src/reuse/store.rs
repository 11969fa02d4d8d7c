//! Things that are kept from their second use on, found by what they are about.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// So many keys are remembered at most for nothing but that they were seen.
const REMEMBERED: usize = 1 << 13;

/// Kept things by key, with the memory of keys that were seen.
#[derive(Debug)]
pub(crate) struct Store<T> {
    places: HashMap<Box<[u64]>, Place, RandomState>,
    kept: Vec<Option<Kept<T>>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Kept<T> {
    key: Box<[u64]>,
    thing: T,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the decision of that number.
    Seen(u64),
    Evicted,
    Kept(usize),
}

/// What is known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Seen in no decision before.
    New,
    /// Seen in an earlier decision: it is worth keeping.
    Again,
    /// It was kept, and given up for want of room.
    Evicted,
    /// It is kept in this place.
    Kept(usize),
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            places: HashMap::default(),
            kept: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Store<T> {
    /// Look for a key in the decision of that number, and remember that it was seen.
    pub(crate) fn find(&mut self, key: &[u64], decision: u64) -> Found {
        match self.places.get(key) {
            Some(Place::Kept(place)) => Found::Kept(*place),
            Some(Place::Seen(earlier)) if *earlier == decision => Found::New,
            Some(Place::Seen(_)) => Found::Again,
            Some(Place::Evicted) => Found::Evicted,
            None => {
                if self.places.len() - self.len() >= REMEMBERED {
                    self.places
                        .retain(|_, place| matches!(place, Place::Kept(_)));
                }
                self.places.insert(key.into(), Place::Seen(decision));
                Found::New
            }
        }
    }

    /// Keep something under a key, and tell its place.
    pub(crate) fn insert(&mut self, key: &[u64], thing: T) -> usize {
        let kept = Some(Kept {
            key: key.into(),
            thing,
        });
        let place = match self.free.pop() {
            Some(place) => {
                self.kept[place] = kept;
                place
            }
            None => {
                self.kept.push(kept);
                self.kept.len() - 1
            }
        };
        self.places.insert(key.into(), Place::Kept(place));
        place
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        Some(&self.kept.get(place)?.as_ref()?.thing)
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        Some(&mut self.kept.get_mut(place)?.as_mut()?.thing)
    }

    /// Give something up that takes so many bytes as `of` says, and remember that it was
    /// kept. The bytes that are free now.
    pub(crate) fn evict(&mut self, place: usize, of: impl Fn(&T) -> usize) -> usize {
        let Some(kept) = self.kept.get_mut(place).and_then(Option::take) else {
            return 0;
        };
        let bytes = of(&kept.thing) + Self::overhead(&kept.key);
        self.places.insert(kept.key, Place::Evicted);
        self.free.push(place);
        bytes
    }

    /// The bytes of all that is kept, each thing of so many as `of` says, with its key.
    pub(crate) fn bytes(&self, of: impl Fn(&T) -> usize) -> usize {
        let kept = self.kept.iter().flatten();
        kept.map(|it| of(&it.thing) + Self::overhead(&it.key)).sum()
    }

    /// The bytes that something takes whatever it is: it, and its key, which stands in
    /// two places.
    pub(crate) fn overhead(key: &[u64]) -> usize {
        size_of::<Kept<T>>() + 2 * size_of_val(key) + size_of::<(Box<[u64]>, Place)>()
    }

    /// All that is kept, with the places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let kept = self.kept.iter().enumerate();
        kept.filter_map(|(place, kept)| Some((place, &kept.as_ref()?.thing)))
    }

    /// How much is kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_from_its_second_use_and_after_its_eviction() {
        let mut store = Store::default();
        assert_eq!(store.find(&[1, 2], 1), Found::New);
        assert_eq!(store.find(&[1, 2], 1), Found::New);
        assert_eq!(store.find(&[1, 2], 2), Found::Again);
        let place = store.insert(&[1, 2], "kept");
        assert_eq!(store.find(&[1, 2], 2), Found::Kept(place));
        assert_eq!(store.find(&[1], 2), Found::New);
        assert!(store.evict(place, |_| 10) > 10);
        assert_eq!((store.len(), store.get(place)), (0, None));
        assert_eq!(store.find(&[1, 2], 3), Found::Evicted);
        assert_eq!(store.insert(&[1, 2], "again"), place);
    }

    #[test]
    fn keys_that_never_come_back_are_forgotten() {
        let mut store = Store::default();
        store.find(&[0], 1);
        let place = store.insert(&[0], ());
        for key in 1..=2 * REMEMBERED as u64 {
            store.find(&[key], key);
        }
        assert!(store.places.len() <= REMEMBERED + 1);
        assert_eq!(store.find(&[0], 1), Found::Kept(place));
    }
}
