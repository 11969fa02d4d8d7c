//! How a VM stands: what is known of it, and of the host that it is on.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{Moment, cut};
use crate::parts::{ago, host_link, state};
use crate::value::{items, text};

/// States of a VM in which it does not run, as documents have them.
const STOPPED: [&str; 4] = ["down", "stopped", "off", "paused"];

/// The hosts of a cluster that are not up, with their states.
#[derive(Debug, Default)]
pub(crate) struct NotUp(BTreeMap<String, String>);

impl NotUp {
    /// Ask for them; `api` is the path of the cluster.
    pub(crate) async fn read(ask: &Ask, api: &str) -> Self {
        let path = format!("{api}/host-columns?columns=id,state");
        let columns = ask.get_if(&path).await.unwrap_or_default();
        let columns = &columns["columns"];
        let hosts = items(columns, "id").iter().zip(items(columns, "state"));
        let hosts = hosts.filter_map(|(host, state)| Some((host.as_str()?, state.as_str()?)));
        let not_up = hosts.filter(|(_, state)| *state != "up");
        let not_up = not_up.map(|(host, state)| (host.to_owned(), state.to_owned()));
        Self(not_up.collect())
    }

    /// The same of one host, as the API shows it.
    pub(crate) fn of_host(host: &Value) -> Self {
        let (id, word) = (text(host, "id"), text(host, "state"));
        let not_up = (word != "up" && !word.is_empty()).then(|| (id.to_owned(), word.to_owned()));
        Self(not_up.into_iter().collect())
    }

    /// The state of a host that is not up.
    pub(crate) fn state(&self, host: &str) -> Option<&str> {
        self.0.get(host).map(String::as_str)
    }

    /// Whether nothing runs there: the host is down or in error.
    pub(crate) fn has_failed(&self, host: &str) -> bool {
        self.state(host)
            .is_some_and(|state| matches!(state, "down" | "error"))
    }
}

/// What a state of a host that is not up says of it, in words: "is down", "is in error".
pub(crate) fn words(state: &str) -> String {
    match state {
        "maintenance" | "error" => format!("is in {state}"),
        other => format!("is {}", cut(other, 40)),
    }
}

fn stopped(vm: &Value) -> Option<&str> {
    let state = vm["state"].as_str()?;
    STOPPED.contains(&state).then_some(state)
}

/// The state of a VM: its sign, in its colour, and a word or two.
pub(crate) fn of(vm: &Value, hosts: &NotUp) -> Markup {
    let (host, reserved) = (vm["host"].as_str(), vm["reserved"]["host"].as_str());
    match (host, reserved) {
        (Some(host), Some(to)) if host == to => state("acc", "run", "to be changed"),
        (Some(host), Some(_)) if hosts.has_failed(host) => {
            state("acc", "run", "to be started elsewhere")
        }
        (Some(_), Some(_)) => state("acc", "run", "on the move"),
        (Some(host), None) => match (hosts.state(host), stopped(vm)) {
            (_, Some(word)) => state("off", "off", word),
            (Some(not_up), None) if hosts.has_failed(host) => {
                let told = format!("host {} {}", cut(host, 40), words(not_up));
                state("bad", "bad", &told)
            }
            (Some(not_up), None) => state(
                "warn",
                "maint",
                &format!("runs; its host {}", words(not_up)),
            ),
            (None, None) => state("ok", "ok", "runs"),
        },
        (None, _) => state("warn", "pend", "reserved"),
    }
}

/// The same in a sentence or two.
pub(crate) fn sentence(cluster: &str, vm: &Value, hosts: &NotUp) -> Markup {
    let expires = Moment::of(&vm["reserved"]["expires"]);
    html! {
        @if let Some(host) = vm["host"].as_str() {
            @let link = host_link(cluster, Some(host));
            @match (hosts.state(host), stopped(vm)) {
                (None, Some(word)) => { "It is " (word) ", on " (link) "." }
                (None, None) => { "It runs on " (link) "." }
                (Some(state), Some(word)) => { "It is " (word) ", on " (link) ", which " (words(state)) "." }
                (Some(state), None) if hosts.has_failed(host) => { "Its host " (link) " " (words(state)) "." }
                (Some(state), None) => { "It runs on " (link) ", which " (words(state)) ": it is to move away." }
            }
        }
        @if let Some(host) = vm["reserved"]["host"].as_str() {
            " A place is reserved on " (host_link(cluster, Some(host)))
            @if let Some(expires) = expires { ", which ends " (ago(expires)) " unless it is confirmed" }
            "."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_vm_is_not_said_to_run_on_a_host_that_does_not() {
        let hosts = NotUp::of_host(&json!({"id": "h1", "state": "down"}));
        let told = |vm: Value| {
            (
                of(&vm, &hosts).into_string(),
                sentence("c", &vm, &hosts).into_string(),
            )
        };
        let (state, sentence) = told(json!({"host": "h1"}));
        assert!(state.contains("host h1 is down") && !state.contains("runs"));
        assert!(sentence.contains("is down.") && !sentence.contains("runs"));
        let (state, _) = told(json!({"host": "h1", "reserved": {"host": "h2"}}));
        assert!(state.contains("to be started elsewhere"), "{state}");
        let (state, _) = told(json!({"host": "h1", "state": "stopped"}));
        assert!(state.contains("stopped"), "{state}");
        let (state, sentence) = told(json!({"host": "h2"}));
        assert!(state.contains(">runs<") && sentence.contains("It runs on"));
        let hosts = NotUp::of_host(&json!({"id": "h1", "state": "maintenance"}));
        let state = of(&json!({"host": "h1"}), &hosts).into_string();
        assert!(
            state.contains("runs; its host is in maintenance"),
            "{state}"
        );
    }
}
