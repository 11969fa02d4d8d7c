use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::http::HeaderMap;

use super::*;
use crate::access::bearer;
use crate::connections::Streams;
use crate::limits::ApiLimits;
use crate::permission::Permission;
use placewright_store::StoreOptions;

/// A server with one token of an admin in its configuration, and a clock that tests set.
struct World {
    access: Arc<Access>,
    store: Store,
    admin: Caller,
    clock: Arc<AtomicI64>,
}

const NOW: i64 = 1000;

fn configured(name: &str) -> (Token, Secret) {
    let secret = Secret::random().unwrap();
    let token = Token {
        name: name.into(),
        role: Role::Admin,
        sha256: secret.sha256(),
        clusters: None,
    };
    (token, secret)
}

fn caller_of(access: &Access, secret: &Secret) -> Result<Caller, Problem> {
    let mut headers = HeaderMap::new();
    let shown = format!("Bearer {}", secret.reveal());
    headers.insert("authorization", shown.parse().unwrap());
    access.caller(&headers, bearer)
}

impl World {
    fn new() -> Self {
        let (token, secret) = configured("root");
        let clock = Arc::new(AtomicI64::new(NOW));
        let time = clock.clone();
        let clocked = Arc::new(move || time.load(Ordering::Relaxed));
        let access = Arc::new(Access::by_clock(vec![token], clocked));
        Self {
            admin: caller_of(&access, &secret).unwrap(),
            store: Store::in_memory(StoreOptions::default()).unwrap(),
            access,
            clock,
        }
    }

    fn issue(&self, wanted: NewToken) -> Result<Secret, Problem> {
        let issued = self.access.issue(&self.store, wanted, &self.admin);
        issued.map(|(_, secret)| secret)
    }

    fn revoke(&self, name: &str) -> Result<IssuedToken, Problem> {
        self.access.revoke(&self.store, name, &self.admin)
    }

    fn caller(&self, secret: &Secret) -> Result<Caller, Problem> {
        caller_of(&self.access, secret)
    }

    /// The same server after a restart, with these tokens in its configuration.
    fn restarted(&self, configured: Vec<Token>) -> (Access, Vec<String>) {
        let access = Access::new(configured);
        let told = access.restore(&self.store).unwrap();
        (access, told)
    }
}

fn wanted(name: &str, role: Role) -> NewToken {
    NewToken {
        name: name.into(),
        role,
        clusters: None,
        expires: None,
    }
}

fn until(name: &str, expires: i64) -> NewToken {
    NewToken {
        expires: Some(expires),
        ..wanted(name, Role::Operator)
    }
}

#[test]
fn a_token_counts_until_the_second_in_which_it_expires() {
    let world = World::new();
    let secret = world.issue(until("ci", NOW + 10)).unwrap();
    let session = world.access.begin_session(secret.reveal().as_bytes());
    let session = session.unwrap();
    world.clock.store(NOW + 9, Ordering::Relaxed);
    let caller = world.caller(&secret).unwrap();
    assert_eq!((&*caller.name, caller.expires), ("ci", Some(NOW + 10)));
    let in_session = world.caller(&session).unwrap();
    assert_eq!(
        (&in_session.name, in_session.expires),
        (&caller.name, caller.expires)
    );
    assert!(world.access.may("ci", Permission::Operate, "c"));
    assert!(world.access.still_allows(&caller));

    world.clock.store(NOW + 10, Ordering::Relaxed);
    for secret in [&secret, &session] {
        let problem = world.caller(secret).unwrap_err();
        assert_eq!(problem.code(), Code::Unauthorized);
        assert_eq!(problem.detail(), "the token \"ci\" has expired");
    }
    assert!(!world.access.may("ci", Permission::Operate, "c"));
    assert!(!world.access.still_allows(&caller));
}

#[tokio::test]
async fn what_was_opened_in_a_session_ends_with_it_and_so_do_sessions_made_of_it() {
    let world = World::new();
    let streams = Streams::new(&ApiLimits::default(), world.access.clone());
    let token = world.issue(wanted("a", Role::Viewer)).unwrap();
    let begin = |secret: &Secret| {
        let begun = world.access.begin_session(secret.reveal().as_bytes());
        begun.unwrap()
    };
    let session = begin(&token);
    let derived = begin(&session);
    let open = |secret| streams.open(&world.caller(secret).unwrap()).unwrap();
    let (mut of_token, mut of_session, mut of_derived) =
        (open(&token), open(&session), open(&derived));
    assert!(!of_session.is_over() && !of_derived.is_over());
    assert!(world.access.end_session(session.reveal().as_bytes()));
    of_session.over().await;
    of_derived.over().await;
    assert!(world.caller(&session).is_err() && world.caller(&derived).is_err());
    assert!(!of_token.is_over());
}

