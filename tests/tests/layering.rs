//! The modules of the host stand in layers, and each uses only what is below it.

use std::fs;
use std::path::{Path, PathBuf};

use placewright_tests::repository;

/// From the bottom up. A module may use itself and the modules before it.
const LAYERS: [&str; 29] = [
    "sync",
    "ownership",
    "model",
    "contract",
    "engine",
    "unit",
    "generation",
    "library",
    "build",
    "project",
    "document",
    "policy",
    "ovirt",
    "ganeti",
    "inventory",
    "chain",
    "scheduler",
    "questions",
    "plugins",
    "scenario",
    "store",
    "telemetry",
    "audit",
    "deployment",
    "api",
    "simulate",
    "bench",
    "cli",
    "main",
];

#[test]
fn every_module_of_the_host_uses_only_modules_below_it() {
    let root = repository().join("host/src");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    assert!(files.len() > 20, "host/src holds the sources");
    let problems: Vec<String> = files
        .iter()
        .flat_map(|file| file.upward_edges(&root))
        .collect();
    assert!(
        problems.is_empty(),
        "{}\nmove what is used down, or pass it in; if the layers themselves have changed, say so in {}",
        problems.join("\n"),
        file!()
    );
}

#[test]
fn the_papers_list_the_layers_and_name_files_that_are_there() {
    let read = |name: &str| fs::read_to_string(repository().join(name)).unwrap();
    let page = read("ARCHITECTURE.md");
    let (_, list) = page.split_once("<!-- layers -->").unwrap();
    let (list, _) = list.split_once("<!-- /layers -->").unwrap();
    let names = list.lines().filter_map(|line| line.split('`').nth(1));
    assert_eq!(names.collect::<Vec<_>>(), LAYERS);
    for page in [page, read("CONTRIBUTING.md")] {
        let links = page.split("](").skip(1);
        let links: Vec<&str> = links.filter_map(|rest| rest.split(')').next()).collect();
        let is_missing = |link: &&&str| !repository().join(link).exists();
        let missing: Vec<_> = links.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(links.len() > 10);
    }
}

#[test]
fn paths_are_found_wherever_they_stand_in_code() {
    let code = "use crate::model::{Host, Vm};\nuse crate::{engine, unit::{Unit, build}};\n\
                /// See [`crate::cli`].\n// crate::cli\nfn f(x: crate::chain::Chain) {}\n\
                #[cfg(test)]\nmod tests {\n use crate::cli::run;\n}\n";
    let found = used_modules(&production(code));
    assert_eq!(found, ["model", "engine", "unit", "chain"]);
}

#[test]
fn modules_that_are_only_for_tests_are_known() {
    let code = "mod build;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod testing;\n";
    assert_eq!(modules_for_tests(code), ["tests", "testing"]);
}

/// A source file of the host.
struct Source {
    /// Relative to `host/src`.
    path: PathBuf,
    /// The module of the outermost level that it belongs to.
    module: String,
    code: String,
}

impl Source {
    fn upward_edges(&self, root: &Path) -> Vec<String> {
        let here = layer(&self.module);
        used_modules(&self.code)
            .into_iter()
            .filter(|used| *used != self.module && layer(used) >= here)
            .map(|used| {
                let target = [format!("{used}.rs"), format!("{used}/mod.rs")];
                let target = target.iter().find(|file| root.join(file).is_file());
                format!(
                    "host/src/{} uses host/src/{}, which is above it",
                    self.path.display(),
                    target.unwrap_or(&used)
                )
            })
            .collect()
    }
}

fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|known| *known == module);
    layer.unwrap_or_else(|| panic!("say in {} where \"{module}\" stands", file!()))
}

/// All files below `folder`, those apart that are compiled for tests alone.
fn collect(root: &Path, folder: &Path, files: &mut Vec<Source>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let sources: Vec<(PathBuf, String)> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    let parent = folder.with_extension("rs");
    let declared_above = fs::read_to_string(parent).unwrap_or_default();
    let mut for_tests = modules_for_tests(&declared_above);
    for (path, text) in &sources {
        if path.ends_with("lib.rs") || path.ends_with("main.rs") || path.ends_with("mod.rs") {
            for_tests.extend(modules_for_tests(text));
        }
    }
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if for_tests.contains(&name) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Some((_, text)) = sources.iter().find(|(source, _)| *source == path) {
            let path = path.strip_prefix(root).unwrap().to_owned();
            let module = Path::new(path.iter().next().unwrap());
            let module = module.file_stem().unwrap().to_string_lossy().into_owned();
            if module != "lib" {
                let code = production(text);
                files.push(Source { path, module, code });
            }
        }
    }
}

/// The names of the modules in files of their own that stand below `#[cfg(test)]`.
fn modules_for_tests(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines
        .windows(2)
        .filter(|pair| pair[0] == "#[cfg(test)]")
        .filter_map(|pair| {
            let (_, name) = pair[1].strip_suffix(';')?.split_once("mod ")?;
            Some(name.to_owned())
        })
        .collect()
}

/// The code without comments and without the module of tests, which comes last.
fn production(text: &str) -> String {
    let tests = text
        .lines()
        .zip(text.lines().skip(1))
        .position(|(one, next)| {
            one == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{')
        });
    text.lines()
        .take(tests.unwrap_or(usize::MAX))
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The modules of the outermost level that the code names by `crate::` or, in the
/// binary, `placewright::`; in order.
fn used_modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["crate::", "placewright::"] {
        for (place, _) in code.match_indices(root) {
            let before = code[..place].chars().next_back();
            // Part of another word, or of a macro's own path.
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == ':') {
                continue;
            }
            for name in first_names(&code[place + root.len()..]) {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
    }
    found
}

/// The first name of a path, or of each path in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
        path.trim_start().chars().take_while(is_part).collect()
    };
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, 0);
    for (place, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[begins..place]));
                begins = place + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
