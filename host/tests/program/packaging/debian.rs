//! The Debian package: built of the program that these tests use, and installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use placewright_tests::server::program;
use placewright_tests::target_folder;

use super::{folder, is_root, is_there, succeeds};

/// The package, if it can be built here.
fn build(output: &Path) -> Option<PathBuf> {
    let installed = target_folder().join("cargo-deb/bin/cargo-deb").is_file();
    let lacking = [
        ("cargo-deb", installed || is_there("cargo-deb")),
        ("dpkg-deb", is_there("dpkg-deb")),
        ("strip", is_there("strip")),
    ];
    for (what, is_there) in lacking {
        if !is_there {
            eprintln!(
                "THE DEBIAN PACKAGE IS NOT BUILT: {what} is missing; install it with tests/run --install"
            );
            return None;
        }
    }
    let mut build = Command::new(folder().join("debian/build"));
    build.arg("--fast").arg("--program").arg(program());
    build.arg("--output").arg(output);
    build.env("CARGO_TARGET_DIR", target_folder());
    succeeds(build);
    let mut made = std::fs::read_dir(output).unwrap();
    let package = made.next().unwrap().unwrap().path();
    assert!(made.next().is_none(), "one package is made");
    Some(package)
}

fn dpkg_deb(option: &str, package: &Path) -> String {
    let mut command = Command::new("dpkg-deb");
    command.arg(option).arg(package);
    succeeds(command)
}

#[test]
fn the_debian_package_is_installed_serves_is_upgraded_and_removed() {
    let made = tempfile::tempdir().unwrap();
    let Some(package) = build(made.path()) else {
        return;
    };
    let contents = dpkg_deb("--contents", &package);
    for file in [
        "usr/bin/placewright",
        "usr/share/man/man1/placewright.1.gz",
        "usr/share/man/man1/placewright-serve.1.gz",
        "usr/share/bash-completion/completions/placewright",
        "usr/share/zsh/vendor-completions/_placewright",
        "usr/share/fish/vendor_completions.d/placewright.fish",
        "lib/systemd/system/placewright.service",
        "etc/placewright/placewright.toml",
        "usr/share/doc/placewright/copyright",
        "usr/share/doc/placewright/examples/placewright.toml",
        "usr/share/placewright/monitoring/prometheus/alerts.yaml",
        "usr/share/placewright/monitoring/grafana/placewright.json",
    ] {
        assert!(
            contents.lines().any(|it| it.ends_with(&format!(" {file}"))),
            "{file} is missing\n{contents}"
        );
    }
    assert!(dpkg_deb("--info", &package).contains("conffiles"));
    install(&package);
}

/// Install it where nothing of this machine is changed: in a copy of its files that is written
/// to memory.
fn install(package: &Path) {
    let tried = Command::new("unshare")
        .args(["--mount", "sh", "-ec"])
        .arg(
            "mount -t tmpfs tmpfs /mnt && mkdir /mnt/a /mnt/b /mnt/c && \
             mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/a,workdir=/mnt/b /mnt/c",
        )
        .output();
    let can = is_root() && tried.is_ok_and(|it| it.status.success());
    if !can || !is_there("dpkg") {
        eprintln!(
            "THE DEBIAN PACKAGE IS BUILT AND UNPACKED, BUT NOT INSTALLED: that needs root, unshare and overlayfs, so that this machine stays as it is"
        );
        let unpacked = tempfile::tempdir().unwrap();
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("--extract").arg(package).arg(unpacked.path());
        succeeds(unpack);
        let mut version = Command::new(unpacked.path().join("usr/bin/placewright"));
        version.arg("--version");
        assert!(succeeds(version).starts_with("placewright "));
        return;
    }
    let mut install = Command::new("unshare");
    install.args(["--mount", "--pid", "--fork", "--kill-child"]);
    install
        .arg("sh")
        .arg(folder().join("debian/try"))
        .arg(package);
    install.arg(target_folder().join("serve-cache"));
    let said = succeeds(install);
    assert!(said.ends_with("all is well\n"), "{said}");
}
