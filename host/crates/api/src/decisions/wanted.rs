//! Which of the recorded decisions are listed.

use std::borrow::Cow;

use serde::Deserialize;
use utoipa::IntoParams;

/// What is asked of a list of decisions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DecisionsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub(super) limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    #[param(pattern = "^[0-9]+$")]
    pub(super) after: Option<String>,
    /// Only decisions about the VM with this id, alone or among others.
    vm: Option<String>,
    /// Only decisions that chose the host with this id.
    host: Option<String>,
    /// true: only decisions that found a host; false: only those that found none.
    placed: Option<bool>,
    /// Only decisions with this in the id of one of their VMs or of the chosen host, in letters of
    /// either case.
    text: Option<String>,
}

/// Which decisions are listed.
#[derive(Debug, Default)]
pub(super) struct WantedDecisions {
    vm: Option<String>,
    host: Option<String>,
    placed: Option<bool>,
    /// In small letters.
    text: Option<String>,
}

impl From<DecisionsQuery> for WantedDecisions {
    fn from(query: DecisionsQuery) -> Self {
        Self {
            vm: query.vm,
            host: query.host,
            placed: query.placed,
            text: query.text.map(|text| text.to_lowercase()),
        }
    }
}

/// What a recorded decision is chosen by; the rest of it is skipped.
#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow)]
    decision: Outcome<'b>,
}

#[derive(Deserialize)]
struct Outcome<'b> {
    #[serde(borrow, default)]
    vms: Vec<Cow<'b, str>>,
    #[serde(borrow, default)]
    host: Option<Cow<'b, str>>,
}

impl WantedDecisions {
    /// Whether all are listed.
    pub(super) fn is_any(&self) -> bool {
        let Self {
            vm,
            host,
            placed,
            text,
        } = self;
        vm.is_none() && host.is_none() && placed.is_none() && text.is_none()
    }

    /// Whether a decision that is recorded so is listed.
    pub(super) fn fits(&self, body: &str) -> bool {
        if self.is_any() {
            return true;
        }
        let Ok(Body { decision }) = serde_json::from_str::<Body<'_>>(body) else {
            return false;
        };
        let chosen = decision.host.as_deref();
        let vm = self.vm.as_deref();
        let host = self.host.as_deref();
        vm.is_none_or(|vm| decision.vms.iter().any(|named| named == vm))
            && host.is_none_or(|host| chosen == Some(host))
            && self.placed.is_none_or(|placed| placed == chosen.is_some())
            && self.text.as_deref().is_none_or(|text| {
                let holds = |name: &str| name.to_lowercase().contains(text);
                decision.vms.iter().any(|vm| holds(vm)) || chosen.is_some_and(holds)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACED: &str = r#"{"by":"ci","decision":{"vms":["web-\"1\"","Db"],"host":"h1","considered":3},"request":{"vm":{"id":"x"}}}"#;
    const REJECTED: &str = r#"{"decision":{"vms":["db"],"host":null},"request":{}}"#;

    fn wanted(query: &str) -> WantedDecisions {
        serde_json::from_str::<DecisionsQuery>(query)
            .unwrap()
            .into()
    }

    #[test]
    fn decisions_are_chosen_by_vm_host_outcome_and_text_all_of_which_must_fit() {
        for (query, placed, rejected) in [
            (r#"{}"#, true, true),
            (r#"{"vm":"web-\"1\""}"#, true, false),
            (r#"{"vm":"db"}"#, false, true),
            (r#"{"vm":"web"}"#, false, false),
            (r#"{"host":"h1"}"#, true, false),
            (r#"{"host":"h"}"#, false, false),
            (r#"{"placed":true}"#, true, false),
            (r#"{"placed":false}"#, false, true),
            (r#"{"text":"DB"}"#, true, true),
            (r#"{"text":"H1"}"#, true, false),
            (r#"{"text":"db","placed":false}"#, false, true),
            (r#"{"vm":"db","host":"h1"}"#, false, false),
        ] {
            let wanted = wanted(query);
            assert_eq!(wanted.fits(PLACED), placed, "{query}");
            assert_eq!(wanted.fits(REJECTED), rejected, "{query}");
        }
    }
}
