//! Which folders have to be listened to, so that a change of a path's contents is
//! heard of: its own, and those of all links on the way to it.
//!
//! A mounted config map is a folder of links to `..data/NAME`, where `..data` is a
//! link that is replaced to change all files at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed on one way, as by Linux.
const MOST_LINKS: usize = 40;

/// Add to `folders` every folder of which an entry decides where `path` leads: those
/// with links on the way, and the one that the last step is in.
pub(super) fn ways(path: &Path, folders: &mut BTreeSet<PathBuf>) {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut here = PathBuf::new();
    let mut rest: Vec<PathBuf> = steps(&absolute);
    let mut links = 0;
    while let Some(step) = rest.pop() {
        if step == Path::new("..") {
            here.pop();
            continue;
        }
        let next = here.join(&step);
        match fs::read_link(&next) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                folders.insert(here.clone());
                rest.extend(steps(&target));
                if target.is_absolute() {
                    here = PathBuf::new();
                }
            }
            _ => {
                if rest.is_empty() {
                    folders.insert(here);
                    return;
                }
                here = next;
            }
        }
    }
}

/// The steps of a path, the last one first.
fn steps(path: &Path) -> Vec<PathBuf> {
    path.components()
        .rev()
        .filter(|step| *step != Component::CurDir)
        .map(|step| PathBuf::from(step.as_os_str()))
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn of(path: &Path) -> Vec<PathBuf> {
        let mut folders = BTreeSet::new();
        ways(path, &mut folders);
        folders.into_iter().collect()
    }

    #[test]
    fn a_file_is_heard_of_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(of(&root.join("a.wasm")), [root]);
    }

    #[test]
    fn every_link_on_the_way_is_heard_of() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("mounted/..1")).unwrap();
        fs::write(root.join("mounted/..1/a.wasm"), "").unwrap();
        symlink("..1", root.join("mounted/..data")).unwrap();
        symlink("..data/a.wasm", root.join("mounted/a.wasm")).unwrap();
        symlink(root.join("mounted"), root.join("units")).unwrap();
        assert_eq!(
            of(&root.join("units/a.wasm")),
            [root.clone(), root.join("mounted"), root.join("mounted/..1")]
        );
        assert_eq!(of(&root.join("mounted/./..1/../b")), [root.join("mounted")]);
    }

    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("a", root.join("b")).unwrap();
        symlink("b", root.join("a")).unwrap();
        assert_eq!(of(&root.join("a")), [root]);
    }
}
