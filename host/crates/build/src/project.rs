//! The project of a new unit: a small rule that works, its tests, scenarios, and the SDK.
//!
//! Whatever the language, a project is a list of files that come with the program
//! (`host/templates/LANGUAGE`), with the unit's name and what it is for written in. It
//! builds without a network: in Rust against the SDK of the program that made it, which lies in
//! the project, in other languages against that of the program that builds it.

mod carried;
mod javascript;
mod lock;
mod name;
mod python;
mod rust;

pub use name::{ProjectNameError, check as check_name};

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What stands for the name of the unit in every template.
const NAME: &str = "my-unit";

/// What stands for its description in every template.
const DESCRIPTION: &str = "What my-unit is for";

/// A unit to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// What it is called, in policies too.
    pub name: String,
    /// What it is written in.
    pub language: Language,
    /// What it does; at least one.
    pub kinds: BTreeSet<Kind>,
    /// Whether it looks at one host at a time.
    pub evaluation: Evaluation,
    /// What it is for, in a sentence; what the template does if none.
    pub description: Option<String>,
}

/// A language that units can be begun in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// With the crate `placewright-sdk`.
    Rust,
    /// With the package `placewright`; row-wise units alone.
    Python,
    /// With the package `placewright`.
    JavaScript,
    /// With the same package, and its types.
    TypeScript,
}

/// What a unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It says which hosts are left out, and why.
    Filter,
    /// It says what each host would cost.
    Cost,
}

/// How many hosts a unit looks at for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluation {
    /// One.
    RowWise,
    /// All.
    WholeTable,
}

/// Why there is no new project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// No unit can be called so.
    #[error(transparent)]
    Name(#[from] ProjectNameError),
    /// It would do nothing.
    #[error("a unit does at least one thing: name a filter, a cost function, or both")]
    NoKind,
    /// The description is shown in one line.
    #[error(
        "the description holds a line break or another control character: write one sentence in one line"
    )]
    Description,
    /// Nothing is overwritten.
    #[error(
        "{} is there already and is left as it is: choose another name, or another folder with --dir", .0.display()
    )]
    Exists(PathBuf),
    /// The SDK for Python shows a unit one host at a time.
    #[error(
        "a unit in Python can only be row-wise: write one that compares hosts in Rust, JavaScript or TypeScript, with --lang"
    )]
    WholeTableInPython,
    /// The folder or a file in it cannot be written.
    #[error("cannot write {}", .0.display())]
    Unwritable(PathBuf, #[source] io::Error),
    /// What comes with the program does not fit together.
    #[error("the program carries an SDK that cannot be laid out: {0}")]
    Sdk(String),
}

/// A file of a project: where, from its folder, and what.
type File = (String, String);

/// Write the project into `folder`, which must not be there yet; its parents may be.
///
/// # Errors
/// If the name or the description cannot be a unit's, the folder is there, or it cannot be
/// written, after which it is not there.
pub fn create(project: &Project, folder: &Path) -> Result<(), ProjectError> {
    name::check(&project.name)?;
    if project.kinds.is_empty() {
        return Err(ProjectError::NoKind);
    }
    if project.description().chars().any(char::is_control) {
        return Err(ProjectError::Description);
    }
    let files = match project.language {
        Language::Rust => rust::files(project)?,
        Language::Python => python::files(project)?,
        Language::JavaScript => javascript::files(project, &javascript::JAVASCRIPT)?,
        Language::TypeScript => javascript::files(project, &javascript::TYPESCRIPT)?,
    };
    let unwritable = |error| ProjectError::Unwritable(folder.to_owned(), error);
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(unwritable)?;
    }
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ProjectError::Exists(folder.to_owned()),
        _ => unwritable(error),
    })?;
    write(folder, &files).inspect_err(|_| {
        // Half a project is of no use; that it cannot be removed adds nothing to the error.
        let _ = fs::remove_dir_all(folder);
    })
}

