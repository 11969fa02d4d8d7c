//! Numbers come back to the last bit from documents, the store and what is shown.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use placewright_model::{Facts, Host, Value};

/// Any number that is one: all 64 bits are drawn.
fn number() -> impl Strategy<Value = f64> {
    let of_any_size = any::<u64>().prop_map(f64::from_bits);
    // Those of usual size have the most digits.
    let usual = any::<u64>().prop_map(|bits| f64::from_bits(0x3fe0_0000_0000_0000 | bits >> 12));
    prop_oneof![of_any_size, usual].prop_filter("a number", |number| number.is_finite())
}

/// The bits that a number has in a cluster, which knows no negative zero.
fn bits(number: f64) -> u64 {
    (if number == 0.0 { 0.0 } else { number }).to_bits()
}

const ATTRIBUTES: &str = "name = \"c\"\n[attributes.hosts]\nx = \"number\"\n";

fn document_of(numbers: &[f64]) -> ClusterDocument {
    let hosts = numbers.iter().enumerate().map(|(place, number)| Host {
        id: format!("h{place:04}").into(),
        facts: Facts::new().with("attribute.x", *number),
    });
    ClusterDocument {
        hosts: hosts.collect(),
        ..ClusterDocument::read(ATTRIBUTES, "c.toml").unwrap()
    }
}

fn numbers_of(document: &ClusterDocument) -> Vec<u64> {
    let numbers = document
        .hosts
        .iter()
        .map(|host| host.facts.number("attribute.x"));
    numbers.map(|number| bits(number.unwrap())).collect()
}

#[test]
fn a_number_of_many_digits_is_read_as_it_was_written() {
    // One that is read as another by the fast way of reading numbers.
    let text = "0.42451918914251396";
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn numbers_come_back_as_they_went_over_a_restart_and_an_inventory_that_is_put_again(
        numbers in prop::collection::vec(number(), 1..400)
    ) {
        static UNITS: LazyLock<Generation> = LazyLock::new(units);
        let expected: Vec<u64> = numbers.iter().map(|number| bits(*number)).collect();
        // As clients send it.
        let text = serde_json::to_string(&document_of(&numbers)).unwrap();
        let document = ClusterDocument::read(&text, "c.json").unwrap();
        prop_assert_eq!(&numbers_of(&document), &expected);
        let folder = tempfile::tempdir().unwrap();
        let world = start(folder.path(), &UNITS);
        world.deployment.put_policy(&edit(POLICY), "somebody").unwrap();
        drop(world.deployment.create_cluster(document, attach()).unwrap());
        world.deployment.stop();
        drop(world);

        let world = start(folder.path(), &UNITS);
        let cluster = world.deployment.cluster("c").unwrap();
        let shown = cluster.turn(|state| Ok(state.document())).wait().unwrap();
        let text = serde_json::to_string(&shown).unwrap();
        let read = ClusterDocument::read(&text, "c.json").unwrap();
        prop_assert_eq!(&numbers_of(&read), &expected);
        cluster.turn(|state| replace(state, read)).wait().unwrap();
        let shown = cluster.turn(|state| Ok(state.document())).wait().unwrap();
        prop_assert_eq!(&numbers_of(&shown), &expected);
        drop(cluster);
        world.deployment.stop();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn a_number_is_the_same_after_it_was_written_and_read(number in number()) {
        let value = Value::Number(number);
        let text = serde_json::to_string(&value).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        let Value::Number(read) = read else {
            panic!("{text} is read as {read:?}");
        };
        prop_assert_eq!(read.to_bits(), number.to_bits(), "{}", text);
    }
}
