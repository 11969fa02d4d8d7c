//! A unit for tests of the runtime. It says that it is row-wise: a host costs as much as it
//! has VMs. Of the host with `of` GiB of memory, or of all hosts if that is 0, it says
//! something else where its setting `how` and a `number` say so: depending on the call, the
//! other hosts, or the calls before.

#![deny(unsafe_code)]

use std::sync::atomic::{AtomicI64, Ordering};

use placewright_sdk::contract::{
    Answers, ColumnRead, Description, Evaluation, JudgePart, Judgement, Kind, Problem, Reason,
    Setting, TableRead, Tables, Value,
};

/// Upon what it depends, and of which `number`.
const HOWS: [&str; 7] = [
    "honest",
    // The host's row, where it has at least that number.
    "row-number",
    // Fewer rows than that.
    "few-rows",
    // That many rows or more.
    "many-rows",
    // The memory of all hosts of the call, in GiB, modulo the number.
    "other-hosts",
    // Every call of that number.
    "nth-call",
    // All calls after that number.
    "later-calls",
];

const GIB: i64 = 1 << 30;

/// Calls that this instance has had.
static CALLS: AtomicI64 = AtomicI64::new(0);

/// The unit.
pub struct Hostile;

impl Hostile {
    /// What it says of itself.
    pub fn description() -> Description {
        Description {
            name: "hostile".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: env!("CARGO_PKG_DESCRIPTION").into(),
            aliases: Vec::new(),
            settings: vec![
                setting("how", Kind::Text, Value::Text(HOWS[0].into())),
                setting("number", Kind::Integer, Value::Integer(1)),
                setting("of", Kind::Integer, Value::Integer(0)),
            ],
            judge: Some(JudgePart {
                answers: Answers {
                    verdicts: true,
                    costs: true,
                },
                evaluation: Evaluation::RowWise,
                reads: vec![
                    reads(
                        "hosts",
                        &[
                            ("memory.total", Kind::Integer),
                            ("vms.count", Kind::Integer),
                        ],
                    ),
                    reads(
                        "settings",
                        &[
                            ("how", Kind::Text),
                            ("number", Kind::Integer),
                            ("of", Kind::Integer),
                        ],
                    ),
                ],
                reasons: vec![Reason {
                    text: "is out of favour".into(),
                    passing: false,
                }],
                cost_range: None,
            }),
            selection: None,
            effects: None,
            balance: None,
            order: None,
            explain: None,
        }
    }

    /// Answers as the settings say.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn judgement(want: Answers, call: &Tables) -> Result<Judgement, Problem> {
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        let asked = Asked::read(call)?;
        let rows = asked.memory.len() as i64;
        let all: i64 = asked.memory.iter().map(|memory| memory / GIB).sum();
        let number = asked.number.max(1);
        let mut judgement = Judgement {
            verdicts: Vec::new(),
            costs: Vec::new(),
            until: Vec::new(),
        };
        let hosts = asked.memory.iter().zip(asked.vms);
        for (row, (memory, vms)) in (0i64..).zip(hosts) {
            let lies = match asked.how {
                "row-number" => row >= number,
                "few-rows" => rows < number,
                "many-rows" => rows >= number,
                "other-hosts" => all % number == 0,
                "nth-call" => calls % number == 0,
                "later-calls" => calls > number,
                _ => false,
            };
            let lies = lies && [0, memory / GIB].contains(&asked.of);
            if want.verdicts {
                judgement.verdicts.push(u8::from(lies));
            }
            if want.costs {
                let cost = if lies { -1.0 } else { *vms as f64 };
                judgement.costs.push(cost);
            }
        }
        Ok(judgement)
    }
}

fn setting(name: &str, kind: Kind, default: Value) -> Setting {
    let choices = match kind {
        Kind::Text => HOWS.map(String::from).to_vec(),
        _ => Vec::new(),
    };
    Setting {
        name: name.into(),
        kind,
        measure: None,
        default: Some(default),
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices,
        meaning: "What the answer depends on".into(),
        columns: Vec::new(),
    }
}

/// The columns of a table.
fn reads(table: &str, columns: &[(&str, Kind)]) -> TableRead {
    let read = |(column, kind): &(&str, Kind)| ColumnRead {
        column: (*column).into(),
        kind: *kind,
        required: true,
        gate: false,
    };
    TableRead {
        table: table.into(),
        columns: columns.iter().map(read).collect(),
    }
}

/// The tables of a call, taken apart.
struct Asked<'a> {
    /// In bytes.
    memory: &'a [i64],
    vms: &'a [i64],
    how: &'a str,
    number: i64,
    of: i64,
}

impl<'a> Asked<'a> {
    fn read(call: &'a Tables) -> Result<Self, Problem> {
        let unfit = || Problem::Failed("the tables are not those that I read".into());
        let rows = *call.rows.first().ok_or_else(unfit)? as usize;
        let (memory, rest) = call.integers.split_at_checked(rows).ok_or_else(unfit)?;
        let (vms, rest) = rest.split_at_checked(rows).ok_or_else(unfit)?;
        let &[how, number, of] = rest else {
            return Err(unfit());
        };
        let how = usize::try_from(how)
            .ok()
            .and_then(|how| call.texts.get(how));
        Ok(Self {
            memory,
            vms,
            how: how.ok_or_else(unfit)?,
            number,
            of,
        })
    }
}

#[cfg(target_arch = "wasm32")]
mod exports {
    use placewright_sdk::bindings::{self, contract, judge};
    use placewright_sdk::contract::{Answers, Description, Judgement, Problem, Tables};

    use super::Hostile;

    impl contract::exports::placewright::policy::unit::Guest for Hostile {
        fn describe() -> Description {
            Self::description()
        }
    }

    impl judge::exports::placewright::policy::judge::Guest for Hostile {
        fn judge(want: Answers, call: Tables) -> Result<Judgement, Problem> {
            Self::judgement(want, &call)
        }
    }

    bindings::contract::export_unit!(Hostile with_types_in placewright_sdk::bindings::contract);
    bindings::judge::export_judge!(Hostile with_types_in placewright_sdk::bindings::judge);
}
