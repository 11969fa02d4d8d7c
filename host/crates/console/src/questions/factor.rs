//! What another factor of a cost would do: recorded decisions, made again with each.

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{cut, len, number, things};
use crate::page::sentence;
use crate::parts::{self, barred, host_link, note};
use crate::policy::{CostEntry, as_toml, costs, with_factor};
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, text, texts};
use placewright_http::{Permission, Problem};

/// Policies that may be chosen from.
const POLICIES: usize = 10_000;
/// Factors that are tried at once at most: each is as many decisions again.
const FACTORS: usize = 8;
/// Decisions that are listed for each factor.
const CHANGED: usize = 50;

/// What is asked.
struct Asked {
    policy: String,
    /// The document of the policy.
    document: String,
    /// Its costs, or why they cannot be told.
    costs: Result<Vec<CostEntry>, String>,
    /// The name of the cost.
    entry: String,
    /// As they were entered.
    factors: String,
}

/// The fields of the form, how to ask the same elsewhere, and the answer; `decides` is the policy of
/// the cluster.
pub(super) async fn answered(
    ask: &Ask,
    cluster: &str,
    decides: &str,
) -> Result<(Markup, Markup, Markup), Problem> {
    let policies = ask.list("/v1/policies", POLICIES).await?;
    let policies: Vec<&str> = policies.iter().map(|it| text(it, "name")).collect();
    let policy = ask.param("policy").unwrap_or(decides).to_owned();
    let shown = ask
        .get(&format!("/v1/policies/{}", segment(&policy)))
        .await?;
    let document = as_toml(text(&shown, "text")).into_owned();
    let costs = costs(&document);
    let first = costs.as_ref().ok().and_then(|costs| costs.first());
    let first = first.map(|cost| cost.name.clone()).unwrap_or_default();
    let asked = Asked {
        policy,
        document,
        entry: ask.param("entry").map_or(first, str::to_owned),
        factors: ask.param("factors").unwrap_or("0.5, 2, 4").to_owned(),
        costs,
    };
    let form = form(ask, cluster, &policies, &asked);
    let path = path(cluster, &asked.policy);
    let command = [
        "policy",
        "draft",
        &asked.policy,
        "draft.toml",
        "--cluster",
        cluster,
    ];
    let command = parts::command(&command);
    if ask.param("now").is_none() {
        let copies = parts::copies(&parts::curl_toml(&path, &asked.document), Some(&command));
        return Ok((form, copies, html! {}));
    }
    let tries = match tries(&asked) {
        Ok(tries) => tries,
        Err(why) => {
            let copies = parts::copies(&parts::curl_toml(&path, &asked.document), Some(&command));
            return Ok((form, copies, note("bad", html! { (sentence(&why)) })));
        }
    };
    let mut answers: Vec<(f64, Value)> = Vec::new();
    for (factor, draft) in &tries {
        let sent = crate::ask::Sent::Document {
            kind: "application/toml",
            text: draft.clone().into(),
            headers: Vec::new(),
        };
        match ask.send("POST", &path, sent).await {
            Ok(answer) => answers.push((*factor, answer.body)),
            Err(problem) => {
                let copies = parts::copies(&parts::curl_toml(&path, draft), Some(&command));
                let told = html! { b { "With the factor " (number(*factor, 6)) ": " } (sentence(problem.detail())) };
                return Ok((form, copies, note("bad", told)));
            }
        }
    }
    let draft = tries.first().map_or("", |(_, draft)| draft);
    let copies = parts::copies(&parts::curl_toml(&path, draft), Some(&command));
    Ok((form, copies, told(cluster, &asked, &answers)))
}

/// The route that tries a draft.
fn path(cluster: &str, policy: &str) -> String {
    let query = url::query([("policy", Some(policy)), ("examples", Some("50"))]);
    format!("/v1/clusters/{}/draft?{query}", segment(cluster))
}

