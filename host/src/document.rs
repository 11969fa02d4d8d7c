//! Documents that people write: clusters, VMs and policies, in TOML or JSON.

mod word;

pub use word::{Word, words};