fn write(folder: &Path, files: &[File]) -> Result<(), ProjectError> {
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| ProjectError::Unwritable(path, error))?;
    }
    Ok(())
}

impl Project {
    /// What it is for: what was given, or what the templates of all languages do.
    pub fn description(&self) -> &str {
        let given = self.description.as_deref().map(str::trim);
        if let Some(given) = given.filter(|given| !given.is_empty()) {
            return given;
        }
        let has = |kind| self.kinds.contains(&kind);
        match (self.evaluation, has(Kind::Filter), has(Kind::Cost)) {
            (Evaluation::RowWise, true, false) => "Keeps hosts with enough memory left to promise.",
            (Evaluation::RowWise, false, _) => {
                "Prefers hosts of which the smallest share of the memory would be promised."
            }
            (Evaluation::RowWise, true, true) => {
                "Keeps hosts with enough memory left to promise, and prefers the emptiest."
            }
            (Evaluation::WholeTable, true, false) => {
                "Leaves out hosts that are much fuller than the emptiest one."
            }
            (Evaluation::WholeTable, false, _) => {
                "Prefers hosts that would come closest to the mean share of promised memory."
            }
            (Evaluation::WholeTable, true, true) => {
                "Leaves out hosts that are much fuller than the emptiest one, and prefers those near the mean."
            }
        }
    }

    /// The folder of templates for this evaluation and these kinds, below a language's.
    fn variant(&self) -> String {
        let evaluation = match self.evaluation {
            Evaluation::RowWise => "row-wise",
            Evaluation::WholeTable => "whole-table",
        };
        let kinds: Vec<&str> = self.kinds.iter().map(Kind::name).collect();
        format!("{evaluation}/{}", kinds.join("-and-"))
    }

    /// The text of a template with the unit's name and description in it.
    fn filled(&self, template: &str) -> String {
        template
            .replace(DESCRIPTION, self.description())
            .replace(NAME, &self.name)
    }

    /// As [`Project::filled`], with the description as it stands between quotation marks.
    fn filled_quoted(&self, template: &str) -> String {
        let description = self.description();
        let description = description.replace('\\', "\\\\").replace('"', "\\\"");
        template
            .replace(DESCRIPTION, &description)
            .replace(NAME, &self.name)
    }

    /// A README: filled, and without what concerns kinds that the unit is not of.
    fn readme(&self, template: &str) -> String {
        let mut text = self.filled(template);
        for (kind, list) in [(Kind::Filter, "[[filters]]"), (Kind::Cost, "[[costs]]")] {
            if !self.kinds.contains(&kind) {
                text = without_entry(&text, list);
            }
        }
        text
    }
}

impl Language {
    /// The file of a project that holds the rule, from its folder.
    pub fn module(&self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Python => "unit.py",
            Self::JavaScript => "unit.js",
            Self::TypeScript => "unit.ts",
        }
    }

    /// The command that gets what builds units in this language, once and with a network; none
    /// where units are built with what compiles the language anyway.
    pub fn install(&self) -> Option<String> {
        match self {
            Self::Rust => None,
            Self::Python => Some(format!(
                "python3 -m venv .venv && .venv/bin/python -m pip install {}",
                python::COMPONENTIZE_PY
            )),
            Self::JavaScript | Self::TypeScript => Some("npm install".to_owned()),
        }
    }
}

impl Kind {
    /// As it is named on the command line and in the folders of templates.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Cost => "cost",
        }
    }
}

/// A text with a policy in it, without the entry of that list.
fn without_entry(text: &str, list: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line != list {
            kept.push(line);
            continue;
        }
        while lines
            .next_if(|line| !line.is_empty() && *line != "```")
            .is_some()
        {}
        match (kept.last(), lines.peek()) {
            // The first entry goes with the empty line after it, the last with the one before.
            (_, Some(&"")) => drop(lines.next()),
            (Some(&""), _) => drop(kept.pop()),
            _ => {}
        }
    }
    kept.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
