//! The commands of each page, run one after the other as a reader would.
//!
//! A page has a folder of its own, in which is also what is at the top of a clone of the
//! repository. A command that ends with `&` is a server; the address that the book writes
//! becomes that of this server. Where a program is missing that the book uses (curl, openssl),
//! or what builds units in the language that a block `needs=`, the rest of the page is not tried.
//!
//! Between the commands, files become what the page says: `write=FILE` and `append=FILE` in
//! the info string of a block, and `diff patch=FILE`.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use placewright_tests::server::{Server, program};
use placewright_tests::{javascript, python, repository, units};

use super::page::{Block, Page};

/// The address that the book writes.
const ADDRESS: &str = "http://127.0.0.1:7425";

/// How often a server is asked until its answer is the expected one: what happens in it
/// takes its time. More than a minute in all.
const TRIES: usize = 1500;
const PAUSE: Duration = Duration::from_millis(50);

/// A command, and what it prints.
struct Step {
    command: String,
    expected: String,
}

#[test]
fn the_commands_of_the_book_do_what_it_says() {
    let mut commands = 0;
    for page in Page::all() {
        let is_console = |block: &Block| block.language() == "console";
        if !page.blocks.iter().any(is_console) {
            continue;
        }
        let mut shell = Shell::new();
        'page: for block in &page.blocks {
            let place = page.place(block);
            if let Some(language) = block.value("needs")
                && !shell.has_tools_for(language)
            {
                break 'page;
            }
            if let Err(problem) = shell.change_file(block) {
                panic!("{place}: {problem}");
            }
            for step in Some(block)
                .filter(|it| is_console(it))
                .into_iter()
                .flat_map(steps)
            {
                match shell.run(&step) {
                    Ok(true) => commands += 1,
                    Ok(false) => break 'page,
                    Err(problem) => panic!("{place}: $ {}\n{problem}", step.command),
                }
            }
        }
    }
    assert!(commands > 5, "the book has commands");
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                expected: String::new(),
            }),
            (None, Some(step)) => {
                step.expected.push_str(line.trim_end());
                step.expected.push('\n');
            }
            (None, None) => panic!("a console begins with a command: {line}"),
        }
    }
    steps
}

/// Where the commands of a page run.
struct Shell {
    /// Deleted at the end.
    _home: tempfile::TempDir,
    folder: PathBuf,
    server: Option<Server>,
    /// Variables that say where is what builds units in a language.
    tools: Vec<(&'static str, PathBuf)>,
}

impl Shell {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_owned();
        for name in ["book", "host", "plugins", "sdk", "wit"] {
            let there = repository().join(name);
            #[cfg(unix)]
            std::os::unix::fs::symlink(there, folder.join(name)).unwrap();
            #[cfg(windows)]
            std::os::windows::fs::symlink_dir(there, folder.join(name)).unwrap();
        }
        Self {
            _home: home,
            folder,
            server: None,
            tools: Vec::new(),
        }
    }

    /// Whether what builds units in the language is there, for all commands from now on. That it
    /// is not is told.
    fn has_tools_for(&mut self, language: &str) -> bool {
        let (variable, path) = match language {
            "python" => ("PLACEWRIGHT_PYTHON", python::builder()),
            "javascript" => ("PLACEWRIGHT_NODE_MODULES", javascript::node_modules()),
            other => panic!("there is no language {other}"),
        };
        let known = path.map(|path| (variable, path.to_owned()));
        self.tools.extend(known);
        path.is_some()
    }

    /// Do to a file what a block says, if it is about one.
    fn change_file(&self, block: &Block) -> Result<(), String> {
        let named = ["write", "append", "patch"].map(|key| block.value(key));
        let Some(file) = named.into_iter().flatten().next() else {
            return Ok(());
        };
        let path = self.folder.join(file);
        let there = || fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"));
        let text = match named {
            [Some(_), ..] => block.text.clone(),
            [_, Some(_), _] => there()? + &block.text,
            _ => patched(&there()?, &block.text)
                .ok_or_else(|| format!("{file} does not hold these lines, or holds them twice"))?,
        };
        fs::write(&path, text).map_err(|error| format!("{file}: {error}"))
    }

