//! Hosts that a row-wise part cannot tell apart.
//!
//! Many parts read of hosts only relations with the request, which few hosts have,
//! or values that no host has. All hosts without any are one to them: their answers
//! are the same, so that it is enough to ask about one.

use super::encode::HostRows;
use super::plan::{Field, ReadPlan, Source};
use super::subject::Subject;
use placewright_inventory::Inventory;

/// Below so many rows it is not worth looking.
const FEW: usize = 16;

/// The rows to ask about, ascending, where all others are like the first of these
/// that is in no relation; that one's place among them is told besides. None: rows
/// may differ otherwise, or too few would be saved.
pub(super) fn representatives(
    plan: &ReadPlan,
    inventory: &Inventory,
    subject: &Subject<'_>,
    hosts: HostRows<'_>,
) -> Option<(Vec<u32>, usize)> {
    let hosts_table = plan.hosts?;
    if hosts.len() < FEW {
        return None;
    }
    let mut related: Vec<u32> = Vec::new();
    for (number, table) in plan.tables.iter().enumerate() {
        if number != hosts_table && !table.is_below(hosts_table, plan) {
            continue;
        }
        match table.source {
            Source::Hosts => {
                let same = table.columns.iter().all(|column| match column.field {
                    Field::HostColumn(index) => inventory.column(index).is_empty(),
                    _ => true,
                });
                if !same {
                    return None;
                }
            }
            Source::Nested(index) if inventory.nested(index).is_empty() => {}
            Source::Empty => {}
            // Below a relation that is looked at itself.
            Source::Below if table.is_of_held(plan) => {}
            source => related.extend(subject.related_slots(source)?),
        }
    }
    if related.len() * 2 > hosts.len() {
        return None;
    }
    let rows = related.into_iter().filter_map(|slot| hosts.row(slot));
    let mut rows: Vec<u32> = rows.filter_map(|row| u32::try_from(row).ok()).collect();
    rows.sort_unstable();
    rows.dedup();
    // The first row that is missing in the list.
    let place = (0u32..).zip(&rows).take_while(|(n, row)| n == *row).count();
    rows.insert(place, u32::try_from(place).ok()?);
    Some((rows, place))
}
