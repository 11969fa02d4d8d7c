//! The program as a server, on a free port and a folder of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::target_folder;

/// A server that runs. It is killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// What requests begin with: "http://127.0.0.1:40000".
    pub url: String,
    /// The rest of its log, once it has ended.
    log: Option<JoinHandle<String>>,
}

/// The log of a server.
#[derive(Debug)]
pub struct Log {
    /// What it said until it served.
    said: String,
    rest: BufReader<ChildStderr>,
}

/// The program. Cargo builds it before the tests of the workspace, into the folder above
/// theirs.
pub fn program() -> PathBuf {
    let this = std::env::current_exe().unwrap_or_default();
    let name = format!("placewright{}", std::env::consts::EXE_SUFFIX);
    let program = this.ancestors().nth(2).map(|folder| folder.join(name));
    let program = program.unwrap_or_default();
    assert!(
        program.is_file(),
        "{} is missing; build it: cargo build --workspace",
        program.display()
    );
    program
}

/// The program with these words, and without what the environment says of it.
pub fn placewright<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PLACEWRIGHT_") {
            command.env_remove(name);
        }
    }
    command.args(words);
    command
}

impl Server {
    /// Start on a folder, with these words besides; returns when it serves and has taken over
    /// what lies in its folders, or after a minute. Compiled code is shared by all servers of
    /// a test run.
    pub fn start(data: &Path, words: &[&str]) -> Self {
        let mut command = placewright(["serve", "--listen", "127.0.0.1:0"]);
        command
            .args(["--log-format", "json", "--cache"])
            .arg(target_folder().join("serve-cache"))
            .arg("--data")
            .arg(data)
            .args(words);
        let server = Self::spawn(command);
        let begin = Instant::now();
        while !server.is_ready() && begin.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// Whether it says that it is ready. One that serves by TLS alone is not asked.
    fn is_ready(&self) -> bool {
        let Some(address) = self.url.strip_prefix("http://") else {
            return true;
        };
        let Ok(mut stream) = TcpStream::connect(address) else {
            return false;
        };
        let asked = write!(
            stream,
            "GET /v1/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        );
        let mut answer = String::new();
        asked.is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }

    /// Run a command that becomes a server; its log must be JSON.
    pub fn spawn(command: Command) -> Self {
        let (mut server, mut log) = Self::spawn_and_read(command);
        // The log is read on, so that the server never waits for us.
        let read_on = move || {
            let mut rest = log.said;
            let _ = log.rest.read_to_string(&mut rest);
            rest
        };
        server.log = Some(std::thread::spawn(read_on));
        server
    }

    /// The same, whose log is read by whoever asks: when that is dropped, nobody reads it.
    pub fn spawn_and_read(mut command: Command) -> (Self, Log) {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("it is piped");
        let mut log = BufReader::new(stderr);
        let mut said = String::new();
        let url = loop {
            let mut line = String::new();
            let read = log.read_line(&mut line).expect("the log is text");
            assert!(read > 0, "the server has ended: {said}");
            said.push_str(&line);
            if let Some(url) = served_url(&line) {
                break url;
            }
        };
        let server = Self {
            child,
            url,
            log: None,
        };
        (server, Log { said, rest: log })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Send a signal: "TERM", "INT", "KILL".
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name, &self.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "kill -s {name}");
    }

    /// Wait for its end: how it ended, and its whole log.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("it was started");
        let log = self.log.take().map(JoinHandle::join);
        (status, log.and_then(Result::ok).unwrap_or_default())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address that a line of the log tells when the server serves.
fn served_url(line: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    (line["message"] == "serving").then(|| line["url"].as_str().map(str::to_owned))?
}
