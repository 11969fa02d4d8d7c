//! Moves of a plan that cannot be made any more as things are, and why.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Vms;
use crate::format::cut;
use crate::standing::{NotUp, words};
use crate::value::{count, text};

/// Why moves that wait would not be begun, by their numbers: the VM is gone or runs elsewhere, or the
/// host that it should go to takes none. Where a VM moves twice, the second move begins where the first
/// one leads.
pub(super) fn doomed(moves: &[Value], vms: &Vms, not_up: &NotUp) -> BTreeMap<usize, String> {
    let mut doomed = BTreeMap::new();
    // Where VMs will be that open moves before have brought elsewhere.
    let mut led = BTreeMap::<&str, Option<&str>>::new();
    for step in moves {
        let (id, to) = (text(step, "vm"), step["to"].as_str());
        match text(step, "state") {
            "begun" => {
                led.insert(id, to);
                continue;
            }
            "planned" | "expired" => {}
            _ => continue,
        }
        let here = match (led.get(id), vms.known.get(id)) {
            (Some(led), _) => Some(*led),
            (None, Some(vm)) => Some(vm.host.as_deref()),
            (None, None) => None,
        };
        let vm = cut(id, 60);
        let why = match here {
            None if vms.is_whole => Some(format!("{vm} is gone")),
            None => None,
            Some(here) if here != step["from"].as_str() => Some(match here {
                Some(host) => format!("{vm} is on {} by now", cut(host, 60)),
                None => format!("{vm} is on no host by now"),
            }),
            Some(_) => None,
        };
        let target = to.unwrap_or_default();
        let why = why.or_else(|| {
            let state = not_up.state(target)?;
            Some(format!("{} {}", cut(target, 60), words(state)))
        });
        match why {
            Some(why) => drop(doomed.insert(count(step, "step"), why)),
            None => drop(led.insert(id, to)),
        }
    }
    doomed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::Vm;

    fn vms(hosts: &[(&str, Option<&str>)]) -> Vms {
        let known = hosts.iter().map(|(vm, host)| {
            let host = host.map(str::to_owned);
            let vm_now = Vm {
                host,
                ..Vm::default()
            };
            ((*vm).to_owned(), vm_now)
        });
        Vms {
            known: known.collect(),
            is_whole: true,
        }
    }

    #[test]
    fn moves_of_vms_that_are_gone_or_elsewhere_and_to_hosts_that_take_none_would_not_be_begun() {
        let step = |number: usize, vm: &str, from: Option<&str>, to: &str| json!({"step": number, "vm": vm, "from": from, "to": to, "state": "planned"});
        let moves = [
            step(1, "gone", Some("h1"), "h2"),
            step(2, "moved", Some("h1"), "h2"),
            step(3, "a", Some("h1"), "down"),
            step(4, "b", Some("h1"), "h2"),
            // It moves twice, and so does one whose first move cannot be made.
            step(5, "b", Some("h2"), "h3"),
            step(6, "a", Some("down"), "h3"),
            step(7, "rests", None, "h3"),
        ];
        let now = vms(&[
            ("moved", Some("h9")),
            ("a", Some("h1")),
            ("b", Some("h1")),
            ("rests", None),
        ]);
        let not_up = NotUp::of_host(&json!({"id": "down", "state": "maintenance"}));
        let expected = [
            (1, "gone is gone"),
            (2, "moved is on h9 by now"),
            (3, "down is in maintenance"),
            (6, "a is on h1 by now"),
        ];
        let expected = expected.map(|(step, why)| (step, why.to_owned()));
        assert_eq!(doomed(&moves, &now, &not_up), BTreeMap::from(expected));
        // What could not be asked for is not said to be gone.
        let unknown = Vms::default();
        let doomed = doomed(&moves[..1], &unknown, &not_up);
        assert!(doomed.is_empty(), "{doomed:?}");
    }
}
