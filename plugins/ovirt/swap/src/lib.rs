//! Swap: leaves out hosts that use too much swap. What would fit into free memory
//! again is not counted.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    state: Option<Text>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    memory: Bytes,
    #[column("memory.free")]
    free: Option<Bytes>,
    #[column("swap.total")]
    swap: Option<Bytes>,
    #[column("swap.free")]
    swap_free: Option<Bytes>,
}

impl Host {
    /// Swap in use beyond what free memory could take, in whole percent of the
    /// host's memory; none where any of that is not known.
    fn swapped_percent(&self) -> Option<f64> {
        let swapped = self.swap? - self.swap_free?;
        let free = self.free.filter(|free| free.0 > 0)?;
        if self.memory.0 <= 0 {
            return None;
        }
        let percent = (swapped.0 - free.0).saturating_mul(100) / self.memory.0;
        Some(percent as f64)
    }
}

#[derive(Settings)]
struct Settings {
    /// Swap in use beyond free memory that is allowed, as a percentage of memory.
    #[setting(default = 0, range = 0..=199, measure = "percent")]
    maximum_allowed_swap_usage: f64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// uses too much swap
    TooMuchSwap,
}

struct Swap;

impl RowWise for Swap {
    type Request = Vm;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    /// What is allowed; none for a VM that swap does not matter to.
    type Need = Option<f64>;

    /// A paused VM is not about to use the host's memory more than it does.
    fn prepare(vm: &Vm, settings: &Settings) -> Result<Option<f64>, Problem> {
        let paused = vm.state.as_deref() == Some("paused");
        Ok((!paused).then_some(settings.maximum_allowed_swap_usage))
    }
}

impl RowFilter for Swap {
    fn keep(allowed: &Option<f64>, host: &Host) -> Verdict<Reason> {
        let too_much = allowed
            .zip(host.swapped_percent())
            .is_some_and(|(allowed, percent)| percent > allowed);
        Verdict::keep_if(!too_much, Reason::TooMuchSwap)
    }
}

placewright_sdk::export!(
    Swap: filter,
    aliases = ["Swap", "43b9e654-337f-4b0d-a896-cbb22ce5a7fc"]
);

#[cfg(test)]
mod tests {
    use super::*;

    /// MiB of memory: 10,000, so free; of swap: 4,096, so free.
    fn host(free: i64, swap_free: i64) -> Host {
        Host {
            memory: Bytes::mib(10_000),
            free: Some(Bytes::mib(free)),
            swap: Some(Bytes::mib(4_096)),
            swap_free: Some(Bytes::mib(swap_free)),
        }
    }

    fn keep(host: &Host) -> Verdict<Reason> {
        Swap::keep(&Some(10.0), host)
    }

    const TOO_MUCH: Verdict<Reason> = Verdict::Remove(Reason::TooMuchSwap);

    #[test]
    fn swap_beyond_free_memory_is_allowed_up_to_the_limit_in_whole_percent() {
        // 1,096 MiB of 10,000: 10.96 %.
        assert_eq!(keep(&host(100, 2_900)), Verdict::Keep);
        assert_eq!(keep(&host(100, 2_897)), Verdict::Keep);
        assert_eq!(keep(&host(100, 2_896)), TOO_MUCH);
    }

    #[test]
    fn swap_that_would_fit_into_free_memory_is_not_counted() {
        assert_eq!(keep(&host(9_000, 0)), Verdict::Keep);
        assert_eq!(Swap::keep(&Some(0.0), &host(9_000, 0)), Verdict::Keep);
    }

    #[test]
    fn a_host_of_which_not_all_is_known_is_kept() {
        let unknown = [
            Host {
                swap: None,
                ..host(5, 0)
            },
            Host {
                swap_free: None,
                ..host(5, 0)
            },
            Host {
                free: None,
                ..host(5, 0)
            },
            Host {
                memory: Bytes(0),
                ..host(5, 0)
            },
            host(0, 0),
        ];
        for host in unknown {
            assert_eq!(keep(&host), Verdict::Keep);
        }
        assert_eq!(keep(&host(5, 0)), TOO_MUCH);
    }

    #[test]
    fn swap_does_not_matter_to_paused_vms() {
        let settings = Settings::defaults().expect("all have defaults");
        let need = |state: Option<&str>| {
            let state = state.map(Text::from);
            Swap::prepare(&Vm { state }, &settings).expect("nothing is refused")
        };
        assert_eq!(need(Some("paused")), None);
        assert_eq!(need(Some("up")), Some(0.0));
        assert_eq!(Swap::keep(&None, &host(1, 0)), Verdict::Keep);
    }
}
