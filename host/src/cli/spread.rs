//! How load was spread over hosts, as bars of text.

use std::fmt::Write;

use placewright_tools::simulate::Report;

/// Characters of the longest bar, by how many replays stand side by side.
const BARS: usize = 84;
/// Characters of the names of classes of load.
const NAMES: usize = 12;
/// Characters of a number of hosts and the blanks around it.
const NUMBERS: usize = 8;

/// The replays side by side, each with its title: one line for empty hosts, then
/// one for each tenth of load, with the mean number of hosts.
pub(super) fn text(replays: &[(&str, &Report)]) -> String {
    let width = BARS / replays.len().max(1) - NUMBERS;
    let most = replays
        .iter()
        .flat_map(|(_, report)| &report.mean_hosts_by_load)
        .fold(1.0, |most: f64, hosts| most.max(*hosts));
    let mut lines = Vec::new();
    if replays.iter().any(|(title, _)| !title.is_empty()) {
        let mut line = " ".repeat(NAMES);
        for (title, _) in replays {
            let _ = write!(line, "{title:<column$}", column = width + NUMBERS);
        }
        lines.push(line);
    }
    let classes = replays
        .iter()
        .map(|(_, report)| report.mean_hosts_by_load.len());
    for class in 0..classes.max().unwrap_or(0) {
        let mut line = format!("{:>wide$}  ", name(class), wide = NAMES - 2);
        for (_, report) in replays {
            let hosts = report.mean_hosts_by_load.get(class).copied().unwrap_or(0.0);
            let bar = bar(hosts / most, width);
            let number = format!("{bar} {hosts:.0}");
            let _ = write!(line, "{number:<column$}", column = width + NUMBERS);
        }
        lines.push(line);
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

fn name(class: usize) -> String {
    match class {
        0 => "empty".to_owned(),
        10 => "over 90 %".to_owned(),
        tenth => format!("to {} %", tenth * 10),
    }
}

/// A bar of blocks, in steps of an eighth.
fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(1.0, 2), "██");
        assert_eq!(bar(0.0001, 4), "▏");
        assert_eq!(bar(0.0, 4), "");
    }
}
