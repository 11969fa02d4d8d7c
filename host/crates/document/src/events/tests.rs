use std::sync::Arc;

use super::*;
use placewright_model::schema::Schema;

fn reader(file: &str) -> EventReader {
    EventReader::new(file, Schema::built_in(), ["a", "b"].map(Arc::from))
}

fn lines(text: &str) -> Result<Vec<FleetEvent>, String> {
    let mut reader = reader("e.jsonl");
    let events = (1..).zip(text.lines());
    let events = events.filter_map(|(number, line)| reader.line(number, line));
    let events: Vec<_> = events.collect();
    reader.finish().map_err(|problems| problems.to_string())?;
    Ok(events)
}

fn rows(text: &str) -> Result<Vec<FleetEvent>, String> {
    let mut reader = reader("e.csv");
    let mut lines = (1..).zip(text.lines().map(|line| line.split(',')));
    let (number, names) = lines.next().unwrap();
    reader.header(number, names);
    let events = lines.filter_map(|(number, cells)| reader.row(number, cells));
    let events: Vec<_> = events.collect();
    reader.finish().map_err(|problems| problems.to_string())?;
    Ok(events)
}

fn told(read: Result<Vec<FleetEvent>, String>) -> String {
    read.expect_err("it must be refused")
}

#[test]
fn rows_and_lines_say_the_same() {
    let lines = lines(
        r#"{"time": 10, "place": {"id": "7", "cpu": 4, "memory": "8 GiB", "tenant": "12", "pinned": ["a", "b"], "ha": true}}
{"time": 11, "statistics": [{"id": "a", "cpu.usage": 0.5}]}
{"time": 12, "changes": {"vms": [{"id": "7", "cpu.usage": 0.25}]}}
{"time": 12, "down": ["a"]}
{"time": 13, "up": ["a"]}
{"time": 14, "remove": ["7"]}
"#,
    );
    let rows = rows(
        "time,event,id,cpu,memory,tenant,pinned,ha,cpu.usage\n\
         10,place,7,4,8 GiB,12,a; b,true,\n\
         11,statistics,a,,,,,,0.5\n\
         12,vm,7,,,,,,0.25\n\
         12,down,a,,,,,,\n\
         13,up,a,,,,,,\n\
         14,remove,7,,,,,,\n",
    );
    let (lines, rows) = (lines.unwrap(), rows.unwrap());
    assert_eq!(lines.len(), 6);
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!((line.time, &line.change), (row.time, &row.change));
        assert_eq!(line.line + 1, row.line);
    }
    let FleetChange::Place(requests) = &lines[0].change else {
        panic!("{:?}", lines[0]);
    };
    assert_eq!(requests[0].members[0].facts.integer("cpu"), Some(4000));
    assert_eq!(requests[0].now, 10);
}

#[test]
fn times_are_seconds_or_rfc_3339() {
    let events = lines(
        "{\"time\": \"2026-11-20T12:00:00Z\", \"up\": [\"a\"]}\n\n{\"time\": 1795176001, \"up\": [\"a\"]}",
    );
    let times: Vec<(i64, u32)> = events
        .unwrap()
        .iter()
        .map(|it| (it.time, it.line))
        .collect();
    assert_eq!(times, [(1_795_176_000, 1), (1_795_176_001, 3)]);
}

#[test]
fn whatever_is_wrong_is_told_with_its_line() {
    let wrong = told(lines(
        "{\"time\": 1, \"remove\": [\"v\"]}\n{\"time\": 1, \"plaec\": {}}\n{\"time\": 1, \"place\": {\"id\": \"v\", \"colour\": 1}}",
    ));
    assert!(
        wrong.contains("e.jsonl:2:13: an event has no key \"plaec\" (did you mean \"place\"?)"),
        "{wrong}"
    );
    assert!(
        wrong.contains("e.jsonl:3:") && wrong.contains("a VM has no \"colour\""),
        "{wrong}"
    );
    let wrong = told(lines("{\"time\": 2, \"up\": [\"a\"], \"down\": [\"b\"]}"));
    assert!(wrong.contains("this one has 2 of them"), "{wrong}");
    let wrong = told(lines(
        "{\"time\": 2, \"up\": [\"a\"]}\n{\"time\": 1, \"up\": [\"a\"]}",
    ));
    assert!(
        wrong.contains("e.jsonl:2:1: events stand in order of time: this one is at 1, and the one of line 1 before it at 2"),
        "{wrong}"
    );
    let wrong = told(lines(
        "{\"time\": 2, \"place\": {\"id\": \"v\", \"now\": 3}}",
    ));
    assert!(wrong.contains("leave \"now\" out"), "{wrong}");
    let wrong = told(lines("{\"time\": 2, \"down\": [\"c\"]}"));
    assert!(wrong.contains("there is no host \"c\""), "{wrong}");
    let wrong = told(lines(
        "{\"time\": 2, \"place\": {\"id\": \"v\", \"allowed\": [\"c\"]}}",
    ));
    assert!(wrong.contains("there is no host \"c\""), "{wrong}");
}

#[test]
fn columns_are_those_of_vms_requests_and_hosts() {
    let wrong = told(rows("time,event,id,memry\n1,remove,v,\n"));
    assert!(
        wrong.contains("e.csv:1:1: events have no column \"memry\" (did you mean \"memory\"?)"),
        "{wrong}"
    );
    let wrong = told(rows("time,event\n"));
    assert!(
        wrong.contains("e.csv:1:1: events need a column \"id\""),
        "{wrong}"
    );
    let wrong = told(rows("time,event,id,cpu\n1,leave,v,\n2,remove,v,4\n"));
    assert!(
        wrong.contains("e.csv:2:1: \"event\" must be \"place\""),
        "{wrong}"
    );
    assert!(
        wrong.contains("e.csv:3:1: \"cpu\" of a VM or host is given with"),
        "{wrong}"
    );
    let wrong = told(rows(
        "time,event,id,memory.free\n1,place,v,5\n2,statistics,a,5\n",
    ));
    assert!(
        wrong.contains("e.csv:2:1: a VM has no \"memory.free\"") && !wrong.contains("e.csv:3"),
        "{wrong}"
    );
}

#[test]
fn hosts_that_come_may_fail() {
    let text = r#"{"time": 1, "changes": {"hosts": [{"id": "c", "cpu.cores": 8}]}}
{"time": 2, "down": ["c"]}
{"time": 3, "changes": {"gone": {"hosts": ["c"]}}}"#;
    assert_eq!(lines(text).unwrap().len(), 3);
    let wrong = told(lines(&format!("{text}\n{{\"time\": 4, \"up\": [\"c\"]}}")));
    assert!(wrong.contains("e.jsonl:4:"), "{wrong}");
}