/// The documents that are tried, with the factor of each. An error says what is wrong.
fn tries(asked: &Asked) -> Result<Vec<(f64, String)>, String> {
    let costs = asked.costs.as_ref().map_err(Clone::clone)?;
    let entry = costs.iter().find(|cost| cost.name == asked.entry);
    let entry = entry.ok_or_else(|| {
        format!(
            "the policy {} has no cost \"{}\"",
            asked.policy,
            cut(&asked.entry, 60)
        )
    })?;
    let factors = factors(&asked.factors)?;
    let tries = factors.into_iter().map(|factor| {
        let draft = with_factor(&asked.document, entry, factor);
        let draft = draft.map_err(|problem| problem.detail().to_owned())?;
        Ok((factor, draft))
    });
    tries.collect()
}

/// Numbers with commas between them.
fn factors(entered: &str) -> Result<Vec<f64>, String> {
    let words = entered.split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let factors = words.map(|word| {
        let factor = word.parse::<f64>().ok();
        let factor = factor.filter(|factor| factor.is_finite());
        factor.ok_or_else(|| {
            format!(
                "\"{}\" is not a number: write factors with commas between them, such as 0.5, 2, 4",
                cut(word, 40)
            )
        })
    });
    let factors: Vec<f64> = factors.collect::<Result<_, _>>()?;
    match factors.len() {
        0 => Err("write at least one factor".to_owned()),
        1..=FACTORS => Ok(factors),
        more => Err(format!(
            "{more} factors are too many: at most {FACTORS} are tried at once"
        )),
    }
}

fn form(ask: &Ask, cluster: &str, policies: &[&str], asked: &Asked) -> Markup {
    let costs = asked.costs.as_deref().unwrap_or_default();
    let entry = costs.iter().find(|cost| cost.name == asked.entry);
    html! {
        label.lab { "Policy" select.field name="policy" {
            @for name in policies { option value=(name) selected[asked.policy == *name] { (cut(name, 60)) } }
        } }
        label.lab { "Cost" input.field name="entry" value=(asked.entry) list="costs-of-policy" size="18" autocomplete="off"; }
        datalist id="costs-of-policy" { @for cost in costs { option value=(cost.name) { "now " (number(cost.factor, 6)) } } }
        label.lab { "Factors" input.field name="factors" value=(asked.factors) size="14"; }
        @if let Some(entry) = entry { span.small.soft { "in force: " (number(entry.factor, 6)) } }
        @match ask.may(Permission::AuthorPolicies, Some(cluster)) {
            true => button.btn.main type="submit" { "Ask" },
            false => (barred(ask, Permission::AuthorPolicies, "Ask")),
        }
        @if let Err(why) = &asked.costs { p.small.warn { (sentence(why)) } }
    }
}

fn told(cluster: &str, asked: &Asked, answers: &[(f64, Value)]) -> Markup {
    let tried = answers
        .first()
        .map_or(0, |(_, answer)| count(answer, "tried"));
    let most = answers.iter().max_by_key(|(_, it)| count(it, "differing"));
    html! {
        section.panel aria-label="Answer" {
            div.in { p.lead { @match most {
                _ if tried == 0 => { "No decision is recorded here that could be made again." }
                Some((factor, answer)) if count(answer, "differing") > 0 => {
                    b { (len(count(answer, "differing"))) " of " (things(tried, "decision", "decisions")) " would fall otherwise" }
                    " with a factor of " (number(*factor, 6)) " for " b { (cut(&asked.entry, 60)) } "."
                }
                _ => { b { "None of " (things(tried, "decision", "decisions")) " would fall otherwise." } }
            } }
            p.small.soft { "Each decision is made again by itself under " a href={ "/policies/" (segment(&asked.policy)) } { (cut(&asked.policy, 60)) } ", on the inventory of then. Nothing is changed." } }
            div.scroll tabindex="0" { table {
                caption.vh { "What each factor of " (asked.entry) " would do" }
                thead { tr {
                    th.num scope="col" { "Factor" } th.num scope="col" { "Fall otherwise" } th.num scope="col" { "Of" } th scope="col" { span.vh { "Share" } }
                    th.num scope="col" { "Without a host" } th.num scope="col" { "Hosts that get a VM" } th.num scope="col" { "Most on one host" }
                } }
                tbody { @for (factor, answer) in answers { (row(*factor, answer)) } }
            } }
        }
        @for (factor, answer) in answers { @if count(answer, "differing") > 0 { (changed(cluster, *factor, answer)) } }
    }
}

