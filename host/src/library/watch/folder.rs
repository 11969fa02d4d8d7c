//! The part of watching that has no threads and no clock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::known::Known;
use super::look::{self, Stamps};
use super::{Change, Options, Scan, Seen, ways};

/// A folder that is watched, and what is known of its files.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    options: Options,
    files: BTreeMap<PathBuf, Known>,
    /// Those of them that were links when the folder was last listed.
    links: BTreeSet<PathBuf>,
    reread_at: Option<Instant>,
    /// Since when the folder cannot be listed, and whether that was told.
    unlisted: Option<(Instant, bool)>,
}

impl Folder {
    /// Watch this folder, of which nothing is known. It need not exist yet.
    pub fn new(path: impl Into<PathBuf>, options: Options) -> Self {
        Self {
            path: path.into(),
            options,
            files: BTreeMap::new(),
            links: BTreeSet::new(),
            reread_at: None,
            unlisted: None,
        }
    }

    /// Take the file for told of, as before a restart: it is told of when it is gone.
    pub fn expect(&mut self, path: PathBuf, now: Instant) {
        self.files.insert(path, Known::expected(now));
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it is watched.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Every folder of which a change may be one of these files.
    pub(super) fn ways(&self) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        // To a file that there is not, so that all links lead to its folder.
        ways::ways(&self.path.join("new"), &mut folders);
        for path in &self.links {
            ways::ways(path, &mut folders);
        }
        folders
    }

    /// Look at the folder. `whole` says whether what was read is all that there will
    /// be; what is not is asked again later.
    pub fn scan(&mut self, now: Instant, whole: &mut dyn FnMut(&Seen) -> bool) -> Scan {
        let mut scan = Scan::default();
        let listed = match self.list() {
            Ok(listed) => listed,
            Err(error) => {
                self.not_listed(now, &error, &mut scan);
                return scan;
            }
        };
        self.unlisted = None;
        let reread = self.reread_at.is_none_or(|at| now >= at);
        if reread {
            self.reread_at = Some(now + self.options.reread);
        }
        for path in &listed {
            self.look(path, now, reread, whole, &mut scan);
        }
        self.find_gone(&listed, now, &mut scan);
        scan
    }

    fn list(&mut self) -> io::Result<BTreeSet<PathBuf>> {
        let (mut listed, mut links) = (BTreeSet::new(), BTreeSet::new());
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let ends = |ending: &String| text.ends_with(ending.as_str());
            if !text.starts_with('.') && self.options.endings.iter().any(ends) {
                let path = self.path.join(&name);
                if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    links.insert(path.clone());
                }
                listed.insert(path);
            }
        }
        self.links = links;
        Ok(listed)
    }

    /// A folder that cannot be listed says nothing of its files: they are not gone.
    fn not_listed(&mut self, now: Instant, error: &io::Error, scan: &mut Scan) {
        let (since, told) = *self.unlisted.get_or_insert((now, false));
        let settled = since + self.options.settle;
        if told {
            return;
        }
        if now < settled {
            return scan.again_at(settled);
        }
        self.unlisted = Some((since, true));
        scan.changes.push(Change::Unlisted {
            path: self.path.clone(),
            why: format!("cannot be listed: {error}"),
        });
    }

    fn look(
        &mut self,
        path: &Path,
        now: Instant,
        reread: bool,
        whole: &mut dyn FnMut(&Seen) -> bool,
        scan: &mut Scan,
    ) {
        let known = self
            .files
            .entry(path.to_owned())
            .or_insert_with(|| Known::new(now));
        known.missing = None;
        if let Some(at) = known.rests_until(now) {
            return scan.again_at(at);
        }
        let need = |stamps: &Stamps| reread || !known.surely_holds(stamps);
        let settle = self.options.settle;
        match look::both(path, &self.options, need) {
            Ok(None) => {}
            Ok(Some(read)) => known.take(path, &read, now, settle, whole, scan),
            Err(why) => known.trouble(path, why, now, settle, scan),
        }
    }

    fn find_gone(&mut self, listed: &BTreeSet<PathBuf>, now: Instant, scan: &mut Scan) {
        let settle = self.options.settle;
        self.files.retain(|path, known| {
            if listed.contains(path) {
                return true;
            }
            let since = *known.missing.get_or_insert(now);
            if now < since + settle {
                scan.again_at(since + settle);
                return true;
            }
            if known.is_told_of() {
                let path = path.clone();
                scan.changes.push(Change::Gone { path });
            }
            false
        });
    }
}
