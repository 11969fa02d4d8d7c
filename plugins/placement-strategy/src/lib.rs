//! Placement strategy: of a batch, which VM has its turn first; and which hosts have
//! the most free capacity, for the strategy that asks.
//!
//! What hosts cost is worked out in `capacity`, turns are in `turns`.

#![forbid(unsafe_code)]

mod capacity;
mod turns;

use std::borrow::Borrow;

use named_amounts::FreeAmount;
use placewright_sdk::prelude::*;

use turns::Batch;

#[derive(Settings)]
struct Settings {
    /// What the hosts are told apart by: default and utilization by how many VMs they
    /// have, balanced by their free capacity, minimal by their ids alone. Under default,
    /// turns go by priority alone.
    #[setting(choices = ["default", "utilization", "balanced", "minimal"])]
    strategy: Text,
}

/// How VMs are spread over hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    Default,
    Utilization,
    Balanced,
    Minimal,
}

impl Strategy {
    fn of(settings: &Settings) -> Result<Self, Problem> {
        Ok(match settings.strategy.as_str() {
            "default" => Self::Default,
            "utilization" => Self::Utilization,
            "balanced" => Self::Balanced,
            "minimal" => Self::Minimal,
            other => {
                return Err(Problem::refused(format!(
                    "the strategy must be default, utilization, balanced or minimal, not \"{other}\""
                )));
            }
        })
    }
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("amounts")]
    amounts: Rows<FreeAmount>,
}

impl Borrow<Rows<FreeAmount>> for Host {
    fn borrow(&self) -> &Rows<FreeAmount> {
        &self.amounts
    }
}

struct PlacementStrategy;

impl WholeTable for PlacementStrategy {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
}

impl TableCost for PlacementStrategy {
    /// Under `balanced`: how many hosts are ahead in free capacity.
    fn cost((): &(), hosts: &Rows<Host>, settings: &Settings) -> Result<Vec<f64>, Problem> {
        match Strategy::of(settings)? {
            Strategy::Balanced => Ok(capacity::ahead(hosts.iter())),
            _ => Ok(vec![0.0; hosts.len()]),
        }
    }
}

impl Order for PlacementStrategy {
    type Request = Batch;
    type Settings = Settings;

    /// One VM at a time.
    fn order(batch: &Batch, settings: &Settings) -> Result<Vec<Vec<u32>>, Problem> {
        let turns = turns::turns(batch, Strategy::of(settings)?);
        Ok(turns.into_iter().map(|vm| vec![vm]).collect())
    }
}

placewright_sdk::export!(PlacementStrategy: table_cost_function, order);

#[cfg(test)]
mod tests {
    use named_amounts::Name;

    use super::*;

    fn costs(strategy: &str) -> Result<Vec<f64>, Problem> {
        let host = |total| Host {
            amounts: vec![FreeAmount {
                name: Name(0),
                free: total,
            }]
            .into(),
        };
        let strategy = strategy.into();
        let hosts = vec![host(1), host(2)].into();
        PlacementStrategy::cost(&(), &hosts, &Settings { strategy })
    }

    #[test]
    fn only_balanced_looks_at_free_capacity() {
        assert_eq!(costs("balanced"), Ok(vec![1.0, 0.0]));
        for strategy in ["default", "utilization", "minimal"] {
            assert_eq!(costs(strategy), Ok(vec![0.0, 0.0]));
        }
    }

    #[test]
    fn an_unknown_strategy_is_refused_with_the_known_ones() {
        let rule =
            "the strategy must be default, utilization, balanced or minimal, not \"Balanced\"";
        assert_eq!(costs("Balanced"), Err(Problem::refused(rule)));
    }

    #[test]
    fn each_vm_has_a_turn_of_its_own() {
        let vm = |priority| turns::Vm {
            priority,
            stickiness: None,
        };
        let batch = Batch {
            vms: vec![vm(0), vm(1)].into(),
            hosts: Rows::default(),
        };
        let strategy = "minimal".into();
        let turns = PlacementStrategy::order(&batch, &Settings { strategy });
        assert_eq!(turns, Ok(vec![vec![1], vec![0]]));
    }
}
