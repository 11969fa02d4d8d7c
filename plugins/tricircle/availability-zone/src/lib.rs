//! Availability zone: keeps the hosts of the zone that is asked for.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the request. Without a zone the unit is not asked at all.
#[derive(Row)]
struct Asked {
    #[column(gate)]
    zone: Option<Text>,
}

#[derive(Request)]
struct Request {
    request: Asked,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    zone: Option<Text>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is not in the availability zone that is asked for
    OtherZone,
}

struct AvailabilityZone;

impl RowWise for AvailabilityZone {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    /// The zone; any, if none is asked for.
    type Need = Option<Text>;

    fn prepare(request: &Request, (): &()) -> Result<Option<Text>, Problem> {
        Ok(request.request.zone.clone())
    }
}

impl RowFilter for AvailabilityZone {
    fn keep(zone: &Option<Text>, host: &Host) -> Verdict<Reason> {
        let fits = zone.is_none() || host.zone == *zone;
        Verdict::keep_if(fits, Reason::OtherZone)
    }
}

placewright_sdk::export!(
    AvailabilityZone: filter,
    aliases = ["AvailabilityZoneFilter"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(asked: Option<&str>, zone: Option<&str>) -> Verdict<Reason> {
        let request = Request {
            request: Asked {
                zone: asked.map(Text::from),
            },
        };
        let need = AvailabilityZone::prepare(&request, &()).expect("nothing is refused");
        let host = Host {
            zone: zone.map(Text::from),
        };
        AvailabilityZone::keep(&need, &host)
    }

    const REMOVED: Verdict<Reason> = Verdict::Remove(Reason::OtherZone);

    #[test]
    fn hosts_of_the_zone_are_kept_and_others_are_not() {
        assert_eq!(keep(Some("az1"), Some("az1")), Verdict::Keep);
        assert_eq!(keep(Some("az1"), Some("az2")), REMOVED);
        assert_eq!(keep(Some("az1"), Some("AZ1")), REMOVED);
    }

    #[test]
    fn a_host_of_unknown_zone_is_in_no_zone_that_is_asked_for() {
        assert_eq!(keep(Some("az1"), None), REMOVED);
    }

    #[test]
    fn a_request_without_a_zone_may_go_to_any() {
        assert_eq!(keep(None, Some("az2")), Verdict::Keep);
        assert_eq!(keep(None, None), Verdict::Keep);
    }

    #[test]
    fn without_a_zone_the_unit_is_not_asked() {
        let judge = native_unit().describe().judge.expect("it filters");
        assert!(judge.reads[0].columns[0].gate);
    }
}
