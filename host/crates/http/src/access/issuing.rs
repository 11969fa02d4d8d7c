//! Admins issue tokens and revoke them while the server runs.
//!
//! What is issued is stored before it counts, and what is revoked counts no more as soon as that
//! is stored. A token of the configuration is neither changed nor removed here.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use super::issued::{self, IssuedToken, MOST_CLUSTERS, NewToken, Stored};
use super::known::{KnownTokens, has_expired};
use super::people::Visit;
use super::token::{Secret, Token, why_reserved};
use super::{Access, Caller, unauthorized};
use crate::permission::Role;
use crate::problem::{Code, Problem};
use placewright_deployment::{DeploymentError, check_name};
use placewright_document::{Word, shown};
use placewright_model::budget::{Collection, Full};
use placewright_model::rfc3339;
use placewright_store::{Store, StoreError};
use placewright_sync::MutexGuard;

/// The tokens of the configuration, and those that were issued.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    configured: Vec<Token>,
    issued: BTreeMap<Arc<str>, IssuedToken>,
    /// Whether tokens were issued at any time: a server that was closed once stays so.
    were_issued: bool,
    /// Whether people may sign in by a provider.
    pub(super) admits_people: bool,
    /// Those who have.
    pub(super) people: Vec<Visit>,
}

/// A token with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// It stands in the configuration.
    Configured(Token),
    /// An admin has issued it.
    Issued(IssuedToken),
}

impl Listed {
    /// The token.
    pub fn token(&self) -> &Token {
        match self {
            Self::Configured(token) => token,
            Self::Issued(issued) => &issued.token,
        }
    }
}

impl Tokens {
    pub(super) fn configured(tokens: Vec<Token>) -> Self {
        Self {
            configured: tokens,
            ..Self::default()
        }
    }

    pub(super) fn known(&self) -> KnownTokens {
        let has_tokens = !(self.configured.is_empty() && self.issued.is_empty());
        let is_open = !has_tokens && !self.were_issued && !self.admits_people;
        KnownTokens::of(
            &self.configured,
            self.issued.values(),
            &self.people,
            is_open,
        )
    }

    /// Remove issued tokens with names that these tokens of the configuration have; a sentence
    /// for each. What cannot be removed from the store now is removed at the next start.
    fn give_way(&mut self, configured: &[Token], store: &Store) -> Vec<String> {
        let names = configured.iter().map(|token| &token.name);
        let issued = names.filter_map(|name| self.issued.remove(name));
        let names: Vec<Arc<str>> = issued.map(|it| it.token.name).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let told = names.iter().map(|name| {
            format!("the issued token \"{name}\" was removed, since the configuration has one of that name")
        });
        let mut told: Vec<String> = told.collect();
        let removals = names.iter().map(|name| issued::removed(name));
        if let Err(error) = store.commit(removals.collect()) {
            told.push(format!(
                "issued tokens that were removed are still stored: {error}"
            ));
        }
        told
    }

    fn find(&self, name: &str) -> Option<Listed> {
        let configured = self.configured.iter().find(|token| *token.name == *name);
        let configured = configured.cloned().map(Listed::Configured);
        configured.or_else(|| self.issued.get(name).cloned().map(Listed::Issued))
    }

    /// Whether a token other than that one is an admin's for all clusters that does not expire.
    fn has_admin_besides(&self, name: &str) -> bool {
        let issued = self.issued.values().filter(|it| it.expires.is_none());
        let mut lasting = self.configured.iter().chain(issued.map(|it| &it.token));
        lasting.any(|token| *token.name != *name && is_full_admin(token))
    }

    /// The issued token that has to go for one more, if there is no room for it: the one that
    /// has expired for the longest time.
    fn to_go(&self, now: i64) -> Result<Option<Arc<str>>, Full> {
        let count = self.issued.len() as u64;
        if count < Collection::Tokens.bound() {
            return Ok(None);
        }
        let expired = self.issued.values();
        let expired = expired.filter(|it| has_expired(it.expires, || now));
        let oldest = expired.min_by_key(|it| it.expires);
        let oldest = oldest.map(|it| Some(it.token.name.clone()));
        oldest.ok_or(Full {
            collection: Collection::Tokens,
            of: None,
            wanted: count + 1,
            bound: Collection::Tokens.bound(),
        })
    }
}

fn is_full_admin(token: &Token) -> bool {
    token.role == Role::Admin && token.clusters.is_none()
}

