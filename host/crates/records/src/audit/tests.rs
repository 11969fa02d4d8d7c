mod reading;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::audit::file::{full_files, head_path};

const LONG: Duration = Duration::from_secs(60);

fn options(folder: &TempDir) -> AuditFileOptions {
    AuditFileOptions {
        path: folder.path().join("audit.jsonl"),
        size: 1 << 30,
        files: 100,
        age: Duration::ZERO,
        spare: 0,
    }
}

fn open(options: &AuditFileOptions) -> Audit {
    let destination = Destination::File(options.clone());
    Audit::open(&destination, AuditMetrics::default()).unwrap()
}

/// Write records, each by itself, and end.
fn write(options: &AuditFileOptions, words: impl IntoIterator<Item = u64>) {
    let audit = open(options);
    for word in words {
        audit.record(Record::server("word", word.to_string()));
        assert!(audit.flush(LONG));
    }
    assert!(audit.end(LONG));
}

fn check(options: &AuditFileOptions) -> Verified {
    verify(std::slice::from_ref(&options.path), None).unwrap()
}

/// Line and reason of the first break.
fn broken(options: &AuditFileOptions) -> (PathBuf, u64, String) {
    let verified = check(options);
    assert!(!verified.intact, "{verified:?}");
    let broken = verified.broken.unwrap();
    (broken.file, broken.line, broken.why)
}

fn edit(path: &Path, edit: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    edit(&mut lines);
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

fn ten() -> (TempDir, AuditFileOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    write(&options, 1..=10);
    let verified = check(&options);
    assert!(verified.intact && verified.end_compared, "{verified:?}");
    assert_eq!((verified.records, verified.first), (10, Some(1)));
    (folder, options)
}

#[test]
fn a_record_is_hashed_as_the_documents_say() {
    let (_folder, options) = ten();
    let text = fs::read_to_string(&options.path).unwrap();
    let mut previous = "0".repeat(64);
    for (line, number) in text.lines().zip(1..) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["sequence"], number);
        assert_eq!(value["previous"], *previous);
        let begin = format!("{{\"hash\":\"{}\",", value["hash"].as_str().unwrap());
        let hashed = line.strip_prefix(&begin).unwrap();
        use sha2::Digest;
        previous = hex::encode(sha2::Sha256::digest(hashed));
        assert_eq!(value["hash"], *previous);
    }
}

