//! Answers, sound but for what the setting says.

use std::sync::atomic::{AtomicU32, Ordering};

use placewright_sdk::contract::{
    Change, Fact, Operation, Problem, Row, Shares, Tables, Turns, Value,
};

/// Calls of the effects so far, of which a sound unit knows nothing.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// A call, taken apart.
pub struct Asked<'a> {
    /// How many rows the table has that the part reads.
    rows: u32,
    how: &'a str,
}

impl<'a> Asked<'a> {
    pub fn read(call: &'a Tables) -> Result<Self, Problem> {
        let unfit = || Problem::Failed("the tables are not those that I read".into());
        let rows = *call.rows.first().ok_or_else(unfit)?;
        let code = *call.integers.last().ok_or_else(unfit)?;
        let how = usize::try_from(code)
            .ok()
            .and_then(|code| call.texts.get(code));
        // Hyphens fill a default up that a test has put in place of another.
        let how = how.ok_or_else(unfit)?.trim_end_matches('-');
        if how == "traps" {
            trap();
        }
        Ok(Self { rows, how })
    }

    /// One group of all rows with equal shares.
    pub fn shares(&self) -> Shares {
        let count = self.rows as usize;
        let mut answer = Shares {
            groups: vec![0, self.rows],
            rows: (0..self.rows).collect(),
            shares: vec![1.0 / f64::from(self.rows.max(1)); count],
        };
        if count == 0 {
            return answer;
        }
        let last = count - 1;
        match self.how {
            "sums-to-half" => answer.shares.iter_mut().for_each(|share| *share /= 2.0),
            "candidate-twice" => answer.rows[last] = 0,
            "offsets-fall" => answer.groups = vec![0, self.rows, 0, self.rows],
            "shares-missing" => answer.shares.truncate(last),
            "first-row-only" => {
                answer = Shares {
                    groups: vec![0, 1],
                    rows: vec![0],
                    shares: vec![1.0],
                };
            }
            _ => {}
        }
        answer
    }

    /// A key for the placement of the first member.
    pub fn changes(&self) -> Vec<Change> {
        let text = || Some(Value::Text("key".into()));
        let values = match self.how {
            "wrong-kind" => vec![text(), text()],
            "values-missing" => vec![text()],
            "remembers" => {
                let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
                vec![text(), Some(Value::Number(f64::from(calls)))]
            }
            _ => vec![text(), Some(Value::Number(1.0))],
        };
        vec![Change {
            write: u32::from(self.how == "no-write"),
            entity: 0,
            operation: Operation::Append(values),
        }]
    }

    /// One turn of all members.
    pub fn turns(&self) -> Turns {
        let mut rows: Vec<u32> = (0..self.rows).collect();
        if self.how == "member-twice" {
            rows.push(0);
        }
        let end = if self.how == "offsets-fall" {
            0
        } else {
            rows.len() as u32
        };
        Turns {
            turns: vec![0, end],
            rows,
        }
    }

    /// A fact about each row.
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |about| Fact {
            name: "seen".into(),
            about: Some(about),
            value: Value::Boolean(true),
        };
        let rows = (0..self.rows).map(|row| Row { table: 0, row });
        let mut facts: Vec<Fact> = rows.map(fact).collect();
        match self.how {
            "fact-no-row" => facts.push(fact(Row {
                table: 0,
                row: self.rows,
            })),
            "fact-no-table" => facts.push(fact(Row { table: 2, row: 0 })),
            _ => {}
        }
        facts
    }
}

/// Ends without a word, as a unit does whose language has no panics.
fn trap() {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
}
