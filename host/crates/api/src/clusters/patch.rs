//! What is different of the settings of a cluster: a merge patch after RFC 7396.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{
    AnyOfBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::settings::{NewSettings, UnheededAsRead};
use placewright_chain::UnheededInCluster;
use placewright_deployment::cluster::{AutomaticRestart, Override, PeriodicBalance};
use placewright_deployment::durations;
use placewright_http::problem::{Code, Problem};
use placewright_scheduler::questions::Restart;

/// What is given, null included.
type Given<T> = Option<Option<T>>;

/// What is to be different of the settings of a cluster; null takes away what was set.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SettingsPatch {
    /// Name of the policy that decides from now on.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = String, required = false, example = "general")]
    policy: Given<String>,
    /// What is different from the policy in this cluster, by the entries' names: those that are
    /// not named stay, null takes one away, or all.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<BTreeMap<String, OverrideChange>>, required = false)]
    overrides: Given<BTreeMap<String, Option<OverridePatch>>>,
    /// Whether plans of moves are made from time to time; null: none are.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<PeriodicBalance>, required = false)]
    balance: Given<BalancePatch>,
    /// Whether and how the server restarts VMs of hosts that are down or in error by itself;
    /// null: it does not.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<RestartPatch>, required = false)]
    restart: Given<RestartPatch>,
    /// Seconds after which what was measured of hosts counts as absent; null: it never does.
    #[serde(default, deserialize_with = "durations::seconds_given")]
    #[schema(value_type = Option<i64>, required = false, minimum = 1, maximum = 2592000, example = 600)]
    statistics_max_age: Given<i64>,
    /// Seconds after which what has come to run on a host counts as measured, though no later
    /// measurement has come; null: only a measurement ends that.
    #[serde(default, deserialize_with = "durations::seconds_given")]
    #[schema(value_type = Option<i64>, required = false, minimum = 1, maximum = 2592000, example = 600)]
    unmeasured_max_age: Given<i64>,
    /// The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
    #[serde(default, rename = "revision")]
    #[schema(value_type = u64, required = false, example = 3)]
    _revision: Option<u64>,
    /// The seed, as it was read: it changes nothing.
    #[serde(default, rename = "seed")]
    #[schema(value_type = u64, required = false, example = 7)]
    _seed: Option<u64>,
    /// What goes unheeded, as it was read: it changes nothing.
    #[serde(default, rename = "unheeded")]
    #[schema(value_type = Vec<UnheededInCluster>, required = false)]
    _unheeded: Option<Vec<UnheededAsRead>>,
}

/// What is to be different of what a cluster sets for the entries of one name.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct OverridePatch {
    /// The factor of the cost of that name; null: as the policy says.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<f64>, required = false, example = 2.0)]
    factor: Given<f64>,
    /// Whether its unit is asked; null: as the policy says.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<bool>, required = false)]
    enabled: Given<bool>,
    /// Settings of its unit: those that are not named stay, null takes one away, or all.
    #[serde(default, deserialize_with = "given")]
    #[schema(schema_with = settings)]
    settings: Given<Map<String, Value>>,
}

/// What is to be different of what a cluster sets for the entries of one name, or null.
#[derive(Debug)]
enum OverrideChange {}

impl PartialSchema for OverrideChange {
    fn schema() -> RefOr<Schema> {
        let either = OneOfBuilder::new()
            .item(Ref::from_schema_name("OverridePatch"))
            .item(ObjectBuilder::new().schema_type(Type::Null));
        let meaning =
            "What is to be different of what is set for the entries; null: nothing is set";
        Schema::OneOf(either.description(Some(meaning)).build()).into()
    }
}

impl ToSchema for OverrideChange {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((OverridePatch::name().into_owned(), OverridePatch::schema()));
        OverridePatch::schemas(schemas);
    }
}

/// The schema of what is different of a unit's settings.
fn settings() -> Object {
    let value = AnyOfBuilder::new()
        .item(Ref::from_schema_name("SettingValue"))
        .item(ObjectBuilder::new().schema_type(Type::Null));
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .description(Some(
            "Settings of its unit: those that are not named stay, null takes one away, or all",
        ))
        .additional_properties(Some(Schema::AnyOf(value.build())))
        .build()
}

/// What is to be different of plans that are made from time to time.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct BalancePatch {
    #[serde(default, deserialize_with = "durations::seconds_given")]
    every: Given<i64>,
}

