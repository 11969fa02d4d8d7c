//! Scans with a clock that is moved by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::*;

/// A folder with its watching, at a time.
struct Scene {
    home: tempfile::TempDir,
    folder: Folder,
    now: Instant,
}

/// What a unit for these tests is: it ends with a full stop.
fn whole(seen: &Seen) -> bool {
    seen.bytes.ends_with(b".")
}

impl Scene {
    fn new() -> Self {
        Self::of(Options::units(1000))
    }

    fn of(options: Options) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("units")).unwrap();
        let folder = Folder::new(home.path().join("units"), options);
        Self {
            home,
            folder,
            now: Instant::now(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Put a file in its place in one step.
    fn rename_into_place(&self, name: &str, text: &str) {
        let aside = self.home.path().join("aside");
        fs::write(&aside, text).unwrap();
        fs::rename(aside, self.path(name)).unwrap();
    }

    /// What a scan finds, in words.
    fn scan(&mut self) -> Vec<String> {
        let scan = self.folder.scan(self.now, &mut whole);
        scan.changes.iter().map(told).collect()
    }

    fn later(&mut self, millis: u64) -> Vec<String> {
        self.now += Duration::from_millis(millis);
        self.scan()
    }
}

fn told(change: &Change) -> String {
    let name = change.path().file_name().unwrap().to_string_lossy();
    match change {
        Change::Seen(seen) => {
            let text = String::from_utf8_lossy(&seen.bytes);
            let beside = seen.beside.as_deref().map(String::from_utf8_lossy);
            let beside = beside.map_or_else(String::new, |beside| format!(" + {beside}"));
            let settled = if seen.settled { " (settled)" } else { "" };
            format!("{name}: {text}{beside}{settled}")
        }
        Change::Gone { .. } => format!("{name} is gone"),
        Change::Trouble { why, .. } | Change::Unlisted { why, .. } => format!("{name} {why}"),
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_whole_file_is_told_of_at_once_and_once() {
    let mut scene = Scene::new();
    assert_eq!(scene.scan(), NOTHING);
    scene.rename_into_place("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(scene.later(100_000), NOTHING);
    scene.rename_into_place("a.wasm", "two.");
    assert_eq!(scene.scan(), ["a.wasm: two."]);
}

#[test]
fn a_file_that_is_being_written_is_told_of_when_it_is_whole() {
    let mut scene = Scene::new();
    for part in ["o", "on", "one", "one a", "one an", "one and two"] {
        scene.write("a.wasm", part);
        assert_eq!(scene.later(150), NOTHING);
    }
    scene.write("a.wasm", "one and two.");
    assert_eq!(scene.later(1), ["a.wasm: one and two."]);
}

#[test]
fn a_file_that_was_cut_to_nothing_is_waited_for_longer() {
    let mut scene = Scene::new();
    scene.rename_into_place("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
    scene.write("a.wasm", "");
    assert_eq!(scene.later(1), NOTHING);
    assert_eq!(scene.later(4_999), NOTHING);
    scene.write("a.wasm", "two.");
    assert_eq!(scene.later(1), ["a.wasm: two."]);
    scene.write("a.wasm", "");
    assert_eq!(scene.later(1), NOTHING);
    assert_eq!(scene.later(5_000), ["a.wasm:  (settled)"]);
}

#[test]
fn a_file_that_stays_in_parts_is_told_of_as_it_is_when_it_has_settled() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one and");
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(scene.later(199), NOTHING);
    assert_eq!(scene.later(2), ["a.wasm: one and (settled)"]);
    assert_eq!(scene.later(1000), NOTHING);
    scene.write("a.wasm", "one and two.");
    assert_eq!(scene.scan(), ["a.wasm: one and two."]);
}

#[test]
fn a_scan_is_asked_for_when_a_file_will_have_settled() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one and");
    let next = scene.folder.scan(scene.now, &mut whole).next.unwrap();
    assert_eq!(next - scene.now, scene.folder.options().settle);
    let scan = scene.folder.scan(next, &mut whole);
    assert_eq!(scan.changes.len(), 1);
    assert_eq!(scan.next, None);
}

#[test]
fn a_large_file_that_is_not_whole_is_not_read_at_every_write() {
    let mut scene = Scene::of(Options::units(10_000_000));
    scene.write("a.wasm", &"x".repeat(5_000_000));
    assert_eq!(scene.scan(), NOTHING);
    // 50 ms for 5 MB: what is written before that is seen after it.
    scene.rename_into_place("a.wasm", "one.");
    assert_eq!(scene.later(40), NOTHING);
    assert_eq!(scene.later(20), ["a.wasm: one."]);
}

#[test]
fn two_writes_within_one_tick_of_the_clock_are_both_seen() {
    let mut scene = Scene::new();
    let path = scene.path("a.wasm");
    scene.write("a.wasm", "one.");
    let stamp = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(scene.scan(), ["a.wasm: one."]);
    // As long, and by its times as old: only the contents tell.
    scene.write("a.wasm", "two.");
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(stamp)
        .unwrap();
    assert_eq!(scene.scan(), ["a.wasm: two."]);
}

#[test]
fn files_are_read_again_though_nothing_tells_of_a_change() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
    // By now its stamp is trusted.
    assert_eq!(scene.later(3000), NOTHING);
    assert_eq!(scene.later(3000), NOTHING);
    scene.write("a.wasm", "two.");
    assert_eq!(scene.later(60_000), ["a.wasm: two."]);
}

#[test]
fn a_file_is_gone_when_it_has_been_away_for_a_while() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one.");
    assert_eq!(scene.scan().len(), 1);
    fs::remove_file(scene.path("a.wasm")).unwrap();
    assert_eq!(scene.scan(), NOTHING);
    // As programs do that remove a file before they write it again.
    scene.write("a.wasm", "one.");
    assert_eq!(scene.later(1000), NOTHING);
    fs::remove_file(scene.path("a.wasm")).unwrap();
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(scene.later(200), ["a.wasm is gone"]);
    assert_eq!(scene.later(1000), NOTHING);
    scene.write("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
}

#[test]
fn a_file_that_was_told_of_before_a_restart_is_missed() {
    let mut scene = Scene::new();
    let path = scene.path("a.wasm");
    scene.folder.expect(path, scene.now);
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(scene.later(200), ["a.wasm is gone"]);
}

#[test]
fn the_file_beside_belongs_to_the_file() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one.");
    scene.write("a.wasm.sig", "by me");
    assert_eq!(scene.scan(), ["a.wasm: one. + by me"]);
    scene.write("a.wasm.sig", "by you");
    assert_eq!(scene.scan(), ["a.wasm: one. + by you"]);
    fs::remove_file(scene.path("a.wasm.sig")).unwrap();
    assert_eq!(scene.scan(), ["a.wasm: one."]);
}

#[test]
fn names_that_begin_with_a_dot_or_end_otherwise_are_left_alone() {
    let mut scene = Scene::new();
    for name in [".a.wasm", "a.wasm.part", "b.txt", "wasm"] {
        scene.write(name, "one.");
    }
    assert_eq!(scene.scan(), NOTHING);
    let mut policies = Scene::of(Options::policies(1000));
    for name in ["a.toml", "b.json", "c.wasm"] {
        policies.write(name, "one.");
    }
    assert_eq!(policies.scan(), ["a.toml: one.", "b.json: one."]);
}

#[test]
fn what_is_too_large_is_told_with_the_limit_and_not_read() {
    let mut scene = Scene::new();
    scene.write("a.wasm", &"x".repeat(1001));
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(
        scene.later(200),
        ["a.wasm cannot be read: it has 1001 B and the limit is 1000 B"]
    );
    assert_eq!(scene.later(2000), NOTHING);
    scene.write("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
}

#[test]
fn a_folder_that_cannot_be_listed_takes_no_file_away() {
    let mut scene = Scene::new();
    scene.write("a.wasm", "one.");
    assert_eq!(scene.scan().len(), 1);
    let (there, away) = (scene.path(""), scene.home.path().join("away"));
    fs::rename(&there, &away).unwrap();
    assert_eq!(scene.scan(), NOTHING);
    let said = scene.later(200);
    assert!(said[0].contains("units cannot be listed: "), "{said:?}");
    assert_eq!(scene.later(10_000), NOTHING);
    fs::rename(&away, &there).unwrap();
    assert_eq!(scene.scan(), NOTHING);
}

#[test]
fn a_folder_is_told_of_where_a_file_should_be() {
    let mut scene = Scene::new();
    fs::create_dir(scene.path("a.wasm")).unwrap();
    assert_eq!(scene.scan(), NOTHING);
    assert_eq!(
        scene.later(200),
        ["a.wasm cannot be read: it is not a file"]
    );
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    fn swap(link: &Path, target: &str) {
        let new = link.with_file_name("..new");
        symlink(target, &new).unwrap();
        fs::rename(new, link).unwrap();
    }

    #[test]
    fn all_files_of_a_folder_of_links_change_together() {
        let mut scene = Scene::new();
        for version in ["1", "2"] {
            fs::create_dir(scene.path(&format!("..{version}"))).unwrap();
            scene.write(&format!("..{version}/a.wasm"), &format!("a {version}."));
            scene.write(&format!("..{version}/b.wasm"), &format!("b {version}."));
        }
        let data = scene.path("..data");
        symlink("..1", &data).unwrap();
        symlink("..data/a.wasm", scene.path("a.wasm")).unwrap();
        symlink("..data/b.wasm", scene.path("b.wasm")).unwrap();
        assert_eq!(scene.scan(), ["a.wasm: a 1.", "b.wasm: b 1."]);
        swap(&data, "..2");
        assert_eq!(scene.later(1), ["a.wasm: a 2.", "b.wasm: b 2."]);
        swap(&data, "..3");
        assert_eq!(scene.later(1), NOTHING);
        assert_eq!(
            scene.later(200),
            [
                "a.wasm is a link that leads nowhere",
                "b.wasm is a link that leads nowhere"
            ]
        );
        swap(&data, "..2");
        // Back to what was there before the trouble: that has long settled.
        let again = ["a.wasm: a 2. (settled)", "b.wasm: b 2. (settled)"];
        assert_eq!(scene.later(1), again);
    }

    #[test]
    fn the_folder_itself_may_be_a_link_that_is_swapped() {
        let scene = Scene::new();
        let link = scene.home.path().join("link");
        fs::create_dir(scene.home.path().join("other")).unwrap();
        fs::write(scene.home.path().join("other/a.wasm"), "other.").unwrap();
        scene.write("a.wasm", "one.");
        symlink("units", &link).unwrap();
        let mut scene = Scene {
            folder: Folder::new(&link, Options::units(1000)),
            ..scene
        };
        assert_eq!(scene.scan(), ["a.wasm: one."]);
        let ways = scene.folder.ways();
        let home = scene.home.path().canonicalize().unwrap();
        assert!(ways.contains(&home), "{ways:?}");
        swap(&link, "other");
        assert_eq!(scene.scan(), ["a.wasm: other."]);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let mut scene = Scene::new();
        // A socket stands for all that is neither file nor folder.
        let _socket = std::os::unix::net::UnixListener::bind(scene.path("a.wasm")).unwrap();
        assert_eq!(scene.scan(), NOTHING);
        assert_eq!(
            scene.later(200),
            ["a.wasm cannot be read: it is not a file"]
        );
    }
}

mod threads {
    use std::sync::mpsc;

    use super::*;

    /// Long enough for any machine; met only by a failure.
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_change_is_reported_without_being_asked_for_and_the_end_ends_the_thread() {
        let scene = Scene::new();
        let path = scene.path("a.wasm");
        let options = Options {
            // What is reported is reported for an event, or not at all.
            rescan: LONG * 100,
            ..Options::units(1000)
        };
        let folder = Folder::new(scene.folder.path(), options);
        let (report, reported) = mpsc::channel();
        let send = move |change: Option<Change>| {
            change
                .iter()
                .for_each(|change| report.send(told(change)).unwrap());
        };
        let watcher = Watcher::start(folder, whole, send).unwrap();
        watcher.bell().scan();
        fs::write(&path, "one.").unwrap();
        assert_eq!(reported.recv_timeout(LONG).unwrap(), "a.wasm: one.");
        scene.rename_into_place("a.wasm", "two.");
        assert_eq!(reported.recv_timeout(LONG).unwrap(), "a.wasm: two.");
        let bell = watcher.bell().clone();
        drop(watcher);
        // The thread held the sender.
        assert!(reported.recv_timeout(LONG).is_err());
        bell.ring();
        bell.scan();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_with_an_odd_name_is_refused_alone_and_all_others_go_on() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut scene = Scene::new();
    let units = scene.folder.path().to_owned();
    let long = format!("{}.wasm", "l".repeat(200));
    let odd: [&[u8]; 4] = [b"\xff.wasm", b"a\nb.wasm", b"a\\b.wasm", long.as_bytes()];
    for name in odd {
        fs::write(units.join(OsStr::from_bytes(name)), "one.").unwrap();
    }
    scene.rename_into_place("good.wasm", "one.");
    let told = scene.scan();
    let expected = [
        "\\xff.wasm has a name that is not UTF-8: give it another name",
        "a\\\\b.wasm has a control character or a backslash in its name: give it another name",
        "a\\nb.wasm has a control character or a backslash in its name: give it another name",
        "good.wasm: one.",
        &format!("{long} has a name of 205 bytes and the limit is 200: give it a shorter one"),
    ];
    let mut told: Vec<&str> = told.iter().map(String::as_str).collect();
    told.sort_unstable();
    assert_eq!(told, expected);
    let scan = scene.folder.scan(scene.now, &mut whole);
    assert!(scan.changes.is_empty(), "it is told of once");
    // What is told of can be written down.
    scene.rename_into_place("good.wasm", "two.");
    assert_eq!(scene.later(1), ["good.wasm: two."]);
    for name in odd {
        fs::remove_file(units.join(OsStr::from_bytes(name))).unwrap();
    }
    assert_eq!(scene.later(1), NOTHING);
    assert_eq!(scene.later(300).len(), 4, "they are gone");
}

#[test]
fn a_file_is_told_of_again_where_that_is_asked_for() {
    let mut scene = Scene::new();
    scene.rename_into_place("a.wasm", "one.");
    assert_eq!(scene.scan(), ["a.wasm: one."]);
    assert_eq!(scene.later(5000), NOTHING);
    scene.folder.look_again(&scene.path("a.wasm"), scene.now);
    assert_eq!(scene.later(1), ["a.wasm: one. (settled)"]);
    assert_eq!(scene.later(1), NOTHING);
}

#[test]
fn what_was_told_is_read_again_only_as_it_was() {
    let mut scene = Scene::new();
    scene.rename_into_place("a.wasm", "one.");
    scene.write("a.wasm.sig", "by me");
    let scan = scene.folder.scan(scene.now, &mut whole);
    let [Change::Seen(seen)] = &scan.changes[..] else {
        panic!("one file");
    };
    let (told, options) = (seen.told(), Options::units(1000));
    let again = told.read(&options).unwrap();
    assert_eq!((&again.bytes, &again.beside), (&seen.bytes, &seen.beside));
    scene.write("a.wasm.sig", "by you");
    assert!(told.read(&options).is_none());
    scene.write("a.wasm.sig", "by me");
    scene.write("a.wasm", "two.");
    assert!(told.read(&options).is_none());
}
