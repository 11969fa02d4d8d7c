//! Projects in JavaScript and TypeScript: one module, and what an editor wants to know of the
//! SDK, which comes with the program that builds.

use super::carried::template;
use super::{File, Project, ProjectError};

/// What the SDK's functions are called with, for editors.
const TYPES: &str = include_str!("../../../../../sdk/javascript/src/index.d.ts");

/// What differs between the two.
pub(super) struct Dialect {
    /// Its folder of templates.
    folder: &'static str,
    /// What tells editors where the types are.
    configuration: &'static str,
}

pub(super) const JAVASCRIPT: Dialect = Dialect {
    folder: "javascript",
    configuration: "jsconfig.json",
};

pub(super) const TYPESCRIPT: Dialect = Dialect {
    folder: "typescript",
    configuration: "tsconfig.json",
};

/// All files of a project. Its scenarios are those of the same rule in Rust.
pub(super) fn files(project: &Project, dialect: &Dialect) -> Result<Vec<File>, ProjectError> {
    let Dialect {
        folder,
        configuration,
    } = dialect;
    let variant = project.variant();
    let module = project.language.module();
    let of = |name: &str| template(&format!("{folder}/project/{name}"));
    Ok(vec![
        (
            "package.json".to_owned(),
            project.filled_quoted(of("package.json")?),
        ),
        ("README.md".to_owned(), project.readme(of("README.md")?)),
        (".gitignore".to_owned(), of("gitignore")?.to_owned()),
        ((*configuration).to_owned(), of(configuration)?.to_owned()),
        ("types/placewright.d.ts".to_owned(), TYPES.to_owned()),
        (
            module.to_owned(),
            template(&format!("{folder}/{variant}/{module}"))?.to_owned(),
        ),
        (
            format!("scenarios/{}.toml", project.name),
            project.filled(template(&format!("rust/{variant}/scenario.toml"))?),
        ),
    ])
}
