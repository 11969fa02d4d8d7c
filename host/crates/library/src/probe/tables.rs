//! Tables as rows, to be rearranged and then encoded for a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidates;
use super::random::Random;
use placewright_engine::contract::Call;
use placewright_model::{Kind, Value};

/// A value, or none.
pub(super) type Cell = Option<Value>;

/// The declared tables of a part, in declared order.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    pub(super) tables: Vec<Table>,
    /// How many VMs the request has, whether the part reads them or not.
    pub(super) members: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    /// Which of the tables it stands below.
    pub(super) parent: Option<usize>,
    /// Names and kinds.
    pub(super) columns: Vec<(String, Kind)>,
    /// Those of one parent row together, in the order of the parent's rows.
    pub(super) rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Number of the parent's row; 0 if there is no parent.
    pub(super) parent: usize,
    pub(super) cells: Vec<Cell>,
}

impl Tables {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// How many rows the answer has: one for each host, or one for all.
    pub(super) fn answers(&self) -> usize {
        self.find("hosts")
            .map_or(1, |hosts| self.tables[hosts].rows.len())
    }

    /// How many candidates there are: they are the hosts, whichever of both tables
    /// the part reads.
    pub(super) fn candidates(&self) -> usize {
        let table = self.find(candidates::TABLE).or(self.find("hosts"));
        table.map_or(0, |table| self.tables[table].rows.len())
    }

    /// The same with other hosts: row i is what was row `hosts[i]`, with all
    /// that stands below it.
    pub(super) fn with_hosts(&self, hosts: &[usize]) -> Self {
        let mut tables = self.clone();
        // For tables that changed: which row each new row was.
        let mut origins: Vec<Option<Vec<usize>>> = Vec::new();
        for table in &mut tables.tables {
            let origin = match table.parent {
                None => {
                    let of_hosts = ["hosts", candidates::TABLE].contains(&table.name.as_str());
                    of_hosts.then(|| hosts.to_vec())
                }
                Some(parent) => origins[parent]
                    .as_deref()
                    .map(|of_parent| table.below(of_parent)),
            };
            if let Some(origin) = &origin {
                table.take(
                    origin,
                    table.parent.and_then(|parent| origins[parent].as_deref()),
                );
            }
            origins.push(origin);
        }
        tables
    }

    /// The same at another time.
    pub(super) fn at(&self, now: i64) -> Self {
        let mut tables = self.clone();
        for table in tables
            .tables
            .iter_mut()
            .filter(|table| table.name == "request")
        {
            let Some(column) = table.columns.iter().position(|(name, _)| name == "now") else {
                continue;
            };
            for row in &mut table.rows {
                row.cells[column] = Some(Value::Integer(now));
            }
        }
        tables
    }

    /// The time of the request, if the part reads it.
    pub(super) fn now(&self) -> Option<i64> {
        let table = &self.tables[self.find("request")?];
        let column = table.columns.iter().position(|(name, _)| name == "now")?;
        match table.rows.first()?.cells[column] {
            Some(Value::Integer(now)) => Some(now),
            _ => None,
        }
    }

    /// The same with at most one VM of each group on each host. None where it is so already.
    pub(super) fn counted_once(&self) -> Option<Self> {
        let (name, column) = super::advice::COUNT;
        let number = self.find(name)?;
        let columns = &self.tables[number].columns;
        let column = columns.iter().position(|(name, _)| name == column)?;
        let mut tables = self.clone();
        let mut any = false;
        for row in &mut tables.tables[number].rows {
            if let Some(Value::Integer(count)) = &mut row.cells[column]
                && *count > 1
            {
                (*count, any) = (1, true);
            }
        }
        any.then_some(tables)
    }

    /// As a unit gets them. `seed` decides which text has which code.
    pub(super) fn encode(&self, seed: u64) -> Call {
        let codes = self.codes(seed);
        let mut call = Call::default();
        for table in &self.tables {
            call.rows.push(table.rows.len() as u32);
            if let Some(parent) = table.parent {
                call.integers
                    .extend(table.offsets(self.tables[parent].rows.len()));
            }
            for column in 0..table.columns.len() {
                table.encode(column, &codes, &mut call);
            }
        }
        let mut texts: Vec<_> = codes.into_iter().collect();
        texts.sort_by_key(|(_, code)| *code);
        call.texts = texts.into_iter().map(|(text, _)| text).collect();
        call
    }

    fn codes(&self, seed: u64) -> BTreeMap<Arc<str>, usize> {
        let cells = self.tables.iter().flat_map(|table| &table.rows);
        let mut codes = BTreeMap::new();
        for cell in cells.flat_map(|row| row.cells.iter().flatten()) {
            if let Value::Text(text) = cell {
                codes.insert(text.clone(), 0);
            }
        }
        let order = Random::new(seed).permutation(codes.len());
        for (code, number) in codes.values_mut().zip(order) {
            *code = number;
        }
        codes
    }
}

impl Table {
    /// Where the rows of each parent row begin, and where the last ends.
    fn offsets(&self, parents: usize) -> impl Iterator<Item = i64> {
        (0..=parents).map(|parent| self.rows.partition_point(|row| row.parent < parent) as i64)
    }

