//! What is not wrong in a unit and could be better: mostly, what keeps answers from being
//! kept for the next request.

use placewright_engine::contract::TableRead;

/// A count of which a row says already that it is not 0.
pub(super) const COUNT: (&str, &str) = ("hosts/group-members", "vms");

pub(super) const YES_OR_NO_WOULD_DO: &str = "it reads how many VMs of a group are on each host (hosts/group-members: vms) and answers the same whether there is one or more; \
     read only the column \"group\", since there is a row for no other groups: then answers are kept while the number changes";

pub(super) const FOR_ONE_SECOND: &str = "it reads the time (request: now) and every answer ends with the second that it was given in, so none is ever kept; \
     say with each answer until when it holds: in Rust, write the function `until` of `RowWise`";

pub(super) const ROW_WISE_WOULD_DO: &str = "it looks at the whole table, and in all that was made up it answered for each host alone as among others; \
     if its rule compares no hosts, make it row-wise: it is then asked again only about hosts that have changed";

/// Tables of the request, in which each row is of someone.
const OF_THE_REQUEST: [&str; 2] = ["request", "members"];

/// Columns by which no two requests are alike.
const WHO: [&str; 2] = ["id", "name"];

/// What the declared columns show.
pub(super) fn of_reads(reads: &[TableRead]) -> impl Iterator<Item = String> {
    let tables = reads.iter();
    let tables = tables.filter(|read| OF_THE_REQUEST.contains(&read.table.as_str()));
    tables.flat_map(|read| {
        let columns = read.columns.iter();
        // A gate only says whether the part is asked at all.
        let columns = columns.filter(|column| !column.gate && WHO.contains(&column.column.as_str()));
        columns.map(|column| {
            let (table, column) = (&read.table, &column.column);
            format!(
                "it reads who the VM is ({table}: {column}), so that no answer for one VM can be used for another like it; \
                 read what it needs of the VM instead, or a relation such as hosts/current, which names rows and no ids"
            )
        })
    })
}
