//! CPU and memory of one host: the total, what may be promised, and what is.

use crate::parts::Measure;

/// CPU (cores) and memory (bytes) of a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    pub(crate) cpu: Measure,
    pub(crate) memory: Measure,
}

impl Measures {
    /// Of the host with these columns, as the sums of its cluster count them. `overcommit` is that of
    /// the policy, for the CPU of a host that has none itself.
    pub(crate) fn of_host(amount: impl Fn(&str) -> Option<f64>, overcommit: Option<f64>) -> Self {
        let zero = |name: &str| amount(name).unwrap_or_default();
        let (cpu, memory) = (zero("cpu.total"), zero("memory.total"));
        let cpu_overcommit = amount("cpu.overcommit").or(overcommit);
        let memory_overcommit = amount("memory.overcommit").unwrap_or(1.0);
        Self {
            cpu: Measure {
                committed: zero("cpu.committed"),
                reserved: zero("cpu.pending"),
                used: amount("cpu.usage").map(|share| share * cpu),
                promisable: cpu * cpu_overcommit.unwrap_or(1.0),
                total: cpu,
            },
            memory: Measure {
                committed: zero("memory.committed"),
                reserved: zero("memory.pending"),
                used: amount("memory.free").map(|free| (memory - free).max(0.0)),
                promisable: (memory * memory_overcommit - zero("memory.reserved")).max(0.0),
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
