//! The one place that prints: tables, JSON, and sentences on standard error.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};
use serde::Serialize;

use super::failure::Failure;
use super::visible;

/// The width of tables where the output is no terminal.
pub(super) const WIDTH: u16 = 100;

/// Narrower tables cannot be read; some terminals say that they have no width.
const LEAST_WIDTH: u16 = 60;

/// A line below the header, and nothing else.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// What output looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
}

/// Print to standard output, for people.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    write(&visible::text(text))
}

/// Print a document to standard output: byte by byte as it is into a file or to a program, and as
/// [`print()`] on a terminal, which would act on what somebody else has written into it.
pub(super) fn print_document(text: &str) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => print(text),
        false => write(text),
    }
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| match text.ends_with('\n') || text.is_empty() {
            true => Ok(()),
            false => out.write_all(b"\n"),
        })
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

/// Print a value as JSON.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::internal)?;
    write(&visible::json(&text))
}

/// Print an error. Where it cannot be printed, there is nobody to tell.
pub(super) fn complain(sentence: &str) {
    let mark = match io::stderr().is_terminal() && colours_wanted() {
        true => "\u{1b}[1;31merror:\u{1b}[0m",
        false => "error:",
    };
    // A closed standard error is no reason to end in another way.
    let _ = writeln!(io::stderr(), "{mark} {}", visible::text(sentence));
}

/// Print warnings. They change nothing of the result.
pub(super) fn warn(sentences: &[String]) {
    let mark = match io::stderr().is_terminal() && colours_wanted() {
        true => "\u{1b}[1;33mwarning:\u{1b}[0m",
        false => "warning:",
    };
    for sentence in sentences {
        let _ = writeln!(io::stderr(), "{mark} {}", visible::text(sentence));
    }
}

/// What is said of a decision for no host, of so many that were considered.
pub(super) fn nobody_left(considered: usize) -> String {
    match considered {
        0 => "no host was considered".to_owned(),
        1 => "the only host was removed".to_owned(),
        _ => format!("none of {considered} hosts is left"),
    }
}

/// What is said of a plan of many VMs of which not all places are reserved.
pub(super) fn unreserved(all_find_one: bool) -> &'static str {
    match all_find_one {
        false => "Not every VM finds a host: all or nothing was asked for, so none gets one.",
        true => "Not every place can be reserved as things are: the moves need an order.",
    }
}

/// The first of these names, and how many more there are.
pub(super) fn some_of(names: &[&str]) -> String {
    const MOST: usize = 10;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Print a remark beside the result.
pub(super) fn remark(sentence: &str) {
    let _ = writeln!(io::stderr(), "{}", visible::text(sentence));
}

fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A table with these columns; those whose names begin with `>` stand to the right.
pub(super) fn table(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !(io::stdout().is_terminal() && colours_wanted()) {
        table.force_no_tty().set_width(WIDTH);
    } else if table.width().is_none_or(|width| width < LEAST_WIDTH) {
        table.set_width(LEAST_WIDTH);
    }
    let right: Vec<bool> = columns.iter().map(|name| name.starts_with('>')).collect();
    let names = columns
        .iter()
        .map(|name| heading(name.trim_start_matches('>')));
    table.set_header(names.collect::<Vec<_>>());
    for (column, right) in table.column_iter_mut().zip(right) {
        column.set_padding((0, 2));
        if right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn heading(name: &str) -> Cell {
    Cell::new(name).add_attribute(Attribute::Bold)
}

/// A cell that stands out on a terminal.
pub(super) fn strong(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).add_attribute(Attribute::Bold)
}

/// Whether something is as it should be, for the colour that says so on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
}

impl Tone {
    fn colour(self) -> Color {
        match self {
            Tone::Good => Color::Green,
            Tone::Bad => Color::Red,
        }
    }
}

/// A word in colour, if standard output shows colours.
pub(super) fn toned(text: &str, tone: Tone) -> String {
    if !(io::stdout().is_terminal() && colours_wanted()) {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Good => 32,
        Tone::Bad => 31,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// A cell in colour on a terminal.
pub(super) fn toned_cell(text: impl ToString, tone: Tone) -> Cell {
    Cell::new(text.to_string()).fg(tone.colour())
}

/// The table as text, without blanks at the ends of lines.
pub(super) fn shown(table: &Table) -> String {
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// A list after its title, in lines that are no wider than tables.
pub(super) fn list(title: &str, items: &[String]) -> String {
    let (mut text, mut width) = (title.to_owned(), title.chars().count());
    for (number, item) in items.iter().enumerate() {
        let comma = if number + 1 < items.len() { "," } else { "" };
        let item = format!(" {item}{comma}");
        let wide = item.chars().count();
        if number > 0 && width + wide > usize::from(WIDTH) {
            text.push_str("\n ");
            width = 1;
        }
        text.push_str(&item);
        width += wide;
    }
    text
}

/// A number that people read: thousands apart, no more decimals than matter.
pub(super) fn number(number: f64) -> String {
    if !number.is_finite() {
        return "∞".to_owned();
    }
    let decimals = match number.abs() {
        size if size >= 100.0 || number.fract() == 0.0 => 0,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{number:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut shown = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    match rest.is_empty() {
        true => shown,
        false => format!("{shown}.{rest}"),
    }
}

/// Bytes as people read them.
pub(super) fn bytes(bytes: i64) -> String {
    let unsigned = bytesize::ByteSize(bytes.unsigned_abs());
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", unsigned.display().iec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_go_on_in_the_next_line() {
        let items = ["a".repeat(60), "b".repeat(60), "c".to_owned()];
        let text = list("Units:", &items);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("Units: {},", "a".repeat(60)));
        assert_eq!(lines[1], format!("  {}, c", "b".repeat(60)));
        assert_eq!(list("Units:", &[]), "Units:");
    }

    #[test]
    fn numbers_are_shown_as_people_read_them() {
        let shown = [0.0, 1234.0, -1_234_567.8, 12.345, 0.01234, f64::INFINITY].map(number);
        assert_eq!(shown, ["0", "1,234", "-1,234,568", "12.35", "0.0123", "∞"]);
    }
}
