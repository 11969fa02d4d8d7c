//! A folder of policies that is watched: what stands in it is in force, or is refused
//! with a sentence while the last good one goes on.

use std::path::Path;
use std::sync::{Arc, Weak};

use super::{Deployment, DeploymentError, Edit, News, Origin};
use crate::document::stem;
use crate::library::watch::{Change, Folder, Options, WatchError, Watcher};

/// Who changes policies that are files.
const FILE: &str = "file";

/// A folder of policies that is being watched. Ends with this value.
#[derive(Debug)]
pub struct PolicyFolder(Watcher);

impl PolicyFolder {
    /// Watch a folder for the deployment from now on.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn watch(
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
        // A document that is cut off is no policy, and is told of when it has settled.
        let whole = {
            let deployment = deployment.clone();
            move |seen: &crate::library::watch::Seen| {
                let change = Change::Seen(seen.clone());
                let deployment = deployment.upgrade();
                deployment.is_some_and(|it| {
                    edit(&change).is_some_and(|edit| it.check_policy(&edit).is_ok())
                })
            }
        };
        let watcher = Watcher::start(folder, whole, move |changes| take_in(&deployment, &changes))?;
        Ok(Self(watcher))
    }

    /// Look at the folder now, and wait until what was found is in force or refused.
    pub fn rescan(&self) {
        self.0.bell().scan();
    }
}

fn take_in(deployment: &Weak<Deployment>, changes: &[Change]) {
    let Some(deployment) = deployment.upgrade() else {
        return;
    };
    for change in changes {
        if let Err((kind, why)) = take(&deployment, change) {
            let path = change.path();
            deployment.tell(News {
                kind,
                policy: path
                    .file_name()
                    .map(|name| stem(&name.to_string_lossy()).into()),
                message: format!("{}: {why}", path.display()),
                ..News::default()
            });
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

fn take(deployment: &Deployment, change: &Change) -> Result<(), (&'static str, String)> {
    match change {
        Change::Seen(_) => {
            let Some(edit) = edit(change) else {
                return Err(("policy-refused", "it is no text in UTF-8".to_owned()));
            };
            let known = deployment.policy(&edit.name);
            if known.is_ok_and(|it| *it.text == *edit.text && it.origin == edit.origin) {
                return Ok(());
            }
            let put = deployment.put_policy(&edit, FILE);
            put.map(|_| ())
                .map_err(|error| ("policy-refused", error.to_string()))
        }
        Change::Gone { path } => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let origin = Origin::File(file.to_string());
            let name = stem(&file);
            let is_ours = deployment.policy(name).is_ok_and(|it| it.origin == origin);
            match is_ours.then(|| deployment.remove_policy(name, &origin, None)) {
                Some(Err(DeploymentError::InUse { clusters, .. })) => Err((
                    "policy-kept-although-deleted",
                    format!(
                        "the file is gone, and the policy goes on in {}",
                        clusters.join(", ")
                    ),
                )),
                Some(Err(error)) => Err(("policy-refused", error.to_string())),
                Some(Ok(())) | None => Ok(()),
            }
        }
        Change::Trouble { why, .. } | Change::Unlisted { why, .. } => {
            Err(("folder-trouble", format!("it {why}")))
        }
    }
}
