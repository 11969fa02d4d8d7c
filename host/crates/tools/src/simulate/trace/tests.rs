use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const PACKING: &str = "vm,tenant,core_u,ram_u,prio,start_s,end_s\n";

fn packing(rows: &str) -> Result<Trace, TraceError> {
    let text = format!("{PACKING}{rows}");
    Trace::read("t.csv", std::io::Cursor::new(text))
}

fn message(rows: &str) -> String {
    packing(rows).map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
fn sizes_are_read_in_millicores_and_bytes() {
    let trace = packing("0,7,42,7,0,-1,-1\n1,7,200,28,1,60,90\n").unwrap();
    assert_eq!(trace.form, Form::AzurePacking2020);
    assert_eq!(
        trace.vms[0],
        TraceVm {
            line: 2,
            tenant: Some("7".into()),
            cpu: 420,
            memory: 7 << 28,
            start: -1,
            end: None,
        }
    );
    assert_eq!((trace.vms[1].cpu, trace.vms[1].end), (2000, Some(90)));
}

#[test]
fn a_vm_that_would_end_at_its_start_ends_one_second_after() {
    let trace = packing("0,0,1,1,0,60,60\n1,0,1,1,0,60,10\n2,0,1,1,0,-1,0\n").unwrap();
    let ends: Vec<_> = trace.vms.iter().map(|vm| vm.end).collect();
    assert_eq!(ends, [Some(61), Some(61), Some(0)]);
}

#[test]
fn vms_of_the_other_scale_are_left_out() {
    let trace = packing("0,0,2,8,0,0,9\n1,0,2,7,0,0,9\n").unwrap();
    assert_eq!((trace.vms.len(), trace.other_scale), (1, 1));
    assert_eq!(trace.vms[0].line, 3);
}

#[test]
fn gzip_is_told_by_its_first_bytes() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    writeln!(gzip, "{PACKING}0,0,1,1,0,0,9").unwrap();
    let bytes = gzip.finish().unwrap();
    let cut = bytes[..bytes.len() / 2].to_vec();
    assert_eq!(
        Trace::read("t", std::io::Cursor::new(bytes))
            .unwrap()
            .vms
            .len(),
        1
    );
    let error = Trace::read("t", std::io::Cursor::new(cut)).unwrap_err();
    assert!(error.to_string().starts_with("cannot read t: "), "{error}");
}

#[test]
fn a_field_that_is_wrong_is_named_with_line_and_column() {
    assert_eq!(
        message("0,0,30,7,0,0,9\n1,0,many,7,0,0,9\n"),
        "t.csv, line 3, column 3 (core_u): \"many\" is not a whole number, 0 or more, that a host could have"
    );
    assert_eq!(
        message("0,0,30,7,0,0,-2\n"),
        "t.csv, line 2, column 7 (end_s): \"-2\" is not a time in whole seconds, 0 or more, or -1"
    );
    for row in [
        "0,0,-1,7,0,0,9",
        "0,0,1,9007199254740991,0,0,9",
        "0,0,1.5,1,0,0,9",
        "0,0,,1,0,0,9",
    ] {
        assert!(message(row).starts_with("t.csv, line 2, column "), "{row}");
    }
}

#[test]
fn a_row_of_another_length_is_named_with_its_line() {
    assert_eq!(
        message("0,0,30,7,0,0,9\n1,0,30\n"),
        "t.csv, line 3: 3 fields, where the header names 7 columns"
    );
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let mut bytes = PACKING.as_bytes().to_vec();
    bytes.extend(b"0,\xff,30,7,0,0,9\n");
    let error = Trace::read("t.csv", std::io::Cursor::new(bytes)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.csv, line 2: field 2 is not text in UTF-8"
    );
}

#[test]
fn a_file_of_another_form_is_told_what_the_forms_are() {
    let error = Trace::read("x.csv", "a,b\n1,2\n".as_bytes()).unwrap_err();
    assert!(error.to_string().ends_with("and it names a,b"), "{error}");
    let error = Trace::read("x.csv", "".as_bytes()).unwrap_err();
    assert!(error.to_string().ends_with("and it names none"), "{error}");
    assert_eq!(message(""), "t.csv has no VM that can be replayed");
}

#[test]
fn flavors_are_looked_for_beside_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("vms.csv");
    std::fs::write(
        &trace,
        "vm,batch,flavor,start_s,dur_s\n0,0,a,0,300\n1,0,b,5,-1\n2,0,a,5,0\n",
    )
    .unwrap();
    let error = Trace::open(&trace, None).unwrap_err();
    assert!(matches!(error, TraceError::NoFlavors { .. }), "{error}");
    std::fs::write(
        folder.path().join("flavors.csv"),
        "flavor,cores,ram_qgib\na,1,3\nb,2,56\n",
    )
    .unwrap();
    let trace = Trace::open(&trace, None).unwrap();
    assert_eq!(trace.form, Form::AzureV1);
    let sizes: Vec<_> = trace
        .vms
        .iter()
        .map(|vm| (vm.cpu, vm.memory, vm.end))
        .collect();
    assert_eq!(
        sizes,
        [
            (1000, 3 << 28, Some(300)),
            (2000, 56 << 28, None),
            (1000, 3 << 28, Some(6))
        ]
    );
}

#[test]
fn a_flavor_that_is_not_in_the_table_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, flavors) = (folder.path().join("vms.csv"), folder.path().join("f.csv"));
    std::fs::write(&trace, "vm,batch,flavor,start_s,dur_s\n0,0,z,0,300\n").unwrap();
    std::fs::write(&flavors, "flavor,cores,ram_qgib\na,1,3\n").unwrap();
    let error = Trace::open(&trace, Some(&flavors)).unwrap_err().to_string();
    assert!(
        error.ends_with("column 3 (flavor): \"z\" is not in the table of flavors"),
        "{error}"
    );
    std::fs::write(&flavors, "flavor,cores\na,1\n").unwrap();
    let error = Trace::open(&trace, Some(&flavors)).unwrap_err();
    assert!(matches!(error, TraceError::NotFlavors { .. }), "{error}");
}
