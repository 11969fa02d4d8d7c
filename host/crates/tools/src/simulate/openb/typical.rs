//! The shapes of pods as they usually come, for units that go by them.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_model::Facts;
use placewright_policy::{Policy, Settings};

use super::files::Pod;

/// Shapes are typical that make up so much of the pods, the most frequent first, in
/// percent.
const TYPICAL_PCT: usize = 95;

/// The setting that holds them.
const SETTING: &str = "typical";

/// A shape, which memory does not count for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Millicores.
    pub cpu: i64,
    /// How many GPUs.
    pub gpus: i64,
    /// Thousandths of each.
    pub share: i64,
    /// The models that it accepts, with | between them; empty: any.
    pub models: Arc<str>,
}

impl Shape {
    fn of(pod: &Pod) -> Self {
        Self {
            cpu: pod.cpu,
            gpus: pod.gpus,
            share: pod.share,
            models: pod.models.clone(),
        }
    }

    /// As units are given it, with its CPU in cores.
    fn row(&self, weight: usize) -> Facts {
        let row = Facts::new()
            .with("cpu", self.cpu as f64 / 1000.0)
            .with("gpus", self.gpus)
            .with("share", self.share)
            .with("weight", i64::try_from(weight).unwrap_or(i64::MAX));
        match self.models.is_empty() {
            true => row,
            false => row.with("models", &*self.models),
        }
    }
}

/// The shapes that make up 95 % of the pods, the most frequent first, with how many
/// pods have each.
pub fn typical(pods: &[Pod]) -> Vec<(Shape, usize)> {
    let mut counts: BTreeMap<Shape, usize> = BTreeMap::new();
    for pod in pods {
        *counts.entry(Shape::of(pod)).or_default() += 1;
    }
    let mut shapes: Vec<(Shape, usize)> = counts.into_iter().collect();
    // Equally frequent ones stay in their own order.
    shapes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut covered = 0;
    shapes
        .into_iter()
        .take_while(|(_, count)| {
            let wanted = covered * 100 < pods.len() * TYPICAL_PCT;
            covered += count;
            wanted
        })
        .collect()
}

/// The policy, with these shapes for every unit that has the setting `typical` and was
/// given none.
pub fn with_typical(policy: &Policy, shapes: &[(Shape, usize)]) -> Policy {
    let rows: Vec<Facts> = shapes
        .iter()
        .map(|(shape, count)| shape.row(*count))
        .collect();
    let mut policy = policy.clone();
    let of_stages = policy.stages.iter_mut().flat_map(|stage| {
        let filters = stage.filters.iter_mut().map(|entry| &mut entry.settings);
        let costs = stage.costs.iter_mut().map(|entry| &mut entry.settings);
        filters.chain(costs)
    });
    let effects = policy.effects.iter_mut().map(|entry| &mut entry.settings);
    for settings in of_stages.chain(effects) {
        fill(settings, &rows);
    }
    policy
}

fn fill(settings: &mut Settings, rows: &[Facts]) {
    let tables = settings.table_names.iter().zip(&mut settings.tables);
    for (_, table) in tables.filter(|(name, table)| &***name == SETTING && table.is_empty()) {
        *table = rows.to_vec();
    }
}
