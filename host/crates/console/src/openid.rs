//! Signing in by an OpenID Connect provider: a link to it, and the way back.
//!
//! What belongs to the browser that began it is in a cookie of its own, so that strangers can
//! leave nothing behind on the server.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use placewright_openid::{Begun, Identity, OpenIdError, Provider, Returned};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::ask::Console;
use crate::page::{self, SignIn};
use crate::session::{Scheme, cookie, is_page, page_before, see};
use placewright_http::audit::Note;
use placewright_http::{Code, Person, Problem, Role};

/// Where the provider sends browsers back to.
pub const OPENID_BACK: &str = "/sign-in/openid/back";

/// How many questions to the provider go on at once: strangers can begin them.
const AT_ONCE: usize = 4;

/// How long a browser may take to come back, in seconds.
const AWAY: u32 = 600;

const SECURE: &str = "__Host-placewright-openid";
const PLAIN: &str = "placewright-openid";

/// Sends a browser on to a page. A page that leads on itself, not an answer that does: browsers
/// keep the session's cookie back from what another site began.
const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// A role for the members of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRole {
    /// The group, as the provider names it.
    pub group: String,
    /// What its members may do.
    pub role: Role,
    /// The clusters that they may do it on; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
}

/// How people sign in by a provider, and what they may do then.
#[derive(Debug)]
pub struct OpenId {
    provider: Arc<Provider>,
    roles: RwLock<Arc<[GroupRole]>>,
    /// How long somebody is signed in, in seconds.
    session: i64,
    turns: Semaphore,
}

impl OpenId {
    /// By that provider. Sessions last so many seconds.
    pub fn new(provider: Provider, roles: Vec<GroupRole>, session: i64) -> Self {
        Self {
            provider: Arc::new(provider),
            roles: RwLock::new(roles.into()),
            session,
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// Give other roles to groups from now on. Gives whether they are others.
    pub fn replace_roles(&self, roles: Vec<GroupRole>) -> bool {
        let mut known = self.roles.write().unwrap_or_else(PoisonError::into_inner);
        let are_others = **known != *roles;
        *known = roles.into();
        are_others
    }

    /// What somebody may do: the greatest role of its groups, on the clusters for which one of
    /// them has it. None if none of its groups has a role.
    fn person(&self, identity: Identity, now: i64) -> Option<Person> {
        let roles = self
            .roles
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let own = || {
            let roles = roles.iter();
            roles.filter(|it| identity.groups.contains(&it.group))
        };
        let role = own().map(|it| it.role).max()?;
        let rows = own().filter(|it| it.role == role);
        let clusters = rows.map(|it| it.clusters.clone());
        // One row for all clusters is for all.
        let clusters: Option<Vec<_>> = clusters.collect();
        Some(Person {
            name: identity.name,
            role,
            clusters: clusters.map(|them| them.into_iter().flatten().collect()),
            until: now.saturating_add(self.session),
        })
    }

    fn turn(&self) -> Result<SemaphorePermit<'_>, Failed> {
        self.turns.try_acquire().map_err(|_| Failed::Busy)
    }
}

/// Why somebody was not signed in.
#[derive(Debug)]
enum Failed {
    /// Too many sign in at once.
    Busy,
    /// The cookie is not there any more.
    Forgotten,
    /// None of the groups has a role.
    NoRole(Identity),
    Provider(OpenIdError),
}

impl Failed {
    fn status(&self) -> StatusCode {
        match self {
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Provider(OpenIdError::Unreachable { .. } | OpenIdError::Answer { .. }) => {
                StatusCode::BAD_GATEWAY
            }
            Self::Provider(OpenIdError::Randomness) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::NoRole(_) => StatusCode::FORBIDDEN,
            Self::Forgotten | Self::Provider(_) => StatusCode::UNAUTHORIZED,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Busy => "Many people sign in just now: try again in a moment.".to_owned(),
            Self::Forgotten => format!(
                "This browser did not begin to sign in here within the last {} minutes: sign in again.",
                AWAY / 60
            ),
            Self::NoRole(identity) if identity.groups.is_empty() => format!(
                "You are \"{}\", and the provider names no group of yours: whoever configures this server gives roles to groups.",
                identity.name
            ),
            Self::NoRole(identity) => {
                let some: Vec<&str> = identity
                    .groups
                    .iter()
                    .map(String::as_str)
                    .take(10)
                    .collect();
                format!(
                    "You are \"{}\", and none of your groups has a role here: {}. Whoever configures this server gives roles to groups.",
                    identity.name,
                    some.join(", ")
                )
            }
            Self::Provider(error) => page::sentence(&error.to_string()),
        }
    }

