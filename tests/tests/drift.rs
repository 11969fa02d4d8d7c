//! Components that are kept in the repository.

use std::fs;

use placewright_tests::sources::{Plugin, REMEDY, Record};

#[test]
fn every_component_in_the_repository_is_made_from_the_sources_beside_it() {
    let plugins = Plugin::all().unwrap();
    assert!(!plugins.is_empty(), "plugins/ holds no units");
    let drifted: Vec<String> = plugins.iter().filter_map(drift).collect();
    assert!(
        drifted.is_empty(),
        "{}\nto mend it: {REMEDY}",
        drifted.join("\n")
    );
}

/// What is wrong with a plugin's component, if anything is.
fn drift(plugin: &Plugin) -> Option<String> {
    let name = &plugin.name;
    let Ok(component) = fs::read(plugin.component()) else {
        return Some(format!("the unit {name} has no component {name}.wasm"));
    };
    let text = fs::read_to_string(plugin.record()).unwrap_or_default();
    let Some(record) = Record::parse(&text) else {
        return Some(format!("{name}.sources is missing or damaged"));
    };
    let now = Record::of(plugin.sources().unwrap(), &component);
    if now.sources != record.sources {
        return Some(format!(
            "the sources of the unit {name} have changed since it was built"
        ));
    }
    if now.component != record.component {
        return Some(format!("{name}.wasm is not the component that was built"));
    }
    None
}
