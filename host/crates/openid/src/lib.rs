//! Signing in by an OpenID Connect provider, as a confidential or a public client.
//!
//! [`Provider::begin`] says where a browser goes, and [`Provider::finish`] makes an [`Identity`]
//! of the code that it comes back with: by the authorization code flow of OpenID Connect Core
//! 1.0, section 3.1, always with a proof of possession of the code (RFC 7636) and with the check
//! of the issuer that RFC 9207 asks for. What the person may do is not decided here.
//!
//! Calls of the provider wait for its answers: they belong on threads that may wait.

#![forbid(unsafe_code)]

mod address;
mod calls;
mod error;
mod identity;
mod keys;
mod metadata;
mod options;
mod provider;
mod ring_provider;

pub use address::Address;
pub use error::OpenIdError;
pub use identity::Identity;
pub use options::{OpenIdOptions, certificates};
pub use provider::{Begun, Provider, Returned};

#[cfg(test)]
mod tests;