#[tokio::test]
async fn what_a_caller_has_open_ends_when_its_token_expires_or_is_revoked() {
    let world = World::new();
    let streams = Streams::new(&ApiLimits::default(), world.access.clone());
    let expiring = world.issue(until("a", NOW + 10)).unwrap();
    let revoked = world.issue(wanted("b", Role::Viewer)).unwrap();
    let other = world.issue(wanted("c", Role::Viewer)).unwrap();
    let open = |secret| streams.open(&world.caller(secret).unwrap()).unwrap();
    let (mut expiring, mut revoked, mut other) = (open(&expiring), open(&revoked), open(&other));
    assert!(!expiring.is_over() && !revoked.is_over() && !other.is_over());
    world.clock.store(NOW + 10, Ordering::Relaxed);
    expiring.over().await;
    assert!(expiring.is_over() && !revoked.is_over());
    world.revoke("b").unwrap();
    revoked.over().await;
    assert!(revoked.is_over() && !other.is_over());
}

#[test]
fn a_revoked_token_is_known_no_more_and_its_name_may_be_given_again() {
    let world = World::new();
    let secret = world.issue(wanted("ci", Role::Operator)).unwrap();
    let caller = world.caller(&secret).unwrap();
    assert_eq!(world.revoke("ci").unwrap().by, world.admin.name);
    assert!(world.caller(&secret).is_err());
    assert!(!world.access.may("ci", Permission::View, "c"));
    // One that is being asked for meanwhile is not issued by it either.
    let late = world
        .access
        .issue(&world.store, wanted("late", Role::Viewer), &caller);
    assert_eq!(late.unwrap_err().code(), Code::Unauthorized);
    let again = world.issue(wanted("ci", Role::Operator)).unwrap();
    assert!(world.caller(&secret).is_err() && world.caller(&again).is_ok());
}

#[test]
fn nobody_issues_a_token_with_more_rights_than_its_own() {
    let world = World::new();
    let clusters = |names: &[&str]| Some(names.iter().map(|name| Arc::from(*name)).collect());
    let own = NewToken {
        clusters: clusters(&["east", "west"]),
        ..until("own", NOW + 10)
    };
    let own = NewToken {
        role: Role::PolicyAuthor,
        ..own
    };
    let secret = world.issue(own.clone()).unwrap();
    let caller = world.caller(&secret).unwrap();
    let issue = |wanted: NewToken| {
        let issued = world.access.issue(&world.store, wanted, &caller);
        issued.map(drop).map_err(|problem| problem.code())
    };
    let less = NewToken {
        name: "less".into(),
        ..own
    };
    for more in [
        NewToken {
            role: Role::Admin,
            ..less.clone()
        },
        NewToken {
            clusters: None,
            ..less.clone()
        },
        NewToken {
            clusters: clusters(&["east", "north"]),
            ..less.clone()
        },
        NewToken {
            expires: None,
            ..less.clone()
        },
        NewToken {
            expires: Some(NOW + 11),
            ..less.clone()
        },
    ] {
        assert_eq!(issue(more.clone()), Err(Code::Forbidden), "{more:?}");
    }
    assert_eq!(issue(less), Ok(()));
}

#[test]
fn the_last_admin_that_does_not_expire_stays() {
    let world = World::new();
    let lasting = world.issue(wanted("lasting", Role::Admin)).unwrap();
    world
        .issue(NewToken {
            role: Role::Admin,
            ..until("soon", NOW + 10)
        })
        .unwrap();
    world
        .issue(NewToken {
            clusters: Some(["c".into()].into()),
            ..wanted("narrow", Role::Admin)
        })
        .unwrap();
    let caller = world.caller(&lasting).unwrap();
    let revoke = |name: &str| world.access.revoke(&world.store, name, &caller);
    let locked = revoke("root").unwrap_err();
    assert_eq!(locked.code(), Code::Locked, "{locked:?}");
    // The configuration has another token by now, of no admin.
    let viewer = Token {
        role: Role::Viewer,
        ..configured("looker").0
    };
    world.access.replace(vec![viewer], &world.store);
    let last = revoke("lasting").unwrap_err();
    assert_eq!(last.code(), Code::Conflict);
    assert!(
        last.detail().contains("issue another one first"),
        "{last:?}"
    );
    assert!(world.caller(&lasting).is_ok());
    world
        .access
        .issue(&world.store, wanted("next", Role::Admin), &caller)
        .unwrap();
    revoke("lasting").unwrap();
}

#[test]
fn tokens_are_bounded_and_one_that_has_expired_makes_room() {
    let world = World::new();
    let most = Collection::Tokens.bound();
    for number in 0..most {
        let name = format!("t{number}");
        let expires = NOW + 20 + i64::try_from(number).unwrap();
        world.issue(until(&name, expires)).unwrap();
    }
    let full = world.issue(wanted("more", Role::Viewer)).unwrap_err();
    assert_eq!(full.code(), Code::Full);
    assert!(
        full.detail().contains("delete tokens that nobody needs"),
        "{full:?}"
    );
    world.clock.store(NOW + 21, Ordering::Relaxed);
    world.issue(wanted("more", Role::Viewer)).unwrap();
    assert!(world.access.token("t0").is_err(), "it had expired first");
    assert!(world.access.token("t1").is_ok());
    let (restarted, _) = world.restarted(Vec::new());
    assert_eq!(restarted.all().len() as u64, most);
}

