//! Checks of what a unit answers, before anyone uses it.

mod refinement;

pub(super) use refinement::{check_changes, check_facts, check_shares, check_turns};

use super::fault::Cause;
use crate::contract::{
    Answers, BalancePart, Change, JudgePart, Judgement, Operation, Proposal, TableRead,
};

/// Hold a judgement of `rows` rows against what was wanted and declared, and
/// make its costs ready for use: no -0, and +infinity where the unit itself
/// removes the row and gives no cost.
pub(super) fn check_judgement(
    judgement: &mut Judgement,
    want: Answers,
    rows: usize,
    part: &JudgePart,
) -> Result<(), Cause> {
    let wanted = |wanted: bool| if wanted { rows } else { 0 };
    length("verdicts", judgement.verdicts.len(), wanted(want.verdicts))?;
    length("costs", judgement.costs.len(), wanted(want.costs))?;
    if !judgement.until.is_empty() {
        length("entries of until", judgement.until.len(), rows)?;
    }
    check_verdicts(&judgement.verdicts, part.reasons.len())?;
    check_costs(judgement, part.cost_range)
}

fn length(list: &'static str, got: usize, want: usize) -> Result<(), Cause> {
    if got == want {
        return Ok(());
    }
    Err(Cause::Length { list, want, got })
}

fn check_verdicts(verdicts: &[u8], known: usize) -> Result<(), Cause> {
    let greatest = verdicts.iter().fold(0, |greatest, k| greatest.max(*k));
    if usize::from(greatest) <= known {
        return Ok(());
    }
    match verdicts.iter().position(|k| usize::from(*k) > known) {
        None => Ok(()),
        Some(place) => Err(Cause::Reason {
            place,
            reason: verdicts[place],
            known,
        }),
    }
}

fn check_costs(judgement: &mut Judgement, range: Option<(f64, f64)>) -> Result<(), Cause> {
    let (least, greatest) = range.unwrap_or((f64::MIN, f64::MAX));
    let is_within = |cost: f64| ((least <= cost) & (cost <= greatest)) | (cost == f64::INFINITY);
    // Of all of them without a branch, as there is seldom one that is not.
    let all_are = judgement.costs.iter_mut().fold(true, |all_are, cost| {
        // Turns -0 into 0 and leaves everything else.
        *cost += 0.0;
        all_are & is_within(*cost)
    });
    if all_are {
        return Ok(());
    }
    for (row, cost) in judgement.costs.iter_mut().enumerate() {
        if is_within(*cost) {
            continue;
        }
        // A row that is removed has no cost: whatever stands there is not used.
        if judgement.verdicts.get(row).is_some_and(|k| *k != 0) {
            *cost = f64::INFINITY;
        } else if cost.is_nan() || *cost == f64::NEG_INFINITY {
            return Err(Cause::NoCost { row, cost: *cost });
        } else {
            return Err(Cause::OutOfRange {
                row,
                cost: *cost,
                least,
                greatest,
            });
        }
    }
    Ok(())
}

/// Hold proposals against the declared reasons and the rows of the tables that
/// the part was given: `rows` has one number for each declared table.
pub(super) fn check_proposals(
    proposals: &[Proposal],
    part: &BalancePart,
    rows: &[u32],
) -> Result<(), Cause> {
    for (number, proposal) in proposals.iter().enumerate() {
        let reason = proposal.reason();
        if reason == 0 || usize::from(reason) > part.reasons.len() {
            return Err(Cause::Reason {
                place: number,
                reason,
                known: part.reasons.len(),
            });
        }
        let named = |table: &str, row: u32| check_row(number, &part.reads, rows, table, row);
        match proposal {
            Proposal::Move(proposal) => {
                named("hosts/vms", proposal.vm)?;
                check_move_changes(number, &proposal.changes, part)?;
                for host in proposal.among.iter().chain(&proposal.accept) {
                    named("hosts", *host)?;
                }
            }
            Proposal::HostState(proposal) => named("hosts", proposal.host)?,
            Proposal::Finding(proposal) => {
                for row in &proposal.rows {
                    check_numbered(number, &part.reads, rows, row.table, row.row)?;
                }
            }
        }
    }
    Ok(())
}

/// Of a move, rows of the VM are written: nothing is reserved.
fn check_move_changes(
    proposal: usize,
    changes: &[Change],
    part: &BalancePart,
) -> Result<(), Cause> {
    let reserves = |change: &Change| matches!(change.operation, Operation::Reserve(_));
    if changes.iter().any(reserves) {
        return Err(Cause::AgainstContract(format!(
            "proposal {proposal} reserves: a move only writes rows"
        )));
    }
    check_changes(changes, &part.writes, 1)
}

fn check_row(
    proposal: usize,
    reads: &[TableRead],
    rows: &[u32],
    table: &str,
    row: u32,
) -> Result<(), Cause> {
    let number = reads.iter().position(|read| read.table == table);
    let count = number.and_then(|number| rows.get(number)).copied();
    within(proposal, table, row, count.unwrap_or(0))
}

fn check_numbered(
    proposal: usize,
    reads: &[TableRead],
    rows: &[u32],
    table: u32,
    row: u32,
) -> Result<(), Cause> {
    let read = reads.get(table as usize);
    let count = rows.get(table as usize).copied().unwrap_or(0);
    match read {
        Some(read) => within(proposal, &read.table, row, count),
        None => within(proposal, &format!("table {table}"), row, 0),
    }
}

