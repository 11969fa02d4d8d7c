//! Priority: hosts of higher priority come first, or get larger shares of chance.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use shares::preference::{Preference, Settings};
use shares::{Candidates, Standing};

#[derive(Request)]
struct Request {
    candidates: Rows<Standing>,
    hosts: Rows<Host>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    listed: i64,
    #[column("attribute.priority")]
    priority: Option<i64>,
}

struct Priority;

impl Selection for Priority {
    type Request = Request;
    type Settings = Settings;

    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let preference = Preference::of(settings).map_err(Problem::Refused)?;
        let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
        let preferred = preference.apply(candidates, |host| host.priority);
        Ok(preferred.answer())
    }
}

impl CheckSettings for Priority {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        Preference::of(settings).map(drop)
    }
}

placewright_sdk::export!(Priority: selection, settings);

#[cfg(test)]
mod tests;
