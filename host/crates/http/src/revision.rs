//! Revisions in the headers ETag and If-Match.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::problem::{Code, Problem};
use placewright_deployment::cluster::Condition;

/// The header that names a revision.
pub fn etag(revision: u64) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::from_str(&format!("\"{revision}\""));
    // Digits between quotes are a value.
    (header::ETAG, value.unwrap_or(HeaderValue::from_static("*")))
}

/// The revision that a request is about: that of `If-Match`, or 0 where
/// `If-None-Match: *` says that there must be none yet.
///
/// # Errors
/// If there is neither, or it names none of ours.
pub fn wanted(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let wrong = |sentence: &str| Err(Problem::new(Code::InvalidParameter, sentence));
    let mut given = headers.get_all(header::IF_MATCH).iter();
    let (given, another) = (given.next(), given.next());
    if another.is_some() {
        return wrong("If-Match is sent twice: send the ETag of the revision that you read, once");
    }
    if let Some(none) = headers.get(header::IF_NONE_MATCH) {
        return match (none == "*", given) {
            (true, None) => Ok(Some(0)),
            (true, Some(_)) => wrong("If-Match and If-None-Match contradict each other: send one"),
            (false, _) => wrong(
                "If-None-Match is taken with * alone, to make something new; to change what you read, send its ETag as If-Match",
            ),
        };
    }
    let Some(given) = given else {
        let sentence = "send the ETag of the revision that you read as If-Match; If-None-Match: * makes a new one, and If-Match: * overwrites any revision";
        return Err(Problem::new(Code::RevisionRequired, sentence));
    };
    let given = given.to_str().unwrap_or_default().trim();
    if given == "*" {
        return Ok(None);
    }
    let quoted = given.strip_prefix("W/").unwrap_or(given);
    let quoted = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match quoted.unwrap_or_default().parse() {
        // It stands for what is not there yet, of which there is no ETag.
        Ok(0) => Err(Problem::new(
            Code::RevisionChanged,
            "nothing has the ETag \"0\": read it again, and send what you read as If-Match",
        )),
        Ok(revision) => Ok(Some(revision)),
        Err(_) => Err(Problem::new(
            Code::InvalidParameter,
            format!(
                "If-Match must be * or one ETag, such as \"17\", as the header ETag of an answer gives it, not {}",
                match given {
                    "" => "nothing".to_owned(),
                    given => placewright_document::shown(given),
                }
            ),
        )),
    }
}

/// The revision that a request is about, of what cannot be made by it: that of `If-Match`; None for
/// any.
///
/// # Errors
/// If there is none, or it names none of ours.
pub fn wanted_of_known(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    if headers.contains_key(header::IF_NONE_MATCH) {
        let sentence = "nothing new is made here, so that If-None-Match is not taken: send the ETag of what you read as If-Match";
        return Err(Problem::new(Code::InvalidParameter, sentence));
    }
    if !headers.contains_key(header::IF_MATCH) {
        let sentence = "send the ETag of the revision that you read as If-Match; If-Match: * stands for any revision";
        return Err(Problem::new(Code::RevisionRequired, sentence));
    }
    wanted(headers)
}

/// The same where a request need not say it.
///
/// # Errors
/// If it names none of ours.
pub fn wanted_if_any(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    match is_conditional(headers) {
        true => wanted_of_known(headers),
        false => Ok(None),
    }
}

fn is_conditional(headers: &HeaderMap) -> bool {
    let names = [header::IF_MATCH, header::IF_NONE_MATCH];
    names.iter().any(|name| headers.contains_key(name))
}

