//! What waits for somebody.

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{Moment, cut, len, things};
use crate::page::sentence;
use crate::parts::note;
use crate::units;
use crate::url::{self, segment};
use crate::value::{count, items, text, texts};

/// The newest decisions that are looked at for requests without a host.
const DECISIONS: usize = 100;
/// Broken groups that are counted.
const BROKEN: usize = 100;
/// The most requests without a host whose VMs are looked up, since they may have one by now.
const LOOKED: usize = 20;
/// Requests without a host that are told one by one.
const TOLD: usize = 3;

/// Things that the page of a cluster names in a line.
const IN_STRIP: usize = 6;

/// Something that waits for somebody.
pub(super) struct Need {
    /// The worst first: 0 is what fails now, 1 what is wrong, 2 what waits.
    pub(super) rank: u8,
    /// None: the server.
    cluster: Option<String>,
    /// Whether nothing is decided because of it.
    pub(super) stops_all: bool,
    /// Whether every page of the cluster tells it by itself.
    is_on_pages: bool,
    /// What it is in a few words, as it stands beside the state of the cluster.
    pub(super) brief: String,
    pub(super) text: Markup,
    pub(super) since: Option<Moment>,
    pub(super) path: String,
    /// What the button does.
    pub(super) deed: &'static str,
}

impl Need {
    /// Whether it is about this cluster.
    pub(super) fn is_of(&self, cluster: &str) -> bool {
        self.cluster.as_deref() == Some(cluster)
    }

    /// Whether it is about the server itself.
    pub(super) fn is_of_server(&self) -> bool {
        self.cluster.is_none()
    }

    /// Where it is.
    pub(super) fn place(&self) -> &str {
        self.cluster.as_deref().unwrap_or("server")
    }

    pub(super) fn colour(&self) -> &'static str {
        match self.rank {
            0 => "bad",
            1 => "warn",
            _ => "acc",
        }
    }

    pub(super) fn sign(&self) -> &'static str {
        match self.rank {
            0 => "bad",
            1 => "warn",
            _ => "pend",
        }
    }

    pub(super) fn grade(&self) -> &'static str {
        match self.rank {
            0 => "Fails: ",
            1 => "Wrong: ",
            _ => "Waits: ",
        }
    }
}

