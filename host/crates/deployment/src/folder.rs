//! A folder of policies that is watched: what stands in it is in force, or is refused
//! with a sentence while the last good one goes on. What was refused is tried again when
//! other units are in force: a policy may come before the unit that it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use super::{Deployment, DeploymentError, Edit, EventKind, News, Origin, PolicyRecord};
use placewright_document::stem;
use placewright_engine::generation::Generation;
use placewright_library::watch::{Change, Folder, Options, WatchError, Watcher};

/// Who changes policies that are files.
pub(super) const FILE: &str = "file";

/// A folder of policies that is being watched. Ends with this value.
#[derive(Debug)]
pub(crate) struct PolicyFolder(Watcher);

impl PolicyFolder {
    /// Watch a folder for the deployment from now on.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn watch(
        deployment: &Arc<Deployment>,
        path: &Path,
        options: Options,
    ) -> Result<Self, WatchError> {
        let mut folder = Folder::new(path, options);
        for policy in deployment.all_policies() {
            if let Origin::File(file) = &policy.origin {
                folder.expect(path.join(file), std::time::Instant::now());
            }
        }
        let deployment = Arc::downgrade(deployment);
        // A document that is cut off may be one that is right: none is taken for whole before it
        // has settled and nobody writes it.
        let whole = |_: &placewright_library::watch::Seen| false;
        let mut refused = Refused::default();
        let report = move |change: Option<Change>| {
            if let Some(deployment) = deployment.upgrade() {
                refused.take_in(&deployment, change);
            }
        };
        let watcher = Watcher::start(folder, whole, report)?;
        Ok(Self(watcher))
    }

    /// Waits, when it is called, until what the folder holds has settled and is in force or
    /// refused, or the watching ends.
    pub(crate) fn first_look(&self) -> impl FnOnce() + Send + use<> {
        let bell = self.0.bell().clone();
        move || bell.settle()
    }

    /// Look at the folder now, and wait until what was found is in force or refused.
    pub(crate) fn rescan(&self) {
        self.0.bell().scan();
    }

    /// Look at the folder now, and wait until each of its files has settled and was taken over or
    /// refused.
    #[cfg(test)]
    pub(super) fn settle(&self) {
        self.0.bell().settle();
    }
}

/// What files hold that was refused.
#[derive(Default)]
struct Refused {
    /// By path, with the sentence that was told.
    files: BTreeMap<PathBuf, (Change, String)>,
    /// The units that were in force when they were tried last.
    units: Weak<Generation>,
}

impl Refused {
    /// Take in what has changed, and what was refused with other units in force or beside
    /// a file that is gone.
    fn take_in(&mut self, deployment: &Deployment, change: Option<Change>) {
        let units = Arc::downgrade(&deployment.generation());
        if !units.ptr_eq(&self.units) {
            self.units = units;
            self.try_again(deployment, |_| true);
        }
        let Some(change) = change else {
            return;
        };
        self.files.remove(change.path());
        let gone = match &change {
            Change::Gone { path } => Some(path.clone()),
            _ => None,
        };
        self.take(deployment, change, None);
        if let Some(gone) = gone {
            self.try_again(deployment, |path| are_rivals(path, &gone));
        }
    }

    /// Take in once more what was refused of these files.
    fn try_again(&mut self, deployment: &Deployment, which: impl Fn(&Path) -> bool) {
        let (again, rest) = std::mem::take(&mut self.files)
            .into_iter()
            .partition(|(path, _)| which(path));
        self.files = rest;
        let again: BTreeMap<PathBuf, (Change, String)> = again;
        for (_, (change, told)) in again {
            self.take(deployment, change, Some(told));
        }
    }

    /// Take in a change, and tell why it is refused, unless that was `told` already.
    fn take(&mut self, deployment: &Deployment, change: Change, told: Option<String>) {
        let Err((kind, why)) = take(deployment, &change) else {
            return;
        };
        let path = change.path().to_owned();
        if told.as_ref() != Some(&why) {
            let name = path.file_name();
            deployment.tell(News {
                kind,
                policy: name.map(|name| stem(&name.to_string_lossy()).into()),
                message: format!("{}: {why}", path.display()),
                ..News::default()
            });
        }
        if let Change::Seen(_) = change {
            self.files.insert(path, (change, why));
        }
    }
}

/// The change that a file makes of a policy, if it is a text.
fn edit(change: &Change) -> Option<Edit> {
    let Change::Seen(seen) = change else {
        return None;
    };
    let file = seen.path.file_name()?.to_str()?;
    Some(Edit {
        name: stem(file).to_owned(),
        text: String::from_utf8(seen.bytes.to_vec()).ok()?,
        origin: Origin::File(file.to_owned()),
        revision: None,
    })
}

/// Whether two files are the same policy by their names.
fn are_rivals(one: &Path, other: &Path) -> bool {
    let name = |path: &Path| {
        let file = path.file_name()?.to_string_lossy();
        Some(stem(&file).to_owned())
    };
    one != other && name(one) == name(other)
}

/// The other file that the policy is from, while it is there.
fn rival(path: &Path, known: Option<&PolicyRecord>) -> Option<PathBuf> {
    let Origin::File(file) = &known?.origin else {
        return None;
    };
    let other = path.with_file_name(file);
    (other != path && other.symlink_metadata().is_ok()).then_some(other)
}

fn take(deployment: &Deployment, change: &Change) -> Result<(), (EventKind, String)> {
    match change {
        Change::Seen(_) => {
            let Some(edit) = edit(change) else {
                return Err((
                    EventKind::PolicyRefused,
                    "it is no text in UTF-8".to_owned(),
                ));
            };
            let known = deployment.policy(&edit.name);
            if let Some(rival) = rival(change.path(), known.as_deref().ok()) {
                let why = format!(
                    "it is the policy \"{}\", as {} is: rename or remove one of them",
                    edit.name,
                    rival.display()
                );
                return Err((EventKind::PolicyRefused, why));
            }
            if known.is_ok_and(|it| *it.text == *edit.text && it.origin == edit.origin) {
                return Ok(());
            }
            let put = deployment.put_policy(&edit, FILE);
            put.map(|_| ())
                .map_err(|error| (EventKind::PolicyRefused, error.to_string()))
        }
        Change::Gone { path } => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let origin = Origin::File(file.to_string());
            let name = stem(&file);
            let is_ours = deployment.policy(name).is_ok_and(|it| it.origin == origin);
            match is_ours.then(|| deployment.remove_policy(name, &origin, None, FILE)) {
                Some(Err(DeploymentError::InUse { clusters, .. })) => Err((
                    EventKind::PolicyKeptAlthoughDeleted,
                    format!(
                        "the file is gone; the policy stays in force in {}",
                        clusters.join(", ")
                    ),
                )),
                Some(Err(error)) => Err((EventKind::PolicyRefused, error.to_string())),
                Some(Ok(())) | None => Ok(()),
            }
        }
        Change::Trouble { why, .. } | Change::Unlisted { why, .. } => {
            Err((EventKind::FolderTrouble, format!("it {why}")))
        }
    }
}
