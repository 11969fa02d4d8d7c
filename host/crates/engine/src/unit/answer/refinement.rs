//! Checks of what selections, effects, orders and explanations answer.

use crate::contract::bounds::{NAME, TEXT};
use crate::contract::{
    Change, Fact, Kind, Operation, Scope, Shares, TableRead, Turns, Value, Write,
};
use crate::unit::fault::Cause;
use placewright_model::{GREATEST_INTEGER, excerpt};

/// How far the shares of a group may be from 1 in sum.
const SUM_TOLERANCE: f64 = 1e-9;

/// Hold shares against the rules: known candidates, each at most once, and shares
/// that sum to 1 in each group, or are all 0.
pub(in crate::unit) fn check_shares(shares: &Shares, candidates: usize) -> Result<(), Cause> {
    if shares.shares.len() != shares.rows.len() {
        return Err(Cause::Length {
            list: "shares",
            want: shares.rows.len(),
            got: shares.shares.len(),
        });
    }
    check_offsets("groups", &shares.groups, shares.rows.len())?;
    check_rows("candidate", &shares.rows, candidates)?;
    for (group, bounds) in shares.groups.windows(2).enumerate() {
        let of_group = &shares.shares[bounds[0] as usize..bounds[1] as usize];
        if let Some(share) = of_group.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(broken(format!(
                "a share of group {group} is {share}; shares lie between 0 and 1"
            )));
        }
        let sum: f64 = of_group.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE && of_group.iter().any(|share| *share > 0.0) {
            return Err(broken(format!(
                "the shares of group {group} sum to {sum}; they must sum to 1, or all be 0"
            )));
        }
    }
    Ok(())
}

/// Hold turns against the rules: known members, each at most once.
pub(in crate::unit) fn check_turns(turns: &Turns, members: usize) -> Result<(), Cause> {
    check_offsets("turns", &turns.turns, turns.rows.len())?;
    check_rows("member", &turns.rows, members)
}

/// Hold changes against the declared writes: known writes and entities, and values
/// that fit the declared columns. `members` is how many there are.
pub(in crate::unit) fn check_changes(
    changes: &[Change],
    writes: &[Write],
    members: usize,
) -> Result<(), Cause> {
    for (number, change) in changes.iter().enumerate() {
        let wrong = |what: String| Err(broken(format!("change {number} {what}")));
        // What is reserved belongs to a placement, whatever write it names.
        if let Operation::Reserve((amount, value)) = &change.operation {
            if change.entity as usize >= members {
                return wrong(format!(
                    "reserves for member {} of {members}",
                    change.entity
                ));
            }
            if !(0..=GREATEST_INTEGER).contains(value) {
                return wrong(format!("reserves {value} of \"{}\"", excerpt(amount)));
            }
            if is_long_name(amount) {
                return wrong(format!(
                    "reserves of \"{}\", and a name has at most {NAME} characters",
                    excerpt(amount)
                ));
            }
            continue;
        }
        let Some(write) = writes.get(change.write as usize) else {
            return wrong(format!(
                "is for write {}, and it declares {}",
                change.write,
                writes.len()
            ));
        };
        let entities = match write.scope {
            Scope::Placement | Scope::Vm => members,
            Scope::Tenant | Scope::Host | Scope::Cluster => 1,
        };
        if change.entity as usize >= entities {
            return wrong(format!(
                "is for row {} of {entities} that there are",
                change.entity
            ));
        }
        match &change.operation {
            Operation::Append(values) | Operation::Set((_, values)) => {
                if let Err(what) = check_values(values, write) {
                    return wrong(what);
                }
            }
            Operation::Remove(_) | Operation::Reserve(_) => {}
        }
    }
    Ok(())
}

