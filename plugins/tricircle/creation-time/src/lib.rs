//! Creation time: prefers the hosts that were added first, so that a fleet is
//! filled in the order in which it was built.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host. One of unknown age is not shown, and so the worst.
#[derive(Row)]
struct Host {
    created: Seconds,
}

struct CreationTime;

impl RowWise for CreationTime {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowCost for CreationTime {
    /// When it was added, in seconds since 1970.
    fn cost((): &(), host: &Host) -> f64 {
        // Times are below 2^53, so this is exact.
        host.created.0 as f64
    }
}

placewright_sdk::export!(CreationTime: cost_function, aliases = ["creation_time"]);

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(created: i64) -> f64 {
        let created = Seconds(created);
        CreationTime::cost(&(), &Host { created })
    }

    #[test]
    fn an_older_host_is_better_by_as_long_as_it_is_older() {
        assert_eq!(cost(1_700_000_060) - cost(1_700_000_000), 60.0);
    }

    #[test]
    fn hosts_added_at_once_are_equal_and_a_second_tells_others_apart() {
        let late = FOR_GOOD;
        assert_eq!(cost(late), cost(late));
        assert!(cost(late - 1) < cost(late));
    }

    #[test]
    fn a_host_of_unknown_age_is_not_shown_and_so_the_worst() {
        let judge = native_unit().describe().judge.expect("it costs");
        assert!(judge.reads[0].columns[0].required);
    }
}
