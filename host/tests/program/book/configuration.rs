//! The table of options of the server: written from what `placewright serve --help` says.

use placewright_tests::server::placewright;

use super::check_tables;

/// An option.
#[derive(Debug, PartialEq)]
struct Described {
    heading: String,
    name: String,
    default: String,
    meaning: String,
}

/// The options below a heading, in the order of the help. Those above the first are of the
/// command, and no keys.
fn described(help: &str) -> Vec<Described> {
    let mut options: Vec<Described> = Vec::new();
    let mut heading = "";
    let mut is_text = false;
    for line in help.lines() {
        let text = line.trim();
        let is_of_keys = !heading.is_empty() && heading != "Options";
        if let Some(title) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            heading = title;
        } else if let Some(flag) = text.strip_prefix("--").filter(|_| is_of_keys) {
            let end = flag.find(['[', ' ', '=']).unwrap_or(flag.len());
            is_text = true;
            options.push(Described {
                heading: heading.to_owned(),
                name: flag[..end].to_owned(),
                default: String::new(),
                meaning: String::new(),
            });
        } else if text.is_empty() {
            is_text = false;
        } else if let Some(option) = options.last_mut().filter(|_| is_text) {
            if !option.meaning.is_empty() {
                option.meaning.push(' ');
            }
            option.meaning.push_str(text);
        }
    }
    for option in &mut options {
        let default = option.meaning.rfind(" [default: ");
        if let Some(at) = default {
            let value = option.meaning.split_off(at);
            let value = value
                .trim_start_matches(" [default: ")
                .trim_end_matches(']');
            value.clone_into(&mut option.default);
        }
        // The key of a file is the flag without its dashes.
        option.meaning = option.meaning.replace("--", "");
    }
    options
}

fn table(options: &[Described]) -> String {
    let mut table = String::new();
    let mut heading = "";
    for option in options {
        if option.heading != heading {
            heading = &option.heading;
            table.push_str(&format!(
                "\n## {heading}\n\n| Key | Default | Meaning |\n|---|---|---|\n"
            ));
        }
        let default = match &*option.default {
            "" => "not set".to_owned(),
            value if value.contains(' ') && !value.starts_with(char::is_numeric) => {
                value.to_owned()
            }
            value => format!("`{value}`"),
        };
        table.push_str(&format!(
            "| `{}` | {default} | {} |\n",
            option.name, option.meaning
        ));
    }
    table + "\n"
}

#[test]
fn the_page_of_the_configuration_has_every_option() {
    let output = placewright(["serve", "--help"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let options = described(&String::from_utf8(output.stdout).unwrap());
    assert!(options.len() > 40, "{options:?}");
    check_tables("configuration.md", &[("options", table(&options))]);
}

#[test]
fn options_are_read_from_a_help_with_their_headings_and_defaults() {
    let help = "Does.\n\nOptions:\n      --check\n          No key\n\nPlaces:\n      --shared[=<BOOL>]\n          Use what\n          there is, as with --data [default: false]\n          \n          [env: X]\n";
    let expected = Described {
        heading: "Places".to_owned(),
        name: "shared".to_owned(),
        default: "false".to_owned(),
        meaning: "Use what there is, as with data".to_owned(),
    };
    assert_eq!(described(help), [expected]);
}
