//! What happens in the library, for logs, metrics and whoever listens.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stage::{Source, Step};
use placewright_engine::unit::Digest;

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LibraryEvent {
    /// A file holds something new, which is being staged.
    Seen {
        /// Where it is.
        path: PathBuf,
        /// The digest of what it holds.
        digest: Digest,
    },
    /// A candidate was refused. What was in force is in force.
    Refused {
        /// Where it came from.
        source: Source,
        /// Its name, if it came so far.
        name: Option<String>,
        /// Its digest.
        digest: Digest,
        /// The step that failed.
        step: Step,
        /// What is wrong.
        why: String,
    },
    /// A file whose unit was refused is tried again, though it holds the same.
    Again {
        /// Where it is.
        path: PathBuf,
        /// The digest of what it holds.
        digest: Digest,
        /// In how many seconds.
        seconds: u64,
    },
    /// A unit is in force.
    InForce {
        /// Where it came from.
        source: Source,
        /// Its name.
        name: String,
        /// Its digest.
        digest: Digest,
        /// What it took the place of.
        replaced: Option<Digest>,
        /// The first generation with it.
        generation: u64,
        /// How long it took from the first step to the last, in microseconds.
        took_us: u64,
    },
    /// A unit is sound and not in force.
    Held {
        /// Where it came from.
        source: Source,
        /// Its name.
        name: String,
        /// Its digest.
        digest: Digest,
        /// Why it is not in force.
        why: String,
    },
    /// The file of a unit is gone, and the unit stays in force, since policies use it.
    KeptAlthoughDeleted {
        /// Its name.
        name: String,
        /// Its digest.
        digest: Digest,
        /// Where it was.
        path: PathBuf,
        /// The policies that use it.
        policies: Vec<String>,
    },
    /// A unit is not in force any more, and none of its name is.
    Removed {
        /// Its name.
        name: String,
        /// Its digest.
        digest: Digest,
        /// The first generation without it.
        generation: u64,
    },
    /// A unit that was let in is not trusted any more, and not in force.
    Distrusted {
        /// Its name.
        name: String,
        /// Its digest.
        digest: Digest,
        /// Where it came from.
        source: Source,
        /// Why it is not trusted.
        why: String,
        /// What decides under its name.
        instead: Option<Digest>,
        /// Whether its name is disabled.
        disabled: bool,
    },
    /// A unit replaces one of the same name that comes with the program.
    TakesName {
        /// The name.
        name: String,
        /// Where it came from.
        source: Source,
        /// Its digest.
        digest: Digest,
        /// The policies that use it instead from now on.
        policies: Vec<String>,
    },
    /// A unit went back to an earlier digest.
    RolledBack {
        /// Its name.
        name: String,
        /// The digest in force now.
        digest: Digest,
        /// What was in force before.
        replaced: Option<Digest>,
    },
    /// A unit was disabled.
    Disabled {
        /// Its name.
        name: String,
    },
    /// A unit was enabled.
    Enabled {
        /// Its name.
        name: String,
    },
    /// A unit was pinned to what is in force.
    Pinned {
        /// Its name.
        name: String,
        /// The digest that it is pinned to.
        digest: Digest,
    },
    /// The pin of a unit was taken off.
    Unpinned {
        /// Its name.
        name: String,
    },
    /// A file or the folder cannot be read. What was in force is in force.
    Trouble {
        /// Which.
        path: PathBuf,
        /// What is the matter with it, after "it".
        why: String,
    },
    /// Something that should last could not be kept or found again.
    NotKept {
        /// What, and why.
        why: String,
    },
}

impl fmt::Display for LibraryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen { path, digest } => {
                write!(f, "{} holds {}", path.display(), digest.short())
            }
            Self::Refused {
                source,
                name,
                digest,
                step,
                why,
            } => {
                let name = name.as_deref().unwrap_or("a unit");
                write!(
                    f,
                    "{name} {} from {source} is refused at the step \"{step}\": {why}",
                    digest.short()
                )
            }
            Self::Again {
                path,
                digest,
                seconds,
            } => {
                let pause = humantime::format_duration(Duration::from_secs(*seconds));
                let (path, digest) = (path.display(), digest.short());
                write!(
                    f,
                    "{path} will be tried again in {pause} if it still holds {digest}"
                )
            }
            Self::InForce {
                source,
                name,
                digest,
                replaced,
                generation,
                ..
            } => {
                write!(
                    f,
                    "{name} {} from {source} is in force from generation {generation}",
                    digest.short()
                )?;
                match replaced {
                    Some(replaced) => write!(f, ", in place of {}", replaced.short()),
                    None => Ok(()),
                }
            }
            Self::Held {
                source,
                name,
                digest,
                why,
            } => write!(
                f,
                "{name} {} from {source} passed all checks but is not in force: {why}",
                digest.short()
            ),
            Self::KeptAlthoughDeleted {
                name,
                digest,
                path,
                policies,
            } => write!(
                f,
                "{} is gone, and its unit {name} {} stays in force because these policies use it: {}",
                path.display(),
                digest.short(),
                policies.join(", ")
            ),
            Self::Removed {
                name,
                digest,
                generation,
            } => write!(
                f,
                "{name} {} is no longer in force, from generation {generation}",
                digest.short()
            ),
            Self::Distrusted {
                name,
                digest,
                source,
                why,
                instead,
                disabled,
            } => {
                let digest = digest.short();
                write!(
                    f,
                    "{name} {digest} from {source} is no longer trusted: {why}; "
                )?;
                match instead {
                    Some(instead) => write!(f, "{} decides in its place", instead.short()),
                    None if *disabled => write!(f, "units of this name are disabled"),
                    None => write!(
                        f,
                        "there is no other unit {name}, and policies that need it cannot run"
                    ),
                }
            }
            Self::TakesName {
                name,
                source,
                digest,
                policies,
            } => {
                write!(
                    f,
                    "{name} {} from {source} replaces the unit of that name that comes with the program",
                    digest.short()
                )?;
                match policies.is_empty() {
                    true => f.write_str("; no policy uses it")?,
                    false => write!(f, " in {}", policies.join(", "))?,
                }
                write!(
                    f,
                    "; DELETE /v1/units/{name} returns to the one that comes with the program"
                )
            }
            Self::RolledBack { name, digest, .. } => {
                write!(f, "{name} was rolled back to {}", digest.short())
            }
            Self::Disabled { name } => write!(f, "{name} is disabled"),
            Self::Enabled { name } => write!(f, "{name} is enabled"),
            Self::Pinned { name, digest } => write!(f, "{name} is pinned to {}", digest.short()),
            Self::Unpinned { name } => write!(f, "{name} is no longer pinned"),
            Self::Trouble { path, why } => write!(f, "{} {why}", path.display()),
            Self::NotKept { why } => f.write_str(why),
        }
    }
}
