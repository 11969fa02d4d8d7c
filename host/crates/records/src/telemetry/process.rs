//! What the program uses of the machine, under the names that this has in every program.

use std::fmt;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use cpu_time::ProcessTime;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

pub(super) fn register(registry: &mut Registry) {
    registry.register_collector(Box::new(Process {
        started: SystemTime::now(),
    }));
}

/// Read when metrics are asked for.
#[derive(Debug)]
struct Process {
    started: SystemTime,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        if let Ok(used) = ProcessTime::try_now() {
            let seconds = ConstCounter::new(used.as_duration().as_secs_f64());
            let help = "Total user and system CPU time spent in seconds.";
            let name = "process_cpu_seconds";
            let encoder = encoder.encode_descriptor(name, help, None, seconds.metric_type())?;
            seconds.encode(encoder)?;
        }
        let mut gauge = |name: &str, help: &str, value: Option<f64>| {
            let Some(value) = value else { return Ok(()) };
            let gauge = ConstGauge::new(value);
            let encoder = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(encoder)
        };
        let started = self.started.duration_since(UNIX_EPOCH);
        gauge(
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            started.ok().map(|since| since.as_secs_f64()),
        )?;
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        gauge(
            "process_resident_memory_bytes",
            "Resident memory size in bytes.",
            kibibytes(&status, "VmRSS"),
        )?;
        gauge(
            "process_virtual_memory_bytes",
            "Virtual memory size in bytes.",
            kibibytes(&status, "VmSize"),
        )?;
        gauge(
            "process_threads",
            "Number of OS threads in the process.",
            first_number(&status, "Threads"),
        )?;
        gauge(
            "process_open_fds",
            "Number of open file descriptors.",
            open_files(),
        )?;
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        gauge(
            "process_max_fds",
            "Maximum number of open file descriptors.",
            first_number(&limits, "Max open files"),
        )
    }
}

/// The first number after a word at the begin of a line; none on platforms that do not have it.
fn first_number(text: &str, word: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    let rest = rest.trim_start_matches(':');
    rest.split_whitespace().next()?.parse().ok()
}

/// The same in bytes, where the kernel says it in KiB.
fn kibibytes(text: &str, word: &str) -> Option<f64> {
    first_number(text, word).map(|amount| amount * 1024.0)
}

/// Open files, without the one by which they are counted.
fn open_files() -> Option<f64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(open.saturating_sub(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_kernel_writes_them() {
        let status = "Name:\tplacewright\nVmSize:\t  2048 kB\nVmRSS:\t    1000 kB\nThreads:\t7\n";
        assert_eq!(kibibytes(status, "VmSize"), Some(2_097_152.0));
        assert_eq!(kibibytes(status, "VmRSS"), Some(1_024_000.0));
        assert_eq!(first_number(status, "Threads"), Some(7.0));
        assert_eq!(first_number(status, "VmSwap"), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(first_number(limits, "Max open files"), Some(1024.0));
        let unlimited =
            "Max open files            unlimited            unlimited            files\n";
        assert_eq!(first_number(unlimited, "Max open files"), None);
    }
}
