//! Which host to switch off or on, so that as many stay up without VMs as are
//! wanted in reserve.
//!
//! A host goes down in two steps, through maintenance, and comes up again from
//! either. Only hosts that a policy has brought there come back.

use std::cmp::Ordering;

use placewright_sdk::prelude::*;

/// What is read of a host, in whatever state.
#[derive(Row)]
pub struct Host {
    pub state: Text,
    #[column("vms.count")]
    pub vms: i64,
    #[column("vms.pending")]
    pub vms_pending: i64,
    #[column("vms.migrating")]
    pub vms_migrating: i64,
    #[column("power.managed")]
    pub managed: Option<bool>,
    #[column("power.keep-on")]
    pub keep_on: Option<bool>,
    #[column("power.by-policy")]
    pub by_policy: Option<bool>,
    #[column("status.external")]
    pub status: Option<Text>,
    #[column("attribute.spm")]
    pub spm: Option<bool>,
}

impl Host {
    fn is_empty(&self) -> bool {
        self.state == "up" && self.vms == 0 && self.vms_pending == 0 && self.vms_migrating == 0
    }

    /// A host of which no outside monitor says anything is fine.
    fn is_fine(&self) -> bool {
        self.status.as_deref().is_none_or(|status| status == "ok")
    }

    fn may_be_switched_off(&self) -> bool {
        self.managed == Some(true)
            && self.keep_on != Some(true)
            && self.spm != Some(true)
            && self.is_fine()
    }

    /// Is it in this state because a policy wanted it, and may it still decide?
    fn is_parked(&self, state: &str) -> bool {
        self.by_policy == Some(true) && self.keep_on != Some(true) && self.state == state
    }
}

/// One host to be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// From up: nothing is placed there any more.
    IntoMaintenance(u32),
    /// From maintenance.
    Down(u32),
    /// From maintenance or down.
    Up(u32),
}

/// The one thing to do next, if there is any.
pub fn next_step(hosts: &Rows<Host>, reserve: i64) -> Option<Step> {
    let first = |holds: fn(&Host) -> bool| {
        let mut found = hosts.numbered().filter(move |(_, host)| holds(host));
        found.next().map(|(row, _)| row)
    };
    let resting = |host: &Host| host.is_parked("maintenance") && host.is_fine();
    let empty = hosts.iter().filter(Host::is_empty).count();
    match (i64::try_from(empty).unwrap_or(i64::MAX)).cmp(&reserve) {
        Ordering::Less => first(|host| host.is_parked("maintenance"))
            .or_else(|| first(|host| host.is_parked("down") && host.is_fine()))
            .map(Step::Up),
        Ordering::Equal => first(resting).map(Step::Down),
        Ordering::Greater if hosts.iter().filter(resting).count() > 1 => {
            first(resting).map(Step::Down)
        }
        Ordering::Greater => {
            first(|host| host.is_empty() && host.may_be_switched_off()).map(Step::IntoMaintenance)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(vms: i64) -> Host {
        Host {
            state: "up".into(),
            vms,
            vms_pending: 0,
            vms_migrating: 0,
            managed: Some(true),
            keep_on: None,
            by_policy: None,
            status: None,
            spm: None,
        }
    }

    fn parked(state: &str) -> Host {
        Host {
            state: state.into(),
            by_policy: Some(true),
            ..up(0)
        }
    }

    fn next(hosts: Vec<Host>, reserve: i64) -> Option<Step> {
        next_step(&hosts.into(), reserve)
    }

    #[test]
    fn with_too_many_empty_hosts_one_goes_into_maintenance() {
        let step = next(vec![up(3), up(0)], 0);
        assert_eq!(step, Some(Step::IntoMaintenance(1)));
        assert_eq!(next(vec![up(3), up(1)], 0), None);
    }

    #[test]
    fn hosts_that_must_stay_on_or_cannot_come_back_are_passed_over() {
        let hosts = vec![
            Host {
                spm: Some(true),
                ..up(0)
            },
            Host {
                keep_on: Some(true),
                ..up(0)
            },
            Host {
                managed: None,
                ..up(0)
            },
            Host {
                status: Some("fans fail".into()),
                ..up(0)
            },
        ];
        assert_eq!(next(hosts, 0), None);
    }

    #[test]
    fn a_host_that_something_is_under_way_on_is_not_empty() {
        let pending = Host {
            vms_pending: 1,
            ..up(0)
        };
        let migrating = Host {
            vms_migrating: 1,
            ..up(0)
        };
        assert_eq!(next(vec![pending, migrating], 0), None);
    }

    #[test]
    fn with_the_reserve_met_one_in_maintenance_goes_down() {
        assert_eq!(
            next(vec![up(0), parked("maintenance")], 1),
            Some(Step::Down(1))
        );
        let by_hand = Host {
            by_policy: None,
            ..parked("maintenance")
        };
        let left_alone = Host {
            keep_on: Some(true),
            ..parked("maintenance")
        };
        assert_eq!(next(vec![up(0), by_hand, left_alone], 1), None);
    }

    #[test]
    fn with_more_than_enough_the_second_in_maintenance_frees_the_first_to_go_down() {
        let resting = || parked("maintenance");
        assert_eq!(
            next(vec![up(0), resting(), resting()], 0),
            Some(Step::Down(1))
        );
        assert_eq!(
            next(vec![up(0), resting()], 0),
            Some(Step::IntoMaintenance(0))
        );
    }

    #[test]
    fn with_too_few_empty_hosts_one_comes_back_from_maintenance_or_else_from_down() {
        let down = parked("down");
        assert_eq!(
            next(vec![down, parked("maintenance")], 1),
            Some(Step::Up(1))
        );
        assert_eq!(next(vec![up(1), parked("down")], 1), Some(Step::Up(1)));
        assert_eq!(next(vec![up(1)], 1), None);
    }
}
