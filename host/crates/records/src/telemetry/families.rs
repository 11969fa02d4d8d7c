//! Every family of metrics that a server can have, for whoever describes or reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{
    BalanceOutcome, Breaker, Capacity, ClusterCapacity, MoveChange, Outcome, QuotaAmount,
    QuotaLevel, ReservationEnd, StatisticsAge, Telemetry,
};

/// A family of metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricFamily {
    /// Its name in OpenMetrics: that of a counter's samples without `_total`.
    pub name: String,
    /// "counter", "gauge", "histogram" or "info".
    pub kind: String,
    /// What it counts or measures: a sentence.
    pub help: String,
    /// By what its samples differ, each label with all values that it can have; none where
    /// these are not known before.
    pub labels: BTreeMap<String, BTreeSet<String>>,
}

impl MetricFamily {
    /// The names that its samples have.
    pub fn samples(&self) -> Vec<String> {
        let name = &self.name;
        match &*self.kind {
            "counter" => vec![format!("{name}_total")],
            "info" => vec![format!("{name}_info")],
            "histogram" => ["_bucket", "_sum", "_count"]
                .map(|suffix| format!("{name}{suffix}"))
                .to_vec(),
            _ => vec![name.clone()],
        }
    }
}

/// Every family that a server can have on this platform, in the order in which it tells of them.
pub fn families() -> Vec<MetricFamily> {
    // A family is only told of when it has a sample.
    let telemetry = Telemetry::new();
    let capacity = fill(&telemetry);
    let limited = QuotaAmount {
        used: 0.0,
        limit: Some(0.0),
    };
    let quota = QuotaLevel {
        cpu: limited,
        memory: limited,
        gpus: limited,
        vms: limited,
        ..QuotaLevel::default()
    };
    read(&telemetry.text_with(&capacity, &[quota]).unwrap_or_default())
}

/// Have a sample of everything.
fn fill(telemetry: &Telemetry) -> [ClusterCapacity; 1] {
    let cluster = telemetry.clusters.of("");
    cluster.decided(Outcome::Placed);
    cluster.balanced(BalanceOutcome::Planned);
    cluster.rejected("", 1);
    cluster.rejected_for("");
    cluster.unheeded(&"".into());
    cluster.reservation_ended(ReservationEnd::Confirmed);
    cluster.moved(MoveChange::Begun);
    cluster.chain_took(Duration::ZERO);
    let unit = telemetry.units.of("");
    unit.failed("");
    unit.breaker("", Breaker::Open);
    unit.paused(&"".into(), true);
    telemetry.units.refused([("", "", 1)]);
    telemetry.http.answered("GET", "", 200, Duration::ZERO);
    telemetry.quota_refusals.count(&"".into());
    telemetry.configuration.certificate_ends(0);
    let all = Capacity {
        used: Some(0.0),
        ..Capacity::default()
    };
    [ClusterCapacity {
        cluster: "".into(),
        hosts: [("".into(), 1)].into(),
        cpu: all,
        memory: all,
        gpus: all,
        statistics: StatisticsAge {
            newest: Some(0),
            oldest: Some(0),
            ..StatisticsAge::default()
        },
    }]
}

/// The families of metrics in the text format of OpenMetrics.
fn read(text: &str) -> Vec<MetricFamily> {
    let mut families: Vec<MetricFamily> = Vec::new();
    for line in text.lines() {
        if let Some(told) = line.strip_prefix("# HELP ") {
            let (name, help) = told.split_once(' ').unwrap_or((told, ""));
            families.push(MetricFamily {
                name: name.to_owned(),
                kind: String::new(),
                help: help.to_owned(),
                labels: BTreeMap::new(),
            });
            continue;
        }
        let Some(family) = families.last_mut() else {
            continue;
        };
        if let Some(told) = line.strip_prefix("# TYPE ") {
            family.kind = told
                .rsplit(' ')
                .next()
                .map_or_else(String::new, str::to_owned);
        } else if let Some((_, rest)) = line.split_once('{') {
            // The values here are all without commas and quotation marks.
            let labels = rest.rsplit_once('}').map_or("", |(labels, _)| labels);
            let labels = labels.split(',').filter_map(|it| it.split_once('='));
            for (name, value) in labels.filter(|(name, _)| *name != "le") {
                let values = family.labels.entry(name.to_owned()).or_default();
                values.insert(value.trim_matches('"').to_owned());
            }
        }
    }
    // Of what is not known before there is the one sample that was made up.
    for values in families.iter_mut().flat_map(|it| it.labels.values_mut()) {
        if values.len() < 2 {
            values.clear();
        }
    }
    families
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_that_is_registered_is_described() {
        let telemetry = Telemetry::new();
        // What is registered is shown by nothing else.
        let registered = format!("{:?}", telemetry.registry);
        let names = registered.split("Descriptor { name: \"").skip(1);
        let names = names.filter_map(|rest| rest.split_once('"'));
        let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
        assert!(names.len() > 40, "{names:?}");
        let described: BTreeSet<String> = families()
            .into_iter()
            .filter_map(|it| it.name.strip_prefix("placewright_").map(str::to_owned))
            .collect();
        let missing: Vec<_> = names.difference(&described).collect();
        assert!(missing.is_empty(), "no sample is made of {missing:?}");
    }

    #[test]
    fn families_have_their_kind_labels_and_samples() {
        let families = families();
        let of = |name: &str| families.iter().find(|it| it.name == name).unwrap();
        let wait = of("placewright_decision_wait_seconds");
        assert_eq!((&*wait.kind, wait.samples().len()), ("histogram", 3));
        let clusters = [("cluster".to_owned(), BTreeSet::new())];
        assert_eq!(wait.labels, clusters.into());
        let ended = of("placewright_reservations_ended");
        assert_eq!(ended.samples(), ["placewright_reservations_ended_total"]);
        let how = ["confirmed", "expired", "host-lost", "released"].map(str::to_owned);
        assert_eq!(ended.labels["how"], how.into());
        assert_eq!(of("process_cpu_seconds").kind, "counter");
    }
}
