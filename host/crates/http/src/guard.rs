//! Lets a request through to its route if its caller has what the route needs, and its query has
//! only what the route takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{Access, Caller};
use super::answers::Answers;
use super::audit::Note;
use super::compression::takes_gzip;
use super::connections::{InWork, Place};
use super::document::in_turn;
use super::extract::check_query;
use super::face::Faces;
use super::headers::no_header_twice;
use super::permission::{Permission, Rule, Scope};
use super::pool::Pool;
use super::problem::{Code, Problem};
use super::revision;

/// Who may call, and what.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    access: Arc<Access>,
    faces: Faces,
    rules: Rules,
    answers: Arc<Answers>,
    /// Where what is worked out and written for callers waits its turn.
    lists: Arc<Pool>,
}

/// The cluster that a request is about, because its path names it or its caller is for no other.
#[derive(Debug, Clone)]
pub(super) struct OnCluster(pub Arc<str>);

/// The rules by path.
#[derive(Debug, Clone)]
pub(super) struct Rules(Arc<BTreeMap<&'static str, Vec<&'static Rule>>>);

impl Guard {
    pub(super) fn new(
        access: Arc<Access>,
        faces: Faces,
        rules: impl Iterator<Item = &'static Rule>,
        answers: Arc<Answers>,
        lists: Arc<Pool>,
    ) -> Self {
        Self {
            access,
            faces,
            answers,
            lists,
            rules: Rules::new(rules),
        }
    }
}

impl Rules {
    pub(super) fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for rule in rules {
            by_path.entry(rule.path).or_default().push(rule);
        }
        Self(Arc::new(by_path))
    }

    pub(super) fn of(&self, path: &str, method: &Method) -> Result<&'static Rule, Problem> {
        let Some(rules) = self.0.get(path) else {
            // A slip of ours; tests find it. Better shut than open.
            tracing::error!(path, "a route has no rule");
            return Err(Problem::new(Code::Forbidden, "nobody may call this route"));
        };
        // What may be read may be asked after.
        let method = match *method {
            Method::HEAD => "GET",
            _ => method.as_str(),
        };
        let rule = rules.iter().find(|rule| rule.method == method);
        rule.copied().ok_or_else(|| wrong_method(method, rules))
    }
}

fn wrong_method(method: &str, rules: &[&Rule]) -> Problem {
    let mut methods: Vec<&str> = rules.iter().map(|rule| rule.method).collect();
    methods.sort_unstable();
    let methods = methods.join(", ");
    let method = placewright_document::shown(method);
    let sentence = format!("this path has no {method}; it has {methods}");
    let problem = Problem::new(Code::MethodNotAllowed, sentence);
    match HeaderValue::from_str(&methods) {
        Ok(methods) => problem.with_header(header::ALLOW, methods),
        Err(_) => problem,
    }
}

