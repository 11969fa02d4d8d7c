//! The older text format of Prometheus, which not every collector has left behind.

use std::borrow::Cow;
use std::fmt::Write;

/// The media type of [`plain`].
pub const PLAIN_METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics in the format of OpenMetrics, as [`Telemetry::text`] writes them, in the older text
/// format: there a counter's family is called as its sample is, an information is a gauge that
/// is 1, and nothing marks the end.
///
/// [`Telemetry::text`]: super::Telemetry::text
pub fn plain(open_metrics: &str) -> String {
    let mut plain = String::with_capacity(open_metrics.len());
    let mut lines = open_metrics.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(help) = line.strip_prefix("# HELP ") else {
            if !line.starts_with('#') {
                plain.push_str(line);
                plain.push('\n');
            }
            continue;
        };
        let (family, help) = help.split_once(' ').unwrap_or((help, ""));
        let kind = lines.next_if(|it| it.starts_with("# TYPE "));
        let kind = kind.and_then(|it| it.rsplit(' ').next());
        let (name, kind): (Cow<'_, str>, &str) = match kind {
            Some("counter") => (format!("{family}_total").into(), "counter"),
            Some("info") => (format!("{family}_info").into(), "gauge"),
            Some("unknown") | None => (family.into(), "untyped"),
            Some(kind) => (family.into(), kind),
        };
        // Writing to a text does not fail.
        let _ = writeln!(plain, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_called_as_their_samples_are_and_nothing_marks_the_end() {
        let open_metrics = "\
# HELP p_build The program.
# TYPE p_build info
p_build_info{version=\"1\"} 1
# HELP p_decisions Decisions of \\\\ all.
# TYPE p_decisions counter
p_decisions_total{reason=\"# HELP x\"} 3
# HELP p_wait_seconds Waits.
# TYPE p_wait_seconds histogram
p_wait_seconds_sum 0.5
# EOF
";
        let expected = "\
# HELP p_build_info The program.
# TYPE p_build_info gauge
p_build_info{version=\"1\"} 1
# HELP p_decisions_total Decisions of \\\\ all.
# TYPE p_decisions_total counter
p_decisions_total{reason=\"# HELP x\"} 3
# HELP p_wait_seconds Waits.
# TYPE p_wait_seconds histogram
p_wait_seconds_sum 0.5
";
        assert_eq!(plain(open_metrics), expected);
    }
}
