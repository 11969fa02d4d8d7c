//! Who calls, and what it may do.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Access, unauthorized};
use crate::permission::{Permission, Role};
use crate::problem::{Code, Problem};
use placewright_deployment::DeploymentError;
use placewright_document::{Word, shown};
use placewright_library::actor::Actor;

/// What callers are called where there are no tokens.
const ANONYMOUS: &str = "anonymous";

/// Who calls, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Name of the token.
    pub name: Arc<str>,
    /// Its role.
    pub role: Role,
    /// The clusters that it is for; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
    /// When the token expires, in seconds since 1970-01-01 UTC; None: never.
    pub expires: Option<i64>,
    /// SHA-256 of the token's secret; None: there are no tokens.
    pub(crate) sha256: Option<[u8; 32]>,
    /// SHA-256 of the secret of the session that was shown instead of the token's.
    pub(crate) session: Option<[u8; 32]>,
    /// What says whether it still may.
    pub(crate) authority: Authority,
}

/// The tokens among which that of a caller is, for as long as it counts.
#[derive(Clone, Default)]
pub(crate) struct Authority(Option<Arc<Access>>);

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

/// It makes no other caller.
impl PartialEq for Authority {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Authority {}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        match caller.authority.0.clone() {
            None => Self::from(&caller.name),
            Some(access) => {
                let caller = caller.clone();
                Self::while_it_may(caller.name.clone(), move || access.still_allows(&caller))
            }
        }
    }
}

impl Caller {
    /// The same, whose token is asked for again before something is done for it that had to wait.
    pub(crate) fn known_by(self, access: &Arc<Access>) -> Self {
        Self {
            authority: Authority(Some(access.clone())),
            ..self
        }
    }

    /// Whoever runs programs on this machine, where there are no tokens.
    pub(super) fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.into(),
            role: Role::Admin,
            clusters: None,
            expires: None,
            sha256: None,
            session: None,
            authority: Authority::default(),
        }
    }

    /// Whether there are no tokens, so that all callers are one.
    pub(crate) fn is_anonymous(&self) -> bool {
        &*self.name == ANONYMOUS
    }

    /// Whether the token is for the cluster: others are not shown to it.
    pub fn sees(&self, cluster: &str) -> bool {
        let clusters = self.clusters.as_ref();
        clusters.is_none_or(|clusters| clusters.contains(cluster))
    }

    /// What the caller asks for counts for this cluster where no cluster is named: the one that the
    /// token is for. The clusters of a token for several count as one, of which all tokens for
    /// the same ones have a part: to none of them does it leave less. None: it is for all.
    pub fn counts_for(&self) -> Option<Arc<str>> {
        let clusters = self.clusters.as_ref()?;
        let mut names = clusters.iter();
        match (names.next(), names.next()) {
            (Some(only), None) => Some(only.clone()),
            // No name has a line break.
            _ => Some(
                clusters
                    .iter()
                    .map(|it| &**it)
                    .collect::<Vec<_>>()
                    .join("\n")
                    .into(),
            ),
        }
    }

    /// Check that its token still counts as it was shown, before something is done for it that had
    /// to wait.
    ///
    /// # Errors
    /// If it was taken away, is another one now, or has expired.
    pub fn must_still(&self) -> Result<(), Problem> {
        Actor::from(self)
            .must()
            .map_err(|taken_away| DeploymentError::from(taken_away).into())
    }

    /// Check that the caller has a permission, and on the cluster if one is named.
    ///
    /// # Errors
    /// If not; the sentence says what is missing.
    pub fn must(&self, permission: Permission, cluster: Option<&str>) -> Result<(), Problem> {
        if !self.role.allows(permission) {
            return Err(self.refused(&format!(
                "has the role {}; this needs {}",
                self.role.word(),
                permission.least_role().word()
            )));
        }
        match cluster {
            Some(cluster) if !self.sees(cluster) => {
                Err(self.refused(&format!("is not for the cluster \"{}\"", shown(cluster))))
            }
            _ => Ok(()),
        }
    }

    /// Check that the caller has a permission on all clusters, those to come included.
    ///
    /// # Errors
    /// If not.
    pub fn must_everywhere(&self, permission: Permission) -> Result<(), Problem> {
        self.must(permission, None)?;
        match self.clusters {
            None => Ok(()),
            Some(_) => Err(self.refused("is for some clusters; this is about the whole server")),
        }
    }

    fn refused(&self, sentence: &str) -> Problem {
        Problem::new(
            Code::Forbidden,
            format!("the token \"{}\" {sentence}", self.name),
        )
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| unauthorized("this route is for everybody and asks for no token"))
    }
}
