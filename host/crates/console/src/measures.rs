//! CPU and memory of one host: the total, what may be promised, and what is.

use crate::parts::Measure;

/// CPU (cores) and memory (bytes) of a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    pub(crate) cpu: Measure,
    pub(crate) memory: Measure,
}

/// The columns of a host that they are made of.
pub(crate) const AMOUNTS: [&str; 11] = [
    "cpu.total",
    "cpu.overcommit",
    "cpu.usage",
    "cpu.committed",
    "cpu.pending",
    "memory.total",
    "memory.overcommit",
    "memory.free",
    "memory.reserved",
    "memory.committed",
    "memory.pending",
];

impl Measures {
    /// Of the host with these columns, as the sums of its cluster count them. `overcommit` is that of
    /// the policy, for the CPU of a host that has none itself.
    pub(crate) fn of_host(amount: impl Fn(&str) -> Option<f64>, overcommit: Option<f64>) -> Self {
        Self::of(AMOUNTS.map(amount), overcommit)
    }

    /// The same, from the values of [`AMOUNTS`] in their order.
    pub(crate) fn of(
        [
            cpu,
            cpu_overcommit,
            cpu_usage,
            cpu_committed,
            cpu_pending,
            memory,
            memory_overcommit,
            memory_free,
            memory_reserved,
            memory_committed,
            memory_pending,
        ]: [Option<f64>; AMOUNTS.len()],
        overcommit: Option<f64>,
    ) -> Self {
        let (cpu, memory) = (cpu.unwrap_or_default(), memory.unwrap_or_default());
        let may_promise = memory * memory_overcommit.unwrap_or(1.0);
        Self {
            cpu: Measure {
                committed: cpu_committed.unwrap_or_default(),
                reserved: cpu_pending.unwrap_or_default(),
                used: cpu_usage.map(|share| share * cpu),
                promisable: cpu * cpu_overcommit.or(overcommit).unwrap_or(1.0),
                total: cpu,
            },
            memory: Measure {
                committed: memory_committed.unwrap_or_default(),
                reserved: memory_pending.unwrap_or_default(),
                used: memory_free.map(|free| (memory - free).max(0.0)),
                promisable: (may_promise - memory_reserved.unwrap_or_default()).max(0.0),
                total: memory,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn measures(host: &Value, overcommit: Option<f64>) -> Measures {
        Measures::of_host(|name| host[name].as_f64(), overcommit)
    }

    #[test]
    fn cpu_may_be_promised_as_the_host_says_or_else_the_policy_or_else_once() {
        let plain = json!({"cpu.total": 4.0});
        let own = json!({"cpu.total": 4.0, "cpu.overcommit": 3.0});
        assert_eq!(measures(&plain, None).cpu.promisable, 4.0);
        assert_eq!(measures(&plain, Some(2.0)).cpu.promisable, 8.0);
        assert_eq!(measures(&own, Some(2.0)).cpu.promisable, 12.0);
    }

    #[test]
    fn what_a_host_needs_itself_is_not_overcommitted() {
        let host =
            json!({"memory.total": 100.0, "memory.overcommit": 1.5, "memory.reserved": 10.0});
        assert_eq!(measures(&host, None).memory.promisable, 140.0);
    }
}
