//! Records calls that change something, and calls of those who may not.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;
use tokio::runtime::Handle;

use super::connections::{Address, Peer, Rarely};
use super::observe::RequestId;
use super::permission::Permission;
use super::problem::{CarriedOut, Code, Problem};
use placewright_records::audit::{
    Audit, Kind, Offered, Origin, Record, Source, Unchanged, bounded, difference, listed, shortened,
};
use placewright_sync::Mutex;

/// Says that an answer is that of an earlier request.
const REPEATED: HeaderName = HeaderName::from_static("idempotency-replayed");

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What those behind know of a request, for its record.
#[derive(Debug, Clone, Default)]
pub struct Note(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    /// Whether there is an audit log.
    is_recorded: bool,
    permission: Option<Permission>,
    /// Whether the caller has shown nothing that is known, whatever the status says.
    is_unknown: bool,
    /// Whether the query has a secret.
    has_secret_query: bool,
    /// Whether the call was carried out and nothing is different for it.
    has_changed_nothing: bool,
    /// Whether the call is a question or a check, whatever its route is.
    only_asks: bool,
    record: Record,
}

impl Note {
    /// Who calls.
    pub fn is_by(&self, name: &Arc<str>) {
        self.with(|record| record.by = Some(name.clone()));
    }

    /// The caller has what the route needs.
    pub fn is_admitted(&self, permission: Permission) {
        self.lock().permission = Some(permission);
    }

    /// Nobody knows who calls. What is answered with another status than 401 is a refusal all the
    /// same.
    pub fn is_unknown(&self) {
        self.lock().is_unknown = true;
    }

    /// The query has a secret: it is not recorded.
    pub fn has_secret_query(&self) {
        self.lock().has_secret_query = true;
    }

    /// The call is carried out, and nothing is different for it: it was only tried, or everything
    /// was so already. Its record may give way to those of changes.
    pub fn has_changed_nothing(&self) {
        self.lock().has_changed_nothing = true;
    }

    /// The call is a question or a check, though its route could change something: it is recorded
    /// only where it is refused.
    pub fn only_asks(&self) {
        self.lock().only_asks = true;
    }

    /// The call is about these VMs.
    pub fn is_about<N: AsRef<str>>(&self, vms: impl ExactSizeIterator<Item = N>) {
        let mut noted = self.lock();
        if noted.is_recorded {
            noted.record.vms = listed(vms);
        }
    }

    /// Whether there is an audit log.
    pub fn is_recorded(&self) -> bool {
        self.lock().is_recorded
    }

    /// The inventory was of the one revision and is of the other now.
    pub fn revised(&self, (before, after): (u64, u64)) {
        if before == after {
            self.has_changed_nothing();
        }
        self.with(|record| {
            record.before = Some(format!("\"{before}\""));
            record.after = Some(format!("\"{after}\""));
        });
    }

    /// A row has changed; without one it was not there before, or is not any more.
    pub fn changed(&self, before: Option<&Value>, after: Option<&Value>) {
        if before == after {
            self.has_changed_nothing();
        }
        if self.is_recorded() {
            let (before, after) = difference(before, after);
            self.with(|record| (record.before, record.after) = (before, after));
        }
    }

    /// Add to the record.
    pub fn with(&self, add: impl FnOnce(&mut Record)) {
        add(&mut self.lock().record);
    }

