//! Files that cannot be used are refused with a sentence, and left as they are.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use rusqlite::Connection;

use super::super::schema::{MIGRATIONS, migrate};
use super::*;

fn refused(folder: &Path) -> String {
    Store::open(folder, small()).unwrap_err().to_string()
}

#[test]
fn a_folder_is_used_by_one_store_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/data");
    let store = open(&path);
    assert_eq!(
        refused(&path),
        format!(
            "{} is in use by another server (process {}); stop that one, or name another data folder",
            path.display(),
            std::process::id()
        )
    );
    drop(store);
    open(&path);
}

#[test]
fn a_closed_store_is_free_even_if_a_forked_process_still_has_its_lock_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let super::super::writer::Place::Folder(place) = &store.0.shared.folder else {
        unreachable!("it was opened in a folder");
    };
    // Shares the lock, as what a forked process inherits does.
    let _inherited = place.lock.try_clone().unwrap();
    drop(store);
    open(folder.path());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_lock_or_the_database_is_refused_and_its_target_is_as_it_was() {
    for name in ["placewright.lock", "placewright.db"] {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "what matters").unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&precious, data.join(name)).unwrap();
        let why = refused(&data);
        assert!(why.contains(name) && why.contains("it is a link"), "{why}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "what matters");
    }
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store = open(&path);
    store.commit(vec![setting("a", "1")]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for entry in fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let text = refused(&file.join("data"));
    let begin = format!("cannot use {} for the data: ", file.join("data").display());
    assert!(text.starts_with(&begin), "{text}");
    assert!(text.ends_with("or name another data folder"), "{text}");
}

#[test]
fn a_file_of_a_later_version_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placewright.db");
    open(folder.path()).commit(vec![setting("a", "1")]).unwrap();
    let base = Connection::open(&file).unwrap();
    base.pragma_update(None, "user_version", 99).unwrap();
    drop(base);
    assert_eq!(
        refused(folder.path()),
        format!(
            "{} has version 99, and this program knows versions up to {}; use the program that wrote it or a later one",
            file.display(),
            MIGRATIONS.len()
        )
    );
    let base = Connection::open(&file).unwrap();
    base.pragma_update(None, "user_version", MIGRATIONS.len() as i64)
        .unwrap();
    drop(base);
    assert_eq!(open(folder.path()).load().unwrap().settings["a"], "1");
}

#[test]
fn a_database_of_another_program_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placewright.db");
    let base = Connection::open(&file).unwrap();
    base.execute_batch("CREATE TABLE recipes (name TEXT)")
        .unwrap();
    drop(base);
    let text = refused(folder.path());
    assert!(text.contains("not one of placewright"), "{text}");
    let base = Connection::open(&file).unwrap();
    base.execute("INSERT INTO recipes VALUES ('soup')", ())
        .unwrap();
}

#[test]
fn a_file_that_is_no_database_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placewright.db");
    fs::write(
        &file,
        "no database, but long enough to be one. ".repeat(200),
    )
    .unwrap();
    let error = Store::open(folder.path(), small()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let begin = format!("{} is damaged: ", file.display());
    assert!(error.to_string().starts_with(&begin), "{error}");
}

#[test]
fn a_damaged_page_is_reported_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut changes = vec![put_cluster("a")];
    changes.extend((0..2_000).map(|n| put_vm("a", &format!("vm-{n:04}"), &"x".repeat(300))));
    store.commit(changes).unwrap();
    drop(store);
    let file = folder.path().join("placewright.db");
    let length = fs::metadata(&file).unwrap().len();
    let mut opened = fs::OpenOptions::new().write(true).open(&file).unwrap();
    opened.seek(SeekFrom::Start(length / 4)).unwrap();
    opened.write_all(&vec![0xaa; length as usize / 2]).unwrap();
    let store = open(folder.path());
    let error = store.inventory("a").unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(store.health(), Health::Fails(error.to_string()));
    let error = store
        .commit(vec![put_vm("a", "vm-1000", "{}")])
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    // What is on other pages can still be kept, and the damage is still told of.
    store.commit(vec![setting("a", "1")]).unwrap();
    assert!(matches!(store.health(), Health::Fails(_)));
}

#[test]
fn a_migration_that_fails_leaves_the_version_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("base.db");
    let mut base = Connection::open(&file).unwrap();
    let good = "CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1);";
    let bad = "UPDATE one SET a = 2; INSERT INTO missing VALUES (3);";
    let better = "UPDATE one SET a = a + 10;";
    migrate(&mut base, &file, &[good]).unwrap();
    migrate(&mut base, &file, &[good, bad]).unwrap_err();
    let state = |base: &Connection| {
        let a: i64 = base
            .query_row("SELECT a FROM one", (), |row| row.get(0))
            .unwrap();
        let version: i64 = base
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        (a, version)
    };
    assert_eq!(state(&base), (1, 1));
    migrate(&mut base, &file, &[good, better, better]).unwrap();
    migrate(&mut base, &file, &[good, better, better]).unwrap();
    assert_eq!(state(&base), (21, 3));
}

#[test]
fn commits_wait_for_the_disk_only_if_they_are_to_outlast_a_loss_of_power() {
    // 1: the log is synced before it is folded in; 2: at each commit.
    for (durability, expected) in [(Durability::Process, 1), (Durability::Power, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions {
            durability,
            ..small()
        };
        let store = Store::open(folder.path(), options).unwrap();
        let synchronous: i64 = store
            .0
            .shared
            .base()
            .pragma_query_value(None, "synchronous", |row| row.get(0))
            .unwrap();
        assert_eq!(synchronous, expected);
    }
}
