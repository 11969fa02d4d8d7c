//! Answers that are given again when a request comes again with the same key, also after
//! a restart.

mod held;

pub(super) use held::Answers;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::reservations::Standing;
use super::{BatchPlaced, ClusterState, Placed, durable};
use crate::DeploymentError;
use placewright_model::{Request, rfc3339, rfc3339_key};
use placewright_scheduler::{Batch, BatchOrder};
use placewright_store::Change;

/// Seconds for which an answer is given again.
const REPEATED: i64 = 24 * 3600;

/// What a request came with, to be known again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Who asked: keys of others are other keys.
    pub caller: Arc<str>,
    /// The caller's own word for the request.
    pub word: String,
    /// If nobody is left for now, the request is decided once more: then only that is
    /// its answer.
    pub again: bool,
}

/// A request with a key.
pub(super) struct Asked {
    key: Key,
    /// Caller and word.
    name: String,
    /// Tells the request from others, its time aside.
    print: String,
}

impl Key {
    /// The key of a request to place.
    pub(super) fn of_place(self, request: &Request) -> Asked {
        self.of(&timeless(request.clone()))
    }

    /// The key of a request to migrate.
    pub(super) fn of_migration(self, request: &Request) -> Asked {
        self.of(&("migrate", timeless(request.clone())))
    }

    /// The key of a request to place a batch.
    pub(super) fn of_batch(self, batch: &Batch) -> Asked {
        let Batch {
            members,
            together,
            again,
            unset,
            // How a VM is written makes no other request.
            named: _,
            facts,
            now: _,
            draw,
            from_nothing,
            dry_run,
            order,
            all_or_nothing,
            reserve_for,
            search,
        } = batch;
        let everyone = Request {
            members: members.clone(),
            unset: unset.clone(),
            facts: facts.clone(),
            draw: *draw,
            dry_run: *dry_run,
            all_or_nothing: *all_or_nothing,
            reserve_for: *reserve_for,
            ..Request::default()
        };
        let is_listed = *order == BatchOrder::Listed;
        let who = (together, again);
        self.of(&("batch", everyone, from_nothing, is_listed, search, who))
    }

    fn of(self, request: &impl Serialize) -> Asked {
        Asked {
            name: format!("{}\n{}", self.caller, self.word),
            print: hex::encode(Sha256::digest(durable::json(request))),
            key: self,
        }
    }
}

fn timeless(request: Request) -> Request {
    Request {
        now: 0,
        // How a VM is written makes no other request.
        named: Vec::new(),
        ..request
    }
}

/// What is read of an answer that is given again.
#[derive(Deserialize)]
struct Answered {
    number: u64,
    vms: Vec<Arc<str>>,
    host: Option<Arc<str>>,
    #[serde(default)]
    reserved: bool,
    expires: Option<i64>,
}