    fn lock(&self) -> placewright_sync::MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where records go, and which refusals are told in the log.
#[derive(Debug, Default)]
pub struct Recorder {
    audit: Audit,
    /// Calls without a token that is known.
    unknown: Rarely,
    /// Calls of tokens that may not.
    forbidden: Rarely,
}

impl Recorder {
    /// Records calls in that log.
    pub fn new(audit: Audit) -> Arc<Self> {
        Arc::new(Self {
            audit,
            ..Self::default()
        })
    }
}

/// Carry the request out, and record it if it is one to be recorded.
pub async fn record(
    State(recorder): State<Arc<Recorder>>,
    mut request: Request,
    next: Next,
) -> Response {
    let call = Call::new(recorder, &mut request);
    let response = next.run(request).await;
    if let Some((audit, offered)) = call.answered(&response) {
        // A task of its own: it goes on if the caller does not. It has no way to fail.
        let _ = tokio::spawn(record_later(audit, offered)).await;
    }
    response
}

/// Have a change recorded once there is a place for it, also if its caller waits no more.
async fn record_later(audit: Audit, mut offered: Offered) {
    loop {
        let Some(pause) = audit.pause(&offered) else {
            return audit.lose(offered);
        };
        tokio::time::sleep(pause).await;
        match audit.offer_again(offered) {
            Ok(()) => return,
            Err(again) => offered = again,
        }
    }
}

/// How a text of a caller is brought into bounds.
type Cut = fn(&str) -> String;

/// Whether an answer says that nothing was changed. One that is not there in time may have been
/// carried out, and nobody knows what a fault of ours has left. What could not be stored was
/// carried out, and is stored later.
fn changed_nothing(response: &Response) -> bool {
    if response.extensions().get::<CarriedOut>().is_some() {
        return false;
    }
    let status = response.status();
    status.is_client_error()
        || matches!(
            status,
            StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::INSUFFICIENT_STORAGE
        )
}

/// A call that has no answer yet. If it gets none, it is recorded all the same.
struct Call {
    recorder: Arc<Recorder>,
    note: Note,
    method: Method,
    route: Option<MatchedPath>,
    uri: Uri,
    peer: Option<SocketAddr>,
    request: Option<RequestId>,
    forwarded_for: Option<String>,
    /// The revision that the caller says it changes.
    before: Option<String>,
    is_answered: bool,
}

impl Call {
    fn new(recorder: Arc<Recorder>, request: &mut Request) -> Self {
        let note = Note::default();
        note.lock().is_recorded = recorder.audit.is_on();
        request.extensions_mut().insert(note.clone());
        let text = |name| text(request.headers(), &name);
        Self {
            recorder,
            note,
            method: request.method().clone(),
            route: request.extensions().get::<MatchedPath>().cloned(),
            uri: request.uri().clone(),
            peer: request.extensions().get::<Peer>().map(|peer| peer.0),
            request: request.extensions().get::<RequestId>().cloned(),
            forwarded_for: text(FORWARDED_FOR),
            before: text(header::IF_MATCH),
            is_answered: false,
        }
    }

    /// Record it if it is one to be recorded; what has no place for now is given back.
    fn answered(mut self, response: &Response) -> Option<(Audit, Offered)> {
        self.is_answered = true;
        let status = response.status();
        let is_unknown = status == StatusCode::UNAUTHORIZED || self.note.lock().is_unknown;
        let is_refusal = is_unknown || status == StatusCode::FORBIDDEN;
        if is_refusal {
            self.warn(status, is_unknown);
        }
        if !self.recorder.audit.is_on() || !(is_refusal || self.is_change()) {
            return None;
        }
        let audit = self.recorder.audit.clone();
        let repeated = response.headers().contains_key(REPEATED);
        let unchanged =
            repeated || changed_nothing(response) || self.note.lock().has_changed_nothing;
        let why = match is_refusal {
            true => Unchanged::Refused,
            false if unchanged => Unchanged::Failed,
            false => {
                let record = self.of_answer(response, bounded);
                let offered = audit.offer(record).err()?;
                return Some((audit, offered));
            }
        };
        let source = self.source();
        audit.record_unchanged(&source, why, || Record {
            kind: match is_refusal {
                true => Kind::Refusal,
                false => Kind::Call,
            },
            repeated,
            ..self.of_answer(response, shortened)
        });
        None
    }

