//! The image.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use placewright_tests::repository;
use placewright_tests::server::program;

use super::{folder, is_root, is_there, succeeds};
use crate::server::roles::token;

/// Buildah with a storage of its own.
struct Buildah(PathBuf);

impl Buildah {
    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs", "--root"]);
        command.arg(self.0.join("root")).arg("--runroot");
        command.arg(self.0.join("run")).args(words);
        succeeds(command)
    }

    /// A container of nothing; or of an image that is here.
    fn from(&self, image: &str) -> String {
        let name = self.run(&["from", "--pull-never", image]);
        name.lines().last().unwrap().to_owned()
    }
}

/// The stage that compiles, as it would be: with the program that these tests use.
fn compiled(home: &Path) -> PathBuf {
    let stage = home.join("build");
    fs::create_dir_all(stage.join("out/usr/bin")).unwrap();
    fs::create_dir_all(stage.join("out/var/lib/placewright")).unwrap();
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(stage.join("out/usr/bin/placewright"));
    strip.arg(program());
    succeeds(strip);
    stage
}

/// The libraries that the program loads.
fn libraries() -> Vec<String> {
    let mut ldd = Command::new("ldd");
    ldd.arg(program());
    let said = succeeds(ldd);
    let words = said.split_whitespace();
    let paths = words.filter(|it| it.starts_with('/') && !it.ends_with(':'));
    paths.map(str::to_owned).collect()
}

#[test]
fn the_image_is_built_and_runs_without_rights() {
    for tool in ["buildah", "strip", "ldd"] {
        if !is_there(tool) || !is_root() {
            eprintln!(
                "THE IMAGE IS NOT BUILT: that needs {tool} and root; install it with tests/run --install"
            );
            return;
        }
    }
    let home = tempfile::tempdir().unwrap();
    let buildah = Buildah(home.path().join("storage"));
    // Images of a registry cannot be had everywhere: the base is one with the program's
    // libraries alone, and what the first stage compiles was compiled before.
    let base = buildah.from("scratch");
    for library in libraries() {
        buildah.run(&["copy", &base, &library, &library]);
    }
    buildah.run(&["commit", "--quiet", "--rm", &base, "base"]);
    let stage = compiled(home.path());
    let context = home.path().join("context");
    fs::create_dir(&context).unwrap();
    let containerfile = folder().join("container/Containerfile");
    let build = format!("build={}", stage.display());
    buildah.run(&[
        "build",
        "--quiet",
        "--isolation=chroot",
        "--pull-never",
        "--build-arg=BASE=localhost/base",
        "--build-context",
        &build,
        "--file",
        containerfile.to_str().unwrap(),
        "--tag",
        "placewright",
        context.to_str().unwrap(),
    ]);
    let container = buildah.from("localhost/placewright");
    let shown = buildah.run(&["inspect", "--type", "image", "localhost/placewright"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let config = &shown["OCIv1"]["config"];
    assert_eq!(config["User"], "10001:10001");
    assert_eq!(config["Entrypoint"][0], "/usr/bin/placewright");
    assert_eq!(config["Cmd"][0], "serve");
    // It reads a configuration as its user, and would serve with it.
    let mounted = home.path().join("etc");
    fs::create_dir(&mounted).unwrap();
    let (_, token) = token("admin", None);
    let text = format!("insecure-plain-http = true\n{token}");
    fs::write(mounted.join("placewright.toml"), text).unwrap();
    let volume = format!("{}:/etc/placewright:ro", mounted.display());
    let checked = buildah.run(&[
        "run",
        "--isolation=chroot",
        "--volume",
        &volume,
        &container,
        "--",
        "/usr/bin/placewright",
        "serve",
        "--config",
        "/etc/placewright/placewright.toml",
        "--check",
    ]);
    assert!(checked.contains("The configuration is good."), "{checked}");
}

#[test]
fn the_files_that_the_compose_example_names_are_there() {
    let container = folder().join("container");
    let text = fs::read_to_string(container.join("compose.yaml")).unwrap();
    let mounted = text.lines().filter_map(|line| {
        let source = line.trim().strip_prefix("- ")?.split(':').next()?;
        source.starts_with('.').then_some(source)
    });
    // What its user writes.
    let own = ["./placewright.toml", "./viewer.token"];
    let mounted: Vec<&str> = mounted.filter(|it| !own.contains(it)).collect();
    assert!(mounted.len() >= 2, "{mounted:?}");
    for file in mounted {
        assert!(container.join(file).is_file(), "{file} is missing");
    }
    assert!(text.contains("dockerfile: packaging/container/Containerfile"));
    assert!(
        repository()
            .join("packaging/container/Containerfile")
            .is_file()
    );
}
