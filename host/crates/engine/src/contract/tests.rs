use wit_parser::Resolve;

use super::*;

#[test]
fn the_version_and_the_parts_are_those_of_the_wit() {
    let mut resolve = Resolve::default();
    let package = resolve
        .push_str("policy.wit", include_str!("../../../../../wit/policy.wit"))
        .unwrap();
    let package = &resolve.packages[package];
    assert_eq!(package.name.to_string(), format!("{PACKAGE}@{VERSION}"));
    for part in Part::ALL {
        let interface = &resolve.interfaces[package.interfaces[part.name()]];
        assert!(interface.functions.contains_key(part.function()), "{part}");
        assert_eq!(interface.functions.len(), 1, "{part}");
    }
    assert_eq!(package.interfaces.len(), Part::ALL.len() + 2);
}
