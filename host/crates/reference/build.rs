//! Takes out of the archive of Swagger UI the files that its page needs, compresses each, and
//! lists them under names that have the hash of their content.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

/// The files, each with its constant and its media type.
const FILES: [(&str, &str, &str); 3] = [
    (
        "SCRIPT",
        "swagger-ui-bundle.js",
        "text/javascript; charset=utf-8",
    ),
    ("STYLE", "swagger-ui.css", "text/css; charset=utf-8"),
    ("ICON", "favicon-32x32.png", "image/png"),
];

/// This crate's own script, which starts the page.
const START: &str = "assets/start.js";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={START}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    let mut code = String::new();
    for (constant, file, kind) in FILES {
        let ending = format!("/dist/{file}");
        let place = archive
            .file_names()
            .flatten()
            .find(|name| name.ends_with(&ending))
            .ok_or_else(|| format!("Swagger UI has no {file}"))?
            .into_owned();
        let mut bytes = Vec::new();
        archive.by_name(&place)?.read_to_end(&mut bytes)?;
        code += &asset(constant, file, kind, &bytes)?;
    }
    let start = fs::read(START)?;
    code += &asset(
        "START",
        "start.js",
        "text/javascript; charset=utf-8",
        &start,
    )?;
    Ok(fs::write(out().join("assets.rs"), code)?)
}

fn out() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default())
}

/// The constant of a file, which is compressed beside it.
fn asset(constant: &str, file: &str, kind: &str, bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(out().join(format!("{file}.gz")), encoder.finish()?)?;
    let digest = hex::encode(Sha256::digest(bytes));
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let name = format!("{stem}-{}.{ending}", &digest[..12]);
    let mut code = String::new();
    writeln!(
        code,
        "const {constant}: Asset = Asset {{ name: {name:?}, kind: {kind:?}, \
         compressed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}.gz\")) }};"
    )?;
    Ok(code)
}