    fn page(
        self,
        console: &Console,
        note: Option<Extension<Note>>,
        headers: &HeaderMap,
    ) -> Response {
        if let Some(note) = note {
            note.is_unknown();
        }
        let sentence = self.sentence();
        let sign_in = SignIn {
            wrong: Some(&sentence),
            ..SignIn::of(console, headers)
        };
        let mut response = page::sign_in(&sign_in, self.status());
        if let Ok(cookie) = kept(console, "") {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

fn cookie_name(console: &Console) -> &'static str {
    match console.cookie.is_secure {
        true => SECURE,
        false => PLAIN,
    }
}

/// The header that has a browser keep what it began. It has to come back from another site, so
/// it is not for this one alone.
fn kept(console: &Console, value: &str) -> Result<HeaderValue, Problem> {
    let name = cookie_name(console);
    let secure = if console.cookie.is_secure {
        "; Secure"
    } else {
        ""
    };
    let age = if value.is_empty() { 0 } else { AWAY };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    HeaderValue::from_str(&text).map_err(|error| Problem::internal(&error))
}

/// What a browser began, with the page that it is for, as the cookie has it.
fn written(begun: &Begun, page: &str) -> String {
    let page = hex::encode(page);
    format!("{}.{}.{}.{page}", begun.state, begun.nonce, begun.verifier)
}

fn read(cookie: &str) -> Option<(Begun, String)> {
    let parts: Vec<&str> = cookie.split('.').collect();
    let [state, nonce, verifier, page] = parts[..] else {
        return None;
    };
    let begun = Begun {
        state: state.to_owned(),
        nonce: nonce.to_owned(),
        verifier: verifier.to_owned(),
    };
    let page = String::from_utf8(hex::decode(page).ok()?).ok()?;
    let page = if is_page(&page) { page } else { "/".to_owned() };
    Some((begun, page))
}

/// That there is a provider to sign in with.
fn openid(console: &Console) -> Result<Arc<OpenId>, Problem> {
    let sentence = "people do not sign in to this server by OpenID Connect: sign in with a token";
    let problem = || Problem::new(Code::UnknownRoute, sentence);
    console.openid.clone().ok_or_else(problem)
}

/// Ask the provider something; that may take long, and goes on if the browser does not wait.
async fn asked<T: Send + 'static>(
    openid: &OpenId,
    ask: impl FnOnce(&Provider) -> Result<T, OpenIdError> + Send + 'static,
) -> Result<Result<T, Failed>, Problem> {
    let _turn = match openid.turn() {
        Ok(turn) => turn,
        Err(busy) => return Ok(Err(busy)),
    };
    let provider = openid.provider.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&provider)).await;
    let asked = asked.map_err(|error| Problem::internal(&error))?;
    Ok(asked.map_err(Failed::Provider))
}

