//! What tenants hold under their quotas, as it is when metrics are asked for.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// So many quotas have metrics of their own: the first by name, and of those that refuse the
/// first that do. The others have none, or are counted together.
pub const QUOTAS_TOLD: usize = 1000;

/// The refusals of quotas beyond [`QUOTAS_TOLD`].
const OTHER_QUOTAS: &str = "other";

type Amounts = Family<Label, Gauge<f64, AtomicU64>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    quota: Arc<str>,
    tenant: Arc<str>,
    cluster: Arc<str>,
    amount: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusing {
    quota: Arc<str>,
}

/// An amount that is held under a quota, and may be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QuotaAmount {
    /// What the tenant holds.
    pub used: f64,
    /// What it may hold; None: it is not limited.
    pub limit: Option<f64>,
}

/// A quota, and what is held under it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuotaLevel {
    /// Name of the quota.
    pub quota: Arc<str>,
    /// The tenant.
    pub tenant: Arc<str>,
    /// The cluster in which it limits the tenant; None: in all together.
    pub cluster: Option<Arc<str>>,
    /// In cores.
    pub cpu: QuotaAmount,
    /// In bytes.
    pub memory: QuotaAmount,
    /// GPUs, also parts of one.
    pub gpus: QuotaAmount,
    /// VMs.
    pub vms: QuotaAmount,
}

/// Metrics of what is held under quotas.
#[derive(Debug)]
pub(super) struct QuotaFamilies {
    cpu: Amounts,
    memory: Amounts,
    gpus: Amounts,
    vms: Amounts,
    quotas: Gauge,
}

impl QuotaFamilies {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            cpu: Family::default(),
            memory: Family::default(),
            gpus: Family::default(),
            vms: Family::default(),
            quotas: Gauge::default(),
        };
        for (name, of, family) in [
            ("quota_cpu_cores", "CPU in cores", &families.cpu),
            ("quota_memory_bytes", "Memory in bytes", &families.memory),
            ("quota_gpus", "GPUs", &families.gpus),
            ("quota_vms", "VMs", &families.vms),
        ] {
            let help = format!(
                "{of} of a tenant under a quota: used, and the limit if there is one; cluster is empty for a quota over all clusters"
            );
            registry.register(name, help, family.clone());
        }
        registry.register(
            "quotas",
            format!("Number of quotas; the first {QUOTAS_TOLD} by name have their own metrics"),
            families.quotas.clone(),
        );
        families
    }

    /// These quotas and no others, in the order of their names.
    pub(super) fn set(&self, quotas: &[QuotaLevel]) {
        for family in [&self.cpu, &self.memory, &self.gpus, &self.vms] {
            family.clear();
        }
        let count = i64::try_from(quotas.len()).unwrap_or(i64::MAX);
        self.quotas.set(count);
        for of in quotas.iter().take(QUOTAS_TOLD) {
            for (family, amount) in [
                (&self.cpu, of.cpu),
                (&self.memory, of.memory),
                (&self.gpus, of.gpus),
                (&self.vms, of.vms),
            ] {
                for (word, value) in [("used", Some(amount.used)), ("limit", amount.limit)] {
                    let Some(value) = value else { continue };
                    let label = Label {
                        quota: of.quota.clone(),
                        tenant: of.tenant.clone(),
                        cluster: of.cluster.clone().unwrap_or_default(),
                        amount: word,
                    };
                    family.get_or_create(&label).set(value);
                }
            }
        }
    }
}

/// Counts decisions that quotas refused.
#[derive(Debug, Clone)]
pub struct QuotaRefusals {
    refusals: Family<Refusing, Counter>,
    /// The quotas that have a counter.
    known: Arc<Mutex<BTreeSet<Arc<str>>>>,
}

