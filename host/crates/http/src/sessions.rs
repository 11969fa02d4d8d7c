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
    /// The first session on the way from the token to this one, if its secret was not shown itself.
    from: Option<Digest>,
    used: Instant,
}

impl Sessions {
    /// Begin a session of whoever shows that secret: that of a token, or of a session of one.
    pub(crate) fn begin(&self, session: Digest, shown: &Digest, now: Instant) {
        let mut sessions = self.lock();
        sessions.retain(|_, it| now.saturating_duration_since(it.used) < IDLE);
        let (token, from) = match sessions.get(shown) {
            Some(known) => (known.token, Some(known.from.unwrap_or(*shown))),
            None => (*shown, None),
        };
        let own = || sessions.iter().filter(|(_, it)| it.token == token);
        let oldest = own().min_by_key(|(_, it)| it.used);
        let oldest = oldest.map(|(session, _)| *session);
        if let (true, Some(oldest)) = (own().count() >= MOST, oldest) {
            sessions.remove(&oldest);
        }
        let begun = Session {
            token,
            from,
            used: now,
        };
        sessions.insert(session, begun);
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

    /// Whether a session goes on. Nothing is asked in it for that.
    pub(crate) fn goes_on(&self, session: &Digest, now: Instant) -> bool {
        let sessions = self.lock();
        let found = sessions.get(session);
        found.is_some_and(|it| now.saturating_duration_since(it.used) < IDLE)
    }

    /// End a session, and all that were made of its secret. Gives whether it went on.
    pub(crate) fn end(&self, session: &Digest) -> bool {
        let mut sessions = self.lock();
        let is_over = sessions.remove(session).is_some();
        if is_over {
            sessions.retain(|_, it| it.from != Some(*session));
        }
        is_over
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
    fn with_a_session_those_end_that_were_made_of_it_and_no_others() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let token = digest(1);
        sessions.begin(digest(2), &token, now);
        sessions.begin(digest(3), &digest(2), now);
        sessions.begin(digest(4), &digest(3), now);
        sessions.begin(digest(5), &token, now);
        assert_eq!(sessions.token(&digest(4), now), Some(token));
        assert!(sessions.end(&digest(2)));
        for ended in [2, 3, 4] {
            assert!(!sessions.goes_on(&digest(ended), now), "{ended}");
        }
        assert!(sessions.goes_on(&digest(5), now));
        assert_eq!(sessions.token(&digest(5), now), Some(token));
    }

    #[test]
    fn a_session_ends_when_it_is_told_to_or_nothing_is_asked() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let token = digest(1);
        sessions.begin(digest(2), &token, now);
        sessions.begin(digest(3), &token, now);
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
        sessions.begin(digest(0), &digest(MOST + 5), now);
        for number in 1..=MOST + 1 {
            sessions.begin(digest(number), &digest(MOST + 4), at(number));
        }
        let now = at(MOST + 2);
        assert_eq!(sessions.token(&digest(1), now), None);
        assert!(sessions.token(&digest(2), now).is_some());
        // Those of other tokens go on.
        assert!(sessions.token(&digest(0), now).is_some());
    }
}