/// What a cluster needs of an operator, by its sums and by the rates of its decisions.
pub(super) async fn of_cluster(
    ask: &Ask,
    cluster: &Value,
    (sums, rates): (Option<&Value>, Option<&Value>),
) -> Vec<Need> {
    let name = text(cluster, "name");
    let need = |rank, brief: String, text, since, path, deed| Need {
        rank,
        cluster: Some(name.to_owned()),
        stops_all: false,
        is_on_pages: false,
        brief,
        text,
        since,
        path,
        deed,
    };
    let mut needs = Vec::new();
    if let Some(why) = cluster["broken"].as_str() {
        let text = html! { b { "Nothing is decided." } " " (sentence(&cut(why, 300))) };
        let policy = text_of_policy(cluster);
        let brief = "nothing is decided".to_owned();
        needs.push(Need {
            stops_all: true,
            is_on_pages: true,
            ..need(0, brief, text, None, policy, "See the policy")
        });
    }
    for paused in items(cluster, "paused") {
        let unit = text(paused, "unit");
        let text = html! { "Unit " b { (cut(unit, 60)) } " " (units::paused(paused)) };
        let brief = format!("unit {} keeps failing", cut(unit, 40));
        let path = format!("/units/{}", segment(unit));
        needs.push(Need {
            is_on_pages: true,
            ..need(0, brief, text, None, path, "See the unit")
        });
    }
    for unit in texts(cluster, "quarantined") {
        let text = html! { "Unit " b { (unit) } " answered differently although nothing had changed: its answers are no longer cached." };
        needs.push(need(
            1,
            format!("unit {} not cached", cut(unit, 40)),
            text,
            None,
            format!("/units/{}", segment(unit)),
            "See the unit",
        ));
    }
    let minutes = rates.map_or(&[][..], |rates| items(rates, "minutes"));
    let sum = |name: &str| minutes.iter().map(|it| count(it, name)).sum::<usize>();
    let (failed, decided) = (sum("failed"), sum("placed") + sum("rejected"));
    if failed > 0 {
        let rank = if decided > 0 { 1 } else { 0 };
        let brief = format!("{} not decided", things(failed, "request", "requests"));
        let text = html! {
            b { (len(failed)) " of " (things(failed + decided, "request", "requests")) " in the last hour " (if failed == 1 { "was" } else { "were" }) " not decided" }
            ": a unit failed or refused them, or the time was up."
        };
        let path = format!("/events?{}", url::query([("cluster", Some(name))]));
        needs.push(need(rank, brief, text, None, path, "See the events"));
    }
    let sums = sums.unwrap_or(&Value::Null);
    for (state, words) in [("down", "down"), ("error", "in error")] {
        let hosts = count(&sums["hosts"], state);
        if hosts > 0 {
            let brief = format!("{} {words}", things(hosts, "host", "hosts"));
            let text = html! { b { (things(hosts, "host is", "hosts are")) " " (words) "." } };
            let path = format!("{}?state={state}", url::of_cluster(name, &[]));
            needs.push(need(1, brief, text, None, path, "See the hosts"));
        }
    }
    let vms = count(sums, "vms-not-up");
    if vms > 0 {
        let brief = format!("{} on hosts not up", things(vms, "VM", "VMs"));
        let text = html! { b { (things(vms, "VM is", "VMs are")) } " on hosts that are not up." };
        let path = url::of_cluster(name, &[]) + "?state=not-up";
        needs.push(need(1, brief, text, None, path, "See the hosts"));
    }
    let api = format!("/v1/clusters/{}", segment(name));
    let plans = ask
        .list(&format!("{api}/plans"), 100)
        .await
        .unwrap_or_default();
    for plan in plans.iter().rev().filter(|plan| plan["cancelled"] != true) {
        let counted = &plan["counted"];
        let waits = count(counted, "planned") + count(counted, "expired");
        if waits > 0 {
            let number = plan["number"].as_u64().unwrap_or_default();
            let text = html! {
                b { "Plan " (number) } ": "
                (things(waits, "move waits", "moves wait")) " for approval, of " (len(items(plan, "moves").len())) "."
            };
            let path = url::of_cluster(name, &["plans", &number.to_string()]);
            let brief = format!(
                "{} of plan {number} for approval",
                things(waits, "move", "moves")
            );
            needs.push(need(
                2,
                brief,
                text,
                Moment::of(&plan["now"]),
                path,
                "Review",
            ));
        }
    }
    let groups = format!("{api}/group-standings?kept=false&hard=true");
    let groups = ask.list(&groups, BROKEN).await;
    let broken: Vec<Value> = groups
        .unwrap_or_default()
        .into_iter()
        .filter(is_broken)
        .collect();
    if !broken.is_empty() {
        let names: Vec<String> = broken
            .iter()
            .take(4)
            .map(|it| cut(text(it, "id"), 40))
            .collect();
        let text = html! {
            b {
                @if broken.len() == BROKEN { "At least " }
                (things(broken.len(), "hard group is broken", "hard groups are broken"))
            } ": "
            (names.join(", ")) @if broken.len() > names.len() { " and others" } "."
        };
        let path = url::of_cluster(name, &["groups"]) + "?kept=no";
        let brief = things(broken.len(), "hard group broken", "hard groups broken");
        needs.push(need(1, brief, text, None, path, "See by whom"));
    }
    needs.extend(
        rejected(ask, name, &api)
            .await
            .into_iter()
            .map(|(brief, text, since, path)| need(0, brief, text, since, path, "See why")),
    );
    needs
}

/// What a cluster needs, in a line at the head of its own page.
pub(crate) async fn strip(ask: &Ask, cluster: &Value, sums: &Value) -> Markup {
    let name = text(cluster, "name");
    let rates = ask
        .get_if(&format!("/v1/clusters/{}/rates", segment(name)))
        .await;
    let mut needs = of_cluster(ask, cluster, (Some(sums), rates.as_ref())).await;
    needs.retain(|need| !need.is_on_pages);
    needs.sort_by_key(|need| need.rank);
    let Some(worst) = needs.first() else {
        return html! {};
    };
    note(
        worst.colour(),
        html! {
            b { @match needs.len() {
                1 => "One thing needs somebody: ",
                several => { (len(several)) " things need somebody: " }
            } }
            @for (place, need) in needs.iter().take(IN_STRIP).enumerate() {
                @if place > 0 { " · " }
                a href=(need.path) { (need.brief) }
            }
            @if needs.len() > IN_STRIP {
                " · " a href="/#needs" { "and " (len(needs.len() - IN_STRIP)) " more" }
            }
        },
    )
}

