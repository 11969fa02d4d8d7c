//! Addresses: parts of paths, and queries with one value changed.

/// A part of a path, so that what is in it ends no part and begins no query.
pub(crate) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            // A part of dots alone would name the part above.
            b'.' if text.bytes().any(|byte| byte != b'.') => encoded.push('.'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The address of a page of a cluster, with the parts that follow.
pub(crate) fn of_cluster(cluster: &str, parts: &[&str]) -> String {
    let mut path = format!("/clusters/{}", segment(cluster));
    for part in parts {
        path.push('/');
        path.push_str(&segment(part));
    }
    path
}

/// The parameters of a query that say something.
pub(crate) type Pairs = Vec<(String, String)>;

/// A query of these parameters, without those that say nothing.
pub(crate) fn query<'v>(pairs: impl IntoIterator<Item = (&'v str, Option<&'v str>)>) -> String {
    let mut written = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            written.append_pair(name, value);
        }
    }
    written.finish()
}

/// Read a query; empty values say nothing.
pub(crate) fn pairs(query: &str) -> Pairs {
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The query with one parameter set, or taken out where the value is empty, and without those
/// that are named besides.
pub(crate) fn with(pairs: &Pairs, name: &str, value: &str, without: &[&str]) -> String {
    let mut written = form_urlencoded::Serializer::new(String::new());
    for (known, kept) in pairs {
        if known != name && !without.contains(&known.as_str()) {
            written.append_pair(known, kept);
        }
    }
    if !value.is_empty() {
        written.append_pair(name, value);
    }
    format!("?{}", written.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_stays_one_part() {
        assert_eq!(segment("n1-03"), "n1-03");
        assert_eq!(segment("a/b?c#d e"), "a%2Fb%3Fc%23d%20e");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("1.2"), "1.2");
        assert_eq!(segment("<ü>"), "%3C%C3%BC%3E");
        assert_eq!(
            of_cluster("north", &["hosts", "a b"]),
            "/clusters/north/hosts/a%20b"
        );
    }

    #[test]
    fn one_parameter_of_a_query_is_changed() {
        let query = pairs("sort=cpu&filter=&page=3&state=up");
        assert_eq!(query.len(), 3);
        assert_eq!(
            with(&query, "sort", "-cpu", &["page"]),
            "?state=up&sort=-cpu"
        );
        assert_eq!(with(&query, "state", "", &[]), "?sort=cpu&page=3");
    }
}
