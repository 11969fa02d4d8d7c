//! Runs the program, and writes the files that it is given.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Exit code for a no: a VM found no host, a check failed.
pub(crate) const NO: i32 = 1;
/// Exit code where the command line or a file is at fault.
pub(crate) const INPUT: i32 = 2;
/// Exit code where a unit failed.
pub(crate) const UNIT: i32 = 3;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Run the program with these words.
pub(crate) fn placewright<S: AsRef<str>>(words: &[S]) -> Run {
    placewright_given("", words)
}

/// Run the program with these words and this on standard input.
pub(crate) fn placewright_given<S: AsRef<str>>(input: &str, words: &[S]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_placewright"))
        .args(words.iter().map(AsRef::as_ref))
        .env(
            "PLACEWRIGHT_CACHE",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/code"),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who does not read it may be gone by now.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let run = Run {
        code: output.status.code().expect("the program is not killed"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    for said in [&run.out, &run.err] {
        assert!(!said.contains("RUST_BACKTRACE"), "we panicked: {said}");
        assert!(
            !said.contains('\u{1b}'),
            "colours without a terminal: {said}"
        );
    }
    run
}

impl Run {
    /// The output, if the run ended well.
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The output as JSON, if the run ended well.
    pub(crate) fn json(self) -> serde_json::Value {
        let text = self.done();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// What is said on standard error, if the run ended with that code and printed
    /// nothing else.
    pub(crate) fn refused(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        assert!(self.err.starts_with("error: "), "{}", self.err);
        self.err
    }
}

/// A folder of files that is gone after the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Write a file; its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        self.path(name)
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

/// A document of `host/examples`.
pub(crate) fn example(name: &str) -> String {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "examples", name]
        .iter()
        .collect();
    folder.display().to_string()
}