fn within(proposal: usize, table: &str, row: u32, rows: u32) -> Result<(), Cause> {
    if row < rows {
        return Ok(());
    }
    Err(Cause::Row {
        proposal,
        table: table.to_owned(),
        row,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{
        Evaluation, Finding, Kind, Moment, Move, Reason, Row, Scope, Value, Write,
    };

    fn part() -> JudgePart {
        JudgePart {
            answers: Answers::BOTH,
            evaluation: Evaluation::RowWise,
            reads: Vec::new(),
            reasons: vec![Reason {
                text: "is too small".to_owned(),
                passing: false,
            }],
            cost_range: None,
        }
    }

    fn judged(verdicts: &[u8], costs: &[f64]) -> Judgement {
        Judgement {
            verdicts: verdicts.to_vec(),
            costs: costs.to_vec(),
            until: Vec::new(),
        }
    }

    #[test]
    fn a_judgement_has_an_entry_for_each_row_of_what_is_wanted_and_nothing_else() {
        let mut good = judged(&[0, 1], &[1.0, 2.0]);
        assert_eq!(
            check_judgement(&mut good, Answers::BOTH, 2, &part()),
            Ok(())
        );
        assert_eq!(
            check_judgement(&mut good, Answers::BOTH, 3, &part()),
            Err(Cause::Length {
                list: "verdicts",
                want: 3,
                got: 2
            })
        );
        assert!(check_judgement(&mut good, Answers::COSTS, 2, &part()).is_err());
        good.until = vec![7];
        assert!(check_judgement(&mut good, Answers::BOTH, 2, &part()).is_err());
    }

    #[test]
    fn costs_are_numbers_or_infinity_where_the_row_is_kept() {
        for bad in [f64::NAN, f64::NEG_INFINITY] {
            let mut kept = judged(&[0, 0], &[1.0, bad]);
            let cause = check_judgement(&mut kept, Answers::BOTH, 2, &part()).unwrap_err();
            assert!(matches!(cause, Cause::NoCost { row: 1, .. }));
            let mut alone = judged(&[], &[bad, 1.0]);
            assert!(check_judgement(&mut alone, Answers::COSTS, 2, &part()).is_err());
            let mut removed = judged(&[0, 1], &[1.0, bad]);
            check_judgement(&mut removed, Answers::BOTH, 2, &part()).unwrap();
            assert_eq!(removed.costs[1], f64::INFINITY);
        }
        let mut zero = judged(&[], &[-0.0, f64::INFINITY]);
        check_judgement(&mut zero, Answers::COSTS, 2, &part()).unwrap();
        assert!(zero.costs[0].is_sign_positive());
    }

    #[test]
    fn reasons_and_costs_stay_within_what_is_declared() {
        let mut reason = judged(&[0, 2], &[]);
        assert_eq!(
            check_judgement(&mut reason, Answers::VERDICTS, 2, &part()),
            Err(Cause::Reason {
                place: 1,
                reason: 2,
                known: 1
            })
        );
        let ranged = JudgePart {
            cost_range: Some((0.0, 1.0)),
            ..part()
        };
        let mut inside = judged(&[], &[0.0, 1.0, f64::INFINITY]);
        assert_eq!(
            check_judgement(&mut inside, Answers::COSTS, 3, &ranged),
            Ok(())
        );
        let mut outside = judged(&[], &[1.5]);
        assert!(matches!(
            check_judgement(&mut outside, Answers::COSTS, 1, &ranged),
            Err(Cause::OutOfRange { row: 0, .. })
        ));
    }

    #[test]
    fn a_move_writes_only_what_is_declared_and_reserves_nothing() {
        let part = BalancePart {
            reads: vec![TableRead {
                table: "hosts/vms".to_owned(),
                columns: Vec::new(),
            }],
            writes: vec![Write {
                table: "attribute.mirror".to_owned(),
                columns: vec![("host".to_owned(), Kind::Text)],
                scope: Scope::Vm,
                moment: Moment::Running,
            }],
            reasons: part().reasons,
        };
        let moved = |write, operation| {
            let change = Change {
                write,
                entity: 0,
                operation,
            };
            [Proposal::Move(Move {
                vm: 0,
                among: vec![],
                accept: vec![],
                changes: vec![change],
                reason: 1,
            })]
        };
        let text = || vec![Some(Value::Text("n2".to_owned()))];
        let good = moved(0, Operation::Set((0, text())));
        assert_eq!(check_proposals(&good, &part, &[1]), Ok(()));
        for bad in [
            moved(1, Operation::Append(text())),
            moved(0, Operation::Append(Vec::new())),
            moved(0, Operation::Reserve(("memory".to_owned(), 1))),
        ] {
            assert!(check_proposals(&bad, &part, &[1]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn proposals_name_rows_that_exist() {
        let read = |table: &str| TableRead {
            table: table.to_owned(),
            columns: Vec::new(),
        };
        let part = BalancePart {
            reads: vec![read("hosts"), read("hosts/vms")],
            writes: Vec::new(),
            reasons: part().reasons,
        };
        let moved = |vm, host, reason| {
            vec![Proposal::Move(Move {
                vm,
                among: vec![host],
                accept: vec![],
                changes: vec![],
                reason,
            })]
        };
        assert_eq!(check_proposals(&moved(4, 1, 1), &part, &[2, 5]), Ok(()));
        for bad in [
            moved(5, 1, 1),
            moved(4, 2, 1),
            moved(4, 1, 0),
            moved(4, 1, 2),
        ] {
            assert!(check_proposals(&bad, &part, &[2, 5]).is_err(), "{bad:?}");
        }
        let found = |table, row| {
            vec![Proposal::Finding(Finding {
                reason: 1,
                rows: vec![Row { table, row }],
            })]
        };
        assert_eq!(check_proposals(&found(1, 4), &part, &[2, 5]), Ok(()));
        assert!(check_proposals(&found(2, 0), &part, &[2, 5]).is_err());
    }
}
