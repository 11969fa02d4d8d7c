//! The mistakes that authors of units make most: each is provoked, and the whole message
//! is held against `book/src/mistakes.md`, which tells what is wrong, where, and what to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use placewright_build::project::{self, Evaluation, Kind, Language, Project};
use placewright_build::{self as build, BuildError};
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Digest, Unit};
use placewright_engine::{Engine, Limits};
use placewright_library::stage::{Admission, Candidate, Outcome, Source};
use placewright_library::trust::Trust;
use placewright_tests::component::{by_default, encoded, importing_wasi, renamed};
use placewright_tests::repository;
use placewright_tests::scene::{both, cluster, filtering, policy, request, scheduler, vm};
use placewright_tests::server::placewright;
use placewright_tests::units::{build_folder, component, engine};

/// Set to 1, it lets the test of the page write it instead of comparing it.
const UPDATE: &str = "UPDATE_MISTAKES";

/// The digest that the page shows, whatever the units for tests have.
const DIGEST: &str = "9f2c41aa";

/// A mistake: what was done, and how to provoke it.
type Mistake = (&'static str, fn() -> String);

macro_rules! mistakes {
    ($($(#[doc = $done:literal])+ $test:ident => $provoked:expr;)*) => {
        /// All of them, in the order of the page.
        const MISTAKES: &[Mistake] = &[$((concat!($($done),+), || said(concat!($($done),+), || $provoked))),*];

        $(
            #[test]
            fn $test() {
                let done = concat!($($done),+);
                assert_told(done, &said(done, || $provoked));
            }
        )*
    };
}

mistakes! {
    /// A core module was handed in where a component is wanted.
    a_core_module_is_told_how_it_becomes_a_component =>
        refused(b"\0asm\x01\0\0\0");
    /// A file was not written to its end.
    a_file_that_was_cut_off_is_told_so =>
        refused(CUT_OFF);
    /// The component was made for another world.
    a_component_of_another_world_is_told_what_it_lacks =>
        refused(&of_another_world());
    /// The component asks for the files, clock or random numbers of an operating system.
    a_forbidden_import_is_named_with_the_remedy =>
        refused(&importing_wasi());
    /// The unit was built against an older contract.
    an_old_contract_is_named_with_the_one_that_is_offered =>
        refused(&renamed(&component("misbehaving"), "@0.1.0", "@0.0.7"));
    /// A crate that the unit uses is made for browsers.
    a_crate_for_browsers_is_named_with_the_way_to_it =>
        asking_the_browser();
    /// The unit asks the standard library for the time.
    a_clock_that_is_not_there_is_told_with_what_to_read_instead =>
        refused(&built("asks_the_clock.rs"));
    /// Rust is not installed.
    a_missing_toolchain_is_told_where_to_get_it =>
        with_rustc("/nowhere/rustc");
    /// Rust is installed without WebAssembly.
    a_missing_target_is_told_how_it_is_installed =>
        // Asked where the libraries for WebAssembly are, it names no folder that is there.
        with_rustc("echo");
    /// The crate has no `crate-type`.
    a_crate_without_its_type_is_told_what_to_write =>
        not_built("[lib]\ncrate-type = [\"rlib\"]\n", "reads_ids.rs");
    /// The crate does not end with `export!`.
    a_crate_without_export_is_told_what_is_missing =>
        not_built(CDYLIB, "exports_nothing.rs");
    /// A column is misspelt.
    an_unknown_column_is_told_the_nearest =>
        refused(&renamed(&component("misbehaving"), "memory.total", "memory.totel"));
    /// A column is read as something that it is not.
    a_column_of_another_kind_is_told_its_kind =>
        refused(&built("reads_memory_as_number.rs"));
    /// The answer has too many or too few entries.
    an_answer_of_the_wrong_length_is_told_both_lengths =>
        refused(&by_default(&component("unsound"), "wrong-length"));
    /// A cost is not a number.
    a_cost_that_is_no_number_is_told_its_row =>
        refused(&by_default(&component("misbehaving"), "answers-nan"));
    /// A cost is outside of the declared range.
    a_cost_out_of_range_is_told_the_range =>
        refused(&built("costs_too_much.rs"));
    /// A host is removed for a reason that was not declared.
    a_reason_that_was_not_declared_is_told_how_many_were =>
        called("unsound", "reason-out-of-range");
    /// The unit panics.
    a_panic_is_told_with_its_message_and_place =>
        refused(&by_default(&component("misbehaving"), "panics"));
    /// A loop does not end.
    a_loop_without_end_is_told_its_limit =>
        refused(&by_default(&component("misbehaving"), "loops-forever"));
    /// The unit wants more memory than it may have.
    a_unit_that_wants_too_much_memory_is_told_the_limit =>
        refused(&by_default(&component("misbehaving"), "eats-memory"));
    /// The answer is too large.
    an_answer_that_is_too_large_is_told_the_limit =>
        refused(&by_default(&component("unsound"), "huge-answer"));
    /// The unit reads who the VM is, so that nothing can be reused.
    reading_the_id_of_the_vm_is_advised_against =>
        advised(&built("reads_ids.rs"));
    /// The unit reads the time and does not say until when its answers hold.
    reading_the_time_without_saying_until_when_is_advised_against =>
        advised(&built("reads_the_time.rs"));
    /// The unit counts where yes or no would do.
    counting_where_yes_or_no_would_do_is_advised_against =>
        advised(&built("counts_in_vain.rs"));
    /// The unit looks at the whole table where each host alone would do.
    looking_at_the_whole_table_in_vain_is_advised_against =>
        advised(&built("looks_at_all.rs"));
    /// A policy misspells a setting.
    a_misspelt_setting_is_told_the_nearest =>
        misspelt_setting();
    /// Two units have one name.
    two_units_of_one_name_are_both_named =>
        of_one_name();
}

/// What is said of a mistake, which is provoked once, whoever asks.
fn said(done: &'static str, provoke: impl FnOnce() -> String) -> String {
    static SAID: Mutex<BTreeMap<&str, Arc<OnceLock<String>>>> = Mutex::new(BTreeMap::new());
    let mut all = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let once = all.entry(done).or_default().clone();
    drop(all);
    once.get_or_init(provoke).clone()
}

/// The page of the book.
fn page() -> PathBuf {
    repository().join("book/src/mistakes.md")
}

fn assert_told(done: &str, said: &str) {
    let page = fs::read_to_string(page()).unwrap_or_default();
    let section = section(done, said);
    assert!(
        std::env::var_os(UPDATE).is_some() || page.contains(&section),
        "{}\nis not in book/src/mistakes.md; if it is as good as what is there, write the page with \
         `{UPDATE}=1 cargo test -p placewright --test program the_page_of_mistakes`",
        section
    );
}

fn section(done: &str, said: &str) -> String {
    format!("##{}\n\n```text\n{said}\n```\n", done.trim_end_matches('.'))
}

#[test]
fn the_page_of_mistakes_lists_them_all_and_nothing_else() {
    let mut text = String::from(
        "# What goes wrong most often\n\n\
         The mistakes that authors of units make most, and what Placewright says of them. Every message on this page was\n\
         provoked by a test. Most of them come from `placewright unit check` and are the same when a server refuses a unit;\n\
         those that begin with `advice` fail no check.\n",
    );
    for (done, provoked) in MISTAKES {
        text.push('\n');
        text.push_str(&section(done, &provoked()));
    }
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::create_dir_all(page().parent().unwrap()).unwrap();
        fs::write(page(), &text).unwrap();
    }
    assert_eq!(fs::read_to_string(page()).unwrap_or_default(), text);
}

/// What a server says of the bytes that it does not let in, after the name of the step.
fn refused(bytes: &[u8]) -> String {
    let (staging, _) = examined(bytes);
    let Outcome::Refused { step, why } = staging else {
        panic!("it is let in: {staging}");
    };
    shown(&format!("{step}: {why}"), bytes)
}

/// What the check advises of the bytes, which are let in.
fn advised(bytes: &[u8]) -> String {
    let (staging, advice) = examined(bytes);
    assert!(matches!(staging, Outcome::Held { .. }), "{staging}");
    let [advice] = advice.as_slice() else {
        panic!("there is one advice: {advice:?}");
    };
    shown(advice, bytes)
}

/// The outcome, and all advice.
fn examined(bytes: &[u8]) -> (Outcome, Vec<String>) {
    let counting = Engine::new(Limits::reproducible(), None).unwrap();
    let admission = Admission::new(engine().clone(), Trust::default(), Duration::MAX);
    let candidate = Candidate {
        bytes: bytes.into(),
        signature: None,
    };
    let source = Source::File {
        path: "my-unit.wasm".into(),
    };
    let examined = admission.examine(&candidate, source, &counting, 0);
    let advice = examined.report.iter().flat_map(|report| &report.advice);
    let advice = advice.map(|advice| format!("advice: {}: {}", advice.part, advice.sentence));
    (examined.staging.outcome.clone(), advice.collect())
}

/// The message with the page's digest in place of that of the bytes.
fn shown(said: &str, bytes: &[u8]) -> String {
    said.replace(&Digest::of(bytes).short(), DIGEST)
}

/// A component that ends within its first section, of 40 bytes.
const CUT_OFF: &[u8] = b"\0asm\x0d\0\x01\0\x07\x28\x01";

const CDYLIB: &str = "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n";

/// The component of a crate whose `src/lib.rs` is this file of `mistakes/`.
fn built(source: &str) -> Vec<u8> {
    match build_with(CDYLIB, source, "") {
        Ok(bytes) => bytes,
        Err(error) => panic!("cannot build {source}: {error}"),
    }
}

/// What is said of a crate that makes no unit.
fn not_built(library: &str, source: &str) -> String {
    let error = build_with(library, source, "").unwrap_err();
    error
        .to_string()
        .replace(&crate_folder().display().to_string(), "my-unit")
}

fn crate_folder() -> PathBuf {
    build_folder().join("mistaken")
}

/// What is said of a crate that uses a crate that uses wasm-bindgen. Both are stand-ins, so
/// that nothing is fetched.
fn asking_the_browser() -> String {
    let dependencies = "\nweb-time = { path = \"vendor/web-time\" }";
    let error = build_with(CDYLIB, "asks_the_browser.rs", dependencies).unwrap_err();
    error.to_string().replace("mistaken", "my-unit")
}

/// What the program says when that is the compiler.
fn with_rustc(rustc: &str) -> String {
    let _one_at_a_time = one_at_a_time();
    begin(&crate_folder());
    let mut command = placewright(["unit", "build"]);
    let ended = command.arg(crate_folder()).env("RUSTC", rustc).output();
    let ended = ended.unwrap();
    assert!(!ended.status.success());
    String::from_utf8(ended.stderr).unwrap().trim().to_owned()
}

/// All of them are built in one folder, one after the other, so that the SDK is built once.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static BUILDING: Mutex<()> = Mutex::new(());
    BUILDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn build_with(library: &str, source: &str, dependencies: &str) -> Result<Vec<u8>, BuildError> {
    let _one_at_a_time = one_at_a_time();
    let folder = crate_folder();
    begin(&folder);
    for stand_in in ["wasm-bindgen", "web-time"] {
        lay_stand_in(&folder, stand_in);
    }
    let code = repository()
        .join("host/tests/program/mistakes")
        .join(source);
    fs::copy(code, folder.join("src/lib.rs")).unwrap();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let (before, rest) = manifest.split_once("[lib]").unwrap();
    let (_, after) = rest.split_once("[dependencies]").unwrap();
    let manifest = format!("{before}{library}\n[dependencies]{dependencies}{after}");
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let options = build::Options {
        target_folder: Some(build_folder()),
        ..build::Options::default()
    };
    build::build(&folder, &options).map(|built| built.bytes)
}

/// A new unit, of which the tests change the code.
fn begin(folder: &Path) {
    let before = folder.with_extension("before");
    if before.exists() {
        fs::remove_dir_all(&before).unwrap();
    }
    if folder.exists() {
        fs::rename(folder, &before).unwrap();
    }
    let project = Project {
        name: "mistaken".to_owned(),
        language: Language::Rust,
        kinds: [Kind::Filter].into(),
        evaluation: Evaluation::RowWise,
        description: None,
    };
    project::create(&project, folder).unwrap();
    keep_times(&before, folder);
}

/// Files that are as they were before have the time that they had, so that Cargo compiles the SDK
/// once.
fn keep_times(before: &Path, now: &Path) {
    for entry in fs::read_dir(now).unwrap() {
        let (name, now) = entry.map(|it| (it.file_name(), it.path())).unwrap();
        let before = before.join(name);
        if now.is_dir() {
            keep_times(&before, &now);
        } else if fs::read(&before).is_ok_and(|bytes| bytes == fs::read(&now).unwrap()) {
            let time = fs::metadata(&before).unwrap().modified().unwrap();
            let file = fs::File::options().write(true).open(&now).unwrap();
            file.set_modified(time).unwrap();
        }
    }
}

/// A crate of that name beside the unit's SDK: a folder of `mistakes/` whose manifest has
/// another name, so that it is no crate of this repository.
fn lay_stand_in(folder: &Path, name: &str) {
    let from = repository().join("host/tests/program/mistakes").join(name);
    let to = folder.join("vendor").join(name);
    fs::create_dir_all(to.join("src")).unwrap();
    fs::copy(from.join("manifest.toml"), to.join("Cargo.toml")).unwrap();
    fs::copy(from.join("lib.rs"), to.join("src/lib.rs")).unwrap();
}

/// A component that exports what nobody asks for.
fn of_another_world() -> Vec<u8> {
    let wit = "
        package shop:prices@1.0.0;
        interface prices { price: func() -> u32; }
        world shop { export prices; }
    ";
    let module = r#"(module
        (func (export "shop:prices/prices@1.0.0#price") (result i32) (i32.const 7)))"#;
    encoded(module, wit, "shop")
}

/// What is said when a filter goes wrong in that way in a decision.
fn called(unit: &str, how: &str) -> String {
    let mut scheduler = scheduler(cluster(3), &filtering(unit, how), &both());
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    shown(&error.to_string(), &component(unit))
}

fn misspelt_setting() -> String {
    let text = "[[filters]]\nunit = 'misbehaving'\nsettings.headrom = '2 GiB'\n";
    policy(text, &both()).unwrap_err().to_string()
}

fn of_one_name() -> String {
    let load =
        |bytes: &[u8], file: &str| -> Arc<Unit> { Unit::load(engine(), bytes, file).unwrap() };
    let (one, other) = (
        component("misbehaving"),
        by_default(&component("misbehaving"), "panics"),
    );
    let units = [load(&one, "units/old.wasm"), load(&other, "units/new.wasm")];
    let error = Generation::new(units).unwrap_err().to_string();
    let error = shown(&error, &one);
    error.replace(&Digest::of(&other).short(), "41aa9f2c")
}
