//! What stands in the vectors.
//!
//! The README beside them says what it means. Fields that are missing, unknown or of
//! the wrong kind are refused by name.

use std::collections::BTreeMap;

use placewright_model::GREATEST_INTEGER;
use serde::{Deserialize, Deserializer};

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case<In, Out> {
    #[serde(rename = "in")]
    pub given: In,
    pub out: Out,
    #[expect(dead_code, reason = "cases have it; the report takes it from the file")]
    id: String,
    #[expect(dead_code, reason = "cases have it; the report takes it from the file")]
    kind: String,
    #[expect(dead_code, reason = "cases have it, for people")]
    family: String,
}

/// A field that must be there, though it may be null.
pub(super) fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// An amount of memory.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Mebibytes(i64);

impl Mebibytes {
    pub(super) const ONE: Self = Self(1);
    /// 1 TiB.
    pub(super) const MUCH: Self = Self(1 << 20);

    pub(super) fn bytes(self) -> i64 {
        self.0 << 20
    }
}

impl TryFrom<u64> for Mebibytes {
    type Error = String;

    fn try_from(amount: u64) -> Result<Self, String> {
        let held = i64::try_from(amount).ok();
        let held = held.filter(|amount| *amount <= GREATEST_INTEGER >> 20);
        held.map(Self)
            .ok_or_else(|| format!("{amount} MB is more memory than can be told of"))
    }
}

/// How the rounds of the system stage go.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rounds {
    pub msav_steps: i64,
    pub initial_msav: f64,
    pub final_msav: f64,
}

/// All settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub overhead_mb: Mebibytes,
    pub msav_steps: i64,
    pub initial_msav: f64,
    pub final_msav: f64,
    #[serde(default)]
    pub local_storage: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Running,
    Maintenance,
    Error,
    Offline,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub id: String,
    pub state: State,
    pub ram_mb: Mebibytes,
    pub ram_ratio: f64,
    pub free_ram_mb: Mebibytes,
    pub pcpus: i64,
    pub cpu_ratio: f64,
    pub load: f64,
    pub keys: BTreeMap<String, NodeKey>,
    pub vms: Vec<NodeVm>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeKey {
    pub v: f64,
    pub w: Option<f64>,
    pub sticky: Option<bool>,
}

/// A VM that runs on a node.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeVm {
    pub ram_mb: Mebibytes,
    pub vcpus: i64,
    /// The customer keys that were fixed when it was started.
    pub ckeys: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Class {
    Sys,
    Be,
    Cust,
}

impl Class {
    pub(super) fn word(self) -> &'static str {
        match self {
            Class::Sys => "sys",
            Class::Be => "be",
            Class::Cust => "cust",
        }
    }
}

/// A key on a resource.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    pub n: String,
    pub v: String,
    pub w: f64,
    pub c: Class,
}

/// The resources of which a VM has one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Cluster,
    BillingEntity,
    CustomerOffer,
    Customer,
    ImageOffer,
    Image,
    VdcOffer,
    Vdc,
    ServerOffer,
    Server,
}

/// All resources of a VM, with the keys on each.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Resources {
    pub cluster: Vec<Key>,
    pub billing_entity: Vec<Key>,
    pub customer_offer: Vec<Key>,
    pub customer: Vec<Key>,
    pub image_offer: Vec<Key>,
    pub image: Vec<Key>,
    pub vdc_offer: Vec<Key>,
    pub vdc: Vec<Key>,
    pub server_offer: Vec<Key>,
    pub server: Vec<Key>,
    pub disks: Vec<Offered>,
    pub nics: Vec<Nic>,
}

/// A resource and its product offer.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Offered {
    pub offer: Vec<Key>,
    pub keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Nic {
    pub offer: Vec<Key>,
    pub keys: Vec<Key>,
    pub network: Offered,
}
