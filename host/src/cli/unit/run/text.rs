//! What a unit saw and said, for people.

use placewright_chain::{ColumnSeen, HostSaid, Proposed, RowSeen, Said, TableSeen, WriteSaid};
use placewright_model::{Effect, Entity, GREATEST_INTEGER, RowChange, Value};

use super::Report;
use crate::cli::output;

/// In place of a value that is not there.
const ABSENT: &str = "-";

/// No column counts for more than this when tables are cut to the width of the output.
const WIDEST: usize = 40;

/// Blanks between columns.
const APART: usize = 3;

/// A column of a table for people, all cells of one height.
struct Column {
    /// With `>` before it where values stand to the right.
    name: String,
    cells: Vec<String>,
}

pub(super) fn text(report: &Report<'_>) -> String {
    let mut parts = vec![headline(report)];
    let (with_rows, empty): (Vec<&TableSeen>, Vec<&TableSeen>) =
        report.saw.iter().partition(|table| !table.rows.is_empty());
    let (of_hosts, others): (Vec<&TableSeen>, Vec<&TableSeen>) =
        with_rows.into_iter().partition(|table| is_of_hosts(table));
    let (below_hosts, of_request): (Vec<&TableSeen>, Vec<&TableSeen>) = others
        .into_iter()
        .partition(|table| table.table.starts_with("hosts/"));
    parts.extend(of_request.into_iter().map(seen));
    parts.extend(hosts(&of_hosts, report.said));
    parts.extend(below_hosts.into_iter().map(seen));
    if !empty.is_empty() {
        let names: Vec<String> = empty.iter().map(|it| it.table.to_string()).collect();
        parts.push(output::list("No rows in", &names));
    }
    let not_asked = report.not_asked.iter();
    let not_asked: Vec<String> = not_asked
        .map(|it| format!("Not asked about: host {} {}", it.host, it.reason))
        .collect();
    if !not_asked.is_empty() {
        parts.push(not_asked.join("\n"));
    }
    parts.extend(report.said.and_then(said));
    let logged = report.logged.iter();
    let logged: Vec<String> = logged
        .map(|it| format!("It logged ({}): {}", it.level, it.message))
        .collect();
    if !logged.is_empty() {
        parts.push(logged.join("\n"));
    }
    parts.join("\n\n")
}

/// Whether each row is a host that the unit is asked about.
fn is_of_hosts(table: &TableSeen) -> bool {
    matches!(&*table.table, "hosts" | "candidates")
}

fn headline(report: &Report<'_>) -> String {
    let part = match report.answers.is_empty() {
        true => report.part.to_string(),
        false => report.answers.join(" and "),
    };
    let hosts = report.saw.iter().find(|table| is_of_hosts(table));
    let hosts = hosts.map_or(String::new(), |table| match table.rows.len() {
        1 => ", asked about 1 host".to_owned(),
        rows => format!(", asked about {rows} hosts"),
    });
    format!("{} {}: {part}{hosts}", report.unit, report.version)
}

/// A table that is not about hosts, or below them.
fn seen(table: &TableSeen) -> String {
    if let ([row], None) = (
        &table.rows[..],
        table.rows.first().and_then(|row| row.below.as_ref()),
    ) {
        return one_row(table, row);
    }
    let mut columns = Vec::new();
    if table.rows.iter().any(|row| row.below.is_some()) {
        let above = table.table.rsplit_once('/');
        let above = above.map_or("", |(above, _)| above);
        columns.push(Column {
            name: format!("of {}", noun(above)),
            cells: cells(&table.rows, |row| row.below.as_deref().map(str::to_owned)),
        });
    }
    if table.rows.iter().any(|row| row.id.is_some()) {
        columns.push(Column {
            name: noun(&table.table).to_owned(),
            cells: cells(&table.rows, |row| row.id.as_deref().map(str::to_owned)),
        });
    }
    columns.extend(values(table));
    let first = usize::from(!columns.is_empty());
    match columns.is_empty() {
        true => format!("{}: {} rows", table.table, table.rows.len()),
        false => format!("{}\n{}", table.table, blocks(columns, first)),
    }
}

/// What a row of a table is about.
fn noun(table: &str) -> &str {
    match table {
        "hosts" => "host",
        "groups" => "group",
        "members" | "hosts/vms" => "VM",
        other => other,
    }
}

