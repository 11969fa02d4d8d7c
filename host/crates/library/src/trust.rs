//! Which components are let in at all: who signed them, and what they import.

use std::collections::BTreeSet;

use super::signature::{SignatureError, Signatures, Signed};
use placewright_engine::Limits;
use placewright_engine::contract::{LOG, PACKAGE, TYPES};
use placewright_engine::unit::{Digest, Inspected, LoadError};

/// Which components are let in.
#[derive(Debug, Clone)]
pub struct Trust {
    /// Which signatures are asked for.
    pub signatures: Signatures,
    /// The interfaces of the contract that units may import, such as `log`. All
    /// others are always refused.
    pub imports: BTreeSet<String>,
    /// Components that are never let in, whoever signed them; those that come with the
    /// program too.
    pub revoked: BTreeSet<Digest>,
}

impl Default for Trust {
    fn default() -> Self {
        Self {
            signatures: Signatures::default(),
            imports: BTreeSet::from([LOG.to_owned()]),
            revoked: BTreeSet::new(),
        }
    }
}

/// Why a component is not let in.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Its signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// Its bytes, or what they import and export.
    #[error(transparent)]
    Component(#[from] LoadError),
    /// It imports what the contract has and this configuration does not allow.
    #[error("it imports {0}, which the configuration does not allow units to import")]
    Import(String),
    /// Its digest is one of those that are never let in.
    #[error("it is revoked: the configuration lists its digest {0} under \"revoked\"")]
    Revoked(Digest),
    /// The configuration asks for what nothing can meet.
    #[error("units must be signed and no key is trusted: name the keys whose signatures count")]
    NoKeys,
    /// The configuration allows what there is not.
    #[error(
        "units cannot be allowed to import \"{0}\": the contract has no such interface, only {LOG}"
    )]
    NoImport(String),
}

impl Trust {
    /// Make sure that what is allowed makes sense.
    ///
    /// # Errors
    /// If an import is allowed that no unit can have, or signatures are required and
    /// there are no keys.
    pub fn check(&self) -> Result<(), TrustError> {
        if self.signatures.require && self.signatures.keys.is_empty() {
            return Err(TrustError::NoKeys);
        }
        match self.imports.iter().find(|name| *name != LOG) {
            Some(unknown) => Err(TrustError::NoImport(unknown.clone())),
            None => Ok(()),
        }
    }

    /// Whether the bytes are signed as they must be, and not revoked.
    ///
    /// # Errors
    /// If not.
    pub fn signed(&self, bytes: &[u8], beside: Option<&[u8]>) -> Result<Signed, TrustError> {
        if !self.revoked.is_empty() {
            self.not_revoked(Digest::of(bytes))?;
        }
        Ok(self.signatures.check(bytes, beside)?)
    }

    /// Whether the component with that digest is not revoked. That is all that is asked
    /// of those that come with the program.
    ///
    /// # Errors
    /// If it is.
    pub fn not_revoked(&self, digest: Digest) -> Result<(), TrustError> {
        match self.revoked.contains(&digest) {
            true => Err(TrustError::Revoked(digest)),
            false => Ok(()),
        }
    }

    /// Ask all of it of bytes that were let in before: what was trusted then need not be
    /// trusted now.
    ///
    /// # Errors
    /// Why they would be refused now.
    pub fn still_admits(
        &self,
        bytes: &[u8],
        beside: Option<&[u8]>,
        limits: &Limits,
    ) -> Result<(), TrustError> {
        self.signed(bytes, beside)?;
        self.inspect(bytes, limits).map(drop)
    }

    /// Look at the bytes without running or compiling them.
    ///
    /// # Errors
    /// If they are no unit for this contract, or import what is not allowed.
    pub fn inspect(&self, bytes: &[u8], limits: &Limits) -> Result<Inspected, TrustError> {
        let inspected = Inspected::new(bytes, limits)?;
        match inspected.imports().iter().find(|name| !self.allows(name)) {
            Some(import) => Err(TrustError::Import(import.clone())),
            None => Ok(inspected),
        }
    }

    fn allows(&self, import: &str) -> bool {
        let name = import
            .strip_prefix(PACKAGE)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(import);
        let name = name.split('@').next().unwrap_or(name);
        // Types are no functions: nothing can be called through them.
        name == TYPES || self.imports.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_testing::component::Judging;

    #[test]
    fn a_revoked_component_is_refused_whatever_its_signature_is() {
        let bytes = Judging::default().component();
        let mut trust = Trust::default();
        trust
            .still_admits(&bytes, None, &Limits::default())
            .unwrap();
        trust.revoked.insert(Digest::of(&bytes));
        let refused = trust.still_admits(&bytes, None, &Limits::default());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.starts_with("it is revoked"), "{refused}");
        assert!(
            refused.contains(&Digest::of(&bytes).to_string()),
            "{refused}"
        );
    }

    #[test]
    fn what_may_be_imported_is_as_configured() {
        let bytes = Judging::default().component();
        let limits = Limits::default();
        let mut trust = Trust::default();
        trust.check().unwrap();
        assert!(trust.inspect(&bytes, &limits).is_ok());
        trust.imports.clear();
        let refused = trust.inspect(&bytes, &limits).unwrap_err().to_string();
        assert!(refused.contains("policy/log@"), "{refused}");
        trust.imports.insert("files".to_owned());
        assert!(trust.check().unwrap_err().to_string().contains("\"files\""));
    }
}
