//! What a component imports and exports, read without running or compiling it,
//! and whether its description fits that and the schema.

mod bounds;
mod description;
mod effort;
mod problems;
mod reads;
mod settings;

#[cfg(test)]
mod tests;

pub use description::{is_name, problems};

use semver::Version;
use wasmparser::{ComponentTypeRef, CustomSectionReader, KnownCustom, Parser, Payload};

use super::LoadError;
use crate::contract::{LOG, PACKAGE, Part, TYPES, VERSION};
use effort::Effort;

/// The interfaces of a component that concern the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interfaces {
    /// Imports, by the names in the component.
    pub(super) imports: Vec<String>,
    /// Exported parts with the names in the component. Interfaces that this
    /// version of the contract does not know are no parts and left out.
    pub(super) exports: Vec<(Part, String)>,
    /// Whether it was written with the SDK for Rust, as far as its modules tell.
    pub(super) by_sdk_for_rust: bool,
}

impl Interfaces {
    /// Read them, and refuse what no unit may import, versions that are not
    /// offered, and components that are no units.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        let names = Names::read(bytes)?;
        let forbidden: Vec<_> = names.imports.iter().filter(|name| !allowed(name)).collect();
        if !forbidden.is_empty() {
            return Err(LoadError::Imports(forbidden.into_iter().cloned().collect()));
        }
        for name in names.imports.iter().chain(&names.exports) {
            check_version(name)?;
        }
        let exports: Vec<_> = names
            .exports
            .into_iter()
            .filter_map(|name| Some((Part::from_name(parse(&name)?.interface)?, name)))
            .collect();
        if !exports.iter().any(|(part, _)| *part == Part::Unit) {
            return Err(LoadError::NoUnit);
        }
        Ok(Self {
            imports: names.imports,
            exports,
            by_sdk_for_rust: names.by_sdk_for_rust,
        })
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        self.exports.iter().map(|(part, _)| *part)
    }
}

/// All names at the outermost level of a component, and what made it.
struct Names {
    imports: Vec<String>,
    exports: Vec<String>,
    by_sdk_for_rust: bool,
}

impl Names {
    /// Also refuses what would take too much to compile.
    fn read(bytes: &[u8]) -> Result<Self, effort::Refused> {
        let mut effort = Effort::default();
        let (mut imports, mut exports) = (Vec::new(), Vec::new());
        let mut by_sdk_for_rust = false;
        // Modules and components inside have imports and exports of their own.
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload?;
            effort.take(&payload)?;
            match payload {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth -= 1,
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        let import = import?;
                        imports.push(named(
                            import.name.name,
                            matches!(import.ty, ComponentTypeRef::Instance(_)),
                        ));
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        exports.push(export?.name.name.to_owned());
                    }
                }
                Payload::CustomSection(section) => by_sdk_for_rust |= is_by_sdk_for_rust(&section),
                _ => {}
            }
        }
        Ok(Self {
            imports,
            exports,
            by_sdk_for_rust,
        })
    }
}

/// What makes the bindings of the SDK for Rust, by the name that it leaves in a module.
const BINDINGS_FOR_RUST: &str = "wit-bindgen-rust";

/// Whether a section tells that what made its module are those bindings. One that cannot be read
/// tells nothing.
fn is_by_sdk_for_rust(section: &CustomSectionReader<'_>) -> bool {
    let KnownCustom::Producers(fields) = section.as_known() else {
        return false;
    };
    let fields = fields.into_iter().filter_map(Result::ok);
    let mut makers = fields.flat_map(|field| field.values.into_iter().filter_map(Result::ok));
    makers.any(|maker| maker.name == BINDINGS_FOR_RUST)
}

/// An import that is no interface is named so that it can match none.
fn named(name: &str, is_interface: bool) -> String {
    if is_interface {
        name.to_owned()
    } else {
        format!("{name} (not an interface)")
    }
}

/// An interface of the contract's package, as a component names it.
struct Name<'a> {
    interface: &'a str,
    version: Option<Version>,
}

fn parse(name: &str) -> Option<Name<'_>> {
    let rest = name.strip_prefix(PACKAGE)?.strip_prefix('/')?;
    let (interface, version) = match rest.split_once('@') {
        Some((interface, version)) => (interface, Version::parse(version).ok()),
        None => (rest, None),
    };
    Some(Name { interface, version })
}

fn allowed(name: &str) -> bool {
    parse(name).is_some_and(|name| name.interface == LOG || name.interface == TYPES)
}

/// Versions fit by the rules of semantic versioning: for 0.x, x must be the same.
fn check_version(name: &str) -> Result<(), LoadError> {
    let Some(Name {
        version: Some(theirs),
        ..
    }) = parse(name)
    else {
        return Ok(());
    };
    let Ok(ours) = Version::parse(VERSION) else {
        return Ok(());
    };
    let line = |version: &Version| match version.major {
        0 => (0, version.minor),
        major => (major, 0),
    };
    if line(&theirs) == line(&ours) && theirs.pre == ours.pre {
        return Ok(());
    }
    Err(LoadError::Version {
        newer: theirs > ours,
        theirs,
    })
}
