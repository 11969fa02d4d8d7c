//! Signing in by an OpenID Connect provider: a link to it, and the way back.
//!
//! What belongs to the browser that began it is in a cookie of its own, so that strangers can
//! leave nothing behind on the server.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use placewright_openid::{self as protocol, Begun, Identity, OpenIdError, Provider, Returned};

use crate::ask::Console;
use crate::page::{self, SignIn};
use crate::session::{Scheme, cookie, is_page, page_before, see};
use placewright_http::audit::Note;
use placewright_http::pool::Pool;
use placewright_http::{Access, Address, Code, GroupRole, Person, Problem, Query, Secret};

/// Where the provider sends browsers back to.
pub const OPENID_BACK: &str = "/sign-in/openid/back";

/// How many questions to the provider go on at once, half of them for one address: strangers can
/// begin them.
const AT_ONCE: usize = 4;

/// How long somebody waits for others' questions to the provider.
const WAIT: Duration = Duration::from_secs(5);

/// How long a browser may take to come back, in seconds.
const AWAY: u32 = 600;

const SECURE: &str = "__Host-placewright-openid";
const PLAIN: &str = "placewright-openid";

/// Sends a browser on to a page. A page that leads on itself, not an answer that does: browsers
/// keep the session's cookie back from what another site began.
const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Signing in by a provider, and the roles that its groups have here.
#[derive(Debug)]
pub struct OpenId {
    provider: Arc<Provider>,
    roles: RwLock<Vec<GroupRole>>,
    /// How long somebody is signed in, in seconds.
    session: i64,
    /// Where those who ask the provider wait their turn, by their addresses.
    turns: Arc<Pool>,
    wait: Duration,
}

impl OpenId {
    /// Sign in people by `provider`, each for `session` seconds.
    pub fn new(provider: Provider, roles: Vec<GroupRole>, session: i64) -> Self {
        Self {
            provider: Arc::new(provider),
            roles: RwLock::new(roles),
            session,
            turns: Pool::new("sign-ins", AT_ONCE, Duration::MAX),
            wait: WAIT,
        }
    }

    /// Give other roles to groups from now on. Gives whether they are others.
    pub fn replace_roles(&self, roles: Vec<GroupRole>) -> bool {
        let mut known = self.roles.write().unwrap_or_else(PoisonError::into_inner);
        let are_others = *known != roles;
        *known = roles;
        are_others
    }

    /// Begin a session of somebody, if one of its groups has a role. Roles are not replaced
    /// meanwhile: whoever replaces them ends this session as well.
    fn admit(&self, identity: Identity, access: &Access) -> Result<Secret, Failed> {
        let roles = self.roles.read().unwrap_or_else(PoisonError::into_inner);
        let until = access.now().saturating_add(self.session);
        let person = person(&roles, &identity, until).ok_or(Failed::NoRole(identity))?;
        let secret = access.sign_in(person);
        secret.map_err(|_| Failed::Provider(OpenIdError::Randomness))
    }
}

