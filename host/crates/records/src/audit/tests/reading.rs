//! The log, read the newest record first.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use crate::audit::read::{Bounds, read_within};

/// A log of several files.
fn rotated() -> (TempDir, AuditFileOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = AuditFileOptions {
        size: 1500,
        ..options(&folder)
    };
    write(&options, 1..=30);
    assert!(full_files(&options.path).unwrap().len() > 3);
    (folder, options)
}

/// All pages of so many records.
fn pages(path: &Path, wanted: &Wanted, bounds: Bounds) -> Vec<AuditPage> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = read_within(path, wanted, after, bounds).unwrap();
        let next = page.next.as_ref().map(|next| next.parse().unwrap());
        pages.push(page);
        if next.is_none() {
            return pages;
        }
        assert!(after.is_none_or(|after| next.unwrap() < after), "{pages:?}");
        after = next;
    }
}

fn of(entries: usize) -> Bounds {
    Bounds {
        entries,
        looked_at: 1 << 30,
    }
}

fn sequences(pages: &[AuditPage]) -> Vec<u64> {
    let items = pages.iter().flat_map(|page| &page.items);
    items.map(|entry| entry.sequence).collect()
}

/// Kind of a gap, number of the record after it, and how many are missing.
type Told = (GapKind, Option<u64>, Option<u64>);

fn gaps(pages: &[AuditPage]) -> Vec<Told> {
    let gaps = pages.iter().flat_map(|page| &page.gaps);
    gaps.map(|gap| (gap.kind, gap.before, gap.records))
        .collect()
}

fn everything(path: &Path) -> AuditPage {
    let all = pages(path, &Wanted::default(), of(1000));
    assert_eq!(all.len(), 1);
    all.into_iter().next().unwrap()
}

#[test]
fn pages_together_are_the_log_the_newest_first() {
    let (_folder, options) = rotated();
    let last = check(&options).last.unwrap().sequence;
    let expected: Vec<u64> = (1..=last).rev().collect();
    for entries in [1, 2, 7, 1000] {
        let pages = pages(&options.path, &Wanted::default(), of(entries));
        assert_eq!(sequences(&pages), expected, "{entries}");
        assert_eq!(gaps(&pages), [], "{entries}");
        assert!(pages.iter().all(|page| page.items.len() <= entries));
        // None is empty.
        assert_eq!(pages.len(), expected.len().div_ceil(entries), "{entries}");
    }
}

#[test]
fn a_record_is_read_as_it_was_written_and_says_what_came_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    let audit = open(&options);
    let call = |status: Option<u16>| Record {
        kind: Kind::Call,
        origin: Origin::Api,
        by: Some("alice".into()),
        method: Some("POST".to_owned()),
        route: Some("/v1/clusters/{cluster}/place".into()),
        path: Some("/v1/clusters/mine/place".to_owned()),
        cluster: Some("mine".into()),
        vms: Some("<b>v</b>".to_owned()),
        decision: Some(7),
        status,
        ..Record::default()
    };
    for status in [Some(200), Some(409), Some(403), None] {
        audit.record(call(status));
    }
    audit.record(Record {
        kind: Kind::Refusal,
        status: Some(303),
        ..Record::default()
    });
    audit.record(Record::server("word", "a sentence"));
    assert!(audit.end(LONG));
    let page = everything(&options.path);
    let results: Vec<Option<Outcome>> = page.items.iter().map(|it| it.result).collect();
    let refused = Some(Outcome::Refused);
    let calls = [Some(Outcome::Unanswered), refused, Some(Outcome::Failed)];
    assert_eq!(results[..2], [None, refused]);
    assert_eq!(results[2..5], calls);
    assert_eq!(results[5], Some(Outcome::Done));
    let first = page.items.last().unwrap();
    assert_eq!(first.vms.as_deref(), Some("<b>v</b>"));
    assert_eq!((first.decision, first.status), (Some(7), Some(200)));
    let text = fs::read_to_string(&options.path).unwrap();
    let written: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mut shown = serde_json::to_value(first).unwrap();
    shown.as_object_mut().unwrap().remove("result");
    let hidden = ["previous"];
    for (key, value) in written.as_object().unwrap() {
        assert!(hidden.contains(&&**key) || shown[key] == *value, "{key}");
    }
    let read = |wanted: Wanted| sequences(&pages(&options.path, &wanted, of(2)));
    let text = |text: &str| Some(text.to_owned());
    let wanted = Wanted {
        result: refused,
        ..Wanted::default()
    };
    assert_eq!(read(wanted), [5, 3]);
    let wanted = Wanted {
        action: text("post /V1/clusters/"),
        status: Some(409),
        ..Wanted::default()
    };
    assert_eq!(read(wanted), [2]);
    let wanted = Wanted {
        text: text("<B>V"),
        cluster: text("mine"),
        by: text("alice"),
        kind: Some(Kind::Call),
        ..Wanted::default()
    };
    assert_eq!(read(wanted), [4, 3, 2, 1]);
    for wanted in [
        Wanted {
            by: text("alic"),
            ..Wanted::default()
        },
        Wanted {
            cluster: text("mine too"),
            ..Wanted::default()
        },
    ] {
        assert!(read(wanted).is_empty());
    }
}