/// How long places are held, as an answer has it.
fn held(expires: Option<i64>) -> String {
    let seconds = expires.map_or("null".to_owned(), |it| it.to_string());
    format!(r#""reserved":true,"expires":{seconds}"#)
}

/// The same after RFC 3339, which follows upon it; answers of older programs lack it.
fn held_after_rfc_3339(expires: Option<i64>) -> String {
    let time = expires.map_or("null".to_owned(), |it| format!("\"{}\"", rfc3339(it)));
    format!(r#","{}":{time}"#, rfc3339_key("expires"))
}

impl ClusterState {
    /// The answer that the same request got before.
    ///
    /// # Errors
    /// If another request came with that key.
    pub(super) fn repeated(
        &mut self,
        asked: &Asked,
        now: i64,
    ) -> Result<Option<Placed>, DeploymentError> {
        let Some(body) = self.given(asked, now)? else {
            return Ok(None);
        };
        Ok(Some(Placed {
            body: self.with_standing(&body),
            host: None,
            passing: false,
            repeated: true,
            changes: self.turns_with_changes,
        }))
    }

    /// What the same batch came to before.
    ///
    /// # Errors
    /// If another request came with that key.
    pub(super) fn repeated_batch(
        &mut self,
        asked: &Asked,
        now: i64,
    ) -> Result<Option<BatchPlaced>, DeploymentError> {
        let Some(body) = self.given(asked, now)? else {
            return Ok(None);
        };
        let Ok(mut placed) = serde_json::from_str::<BatchPlaced>(&body) else {
            return Ok(None);
        };
        for decision in placed.turns.iter_mut().flatten() {
            *decision = self.with_standing(decision);
        }
        placed.repeated = true;
        Ok(Some(placed))
    }

    /// The answer that was given to the same request.
    fn given(&mut self, asked: &Asked, now: i64) -> Result<Option<Arc<str>>, DeploymentError> {
        self.forget_answers(now);
        let Some(given) = self.answers.of(&asked.name) else {
            return Ok(None);
        };
        if given.print != asked.print {
            return Err(DeploymentError::OtherRequest(asked.key.word.clone()));
        }
        let body = given.body.clone();
        self.answers.repeats = true;
        Ok(Some(body))
    }

    /// An answer that is given again; once its places are no longer held, with what has
    /// become of them.
    fn with_standing(&self, body: &Arc<str>) -> Arc<str> {
        let Ok(answered) = serde_json::from_str::<Answered>(body) else {
            return body.clone();
        };
        let host = answered.host.filter(|_| answered.reserved);
        let (Some(host), Some(rest)) = (host, body.strip_suffix('}')) else {
            return body.clone();
        };
        match self.standing(answered.number, &answered.vms, &host) {
            Standing::Held => {
                // It may have been renewed. An answer has its own words in this order, and no
                // id in it has quotation marks without a stroke before them.
                let both = |expires| held(expires) + &held_after_rfc_3339(expires);
                let now = both(self.held_until(answered.number, &answered.vms));
                let told = both(answered.expires);
                match body.contains(&told) {
                    true => body.replacen(&told, &now, 1).into(),
                    false => body.replacen(&held(answered.expires), &now, 1).into(),
                }
            }
            other => format!(r#"{rest},"reservation":"{}"}}"#, other.word()).into(),
        }
    }

    /// Remember what a request came to.
    pub(super) fn remember(&mut self, asked: Asked, placed: &Placed, now: i64) {
        if asked.key.again && placed.passing {
            return;
        }
        self.remember_body(asked, placed.body.clone(), now);
    }

    /// Remember what a batch came to.
    pub(super) fn remember_batch(&mut self, asked: Asked, placed: &BatchPlaced, now: i64) {
        self.remember_body(asked, durable::json(placed).into(), now);
    }

    fn remember_body(&mut self, asked: Asked, body: Arc<str>, now: i64) {
        if !self.answers.may_hold(&asked.name, &asked.print, &body) {
            return;
        }
        self.changes.push(Change::Idempotency {
            cluster: self.name.to_string(),
            key: asked.name.clone(),
            at: now,
            body: durable::json(&(&asked.print, &*body)),
        });
        self.restore_answer(asked.name, now, asked.print, body);
    }

    /// Bytes of answers that are read from the store.
    pub(crate) fn answer_bytes(&self) -> u64 {
        self.answers.bound()
    }

    /// An answer was given at `at` and may be asked for again. Others go where there are too
    /// many bytes of them.
    pub(crate) fn restore_answer(&mut self, name: String, at: i64, print: String, body: Arc<str>) {
        let gone = self.answers.put(name, at, print, body);
        self.forget_in_store(gone);
    }

    /// These answers are given again no more.
    pub(crate) fn forget_in_store(&mut self, names: Vec<String>) {
        let forgotten = names.into_iter().map(|key| Change::ForgetAnswer {
            cluster: self.name.to_string(),
            key,
        });
        self.changes.extend(forgotten);
    }

    fn forget_answers(&mut self, now: i64) {
        let oldest = now - REPEATED;
        if self.answers.forget_before(oldest) {
            self.changes.push(Change::ForgetAnswers {
                cluster: self.name.to_string(),
                before: oldest,
            });
        }
    }
}