fn unprocessable(sentence: impl std::fmt::Display) -> Problem {
    Problem::new(Code::Unprocessable, sentence)
}

impl NewToken {
    /// That it can be issued at all.
    fn check(&self, now: i64) -> Result<(), Problem> {
        check_name(&self.name)?;
        why_reserved(&self.name).map_or(Ok(()), |why| Err(unprocessable(why)))?;
        if let Some(clusters) = &self.clusters {
            if !(1..=MOST_CLUSTERS).contains(&clusters.len()) {
                let sentence = format!(
                    "\"clusters\" must name 1 to {MOST_CLUSTERS} clusters, not {}; leave it out for a token that is for all clusters",
                    clusters.len()
                );
                return Err(unprocessable(sentence));
            }
            clusters.iter().try_for_each(|name| check_name(name))?;
        }
        match self.expires {
            Some(expires) if expires <= now => Err(unprocessable(format!(
                "\"expires\" must be later than now, which is {}, not {}",
                rfc3339(now),
                rfc3339(expires)
            ))),
            _ => Ok(()),
        }
    }
}

impl Caller {
    /// That it may issue a token: one that may do no more than its own, and not for longer.
    fn may_issue(&self, wanted: &NewToken) -> Result<(), Problem> {
        let refused = |sentence: String| {
            let name = &self.name;
            let sentence = format!("the token \"{name}\" {sentence}");
            Err(Problem::new(Code::Forbidden, sentence))
        };
        if wanted.role > self.role {
            let (own, role) = (self.role.word(), wanted.role.word());
            return refused(format!("has the role {own} and can issue none with {role}"));
        }
        let is_within = match (&self.clusters, &wanted.clusters) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(wanted)) => wanted.is_subset(own),
        };
        if !is_within {
            return refused("is for some clusters and can issue none for others".to_owned());
        }
        match self.expires {
            Some(own) if wanted.expires.is_none_or(|it| it > own) => refused(format!(
                "expires at {}, and those that it issues must not expire later: give \"expires\"",
                rfc3339(own)
            )),
            _ => Ok(()),
        }
    }
}

impl Access {
    pub(super) fn tokens_now(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Let these tokens count from now on.
    pub(super) fn publish(&self, tokens: &Tokens) {
        self.known.store(Arc::new(tokens.known()));
        self.replaced.send_modify(|times| *times += 1);
    }

    /// Take over the tokens that are stored. One with the name of a token of the configuration is
    /// removed: what the configuration says counts. Gives a sentence for each token that is
    /// removed or cannot be read.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn restore(&self, store: &Store) -> Result<Vec<String>, StoreError> {
        let stored = Stored::of(&store.load()?);
        let mut tokens = self.tokens_now();
        tokens.were_issued = !(stored.tokens.is_empty() && stored.unreadable.is_empty());
        let named = stored.tokens.into_iter();
        tokens.issued = named.map(|it| (it.token.name.clone(), it)).collect();
        let configured = tokens.configured.clone();
        let mut told = stored.unreadable;
        told.extend(tokens.give_way(&configured, store));
        self.publish(&tokens);
        Ok(told)
    }

    /// Callers need one of these tokens of the configuration, or one that was issued, from now on.
    /// An issued one with the name of one of these is removed. Gives a sentence for each.
    pub fn replace(&self, configured: Vec<Token>, store: &Store) -> Vec<String> {
        let mut tokens = self.tokens_now();
        let told = tokens.give_way(&configured, store);
        tokens.configured = configured;
        self.publish(&tokens);
        told
    }

    /// Whether the configuration has tokens.
    pub fn is_configured(&self) -> bool {
        !self.tokens_now().configured.is_empty()
    }

