//! VMs as they usually come, put in order once, so that a host is looked at quickly.

use gpu_room::WHOLE;
use placewright_sdk::prelude::*;

/// One shape of typical VMs.
#[derive(Clone, Row)]
pub struct Shape {
    /// CPU of such a VM, in cores.
    pub cpu: f64,
    /// How many GPUs it needs; 0 if none.
    pub gpus: i64,
    /// Thousandths that it needs of each GPU.
    pub share: i64,
    /// Models that it accepts, with | between them; any if not given.
    pub models: Option<Text>,
    /// How many such VMs there are: shapes count in proportion to it.
    pub weight: i64,
}

/// Bounds that keep sums far below 2^63.
const MOST_CORES: f64 = 1_000_000.0;
const MOST_GPUS: i64 = 1 << 20;
const MOST_WEIGHT: i64 = 1_000_000_000;

impl Shape {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        if !(0.0..=MOST_CORES).contains(&self.cpu) {
            Some("cpu must be from 0 to 1000000 cores")
        } else if !(0..=MOST_GPUS).contains(&self.gpus) {
            Some("gpus must be from 0 to 1048576")
        } else if !(0..=WHOLE).contains(&self.share) {
            Some("share must be from 0 to 1000")
        } else if !(0..=MOST_WEIGHT).contains(&self.weight) {
            Some("weight must be from 0 to 1000000000")
        } else {
            None
        }
    }

    /// Its CPU as hosts count it, to the nearest thousandth of a core.
    pub fn millicores(&self) -> i64 {
        (self.cpu * 1000.0).round() as i64
    }
}

/// The typical shapes that want GPUs.
#[derive(Default)]
pub struct Typical {
    /// The weight of all shapes, those without GPUs included.
    pub total: i64,
    /// By share, then by number of GPUs and models.
    pub groups: Vec<Group>,
    /// Each CPU, with the weight of the shapes of its group that need no more.
    steps: Vec<(i64, i64)>,
    /// The lists of models that shapes accept.
    pub models: Vec<Text>,
}

/// Shapes that differ in CPU alone.
pub struct Group {
    pub share: i64,
    pub gpus: i64,
    /// Which of the lists of models; none: any model.
    pub models: Option<usize>,
    /// The place of its first step, and behind its last.
    steps: (usize, usize),
}

impl Typical {
    /// These shapes, put in order. One that is wrong counts for nothing: policies are
    /// checked before.
    pub fn of(shapes: &Rows<Shape>) -> Self {
        let mut typical = Self {
            groups: Vec::with_capacity(shapes.len()),
            steps: Vec::with_capacity(shapes.len()),
            ..Self::default()
        };
        let mut sorted = Vec::with_capacity(shapes.len());
        for shape in shapes.iter().filter(|shape| shape.problem().is_none()) {
            typical.total += shape.weight;
            if shape.gpus > 0 {
                let cpu = shape.millicores();
                let models = shape.models.clone().map(|models| typical.list(models));
                sorted.push((place(&shape, models, cpu), cpu, shape.weight));
            }
        }
        sorted.sort_unstable_by_key(|(place, ..)| *place);
        for alike in sorted.chunk_by(|a, b| group(a.0) == group(b.0)) {
            let first = typical.steps.len();
            let mut weight = 0;
            for (_, cpu, more) in alike {
                weight += more;
                typical.steps.push((*cpu, weight));
            }
            let (share, gpus, models) = wanted(alike[0].0);
            typical.groups.push(Group {
                share,
                gpus,
                models,
                steps: (first, typical.steps.len()),
            });
        }
        typical
    }

    fn list(&mut self, models: Text) -> usize {
        let known = self.models.iter().position(|known| *known == models);
        known.unwrap_or_else(|| {
            self.models.push(models);
            self.models.len() - 1
        })
    }

    /// The weight of the shapes of a group that need no more CPU than `cpu`, and of
    /// those that need no more than `left`, which is not more.
    #[inline]
    pub fn weights(&self, group: &Group, cpu: i64, left: i64) -> (i64, i64) {
        let steps = &self.steps[group.steps.0..group.steps.1];
        // Most hosts have enough for most: the greatest come first.
        let mut steps = steps.iter().rev().skip_while(|(need, _)| *need > cpu);
        let Some((need, weight)) = steps.next() else {
            return (0, 0);
        };
        if *need <= left {
            return (*weight, *weight);
        }
        let enough = steps.find(|(need, _)| *need <= left);
        (*weight, enough.map_or(0, |(_, weight)| *weight))
    }

