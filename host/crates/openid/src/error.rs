//! What can go wrong with a provider.

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    /// It cannot be reached, or does not answer in time.
    #[error("the provider cannot be reached at {url}: {why}")]
    Unreachable {
        /// What was asked.
        url: String,
        /// Why there is no answer.
        why: String,
    },
    /// It answers something that no provider should.
    #[error("the provider's answer from {url} cannot be used: {why}")]
    Answer {
        /// What was asked.
        url: String,
        /// What is wrong with its answer.
        why: String,
    },
    /// It says no.
    #[error("the provider refused: {0}")]
    Refused(String),
    /// What came back does not belong to what was begun.
    #[error("{0}")]
    Foreign(&'static str),
    /// Its token must not be trusted.
    #[error("the provider's ID token is not valid: {0}")]
    Token(String),
    /// Its token does not say who somebody is.
    #[error("the provider does not say who you are: {0}")]
    Nameless(String),
    /// The system has no randomness to give.
    #[error("the system has no randomness to give")]
    Randomness,
}
