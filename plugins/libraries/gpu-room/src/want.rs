//! What one VM wants of the GPUs of a host.

use placewright_sdk::prelude::*;

use crate::give::ChosenGpu;
use crate::held::{Beyond, Current};

/// All of a GPU, in thousandths.
pub const WHOLE: i64 = 1000;

/// A model of GPU that a VM accepts.
#[derive(Clone, Debug, PartialEq, Row)]
pub struct Model {
    /// Its name.
    pub model: Text,
}

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    /// Promised CPU.
    pub cpu: Millicores,
    /// Promised memory.
    pub memory: Bytes,
    /// How many GPUs it needs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths that it needs of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
    /// Models that it accepts; any if none is named.
    #[table("gpu-models")]
    pub models: Rows<Model>,
}

/// What is read of each VM to be placed where CPU and memory are for others to judge.
#[derive(Row)]
pub struct GpuVm {
    /// How many GPUs it needs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths that it needs of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
    /// Models that it accepts; any if none is named.
    #[table("gpu-models")]
    pub models: Rows<Model>,
}

/// What is read of a VM where only its GPUs count.
#[derive(Clone, Row)]
pub struct Size {
    /// How many GPUs it needs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths that it needs of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
}

impl Size {
    /// How many GPUs, and thousandths of each.
    pub fn of_gpus(&self) -> (i64, i64) {
        (self.count.unwrap_or(0), self.share.unwrap_or(WHOLE))
    }
}

/// What is read of a VM where its CPU counts besides.
#[derive(Row)]
pub struct Asked {
    /// Promised CPU.
    pub cpu: Millicores,
    /// How many GPUs it needs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths that it needs of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
}

impl Asked {
    /// What this VM wants, of whatever model.
    pub fn want(&self) -> Want {
        Want {
            cpu: self.cpu.0,
            count: self.count.unwrap_or(0),
            share: self.share.unwrap_or(WHOLE),
            models: Vec::new(),
        }
    }
}

/// What a VM wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// Millicores.
    pub cpu: i64,
    /// How many GPUs; none if not above 0.
    pub count: i64,
    /// Thousandths of each.
    pub share: i64,
    models: Vec<Text>,
}

impl Want {
    /// What this VM wants.
    pub fn of(vm: &Vm) -> Self {
        Self {
            cpu: vm.cpu.0,
            ..Self::new(vm.count, vm.share, &vm.models)
        }
    }

    /// What this VM wants of GPUs alone.
    pub fn of_gpus(vm: &GpuVm) -> Self {
        Self::new(vm.count, vm.share, &vm.models)
    }

    fn new(count: Option<i64>, share: Option<i64>, models: &Rows<Model>) -> Self {
        let count = count.unwrap_or(0);
        Self {
            cpu: 0,
            count,
            share: share.unwrap_or(WHOLE),
            models: match count {
                1.. => models.iter().map(|row| row.model).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// May its GPUs be of this model?
    #[inline]
    pub fn accepts(&self, model: Option<&Text>) -> bool {
        self.models.is_empty() || model.is_some_and(|model| self.models.contains(model))
    }

    /// Is there room for it on these GPUs?
    #[inline]
    pub fn fits(&self, gpus: &Rows<ChosenGpu>) -> bool {
        self.count <= 0 || self.fitting(gpus.iter().map(|gpu| gpu.free)) >= self.count
    }

    /// Thousandths of all its GPUs together.
    pub fn thousandths(&self) -> i64 {
        self.count.max(0).saturating_mul(self.share)
    }

    /// On how many of these GPUs there is room.
    #[inline]
    pub fn fitting(&self, free: impl Iterator<Item = i64>) -> i64 {
        free.map(|free| i64::from(free >= self.share)).sum()
    }

    /// The GPUs with the least room that is enough, the first of equal ones; none if
    /// they are too few.
    pub fn least_room(&self, free: &[i64]) -> Option<Vec<usize>> {
        let wanted = usize::try_from(self.count).unwrap_or(0);
        let mut places: Vec<usize> = (0..free.len())
            .filter(|place| free[*place] >= self.share)
            .collect();
        places.sort_by_key(|place| free[*place]);
        (wanted <= places.len()).then(|| {
            places.truncate(wanted);
            places
        })
    }

    /// Takes the GPUs with the least room that is enough, and says which.
    pub fn take(&self, free: &mut [i64]) -> Option<Vec<usize>> {
        let places = self.least_room(free)?;
        for place in &places {
            free[*place] -= self.share;
        }
        Some(places)
    }

    /// What a member takes of the GPUs of a host, with these numbers and so much free of each,
    /// beyond what it holds there.
    #[must_use]
    pub fn beyond_held(
        &self,
        member: i64,
        current: &Rows<Current>,
        indices: &[i64],
        free: &[i64],
    ) -> Beyond {
        let mut here = current.iter().filter(|row| row.member == member);
        match here.next() {
            Some(held) => Beyond::of(self, &held, indices, free),
            None => Beyond::all(self),
        }
    }

    /// May the GPUs of a member be of the host's model? Of one that it does not accept it goes on
    /// with what it holds there, if it asks for just the models that it has asked for before; it
    /// is given neither another GPU of it nor more of its own ones.
    pub fn has_model(
        &self,
        member: i64,
        current: &Rows<Current>,
        gpus: &Rows<ChosenGpu>,
        model: Option<&Text>,
    ) -> bool {
        if self.count <= 0 || self.accepts(model) {
            return true;
        }
        let indices: Vec<i64> = gpus.iter().map(|gpu| gpu.index).collect();
        let free: Vec<i64> = gpus.iter().map(|gpu| gpu.free).collect();
        let mut here = current.iter().filter(|row| row.member == member);
        here.any(|row| {
            let known: Vec<Text> = row.models.iter().map(|row| row.model).collect();
            known == self.models && Beyond::of(self, &row, &indices, &free).is_nothing()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(count: i64, share: i64) -> Want {
        Want {
            cpu: 0,
            count,
            share,
            models: Vec::new(),
        }
    }

    #[test]
    fn the_least_room_that_is_enough_is_taken() {
        let mut free = [1000, 400, 700, 400, 300];
        assert_eq!(want(1, 350).take(&mut free), Some(vec![1]));
        assert_eq!(free, [1000, 50, 700, 400, 300]);
        assert_eq!(want(2, 350).least_room(&free), Some(vec![3, 2]));
        assert_eq!(want(4, 350).least_room(&free), None);
        assert_eq!(want(0, 0).least_room(&free), Some(vec![]));
    }
}
