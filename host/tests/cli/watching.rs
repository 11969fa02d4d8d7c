//! `placewright unit build --watch`, from the first round to Ctrl-C.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::beginning::{begin, fresh, target};

/// For a round on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(600);

/// The program, and the lines that it prints.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(folder: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_placewright"))
            .args(["unit", "build", folder, "--watch", "--target-dir"])
            .arg(target())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The line that tells of the next round with this mark. There may be others before: a file
    /// that is being written may be seen half.
    fn round(&self, mark: char) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(rest).expect("a round is told of");
            if line.contains(&format!(" UTC {mark} ")) {
                return line;
            }
        }
    }

    /// The next line with this in it.
    fn line(&self, part: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(rest).expect("there is such a line");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Press Ctrl-C; the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Has ended already if the test passed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_watched_project_is_built_and_checked_at_every_change_until_ctrl_c() {
    let folder = fresh("begun-watched");
    begin("watched", &folder, &["--kind", "filter"]);
    let source = folder.join("src/lib.rs");
    let sound = fs::read_to_string(&source).unwrap();
    let watching = Watching::start(&folder.display().to_string());

    let first = watching.round('✓');
    assert!(first.contains("watched.wasm: "), "{first}");
    assert!(
        first.contains("built in") && first.ends_with(", checked"),
        "{first}"
    );

    fs::write(&source, format!("{sound}\nfn")).unwrap();
    let wrong = watching.round('✗');
    assert!(wrong.contains("not built: "), "{wrong}");

    fs::write(&source, &sound).unwrap();
    let mended = watching.round('✓');
    assert!(mended.ends_with(", checked"), "{mended}");
    watching.line(" passed, 0 failed");

    let scenarios = folder.join("scenarios/watched.toml");
    let right = fs::read_to_string(&scenarios).unwrap();
    let case = "[[cases]]\nname = 'nobody is chosen'\nvm = { id = 'v', memory = '1 MiB' }\n\
                expect.chosen = 'none'\n";
    fs::write(&scenarios, format!("{right}\n{case}")).unwrap();
    let failing = watching.round('✗');
    assert!(failing.ends_with(", checked"), "{failing}");
    watching.line("✗ nobody is chosen");
    watching.line(" passed, 1 failed");

    fs::write(&scenarios, "cases = 1").unwrap();
    watching.round('✗');
    watching.line("scenarios not run: ");

    assert_eq!(watching.interrupt(), Some(0));
}