/// Write records of these seconds since 1970, as a server that ran then would have.
fn write_at(path: &Path, seconds: impl IntoIterator<Item = u64>) {
    let mut head = chain::Head::default();
    let mut file = fs::File::create(path).unwrap();
    for second in seconds {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let json = Record::server("word", second.to_string()).json();
        let line = chain::line(&mut head, at, 0, &json);
        file.write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn of_a_span_of_time_no_more_is_looked_at_than_what_lies_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    // Every tenth comes later than the ones after it, as one that waited for its place.
    let second = |number: u64| number * 10 - if number.is_multiple_of(10) { 25 } else { 0 };
    write_at(&path, (1..=20_000).map(second));
    let at = |second| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
    for (since, until) in [
        (50_000, 50_500),
        (0, 300),
        (199_000, 300_000),
        (120_001, 120_001),
    ] {
        let wanted = Wanted {
            since: at(since),
            until: at(until),
            ..Wanted::default()
        };
        let pages = pages(&path, &wanted, of(17));
        let is_in = |number: &u64| (since..=until).contains(&second(*number));
        let expected: Vec<u64> = (1..=20_000).rev().filter(is_in).collect();
        assert_eq!(sequences(&pages), expected, "{since} to {until}");
        let searched: u64 = pages.iter().map(|page| page.searched).sum();
        // A block of the file at its end, and what may be out of its order.
        assert!(searched < expected.len() as u64 + 400, "{searched}");
    }
    let never = Wanted {
        since: at(u64::from(u32::MAX) << 12),
        until: at(u64::from(u32::MAX) << 12),
        ..Wanted::default()
    };
    assert!(sequences(&pages(&path, &never, of(10))).is_empty());
}

#[test]
fn a_page_ends_where_enough_was_looked_at_and_the_next_one_goes_on() {
    let (_folder, options) = rotated();
    let wanted = Wanted {
        text: Some("nothing has this".to_owned()),
        ..Wanted::default()
    };
    let bounds = Bounds {
        entries: 10,
        looked_at: 1000,
    };
    let found = pages(&options.path, &wanted, bounds);
    assert!(found.len() > 5, "{found:?}");
    assert!(found.iter().all(|page| page.items.is_empty()));
    let searched: u64 = found.iter().map(|page| page.searched).sum();
    assert_eq!(searched, check(&options).records);
    // Not even one line may be looked at: one is all the same, or there would be no end.
    let none = Bounds {
        looked_at: 0,
        ..bounds
    };
    let found = pages(&options.path, &wanted, none);
    assert_eq!(found.len() as u64, searched);
}

#[test]
fn where_records_are_not_as_they_were_written_is_said_whatever_is_wanted() {
    let (_folder, options) = ten();
    let whole = fs::read_to_string(&options.path).unwrap();
    let nothing = Wanted {
        by: Some("nobody".to_owned()),
        ..Wanted::default()
    };
    type Edit = fn(&mut Vec<String>);
    let edits: [(Edit, Told); 5] = [
        (
            |lines| drop(lines.drain(3..5)),
            (GapKind::Missing, Some(6), Some(2)),
        ),
        (
            |lines| lines[3] = lines[3].replace("\"message\":\"4\"", "\"message\":\"5\""),
            (GapKind::Unreadable, Some(5), Some(1)),
        ),
        (
            |lines| lines[0] = "no record".to_owned(),
            (GapKind::Unreadable, Some(2), Some(1)),
        ),
        (
            |lines| drop(lines.drain(..3)),
            (GapKind::Removed, Some(4), Some(3)),
        ),
        (|lines| lines.truncate(8), (GapKind::Missing, None, Some(2))),
    ];
    for (change, expected) in edits {
        fs::write(&options.path, &whole).unwrap();
        edit(&options.path, change);
        for entries in [1, 100] {
            let all = pages(&options.path, &Wanted::default(), of(entries));
            assert_eq!(gaps(&all), [expected], "{all:?}");
        }
        let none = pages(&options.path, &nothing, of(100));
        assert_eq!(gaps(&none), [expected], "{none:?}");
    }
    // One that was put in with a hash that fits does not fit those beside it.
    fs::write(&options.path, &whole).unwrap();
    edit(&options.path, |lines| {
        let mut head = chain::read(lines[2].as_bytes()).unwrap().head;
        let forged = chain::line(&mut head, SystemTime::now(), 0, "{\"what\":\"forged\"}");
        lines[3] = forged.trim_end().to_owned();
    });
    let all = pages(&options.path, &Wanted::default(), of(100));
    let forged = (GapKind::Unreadable, Some(4), Some(1));
    assert_eq!(
        gaps(&all),
        [(GapKind::Unreadable, Some(5), None), forged],
        "{all:?}"
    );
}

#[test]
fn records_that_were_lost_are_told_of_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let mut head = chain::Head::default();
    let json = || Record::server("word", "").json();
    let lines = [0, 7, 0].map(|lost| chain::line(&mut head, SystemTime::now(), lost, &json()));
    fs::write(&path, lines.concat()).unwrap();
    let page = everything(&path);
    let pages = std::slice::from_ref(&page);
    assert_eq!(gaps(pages), [(GapKind::Lost, Some(2), Some(7))]);
    assert_eq!(page.items[1].lost, 7);
}

