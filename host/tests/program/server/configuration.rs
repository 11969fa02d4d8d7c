//! Configuration of a server: where values come from, and what is wrong with them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use placewright_tests::repository;
use placewright_tests::server::placewright;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::folder;

/// A folder with a configuration file, and the command that serves by it.
struct Configured {
    folder: TempDir,
    file: PathBuf,
}

fn configured(text: &str) -> Configured {
    let folder = folder();
    let file = folder.path().join("c.toml");
    fs::write(&file, text).unwrap();
    Configured { folder, file }
}

impl Configured {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = placewright(["serve", "--config"]);
        command
            .arg(&self.file)
            .env("PLACEWRIGHT_DATA", self.folder.path())
            .args(words);
        command
    }

    /// What is in force, line by line.
    fn in_force(&self, words: &[&str], environment: &[(&str, &str)]) -> String {
        let mut command = self.command(words);
        command.arg("--print-config").envs(environment.to_vec());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Why it is refused.
    fn refused(&self, words: &[&str], environment: &[(&str, &str)]) -> String {
        let mut command = self.command(words);
        command.arg("--check").envs(environment.to_vec());
        refusal(command)
    }
}

fn refusal(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    said
}

/// Value and source of an option, as it is told.
fn told<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} = ")))
        .unwrap_or_else(|| panic!("{name}: {text}"));
    let (value, source) = line.rsplit_once('#').unwrap();
    (value.trim(), source.trim())
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let config = configured("threads = 3\nconnections = 30\nrequest-time = '3 s'\n");
    let environment = [
        ("PLACEWRIGHT_CONNECTIONS", "40"),
        ("PLACEWRIGHT_REQUEST_TIME", "4 s"),
        // An empty one is none.
        ("PLACEWRIGHT_LOG_LEVEL", ""),
    ];
    let text = config.in_force(&["--request-time", "5s"], &environment);
    let file = config.file.display();
    assert_eq!(
        told(&text, "threads"),
        ("3", format!("{file}:1:11").as_str())
    );
    assert_eq!(
        told(&text, "connections"),
        ("40", "PLACEWRIGHT_CONNECTIONS")
    );
    assert_eq!(told(&text, "request-time"), ("\"5s\"", "--request-time"));
    assert_eq!(told(&text, "log-level"), ("\"info\"", "default"));
    let units = config.folder.path().join("units");
    assert_eq!(told(&text, "units").0, format!("\"{}\"", units.display()));
}

#[test]
fn what_is_in_force_is_a_file_that_gives_the_same() {
    let config = configured(
        "require-signatures = true\nrequire-replay = '5 %'\nreservation = 0\n\
         revoked = ['5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9']\n\
         [[tokens]]\nname = 'a\"b'\nrole = 'operator'\nclusters = ['x', 'y']\n\
         sha256 = '3202086722d35e40966ca02cb3e675f6e057da0c8449c5765983b67702703167'\n\
         [[trusted-keys]]\nname = 'r'\n\
         ed25519 = '4e8f43386527690ec1b853e90635085d5722a4b4bec4aa3985bb0fbc7d7d066d'\n",
    );
    let first = config.in_force(&[], &[]);
    let again = configured(&first).in_force(&[], &[]);
    let values = |text: &str| -> toml::Table {
        let mut values: toml::Table = text.parse().unwrap();
        // Each of the two has a folder of its own.
        assert!(values.remove("data").is_some());
        values
    };
    assert_eq!(values(&first), values(&again));
    assert_eq!(values(&first)["require-replay"], "5.0 %".into());
}

