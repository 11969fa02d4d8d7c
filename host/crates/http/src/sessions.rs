//! Secrets that are given to callers who have shown a token, and which end before it does.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use placewright_sync::Mutex;

/// SHA-256 of a secret.
pub(crate) type Digest = [u8; 32];

/// How long a session lasts in which nothing is asked.
pub(crate) const IDLE: Duration = Duration::from_secs(8 * 3600);

/// The most sessions of one token. With another one, that in which nothing was asked for the
/// longest time ends.
pub(crate) const MOST: usize = 1000;

/// The sessions that go on, by the digests of their secrets.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<Digest, Session>>);

#[derive(Debug, Clone, Copy)]
struct Session {
    /// The digest of the token's secret.
    token: Digest,
    used: Instant,
}

impl Sessions {
    /// Begin a session of a token.
    pub(crate) fn begin(&self, session: Digest, token: Digest, now: Instant) {
        let mut sessions = self.lock();
        sessions.retain(|_, it| now.saturating_duration_since(it.used) < IDLE);
        let own = || sessions.iter().filter(|(_, it)| it.token == token);
        let oldest = own().min_by_key(|(_, it)| it.used);
        let oldest = oldest.map(|(session, _)| *session);
        if let (true, Some(oldest)) = (own().count() >= MOST, oldest) {
            sessions.remove(&oldest);
        }
        sessions.insert(session, Session { token, used: now });
    }

    /// The token of a session that goes on; something is asked in it now.
    pub(crate) fn token(&self, session: &Digest, now: Instant) -> Option<Digest> {
        let mut sessions = self.lock();
        let found = sessions.get_mut(session)?;
        if now.saturating_duration_since(found.used) >= IDLE {
            sessions.remove(session);
            return None;
        }
        found.used = now;
        Some(found.token)
    }

    /// End a session. Gives whether it went on.
    pub(crate) fn end(&self, session: &Digest) -> bool {
        self.lock().remove(session).is_some()
    }

    fn lock(&self) -> placewright_sync::MutexGuard<'_, HashMap<Digest, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        digest
    }

    #[test]
    fn a_session_ends_when_it_is_told_to_or_nothing_is_asked() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let token = digest(1);
        sessions.begin(digest(2), token, now);
        sessions.begin(digest(3), token, now);
        assert_eq!(sessions.token(&digest(2), now), Some(token));
        assert!(sessions.end(&digest(2)));
        assert!(!sessions.end(&digest(2)));
        assert_eq!(sessions.token(&digest(2), now), None);
        let later = now + IDLE - Duration::from_secs(1);
        assert_eq!(sessions.token(&digest(3), later), Some(token));
        assert_eq!(sessions.token(&digest(3), later + IDLE), None);
    }

    #[test]
    fn a_token_has_a_bounded_number_of_sessions() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let at = |number: usize| now + Duration::from_millis(number as u64);
        sessions.begin(digest(0), digest(MOST + 5), now);
        for number in 1..=MOST + 1 {
            sessions.begin(digest(number), digest(MOST + 4), at(number));
        }
        let now = at(MOST + 2);
        assert_eq!(sessions.token(&digest(1), now), None);
        assert!(sessions.token(&digest(2), now).is_some());
        // Those of other tokens go on.
        assert!(sessions.token(&digest(0), now).is_some());
    }
}