#[test]
fn what_is_half_written_and_what_was_set_aside_are_read_as_far_as_they_are_records() {
    let (_folder, options) = ten();
    edit(&options.path, |lines| {
        lines[9] = lines[9].replace("\"message\":\"10\"", "\"message\":\"11\"");
    });
    write(&options, [11]);
    let mut file = fs::File::options().append(true).open(&options.path);
    file.as_mut().unwrap().write_all(b"{\"hash\":\"00").unwrap();
    for entries in [1, 3, 100] {
        let pages = pages(&options.path, &Wanted::default(), of(entries));
        let sequences = sequences(&pages);
        assert_eq!(
            sequences[sequences.len() - 9..],
            [9, 8, 7, 6, 5, 4, 3, 2, 1]
        );
        assert!(sequences[0] >= 11, "{sequences:?}");
        assert_eq!(gaps(&pages), [(GapKind::Unreadable, Some(11), Some(1))]);
    }
}

#[test]
fn a_line_without_end_takes_no_memory_without_end() {
    let (_folder, options) = ten();
    let text = fs::read_to_string(&options.path).unwrap();
    let long = format!("{}\n{text}", "x".repeat(5 << 20));
    fs::write(&options.path, long).unwrap();
    let page = everything(&options.path);
    assert_eq!(page.items.len(), 10);
    assert_eq!(page.gaps[0].kind, GapKind::Unreadable, "{:?}", page.gaps);
}

#[test]
fn a_log_that_is_written_meanwhile_has_no_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let options = AuditFileOptions {
        size: 20_000,
        ..options(&folder)
    };
    let audit = open(&options);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..3000 {
                audit.record(Record::server("word", number.to_string()));
            }
            assert!(audit.flush(LONG));
            is_over.store(true, std::sync::atomic::Ordering::Release);
        });
        while !is_over.load(std::sync::atomic::Ordering::Acquire) {
            let pages = pages(&options.path, &Wanted::default(), of(100));
            assert_eq!(gaps(&pages), []);
            let found = sequences(&pages);
            assert!(found.windows(2).all(|two| two[0] == two[1] + 1));
        }
    });
    assert!(audit.end(LONG));
    let all = pages(&options.path, &Wanted::default(), of(1000));
    assert_eq!(sequences(&all).len() as u64, check(&options).records);
}

#[test]
fn a_log_is_read_while_its_file_has_become_a_full_one_and_the_next_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    write(&options, 1..=10);
    let whole = sequences(&pages(&options.path, &Wanted::default(), of(100)));
    let full = options
        .path
        .with_file_name(format!("audit.{:020}.jsonl", 1));
    fs::rename(&options.path, full).unwrap();
    let found = pages(&options.path, &Wanted::default(), of(100));
    assert_eq!(sequences(&found), whole);
    assert!(whole.len() >= 10);
    assert_eq!(gaps(&found), []);
}

#[test]
fn a_log_without_any_file_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = options(&folder).path;
    assert!(read_within(&path, &Wanted::default(), None, of(10)).is_err());
}
