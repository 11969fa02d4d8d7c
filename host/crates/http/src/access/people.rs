//! People who sign in by a provider: each has a session that counts like a token of its own, for
//! as long as the session lasts.
//!
//! The session is not stored: after a restart of the server people sign in again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Access;
use super::known::has_expired;
use super::token::{Secret, Token};
use crate::permission::Role;
use placewright_document::Word as _;

/// What the names of people begin with in logs, events and policies: no token has such a name.
pub(super) const PEOPLE: &str = "openid:";

/// The most sessions of all people. With another one, that which ends first ends.
const MOST: usize = 1000;

/// The most sessions of one person. With another one, that which ends first ends.
const MOST_OF_ONE: usize = 16;

/// A role for the members of a group of the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRole {
    /// The group, as the provider names it.
    pub group: String,
    /// What its members may do.
    pub role: Role,
    /// The clusters that they may do it on; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
}

/// Somebody whom a provider knows, and what the configuration lets it do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// What names it at the provider.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The clusters that it may do it on; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
    /// When its session ends, in seconds since 1970-01-01 UTC.
    pub until: i64,
}

/// The session of somebody.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) token: Token,
    pub(super) until: i64,
}

impl Access {
    /// Let people sign in by a provider. Without any token the server is closed from now on.
    pub fn admit_people(&self) {
        let mut tokens = self.tokens_now();
        tokens.admits_people = true;
        self.publish(&tokens);
    }

    /// Whether people may sign in by a provider.
    pub fn admits_people(&self) -> bool {
        self.tokens_now().admits_people
    }

    /// Begin a session of somebody: gives the secret that stands for the person until it ends.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn sign_in(&self, person: Person) -> Result<Secret, getrandom::Error> {
        let secret = Secret::random()?;
        let visit = Visit {
            token: Token {
                name: format!("{PEOPLE}{}", person.name).into(),
                role: person.role,
                sha256: secret.sha256(),
                clusters: person.clusters,
            },
            until: person.until,
        };
        let now = self.now();
        tracing::info!(
            person = &*visit.token.name,
            role = visit.token.role.word(),
            "signed in"
        );
        let mut tokens = self.tokens_now();
        let people = &mut tokens.people;
        people.retain(|it| !has_expired(Some(it.until), || now));
        make_room(people, MOST_OF_ONE, |it| it.token.name == visit.token.name);
        make_room(people, MOST, |_| true);
        people.push(visit);
        self.publish(&tokens);
        Ok(secret)
    }

    /// End the sessions of all people: what they may do is decided anew when they sign in again.
    /// Gives how many there were.
    pub fn sign_out_people(&self) -> usize {
        let mut tokens = self.tokens_now();
        let ended = std::mem::take(&mut tokens.people).len();
        if ended > 0 {
            self.publish(&tokens);
        }
        ended
    }

    /// End a person's session. Gives whether there was one of that secret.
    pub(super) fn sign_out(&self, sha256: &[u8; 32]) -> bool {
        let mut tokens = self.tokens_now();
        let before = tokens.people.len();
        tokens.people.retain(|it| it.token.sha256 != *sha256);
        let is_over = tokens.people.len() < before;
        if is_over {
            self.publish(&tokens);
        }
        is_over
    }
}

/// Remove the visits that end first, until there are fewer than so many of those.
fn make_room(people: &mut Vec<Visit>, most: usize, is_one: impl Fn(&Visit) -> bool) {
    loop {
        let ones = || people.iter().enumerate().filter(|(_, it)| is_one(it));
        if ones().count() < most {
            return;
        }
        let first = ones().min_by_key(|(_, it)| it.until);
        let Some(first) = first.map(|(place, _)| place) else {
            return;
        };
        people.remove(first);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use axum::http::HeaderMap;

    use super::super::{Caller, bearer};
    use super::*;
    use crate::permission::Permission;

    fn person(name: &str, until: i64) -> Person {
        Person {
            name: name.to_owned(),
            role: Role::Operator,
            clusters: None,
            until,
        }
    }

    fn caller(access: &Access, secret: &Secret) -> Option<Caller> {
        let mut headers = HeaderMap::new();
        let shown = format!("Bearer {}", secret.reveal()).parse().unwrap();
        headers.insert("authorization", shown);
        access.caller(&headers, bearer).ok()
    }

    fn with_clock() -> (Access, Arc<AtomicI64>) {
        let clock = Arc::new(AtomicI64::new(0));
        let time = clock.clone();
        let access = Access::by_clock(Vec::new(), Arc::new(move || time.load(Ordering::Relaxed)));
        access.admit_people();
        (access, clock)
    }

    #[test]
    fn a_server_that_people_sign_in_to_is_closed_to_everybody_else() {
        let access = Access::new(Vec::new());
        assert!(access.is_open() && !access.admits_people());
        access.admit_people();
        assert!(!access.is_open() && access.admits_people());
        assert!(access.caller(&HeaderMap::new(), bearer).is_err());
    }

    #[test]
    fn a_person_may_what_its_role_allows_until_its_session_ends() {
        let (access, clock) = with_clock();
        let secret = access.sign_in(person("ann", 100)).unwrap();
        let ann = caller(&access, &secret).unwrap();
        assert_eq!(
            (&*ann.name, ann.role, ann.expires),
            ("openid:ann", Role::Operator, Some(100))
        );
        assert!(access.still_allows(&ann));
        assert!(access.may("openid:ann", Permission::Operate, "c"));
        assert!(!access.may("ann", Permission::Operate, "c"));
        clock.store(100, Ordering::Relaxed);
        assert!(caller(&access, &secret).is_none());
        assert!(!access.still_allows(&ann));
        assert!(!access.may("openid:ann", Permission::Operate, "c"));
    }

    #[test]
    fn a_session_ends_when_its_owner_or_the_admin_ends_it() {
        let (access, _) = with_clock();
        let [one, two] = [1, 2].map(|_| access.sign_in(person("ann", 100)).unwrap());
        assert!(access.end_session(one.reveal().as_bytes()));
        assert!(!access.end_session(one.reveal().as_bytes()));
        assert!(caller(&access, &one).is_none() && caller(&access, &two).is_some());
        assert_eq!((access.sign_out_people(), access.sign_out_people()), (1, 0));
        assert!(caller(&access, &two).is_none());
    }

    #[test]
    fn one_person_has_a_bounded_number_of_sessions_and_so_have_all() {
        let (access, _) = with_clock();
        let other = access.sign_in(person("bob", 1)).unwrap();
        let first = access.sign_in(person("ann", 10)).unwrap();
        for _ in 0..MOST_OF_ONE {
            access.sign_in(person("ann", 20)).unwrap();
        }
        assert!(
            caller(&access, &first).is_none(),
            "it would have ended first"
        );
        assert!(caller(&access, &other).is_some());
        for number in 0..MOST {
            access.sign_in(person(&number.to_string(), 30)).unwrap();
        }
        assert!(caller(&access, &other).is_none());
        assert_eq!(access.tokens_now().people.len(), MOST);
    }
}
