//! Every command explains itself.

use crate::run::{INPUT, placewright};

const COMMANDS: [&str; 25] = [
    "demo",
    "place",
    "explain",
    "capacity",
    "what-if",
    "simulate",
    "compare-openb",
    "balance",
    "policy list",
    "policy show",
    "policy check",
    "policy import-ovirt",
    "columns",
    "serve",
    "token new",
    "unit list",
    "unit build",
    "unit test",
    "unit run",
    "unit inspect",
    "unit check",
    "store check",
    "restore",
    "completions",
    "manual",
];

fn help(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    placewright(&words).done()
}

#[test]
fn the_help_of_the_program_lists_the_commands_and_the_exit_codes() {
    let text = placewright(&["--help"]).done();
    for command in COMMANDS {
        let first = command.split(' ').next().unwrap();
        assert!(text.contains(&format!("\n  {first} ")), "{first}: {text}");
    }
    assert!(text.contains("Exit codes:"), "{text}");
    for code in 0..=3 {
        assert!(text.contains(&format!("\n  {code}  ")), "{code}: {text}");
    }
}

#[test]
fn the_help_of_every_command_says_what_it_does_and_gives_an_example() {
    for command in COMMANDS {
        let text = help(command);
        assert!(text.contains("Example"), "{command}: {text}");
        assert!(
            text.contains(&format!("\n  placewright {command}")),
            "{command}: {text}"
        );
    }
}

#[test]
fn the_help_of_commands_that_can_fail_tells_of_exit_codes() {
    for command in COMMANDS {
        let prints_only = [
            "completions",
            "columns",
            "policy list",
            "policy show",
            "unit list",
        ];
        if !prints_only.contains(&command) {
            let text = help(command).to_lowercase();
            assert!(text.contains("exit code"), "{command}: {text}");
        }
    }
}

#[test]
fn without_a_command_the_help_is_printed_and_the_exit_code_says_so() {
    let run = placewright::<&str>(&[]);
    assert_eq!(run.code, INPUT);
    assert!(run.err.contains("Usage: placewright"), "{}", run.err);
}

#[test]
fn a_misspelt_command_or_flag_is_told_with_the_nearest() {
    let run = placewright(&["plase"]);
    assert_eq!(run.code, INPUT);
    assert!(run.err.contains("'place'"), "{}", run.err);
    let run = placewright(&["place", "--clustre", "x"]);
    assert_eq!(run.code, INPUT);
    assert!(run.err.contains("'--cluster'"), "{}", run.err);
}

#[test]
fn every_shell_gets_a_script_of_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = placewright(&["completions", shell]).done();
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
    }
}

#[test]
fn columns_are_shown_with_their_meaning() {
    let text = placewright(&["columns", "--table", "hosts"]).done();
    assert!(text.contains("memory.total"), "{text}");
    let said = placewright(&["columns", "--table", "hostz"]).refused(INPUT);
    assert!(said.contains("hosts"), "{said}");
    let tables = placewright(&["columns", "--format", "json"]).json();
    assert!(tables.as_array().unwrap().len() > 5);
}

#[test]
fn policies_that_come_with_the_program_are_listed_and_shown() {
    let list = placewright(&["policy", "list"]).done();
    for name in ["none", "even-distribution", "power-saving", "best-fit"] {
        assert!(list.contains(name), "{list}");
        let text = placewright(&["policy", "show", name]).done();
        assert!(text.contains("unit = "), "{text}");
    }
    let said = placewright(&["policy", "show", "best-fitt"]).refused(INPUT);
    assert!(said.contains("did you mean \"best-fit\"?"), "{said}");
}

#[test]
fn units_that_come_with_the_program_are_listed_with_their_parts() {
    let list = placewright(&["unit", "list"]).done();
    for name in ["memory", "cpu", "affinity"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let units = placewright(&["unit", "list", "--format", "json"]).json();
    let units = units.as_array().unwrap();
    let memory = units.iter().find(|unit| unit["name"] == "memory").unwrap();
    assert!(
        memory["parts"]
            .as_array()
            .is_some_and(|parts| !parts.is_empty())
    );
    assert!(
        memory["summary"]
            .as_str()
            .is_some_and(|text| text.len() > 10)
    );
}

#[test]
fn the_secret_of_a_token_is_not_among_the_lines_that_are_stored() {
    let run = placewright(&["token", "new", "--name", "alice", "--role", "admin"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("[[tokens]]\n"), "{}", run.out);
    assert!(!run.out.contains("pw_"), "{}", run.out);
    assert!(
        run.err.lines().any(|line| line.starts_with("pw_")),
        "{}",
        run.err
    );
}
