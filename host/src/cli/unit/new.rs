//! `placewright unit new`.

mod ask;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use placewright_build as build;
use placewright_build::project::{self, Project};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Begin a unit: a project in Rust, Python, JavaScript or TypeScript, with a rule that works.
///
/// The project is complete: it needs no copy of Placewright's repository, builds offline against the
/// SDK of this program, and can live in your own repository. It contains the rule, scenarios and, in
/// Rust, tests and the SDK. Python and JavaScript need packages that build units; the command prints
/// how to install them. On a terminal it asks for everything that you did not give.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit new rack-spread
  placewright unit new licensed-hosts --kind filter \\
      --description 'Keeps licensed hosts.'
  placewright unit new even-memory --kind filter,cost \\
      --evaluation whole-table --dir units/even
  placewright unit new quiet-racks --lang python
  placewright unit new tenant-spread --lang typescript --kind cost \\
      --evaluation whole-table

See placewright --help for exit codes.")]
pub(crate) struct New {
    /// Name of the unit, also in policies: lower-case words joined by hyphens
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Language of the sources. Default: rust
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Option<Language>,
    /// What it does. Default: filter and cost
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    kind: Vec<Kind>,
    /// How many hosts it looks at for one answer. Default: row-wise
    #[arg(long, value_enum, value_name = "EVALUATION")]
    evaluation: Option<Evaluation>,
    /// One sentence that says what it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The folder to create. Default: NAME
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Ask no questions, not even on a terminal
    #[arg(long)]
    no_questions: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Fastest; can be every part that a unit may have
    Rust,
    /// Filters and cost functions, row-wise
    Python,
    /// Filters and cost functions
    #[value(name = "javascript")]
    JavaScript,
    /// Filters and cost functions, with types
    #[value(name = "typescript")]
    TypeScript,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Says which hosts are left out, and why
    Filter,
    /// Says what each host would cost
    Cost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Evaluation {
    /// One host at a time; called again only for hosts that have changed
    RowWise,
    /// All hosts at once, for rules that compare them
    WholeTable,
}

impl New {
    /// Ask for what is missing, make the project, and say what comes next.
    pub(crate) fn run(mut self) -> Result<Answer, Failure> {
        if !self.no_questions && io::stdin().is_terminal() && io::stderr().is_terminal() {
            ask::for_what_is_missing(&mut self)?;
        }
        let Some(name) = self.name else {
            let sentence = "the unit has no name: write placewright unit new NAME";
            return Err(Failure::input_because(sentence));
        };
        if self.kind.is_empty() {
            self.kind = Kind::value_variants().to_vec();
        }
        let project = Project {
            language: self.lang.unwrap_or(Language::Rust).into(),
            kinds: self
                .kind
                .into_iter()
                .map(Into::into)
                .collect::<BTreeSet<_>>(),
            evaluation: self.evaluation.unwrap_or(Evaluation::RowWise).into(),
            description: self.description,
            name,
        };
        let folder = self.dir.unwrap_or_else(|| PathBuf::from(&project.name));
        project::create(&project, &folder).map_err(Failure::input)?;
        output::print(&next(&project, &folder))?;
        Ok(Answer::Yes)
    }
}

/// What was made, and the commands that come next.
fn next(project: &Project, folder: &Path) -> String {
    let (name, place) = (&project.name, folder.display());
    let module = project.language.module();
    let mut text =
        format!("The unit {name} is in {place}: begin with its README.md and {module}.\n");
    let mut commands = vec![(format!("cd {place}"), "")];
    if let Err(missing) = build::is_ready(folder, &tools()) {
        let _ = write!(text, "\nIt cannot be built yet: {missing}\n");
        let install = project.language.install();
        commands.extend(install.map(|command| (command, "once, with a network")));
    }
    if project.language == project::Language::Rust {
        commands.push(("cargo test".to_owned(), "the rule, as plain Rust"));
    }
    commands.push(("placewright unit build".to_owned(), "makes the component"));
    commands.push((
        format!("placewright unit check {name}.wasm"),
        "whether a server would let it in",
    ));
    commands.push(("placewright unit test".to_owned(), "tries the scenarios"));
    commands.push((
        format!("placewright unit bench {name}.wasm"),
        "what it costs, beside the limits",
    ));
    commands.push((
        format!("cp {name}.wasm DATA/units/"),
        "into force, in a server that runs on the folder DATA",
    ));
    text.push_str("\nNext:\n");
    let width = commands.iter().map(|(command, _)| command.len()).max();
    for (command, what) in &commands {
        let width = width.unwrap_or_default();
        let line = match *what {
            "" => format!("  {command}"),
            what => format!("  {command:width$}  # {what}"),
        };
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Where `unit build` looks for what builds units, if its command line says nothing.
fn tools() -> build::Options {
    let path = |variable| env::var_os(variable).map(PathBuf::from);
    build::Options {
        python: path("PLACEWRIGHT_PYTHON"),
        node: path("PLACEWRIGHT_NODE"),
        node_modules: path("PLACEWRIGHT_NODE_MODULES"),
        ..build::Options::default()
    }
}

impl From<Language> for project::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
            Language::Python => Self::Python,
            Language::JavaScript => Self::JavaScript,
            Language::TypeScript => Self::TypeScript,
        }
    }
}

impl From<Kind> for project::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Filter => Self::Filter,
            Kind::Cost => Self::Cost,
        }
    }
}

impl From<Evaluation> for project::Evaluation {
    fn from(evaluation: Evaluation) -> Self {
        match evaluation {
            Evaluation::RowWise => Self::RowWise,
            Evaluation::WholeTable => Self::WholeTable,
        }
    }
}