#[test]
fn tokens_are_there_after_a_restart_and_their_secrets_are_stored_nowhere() {
    let world = World::new();
    let wanted = NewToken {
        clusters: Some(["east".into()].into()),
        ..until("ci", i64::MAX)
    };
    let secret = world.issue(wanted).unwrap();
    let gone = world.issue(until("gone", i64::MAX)).unwrap();
    world.revoke("gone").unwrap();
    let (restarted, told) = world.restarted(vec![configured("root").0]);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(
        caller_of(&restarted, &secret).unwrap(),
        world.caller(&secret).unwrap()
    );
    assert_eq!(
        restarted.token("ci").unwrap(),
        world.access.token("ci").unwrap()
    );
    assert!(caller_of(&restarted, &gone).is_err());
    let stored = world.store.load().unwrap().settings;
    assert_eq!(stored.len(), 1);
    assert!(!format!("{stored:?}").contains(secret.reveal()));
}

#[test]
fn what_the_configuration_says_of_a_name_counts() {
    let world = World::new();
    let issued = world.issue(wanted("alice", Role::Viewer)).unwrap();
    let (token, secret) = configured("alice");
    let (restarted, told) = world.restarted(vec![token.clone()]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(caller_of(&restarted, &issued).is_err());
    let told = world.access.replace(vec![token], &world.store);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(world.caller(&issued).is_err());
    assert_eq!(world.caller(&secret).unwrap().role, Role::Admin);
    let (restarted, _) = world.restarted(vec![configured("other").0]);
    assert!(restarted.token("alice").is_err(), "it does not come back");
}

#[test]
fn a_server_without_tokens_issues_none_and_one_that_had_some_never_opens() {
    let world = World::new();
    let open = Access::default();
    let anonymous = open.caller(&HeaderMap::new(), bearer).unwrap();
    let first = open.issue(&world.store, wanted("first", Role::Admin), &anonymous);
    let problem = first.unwrap_err();
    assert_eq!(problem.code(), Code::Conflict);
    assert!(open.caller(&HeaderMap::new(), bearer).is_ok());

    world.issue(until("ci", NOW + 1)).unwrap();
    let (restarted, _) = world.restarted(Vec::new());
    assert!(!restarted.is_open());
    assert!(restarted.caller(&HeaderMap::new(), bearer).is_err());
    assert!(!restarted.may("anonymous", Permission::View, "c"));
    let body = "nonsense".to_owned();
    let key = "token:ci".to_owned();
    world
        .store
        .commit(vec![placewright_store::Change::Setting { key, body }])
        .unwrap();
    let (restarted, told) = world.restarted(Vec::new());
    assert!(
        told[0].contains("cannot read from the store token \"ci\""),
        "{told:?}"
    );
    assert!(!restarted.is_open());
}

#[test]
fn what_cannot_be_issued_is_refused_with_what_is_wrong() {
    let world = World::new();
    world.issue(wanted("there", Role::Viewer)).unwrap();
    let many = (0..=MOST_CLUSTERS).map(|number| Arc::from(format!("c{number}")));
    for (wanted, code, part) in [
        (
            wanted("", Role::Viewer),
            Code::Unprocessable,
            "cannot be a name",
        ),
        (
            wanted("a b", Role::Viewer),
            Code::Unprocessable,
            "cannot be a name",
        ),
        (
            wanted("restart", Role::Viewer),
            Code::Unprocessable,
            "another name",
        ),
        (
            wanted("anonymous", Role::Viewer),
            Code::Unprocessable,
            "another name",
        ),
        (wanted("there", Role::Viewer), Code::Conflict, "already"),
        (wanted("root", Role::Viewer), Code::Conflict, "already"),
        (until("late", NOW), Code::Unprocessable, "later than now"),
        (
            NewToken {
                clusters: Some(BTreeSet::new()),
                ..wanted("none", Role::Viewer)
            },
            Code::Unprocessable,
            "leave it out",
        ),
        (
            NewToken {
                clusters: Some(many.collect()),
                ..wanted("many", Role::Viewer)
            },
            Code::Unprocessable,
            "not 257",
        ),
    ] {
        let problem = world.issue(wanted).unwrap_err();
        assert_eq!(problem.code(), code, "{problem:?}");
        assert!(problem.detail().contains(part), "{problem:?}");
    }
    assert_eq!(world.access.all().len(), 2);
    let unknown = world.revoke("thera").unwrap_err();
    assert!(
        unknown.detail().contains("did you mean \"there\"?"),
        "{unknown:?}"
    );
}
