//! The console in a real browser.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use placewright_tests::component::renamed;
use placewright_tests::{repository, target_folder, units};

use super::Desk;

/// Python with a WebDriver, if that, the browser and its driver are there.
pub(super) fn python() -> Option<PathBuf> {
    let python = target_folder().join("console-browser/bin/python");
    let runs = |program: &str, words: &[&str]| {
        let mut asked = Command::new(program);
        asked.args(words).stdin(Stdio::null());
        asked.output().is_ok_and(|it| it.status.success())
    };
    let lacking = [
        (
            "selenium",
            runs(&python.display().to_string(), &["-c", "import selenium"]),
        ),
        ("chromium", runs("chromium", &["--version"])),
        ("chromedriver", runs("chromedriver", &["--version"])),
    ];
    for (what, is_there) in lacking {
        if !is_there {
            eprintln!(
                "THE CONSOLE IS NOT TRIED IN A BROWSER: {what} is missing; install it with tests/run --install"
            );
            return None;
        }
    }
    Some(python)
}

#[test]
fn the_console_works_in_a_browser() {
    let Some(python) = python() else { return };
    let desk = Desk::start();
    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("dropped.wasm");
    let bytes = renamed(&units::component("worst-fit"), "worst-fit", "dropped-1");
    std::fs::write(&component, bytes).unwrap();
    let output = Command::new(python)
        .arg(repository().join("host/tests/program/console/browser.py"))
        .arg(&desk.server.url)
        .args([&desk.admin, &desk.viewer])
        .arg(&component)
        .arg(target_folder().join("console-browser/node_modules/axe-core/axe.min.js"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}{wrong}");
    assert!(output.status.success(), "{said}{wrong}");
}
