//! VM count: a host costs as much as there are VMs on it, whatever their size.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("vms.count")]
    running: i64,
    #[column("vms.pending")]
    pending: i64,
    #[column("batch.placed")]
    batch: i64,
}

#[derive(Settings)]
struct Settings {
    /// Which VMs count: all that run on the host or have a place reserved there, or
    /// those alone that the batch at hand has placed there.
    #[setting(default = "all", choices = ["all", "batch"])]
    counted: Text,
}

struct VmCount;

impl RowWise for VmCount {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    /// Whether all VMs count.
    type Need = bool;

    fn prepare((): &(), settings: &Settings) -> Result<bool, Problem> {
        match settings.counted.as_str() {
            "all" => Ok(true),
            "batch" => Ok(false),
            other => Err(Problem::refused(format!(
                "counted must be \"all\" or \"batch\", not \"{other}\""
            ))),
        }
    }
}

impl RowCost for VmCount {
    fn cost(all: &bool, host: &Host) -> f64 {
        match all {
            true => host.running.saturating_add(host.pending) as f64,
            false => host.batch as f64,
        }
    }
}

placewright_sdk::export!(VmCount: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(counted: &str) -> Result<f64, Problem> {
        let counted = counted.into();
        let all = VmCount::prepare(&(), &Settings { counted })?;
        let host = Host {
            running: 3,
            pending: 2,
            batch: 1,
        };
        Ok(VmCount::cost(&all, &host))
    }

    #[test]
    fn a_host_costs_as_much_as_it_has_vms() {
        assert_eq!(cost("all"), Ok(5.0));
        assert_eq!(cost("batch"), Ok(1.0));
    }

    #[test]
    fn what_else_could_count_is_refused() {
        assert!(matches!(cost("some"), Err(Problem::Refused(_))));
    }
}