/// What somebody may do: the highest role of its groups, on the clusters for which one of them has
/// it. None if none of its groups has a role.
fn person(roles: &[GroupRole], identity: &Identity, until: i64) -> Option<Person> {
    let own = || {
        roles
            .iter()
            .filter(|it| identity.groups.contains(&it.group))
    };
    let role = own().map(|it| it.role).max()?;
    // One group that has it on all clusters is enough for all.
    let clusters: Option<Vec<_>> = own()
        .filter(|it| it.role == role)
        .map(|it| it.clusters.clone())
        .collect();
    Some(Person {
        name: identity.name.clone(),
        role,
        clusters: clusters.map(|all| all.into_iter().flatten().collect()),
        until,
    })
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
        if let Ok(cookie) = set_cookie(console, "") {
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

/// The header that sets the cookie of what a browser began, or removes it. The browser comes back
/// from another site, so the cookie must not be strict.
fn set_cookie(console: &Console, value: &str) -> Result<HeaderValue, Problem> {
    let age = if value.is_empty() { 0 } else { AWAY };
    let how = format!("SameSite=Lax; Max-Age={age}");
    console.cookie.header(cookie_name(console), value, &how)
}

/// What a browser began, with the page that it is for, as the cookie has it.
fn cookie_value(begun: &Begun, page: &str) -> String {
    let page = hex::encode(page);
    format!("{}.{}.{}.{page}", begun.state, begun.nonce, begun.verifier)
}

fn of_cookie(cookie: &str) -> Option<(Begun, String)> {
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

/// Ask the provider something for somebody at that address. It is asked to the end, also if the
/// browser does not wait, and counts among the questions that go on until then.
async fn asked<T: Send + 'static>(
    openid: &OpenId,
    from: Address,
    ask: impl FnOnce(&Provider) -> Result<T, OpenIdError> + Send + 'static,
) -> Result<Result<T, Failed>, Problem> {
    let from = from.ip().to_string().into();
    let turn = tokio::time::timeout(openid.wait, openid.turns.place(&from, None));
    let Ok(Ok(turn)) = turn.await else {
        return Ok(Err(Failed::Busy));
    };
    let provider = openid.provider.clone();
    let asked = tokio::task::spawn_blocking(move || {
        let answer = ask(&provider);
        drop(turn);
        answer
    });
    let answer = asked.await.map_err(|error| Problem::internal(&error))?;
    Ok(answer.map_err(Failed::Provider))
}

/// Where a browser goes that begins to sign in, and what it keeps. Nobody waits for others while
/// it is known where that is.
async fn begun(
    openid: &OpenId,
    from: Address,
) -> Result<Result<(protocol::Address, Begun), Failed>, Problem> {
    match openid.provider.begin_unasked() {
        Some(begun) => Ok(begun.map_err(Failed::Provider)),
        None => asked(openid, from, Provider::begin).await,
    }
}

/// Who a browser is that came back. Nobody waits to be told what shows without the provider.
async fn identified(
    openid: &OpenId,
    from: Address,
    (returned, begun): (Returned, Begun),
) -> Result<Result<Identity, Failed>, Problem> {
    match openid.provider.objection(&returned, &begun) {
        Some(error) => Ok(Err(Failed::Provider(error))),
        None => asked(openid, from, move |it| it.finish(&returned, &begun)).await,
    }
}

/// Send a browser to the provider.
pub(crate) async fn begin(
    State(console): State<Arc<Console>>,
    note: Option<Extension<Note>>,
    from: Address,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let openid = openid(&console)?;
    match begun(&openid, from).await? {
        Ok((url, begun)) => {
            let mut response = see(url.as_str());
            let cookie = set_cookie(&console, &cookie_value(&begun, &page_before(&headers)))?;
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
    from: Address,
    headers: HeaderMap,
    Query(returned): Query<Returned>,
) -> Result<Response, Problem> {
    let openid = openid(&console)?;
    if let Some(note) = &note {
        note.has_secret_query();
    }
    let began = cookie(&headers, cookie_name(&console)).and_then(of_cookie);
    let Some((begun, page)) = began else {
        return Ok(Failed::Forgotten.page(&console, note, &headers));
    };
    let identity = identified(&openid, from, (returned, begun)).await?;
    match identity.and_then(|identity| openid.admit(identity, &console.access)) {
        Ok(secret) => {
            let mut response = page::signed_in(Scheme::of(&headers), &page);
            let sent = response.headers_mut();
            sent.append(header::SET_COOKIE, console.cookie.set(secret.reveal())?);
            sent.append(header::SET_COOKIE, set_cookie(&console, "")?);
            let on = HeaderValue::from_str(&format!("0; url={page}"));
            sent.insert(REFRESH, on.map_err(|error| Problem::internal(&error))?);
            Ok(response)
        }
        Err(failed) => Ok(failed.page(&console, note, &headers)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};

    use placewright_http::Role;
    use placewright_openid::OpenIdOptions;

    use super::*;

    fn openid(issuer: &str) -> OpenId {
        let options = OpenIdOptions {
            issuer: protocol::Address::parse(issuer).unwrap(),
            client: "placewright".to_owned(),
            secret: None,
            certificates: None,
            redirect: protocol::Address::parse("https://placewright.example").unwrap(),
            scopes: "openid".to_owned(),
            name_claim: "sub".to_owned(),
            groups_claim: "groups".to_owned(),
        };
        OpenId::new(Provider::new(options), Vec::new(), 60)
    }

    fn role_of(
        roles: &[(&str, Role, Option<&str>)],
        groups: &[&str],
    ) -> Option<(Role, Option<Vec<String>>)> {
        let roles = roles.iter().map(|(group, role, cluster)| GroupRole {
            group: (*group).to_owned(),
            role: *role,
            clusters: cluster.map(|name| BTreeSet::from([name.into()])),
        });
        let roles: Vec<_> = roles.collect();
        let identity = Identity {
            name: "ann".to_owned(),
            groups: groups.iter().map(|it| (*it).to_owned()).collect(),
        };
        let person = person(&roles, &identity, 160)?;
        assert_eq!((&*person.name, person.until), ("ann", 160));
        let clusters = person
            .clusters
            .map(|all| all.iter().map(|it| it.to_string()).collect());
        Some((person.role, clusters))
    }

    fn address(last: u8) -> Address {
        Address::of([192, 0, 2, last].into())
    }

    /// A question for somebody at that address, which the provider has taken and does not answer
    /// while its connection is held. The browser goes away.
    async fn asks(openid: &Arc<OpenId>, from: Address, silent: &Arc<TcpListener>) -> TcpStream {
        let shared = openid.clone();
        let asked = async move { asked(&shared, from, Provider::begin).await.is_ok() };
        let asked = tokio::spawn(asked);
        let silent = silent.clone();
        let taken = tokio::task::spawn_blocking(move || silent.accept()).await;
        asked.abort();
        assert!(asked.await.unwrap_err().is_cancelled());
        taken.unwrap().unwrap().0
    }

    #[test]
    fn a_page_that_browsers_or_headers_read_otherwise_is_not_remembered() {
        let begun = || Begun {
            state: "s".to_owned(),
            nonce: "n".to_owned(),
            verifier: "v".to_owned(),
        };
        for (page, expected) in [
            ("/clusters/x?sort=cpu", "/clusters/x?sort=cpu"),
            ("/clusters\nrefresh: 0", "/"),
            ("/clusters\r\n", "/"),
            ("/\\evil.example", "/"),
            ("//evil.example", "/"),
            ("/clusters/\u{e9}", "/"),
        ] {
            let (_, read) = of_cookie(&cookie_value(&begun(), page)).unwrap();
            assert_eq!(read, expected, "{page:?}");
            assert!(HeaderValue::from_str(&format!("0; url={read}")).is_ok());
        }
    }

    #[tokio::test]
    async fn so_many_questions_go_on_at_once_also_if_nobody_waits_for_them() {
        let silent = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let openid = OpenId {
            wait: Duration::ZERO,
            ..openid(&format!("http://{}", silent.local_addr().unwrap()))
        };
        let openid = Arc::new(openid);
        let mut taken = Vec::new();
        for last in [1, 1, 2, 2] {
            taken.push(asks(&openid, address(last), &silent).await);
        }
        assert_eq!(taken.len(), AT_ONCE);
        let one_more = asked(&openid, address(3), Provider::begin).await;
        assert!(matches!(one_more.unwrap(), Err(Failed::Busy)));
        // What was asked ends with the provider.
        drop((silent, taken));
        let turn = openid.turns.place(&"192.0.2.3".into(), None).await;
        drop(turn.unwrap());
        let one_more = asked(&openid, address(3), Provider::begin).await;
        assert!(matches!(
            one_more.unwrap(),
            Err(Failed::Provider(OpenIdError::Unreachable { .. }))
        ));
    }

    #[tokio::test]
    async fn one_address_has_half_of_the_questions_and_others_need_not_wait_for_it() {
        let silent = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let openid = OpenId {
            wait: Duration::ZERO,
            ..openid(&format!("http://{}", silent.local_addr().unwrap()))
        };
        let openid = Arc::new(openid);
        let first = asks(&openid, address(1), &silent).await;
        let second = asks(&openid, address(1), &silent).await;
        let third = asked(&openid, address(1), Provider::begin).await;
        assert!(matches!(third.unwrap(), Err(Failed::Busy)));
        let other = asks(&openid, address(2), &silent).await;
        drop((silent, first, second, other));
    }

    #[tokio::test]
    async fn whoever_finds_no_turn_waits_for_one() {
        let openid = Arc::new(openid("http://127.0.0.1:1"));
        let own = "192.0.2.1".into();
        let turns = [
            openid.turns.place(&own, None).await.unwrap(),
            openid.turns.place(&own, None).await.unwrap(),
        ];
        let waits = begun(&openid, address(1));
        tokio::pin!(waits);
        let at_once = tokio::time::timeout(Duration::ZERO, &mut waits).await;
        assert!(at_once.is_err());
        drop(turns);
        assert!(matches!(
            waits.await.unwrap(),
            Err(Failed::Provider(OpenIdError::Unreachable { .. }))
        ));
    }

    /// Answers so many requests: what a provider says of itself, and its keys.
    fn answer(listener: &TcpListener, requests: usize) {
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let metadata = serde_json::json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
        });
        for _ in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = head.next().unwrap().unwrap();
            while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let body = match first.contains("/keys") {
                true => "{\"keys\": []}".to_owned(),
                false => metadata.to_string(),
            };
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let length = body.len();
            write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        }
    }

    #[tokio::test]
    async fn whoever_begins_needs_no_turn_while_it_is_known_what_the_provider_says_of_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let openid = OpenId {
            wait: Duration::ZERO,
            ..openid(&format!("http://{}", listener.local_addr().unwrap()))
        };
        let answers = std::thread::spawn(move || answer(&listener, 2));
        let mut turns = Vec::new();
        for name in ["a", "a", "b", "b"] {
            turns.push(openid.turns.place(&name.into(), None).await.unwrap());
        }
        assert!(matches!(
            begun(&openid, address(1)).await.unwrap(),
            Err(Failed::Busy)
        ));
        drop(turns.pop());
        let (_, kept) = begun(&openid, address(1)).await.unwrap().unwrap();
        answers.join().unwrap();
        turns.push(openid.turns.place(&"b".into(), None).await.unwrap());
        assert!(begun(&openid, address(1)).await.unwrap().is_ok());
        // Nor does whoever comes back with what cannot be the answer.
        let foreign = identified(&openid, address(1), (Returned::default(), kept));
        assert!(matches!(
            foreign.await.unwrap(),
            Err(Failed::Provider(OpenIdError::Foreign(_)))
        ));
    }

    #[test]
    fn whoever_is_admitted_is_known_until_roles_are_replaced() {
        let access = Access::new(Vec::new());
        access.admit_people();
        let openid = openid("https://id.example");
        let identity = || Identity {
            name: "ann".to_owned(),
            groups: vec!["staff".to_owned()],
        };
        assert!(matches!(
            openid.admit(identity(), &access),
            Err(Failed::NoRole(_))
        ));
        let role = GroupRole {
            group: "staff".to_owned(),
            role: Role::Viewer,
            clusters: None,
        };
        assert!(openid.replace_roles(vec![role.clone()]));
        assert!(!openid.replace_roles(vec![role]), "they are the same");
        assert!(openid.admit(identity(), &access).is_ok());
        assert_eq!(access.sign_out_people(), 1);
    }

    #[test]
    fn somebody_has_the_highest_role_of_its_groups_where_they_have_it() {
        let roles = [
            ("all", Role::Viewer, None),
            ("north", Role::Operator, Some("north")),
            ("south", Role::Operator, Some("south")),
            ("everywhere", Role::Operator, None),
        ];
        assert_eq!(role_of(&roles, &["all"]), Some((Role::Viewer, None)));
        let both = Some(vec!["north".to_owned(), "south".to_owned()]);
        assert_eq!(
            role_of(&roles, &["all", "south", "north"]),
            Some((Role::Operator, both))
        );
        assert_eq!(
            role_of(&roles, &["north", "everywhere"]),
            Some((Role::Operator, None))
        );
        assert_eq!(role_of(&roles, &["ALL", "nobody"]), None);
        assert_eq!(role_of(&roles, &[]), None);
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
            let cookie = cookie_value(&begun, page);
            assert!(!cookie.contains([';', ' ', ',']), "{cookie}");
            assert_eq!(
                of_cookie(&cookie),
                Some((begun.clone(), expected.to_owned()))
            );
        }
        for broken in ["", "a.b.c", "a.b.c.zz", "a.b.c.2f.d"] {
            assert_eq!(of_cookie(broken), None);
        }
    }
}
