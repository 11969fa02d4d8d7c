//! Quota: keeps the hosts of accounts that may run the whole deployment in addition
//! to what they run.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use shares::accounts::{Running, places_by_account, running};

#[derive(Request)]
struct Request {
    request: Deployment,
    members: Rows<Vm>,
}

/// What is read of the request.
#[derive(Row)]
struct Deployment {
    instances: Option<i64>,
}

/// Nothing is read of the VMs: they are counted.
#[derive(Row)]
struct Vm {}

/// What is read of a host.
#[derive(Row)]
struct Host {
    id: Text,
    #[column("attribute.account")]
    account: Option<Text>,
    /// Each host of an account has the same.
    #[column("attribute.quota")]
    quota: Option<i64>,
    #[column("attribute.running")]
    running: Option<i64>,
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    pending: i64,
}

impl Host {
    fn account(&self) -> &Text {
        self.account.as_ref().unwrap_or(&self.id)
    }

    fn running(&self) -> Running {
        Running {
            elsewhere: self.running,
            here: self.vms,
            pending: self.pending,
        }
    }
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// is of an account whose quota leaves no room for all instances
    QuotaExceeded,
}

/// May the account of these hosts run so many more instances? Without a quota it may
/// run any number.
fn may_run(hosts: &[&Host], instances: i64) -> bool {
    let quota = hosts.iter().filter_map(|host| host.quota).min();
    let running = running(hosts.iter().map(|host| host.running()));
    quota.is_none_or(|quota| running.saturating_add(instances) <= quota)
}

struct Quota;

impl WholeTable for Quota {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
}

impl TableFilter for Quota {
    fn keep(
        request: &Request,
        hosts: &Rows<Host>,
        (): &(),
    ) -> Result<Vec<Verdict<Reason>>, Problem> {
        let members = i64::try_from(request.members.len()).unwrap_or(i64::MAX);
        let instances = request.request.instances.unwrap_or(members);
        let hosts: Vec<Host> = hosts.iter().collect();
        let mut verdicts = vec![Verdict::Keep; hosts.len()];
        for (_, places) in places_by_account(hosts.iter().map(Host::account)) {
            let of_account: Vec<&Host> = places.iter().map(|place| &hosts[*place]).collect();
            if !may_run(&of_account, instances) {
                for place in places {
                    verdicts[place] = Verdict::Remove(Reason::QuotaExceeded);
                }
            }
        }
        Ok(verdicts)
    }
}

placewright_sdk::export!(Quota: table_filter);

#[cfg(test)]
mod tests;