/// Find the caller, check the route's rule, and let the request through.
pub(super) async fn admit(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    match check(&guard, &mut request).await {
        Ok(admitted) => {
            let cluster = request.extensions().get::<OnCluster>();
            let cluster = cluster.map(|OnCluster(name)| name.clone());
            let caller = admitted.caller.as_ref();
            let takes_gzip = takes_gzip(request.headers());
            let response = match caller {
                Some(caller) => {
                    let waits = (caller, cluster.as_ref());
                    in_turn((&guard.lists, &guard.answers), waits, next.run(request)).await
                }
                None => next.run(request).await,
            };
            let whose = (caller, cluster.as_ref());
            let response = guard.answers.hold(response, whose, takes_gzip).await;
            drop(admitted.in_work);
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// A request that may go on.
#[derive(Default)]
struct Admitted {
    /// The name of the token; None: everybody may call this.
    caller: Option<Arc<str>>,
    /// Its connection is in use while this is held.
    in_work: Option<InWork>,
}

/// Whether the request may go on. Those behind find the route's rule, the caller and the
/// permission that the route needs among the request's extensions.
async fn check(guard: &Guard, request: &mut Request) -> Result<Admitted, Problem> {
    let Some(path) = request.extensions().get::<MatchedPath>().cloned() else {
        // No route has the path; the answer says so to everybody.
        return Ok(Admitted::default());
    };
    let rule = guard.rules.of(path.as_str(), request.method())?;
    request.extensions_mut().insert(rule);
    no_header_twice(request.headers())?;
    let Some((permission, scope)) = rule.permission(request.uri().query()) else {
        check_query(request.uri(), rule.query)?;
        return check_conditions(rule, request).map(|()| Admitted::default());
    };
    let face = guard.faces.of(request.uri().path());
    let place = request.extensions().get::<Arc<Place>>();
    let caller = guard.access.caller(request.headers(), face.secret);
    if let (Err(_), Some(place)) = (&caller, place) {
        place.is_of_nobody();
    }
    let caller = caller?.known_by(&guard.access);
    tracing::Span::current().record("caller", &*caller.name);
    let note = request.extensions().get::<Note>().cloned();
    if let Some(note) = &note {
        note.is_by(&caller.name);
    }
    let in_work = place.map(|place| place.is_of(&caller)).transpose()?;
    check_scope(&caller, permission, scope, request).await?;
    if let Some(note) = &note {
        note.is_admitted(permission);
    }
    let admitted = Admitted {
        caller: Some(caller.name.clone()),
        in_work,
    };
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(permission);
    check_query(request.uri(), rule.query)?;
    check_conditions(rule, request).map(|()| admitted)
}

/// That the route looks at the conditions of the request, if it has some. Those of requests that
/// only read spare an answer, and may be passed over.
fn check_conditions(rule: &Rule, request: &Request) -> Result<(), Problem> {
    match rule.is_conditional || rule.only_reads() {
        true => Ok(()),
        false => revision::none(request.headers()),
    }
}

/// That the caller has the permission on what the request is about.
pub(super) async fn check_scope(
    caller: &Caller,
    permission: Permission,
    scope: Scope,
    request: &mut Request,
) -> Result<(), Problem> {
    match scope {
        Scope::Any => {
            caller.must(permission, None)?;
            // Whatever it asks for, it is shown its clusters alone.
            if let Some(cluster) = caller.counts_for() {
                request.extensions_mut().insert(OnCluster(cluster));
            }
            Ok(())
        }
        Scope::All => caller.must_everywhere(permission),
        Scope::Cluster => {
            let parts = request.extract_parts::<RawPathParams>().await;
            let parts = parts
                .map_err(|rejection| Problem::new(Code::InvalidParameter, rejection.body_text()))?;
            let named = parts.iter().find(|(name, _)| *name == "cluster");
            match named {
                Some((_, cluster)) => {
                    caller.must(permission, Some(cluster))?;
                    request.extensions_mut().insert(OnCluster(cluster.into()));
                    Ok(())
                }
                None => caller.must_everywhere(permission),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;
    use crate::access::Authority;
    use crate::permission::Role;

    #[tokio::test]
    async fn what_a_caller_for_some_clusters_asks_for_counts_for_these() {
        for (clusters, expected) in [
            (Some(vec!["x"]), Some("x")),
            (Some(vec!["x", "y"]), Some("x\ny")),
            (Some(vec!["y", "x"]), Some("x\ny")),
            (Some(vec!["x", "z"]), Some("x\nz")),
            (Some(vec![]), Some("")),
            (None, None),
        ] {
            let clusters = clusters.map(|all| all.into_iter().map(Arc::from).collect());
            let caller = Caller {
                name: "a".into(),
                role: Role::Viewer,
                clusters,
                expires: None,
                sha256: None,
                session: None,
                authority: Authority::default(),
            };
            let mut request = Request::new(Body::empty());
            let checked = check_scope(&caller, Permission::View, Scope::Any, &mut request).await;
            assert!(checked.is_ok());
            let cluster = request.extensions().get::<OnCluster>();
            let cluster = cluster.map(|OnCluster(name)| &**name);
            assert_eq!(cluster, expected, "{:?}", caller.clusters);
        }
    }
}
