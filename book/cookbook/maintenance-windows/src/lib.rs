//! Maintenance windows: a host takes no VM while it is in a window, nor for some time
//! before, unless the VM is known to end before the window begins.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

#[derive(Request)]
struct Request {
    request: Now,
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Now {
    now: Seconds,
}

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    /// When it ends, if that is known.
    #[column("attribute.ends")]
    ends: Option<Seconds>,
}

#[derive(Row)]
struct Host {
    #[table("attribute.windows")]
    windows: Rows<Window>,
}

/// From then up to but not including then. Without a beginning it has begun, without
/// an end nobody knows how long it lasts.
#[derive(Row)]
struct Window {
    from: Option<Seconds>,
    to: Option<Seconds>,
}

#[derive(Settings)]
struct Settings {
    /// How long before a window a host takes no VMs any more.
    #[setting(default = "1 h", least = 0)]
    notice: Seconds,
    /// Whether a VM that is known to end before a window may run until then.
    #[setting(default = true)]
    trust_ends: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is in a maintenance window
    InWindow,
    /// will be in a maintenance window before long
    BeforeWindow,
}

struct Need {
    now: i64,
    notice: i64,
    /// When the last of the VMs ends, if that is known of all and trusted.
    ends: Option<i64>,
}

/// How a host stands to one of its windows, and the last second of that.
enum Standing {
    Open(i64),
    Before(i64),
    Within(i64),
}

impl Need {
    fn standing(&self, window: &Window) -> Standing {
        let from = window.from.map_or(i64::MIN, |from| from.0);
        let to = window.to.map_or(i64::MAX, |to| to.0);
        if self.now >= to || to <= from {
            return Standing::Open(FOR_GOOD);
        }
        if self.now >= from {
            return Standing::Within(to - 1);
        }
        let closes = match self.ends {
            Some(ends) if ends <= from => from,
            _ => from - self.notice,
        };
        match self.now < closes {
            true => Standing::Open(closes - 1),
            false => Standing::Before(from - 1),
        }
    }
}

struct MaintenanceWindows;

impl RowWise for MaintenanceWindows {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        // One VM of unknown end makes the end of all unknown.
        let ends: Option<Vec<i64>> = (request.vms.iter())
            .map(|vm| vm.ends.map(|ends| ends.0))
            .collect();
        Ok(Need {
            now: request.request.now.0,
            notice: settings.notice.0,
            ends: ends
                .filter(|_| settings.trust_ends)
                .and_then(|ends| ends.into_iter().max()),
        })
    }

    /// Until the standing to any of the windows changes.
    fn until(need: &Need, host: &Host) -> i64 {
        let windows = host.windows.iter();
        let changes = windows.map(|window| match need.standing(&window) {
            Standing::Open(until) | Standing::Before(until) | Standing::Within(until) => until,
        });
        changes.fold(FOR_GOOD, i64::min)
    }
}

impl RowFilter for MaintenanceWindows {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let mut before = false;
        for window in &host.windows {
            match need.standing(&window) {
                Standing::Within(_) => return Verdict::Remove(Reason::InWindow),
                Standing::Before(_) => before = true,
                Standing::Open(_) => {}
            }
        }
        Verdict::keep_if(!before, Reason::BeforeWindow)
    }
}

placewright_sdk::export!(MaintenanceWindows: filter);

#[cfg(test)]
mod tests;
