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

use capacity::Lines;
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
            Strategy::Balanced => Ok(capacity::ahead(&free_amounts(hosts))),
            _ => Ok(vec![0.0; hosts.len()]),
        }
    }
}

fn free_amounts(hosts: &Rows<Host>) -> Lines {
    let columns = hosts.columns();
    let lines = columns.and_then(|(amounts,)| Lines::of_column(&amounts));
    lines.unwrap_or_else(|| Lines::read(hosts.iter()))
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
    use placewright_sdk::contract::{Answers, Tables};
    use placewright_sdk::native::Call;

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

    /// The costs of hosts with these amounts (name, free) in a call.
    fn in_a_call(hosts: &[Vec<(i64, i64)>]) -> Vec<f64> {
        let amounts = hosts.concat();
        let ends = hosts.iter().scan(0, |end, host| {
            *end += host.len() as i64;
            Some(*end)
        });
        let tables = Tables {
            rows: vec![hosts.len() as u32, amounts.len() as u32, 1],
            integers: std::iter::once(0)
                .chain(ends)
                .chain(amounts.iter().map(|it| it.0))
                .chain(amounts.iter().map(|it| it.1))
                .chain([0])
                .collect(),
            numbers: Vec::new(),
            absent_integers: Vec::new(),
            absent_numbers: Vec::new(),
            texts: ["balanced", "cpu", "memory"].map(String::from).to_vec(),
        };
        let want = Answers {
            verdicts: false,
            costs: true,
        };
        let judgement = native_unit().judge(want, &Call::new(tables));
        judgement.expect("nothing is refused").costs
    }

    #[test]
    fn hosts_of_a_call_cost_the_same_whether_they_are_alike_or_not() {
        let alike: Vec<Vec<(i64, i64)>> = (0..20)
            .map(|host| vec![(1, host * 7 % 11), (2, host * 5 % 13)])
            .collect();
        let mut mixed = alike.clone();
        for host in mixed.iter_mut().step_by(3) {
            host.reverse();
        }
        assert_eq!(in_a_call(&alike), in_a_call(&mixed));
        // Of an amount that is named twice, what is said last counts.
        let twice = vec![(1, 9), (1, 2)];
        assert_eq!(in_a_call(&[twice.clone(), vec![(1, 3)]]), [1.0, 0.0]);
        assert_eq!(in_a_call(&[twice, vec![(1, 9), (1, 3)]]), [1.0, 0.0]);
        assert_eq!(in_a_call(&[vec![], vec![]]), [0.0, 0.0]);
    }
}