#[test]
fn everything_that_is_wrong_with_a_file_is_told_with_its_place() {
    let config = configured(
        "lisen = '127.0.0.1:1'\nthreads = 0\nrequest-body = 'much'\n\
         durability = 'ful'\nlog-format = 1\n\
         [[tokens]]\nname = 'a'\nrole = 'admn'\nsha256 = '12'\n\
         [[tokens]]\nname = 'a'\nrole = 'viewer'\nclusters = []\n\
         [[trusted-keys]]\nname = 'k'\ned25519 = 'x'\nlisten = '127.0.0.1:1'\n\
         [[tokens]]\nname = 'restart'\nrole = 'viewer'\n",
    );
    let said = config.refused(&[], &[]);
    for (line, sentence) in [
        (
            1,
            "the configuration has no key \"lisen\" (did you mean \"listen\"?)",
        ),
        (2, "\"threads\" must be 1 or more, not 0"),
        (
            3,
            "\"request-body\" must be an amount of memory, not \"much\"",
        ),
        (
            4,
            "\"durability\" must be \"full\" or \"normal\", not \"ful\" (did you mean \"full\"?)",
        ),
        (5, "\"log-format\" must be a text, not a whole number"),
        (8, "(did you mean \"admin\"?)"),
        (9, "\"sha256\" must be 64 hexadecimal digits"),
        (10, "a token needs \"sha256\""),
        (11, "there is a second token \"a\""),
        (13, "\"clusters\" names none"),
        (16, "\"ed25519\" must be a public key"),
        (
            17,
            "\"listen\" is an option of the server, but stands in a [[trusted-keys]] here",
        ),
        (
            19,
            "\"restart\" stands for somebody else in logs and events",
        ),
    ] {
        let place = format!("c.toml:{line}:");
        let found = said
            .lines()
            .any(|told| told.contains(&place) && told.contains(sentence));
        assert!(found, "{line}: {sentence}\n{said}");
    }
}

#[test]
fn what_is_wrong_with_flags_and_the_environment_is_told_by_their_names() {
    let config = configured("");
    let words = ["--threads", "many", "--listen", "localhost"];
    let environment = [("PLACEWRIGHT_DURABILITY", "fall")];
    let said = config.refused(&words, &environment);
    assert!(
        said.contains("--threads: \"threads\" must be a whole number"),
        "{said}"
    );
    assert!(said.contains("PLACEWRIGHT_DURABILITY: "), "{said}");
    let said = config.refused(&["--listen", "localhost", "--log-level", "loud"], &[]);
    assert!(
        said.contains("--listen: \"listen\" must be an address"),
        "{said}"
    );
    assert!(said.contains("--log-level: \"loud\" is no level"), "{said}");
    let said = config.refused(&["--tls-key", "k.pem"], &[]);
    assert!(
        said.contains("a key needs its \"tls-certificate\""),
        "{said}"
    );
    let said = config.refused(&["--require-signatures"], &[]);
    assert!(said.contains("no [[trusted-keys]]"), "{said}");
}

#[test]
fn without_tokens_a_server_listens_to_this_machine_alone() {
    let config = configured("");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        for words in [vec!["--check"], vec![]] {
            let mut command = config.command(&["--listen", address]);
            command.args(words);
            let said = refusal(command);
            assert!(said.contains("without tokens everybody"), "{said}");
            assert!(said.contains("placewright token new"), "{said}");
        }
    }
    let token = "[[tokens]]\nname = 'a'\nrole = 'viewer'\n\
                 sha256 = '3202086722d35e40966ca02cb3e675f6e057da0c8449c5765983b67702703167'\n";
    let config = configured(token);
    // With tokens, they would come in clear text.
    let far = ["--listen", "0.0.0.0:0", "--check"];
    let said = refusal(config.command(&far));
    assert!(said.contains("insecure-plain-http"), "{said}");
    let mut allowed = config.command(&far);
    allowed.arg("--insecure-plain-http");
    let output = allowed.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn secrets_and_keys_that_everybody_knows_are_refused() {
    let token = |name: &str, secret: &str| {
        let sha256 = hex::encode(Sha256::digest(secret));
        format!("[[tokens]]\nname = '{name}'\nrole = 'viewer'\nsha256 = '{sha256}'\n")
    };
    let config = configured(&format!("{}{}", token("a", "test"), token("b", "test2")));
    let said = config.refused(&[], &[]);
    for secret in ["test", "test2"] {
        assert!(said.contains(&format!("it is \"{secret}\"")), "{said}");
    }
    let key = "[[trusted-keys]]\nname = 'k'\n\
               ed25519 = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'\n";
    let said = configured(key).refused(&[], &[]);
    assert!(said.contains("RFC 8032"), "{said}");
}

