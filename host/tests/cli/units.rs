//! An author's way: a unit written by the SDK's documentation alone, in a folder
//! outside the workspace, built, inspected, checked and used.

use placewright_tests::component::by_default;
use placewright_tests::repository;
use placewright_tests::units::{build_folder, component, crate_folder};

use crate::run::{Folder, INPUT, NO, placewright};

/// The example at the top of the SDK's documentation, as rustdoc would compile it.
fn documented_example() -> String {
    let lib = std::fs::read_to_string(repository().join("sdk/rust/src/lib.rs")).unwrap();
    let prose: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let mut code = prose
        .split(|line| line.starts_with("```"))
        .filter(|part| part.iter().any(|line| line.contains("export!(")));
    let code = code.next().expect("the documentation begins with a unit");
    let shown: Vec<&str> = code
        .iter()
        .copied()
        .filter(|line| !line.starts_with("# "))
        .collect();
    shown.join("\n")
}

fn manifest(kind: &str) -> String {
    format!(
        "[package]\nname = \"headroom\"\nversion = \"0.3.1\"\nedition = \"2024\"\n\
         description = \"Keeps hosts with enough free memory.\"\n\n\
         [lib]\ncrate-type = [{kind}]\n\n\
         [dependencies]\nplacewright-sdk = {{ path = {:?} }}\n",
        repository().join("sdk/rust")
    )
}

/// A folder with the crate `headroom` in it; what `unit build` says.
fn build(kind: &str, code: &str) -> (Folder, crate::run::Run) {
    let folder = Folder::new();
    folder.write("headroom/Cargo.toml", manifest(kind));
    folder.write("headroom/src/lib.rs", code);
    let target = build_folder().display().to_string();
    let run = placewright(&[
        "unit",
        "build",
        &folder.path("headroom"),
        "--target-dir",
        &target,
    ]);
    (folder, run)
}

#[test]
fn a_unit_written_by_the_documentation_alone_is_built_and_used() {
    let (folder, run) = build("\"cdylib\"", &documented_example());
    assert_eq!(run.code, 0, "{}", run.err);
    let unit = folder.path("headroom/headroom.wasm");
    assert!(run.out.contains(&unit), "{}", run.out);

    let shown = placewright(&["unit", "inspect", &unit, "--format", "json"]).json();
    assert_eq!(shown["name"], "headroom");
    assert_eq!(shown["version"], "0.3.1");
    assert_eq!(shown["settings"][0]["name"], "headroom");
    let imports = shown["imports"].as_array().unwrap();
    assert!(
        imports
            .iter()
            .all(|it| it.as_str().unwrap().starts_with("placewright:policy/"))
    );

    let checked = placewright(&["unit", "check", &unit]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);

    let policy = folder.write(
        "policy.toml",
        "[[filters]]\nunit = 'headroom'\nsettings.headroom = '8 GiB'\n",
    );
    let cluster = folder.write(
        "cluster.toml",
        "[[hosts]]\nid = 'h1'\nmemory = { total = '16 GiB', free = '8 GiB' }\n\
         [[hosts]]\nid = 'h2'\nmemory = { total = '16 GiB', free = '12 GiB' }\n",
    );
    let vm = folder.write("vm.toml", "id = 'v'\nmemory = '2 GiB'\n");
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--vm",
        &vm,
        "--policy",
        &policy,
    ];
    let out = placewright(&[words.as_slice(), &["--units", &unit, "--explain"]].concat()).done();
    assert!(out.contains("Chosen: h2"), "{out}");
    assert!(out.contains("has too little free memory"), "{out}");

    let trace = folder.write(
        "trace.csv",
        "vm,tenant,core_u,ram_u,prio,start_s,end_s\n0,1,100,8,0,0,10\n1,1,100,40,0,1,10\n",
    );
    let words = ["simulate", "--trace", &trace, "--hosts=1", "--host-cores=4"];
    let more = [
        "--host-memory=16GiB",
        "--policy",
        &policy,
        "--units",
        &unit,
        "--format=json",
    ];
    let report = placewright(&[words.as_slice(), &more].concat()).json();
    assert_eq!(
        (&report["placed"], &report["rejected"]),
        (&1.into(), &1.into()),
        "{report}"
    );
}

#[test]
fn a_crate_of_the_wrong_type_is_told_what_to_write() {
    let (_folder, run) = build("\"rlib\"", &documented_example());
    assert_eq!(run.code, INPUT, "{}", run.out);
    assert!(
        run.err.contains("crate-type = [\"cdylib\", \"rlib\"]"),
        "{}",
        run.err
    );
}

#[test]
fn a_crate_without_export_is_told_what_is_missing() {
    let (_folder, run) = build("\"cdylib\"", "pub fn nothing() {}\n");
    assert_eq!(run.code, INPUT, "{}", run.out);
    assert!(run.err.contains("`export!`"), "{}", run.err);
}

#[test]
fn code_that_does_not_compile_is_told_by_the_compiler() {
    let (_folder, run) = build("\"cdylib\"", "pub fn broken() -> u32 { \"text\" }\n");
    assert_eq!(run.code, INPUT, "{}", run.out);
    assert!(run.err.contains("mismatched types"), "{}", run.err);
    assert!(
        run.err.contains("error: cargo could not build the crate"),
        "{}",
        run.err
    );
}

#[test]
fn a_folder_without_a_crate_is_named() {
    let folder = Folder::new();
    let said = placewright(&["unit", "build", &folder.path("nowhere")]).refused(INPUT);
    assert!(
        said.contains("Cargo.toml") && said.contains("nowhere"),
        "{said}"
    );
}

#[test]
fn units_that_come_with_the_program_are_inspected_by_name_and_pass_the_check() {
    for unit in [
        "memory",
        "cpu",
        "affinity",
        "even-distribution",
        "power-saving",
        "best-fit",
        "fgd",
        "gpu-fit",
        "gpu-packing",
        "gpu-clustering",
        "gpu-dot-product",
        "gpu-best-fit",
    ] {
        let out = placewright(&["unit", "inspect", unit]).done();
        for part in ["digest: ", "size: ", "imports: ", "reads "] {
            assert!(out.contains(part), "{unit}: {out}");
        }
        let file = crate_folder(unit).join(unit).with_extension("wasm");
        let run = placewright(&["unit", "check", &file.display().to_string()]);
        assert_eq!(run.code, 0, "{unit}: {}{}", run.out, run.err);
    }
}

#[test]
fn a_unit_that_does_not_keep_to_what_it_says_fails_the_check() {
    let folder = Folder::new();
    for (unit, how) in [
        ("unsound", "counts-rows"),
        ("unsound", "reads-codes"),
        ("misbehaving", "remembers"),
        ("misbehaving", "panics"),
        ("misbehaving", "loops-forever"),
    ] {
        let file = folder.write(&format!("{how}.wasm"), by_default(&component(unit), how));
        let run = placewright(&["unit", "check", &file]);
        assert_eq!(run.code, NO, "{how}: {}{}", run.out, run.err);
    }
}
