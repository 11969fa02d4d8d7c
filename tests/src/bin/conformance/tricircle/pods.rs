//! Pods as hosts, bindings as facts of their tenants.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::schema::{AttributeError, Schema};
use placewright_model::{Facts, Host, Kind};

use super::case::{Binding, Given, Pod, Tag, Usage};

/// The pods in their order, and the tenants' bindings.
///
/// # Errors
/// Which of them does not fit.
pub(super) fn inventory(given: &Given) -> Result<Inventory, String> {
    let schema = schema().map_err(|error| error.to_string())?;
    let mut inventory = Inventory::new("pods", Arc::new(schema));
    for (number, pod) in given.pods.iter().enumerate() {
        inventory
            .add_host(host(pod))
            .map_err(|error| format!("in.pods[{number}]: {error}"))?;
    }
    let mut tenants: BTreeMap<&str, Facts> = BTreeMap::new();
    for binding in &given.bindings {
        let tenant = tenants.entry(&binding.tenant).or_default();
        tenant.push_row("bindings", binding_row(binding));
    }
    for (tenant, facts) in tenants {
        inventory
            .set_tenant(tenant, facts)
            .map_err(|error| format!("in.bindings: {error}"))?;
    }
    Ok(inventory)
}

/// With the attributes that the policies need.
fn schema() -> Result<Schema, AttributeError> {
    let mut schema = Schema::default();
    let threshold = "Percent of a resource from which on the pod is exhausted";
    schema.define_attribute("hosts", "threshold", Kind::Number, None, threshold)?;
    let maintenance = "Whether the pod takes no new requests";
    schema.define_attribute("hosts", "maintenance", Kind::Boolean, None, maintenance)?;
    Ok(schema)
}

/// A pod as a host.
pub(super) fn host(pod: &Pod) -> Host {
    let mut host = Host::new(pod.id.as_str())
        .with("zone", pod.az.as_str())
        .with("created", pod.created);
    if let Some(threshold) = pod.threshold_pct {
        host.facts.set("attribute.threshold", threshold);
    }
    if let Some(maintenance) = pod.maintenance {
        host.facts.set("attribute.maintenance", maintenance);
    }
    if let Some(Tag { key, value }) = &pod.tag {
        host.facts.push_row("tags", pair(key, value));
    }
    host.facts.set_rows("usage", usage(pod.usage.as_ref()));
    host
}

/// A row of a table of keys and values.
pub(super) fn pair(key: &str, value: &str) -> Facts {
    Facts::new().with("key", key).with("value", value)
}

/// Rows of reported usage.
pub(super) fn usage(usage: Option<&Usage>) -> Vec<Facts> {
    let resources = usage.into_iter().flatten();
    resources
        .map(|(name, amount)| {
            Facts::new()
                .with("name", name.as_str())
                .with("used", amount.used)
                .with("total", amount.total)
        })
        .collect()
}

fn binding_row(binding: &Binding) -> Facts {
    let mut row = Facts::new()
        .with("host", binding.pod.as_str())
        .with("zone", binding.az.as_str())
        .with("tag", binding.tag.as_str())
        .with("start", binding.start);
    if let Some(end) = binding.end {
        row.set("end", end);
    }
    row
}