#[test]
fn what_the_example_says_of_tokens_and_keys_cannot_come_into_force() {
    let example = repository().join("host/examples/placewright.toml");
    let text = fs::read_to_string(&example).unwrap();
    let (_, lists) = text.split_once("# [[tokens]]").unwrap();
    let lines: Vec<&str> = lists
        .lines()
        .filter_map(|it| it.strip_prefix("# "))
        .collect();
    let text = format!("[[tokens]]\n{}\n", lines.join("\n"));
    let text = text.replace("Whose signatures on units are trusted.", "");
    let said = configured(&text).refused(&[], &[]);
    assert!(
        said.contains("\"sha256\" must be 64 hexadecimal digits"),
        "{said}"
    );
    assert!(said.contains("\"ed25519\" must be a public key"), "{said}");
}

#[test]
fn certificates_that_cannot_be_used_are_refused() {
    let config = configured("");
    let no_pem = config.file.display().to_string();
    for file in ["/no/such/file", no_pem.as_str()] {
        let said = config.refused(&["--tls-certificate", file, "--tls-key", file], &[]);
        assert!(said.contains(file), "{said}");
    }
}

#[test]
fn the_example_is_good_and_gives_the_defaults() {
    let example = repository().join("host/examples/placewright.toml");
    let text = fs::read_to_string(&example).unwrap();
    let folder = folder();
    let run = |words: &[&str]| {
        let mut command = placewright(["serve", "--print-config"]);
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.parse::<toml::Table>().unwrap()
    };
    let example = example.display().to_string();
    let (mut given, mut defaults) = (
        run(&["--config", &example]),
        run(&["--data", &folder.path().display().to_string()]),
    );
    for folder in ["data", "units", "policies", "cache", "audit-log"] {
        assert!(given.remove(folder).is_some() && defaults.remove(folder).is_some());
    }
    assert_eq!(given, defaults);
    // What is commented out is good, too, but for files that are not here.
    let of_files = ["tls-", "openid-client-secret", "openid-certificates"];
    let lines: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with("[[") || rest.contains(" = ") => rest,
            _ => line,
        })
        .filter(|line| !of_files.iter().any(|name| line.starts_with(name)))
        .collect();
    let mut text = lines.join("\n");
    // But for what stands for secrets and keys.
    for (number, name) in ["sha256", "sha256", "ed25519"].iter().enumerate() {
        let (before, after) = text.split_once(&format!("{name} = \"<")).unwrap();
        let (_, rest) = after.split_once('"').unwrap();
        let value = match *name {
            "sha256" => hex::encode(Sha256::digest(format!("secret {number}"))),
            _ => "4e8f43386527690ec1b853e90635085d5722a4b4bec4aa3985bb0fbc7d7d066d".into(),
        };
        text = format!("{before}{name} = \"{value}\"{rest}");
    }
    let config = configured(&text);
    let output = config.command(&["--check"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_digest_that_is_none_is_not_revoked_but_refused() {
    let config = configured("revoked = ['5feceb66']\n");
    let said = config.refused(&[], &[]);
    assert!(said.contains(":1:12: \"revoked\" lists digests"), "{said}");
}

#[cfg(unix)]
#[test]
fn folders_that_others_may_write_to_are_refused_unless_that_is_meant() {
    use std::os::unix::fs::PermissionsExt;

    let config = configured("");
    let set = |mode| {
        let rights = fs::Permissions::from_mode(mode);
        fs::set_permissions(config.folder.path(), rights).unwrap();
    };
    set(0o777);
    let said = config.refused(&[], &[]);
    assert!(said.contains("other users may write to"), "{said}");
    assert!(said.contains("chmod go-w"), "{said}");
    let mut command = config.command(&["--check", "--shared-folders"]);
    assert!(command.output().unwrap().status.success());
    set(0o700);
    let units = config.folder.path().join("units");
    fs::create_dir(&units).unwrap();
    fs::set_permissions(&units, fs::Permissions::from_mode(0o757)).unwrap();
    let said = config.refused(&[], &[]);
    assert!(said.contains("units (mode 757)"), "{said}");
    let said = refusal(config.command(&[]));
    assert!(said.contains("units (mode 757)"), "a server starts: {said}");
}