fn check_values(values: &[Option<Value>], write: &Write) -> Result<(), String> {
    if values.len() != write.columns.len() {
        return Err(format!(
            "has {} values for the {} columns of {}",
            values.len(),
            write.columns.len(),
            write.table
        ));
    }
    for (value, (column, kind)) in values.iter().zip(&write.columns) {
        let fits = match value {
            None => true,
            Some(Value::Integer(value)) => {
                *kind == Kind::Integer && value.unsigned_abs() <= GREATEST_INTEGER.unsigned_abs()
            }
            Some(Value::Number(value)) => *kind == Kind::Number && value.is_finite(),
            Some(Value::Boolean(_)) => *kind == Kind::Boolean,
            Some(Value::Text(text)) => {
                if text.len() > TEXT {
                    return Err(format!(
                        "gives {column} of {} a text of {} bytes, and at most {TEXT} are allowed",
                        write.table,
                        text.len()
                    ));
                }
                *kind == Kind::Text
            }
        };
        if !fits {
            return Err(format!(
                "gives {} of {} a value that it cannot have",
                column, write.table
            ));
        }
    }
    Ok(())
}

/// Hold facts against the tables that the part was given.
pub(in crate::unit) fn check_facts(
    facts: &[Fact],
    reads: &[TableRead],
    rows: &[u32],
) -> Result<(), Cause> {
    for (number, fact) in facts.iter().enumerate() {
        if is_long_name(&fact.name) {
            return Err(broken(format!(
                "the name of fact {number} has more than {NAME} characters: \"{}\"",
                excerpt(&fact.name)
            )));
        }
        if let Value::Text(text) = &fact.value
            && text.len() > TEXT
        {
            return Err(broken(format!(
                "the text of fact {number} has {} bytes, and at most {TEXT} are allowed",
                text.len()
            )));
        }
        let Some(about) = fact.about else {
            continue;
        };
        let known = rows.get(about.table as usize).copied().unwrap_or(0);
        if about.row >= known {
            let table = reads.get(about.table as usize);
            let table = table.map_or("a table that it does not read", |read| &read.table);
            return Err(broken(format!(
                "fact {number} is about row {} of {table}, which has {known}",
                about.row
            )));
        }
    }
    Ok(())
}

/// Offsets go from 0 to the number of rows and never down.
fn check_offsets(list: &'static str, offsets: &[u32], rows: usize) -> Result<(), Cause> {
    let rising = offsets.is_sorted();
    let (first, last) = (offsets.first(), offsets.last());
    if rising && first == Some(&0) && last.is_some_and(|last| *last as usize == rows) {
        return Ok(());
    }
    // No offsets at all is no group at all.
    if offsets.is_empty() && rows == 0 {
        return Ok(());
    }
    Err(broken(format!(
        "the offsets \"{list}\" do not lead from 0 to the {rows} rows"
    )))
}

