//! What one kind of client speaks to.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;

use super::access;
use super::permission::Rule;
use super::problem::{Problem, json};

/// Finds in the headers of a request the secret that its caller shows.
pub(crate) type FindSecret = fn(&HeaderMap) -> Result<Cow<'_, [u8]>, Problem>;

/// Writes a problem as the clients of a face read it; the text is the id of the request.
pub(crate) type WriteProblem = fn(Problem, &str) -> Response;

/// Routes for one kind of client: our own API, that of another manager, a console.
#[derive(Debug, Clone)]
pub struct Face {
    /// Its paths begin with this one, as in `/ovirt-engine`; "": it has all paths that no other
    /// face has.
    pub prefix: &'static str,
    /// Its routes, declared with their whole paths.
    pub routes: Router,
    /// Who may call which of them. A route without a rule is refused.
    pub rules: &'static [Rule],
    /// Ends the sentence for whoever asks for a path that is not there, as in
    /// "/v1/openapi.json lists all of them".
    pub directory: &'static str,
    /// How its clients show a token.
    pub secret: FindSecret,
    /// How its clients read an error.
    pub problem: WriteProblem,
}

impl Face {
    /// Routes whose clients show a token as `Authorization: Bearer TOKEN`, and read problem
    /// details after RFC 9457.
    pub fn new(
        prefix: &'static str,
        routes: Router,
        rules: &'static [Rule],
        directory: &'static str,
    ) -> Self {
        Self {
            prefix,
            routes,
            rules,
            directory,
            secret: access::bearer,
            problem: json,
        }
    }
}

/// The manners of all faces of a server, to find the one of a request.
#[derive(Debug, Clone)]
pub(crate) struct Faces(Arc<[Manners]>);

/// How the clients of a face speak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) prefix: &'static str,
    pub(crate) directory: &'static str,
    pub(crate) secret: FindSecret,
    pub(crate) problem: WriteProblem,
}

impl Faces {
    pub(crate) fn new(faces: &[Face]) -> Self {
        let mut manners: Vec<Manners> = faces.iter().map(Manners::of).collect();
        // The longest prefix that fits comes first.
        manners.sort_by_key(|manners| std::cmp::Reverse(manners.prefix.len()));
        Self(manners.into())
    }

    /// The face that a path belongs to.
    pub(crate) fn of(&self, path: &str) -> Manners {
        let belongs = |manners: &&Manners| {
            let rest = path.strip_prefix(manners.prefix);
            rest.is_some_and(|rest| {
                manners.prefix.is_empty() || rest.is_empty() || rest.starts_with('/')
            })
        };
        // A path of none is answered as by our own API.
        let found = self.0.iter().find(belongs).copied();
        found.unwrap_or_else(|| Manners::of(&Face::new("", Router::new(), &[], "")))
    }
}

impl Manners {
    fn of(face: &Face) -> Self {
        Self {
            prefix: face.prefix,
            directory: face.directory,
            secret: face.secret,
            problem: face.problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_face_with_the_longest_prefix_of_whole_parts() {
        let face = |prefix, directory| Face::new(prefix, Router::new(), &[], directory);
        let faces = Faces::new(&[face("", "rest"), face("/a", "a"), face("/a/b", "b")]);
        for (path, expected) in [
            ("/", "rest"),
            ("/v1/a", "rest"),
            ("/a", "a"),
            ("/a/", "a"),
            ("/ab", "rest"),
            ("/a/bc", "a"),
            ("/a/b/c", "b"),
        ] {
            assert_eq!(faces.of(path).directory, expected, "{path}");
        }
    }
}
