//! Which of the keys on a VM's resources are placement keys.

use placewright_sdk::prelude::*;

use crate::{Key, Level, number};

/// A key on one of the resources that a VM is made of.
#[derive(Debug, Row)]
pub struct ResourceKey {
    /// Number of a [`Level`].
    pub level: i64,
    /// Which disk or NIC of the VM it is, from 0.
    pub index: Option<i64>,
    /// Who set it: `sys`, `be` or `cust`.
    pub class: Text,
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// How much it counts; nothing, if not given.
    pub weight: Option<f64>,
}

/// The two sets of keys that are compiled, each for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    System,
    Customer,
}

/// Who set a key.
#[derive(Clone, Copy)]
enum Class {
    System,
    BillingEntity,
    Customer,
}

impl Class {
    fn of(name: &str) -> Option<Self> {
        match name {
            "sys" => Some(Self::System),
            "be" => Some(Self::BillingEntity),
            "cust" => Some(Self::Customer),
            _ => None,
        }
    }

    fn set(self) -> Set {
        match self {
            Self::System => Set::System,
            Self::BillingEntity | Self::Customer => Set::Customer,
        }
    }

    /// May a placement key of this name be set on a resource of this level?
    fn may_set(self, name: &str, level: Level) -> bool {
        let special = name.starts_with('#');
        match self {
            Self::System => !name.starts_with('_'),
            Self::BillingEntity => !special,
            Self::Customer => !special && level.is_end_users(),
        }
    }
}

/// The greatest weight, with either sign. Far more than anyone needs, and sums of
/// such weights stay floats.
const GREATEST_WEIGHT: f64 = (1_u64 << 53) as f64;

impl ResourceKey {
    /// The key and its level, if it is a placement key of this set: its value is a
    /// number, it has a weight, who set it may do so there, and the resource is the
    /// first of its kind.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if there is no such level or class, or the weight is no
    /// number.
    pub(crate) fn placement_key(&self, set: Set) -> Result<Option<(Level, Key)>, Problem> {
        let level = self.known_level()?;
        let class = self.known_class()?;
        let weight = self.number_as_weight()?;
        let counts = class.set() == set
            && class.may_set(&self.name, level)
            && weight != 0.0
            && self.index.unwrap_or(0) == 0;
        let value = number(&self.value).filter(|_| counts);
        Ok(value.map(|value| {
            let name = self.name.clone();
            let key = Key {
                name,
                value,
                weight,
            };
            (level, key)
        }))
    }

    fn known_level(&self) -> Result<Level, Problem> {
        Level::of(self.level).ok_or_else(|| {
            let number = self.level;
            self.refused(&format!(
                "is at level {number}: levels go from 0 (cluster) to 15 (first NIC)"
            ))
        })
    }

    fn known_class(&self) -> Result<Class, Problem> {
        Class::of(&self.class).ok_or_else(|| {
            let class = &self.class;
            self.refused(&format!(
                "is of class {class:?}: classes are sys, be and cust"
            ))
        })
    }

    fn number_as_weight(&self) -> Result<f64, Problem> {
        let weight = self.weight.unwrap_or(0.0);
        if weight.is_nan() || weight.abs() > GREATEST_WEIGHT {
            return Err(self.refused(&format!(
                "has weight {weight:?}: weights are numbers from -2^53 to 2^53"
            )));
        }
        Ok(weight)
    }

    fn refused(&self, why: &str) -> Problem {
        Problem::refused(format!("the key {:?} {why}", self.name))
    }
}