/// A table of one row, in a line.
fn one_row(table: &TableSeen, row: &RowSeen) -> String {
    let title = match &row.id {
        Some(id) => format!("{} {id}:", table.table),
        None => format!("{}:", table.table),
    };
    let columns = table.columns.iter().zip(&row.values);
    let values: Vec<String> = columns
        .map(|(column, (name, value))| format!("{name} {}", shown(column, value.as_ref())))
        .collect();
    match values.is_empty() {
        true => format!("{title} 1 row"),
        false => output::list(&title, &values),
    }
}

/// The hosts, a row each: what the unit saw of them, and what it said.
fn hosts(tables: &[&TableSeen], said: Option<&Said>) -> Option<String> {
    let judged = match said {
        Some(Said::Hosts(hosts)) => &hosts[..],
        _ => &[],
    };
    if let [HostSaid { host: None, .. }] = judged {
        let columns = verdicts(judged);
        return Some(format!("It said of every host\n{}", blocks(columns, 0)));
    }
    let first = tables.first()?;
    let mut columns = vec![Column {
        name: "host".to_owned(),
        cells: cells(&first.rows, |row| row.id.as_deref().map(str::to_owned)),
    }];
    columns.extend(tables.iter().flat_map(|table| values(table)));
    columns.extend(verdicts(judged));
    Some(format!("hosts\n{}", blocks(columns, 1)))
}

/// What the unit said, a row for each host.
fn verdicts(hosts: &[HostSaid]) -> Vec<Column> {
    let mut columns = Vec::new();
    let column = |name: &str, cells: Vec<String>| Column {
        name: name.to_owned(),
        cells,
    };
    if hosts.iter().any(|host| host.keep.is_some()) {
        columns.push(column("IT SAID", hosts.iter().map(verdict).collect()));
    }
    if hosts.iter().any(|host| host.cost.is_some()) {
        let cost = |host: &HostSaid| host.cost.map_or(ABSENT.to_owned(), output::number);
        columns.push(column(">COST", hosts.iter().map(cost).collect()));
    }
    if hosts.iter().any(|host| host.until.is_some()) {
        let until = |host: &HostSaid| match host.until {
            Some(GREATEST_INTEGER) | None => "for good".to_owned(),
            Some(until) => until.to_string(),
        };
        columns.push(column(">UNTIL", hosts.iter().map(until).collect()));
    }
    columns
}

fn verdict(host: &HostSaid) -> String {
    let passing = if host.passing { " (for now)" } else { "" };
    match (&host.reason, host.keep) {
        (Some(reason), _) => format!("remove: {reason}{passing}"),
        (None, Some(true)) => "keep".to_owned(),
        (None, Some(false)) => "remove".to_owned(),
        (None, None) => ABSENT.to_owned(),
    }
}

/// What a unit said that is not about single hosts.
fn said(said: &Said) -> Option<String> {
    let lines: Vec<String> = match said {
        Said::Hosts(_) => return None,
        Said::Nothing => {
            return Some(
                "It was not asked: the column that is its gate is absent or false.".to_owned(),
            );
        }
        Said::Groups(groups) => (1..)
            .zip(groups)
            .map(|(number, group)| {
                let members = group.iter();
                let members: Vec<String> = members
                    .map(|it| format!("{} {}", it.host, output::number(it.share)))
                    .collect();
                output::list(&format!("group {number}:"), &members)
            })
            .collect(),
        Said::Writes(writes) => writes.iter().map(write).collect(),
        Said::Turns(turns) => (1..)
            .zip(turns)
            .map(|(number, turn)| format!("turn {number}: {}", turn.join(", ")))
            .collect(),
        Said::Proposals(proposals) => proposals.iter().map(proposal).collect(),
    };
    Some(match lines.is_empty() {
        true => "It said: nothing".to_owned(),
        false => format!("It said\n{}", lines.join("\n")),
    })
}

fn proposal(proposal: &Proposed) -> String {
    match proposal {
        Proposed::Move {
            vm,
            from,
            among,
            accept,
            reason,
            ..
        } => {
            let to = match among.is_empty() {
                true => "any host".to_owned(),
                false => among.join(" or "),
            };
            let accept = match accept.is_empty() {
                true => String::new(),
                false => format!(", if the policy takes {}", accept.join(" or ")),
            };
            format!("move {vm} from {from} to {to}{accept}: its host {reason}")
        }
        Proposed::HostState {
            host,
            state,
            reason,
        } => format!("bring {host} into {state}: it {reason}"),
        Proposed::Finding { reason, about } => {
            let about: Vec<String> = about
                .iter()
                .map(|(table, id)| format!("{table} {id}"))
                .collect();
            format!("finding about {}: {reason}", about.join(", "))
        }
    }
}