impl QuotaRefusals {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let refusals = Family::default();
        registry.register(
            "quota_refusals",
            format!(
                "Decisions that a quota refused, by quota; of more than {QUOTAS_TOLD} quotas, the others together as {OTHER_QUOTAS}"
            ),
            refusals.clone(),
        );
        Self {
            refusals,
            known: Arc::default(),
        }
    }

    /// A quota has refused a decision.
    pub fn count(&self, quota: &Arc<str>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let quota = match known.contains(quota) {
            true => quota.clone(),
            false if known.len() < QUOTAS_TOLD => {
                known.insert(quota.clone());
                quota.clone()
            }
            false => OTHER_QUOTAS.into(),
        };
        // Under the lock, so that whatever has a counter is known.
        self.refusals.get_or_create(&Refusing { quota }).inc();
    }

    /// A quota is no more: its counter ends.
    pub fn forget(&self, quota: &Arc<str>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.remove(quota) {
            let quota = quota.clone();
            self.refusals.remove(&Refusing { quota });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Telemetry;
    use super::*;

    fn quota(name: &str, cluster: Option<&str>) -> QuotaLevel {
        QuotaLevel {
            quota: name.into(),
            tenant: "acme".into(),
            cluster: cluster.map(Into::into),
            cpu: QuotaAmount {
                used: 2.5,
                limit: Some(8.0),
            },
            vms: QuotaAmount {
                used: 3.0,
                limit: None,
            },
            ..QuotaLevel::default()
        }
    }

    fn samples(text: &str, of: &str) -> usize {
        let lines = text.lines().filter(|line| line.starts_with(of));
        lines.count()
    }

    #[test]
    fn what_is_held_under_quotas_is_told_with_the_limits_that_there_are() {
        let telemetry = Telemetry::new();
        let quotas = [quota("gold", None), quota("lead", Some("east"))];
        let text = telemetry.text_with(&[], &quotas).unwrap();
        for line in [
            r#"placewright_quota_cpu_cores{quota="gold",tenant="acme",cluster="",amount="used"} 2.5"#,
            r#"placewright_quota_cpu_cores{quota="lead",tenant="acme",cluster="east",amount="limit"} 8.0"#,
            r#"placewright_quota_vms{quota="lead",tenant="acme",cluster="east",amount="used"} 3.0"#,
            r#"placewright_quota_memory_bytes{quota="gold",tenant="acme",cluster="",amount="used"} 0.0"#,
            "placewright_quotas 2",
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
        assert_eq!(samples(&text, "placewright_quota_vms{"), 2, "{text}");
        // As it was told last, and as it is now.
        assert!(telemetry.text().unwrap().contains("quota=\"lead\""));
        let text = telemetry.text_with(&[], &quotas[..1]).unwrap();
        assert!(!text.contains("lead") && text.contains("gold"), "{text}");
    }

    #[test]
    fn quotas_beyond_the_bound_have_no_metrics_and_are_counted() {
        let telemetry = Telemetry::new();
        let names = (0..QUOTAS_TOLD + 50).map(|it| format!("q{it:05}"));
        let quotas: Vec<QuotaLevel> = names.map(|name| quota(&name, None)).collect();
        for quota in &quotas {
            telemetry.quota_refusals.count(&quota.quota);
        }
        let text = telemetry.text_with(&[], &quotas).unwrap();
        assert_eq!(samples(&text, "placewright_quota_vms{"), QUOTAS_TOLD);
        assert_eq!(
            samples(&text, "placewright_quota_cpu_cores{"),
            2 * QUOTAS_TOLD
        );
        assert!(text.contains("placewright_quotas 1050"));
        let counted = "placewright_quota_refusals_total{";
        assert_eq!(samples(&text, counted), QUOTAS_TOLD + 1);
        assert!(text.contains(&format!("{counted}quota=\"other\"}} 50")));
        // One that is removed makes room for another.
        telemetry.quota_refusals.forget(&quotas[0].quota);
        telemetry.quota_refusals.count(&"new".into());
        let text = telemetry.text().unwrap();
        assert!(!text.contains(&format!("{counted}quota=\"q00000\"")));
        assert!(text.contains(&format!("{counted}quota=\"new\"}} 1")));
    }
}
