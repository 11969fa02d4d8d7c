//! The part of watching that has no threads and no clock.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::known::Known;
use super::look::{self, Stamps};
use super::writers::Writers;
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
    /// Who is writing them.
    writers: Writers,
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
            writers: Writers::default(),
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

    /// Who is writing its files, to be told of what the system tells.
    pub(super) fn writers(&self) -> &Writers {
        &self.writers
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
        let mut changes = Vec::new();
        let next = self.scan_each(now, whole, &mut |change| changes.push(change));
        Scan { changes, next }
    }

    /// The same, where each change is told of before the next file is read: of all that the
    /// folder holds, one file is in memory at a time. When to scan again at the latest.
    pub fn scan_each(
        &mut self,
        now: Instant,
        whole: &mut dyn FnMut(&Seen) -> bool,
        tell: &mut dyn FnMut(Change),
    ) -> Option<Instant> {
        let mut scan = Scan::default();
        let listed = match self.list() {
            Ok(listed) => listed,
            Err(error) => {
                self.not_listed(now, &error, &mut scan);
                scan.changes.into_iter().for_each(tell);
                return scan.next;
            }
        };
        self.unlisted = None;
        let reread = self.reread_at.is_none_or(|at| now >= at);
        if reread {
            self.reread_at = Some(now + self.options.reread);
        }
        for (path, odd) in &listed {
            match odd {
                None => self.look(path, now, reread, whole, &mut scan),
                Some(why) => {
                    let known = self.files.entry(path.clone());
                    let known = known.or_insert_with(|| Known::new(now));
                    known.missing = None;
                    known.tell_trouble(path, why.clone(), &mut scan);
                }
            }
            scan.changes.drain(..).for_each(&mut *tell);
        }
        self.find_gone(&listed, now, &mut scan);
        scan.changes.into_iter().for_each(tell);
        scan.next
    }

    /// Tell of what the file holds once more, though that was told.
    pub(super) fn look_again(&mut self, path: &Path, now: Instant) {
        if let Some(known) = self.files.get_mut(path) {
            known.look_again(now);
        }
    }

    /// All files, and what keeps those from being read that have odd names.
    fn list(&mut self) -> io::Result<BTreeMap<PathBuf, Option<String>>> {
        let (mut listed, mut links) = (BTreeMap::new(), BTreeSet::new());
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let ends = |ending: &String| text.ends_with(ending.as_str());
            if !text.starts_with('.') && self.options.endings.iter().any(ends) {
                if let Some((shown, why)) = odd(&name) {
                    listed.insert(self.path.join(shown), Some(why));
                    continue;
                }
                let path = self.path.join(&name);
                if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    links.insert(path.clone());
                }
                listed.insert(path, None);
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
            Ok(Some(read)) => {
                let written = self.writers.since(path, now, settle);
                known.take(path, &read, (now, settle, written), whole, scan);
            }
            Err(why) => known.trouble(path, why, now, settle, scan),
        }
    }

    fn find_gone(
        &mut self,
        listed: &BTreeMap<PathBuf, Option<String>>,
        now: Instant,
        scan: &mut Scan,
    ) {
        let settle = self.options.settle;
        self.files.retain(|path, known| {
            if listed.contains_key(path) {
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

/// The greatest name of a file, in bytes: what stands beside it has a longer one.
const LONGEST_NAME: usize = 200;

/// What is wrong with the name of a file that no message, document or address could hold as
/// it is, and how it is written; no file that is read is written so.
fn odd(name: &OsStr) -> Option<(String, String)> {
    let escaped = || name.as_encoded_bytes().escape_ascii().to_string();
    let Some(text) = name.to_str() else {
        let why = "has a name that is not UTF-8: give it another name";
        return Some((escaped(), why.to_owned()));
    };
    if text.chars().any(is_odd) {
        let why = "has a control character or a backslash in its name: give it another name";
        return Some((escaped(), why.to_owned()));
    }
    (text.len() > LONGEST_NAME).then(|| {
        let bytes = text.len();
        let why = format!(
            "has a name of {bytes} bytes and the limit is {LONGEST_NAME}: give it a shorter one"
        );
        (text.to_owned(), why)
    })
}

/// Characters that end lines or turn them around, and the one that escapes begin with.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\\' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}