fn write(write: &WriteSaid) -> String {
    let when = match write.once_running {
        true => ", once it runs",
        false => "",
    };
    let value = |(column, value): (&str, Option<&Value>)| match value {
        Some(value) => format!("{column} = {value}"),
        None => format!("no {column}"),
    };
    match &write.effect {
        Effect::Reserve { vm, amount, value } => format!("reserve {value} of {amount} for {vm}"),
        Effect::Row {
            entity,
            table,
            change,
        } => {
            let change = match change {
                RowChange::Append(facts) => {
                    let values = facts.values().map(|(column, it)| value((column, Some(it))));
                    format!("add a row: {}", values.collect::<Vec<_>>().join(", "))
                }
                RowChange::Set(row, values) => {
                    let values = values
                        .iter()
                        .map(|(column, it)| value((column, it.as_ref())));
                    format!("set row {row}: {}", values.collect::<Vec<_>>().join(", "))
                }
                RowChange::Remove(row) => format!("remove row {row}"),
            };
            format!("{table} of {}{when}: {change}", whose(entity))
        }
    }
}

/// Whose table is written.
fn whose(entity: &Entity) -> String {
    match entity {
        Entity::Placement(vm) => format!("the placement of {vm}"),
        Entity::Vm(vm) => format!("VM {vm}"),
        Entity::Host(host) => format!("host {host}"),
        Entity::Tenant(tenant) => format!("tenant {tenant}"),
        Entity::Cluster => "the cluster".to_owned(),
    }
}

/// The columns of a table as the unit saw them.
fn values(table: &TableSeen) -> Vec<Column> {
    let columns = table.columns.iter().enumerate();
    let columns = columns.map(|(number, column)| {
        let values = || {
            table
                .rows
                .iter()
                .filter_map(move |row| row.values.get(number))
        };
        let is_number =
            values().all(|(_, value)| !matches!(value, Some(Value::Text(_) | Value::Boolean(_))));
        let right = if is_number { ">" } else { "" };
        Column {
            name: format!("{right}{}", column.name),
            cells: values()
                .map(|(_, value)| shown(column, value.as_ref()))
                .collect(),
        }
    });
    columns.collect()
}

fn shown(column: &ColumnSeen, value: Option<&Value>) -> String {
    match (value, column.measure) {
        (None, _) => ABSENT.to_owned(),
        (Some(value), Some(measure)) => measure.display(value),
        (Some(Value::Number(number)), None) => output::number(*number),
        (Some(value), None) => value.to_string(),
    }
}

fn cells(rows: &[RowSeen], cell: impl Fn(&RowSeen) -> Option<String>) -> Vec<String> {
    let cells = rows.iter().map(|row| cell(row).unwrap_or_default());
    cells.collect()
}

/// One table below the other, each as wide as the output at most; the first `fixed` columns
/// begin each of them.
fn blocks(columns: Vec<Column>, fixed: usize) -> String {
    let width = usize::from(output::table(&[]).width().unwrap_or(output::WIDTH));
    let wide = |column: &Column| {
        let cells = column.cells.iter().map(|cell| cell.chars().count());
        let name = column.name.trim_start_matches('>').chars().count();
        cells.max().unwrap_or(0).max(name).min(WIDEST) + APART
    };
    let (first, rest) = columns.split_at(fixed.min(columns.len()));
    let taken: usize = first.iter().map(wide).sum();
    let mut blocks: Vec<Vec<&Column>> = vec![first.iter().collect()];
    let mut used = taken;
    for column in rest {
        let is_new = blocks.last().is_some_and(|block| block.len() == fixed);
        if used + wide(column) > width && !is_new {
            blocks.push(first.iter().collect());
            used = taken;
        }
        if let Some(block) = blocks.last_mut() {
            block.push(column);
        }
        used += wide(column);
    }
    let blocks: Vec<String> = blocks.iter().map(|block| table(block)).collect();
    blocks.join("\n\n")
}

fn table(columns: &[&Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let mut table = output::table(&names);
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells = columns.iter().map(|column| column.cells.get(row));
        table.add_row(cells.map(|cell| cell.map_or("", String::as_str)));
    }
    output::shown(&table)
}
