//! HA reservation: highly available VMs are spread, so that the failure of one host
//! leaves few of them to be started elsewhere; and of a cluster that runs, hosts are
//! told of that no other hosts could replace.
//!
//! Both only in clusters that reserve (`attribute.ha-reservation`).

#![forbid(unsafe_code)]

mod balance;

use placewright_sdk::prelude::*;

/// What is read of a VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("ha", gate)]
    ha: bool,
}

/// What is read of the cluster.
#[derive(Row)]
struct Cluster {
    #[column("attribute.ha-reservation")]
    reserves: Option<bool>,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    vm: Vm,
    cluster: Cluster,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("vms.ha")]
    ha_vms: i64,
}

#[derive(Settings)]
struct Settings {
    /// Costs are divided by this, so that they weigh less beside others.
    #[setting(default = 1, range = 1..=100)]
    scale_down: i64,
    /// Whether each thread of a host counts as a CPU, rather than each core.
    #[setting(default = false)]
    count_threads_as_cores: bool,
}

struct HaReservation;

impl WholeTable for HaReservation {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
}

impl TableCost for HaReservation {
    /// The number of highly available VMs in percent of what the host with the most
    /// has, scaled down and rounded up.
    fn cost(
        request: &Request,
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<f64>, Problem> {
        if !request.vm.ha || request.cluster.reserves != Some(true) {
            return Ok(vec![0.0; hosts.len()]);
        }
        let most = hosts.iter().map(|host| host.ha_vms).max().unwrap_or(0);
        let cost = |host: Host| {
            let percent = percent(host.ha_vms, most);
            (percent / settings.scale_down.max(1) as f64).ceil()
        };
        Ok(hosts.iter().map(cost).collect())
    }
}

/// Rounded half up; 0 where nobody has any.
fn percent(vms: i64, most: i64) -> f64 {
    if most <= 0 {
        return 0.0;
    }
    (vms.max(0) as f64 / most as f64 * 100.0 + 0.5).floor()
}

placewright_sdk::export!(
    HaReservation: table_cost_function, balance,
    aliases = [
        "OptimalForHaReservation",
        "7f262d70-6cac-11e3-981f-0800200c9a66",
    ]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(ha: bool, reserves: Option<bool>, scale_down: i64, vms: &[i64]) -> Vec<f64> {
        let request = Request {
            vm: Vm { ha },
            cluster: Cluster { reserves },
        };
        let settings = Settings {
            scale_down,
            count_threads_as_cores: false,
        };
        let host = |&ha_vms: &i64| Host { ha_vms };
        let hosts = vms.iter().map(host).collect();
        HaReservation::cost(&request, &hosts, &settings).expect("nothing is refused")
    }

    #[test]
    fn the_cost_is_the_share_of_what_the_host_with_the_most_has() {
        assert_eq!(costs(true, Some(true), 1, &[4, 1, 0]), [100.0, 25.0, 0.0]);
        assert_eq!(costs(true, Some(true), 1, &[3, 1, 2]), [100.0, 33.0, 67.0]);
        assert_eq!(costs(true, Some(true), 1, &[0, 0]), [0.0, 0.0]);
    }

    #[test]
    fn scaled_down_costs_are_rounded_up() {
        assert_eq!(costs(true, Some(true), 100, &[4, 1, 0]), [1.0, 1.0, 0.0]);
        assert_eq!(costs(true, Some(true), 10, &[4, 1, 0]), [10.0, 3.0, 0.0]);
    }

    #[test]
    fn other_vms_and_clusters_without_reservation_cost_nothing() {
        assert_eq!(costs(false, Some(true), 1, &[4, 1]), [0.0, 0.0]);
        assert_eq!(costs(true, Some(false), 1, &[4, 1]), [0.0, 0.0]);
        assert_eq!(costs(true, None, 1, &[4, 1]), [0.0, 0.0]);
    }
}