    /// Run a command. False: its program is not there.
    fn run(&mut self, step: &Step) -> Result<bool, String> {
        let words: Vec<&str> = step.command.split_whitespace().collect();
        match words[..] {
            ["cd", folder] => {
                let to = self.folder.join(folder);
                self.folder = fs::canonicalize(&to).map_err(|error| error.to_string())?;
                return Ok(true);
            }
            [.., "&"] => {
                let command = step.command.trim_end_matches('&').trim();
                let mut command = self.command(&format!("exec {command}"));
                command
                    .env("PLACEWRIGHT_LISTEN", "127.0.0.1:0")
                    .env("PLACEWRIGHT_LOG_FORMAT", "json");
                self.server = Some(Server::spawn(command));
                return Ok(true);
            }
            [program, ..] if !is_there(program) => {
                eprintln!("the book is not tried any further: there is no {program}");
                return Ok(false);
            }
            _ => {}
        }
        let asks_server = words[0] == "curl" || words.contains(&"--server");
        let mut last = String::new();
        for _ in 0..if asks_server { TRIES } else { 1 } {
            match self.printed(&step.command) {
                Ok(printed) if step.expected.is_empty() || matches(&printed, &step.expected) => {
                    return Ok(true);
                }
                Ok(printed) => last = format!("printed:\n{printed}\nexpected:\n{}", step.expected),
                Err(problem) => last = problem,
            }
            if asks_server {
                sleep(PAUSE);
            }
        }
        Err(last)
    }

    fn printed(&self, command: &str) -> Result<String, String> {
        let url = self.server.as_ref().map_or(ADDRESS, |it| &it.url);
        let done = self.command(&command.replace(ADDRESS, url)).output();
        let done = done.map_err(|error| error.to_string())?;
        let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
        match done.status.success() {
            true => Ok(out.replace(url, ADDRESS)),
            false => Err(format!("{out}{err}{}", done.status)),
        }
    }

    fn command(&self, command: &str) -> Command {
        let mut search = vec![program().parent().unwrap().to_owned()];
        search.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let mut shell = Command::new("sh");
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PLACEWRIGHT_") {
                shell.env_remove(name);
            }
        }
        shell
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("PATH", env::join_paths(search).unwrap())
            .env("CARGO_TARGET_DIR", units::build_folder())
            .env("CARGO_NET_OFFLINE", "true")
            .env("PLACEWRIGHT_CACHE", units::build_folder().join("code"))
            .env("PLACEWRIGHT_CONTEXTS", self.folder.join("contexts.toml"))
            .envs(self.tools.iter().map(|(name, path)| (name, path)))
            .stdin(Stdio::null());
        shell
    }
}

fn is_there(program: &str) -> bool {
    program == "placewright"
        || (Command::new("sh").args(["-c", &format!("command -v {program}")]))
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// A text with the lines of a difference that begin with `-` replaced by those that begin
/// with `+`, between those that begin with a space; none if it does not hold them once.
fn patched(text: &str, difference: &str) -> Option<String> {
    let side = |without: char| -> String {
        let lines = difference.lines().filter(|line| !line.starts_with(without));
        lines
            .flat_map(|line| [line.get(1..).unwrap_or_default(), "\n"])
            .collect()
    };
    let (old, new) = (side('+'), side('-'));
    (text.matches(&old).count() == 1).then(|| text.replace(&old, &new))
}

#[test]
fn a_difference_is_carried_out_where_its_lines_stand_once() {
    let difference = " a\n-b\n+c\n+d\n";
    assert_eq!(
        patched("x\na\nb\n", difference).as_deref(),
        Some("x\na\nc\nd\n")
    );
    assert_eq!(patched("b\n", difference), None);
    assert_eq!(patched("a\nb\na\nb\n", difference), None);
}

/// Whether a text is the expected one, in which `...` stands for anything.
fn matches(printed: &str, expected: &str) -> bool {
    let printed: String = printed
        .lines()
        .flat_map(|it| [it.trim_end(), "\n"])
        .collect();
    let (printed, expected) = (printed.trim_end(), expected.trim_end());
    let mut pieces = expected.split("...").map(|it| it.trim_matches('\n'));
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let mut last = first;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        last = piece;
    }
    rest.is_empty() || (last.is_empty() && expected.ends_with("..."))
}

#[test]
fn three_dots_stand_for_anything() {
    assert!(matches("a\nb\nc\n", "a\n...\nc\n"));
    assert!(matches("a b c", "a ... c"));
    assert!(matches("a\nb\n", "a\n...\n"));
    assert!(matches("a\nb\n", "...\nb"));
    assert!(!matches("a\nb\n", "a\n"));
    assert!(!matches("a\nb\n", "b\n..."));
    assert!(!matches("a\nb\n", "a\n...\nc"));
}
