//! Why not there, of a server, for people.

use std::fmt::Write;

use serde_json::Value;

use super::shown;
use crate::cli::output;

/// The answer as text: quotas that refuse the VMs stand first, then how it stands with the host, and
/// what would let the host through last, a line each.
pub(super) fn text(body: &Value) -> String {
    let refused = list(&body["refused-by-quotas"]);
    let mut text = String::new();
    for refusal in refused {
        let _ = writeln!(text, "Refused by {}", shown::cell(&refusal["because"]));
    }
    if !refused.is_empty() {
        text.push('\n');
    }
    text.push_str(&standing(body, !refused.is_empty()));
    let facts = list(&body["facts"]);
    if !facts.is_empty() {
        let columns = ["entry", "about", "what:name", "value"];
        let _ = write!(text, "\n\n{}", shown::table(&columns, facts));
    }
    let ways = list(&body["ways"]);
    if ways.is_empty() {
        return text;
    }
    let host = shown::cell(&body["host"]);
    let _ = match refused {
        [] => write!(text, "\n\nThe filters would let {host} through if"),
        _ => write!(text, "\n\n{host} could take them if"),
    };
    for way in ways {
        let chosen = match way["chosen"] == true {
            true => format!("; then {host} would be chosen"),
            false => String::new(),
        };
        let _ = write!(text, "\n- {}{chosen}", shown::cell(&way["sentence"]));
    }
    text
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// How the host stands to the decision.
fn standing(body: &Value, is_refused: bool) -> String {
    let cell = |key: &str| shown::cell(&body[key]);
    let (vms, host) = (cell("vms"), cell("host"));
    let chosen = match body["chosen"].as_str() {
        Some(chosen) => shown::plain(chosen),
        None => "no host".to_owned(),
    };
    match body["standing"].as_str().unwrap_or_default() {
        "chosen" => match body["tied"].as_u64() {
            None | Some(0 | 1) => format!("{vms} goes to {host}: no other host is as good."),
            Some(tied) => {
                format!("{vms} goes to {host}, one of {tied} hosts with the same costs.")
            }
        },
        "not-asked" => format!(
            "{vms} does not go to {host}: no unit was asked, since host {host} {}.",
            cell("reason")
        ),
        "removed" => {
            let mut text = format!("{vms} cannot go to {host}:\n\n{}", removals(body));
            if !is_refused {
                let chosen = body["chosen"]
                    .as_str()
                    .map_or("none".to_owned(), shown::plain);
                let _ = write!(text, "\n\nChosen: {chosen}");
            }
            text
        }
        "costlier" => {
            let through = match body["through"].as_str() {
                Some(entry) => format!(", most of it through {}", shown::plain(entry)),
                None => String::new(),
            };
            format!(
                "{vms} goes to {chosen}: {host} costs {} more in stage {}, tier {}{through}.\n\n{}",
                cost(&body["by"]),
                cell("stage"),
                cell("tier"),
                differences(body, &host, &chosen)
            )
        }
        "tied" => format!(
            "{vms} goes to {chosen}: {host} has the same costs, and the tie rule ({}) has decided between them.",
            cell("rule")
        ),
        "refused-by-quota" if is_refused => {
            format!("{vms} goes nowhere: no host was looked for. Host {host} would have been left.")
        }
        "refused-by-quota" => format!(
            "{vms} goes nowhere, since no host was looked for: {}. Host {host} would have been left.",
            cell("because")
        ),
        "not-preferred" => {
            format!("{vms} goes to {chosen}: the request prefers other hosts than {host}.")
        }
        "not-drawn" => {
            let drawn = match body["drawn-from"].as_u64() {
                Some(group) => format!("{chosen} was drawn from group {group}"),
                None => "no candidate had a chance".to_owned(),
            };
            format!(
                "{vms} does not go to {host}, which has a chance of {} in group {}: {drawn}.",
                cell("share"),
                cell("group")
            )
        }
        // Of a newer server.
        _ => shown::outline(body),
    }
}

/// A cost; one that is not there is infinite.
fn cost(value: &Value) -> String {
    output::number(value.as_f64().unwrap_or(f64::INFINITY))
}

/// One row for each entry that removes the host.
fn removals(body: &Value) -> String {
    let mut table = output::table(&["removed by", "because it", "what the unit saw"]);
    for (number, removal) in list(&body["by"]).iter().enumerate() {
        let filter = shown::cell(&removal["filter"]);
        let filter = match number {
            0 => filter,
            _ => format!("{filter} (as well)"),
        };
        let reason = shown::cell(&removal["reason"]);
        let because = match removal["passing"] == true {
            true => format!("{reason} (for now)"),
            false => reason,
        };
        let values = list(&removal["values"]).iter().map(|value| {
            let of = match value["table"].as_str().unwrap_or_default() {
                "hosts" => String::new(),
                "members" => "VM ".to_owned(),
                "settings" => "setting ".to_owned(),
                table => format!("{} ", shown::plain(table)),
            };
            let (column, value) = (shown::cell(&value["column"]), shown::cell(&value["value"]));
            format!("{of}{column} {value}")
        });
        let values = values.collect::<Vec<_>>().join(", ");
        table.add_row([filter, because, values]);
    }
    output::shown(&table)
}

/// What each entry says of the host and of the chosen one.
fn differences(body: &Value, host: &str, chosen: &str) -> String {
    let of = |what: &str| format!(">{what} of {host} / {chosen}");
    let (raw, scaled, weighted) = (of("raw"), of("scaled"), of("weighted"));
    let mut table = output::table(&["cost of", &raw, &scaled, &weighted, ">difference"]);
    for difference in list(&body["differences"]) {
        let both = |key: &str| {
            let (here, there) = (&difference[key], &difference[format!("{key}-chosen")]);
            format!("{} / {}", cost(here), cost(there))
        };
        table.add_row([
            shown::cell(&difference["name"]),
            both("raw"),
            both("scaled"),
            both("weighted"),
            cost(&difference["by"]),
        ]);
    }
    output::shown(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_would_let_a_host_through_stands_last_as_sentences() {
        let way =
            |sentence: &str, chosen| json!({"sentence": sentence, "chosen": chosen, "changes": []});
        let body = json!({
            "vms": ["a"], "host": "h1", "chosen": null, "standing": "removed",
            "by": [{"filter": "memory", "unit": "memory", "reason": "has too little memory", "passing": false,
                "values": [{"table": "hosts", "column": "memory.free", "value": "1 GiB"},
                           {"table": "members", "column": "memory", "value": "8 GiB"}]}],
            "ways": [way("memory of VM a is at most 4 GiB", true), way("host h1 is up", false)],
        });
        let text = text(&body);
        let (head, ways) = text.rsplit_once("\n\n").unwrap();
        assert!(
            head.starts_with("a cannot go to h1:\n\nremoved by"),
            "{head}"
        );
        assert!(
            head.contains("memory.free 1 GiB, VM memory 8 GiB"),
            "{head}"
        );
        assert!(head.ends_with("Chosen: none"), "{head}");
        assert_eq!(
            ways,
            "The filters would let h1 through if\n- memory of VM a is at most 4 GiB; then h1 would be chosen\n- host h1 is up"
        );
        assert!(!super::text(&json!({"host": "h1"})).contains("through if"));
    }

    #[test]
    fn a_quota_that_refuses_the_vms_stands_first() {
        let body = json!({
            "vms": ["a"], "host": "h1", "standing": "refused-by-quota", "because": "quota \"q\": 2 VMs allowed",
            "refused-by-quotas": [{"quota": "q", "because": "quota \"q\": 2 VMs allowed"}],
            "ways": [{"sentence": "quota \"q\" allows 3 VMs", "chosen": true, "changes": []}],
        });
        assert_eq!(
            text(&body),
            "Refused by quota \"q\": 2 VMs allowed\n\na goes nowhere: no host was looked for. Host h1 would have been left.\n\nh1 could take them if\n- quota \"q\" allows 3 VMs; then h1 would be chosen"
        );
    }

    #[test]
    fn each_standing_is_a_sentence() {
        let of = |standing: Value| {
            let mut body = json!({"vms": ["a", "b"], "host": "h1", "chosen": "h2"});
            body.as_object_mut()
                .unwrap()
                .extend(standing.as_object().unwrap().clone());
            text(&body)
        };
        let difference = json!({
            "name": "spread", "tier": 0, "raw": 4.0, "raw-chosen": 2.0, "scaled": 0.4,
            "scaled-chosen": 0.2, "weighted": null, "weighted-chosen": 0.2, "by": null,
        });
        for (standing, told) in [
            (
                json!({"standing": "chosen", "tied": 1}),
                "a, b goes to h1: no other host",
            ),
            (
                json!({"standing": "chosen", "tied": 3}),
                "one of 3 hosts with the same costs.",
            ),
            (
                json!({"standing": "not-asked", "reason": "is in maintenance"}),
                "no unit was asked, since host h1 is in maintenance.",
            ),
            (
                json!({"standing": "costlier", "stage": "fit", "tier": 0, "by": null,
                    "through": "spread", "differences": [difference]}),
                "a, b goes to h2: h1 costs ∞ more in stage fit, tier 0, most of it through spread.",
            ),
            (
                json!({"standing": "tied", "rule": ["fewest-vms", "id"]}),
                "(fewest-vms, id)",
            ),
            (
                json!({"standing": "not-preferred"}),
                "prefers other hosts than h1.",
            ),
            (
                json!({"standing": "not-drawn", "group": 2, "share": 0.25, "drawn-from": 1}),
                "a chance of 0.2500 in group 2: h2 was drawn from group 1.",
            ),
        ] {
            let text = of(standing);
            assert!(text.contains(told), "{text}");
            assert!(!text.contains("standing"), "{text}");
        }
        // What a newer server says is shown all the same.
        assert!(of(json!({"standing": "new", "x": 1})).contains("standing  new"));
    }
}
