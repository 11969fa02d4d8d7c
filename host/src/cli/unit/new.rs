//! `placewright unit new`.

mod ask;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use placewright::unit::build;
use placewright::unit::project::{self, Project};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Begin a unit: a project with a rule that works, its tests, scenarios, and the SDK.
///
/// The project stands on its own: it needs no copy of Placewright's repository, builds without a
/// network against the SDK of this program, and can be kept in a repository of yours. On a
/// terminal, what is not given is asked for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit new rack-spread
  placewright unit new licensed-hosts --kind filter --description 'Keeps licensed hosts.'
  placewright unit new even-memory --kind filter,cost --evaluation whole-table --dir units/even

See placewright --help for exit codes.")]
pub struct New {
    /// What the unit is called, in policies too: lower-case words joined by hyphens
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The language that it is written in
    #[arg(long, value_enum, default_value_t, value_name = "LANGUAGE")]
    lang: Language,
    /// What it does; if not given, both
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    kind: Vec<Kind>,
    /// How many hosts it looks at for one answer; if not given, row-wise
    #[arg(long, value_enum, value_name = "EVALUATION")]
    evaluation: Option<Evaluation>,
    /// What it is for, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The folder to make; if not given, NAME
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Ask nothing, on a terminal neither
    #[arg(long)]
    no_questions: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Language {
    #[default]
    Rust,
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
    /// One host at a time; asked again only about hosts that have changed
    RowWise,
    /// All hosts at once, for rules that compare them
    WholeTable,
}

impl New {
    /// Ask for what is missing, make the project, and say what comes next.
    pub fn run(mut self) -> Result<Answer, Failure> {
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
            language: self.lang.into(),
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
    let mut text =
        format!("The unit {name} is in {place}: begin with its README.md and src/lib.rs.\n");
    if let Err(missing) = build::is_ready(folder) {
        let _ = write!(text, "\nIt cannot be built yet: {missing}\n");
    }
    text.push_str("\nNext:\n");
    let commands = [
        (format!("cd {place}"), ""),
        ("cargo test".to_owned(), "the rule, as plain Rust"),
        ("placewright unit build".to_owned(), "makes the component"),
        (
            format!("placewright unit check {name}.wasm"),
            "whether a server would let it in",
        ),
    ];
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

impl From<Language> for project::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
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