/// Send a browser to the provider.
pub(crate) async fn begin(
    State(console): State<Arc<Console>>,
    note: Option<Extension<Note>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let openid = openid(&console)?;
    match asked(&openid, Provider::begin).await? {
        Ok((url, begun)) => {
            let mut response = see(url.as_str());
            let cookie = kept(&console, &written(&begun, &page_before(&headers)))?;
            response.headers_mut().append(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(failed) => Ok(failed.page(&console, note, &headers)),
    }
}

/// A browser comes back from the provider.
pub(crate) async fn back(
    State(console): State<Arc<Console>>,
    note: Option<Extension<Note>>,
    headers: HeaderMap,
    Query(returned): Query<Returned>,
) -> Result<Response, Problem> {
    let openid = openid(&console)?;
    let began = cookie(&headers, cookie_name(&console)).and_then(read);
    let Some((begun, page)) = began else {
        return Ok(Failed::Forgotten.page(&console, note, &headers));
    };
    let identity = asked(&openid, move |it| it.finish(&returned, &begun)).await?;
    let person = identity.and_then(|identity| {
        let person = openid.person(identity.clone(), console.access.now());
        person.ok_or(Failed::NoRole(identity))
    });
    match person {
        Ok(person) => {
            let secret = console.access.sign_in(person);
            let secret = secret.map_err(|error| Problem::internal(&error))?;
            let mut response = page::signed_in(Scheme::of(&headers), &page);
            let sent = response.headers_mut();
            sent.append(header::SET_COOKIE, console.cookie.set(secret.reveal())?);
            sent.append(header::SET_COOKIE, kept(&console, "")?);
            let on = HeaderValue::from_str(&format!("0; url={page}"));
            sent.insert(REFRESH, on.map_err(|error| Problem::internal(&error))?);
            Ok(response)
        }
        Err(failed) => Ok(failed.page(&console, note, &headers)),
    }
}

#[cfg(test)]
mod tests {
    use placewright_openid::{Address, OpenIdOptions};

    use super::*;

    fn openid(roles: &[(&str, Role, Option<&str>)]) -> OpenId {
        let options = OpenIdOptions {
            issuer: Address::parse("https://id.example").unwrap(),
            client: "placewright".to_owned(),
            secret: None,
            certificates: None,
            redirect: Address::parse("https://placewright.example").unwrap(),
            scopes: "openid".to_owned(),
            name_claim: "sub".to_owned(),
            groups_claim: "groups".to_owned(),
        };
        let roles = roles.iter().map(|(group, role, cluster)| GroupRole {
            group: (*group).to_owned(),
            role: *role,
            clusters: cluster.map(|name| BTreeSet::from([name.into()])),
        });
        OpenId::new(Provider::new(options), roles.collect(), 60)
    }

    fn role_of(openid: &OpenId, groups: &[&str]) -> Option<(Role, Option<Vec<String>>)> {
        let identity = Identity {
            name: "ann".to_owned(),
            groups: groups.iter().map(|it| (*it).to_owned()).collect(),
        };
        let person = openid.person(identity, 100)?;
        assert_eq!(person.until, 160);
        let clusters = person
            .clusters
            .map(|all| all.iter().map(|it| it.to_string()).collect());
        Some((person.role, clusters))
    }

    #[test]
    fn somebody_has_the_greatest_role_of_its_groups_where_they_have_it() {
        let openid = openid(&[
            ("all", Role::Viewer, None),
            ("north", Role::Operator, Some("north")),
            ("south", Role::Operator, Some("south")),
            ("everywhere", Role::Operator, None),
        ]);
        assert_eq!(role_of(&openid, &["all"]), Some((Role::Viewer, None)));
        let both = Some(vec!["north".to_owned(), "south".to_owned()]);
        assert_eq!(
            role_of(&openid, &["all", "south", "north"]),
            Some((Role::Operator, both))
        );
        assert_eq!(
            role_of(&openid, &["north", "everywhere"]),
            Some((Role::Operator, None))
        );
        assert_eq!(role_of(&openid, &["ALL", "nobody"]), None);
        assert_eq!(role_of(&openid, &[]), None);
    }

    #[test]
    fn what_a_browser_began_comes_back_as_it_was() {
        let begun = Begun {
            state: "5".to_owned(),
            nonce: "6".to_owned(),
            verifier: "7".to_owned(),
        };
        for (page, expected) in [
            ("/clusters/a?sort=cpu;x", "/clusters/a?sort=cpu;x"),
            ("https://evil.example", "/"),
            ("//evil.example", "/"),
            ("/sign-out", "/"),
        ] {
            let cookie = written(&begun, page);
            assert!(!cookie.contains([';', ' ', ',']), "{cookie}");
            assert_eq!(read(&cookie), Some((begun.clone(), expected.to_owned())));
        }
        for broken in ["", "a.b.c", "a.b.c.zz", "a.b.c.2f.d"] {
            assert_eq!(read(broken), None);
        }
    }
}
