//! CPU overloaded: leaves out hosts whose CPU load has been above a limit for some
//! time.
//!
//! A unit of its own, apart from `cpu`, since it reads the time: its answers hold
//! only until a load has lasted too long.

#![forbid(unsafe_code)]

use host_load::cpu::{Counting, Cpu};
use placewright_sdk::prelude::*;

/// What is read of the request.
#[derive(Row)]
struct Now {
    now: Seconds,
}

#[derive(Request)]
struct Request {
    request: Now,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[column("cpu.total")]
    total: Millicores,
    #[column("cpu.usage")]
    usage: Option<f64>,
    #[column("cpu.exclusive")]
    exclusive: i64,
    #[column("attribute.spm")]
    spm: Option<bool>,
    #[column("watch.cpu-over.since")]
    since: Option<Seconds>,
}

impl Host {
    fn cpu(&self) -> Cpu {
        Cpu {
            cores: self.cores,
            threads: self.threads,
            total: self.total,
            usage: self.usage,
            exclusive: self.exclusive,
            spm: self.spm,
        }
    }
}

#[derive(Settings)]
struct Settings {
    /// CPU load above which a host is overloaded.
    #[setting(default = 90, least = 0, measure = "percent")]
    high_utilization: f64,
    /// How long the load must have lasted, counted from when the condition that the
    /// policy watches as cpu-over began to hold.
    #[setting(default = "2 min", least = 0)]
    over_commit_duration: Seconds,
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
    /// Load that is assumed for one vCPU; what managing a storage pool
    /// (attribute.spm) adds to the load of a host.
    #[setting(default = 10, range = 0..=100, measure = "percent")]
    assumed_load: f64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known CPU load
    Unmeasured,
    /// has had too high a CPU load for too long
    Overloaded,
}

/// When a host is overloaded, and what time it is.
struct Need {
    now: Seconds,
    limit: f64,
    duration: Seconds,
    counting: Counting,
}

impl Need {
    /// From when on the host is overloaded if its load stays as it is; none if its
    /// load is fit, or if nothing says since when it is not.
    fn overloaded_from(&self, host: &Host) -> Option<Seconds> {
        let shared = self.counting.shared(&host.cpu())?;
        let too_high = shared.percent() as f64 > self.limit;
        host.since
            .filter(|_| too_high)
            .map(|since| since + self.duration)
    }
}

struct CpuOverloaded;

impl RowWise for CpuOverloaded {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            now: request.request.now,
            limit: settings.high_utilization,
            duration: settings.over_commit_duration,
            counting: Counting {
                threads_as_cores: settings.count_threads_as_cores,
                assumed_load: settings.assumed_load,
            },
        })
    }

    /// The second before a load has lasted too long.
    fn until(need: &Need, host: &Host) -> i64 {
        let change = need.overloaded_from(host).filter(|from| *from > need.now);
        change.map_or(FOR_GOOD, |from| (from.0 - 1).min(FOR_GOOD))
    }
}

impl RowFilter for CpuOverloaded {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let known = need.counting.shared(&host.cpu()).is_some();
        let overloaded = need
            .overloaded_from(host)
            .is_some_and(|from| from <= need.now);
        Verdict::keep_if(known, Reason::Unmeasured)
            .and(|| Verdict::keep_if(!overloaded, Reason::Overloaded))
    }
}

placewright_sdk::export!(
    CpuOverloaded: filter,
    aliases = ["98842bc5-4094-4b83-8224-7b50f86a94c9"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn need(now: i64) -> Need {
        let request = Request {
            request: Now { now: Seconds(now) },
        };
        let settings = Settings::defaults().expect("all have defaults");
        CpuOverloaded::prepare(&request, &settings).expect("nothing is refused")
    }

    fn host(percent: f64, since: Option<i64>) -> Host {
        Host {
            cores: Some(4),
            threads: Some(8),
            total: Millicores::cores(4),
            usage: Some(percent / 100.0),
            exclusive: 0,
            spm: None,
            since: since.map(Seconds),
        }
    }

    const OVERLOADED: Verdict<Reason> = Verdict::Remove(Reason::Overloaded);

    #[test]
    fn load_at_the_limit_is_allowed_and_more_is_not() {
        let keep = |percent| CpuOverloaded::keep(&need(1_000), &host(percent, Some(0)));
        assert_eq!(keep(90.0), Verdict::Keep);
        assert_eq!(keep(91.0), OVERLOADED);
    }

    #[test]
    fn a_peak_is_allowed_until_it_has_lasted_too_long() {
        let peak = host(95.0, Some(1_000));
        assert_eq!(CpuOverloaded::keep(&need(1_119), &peak), Verdict::Keep);
        assert_eq!(CpuOverloaded::until(&need(1_050), &peak), 1_119);
        assert_eq!(CpuOverloaded::keep(&need(1_120), &peak), OVERLOADED);
        assert_eq!(CpuOverloaded::until(&need(1_120), &peak), FOR_GOOD);
    }

    #[test]
    fn a_load_of_unknown_age_is_allowed_for_good() {
        let unknown = host(99.0, None);
        assert_eq!(CpuOverloaded::keep(&need(1_000), &unknown), Verdict::Keep);
        assert_eq!(CpuOverloaded::until(&need(1_000), &unknown), FOR_GOOD);
    }

    #[test]
    fn hosts_of_unknown_load_are_left_out() {
        let unmeasured = Host {
            usage: None,
            ..host(0.0, None)
        };
        assert_eq!(
            CpuOverloaded::keep(&need(1_000), &unmeasured),
            Verdict::Remove(Reason::Unmeasured)
        );
    }
}
