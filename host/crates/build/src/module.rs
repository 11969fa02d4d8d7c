//! From a module that some other compiler makes (C, C++, Zig, Go, AssemblyScript ...) to a
//! component.
//!
//! The project's `unit.toml` says by which command the module is made and where it is then.
//! The module knows what it exports if it was linked with the bindings that wit-bindgen makes;
//! for a compiler that knows nothing of components, `worlds` says it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::{BuildError, Built, imports};

/// The file that makes a folder such a project.
pub(super) const MANIFEST: &str = "unit.toml";

/// The contract, as it is when this program is built.
const CONTRACT: &str = include_str!("../../../../wit/policy.wit");

/// The only system interface for which an adapter can stand.
const WASI: &str = "wasi_snapshot_preview1";

/// What `unit.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// The name of the unit, for its file.
    name: String,
    /// The command that makes the module, run in the folder of `unit.toml`.
    command: Vec<String>,
    /// Where the module is then, from that folder.
    module: PathBuf,
    /// The worlds of the contract that the module exports, if it does not know itself.
    #[serde(default)]
    worlds: Vec<String>,
    /// How the compiler keeps texts, if `worlds` are given.
    #[serde(default)]
    text: TextEncoding,
    /// A module that stands for the system interface `wasi_snapshot_preview1`.
    adapter: Option<PathBuf>,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TextEncoding {
    #[default]
    Utf8,
    Utf16,
}

/// Build the project whose `unit.toml` is given. What its command says goes to standard error.
pub(super) fn build(manifest: &Path) -> Result<Built, BuildError> {
    let home = manifest.parent().unwrap_or(Path::new("."));
    let project = read(manifest)?;
    run(manifest, home, &project.command)?;
    let path = home.join(&project.module);
    let mut module = bytes(&path)?;
    if !project.worlds.is_empty() {
        embed(&mut module, &project).map_err(|error| BuildError::Manifest {
            manifest: manifest.to_owned(),
            said: format!("worlds: {error:#}"),
        })?;
    }
    let adapter = project.adapter.as_ref();
    let adapter = adapter.map(|file| bytes(&home.join(file))).transpose()?;
    let names = imports::foreign(&module, adapter.is_some().then_some(WASI));
    if !names.is_empty() {
        return Err(BuildError::Imports {
            module: path,
            names: imports::listed(&names),
        });
    }
    if !super::is_unit(&module) || !knows_its_world(&module) {
        return Err(BuildError::NoUnitModule(path));
    }
    Ok(Built {
        bytes: super::encode(&module, adapter.as_deref().map(|bytes| (WASI, bytes)))?,
        name: project.name,
        warnings: Vec::new(),
    })
}

fn read(manifest: &Path) -> Result<Manifest, BuildError> {
    let text = fs::read_to_string(manifest)
        .map_err(|error| BuildError::Unreadable(manifest.to_owned(), error))?;
    toml::from_str(&text).map_err(|error| BuildError::Manifest {
        manifest: manifest.to_owned(),
        said: error.to_string(),
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|error| BuildError::Unreadable(path.to_owned(), error))
}

fn run(manifest: &Path, home: &Path, command: &[String]) -> Result<(), BuildError> {
    let manifest = manifest.to_owned();
    let Some((program, arguments)) = command.split_first() else {
        let said = "command: there must be a program to run".to_owned();
        return Err(BuildError::Manifest { manifest, said });
    };
    let mut run = Command::new(program);
    run.args(arguments)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    match run.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(BuildError::Command { manifest, status }),
        Err(error) => Err(BuildError::NoCommand {
            program: program.clone(),
            manifest,
            error,
        }),
    }
}

/// Says in the module what it exports, as bindings would have done.
fn embed(module: &mut Vec<u8>, project: &Manifest) -> anyhow::Result<()> {
    let included = project.worlds.iter().map(|it| format!("include {it}; "));
    let world = format!("world built {{ {} }}\n", included.collect::<String>());
    let mut resolve = Resolve::default();
    let package = resolve.push_str("policy.wit", &(CONTRACT.to_owned() + &world))?;
    let world = resolve.select_world(&[package], Some("built"))?;
    let encoding = match project.text {
        TextEncoding::Utf8 => StringEncoding::UTF8,
        TextEncoding::Utf16 => StringEncoding::UTF16,
    };
    embed_component_metadata(module, &resolve, world, encoding, false)
}

/// Whether the module says of itself what it exports, as components are made from.
fn knows_its_world(module: &[u8]) -> bool {
    wasmparser::Parser::new(0)
        .parse_all(module)
        .filter_map(Result::ok)
        .any(|payload| match payload {
            wasmparser::Payload::CustomSection(section) => {
                section.name().starts_with("component-type")
            }
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project whose module is there already, made of this text.
    fn project(more: &str, module: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join(MANIFEST);
        let text =
            format!("name = \"sample\"\nmodule = \"core.wasm\"\ncommand = [\"true\"]\n{more}");
        fs::write(&manifest, text).unwrap();
        let module = wat::parse_str(module).unwrap();
        fs::write(folder.path().join("core.wasm"), module).unwrap();
        (folder, manifest)
    }

    fn refused(more: &str, module: &str) -> String {
        let (_folder, manifest) = project(more, module);
        build(&manifest).unwrap_err().to_string()
    }

    #[test]
    fn a_module_that_is_no_unit_is_told_what_it_lacks() {
        let said = refused("", "(module)");
        assert!(
            said.contains("core.wasm does not say that it exports placewright:policy/unit@"),
            "{said}"
        );
    }

    #[test]
    fn what_a_module_may_not_import_is_named() {
        let module = r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#;
        let said = refused("", module);
        assert!(
            said.contains("imports wasi_snapshot_preview1.fd_write"),
            "{said}"
        );
        assert!(said.contains("printf"), "{said}");
    }

    #[test]
    fn a_manifest_that_says_too_little_or_too_much_is_told_where() {
        let said = refused("adaptor = \"a.wasm\"", "(module)");
        assert!(
            said.contains("unit.toml") && said.contains("adaptor"),
            "{said}"
        );
        let said = refused("worlds = [\"judgeing\"]", "(module)");
        assert!(said.contains("judgeing"), "{said}");
    }

    #[test]
    fn a_command_that_is_not_there_or_fails_is_told() {
        for (command, told) in [
            ("[\"no-such-compiler\"]", "cannot run no-such-compiler"),
            ("[\"false\"]", "failed"),
            ("[]", "there must be a program to run"),
        ] {
            let (_folder, manifest) = project("", "(module)");
            let text = format!("name = \"sample\"\nmodule = \"core.wasm\"\ncommand = {command}\n");
            fs::write(&manifest, text).unwrap();
            let said = build(&manifest).unwrap_err().to_string();
            assert!(said.contains(told), "{said}");
        }
    }

    /// The least module of a unit, in terms of the canonical ABI: what it describes is read
    /// from memory, which is all zero.
    const LEAST: &str = r#"(module
        (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 4096)
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32) i32.const 16))"#;

    #[test]
    fn a_module_that_knows_nothing_of_components_is_told_its_worlds() {
        let (_folder, manifest) = project("worlds = [\"described\"]", LEAST);
        let built = build(&manifest).unwrap();
        assert_eq!(built.name, "sample");
        assert!(wasmparser::Parser::is_component(&built.bytes));
        let (_folder, manifest) = project("", LEAST);
        let said = build(&manifest).unwrap_err().to_string();
        assert!(said.contains("worlds = [\"judging\"]"), "{said}");
    }
}
