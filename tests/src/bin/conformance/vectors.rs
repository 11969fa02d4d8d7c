//! Files of vectors: found, told apart by what is in them, and read.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A system whose vectors can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum System {
    Flexiant,
    Aeolus,
    Tricircle,
    Pacemaker,
    Ovirt,
}

impl System {
    /// The system whose schema the first case of a file has.
    fn of(first: &Value) -> Option<Self> {
        if first.get("schema").and_then(Value::as_str) == Some("ovirt-vector/1") {
            return Some(Self::Ovirt);
        }
        if first.get("strategy").is_some() && first.get("resources").is_some() {
            return Some(Self::Pacemaker);
        }
        match first.get("kind").and_then(Value::as_str)? {
            "compile" | "constraint" | "special" | "thresholds" | "place" | "life" => {
                Some(Self::Flexiant)
            }
            "stack" | "conductor" => Some(Self::Aeolus),
            "select" | "sequence" => Some(Self::Tricircle),
            _ => None,
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}

/// One file of vectors.
#[derive(Debug)]
pub(crate) struct VectorFile {
    pub system: System,
    pub path: PathBuf,
    /// The whole file if it is one JSON value, else its lines, each with its number.
    pub cases: Vec<(usize, Value)>,
}

impl VectorFile {
    /// The file's name, for a sentence.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

/// The id of a case, or the number of its line.
pub(crate) fn id(line: usize, case: &Value) -> String {
    let id = case.get("id").and_then(Value::as_str);
    id.map_or_else(|| format!("line {line}"), str::to_owned)
}

/// Read a case into the form of its schema.
///
/// # Errors
/// The field that is wrong and what is wrong with it.
pub(crate) fn read<T: DeserializeOwned>(case: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(case)
        .map_err(|error| format!("field {}: {}", error.path(), error.inner()))
}

/// All files of vectors in these folders, by path; of one system if one is named.
///
/// # Errors
/// A folder that cannot be read, or a file that is no JSON or of no known schema.
pub(crate) fn find(folders: &[PathBuf], only: Option<System>) -> Result<Vec<VectorFile>, String> {
    let mut paths = Vec::new();
    for folder in folders {
        gather(folder, &mut paths)?;
    }
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let file = open(path)?;
        if only.is_none_or(|only| file.system == only) {
            files.push(file);
        }
    }
    Ok(files)
}

fn gather(path: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            gather(&entry.map_err(failed)?.path(), paths)?;
        }
        return Ok(());
    }
    fs::metadata(path).map_err(failed)?;
    if path
        .extension()
        .is_some_and(|it| it == "jsonl" || it == "json")
    {
        paths.push(path.to_owned());
    }
    Ok(())
}

fn open(path: PathBuf) -> Result<VectorFile, String> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
    let mut cases = Vec::new();
    if path.extension().is_some_and(|it| it == "jsonl") {
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let case = serde_json::from_str(line)
                .map_err(|error| format!("{shown}, line {number}: {error}"))?;
            cases.push((number, case));
        }
    } else {
        let case = serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        cases.push((1, case));
    }
    let system = cases.first().and_then(|(_, case)| System::of(case));
    let Some(system) = system else {
        return Err(format!(
            "{shown}: no known schema of vectors; take it out of the folder, or name the folders of the systems one by one"
        ));
    };
    Ok(VectorFile {
        system,
        path,
        cases,
    })
}
