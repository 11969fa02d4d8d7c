//! Reads the document of a cluster into an inventory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use placewright_document::ClusterDocument;
use placewright_inventory::Inventory;

use super::failure::Failure;
use super::output;
use super::units;

/// A cluster, as its document tells of it.
pub(super) struct Cluster {
    /// The state.
    pub inventory: Inventory,
    /// The time that the document speaks of; that of now if it does not say.
    pub now: i64,
    /// What is left to chance is derived from this.
    pub seed: u64,
    /// The ids of the hosts.
    pub hosts: BTreeSet<Arc<str>>,
}

/// Read the document of a cluster.
pub(super) fn read(path: &Path) -> Result<Cluster, Failure> {
    Ok(read_with_document(path)?.0)
}

/// Read the document of a cluster, and keep it.
pub(super) fn read_with_document(path: &Path) -> Result<(Cluster, ClusterDocument), Failure> {
    let file = path.display().to_string();
    if is_name(path) {
        return Err(Failure::input_because(format!(
            "there is no file {file}; if the cluster of that name on a server is meant, name the \
             server before the command: --server URL, or --context NAME"
        )));
    }
    let document = ClusterDocument::read(&units::read(path)?, &file).map_err(Failure::input)?;
    output::warn(&document.warnings());
    Ok((cluster(document.clone(), file)?, document))
}

/// Whether what is no file looks like the name of a cluster: it has no folder and no ending.
fn is_name(path: &Path) -> bool {
    let has_folder = path.parent().is_some_and(|it| !it.as_os_str().is_empty());
    !has_folder && path.extension().is_none() && !path.exists()
}

/// Read a text file of Ganeti's htools; of several groups of nodes, that one.
pub(super) fn read_ganeti(
    path: &Path,
    group: Option<&str>,
) -> Result<(Cluster, ClusterDocument), Failure> {
    let file = path.display().to_string();
    let document = placewright_tools::ganeti::read(&units::read(path)?, &file, group)
        .map_err(Failure::input)?;
    Ok((cluster(document.clone(), file)?, document))
}

fn cluster(document: ClusterDocument, file: String) -> Result<Cluster, Failure> {
    let now = document.now.unwrap_or_else(clock);
    let (seed, hosts) = (
        document.seed,
        document.hosts.iter().map(|host| host.id.clone()).collect(),
    );
    let inventory = Inventory::of_document(document, now)
        .map_err(|error| Failure::input(anyhow::Error::new(error).context(file)))?;
    Ok(Cluster {
        inventory,
        now,
        seed,
        hosts,
    })
}

/// Seconds since 1970-01-01 UTC; 0 if the clock stands before.
fn clock() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