/// Check that a request has no condition, for a route that looks at none.
///
/// # Errors
/// If it has one, which would not be checked.
pub(super) fn none(headers: &HeaderMap) -> Result<(), Problem> {
    let given = [
        (header::IF_MATCH, "If-Match"),
        (header::IF_NONE_MATCH, "If-None-Match"),
    ];
    match given.iter().find(|(name, _)| headers.contains_key(name)) {
        // Whatever revision it has.
        Some((name, _)) if *name == header::IF_MATCH && headers[name] == "*" => Ok(()),
        Some((_, name)) => {
            let sentence = format!(
                "{name} is not checked by this route, so that nothing was done: leave it out"
            );
            Err(Problem::new(Code::InvalidParameter, sentence))
        }
        None => Ok(()),
    }
}

/// On what condition a request is about something whose revisions are tags.
///
/// # Errors
/// If it names none of ours.
pub fn condition(headers: &HeaderMap) -> Result<Condition, Problem> {
    if !is_conditional(headers) {
        return Ok(Condition::Any);
    }
    Ok(match wanted(headers)? {
        None => Condition::There,
        Some(0) => Condition::New,
        Some(tag) => Condition::Unchanged(tag),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn the_tag_of_a_revision_is_taken_for_it() {
        let (name, value) = etag(12);
        assert_eq!(name, header::ETAG);
        let sent = HeaderMap::from_iter([(header::IF_MATCH, value)]);
        assert_eq!(wanted(&sent).unwrap(), Some(12));
        assert_eq!(wanted(&headers(header::IF_MATCH, "*")).unwrap(), None);
        assert_eq!(
            wanted(&headers(header::IF_NONE_MATCH, "*")).unwrap(),
            Some(0)
        );
        let weak = headers(header::IF_MATCH, "W/\"12\"");
        assert_eq!(wanted(&weak).unwrap(), Some(12));
        for none in [
            "",
            "\"x\"",
            "\"17",
            "17\"",
            "17",
            "\"\"",
            "\"1\", \"17\"",
            "\"1\"7\"",
        ] {
            let refused = wanted(&headers(header::IF_MATCH, none)).unwrap_err();
            assert_eq!(refused.code(), Code::InvalidParameter, "{none}");
        }
        let sent = headers(header::IF_MATCH, "\"7\"");
        assert_eq!(condition(&sent).unwrap(), Condition::Unchanged(7));
        let sent = headers(header::IF_NONE_MATCH, "*");
        assert_eq!(condition(&sent).unwrap(), Condition::New);
        let sent = headers(header::IF_MATCH, "*");
        assert_eq!(condition(&sent).unwrap(), Condition::There);
        assert_eq!(condition(&HeaderMap::new()).unwrap(), Condition::Any);
        // A request that names revisions which must not be there is not carried out for all.
        assert!(condition(&headers(header::IF_NONE_MATCH, "\"7\"")).is_err());
        // One that would not be checked is refused.
        assert!(super::none(&headers(header::IF_MATCH, "\"7\"")).is_err());
        assert!(super::none(&HeaderMap::new()).is_ok());
        // Of two conditions none is passed over.
        let mut both = headers(header::IF_MATCH, "\"7\"");
        both.insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        assert!(wanted(&both).is_err() && wanted_if_any(&both).is_err());
        let mut twice = headers(header::IF_MATCH, "\"7\"");
        twice.append(header::IF_MATCH, HeaderValue::from_static("\"8\""));
        assert!(wanted(&twice).is_err());
        let sent = headers(header::IF_NONE_MATCH, "*");
        // Where nothing can be made, nothing is asked to be new.
        assert!(wanted_of_known(&sent).is_err() && wanted_if_any(&sent).is_err());
        assert_eq!(wanted_if_any(&HeaderMap::new()).unwrap(), None);
        let none = wanted_of_known(&HeaderMap::new()).unwrap_err();
        assert_eq!(none.code(), Code::RevisionRequired);
        // No revision has that number, which stands for what is new.
        let zero = wanted(&headers(header::IF_MATCH, "\"0\"")).unwrap_err();
        assert_eq!(zero.code(), Code::RevisionChanged);
        let none = wanted(&HeaderMap::new()).unwrap_err();
        assert_eq!(none.code(), Code::RevisionRequired);
    }
}