    /// Issue a token: it counts as soon as this returns. Its secret is known to nobody but
    /// whoever gets it from here.
    ///
    /// # Errors
    /// If the caller may not issue it, something is wrong with it, there is one of that name, or
    /// it cannot be stored; nothing has changed then.
    pub fn issue(
        &self,
        store: &Store,
        wanted: NewToken,
        caller: &Caller,
    ) -> Result<(IssuedToken, Secret), Problem> {
        let now = self.now();
        let mut tokens = self.tokens_now();
        self.must_count_among_tokens(caller)?;
        wanted.check(now)?;
        caller.may_issue(&wanted)?;
        let before = tokens.find(&wanted.name);
        let is_over =
            matches!(&before, Some(Listed::Issued(it)) if has_expired(it.expires, || now));
        if before.is_some() && !is_over {
            return Err(DeploymentError::Exists {
                what: "token",
                name: wanted.name.to_string(),
            }
            .into());
        }
        let mut changes = Vec::with_capacity(2);
        let to_go = match before {
            // It takes the place of that one.
            Some(_) => None,
            None => tokens.to_go(now).map_err(DeploymentError::from)?,
        };
        changes.extend(to_go.as_deref().map(issued::removed));
        let secret = Secret::random().map_err(|error| Problem::internal(&error))?;
        let issued = IssuedToken {
            token: Token {
                name: wanted.name,
                role: wanted.role,
                sha256: secret.sha256(),
                clusters: wanted.clusters,
            },
            expires: wanted.expires,
            at: now,
            by: caller.name.clone(),
        };
        changes.push(issued.stored().map_err(|error| Problem::internal(&error))?);
        store.commit(changes).map_err(DeploymentError::from)?;
        if let Some(name) = to_go {
            tokens.issued.remove(&name);
        }
        let name = issued.token.name.clone();
        tokens.issued.insert(name, issued.clone());
        tokens.were_issued = true;
        self.publish(&tokens);
        Ok((issued, secret))
    }

    /// Revoke a token that was issued: it counts no more as soon as this returns. Gives what it
    /// was.
    ///
    /// # Errors
    /// If there is none of that name, it is of the configuration, nobody else could administer the
    /// server then, or it cannot be removed from the store; nothing has changed then.
    pub fn revoke(
        &self,
        store: &Store,
        name: &str,
        caller: &Caller,
    ) -> Result<IssuedToken, Problem> {
        let mut tokens = self.tokens_now();
        self.must_count_among_tokens(caller)?;
        let issued = match tokens.find(name) {
            Some(Listed::Issued(issued)) => issued,
            Some(Listed::Configured(_)) => {
                let sentence = format!(
                    "token \"{}\" is of the server's configuration: remove it there, and have that read again (POST /v1/reload)",
                    shown(name)
                );
                return Err(Problem::new(Code::Locked, sentence));
            }
            None => return Err(unknown(&tokens, name)),
        };
        let was_full = is_full_admin(&issued.token) && issued.expires.is_none();
        if was_full && !tokens.has_admin_besides(name) {
            let sentence = format!(
                "token \"{name}\" is the last one with the role admin that is for all clusters and does not expire: issue another one first"
            );
            return Err(Problem::new(Code::Conflict, sentence));
        }
        let removed = vec![issued::removed(name)];
        store.commit(removed).map_err(DeploymentError::from)?;
        tokens.issued.remove(name);
        self.publish(&tokens);
        Ok(issued)
    }

    /// All tokens, by name.
    pub fn all(&self) -> Vec<Listed> {
        let tokens = self.tokens_now();
        let configured = tokens.configured.iter().cloned().map(Listed::Configured);
        let issued = tokens.issued.values().cloned().map(Listed::Issued);
        let mut all: Vec<Listed> = configured.chain(issued).collect();
        drop(tokens);
        all.sort_by(|one, other| one.token().name.cmp(&other.token().name));
        all
    }

    /// The token of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn token(&self, name: &str) -> Result<Listed, Problem> {
        let tokens = self.tokens_now();
        tokens.find(name).ok_or_else(|| unknown(&tokens, name))
    }

    /// That the caller's own token counts still, and that there are tokens at all: with the first
    /// one everybody else would be shut out.
    fn must_count_among_tokens(&self, caller: &Caller) -> Result<(), Problem> {
        if self.is_open() {
            let sentence = "this server has no tokens, and everybody on its machine may do everything: put a token with the role admin into its configuration first (placewright token new)";
            return Err(Problem::new(Code::Conflict, sentence));
        }
        self.must_count(caller)
    }

    /// That the caller's own token counts still.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn must_count(&self, caller: &Caller) -> Result<(), Problem> {
        match self.still_allows(caller) {
            true => Ok(()),
            false => Err(unauthorized("the token was taken away, or has expired")),
        }
    }
}

fn unknown(tokens: &Tokens, name: &str) -> Problem {
    let configured = tokens.configured.iter().map(|token| &*token.name);
    let issued = tokens.issued.keys().map(|name| &**name);
    DeploymentError::unknown("token", name, configured.chain(issued)).into()
}

#[cfg(test)]
mod tests;