    /// Which rows stand below the parent rows that are left, in their order.
    fn below(&self, parents: &[usize]) -> Vec<usize> {
        let rows = |parent: &usize| {
            let begin = self.rows.partition_point(|row| row.parent < *parent);
            let end = self.rows.partition_point(|row| row.parent <= *parent);
            begin..end
        };
        parents.iter().flat_map(rows).collect()
    }

    /// Keep the rows of `origin`; `parents` says which row each parent row was.
    fn take(&mut self, origin: &[usize], parents: Option<&[usize]>) {
        let mut rows: Vec<Row> = origin.iter().map(|row| self.rows[*row].clone()).collect();
        if let Some(parents) = parents {
            let mut rest = rows.iter_mut();
            for (parent, was) in parents.iter().enumerate() {
                let count = self.rows.iter().filter(|row| row.parent == *was).count();
                rest.by_ref()
                    .take(count)
                    .for_each(|row| row.parent = parent);
            }
        }
        self.rows = rows;
    }

    fn encode(&self, column: usize, codes: &BTreeMap<Arc<str>, usize>, call: &mut Call) {
        let number = self.columns[column].1 == Kind::Number;
        for row in &self.rows {
            let cell = &row.cells[column];
            if number {
                if cell.is_none() {
                    call.absent_numbers.push(call.numbers.len() as u32);
                }
                call.numbers.push(match cell {
                    Some(Value::Number(number)) => *number,
                    _ => 0.0,
                });
                continue;
            }
            if cell.is_none() {
                call.absent_integers.push(call.integers.len() as u32);
            }
            call.integers.push(match cell {
                Some(Value::Integer(integer)) => *integer,
                Some(Value::Boolean(boolean)) => i64::from(*boolean),
                Some(Value::Text(text)) => codes.get(text).map_or(0, |code| *code as i64),
                Some(Value::Number(_)) | None => 0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(parent: usize, cell: Cell) -> Row {
        Row {
            parent,
            cells: vec![cell],
        }
    }

    /// The example in the WIT.
    fn example() -> Tables {
        let table = |name: &str, parent, columns: &[(&str, Kind)], rows| Table {
            name: name.to_owned(),
            parent,
            columns: columns
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect(),
            rows,
        };
        let host = |free: i64, usage: Option<f64>| Row {
            parent: 0,
            cells: vec![Some(free.into()), usage.map(Value::Number)],
        };
        Tables {
            tables: vec![
                table(
                    "members",
                    None,
                    &[("memory", Kind::Integer)],
                    vec![row(0, Some(4_294_967_296.into()))],
                ),
                table(
                    "hosts",
                    None,
                    &[("memory.free", Kind::Integer), ("cpu.usage", Kind::Number)],
                    vec![host(8_589_934_592, Some(0.25)), host(1_073_741_824, None)],
                ),
                table(
                    "hosts/networks",
                    Some(1),
                    &[("name", Kind::Text)],
                    vec![
                        row(0, Some("red".into())),
                        row(0, Some("blue".into())),
                        row(1, Some("blue".into())),
                    ],
                ),
            ],
            members: 1,
        }
    }

    #[test]
    fn the_example_of_the_contract_is_encoded_as_it_says() {
        let call = example().encode(0);
        assert_eq!(call.rows, [1, 2, 3]);
        assert_eq!(
            call.integers[..6],
            [4_294_967_296, 8_589_934_592, 1_073_741_824, 0, 2, 3]
        );
        let names: Vec<_> = call.integers[6..]
            .iter()
            .map(|code| &*call.texts[*code as usize])
            .collect();
        assert_eq!(names, ["red", "blue", "blue"]);
        assert_eq!(call.numbers, [0.25, 0.0]);
        assert_eq!(call.absent_integers, [] as [u32; 0]);
        assert_eq!(call.absent_numbers, [1]);
    }

    #[test]
    fn what_stands_below_a_host_goes_with_it() {
        let call = example().with_hosts(&[1, 0, 1]).encode(0);
        assert_eq!(call.rows, [1, 3, 4]);
        assert_eq!(
            call.integers[1..8],
            [1_073_741_824, 8_589_934_592, 1_073_741_824, 0, 1, 3, 4]
        );
        assert_eq!(call.absent_numbers, [0, 2]);
        let none = example().with_hosts(&[]).encode(0);
        assert_eq!(none.rows, [1, 0, 0]);
        assert_eq!(none.integers[1..], [0]);
    }

    #[test]
    fn candidates_go_with_their_hosts() {
        let mut tables = example();
        let share = |share: f64| row(0, Some(share.into()));
        tables.tables.insert(
            0,
            Table {
                name: candidates::TABLE.to_owned(),
                parent: None,
                columns: vec![("share".to_owned(), Kind::Number)],
                rows: vec![share(0.25), share(0.75)],
            },
        );
        tables.tables[3].parent = Some(2);
        assert_eq!(tables.candidates(), 2);
        let call = tables.with_hosts(&[1, 0]).encode(0);
        assert_eq!(call.numbers, [0.75, 0.25, 0.0, 0.25]);
        assert_eq!(call.integers[1..3], [1_073_741_824, 8_589_934_592]);
    }
}