fn is_broken(group: &Value) -> bool {
    let by = items(group, "broken-by").iter();
    by.into_iter().any(|it| it["hard"] == true)
}

fn text_of_policy(cluster: &Value) -> String {
    format!(
        "/policies/{}",
        segment(text(&cluster["settings"], "policy"))
    )
}

/// Requests of the newest decisions that found no host, and whose VMs were not placed since.
async fn rejected(
    ask: &Ask,
    cluster: &str,
    api: &str,
) -> Vec<(String, Markup, Option<Moment>, String)> {
    let decisions = ask.list(&format!("{api}/decisions"), DECISIONS).await;
    let (mut placed, mut told, mut more, mut looked) = (Vec::new(), Vec::new(), 0, 0);
    for recorded in decisions.unwrap_or_default() {
        // Nobody waits for what was only tried.
        if recorded["request"]["dry-run"] == true {
            continue;
        }
        let decision = &recorded["decision"];
        let vms: Vec<String> = texts(decision, "vms")
            .iter()
            .map(|it| (*it).to_owned())
            .collect();
        if !decision["host"].is_string() && !vms.iter().any(|vm| placed.contains(vm)) {
            if looked < LOOKED && told.len() < TOLD {
                looked += 1;
                if are_known(ask, api, &vms).await {
                    continue;
                }
            }
            if told.len() == TOLD {
                more += 1;
                placed.extend(vms);
                continue;
            }
            let number = recorded["number"].as_u64().unwrap_or_default();
            let reason = main_reason(decision);
            let text = html! {
                @for (place, vm) in vms.iter().take(3).enumerate() {
                    @if place > 0 { ", " }
                    b { (cut(vm, 40)) }
                }
                " found no host" @if !reason.is_empty() { ": " (sentence_end(&reason)) } @else { "." }
            };
            let path = url::of_cluster(cluster, &["decisions", &number.to_string()]);
            let brief = format!("no host for {}", cut(&vms.join(", "), 40));
            told.push((brief, text, Moment::of(&recorded["at"]), path));
        }
        placed.extend(vms);
    }
    if more > 0 {
        let text = html! { b { (things(more, "more request", "more requests")) } " of the newest " (DECISIONS) " decisions found no host." };
        let path = url::of_cluster(cluster, &["decisions"]) + "?outcome=none";
        let brief = format!(
            "{} without a host",
            things(more, "more request", "more requests")
        );
        told.push((brief, text, None, path));
    }
    told
}

/// Whether all of these VMs run or have a place by now, however they came to it.
async fn are_known(ask: &Ask, api: &str, vms: &[String]) -> bool {
    for vm in vms {
        let path = format!("{api}/vms/{}", segment(vm));
        if ask.get_if(&path).await.is_none() {
            return false;
        }
    }
    true
}

fn sentence_end(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

/// The reason that removed most hosts, as in "57 hosts, each of which has too little free memory";
/// or the quota that did not let any be looked for.
pub(crate) fn main_reason(decision: &Value) -> String {
    if let Some(because) = decision["refused-by-quota"]["because"].as_str() {
        return because.to_owned();
    }
    let removed = items(decision, "removed").iter();
    let most = removed.max_by_key(|it| count(it, "hosts"));
    most.map_or_else(String::new, |most| {
        let hosts = count(most, "hosts");
        hosts_that(hosts, text(most, "reason"))
    })
}

/// How many hosts were removed, and why: a reason says what one host does.
pub(crate) fn hosts_that(hosts: usize, reason: &str) -> String {
    let reason = cut(reason, 160);
    match hosts {
        1 => format!("1 host, which {reason}"),
        _ => format!("{}, each of which {reason}", things(hosts, "host", "hosts")),
    }
}

/// What waits for somebody who looks after the whole server.
pub(super) async fn of_server(ask: &Ask) -> Vec<Need> {
    let files = ask.list("/v1/unit-files", 1000).await.unwrap_or_default();
    let troubled = files.iter().filter(|file| file["trouble"].is_string());
    troubled
        .map(|file| Need {
            rank: 1,
            cluster: None,
            stops_all: false,
            is_on_pages: false,
            brief: format!("file {} refused", cut(text(file, "path"), 40)),
            text: html! {
                "The file " b.mono { (cut(text(file, "path"), 80)) } " is refused: "
                (sentence(&cut(text(file, "trouble"), 200)))
            },
            since: None,
            path: "/units".to_owned(),
            deed: "See the units",
        })
        .collect()
}