fn row(factor: f64, answer: &Value) -> Markup {
    let (differing, tried) = (count(answer, "differing"), count(answer, "tried"));
    let hosts = items(answer, "hosts");
    let used = hosts.iter().filter(|it| count(it, "after") > 0).count();
    let most = hosts.iter().map(|it| count(it, "after")).max().unwrap_or(0);
    let share = differing as f64 / tried.max(1) as f64;
    html! {
        tr {
            th.row.num scope="row" { (number(factor, 6)) }
            td.num data-differing=(differing) { (len(differing)) }
            td.num { (len(tried)) @if count(answer, "of") > tried { span.sub.warn { "of " (len(count(answer, "of"))) ": no time for more" } } }
            td { svg viewBox="0 0 100 10" preserveAspectRatio="none" width="160" height="10" aria-hidden="true" {
                rect.f-track width="100" height="10" rx="2" {} rect.f-acc width=(format!("{:.1}", share * 100.0)) height="10" rx="2" {}
            } }
            td.num { (len(count(answer, "rejected-after"))) }
            td.num { (len(used)) }
            td.num { (len(most)) }
        }
    }
}

fn changed(cluster: &str, factor: f64, answer: &Value) -> Markup {
    let changed = items(answer, "changed");
    html! {
        section.panel aria-label={ "Decisions that would fall otherwise with " (number(factor, 6)) } {
            details {
                summary.in { "Which would fall otherwise with a factor of " b { (number(factor, 6)) } ": " (len(changed.len())) }
                div.scroll tabindex="0" { table {
                    thead { tr { th.num scope="col" { "Number" } th scope="col" { "VM" } th scope="col" { "As decided" } th scope="col" { "With it" } } }
                    tbody { @for one in changed.iter().take(CHANGED) {
                        @let decision = one["decision"].to_string();
                        tr {
                            th.row.num scope="row" { a href=(of_cluster(cluster, &["decisions", &decision])) { (decision) } }
                            td.mono { (cut(&texts(one, "vms").join(", "), 60)) }
                            td { (host_link(cluster, one["before"].as_str())) }
                            td { (host_link(cluster, one["after"].as_str())) @if let Some(why) = one["failure"].as_str() { span.sub.bad { (cut(why, 120)) } } }
                        }
                    } }
                } }
                @if changed.len() > CHANGED { p.small.soft.in { "and " (len(changed.len() - CHANGED)) " more: the API tells all of them" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_numbers_with_commas_between_them() {
        assert_eq!(factors("0.5, 2,-4"), Ok(vec![0.5, 2.0, -4.0]));
        for (wrong, part) in [
            ("", "at least one"),
            ("much", "\"much\" is not a number"),
            ("1, inf", "\"inf\" is not a number"),
            ("1,2,3,4,5,6,7,8,9", "too many"),
        ] {
            let told = factors(wrong).unwrap_err();
            assert!(told.contains(part), "{wrong}: {told}");
        }
    }

    #[test]
    fn each_factor_is_tried_in_a_document_of_its_own() {
        let document =
            "[[filters]]\nunit = \"cpu\"\n[[costs]]\nunit = \"memory\"\nfactor = 2 # twice\n";
        let asked = |entry: &str, factors: &str| Asked {
            policy: "house".to_owned(),
            document: document.to_owned(),
            costs: costs(document),
            entry: entry.to_owned(),
            factors: factors.to_owned(),
        };
        let tried = tries(&asked("memory", "2, 0.5")).unwrap();
        assert_eq!(tried[0], (2.0, document.to_owned()));
        assert!(tried[1].1.contains("factor = 0.5 # twice"), "{tried:?}");
        assert!(
            tries(&asked("disk", "1"))
                .unwrap_err()
                .contains("no cost \"disk\"")
        );
    }
}
