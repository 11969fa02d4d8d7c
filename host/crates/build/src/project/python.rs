//! Projects in Python: one module; the SDK comes with the program that builds.

use super::carried::template;
use super::{Evaluation, File, Project, ProjectError};

/// What makes components of Python, in the version that units are built with.
pub(super) const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";

/// What stands for it in the template of the README.
const PINNED: &str = "componentize-py==0.0.0";

/// All files of a project. Its scenarios are those of the same rule in Rust.
pub(super) fn files(project: &Project) -> Result<Vec<File>, ProjectError> {
    if project.evaluation == Evaluation::WholeTable {
        return Err(ProjectError::WholeTableInPython);
    }
    let variant = project.variant();
    let of = |name: &str| template(&format!("python/project/{name}"));
    let readme = of("README.md")?.replace(PINNED, COMPONENTIZE_PY);
    Ok(vec![
        (
            "pyproject.toml".to_owned(),
            project.filled_quoted(of("pyproject.toml")?),
        ),
        ("README.md".to_owned(), project.readme(&readme)),
        (".gitignore".to_owned(), of("gitignore")?.to_owned()),
        (
            project.language.module().to_owned(),
            template(&format!("python/{variant}/unit.py"))?.to_owned(),
        ),
        (
            format!("scenarios/{}.toml", project.name),
            project.filled(template(&format!("rust/{variant}/scenario.toml"))?),
        ),
    ])
}