/// What is to be different of restarts that the server begins by itself.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RestartPatch {
    /// Seconds for which a host must have been down or in error without a break before its VMs
    /// are restarted; null: 60.
    #[serde(default, deserialize_with = "durations::seconds_given")]
    #[schema(value_type = Option<i64>, required = false, minimum = 0, maximum = 3600, example = 60)]
    settle: Given<i64>,
    /// How many restarts may be under way at once; null: 8.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<usize>, required = false, minimum = 1, maximum = 1000, example = 8)]
    max_in_flight: Given<usize>,
    /// Which VMs are restarted; null: all.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Restart>, required = false)]
    vms: Given<Restart>,
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Given<T>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl SettingsPatch {
    /// What settings become by it.
    ///
    /// # Errors
    /// If it takes away what settings must have.
    pub(super) fn apply(self, mut settings: NewSettings) -> Result<NewSettings, Problem> {
        match self.policy {
            None => {}
            Some(Some(policy)) => settings.policy = policy,
            Some(None) => return Err(needed("\"policy\"", "name another policy")),
        }
        match self.overrides {
            None => {}
            Some(None) => settings.overrides.clear(),
            Some(Some(named)) => {
                for (name, patch) in named {
                    match patch {
                        None => drop(settings.overrides.remove(&name)),
                        Some(patch) => patch.apply(settings.overrides.entry(name).or_default()),
                    }
                }
            }
        }
        match self.balance {
            None => {}
            Some(None) => settings.balance = None,
            Some(Some(BalancePatch { every })) => {
                let known = settings.balance.map(|balance| balance.every);
                let every = every.unwrap_or(known).ok_or_else(|| {
                    needed("\"balance\": \"every\"", "say how often plans are made")
                })?;
                settings.balance = Some(PeriodicBalance { every });
            }
        }
        match self.restart {
            None => {}
            Some(None) => settings.restart = None,
            Some(Some(patch)) => {
                let known = settings.restart.unwrap_or_default();
                settings.restart = Some(patch.apply(known));
            }
        }
        replace(&mut settings.statistics_max_age, self.statistics_max_age);
        replace(&mut settings.unmeasured_max_age, self.unmeasured_max_age);
        Ok(settings)
    }
}

impl OverridePatch {
    fn apply(self, known: &mut Override) {
        replace(&mut known.factor, self.factor);
        replace(&mut known.enabled, self.enabled);
        match self.settings {
            None => {}
            Some(None) => known.settings.clear(),
            Some(Some(named)) => {
                for (name, value) in named {
                    match value {
                        Value::Null => drop(known.settings.remove(&name)),
                        value => drop(known.settings.insert(name, value)),
                    }
                }
            }
        }
    }
}

impl RestartPatch {
    fn apply(self, known: AutomaticRestart) -> AutomaticRestart {
        let usual = AutomaticRestart::default();
        AutomaticRestart {
            settle: value(self.settle, known.settle, usual.settle),
            max_in_flight: value(self.max_in_flight, known.max_in_flight, usual.max_in_flight),
            vms: value(self.vms, known.vms, usual.vms),
        }
    }
}

/// What is given; the usual value for null, and what is known if nothing is given.
fn value<T>(given: Given<T>, known: T, usual: T) -> T {
    match given {
        None => known,
        Some(None) => usual,
        Some(Some(given)) => given,
    }
}

fn replace<T>(known: &mut Option<T>, given: Given<T>) {
    if let Some(given) = given {
        *known = given;
    }
}

fn needed(key: &str, what_to_do: &str) -> Problem {
    let sentence = format!("{key} cannot be taken away: {what_to_do}");
    Problem::new(Code::Unprocessable, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known() -> NewSettings {
        let known = json!({
            "policy": "general",
            "overrides": {"memory": {"factor": 2.0, "settings": {"reserve": "8 GiB", "share": 0.5}},
                "spread": {"enabled": false}},
            "restart": {"settle": 120, "max-in-flight": 4},
            "statistics-max-age": 60,
        });
        serde_json::from_value(known).unwrap()
    }

    fn patched(patch: Value) -> Result<NewSettings, Problem> {
        let patch: SettingsPatch = serde_json::from_value(patch).unwrap();
        patch.apply(known())
    }

    #[test]
    fn what_a_patch_does_not_name_stays() {
        let new = patched(json!({})).unwrap();
        assert_eq!(new.policy, "general");
        assert_eq!(new.overrides, known().overrides);
        assert_eq!(new.restart, known().restart);
        assert_eq!(new.statistics_max_age, Some(60));
        let new = patched(json!({"policy": "mine", "revision": 7, "balance": {"every": 600}}));
        let new = new.unwrap();
        assert_eq!((&*new.policy, new.overrides.len()), ("mine", 2));
        assert_eq!(new.balance.map(|it| it.every), Some(600));
    }

    #[test]
    fn objects_are_merged_and_null_takes_away() {
        let new = patched(json!({
            "overrides": {"memory": {"factor": null, "settings": {"reserve": null, "more": 1}}, "spread": null},
            "restart": {"settle": null},
            "statistics-max-age": null,
        }));
        let new = new.unwrap();
        let memory = &new.overrides["memory"];
        assert_eq!((memory.factor, new.overrides.len()), (None, 1));
        assert_eq!(
            Value::from(memory.settings.clone()),
            json!({"share": 0.5, "more": 1})
        );
        let restart = new.restart.unwrap();
        assert_eq!((restart.settle, restart.max_in_flight), (60, 4));
        assert_eq!(new.statistics_max_age, None);
        let new = patched(json!({"overrides": null, "restart": null})).unwrap();
        assert!(new.overrides.is_empty() && new.restart.is_none());
    }

    #[test]
    fn what_settings_must_have_cannot_be_taken_away() {
        for patch in [
            json!({"policy": null}),
            json!({"balance": {}}),
            json!({"balance": {"every": null}}),
        ] {
            let problem = patched(patch).unwrap_err();
            assert!(
                problem.detail().contains("cannot be taken away"),
                "{problem}"
            );
        }
    }

    #[test]
    fn unknown_keys_are_refused_with_null_too() {
        for patch in [
            json!({"polcy": null}),
            json!({"overrides": {"memory": {"factr": null}}}),
            json!({"restart": {"settl": null}}),
            json!({"balance": {"evry": null}}),
        ] {
            assert!(
                serde_json::from_value::<SettingsPatch>(patch.clone()).is_err(),
                "{patch}"
            );
        }
    }
}