/// Rows exist and are named once.
fn check_rows(what: &str, rows: &[u32], count: usize) -> Result<(), Cause> {
    let mut seen = vec![false; count];
    for row in rows {
        match seen.get_mut(*row as usize) {
            None => {
                return Err(broken(format!(
                    "it names {what} {row}, and there are {count}"
                )));
            }
            Some(seen) if *seen => {
                return Err(broken(format!("it names {what} {row} twice")));
            }
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

fn is_long_name(name: &str) -> bool {
    name.len() > NAME && name.chars().nth(NAME).is_some()
}

fn broken(what: String) -> Cause {
    Cause::AgainstContract(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Moment, Row};

    fn shares(groups: &[u32], rows: &[u32], shares: &[f64]) -> Shares {
        Shares {
            groups: groups.to_vec(),
            rows: rows.to_vec(),
            shares: shares.to_vec(),
        }
    }

    #[test]
    fn shares_are_of_known_candidates_and_sum_to_one_or_are_all_zero() {
        let good = shares(&[0, 2, 3], &[4, 1, 0], &[0.25, 0.75, 0.0]);
        assert_eq!(check_shares(&good, 5), Ok(()));
        assert_eq!(check_shares(&shares(&[0], &[], &[]), 5), Ok(()));
        assert_eq!(check_shares(&shares(&[], &[], &[]), 5), Ok(()));
        for bad in [
            shares(&[0, 2], &[5, 1], &[0.5, 0.5]),
            shares(&[0, 2], &[1, 1], &[0.5, 0.5]),
            shares(&[0, 2], &[1, 2], &[0.5, 0.6]),
            shares(&[0, 2], &[1, 2], &[f64::NAN, 1.0]),
            shares(&[0, 2], &[1, 2], &[-0.5, 1.5]),
            shares(&[0, 2], &[1, 2], &[1.0]),
            shares(&[0, 1], &[1, 2], &[0.5, 0.5]),
            shares(&[1, 2], &[1, 2], &[0.5, 0.5]),
            shares(&[0, 2, 1, 2], &[1, 2], &[0.5, 0.5]),
        ] {
            assert!(check_shares(&bad, 5).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn turns_name_members_once() {
        let turns = |turns: &[u32], rows: &[u32]| Turns {
            turns: turns.to_vec(),
            rows: rows.to_vec(),
        };
        assert_eq!(check_turns(&turns(&[0, 1, 3], &[2, 0, 1]), 4), Ok(()));
        assert!(check_turns(&turns(&[0, 1, 3], &[2, 0, 2]), 4).is_err());
        assert!(check_turns(&turns(&[0, 1], &[4]), 4).is_err());
        assert!(check_turns(&turns(&[0, 2], &[1]), 4).is_err());
    }

    #[test]
    fn changes_fit_the_declared_writes() {
        let writes = [Write {
            table: "keys".to_owned(),
            columns: vec![("name".to_owned(), Kind::Text)],
            scope: Scope::Placement,
            moment: Moment::Decided,
        }];
        let change = |write, entity, operation| {
            vec![Change {
                write,
                entity,
                operation,
            }]
        };
        let text = || vec![Some(Value::Text("a".to_owned()))];
        let good = [
            change(0, 1, Operation::Append(text())),
            change(0, 0, Operation::Set((3, vec![None]))),
            change(0, 0, Operation::Reserve(("memory".to_owned(), 5))),
        ];
        for good in good {
            assert_eq!(check_changes(&good, &writes, 2), Ok(()));
        }
        for bad in [
            change(1, 0, Operation::Remove(0)),
            change(0, 2, Operation::Remove(0)),
            change(0, 0, Operation::Append(Vec::new())),
            change(0, 0, Operation::Append(vec![Some(Value::Integer(1))])),
            change(0, 0, Operation::Reserve(("memory".to_owned(), -1))),
            change(0, 0, Operation::Reserve(("m".repeat(NAME + 1), 5))),
            change(
                0,
                0,
                Operation::Append(vec![Some(Value::Text("a".repeat(TEXT + 1)))]),
            ),
        ] {
            assert!(check_changes(&bad, &writes, 2).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_least_integer_is_beyond_what_may_be_written() {
        let write = Write {
            table: "keys".to_owned(),
            columns: vec![("number".to_owned(), Kind::Integer)],
            scope: Scope::Placement,
            moment: Moment::Decided,
        };
        let given = |value| check_values(&[Some(Value::Integer(value))], &write);
        assert_eq!(given(-GREATEST_INTEGER), Ok(()));
        for beyond in [i64::MIN, -GREATEST_INTEGER - 1, GREATEST_INTEGER + 1] {
            assert!(given(beyond).is_err(), "{beyond}");
        }
    }

    #[test]
    fn names_and_texts_of_facts_are_short() {
        let fact = |name: usize, text: usize| {
            [Fact {
                name: "n".repeat(name),
                about: None,
                value: Value::Text("t".repeat(text)),
            }]
        };
        assert_eq!(check_facts(&fact(NAME, TEXT), &[], &[]), Ok(()));
        assert!(check_facts(&fact(NAME + 1, 1), &[], &[]).is_err());
        assert!(check_facts(&fact(1, TEXT + 1), &[], &[]).is_err());
    }

    #[test]
    fn facts_are_about_rows_that_exist() {
        let reads = [TableRead {
            table: "hosts".to_owned(),
            columns: Vec::new(),
        }];
        let fact = |table, row| {
            vec![Fact {
                name: "n".to_owned(),
                about: Some(Row { table, row }),
                value: Value::Integer(1),
            }]
        };
        assert_eq!(check_facts(&fact(0, 1), &reads, &[2]), Ok(()));
        assert!(check_facts(&fact(0, 2), &reads, &[2]).is_err());
        assert!(check_facts(&fact(1, 0), &reads, &[2]).is_err());
    }
}