#[test]
#[cfg(unix)]
fn nobody_else_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let options = AuditFileOptions {
        size: 1000,
        ..options(&folder)
    };
    write(&options, 1..=20);
    let mut paths = full_files(&options.path).unwrap();
    assert!(!paths.is_empty());
    paths.extend([options.path.clone(), head_path(&options.path)]);
    for path in paths {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn an_edited_record_is_found() {
    let (_folder, options) = ten();
    edit(&options.path, |lines| {
        lines[3] = lines[3].replace("\"message\":\"4\"", "\"message\":\"5\"");
    });
    let (file, line, why) = broken(&options);
    assert_eq!((file, line), (options.path.clone(), 4));
    assert!(why.contains("was changed"), "{why}");
}

#[test]
fn an_edited_record_with_a_hash_that_fits_is_found_at_the_next_one() {
    let (_folder, options) = ten();
    edit(&options.path, |lines| {
        let mut head = chain::Head {
            sequence: 3,
            hash: chain::read(lines[2].as_bytes()).unwrap().head.hash,
        };
        let forged = chain::line(&mut head, SystemTime::now(), 0, "{\"what\":\"forged\"}");
        lines[3] = forged.trim_end().to_owned();
    });
    let (_, line, why) = broken(&options);
    assert_eq!(line, 5);
    assert!(why.contains("does not follow"), "{why}");
}

#[test]
fn a_removed_and_a_swapped_record_are_found() {
    let (_folder, options) = ten();
    let whole = fs::read_to_string(&options.path).unwrap();
    edit(&options.path, |lines| drop(lines.remove(5)));
    let (_, line, why) = broken(&options);
    assert_eq!(line, 6);
    assert!(
        why.contains("it is record 7, and the one before is 5"),
        "{why}"
    );
    fs::write(&options.path, whole).unwrap();
    edit(&options.path, |lines| lines.swap(7, 8));
    assert_eq!(broken(&options).1, 8);
}

#[test]
fn a_cut_end_is_found_and_a_server_that_goes_on_after_it_does_not_hide_it() {
    let (_folder, options) = ten();
    edit(&options.path, |lines| lines.truncate(8));
    let (_, _, why) = broken(&options);
    assert!(why.contains("records up to 10 were written"), "{why}");
    write(&options, [11]);
    let (_, line, why) = broken(&options);
    assert_eq!(line, 9);
    assert!(
        why.contains("it is record 11, and the one before is 8"),
        "{why}"
    );
    let text = fs::read_to_string(&options.path).unwrap();
    assert!(text.contains("\"what\":\"end-missing\""), "{text}");
}

#[test]
fn a_log_that_was_removed_altogether_is_found() {
    let (_folder, options) = ten();
    fs::remove_file(&options.path).unwrap();
    write(&options, [11]);
    let (_, line, why) = broken(&options);
    assert_eq!(line, 1);
    assert!(why.contains("records missing before it"), "{why}");
}

#[test]
fn a_last_line_that_was_edited_is_set_aside_and_found() {
    let (_folder, options) = ten();
    edit(&options.path, |lines| {
        lines[9] = lines[9].replace("\"message\":\"10\"", "\"message\":\"11\"");
    });
    write(&options, [11]);
    let (file, line, why) = broken(&options);
    let name = file.file_name().unwrap().to_string_lossy();
    assert!(name.ends_with("-broken.jsonl"), "{name}");
    assert_eq!(line, 10);
    assert!(why.contains("was changed"), "{why}");
}

#[test]
fn the_chain_goes_on_over_restarts_and_files_and_the_oldest_files_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let options = AuditFileOptions {
        size: 1500,
        files: 3,
        ..options(&folder)
    };
    for round in 0..10 {
        write(&options, round * 10..round * 10 + 10);
    }
    let verified = check(&options);
    assert!(verified.intact, "{verified:?}");
    assert_eq!(verified.files.len(), 3);
    let (first, last) = (verified.first.unwrap(), verified.last.unwrap().sequence);
    assert!(first > 1 && last > 100, "{first} {last}");
    assert_eq!(verified.records, last - first + 1);
    // One of them is missing.
    fs::remove_file(&full_files(&options.path).unwrap()[1]).unwrap();
    let (file, line, _) = broken(&options);
    assert_eq!((file, line), (options.path.clone(), 1));
}

#[test]
fn no_file_is_removed_before_its_time_unless_the_disk_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let young = AuditFileOptions {
        size: 1500,
        files: 3,
        age: Duration::from_secs(3600),
        ..options(&folder)
    };
    write(&young, 0..50);
    let verified = check(&young);
    assert!(verified.intact && verified.first == Some(1), "{verified:?}");
    assert!(verified.files.len() > 8, "{verified:?}");
    // Those that are old enough go; the others do as soon as there is no room.
    let full = full_files(&young.path).unwrap();
    let old = SystemTime::now() - Duration::from_secs(7200);
    for file in &full[..4] {
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_modified(old).unwrap();
    }
    write(&young, 0..10);
    let left = full_files(&young.path).unwrap();
    assert_eq!(left.first(), full.get(4));
    let crowded = AuditFileOptions {
        spare: u64::MAX,
        ..young
    };
    write(&crowded, 0..10);
    let verified = check(&crowded);
    assert!(verified.intact, "{verified:?}");
    assert_eq!(verified.files.len(), 3);
}

#[test]
fn after_a_torn_last_record_the_chain_goes_on() {
    let (_folder, options) = ten();
    let mut bytes = fs::read(&options.path).unwrap();
    // As if it was killed while it wrote the eleventh.
    bytes.extend_from_slice(b"{\"hash\":\"00");
    fs::write(&options.path, &bytes).unwrap();
    let verified = check(&options);
    assert!(verified.intact, "{verified:?}");
    assert_eq!(verified.torn, 11);
    write(&options, [11]);
    let verified = check(&options);
    assert!(verified.intact, "{verified:?}");
    assert_eq!((verified.records, verified.torn), (12, 0));
    let text = fs::read_to_string(&options.path).unwrap();
    assert!(text.contains("\"what\":\"torn\""), "{text}");
}

#[test]
fn a_record_without_the_end_of_its_line_is_a_whole_one() {
    let (_folder, options) = ten();
    let mut bytes = fs::read(&options.path).unwrap();
    bytes.pop();
    fs::write(&options.path, &bytes).unwrap();
    write(&options, [11]);
    let verified = check(&options);
    assert!(verified.intact, "{verified:?}");
    assert_eq!(verified.records, 11);
}

