//! Placement keys: what is compiled of the keys on a VM's resources, and how well
//! the keys of a host go with them.
//!
//! What `placement-keys` and `customer-keys` have in common. They differ in which
//! of the two compiled sets they look at, and in what they compare it with.

#![forbid(unsafe_code)]

mod level;
mod number;
mod resource_key;

use placewright_sdk::prelude::*;

pub use level::Level;
pub use number::number;
pub use resource_key::ResourceKey;
use resource_key::Set;

/// A key to compare with: of a host, or of a VM that is placed there.
#[derive(Debug, Row)]
pub struct HostKey {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: f64,
}

/// A key of a compiled set.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: Text,
    /// The value that hosts are compared with.
    pub value: f64,
    /// What a key of the same value adds to a host's score; not 0.
    pub weight: f64,
}

impl Key {
    /// What a key of this name and that value adds to a host's score: the weight,
    /// less of it the further apart the values are, nothing from a distance of 1.
    #[inline]
    pub fn score(&self, value: f64) -> f64 {
        let proximity = (1.0 - (self.value - value).abs()).max(0.0);
        proximity * self.weight
    }
}

/// A compiled set: of every name the key at the lowest level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Compiles the system keys.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if there is no such level or class, a weight is no
    /// number, or a name is twice on one resource.
    pub fn system(keys: &Rows<ResourceKey>) -> Result<Self, Problem> {
        Self::compile(keys, Set::System)
    }

    /// Compiles the keys of customers and of billing entities together.
    ///
    /// # Errors
    ///
    /// As [`Keys::system`].
    pub fn customer(keys: &Rows<ResourceKey>) -> Result<Self, Problem> {
        Self::compile(keys, Set::Customer)
    }

    /// What is no placement key hides none above it.
    fn compile(keys: &Rows<ResourceKey>, set: Set) -> Result<Self, Problem> {
        let mut all = Vec::new();
        for key in keys {
            all.extend(key.placement_key(set)?);
        }
        all.sort_by(|(one_level, one), (other_level, other)| {
            (&one.name, one_level).cmp(&(&other.name, other_level))
        });
        refuse_twice(&all)?;
        let same_name = all.chunk_by(|(_, one), (_, other)| one.name == other.name);
        let lowest = same_name.filter_map(|keys| keys.last());
        Ok(Self(lowest.map(|(_, key)| key.clone()).collect()))
    }

    /// The keys, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Key> {
        self.0.iter()
    }

    /// The key of that name.
    pub fn get(&self, name: &str) -> Option<&Key> {
        self.0.iter().find(|key| *key.name == *name)
    }

    /// Those of which the name is wanted.
    pub fn named(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let wanted = self.0.iter().filter(|key| is_wanted(&key.name));
        Self(wanted.cloned().collect())
    }

    /// The values and weights of all keys, as facts about a row of `members`.
    pub fn facts(&self, member: u32) -> impl Iterator<Item = Fact> {
        self.iter().flat_map(
            move |Key {
                      name,
                      value,
                      weight,
                  }| {
                [
                    Fact::new(format!("value.{name}"), *value).about("members", member),
                    Fact::new(format!("weight.{name}"), *weight).about("members", member),
                ]
            },
        )
    }

    /// The score of these keys of a host: each adds to it that has a name of the
    /// set, also if the same name is there several times.
    #[inline]
    pub fn score(&self, others: &Rows<HostKey>) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let mut score = 0.0;
        for other in others {
            if let Some(key) = self.0.iter().find(|key| key.name == other.name) {
                score += key.score(other.value);
            }
        }
        score
    }
}

/// In a set, a resource has one key of a name. (That a name is there as a system
/// key too, is fine: the two never meet.)
fn refuse_twice(sorted: &[(Level, Key)]) -> Result<(), Problem> {
    let same = |[(one_level, one), (other_level, other)]: &&[(Level, Key); 2]| {
        one_level == other_level && one.name == other.name
    };
    let twice = sorted.array_windows().find(same);
    twice.map_or(Ok(()), |[(level, key), _]| {
        let (name, level) = (&key.name, level.number());
        Err(Problem::refused(format!(
            "the key {name:?} is twice on one resource, at level {level}: a resource has a name once"
        )))
    })
}

#[cfg(test)]
mod tests;
