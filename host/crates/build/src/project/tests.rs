use super::*;

fn project(name: &str, kinds: &[Kind]) -> Project {
    Project {
        name: name.to_owned(),
        language: Language::Rust,
        kinds: kinds.iter().copied().collect(),
        evaluation: Evaluation::RowWise,
        description: None,
    }
}

fn created(project: &Project) -> Result<tempfile::TempDir, ProjectError> {
    let folder = tempfile::tempdir().unwrap();
    create(project, &folder.path().join("made")).map(|()| folder)
}

#[test]
fn a_folder_that_is_there_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    fs::create_dir(&there).unwrap();
    fs::write(there.join("kept"), "as it was").unwrap();
    let error = create(&project("rack-spread", &[Kind::Filter]), &there).unwrap_err();
    assert!(matches!(error, ProjectError::Exists(_)));
    assert!(error.to_string().contains("--dir"), "{error}");
    let left: Vec<_> = fs::read_dir(&there).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn names_that_no_unit_can_have_are_refused_with_a_sentence() {
    let refused = |name: &str| {
        let error = created(&project(name, &[Kind::Filter])).unwrap_err();
        error.to_string()
    };
    for bad in [
        "",
        "Rack",
        "rack_spread",
        "-rack",
        "rack--spread",
        "1st",
        "a/b",
        "..",
    ] {
        let said = refused(bad);
        assert!(said.contains("such as \"rack-spread\""), "{said}");
    }
    assert!(refused("match").contains("a word of the language"));
    assert!(refused("anyhow").contains("a crate of that name"));
}

#[test]
fn a_unit_that_does_nothing_is_refused() {
    assert!(matches!(
        created(&project("idle", &[])),
        Err(ProjectError::NoKind)
    ));
}

#[test]
fn a_description_is_written_into_the_manifest_whatever_it_holds() {
    let sentence = "Keeps \"quiet\" hosts \\ racks";
    let quoted = Project {
        description: Some(sentence.to_owned()),
        ..project("quiet", &[Kind::Filter])
    };
    let folder = created(&quoted).unwrap();
    let manifest = fs::read_to_string(folder.path().join("made/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    assert_eq!(manifest["package"]["description"].as_str(), Some(sentence));
    let lines = Project {
        description: Some("two\nlines".to_owned()),
        ..quoted
    };
    assert!(matches!(created(&lines), Err(ProjectError::Description)));
}

#[test]
fn a_description_is_written_into_the_manifests_of_all_languages_whatever_it_holds() {
    let sentence = "Keeps \"quiet\" hosts \\ racks";
    let manifest = |language, name: &str| {
        let project = Project {
            description: Some(sentence.to_owned()),
            language,
            ..project("quiet", &[Kind::Filter])
        };
        let folder = created(&project).unwrap();
        fs::read_to_string(folder.path().join("made").join(name)).unwrap()
    };
    let python: toml::Table = manifest(Language::Python, "pyproject.toml")
        .parse()
        .unwrap();
    assert_eq!(python["project"]["name"].as_str(), Some("quiet"));
    assert_eq!(python["project"]["description"].as_str(), Some(sentence));
    for language in [Language::JavaScript, Language::TypeScript] {
        let package = manifest(language, "package.json");
        let package: serde_json::Value = serde_json::from_str(&package).unwrap();
        assert_eq!(package["name"], "quiet");
        assert_eq!(package["description"], sentence);
        assert_eq!(package["placewright"]["unit"], language.module());
    }
}

#[test]
fn what_builds_units_is_pinned_as_the_sdks_pin_it() {
    let sdk: toml::Table = include_str!("../../../../../sdk/python/pyproject.toml")
        .parse()
        .unwrap();
    let build = &sdk["project"]["optional-dependencies"]["build"];
    assert_eq!(build[0].as_str(), Some(python::COMPONENTIZE_PY));
    let sdk: serde_json::Value =
        serde_json::from_str(include_str!("../../../../../sdk/javascript/package.json")).unwrap();
    for language in ["javascript", "typescript"] {
        let package = carried::template(&format!("{language}/project/package.json")).unwrap();
        let package: serde_json::Value = serde_json::from_str(package).unwrap();
        let pinned = package["devDependencies"].as_object().unwrap();
        assert_eq!(pinned.len(), 2);
        for (name, version) in pinned {
            assert_eq!(sdk["devDependencies"][name], *version, "{language}: {name}");
        }
    }
}

#[test]
fn a_readme_tells_of_the_kinds_that_the_unit_is_of() {
    let policy = |kinds: &[Kind]| {
        let folder = created(&project("sample", kinds)).unwrap();
        let text = fs::read_to_string(folder.path().join("made/README.md")).unwrap();
        assert!(!text.contains(NAME), "{text}");
        let (_, rest) = text.split_once("```toml\n").unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let filter = "[[filters]]\nunit = \"sample\"\n";
    let cost = "[[costs]]\nunit = \"sample\"\nfactor = 1.0\n";
    assert_eq!(policy(&[Kind::Filter]), filter);
    assert_eq!(policy(&[Kind::Cost]), cost);
    let both = policy(&[Kind::Filter, Kind::Cost]);
    assert_eq!(both, format!("{filter}\n{cost}"));
}

#[test]
fn the_sdk_is_complete_and_of_this_version() {
    let folder = created(&project("sample", &[Kind::Cost])).unwrap();
    let sdk = format!("made/vendor/placewright-{}", env!("CARGO_PKG_VERSION"));
    let sdk = folder.path().join(sdk);
    for file in [
        "sdk/rust/src/lib.rs",
        "sdk/rust/derive/src/lib.rs",
        "wit/policy.wit",
        "LICENSE",
    ] {
        assert!(sdk.join(file).is_file(), "{file}");
    }
    let workspace: toml::Table = fs::read_to_string(sdk.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let version = &workspace["workspace"]["package"]["version"];
    assert_eq!(version.as_str(), Some(env!("CARGO_PKG_VERSION")));
}