    /// Who calls, and from where, as far as it counts for the bounds of records.
    fn source(&self) -> Source {
        Source {
            token: self.note.lock().record.by.clone(),
            address: self.peer.map(|peer| Address::of(peer.ip()).ip()),
        }
    }

    /// The record of a call with this answer, whose texts are cut as given.
    fn of_answer(&self, response: &Response, cut: Cut) -> Record {
        let status = response.status();
        let problem = response.extensions().get::<Problem>().map(Problem::code);
        let is_error = status.is_client_error() || status.is_server_error();
        let code = problem.or_else(|| is_error.then(|| Code::of_status(status)));
        let mut record = self.record(cut);
        record.status = Some(status.as_u16());
        record.code = code.map(Code::word);
        record.after = record
            .after
            .or_else(|| text(response.headers(), &header::ETAG).map(|text| cut(&text)));
        record
    }

    /// Whether it changes something, if it is carried out.
    fn is_change(&self) -> bool {
        let (permission, only_asks) = {
            let noted = self.note.lock();
            (noted.permission, noted.only_asks)
        };
        let asks = matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let checks = self.route().is_some_and(|route| route.ends_with("/check"));
        !asks
            && !checks
            && !only_asks
            && permission.is_some_and(|permission| permission != Permission::View)
    }

    fn route(&self) -> Option<&str> {
        self.route.as_ref().map(MatchedPath::as_str)
    }

    fn record(&self, cut: Cut) -> Record {
        let mut record = std::mem::take(&mut self.note.lock().record);
        record.kind = Kind::Call;
        record.origin = Origin::Api;
        record.peer = self.peer;
        record.forwarded_for = self.forwarded_for.as_deref().map(shortened);
        record.request = self.request.as_ref().map(RequestId::shared);
        record.method = Some(cut(self.method.as_str()));
        record.route = self.route().map(Arc::from);
        let path = match self.note.lock().has_secret_query {
            true => self.uri.path(),
            false => self.uri.path_and_query().map_or("", |path| path.as_str()),
        };
        record.path = Some(cut(path));
        if record.before.is_none() && record.after.is_none() {
            record.before = self.before.as_deref().map(shortened);
        }
        self.name_parts(&mut record, cut);
        record
    }

    /// What the path names. Names that are written in another way than they are stand in the
    /// path alone.
    fn name_parts(&self, record: &mut Record, cut: Cut) {
        let route = self.route().unwrap_or_default().split('/');
        for (pattern, part) in route.zip(self.uri.path().split('/')) {
            let named = match pattern {
                "{cluster}" => &mut record.cluster,
                "{unit}" => &mut record.unit,
                "{policy}" => &mut record.policy,
                "{vm}" => &mut record.vm,
                "{host}" => &mut record.host,
                _ => continue,
            };
            if named.is_none() && !part.contains('%') {
                *named = Some(cut(part).into());
            }
        }
    }

    /// A line in the log, of many alike now and then.
    fn warn(&self, status: StatusCode, is_unknown: bool) {
        let rarely = match is_unknown {
            true => &self.recorder.unknown,
            false => &self.recorder.forbidden,
        };
        if let Some(requests) = rarely.case(Instant::now()) {
            let by = self.note.lock().record.by.clone();
            tracing::warn!(
                requests,
                caller = by.as_deref(),
                peer = self.peer.map(tracing::field::display),
                method = %self.method,
                path = bounded(self.uri.path()),
                status = status.as_u16(),
                "refused"
            );
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // The caller is gone; what it asked for may be done all the same.
        if self.is_answered || !self.recorder.audit.is_on() || !self.is_change() {
            return;
        }
        let audit = &self.recorder.audit;
        if let Err(offered) = audit.offer(self.record(bounded)) {
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(record_later(audit.clone(), offered))),
                // Outside of a runtime nothing is served any more.
                Err(_) => audit.lose(offered),
            }
        }
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(bounded(&String::from_utf8_lossy(value.as_bytes())))
}

#[cfg(test)]
mod tests;