    /// Which of the lists name this model.
    pub fn lists_with(&self, model: Option<&Text>) -> Vec<bool> {
        let names = |list: &Text| {
            model.is_some_and(|model| list.split('|').any(|name| name.trim() == model.as_str()))
        };
        self.models.iter().map(names).collect()
    }
}

/// Bits of a place in the order for the CPU, the list of models and the number of GPUs, by the
/// bounds of these.
const CPU_BITS: u32 = 30;
const MODELS_BITS: u32 = 32;
const GPUS_BITS: u32 = 21;

/// The place of a shape in the order by share, number of GPUs, models and CPU: one number, since
/// all shapes are sorted in each call.
fn place(shape: &Shape, models: Option<usize>, cpu: i64) -> u128 {
    // As bounded, none of these is negative.
    let models = models.map_or(0, |list| list as u128 + 1);
    let of_gpus = ((shape.share as u128) << GPUS_BITS) | shape.gpus as u128;
    (((of_gpus << MODELS_BITS) | models) << CPU_BITS) | cpu as u128
}

/// The same for all shapes that differ in CPU alone.
fn group(place: u128) -> u128 {
    place >> CPU_BITS
}

/// Share, number of GPUs and models of a shape at that place.
fn wanted(place: u128) -> (i64, i64, Option<usize>) {
    let part = |bits_below: u32, bits: u32| (place >> bits_below) & ((1 << bits) - 1);
    let models = part(CPU_BITS, MODELS_BITS) as usize;
    let gpus = part(CPU_BITS + MODELS_BITS, GPUS_BITS) as i64;
    let share = (place >> (CPU_BITS + MODELS_BITS + GPUS_BITS)) as i64;
    (share, gpus, models.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn shape(cores: i32, gpus: i64, share: i64, models: Option<&str>, weight: i64) -> Shape {
        Shape {
            cpu: cores.into(),
            gpus,
            share,
            models: models.map(Text::from),
            weight,
        }
    }

    #[test]
    fn shapes_are_put_together_by_what_they_want_of_gpus() {
        let shapes = vec![
            shape(8, 1, 1000, None, 30),
            shape(4, 1, 500, None, 20),
            shape(2, 1, 1000, None, 10),
            shape(2, 1, 1000, Some("T4|A10"), 5),
            shape(64, 0, 1000, None, 35),
        ];
        let typical = Typical::of(&shapes.into());
        assert_eq!(typical.total, 100);
        let groups = typical.groups.iter();
        let shares: Vec<i64> = groups.map(|group| group.share).collect();
        assert_eq!(shares, [500, 1000, 1000]);
        let weights = |cores: i64, left: i64| {
            let groups = typical.groups.iter();
            let weights = |group| typical.weights(group, cores * 1000, left * 1000);
            groups.map(weights).collect::<Vec<_>>()
        };
        assert_eq!(weights(1, 0), [(0, 0); 3]);
        assert_eq!(weights(4, 4), [(20, 20), (10, 10), (5, 5)]);
        assert_eq!(weights(8, 3), [(20, 0), (40, 10), (5, 5)]);
        assert_eq!(weights(9, 1), [(20, 0), (40, 0), (5, 0)]);
    }

    #[test]
    fn cpu_counts_cores_to_the_nearest_thousandth() {
        for millicores in [0, 1, 8, 500, 1001, 11_300, 999_999_999] {
            let mut some = shape(0, 1, 1000, None, 1);
            some.cpu = f64::from(millicores) / 1000.0;
            assert_eq!(some.millicores(), i64::from(millicores));
        }
    }

    #[test]
    fn a_list_names_whole_models() {
        let shapes = vec![shape(1, 1, 1000, Some("V100M16 | A10"), 1)];
        let typical = Typical::of(&shapes.into());
        let with = |model: &str| typical.lists_with(Some(&model.into()));
        assert_eq!((with("A10"), with("V100")), (vec![true], vec![false]));
        assert_eq!(typical.lists_with(None), [false]);
    }

    #[test]
    fn a_wrong_shape_is_told_and_counts_for_nothing() {
        assert!(shape(1, 1, 1001, None, 1).problem().is_some());
        assert!(shape(1, 1, 1000, None, -1).problem().is_some());
        assert!(shape(-1, 1, 1000, None, 1).problem().is_some());
        assert!(shape(1_000_001, 1, 1000, None, 1).problem().is_some());
        let mut no_number = shape(1, 1, 1000, None, 1);
        no_number.cpu = f64::NAN;
        assert!(no_number.problem().is_some());
        assert!(shape(1, -1, 1000, None, 1).problem().is_some());
        assert_eq!(shape(0, 0, 0, None, 0).problem(), None);
        assert_eq!(
            Typical::of(&vec![shape(1, 1, 1001, None, 1)].into()).total,
            0
        );
    }
}