#[test]
fn a_whole_log_that_was_made_up_lacks_the_hash_that_was_kept_elsewhere() {
    let (_folder, options) = ten();
    let kept = check(&options).last.unwrap().hash;
    let path = std::slice::from_ref(&options.path);
    assert!(verify(path, Some(kept)).unwrap().intact);
    fs::remove_file(&options.path).unwrap();
    fs::remove_file(head_path(&options.path)).unwrap();
    write(&options, 1..=10);
    assert!(verify(path, None).unwrap().intact);
    let verified = verify(path, Some(kept)).unwrap();
    assert!(!verified.intact, "{verified:?}");
}

#[test]
fn a_second_server_does_not_write_the_same_log() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    let first = open(&options);
    let second = Audit::open(&Destination::File(options), AuditMetrics::default());
    let error = second.unwrap_err().to_string();
    assert!(error.contains("another server"), "{error}");
    drop(first);
}

/// Takes nothing until it is told to.
struct Stuck(Arc<std::sync::Mutex<(bool, Vec<u8>)>>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = self.0.lock().unwrap();
        if !taken.0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        taken.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_full_disk_and_a_full_queue_lose_is_counted_in_a_metric_and_in_a_record() {
    let taken = Arc::new(std::sync::Mutex::new((false, Vec::new())));
    let sink = Sink::Stream(Box::new(Stuck(taken.clone())) as Box<dyn Write + Send>);
    let metrics = AuditMetrics::default();
    let audit = Audit::start(sink, None, metrics.clone(), 4).unwrap();
    // While nothing can be written nobody waits: what the writer has not taken and the queue has
    // no room for is lost.
    for number in 0..100 {
        audit.record(Record::server("word", number.to_string()));
    }
    assert!(metrics.lost.get() > 0);
    let begin = Instant::now();
    while metrics.failures.get() == 0 {
        assert!(begin.elapsed() < LONG, "no write has failed");
        thread::sleep(Duration::from_millis(1));
    }
    taken.lock().unwrap().0 = true;
    audit.record(Record::server("word", "last"));
    assert!(audit.flush(LONG));
    assert!(audit.end(LONG));
    let text = String::from_utf8(taken.lock().unwrap().1.clone()).unwrap();
    let (mut records, mut lost, mut head) = (0, 0, chain::Head::default());
    for line in text.lines() {
        let link = chain::read(line.as_bytes()).unwrap();
        assert_eq!(link.previous, head.hash);
        head = link.head;
        records += u64::from(link.what == "word");
        lost += link.lost;
    }
    assert_eq!(lost, metrics.lost.get());
    assert_eq!(records + lost, 101);
}

/// Takes what comes as long as nobody holds the lock.
struct Slow(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_change_waits_for_a_place_and_what_changed_nothing_is_counted() {
    let taken = Arc::new(std::sync::Mutex::new(Vec::new()));
    let held = taken.lock().unwrap();
    let sink = Sink::Stream(Box::new(Slow(taken.clone())) as Box<dyn Write + Send>);
    let metrics = AuditMetrics::default();
    let audit = Audit::start(sink, None, metrics.clone(), 4).unwrap();
    let changes = audit.clone();
    let changing = thread::spawn(move || {
        for number in 0..1000 {
            changes.record(Record::server("change", number.to_string()));
        }
    });
    // The queue is full once this has no place.
    let source = Source {
        token: Some("alice".into()),
        address: None,
    };
    let noise =
        || audit.record_unchanged(&source, Unchanged::Failed, || Record::server("noise", ""));
    let recorded = (0..u64::MAX).take_while(|_| noise()).count() as u64;
    drop(held);
    changing.join().unwrap();
    assert!(audit.end(LONG));
    let text = String::from_utf8(taken.lock().unwrap().clone()).unwrap();
    let count = |what| text.matches(&format!("\"what\":\"{what}\"")).count() as u64;
    assert_eq!((count("change"), metrics.lost.get()), (1000, 0));
    assert_eq!(count("noise"), recorded);
    assert!(text.contains("\"left-out\":1,"), "{text}");
    assert!(text.contains("1 of the token \\\"alice\\\""), "{text}");
}
