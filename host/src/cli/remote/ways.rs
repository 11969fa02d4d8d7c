//! Why not there, of a server, for people.

use std::fmt::Write;

use serde_json::Value;

use super::shown;

/// The answer as text: quotas that refuse the VMs stand first, and what would let the host through
/// last, a line each.
pub(super) fn text(body: &Value) -> String {
    let mut rest = body.clone();
    let mut take = |key| rest.as_object_mut().and_then(|rest| rest.remove(key));
    let (ways, refused) = (take("ways"), take("refused-by-quotas"));
    let refused = refused.as_ref().and_then(Value::as_array);
    let refused = refused.map_or(&[][..], Vec::as_slice);
    if !refused.is_empty()
        && let Some(rest) = rest.as_object_mut()
    {
        // It stands above.
        rest.remove("because");
    }
    let mut text = String::new();
    for refusal in refused {
        let _ = writeln!(text, "Refused by {}", shown::cell(&refusal["because"]));
    }
    if !refused.is_empty() {
        text.push('\n');
    }
    text.push_str(&shown::outline(&rest));
    let ways = ways.as_ref().and_then(Value::as_array);
    let ways = ways.map_or(&[][..], Vec::as_slice);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_would_let_a_host_through_stands_last_as_sentences() {
        let way =
            |sentence: &str, chosen| json!({"sentence": sentence, "chosen": chosen, "changes": []});
        let body = json!({
            "host": "h1", "standing": "removed",
            "ways": [way("memory of VM a is at most 4 GiB", true), way("host h1 is up", false)],
        });
        let text = text(&body);
        let (head, ways) = text.split_once("\n\n").unwrap();
        assert!(head.contains("removed"), "{head}");
        assert_eq!(
            ways,
            "The filters would let h1 through if\n- memory of VM a is at most 4 GiB; then h1 would be chosen\n- host h1 is up"
        );
        assert!(!super::text(&json!({"host": "h1"})).contains("through if"));
    }

    #[test]
    fn a_quota_that_refuses_the_vms_stands_first() {
        let body = json!({
            "host": "h1", "standing": "refused-by-quota", "because": "quota \"q\": 2 VMs allowed",
            "refused-by-quotas": [{"quota": "q", "because": "quota \"q\": 2 VMs allowed"}],
            "ways": [{"sentence": "quota \"q\" allows 3 VMs", "chosen": true, "changes": []}],
        });
        assert_eq!(
            text(&body),
            "Refused by quota \"q\": 2 VMs allowed\n\nhost      h1\nstanding  refused-by-quota\n\nh1 could take them if\n- quota \"q\" allows 3 VMs; then h1 would be chosen"
        );
    }
}
