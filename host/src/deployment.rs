//! The running deployment: what decides, while the server lives.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// Clusters, units and policies at work.
#[derive(Debug)]
pub struct Deployment;

impl Deployment {
    /// Start on the state in a folder, which is made if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn start(data: &Path) -> io::Result<Arc<Self>> {
        fs::create_dir_all(data)?;
        Ok(Arc::new(Self))
    }

    /// What it still waits for before it can decide; empty if nothing.
    pub fn awaited(&self) -> Vec<String> {
        Vec::new()
    }

    /// Finish decisions, write everything, end the threads.
    pub fn stop(&self) {}
}
