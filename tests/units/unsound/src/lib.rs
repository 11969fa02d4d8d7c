//! A unit for tests of the runtime: implements the contract by hand, without the
//! SDK's traits, and answers what its description rules out. Its setting `how`
//! says in which way.

#![deny(unsafe_code)]

use placewright_sdk::contract::{
    Answers, BalancePart, ColumnRead, Description, Evaluation, JudgePart, Judgement, Kind, Move,
    Problem, Proposal, Reason, Setting, TableRead, Tables, Value,
};

/// All ways to be wrong, and one to be right.
const HOWS: [&str; 12] = [
    "keeps-everything",
    "wrong-length",
    "reason-out-of-range",
    "counts-rows",
    "compares-rows",
    "reads-codes",
    "wrong-until",
    "huge-answer",
    "cost-out-of-range",
    "unasked-answer",
    "proposal-out-of-range",
    "traps-silently",
];

/// The costs that it says it stays within.
const RANGE: (f64, f64) = (0.0, 1000.0);

/// More than a runtime should take in one answer: 128 MiB of costs.
const HUGE: usize = 16 << 20;

/// The unit.
pub struct Unsound;

impl Unsound {
    /// What it says of itself.
    pub fn description() -> Description {
        Description {
            name: "unsound".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: env!("CARGO_PKG_DESCRIPTION").into(),
            aliases: Vec::new(),
            settings: vec![how()],
            judge: Some(JudgePart {
                answers: Answers {
                    verdicts: true,
                    costs: true,
                },
                evaluation: Evaluation::RowWise,
                reads: reads(
                    "hosts",
                    &[("memory.total", Kind::Integer), ("id", Kind::Text)],
                ),
                reasons: reasons(),
                cost_range: Some(RANGE),
            }),
            selection: None,
            effects: None,
            balance: Some(BalancePart {
                writes: Vec::new(),
                reads: reads(
                    "hosts",
                    &[("memory.total", Kind::Integer), ("id", Kind::Text)],
                ),
                reasons: reasons(),
            }),
            order: None,
            explain: None,
        }
    }

    /// Answers in the way that the settings say.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn judgement(want: Answers, call: &Tables) -> Result<Judgement, Problem> {
        let hosts = Hosts::read(call)?;
        let mut verdicts = vec![0; hosts.rows];
        let mut costs = vec![1.0; hosts.rows];
        let mut until = Vec::new();
        match hosts.how {
            "wrong-length" => costs.push(1.0),
            "reason-out-of-range" => verdicts[hosts.rows - 1] = 2,
            "counts-rows" => costs.fill(hosts.rows as f64),
            "compares-rows" => {
                let most = hosts.memory.iter().max();
                for (cost, memory) in costs.iter_mut().zip(hosts.memory) {
                    *cost = f64::from(u8::from(Some(memory) != most));
                }
            }
            "reads-codes" => {
                for (cost, code) in costs.iter_mut().zip(hosts.codes) {
                    *cost = *code as f64;
                }
            }
            "wrong-until" => until = vec![0; hosts.rows + 1],
            "huge-answer" => costs = vec![1.0; HUGE],
            "cost-out-of-range" => costs[0] = RANGE.1 + 1.0,
            "traps-silently" => trap(),
            _ => {}
        }
        let give_unasked = hosts.how == "unasked-answer";
        Ok(Judgement {
            verdicts: given(want.verdicts || give_unasked, verdicts),
            costs: given(want.costs || give_unasked, costs),
            until,
        })
    }

    /// Proposes to move a VM that is not there.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn proposals(call: &Tables) -> Result<Vec<Proposal>, Problem> {
        let hosts = Hosts::read(call)?;
        if hosts.how != "proposal-out-of-range" {
            return Ok(Vec::new());
        }
        Ok(vec![Proposal::Move(Move {
            vm: 7,
            among: Vec::new(),
            accept: Vec::new(),
            changes: Vec::new(),
            reason: 1,
        })])
    }
}

fn how() -> Setting {
    Setting {
        name: "how".into(),
        kind: Kind::Text,
        measure: None,
        default: Some(Value::Text(HOWS[0].into())),
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: HOWS.map(String::from).to_vec(),
        meaning: "What goes wrong".into(),
        columns: Vec::new(),
    }
}

/// The columns of a table, and the setting.
fn reads(table: &str, columns: &[(&str, Kind)]) -> Vec<TableRead> {
    let read = |(column, kind): &(&str, Kind)| ColumnRead {
        column: (*column).into(),
        kind: *kind,
        required: true,
        gate: false,
    };
    let table_read = |table: &str, columns: &[(&str, Kind)]| TableRead {
        table: table.into(),
        columns: columns.iter().map(read).collect(),
    };
    vec![
        table_read(table, columns),
        table_read("settings", &[("how", Kind::Text)]),
    ]
}

fn reasons() -> Vec<Reason> {
    vec![Reason {
        text: "is out of favour".into(),
        passing: false,
    }]
}

fn given<T>(wanted: bool, answers: Vec<T>) -> Vec<T> {
    if wanted { answers } else { Vec::new() }
}

/// Ends without a word, as a unit does whose language has no panics.
fn trap() {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
}

/// The tables of a call, taken apart.
struct Hosts<'a> {
    rows: usize,
    memory: &'a [i64],
    /// The hosts' ids, as codes of the call's dictionary.
    codes: &'a [i64],
    how: &'a str,
}

impl<'a> Hosts<'a> {
    fn read(call: &'a Tables) -> Result<Self, Problem> {
        let unfit = || Problem::Failed("the tables are not those that I read".into());
        let rows = *call.rows.first().ok_or_else(unfit)? as usize;
        let (memory, rest) = call.integers.split_at_checked(rows).ok_or_else(unfit)?;
        let (codes, setting) = rest.split_at_checked(rows).ok_or_else(unfit)?;
        let code = *setting.first().ok_or_else(unfit)?;
        let how = usize::try_from(code)
            .ok()
            .and_then(|code| call.texts.get(code));
        Ok(Self {
            rows,
            memory,
            codes,
            // Hyphens fill a default up that a test has put in place of another.
            how: how.ok_or_else(unfit)?.trim_end_matches('-'),
        })
    }
}

#[cfg(target_arch = "wasm32")]
mod exports {
    use placewright_sdk::bindings::{self, balance, contract, judge};
    use placewright_sdk::contract::{Answers, Description, Judgement, Problem, Proposal, Tables};

    use super::Unsound;

    impl contract::exports::placewright::policy::unit::Guest for Unsound {
        fn describe() -> Description {
            Self::description()
        }
    }

    impl judge::exports::placewright::policy::judge::Guest for Unsound {
        fn judge(want: Answers, call: Tables) -> Result<Judgement, Problem> {
            Self::judgement(want, &call)
        }
    }

    impl balance::exports::placewright::policy::balance::Guest for Unsound {
        fn balance(call: Tables) -> Result<Vec<Proposal>, Problem> {
            Self::proposals(&call)
        }
    }

    bindings::contract::export_unit!(Unsound with_types_in placewright_sdk::bindings::contract);
    bindings::judge::export_judge!(Unsound with_types_in placewright_sdk::bindings::judge);
    bindings::balance::export_balance!(Unsound with_types_in placewright_sdk::bindings::balance);
}
