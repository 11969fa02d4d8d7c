//! The page in the place of one about something that is not there: what happened to it, as far as
//! events are remembered.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{Moment, cut};
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{ago, empty, time, with_times};
use crate::url::{self, of_cluster, segment};
use crate::value::{items, text};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Events that are shown.
const EVENTS: usize = 10;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Missing<'m> {
    /// What it is, as in "the unit memory".
    pub(crate) what: &'static str,
    /// The key of events that names it.
    pub(crate) key: &'static str,
    pub(crate) name: &'m str,
    /// The cluster that it belongs to.
    pub(crate) cluster: Option<&'m str>,
    pub(crate) area: Area,
    /// The list of those that there are: its title and address.
    pub(crate) list: (&'static str, &'m str),
}

impl<'m> Missing<'m> {
    /// A VM of a cluster, or something else that its events name by `key`.
    pub(crate) fn of_cluster(
        (what, key): (&'static str, &'static str),
        (cluster, name): (&'m str, &'m str),
        area: Area,
        list: (&'static str, &'m str),
    ) -> Self {
        Self {
            what,
            key,
            name,
            cluster: Some(cluster),
            area,
            list,
        }
    }

    /// A cluster itself.
    pub(crate) fn cluster(name: &'m str) -> Self {
        Self {
            what: "cluster",
            key: "cluster",
            name,
            cluster: None,
            area: Area::Overview,
            list: ("clusters", "/"),
        }
    }

    /// The page in the place of its page, where a problem says that it is not there.
    ///
    /// # Errors
    /// All other problems.
    pub(crate) async fn instead(&self, ask: &Ask, problem: Problem) -> Result<Response, Problem> {
        if problem.code() != Code::NotFound {
            return Err(problem);
        }
        if let Some(cluster) = self.cluster {
            let path = format!("/v1/clusters/{}", segment(cluster));
            if ask.get_if(&path).await.is_none() {
                return Self::cluster(cluster).shown(ask, &problem).await;
            }
        }
        self.shown(ask, &problem).await
    }

    /// Whether an event is about it.
    fn is_told_by(&self, event: &Value) -> bool {
        let is_of_cluster = self.cluster.is_none_or(|it| event["cluster"] == it);
        event[self.key] == self.name && is_of_cluster
    }

    async fn shown(&self, ask: &Ask, problem: &Problem) -> Result<Response, Problem> {
        let query = [
            ("text", Some(self.name)),
            ("cluster", self.cluster),
            ("limit", Some("1000")),
        ];
        let path = format!("/v1/events/recent?{}", url::query(query));
        let recent = ask.get_if(&path).await.unwrap_or_default();
        let events = items(&recent, "items").iter();
        let events: Vec<&Value> = events.filter(|event| self.is_told_by(event)).collect();
        let main = html! {
            div.head { div {
                (self.crumbs())
                h1 tabindex="-1" autofocus { "There is no " (self.what) " " (cut(self.name, 60)) }
                p { @match ended(&events) {
                    Some(event) => {
                        "It was removed " @if let Some(at) = Moment::of(&event["at"]) { (ago(at)) }
                        @if let Some(by) = event["by"].as_str() { " by " (cut(by, 40)) } "."
                    }
                    None => (sentence(&cut(problem.detail(), 300))),
                } }
            } }
            (history(&events))
            div.acts {
                a.btn.main href=(self.list.1) { "See the " (self.list.0) " that there are" }
                a.btn href={ "/events?" (url::query([("text", Some(self.name))])) } { "Events that name it" }
                @if ask.may(Permission::Administer, None) {
                    a.btn href={ "/audit?" (url::query([("text", Some(self.name))])) } { "Audit records that name it" }
                }
            }
        };
        let page = Page {
            title: format!("No {} {}", self.what, cut(self.name, 60)),
            area: self.area,
            cluster: self.cluster.filter(|_| self.key != "cluster"),
            main,
            live: "",
            script: None,
        };
        page::shown_as(ask, page, StatusCode::NOT_FOUND).await
    }

    fn crumbs(&self) -> Markup {
        let mut ways = vec![("Overview", "/".to_owned())];
        ways.extend(self.cluster.map(|it| (it, of_cluster(it, &[]))));
        crumbs(&ways, self.name)
    }
}

/// The event by which it ended, if nothing happened to it afterwards.
fn ended<'e>(events: &[&'e Value]) -> Option<&'e Value> {
    let newest = events.first().copied()?;
    text(newest, "kind").ends_with("-removed").then_some(newest)
}

fn history(events: &[&Value]) -> Markup {
    html! {
        section.panel aria-labelledby="happened" {
            header { h2 id="happened" { "What happened to it" } }
            @if events.is_empty() { div.in { (empty("No event about it is remembered", html! {
                "It was removed longer ago, or was never there under this name."
            })) } }
            @else { ul.list.in { @for event in events.iter().take(EVENTS) { li.small {
                @if let Some(at) = Moment::of(&event["at"]) { span.soft { (time(at)) } " " }
                (with_times(&sentence(&cut(text(event, "message"), 240))))
                @if let Some(by) = event["by"].as_str() { span.soft { " by " (cut(by, 40)) } }
            } } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_removed_is_told_unless_it_was_there_again() {
        let removed = json!({"kind": "policy-removed", "policy": "a"});
        let changed = json!({"kind": "policy-changed", "policy": "a"});
        assert_eq!(ended(&[&removed, &changed]), Some(&removed));
        assert_eq!(ended(&[&changed, &removed]), None);
        assert_eq!(ended(&[]), None);
    }

    #[test]
    fn events_of_others_with_a_like_name_are_not_told() {
        let list = ("VMs", "/clusters/north/vms");
        let missing = Missing::of_cluster(("VM", "vm"), ("north", "web-1"), Area::Vms, list);
        assert!(missing.is_told_by(&json!({"vm": "web-1", "cluster": "north"})));
        for other in [
            json!({"vm": "web-11", "cluster": "north"}),
            json!({"vm": "web-1", "cluster": "south"}),
            json!({"host": "web-1", "cluster": "north"}),
        ] {
            assert!(!missing.is_told_by(&other), "{other}");
        }
    }

    #[test]
    fn what_is_told_of_it_is_text() {
        let event = json!({"message": "<b>x</b> was removed", "by": "<i>"});
        let told = history(&[&event]).into_string();
        assert!(
            told.contains("&lt;b&gt;x") && told.contains("&lt;i&gt;"),
            "{told}"
        );
        assert!(history(&[]).into_string().contains("No event about it"));
    }
}
