use proptest::prelude::*;

use super::*;

fn key(level: Level, class: &str, name: &str, value: &str, weight: f64) -> ResourceKey {
    ResourceKey {
        level: level.number(),
        index: None,
        class: class.into(),
        name: name.into(),
        value: value.into(),
        weight: Some(weight),
    }
}

/// Names, values and weights.
fn list(keys: &Keys) -> Vec<(&str, f64, f64)> {
    let keys = keys.iter();
    keys.map(|key| (key.name.as_str(), key.value, key.weight))
        .collect()
}

fn system(keys: Vec<ResourceKey>) -> Keys {
    Keys::system(&keys.into()).expect("nothing is refused")
}

fn customer(keys: Vec<ResourceKey>) -> Keys {
    Keys::customer(&keys.into()).expect("nothing is refused")
}

fn refusal(keys: Vec<ResourceKey>) -> String {
    match Keys::system(&keys.into()) {
        Err(Problem::Refused(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_lowest_level_wins_with_value_and_weight() {
    for pair in Level::ALL.windows(2) {
        let (high, low) = (pair[0], pair[1]);
        let keys = system(vec![
            key(low, "sys", "k", "2", 20.0),
            key(high, "sys", "k", "1", 10.0),
        ]);
        assert_eq!(list(&keys), [("k", 2.0, 20.0)], "{high:?}, {low:?}");
    }
}

#[test]
fn keys_of_customers_and_billing_entities_are_compiled_together_and_system_keys_apart() {
    let keys = || {
        vec![
            key(Level::Server, "sys", "k", "1", 1.0),
            key(Level::Server, "be", "k", "2", 2.0),
            key(Level::Nic, "cust", "k", "3", 3.0),
        ]
    };
    assert_eq!(list(&system(keys())), [("k", 1.0, 1.0)]);
    assert_eq!(list(&customer(keys())), [("k", 3.0, 3.0)]);
}

#[test]
fn only_the_first_disk_and_nic_count() {
    let second = |level| ResourceKey {
        index: Some(1),
        ..key(level, "sys", "k", "2", 2.0)
    };
    let first = ResourceKey {
        index: Some(0),
        ..key(Level::Disk, "sys", "k", "1", 1.0)
    };
    let keys = system(vec![second(Level::Disk), first, second(Level::Nic)]);
    assert_eq!(list(&keys), [("k", 1.0, 1.0)]);
}

#[test]
fn a_key_without_number_or_weight_is_ignored_and_hides_nothing() {
    let without_weight = ResourceKey {
        weight: None,
        ..key(Level::Nic, "sys", "k", "4", 0.0)
    };
    let keys = system(vec![
        key(Level::Cluster, "sys", "k", "1", 10.0),
        key(Level::Server, "sys", "k", "gold", 10.0),
        key(Level::Disk, "sys", "k", "3", 0.0),
        without_weight,
    ]);
    assert_eq!(list(&keys), [("k", 1.0, 10.0)]);
}

#[test]
fn customers_set_keys_only_on_what_they_own() {
    let own = [
        Level::Image,
        Level::Server,
        Level::Disk,
        Level::Network,
        Level::Nic,
    ];
    for level in Level::ALL {
        let keys = customer(vec![key(level, "cust", "k", "1", 1.0)]);
        assert_eq!(keys.get("k").is_some(), own.contains(&level), "{level:?}");
        let keys = customer(vec![key(level, "be", "k", "1", 1.0)]);
        assert!(keys.get("k").is_some(), "{level:?}");
    }
}

#[test]
fn reserved_names_are_no_system_keys_and_special_ones_no_others() {
    let both = |class: &str| {
        vec![
            key(Level::Server, class, "_k", "1", 1.0),
            key(Level::Server, class, "#k", "1", 1.0),
        ]
    };
    assert_eq!(list(&system(both("sys"))), [("#k", 1.0, 1.0)]);
    assert_eq!(list(&customer(both("be"))), [("_k", 1.0, 1.0)]);
    assert_eq!(list(&customer(both("cust"))), [("_k", 1.0, 1.0)]);
}

#[test]
fn a_key_that_is_not_allowed_hides_nothing() {
    let keys = customer(vec![
        key(Level::BillingEntity, "be", "k", "1", 1.0),
        key(Level::Vdc, "cust", "k", "2", 2.0),
    ]);
    assert_eq!(list(&keys), [("k", 1.0, 1.0)]);
}

#[test]
fn what_is_no_key_is_refused_with_the_rule() {
    let good = || key(Level::Server, "sys", "k", "1", 1.0);
    let with = |change: fn(&mut ResourceKey)| {
        let mut key = good();
        change(&mut key);
        refusal(vec![key])
    };
    for (sentence, rule) in [
        (with(|key| key.level = 16), "levels go from 0"),
        (with(|key| key.level = -1), "levels go from 0"),
        (with(|key| key.class = "root".into()), "sys, be and cust"),
        (
            with(|key| key.weight = Some(f64::NAN)),
            "weights are numbers",
        ),
        (
            with(|key| key.weight = Some(f64::INFINITY)),
            "weights are numbers",
        ),
        (refusal(vec![good(), good()]), "a resource has a name once"),
    ] {
        assert!(sentence.starts_with("the key \"k\" "), "{sentence}");
        assert!(sentence.contains(rule), "{sentence}");
    }
}

#[test]
fn a_name_may_be_on_several_resources_and_in_both_sets_but_not_twice_in_one() {
    let customers = || {
        vec![
            key(Level::Server, "be", "k", "1", 1.0),
            key(Level::Server, "cust", "k", "1", 1.0),
        ]
    };
    assert!(Keys::customer(&customers().into()).is_err());
    assert!(Keys::system(&customers().into()).is_ok());
}

#[test]
fn the_score_falls_with_the_distance_and_is_nothing_from_one_on() {
    let keys = system(vec![key(Level::Server, "sys", "k", "1", -8.0)]);
    let score = |values: &[f64]| {
        let others = values.iter().map(|&value| HostKey {
            name: "k".into(),
            value,
        });
        keys.score(&others.collect())
    };
    assert_eq!(score(&[1.0]), -8.0);
    assert_eq!((score(&[0.75]), score(&[1.25])), (-6.0, -6.0));
    assert_eq!(
        (score(&[0.0]), score(&[2.0]), score(&[77.0])),
        (0.0, 0.0, 0.0)
    );
    assert_eq!(score(&[1.0, 0.75, 1.0, 77.0]), -22.0);
    assert_eq!(score(&[]), 0.0);
}

#[test]
fn names_on_one_side_only_add_nothing() {
    let keys = system(vec![key(Level::Server, "sys", "k", "1", 8.0)]);
    let other = HostKey {
        name: "K".into(),
        value: 1.0,
    };
    assert_eq!(keys.score(&vec![other].into()), 0.0);
}

/// Keys at any level, of any class, with few names so that they meet.
fn any_key() -> impl Strategy<Value = ResourceKey> {
    let class = prop::sample::select(vec!["sys", "be", "cust"]);
    let name = prop::sample::select(vec!["a", "b", "_a", "#a"]);
    let value = prop::sample::select(vec!["0", "0.5", "1", "-2", "gold", ""]);
    (0..16_i64, 0..2_i64, class, name, value, -2..3_i32).prop_map(
        |(level, index, class, name, value, weight)| ResourceKey {
            level,
            index: Some(index),
            class: class.into(),
            name: name.into(),
            value: value.into(),
            weight: Some(f64::from(weight)),
        },
    )
}

/// No name twice on one resource.
fn any_keys() -> impl Strategy<Value = Vec<ResourceKey>> {
    prop::collection::vec(any_key(), 0..24).prop_map(|mut keys| {
        let place = |key: &ResourceKey| (key.level, key.index, key.name.clone());
        keys.sort_by_key(place);
        keys.dedup_by_key(|key| place(key));
        keys
    })
}

proptest! {
    #[test]
    fn the_order_of_keys_does_not_matter(
        keys in any_keys().prop_map(Rows::from),
        turned in any::<prop::sample::Index>(),
    ) {
        let mut other: Vec<_> = keys.iter().collect();
        if !other.is_empty() {
            let places = turned.index(other.len());
            other.rotate_left(places);
        }
        let other = other.into();
        prop_assert_eq!(Keys::system(&keys), Keys::system(&other));
        prop_assert_eq!(Keys::customer(&keys), Keys::customer(&other));
    }

    #[test]
    fn a_higher_key_changes_nothing_for_a_name_that_is_set_below(
        keys in any_keys(),
        value in "[0-9]",
    ) {
        let lowest = key(Level::Nic, "sys", "a", &value, 7.0);
        let mut keys: Vec<_> = keys.into_iter().filter(|key| key.level < 15).collect();
        keys.push(lowest);
        let keys = system(keys);
        let found = keys.get("a").map(|key| (key.value, key.weight));
        prop_assert_eq!(found, number(&value).map(|value| (value, 7.0)));
    }

    #[test]
    fn scores_are_bounded_by_the_weights(keys in any_keys(), values in prop::collection::vec(-3.0..3.0, 0..9)) {
        let keys = customer(keys);
        let others = values.iter().map(|&value| HostKey { name: "a".into(), value });
        let weight = keys.get("a").map_or(0.0, |key| key.weight.abs());
        prop_assert!(keys.score(&others.collect()).abs() <= weight * values.len() as f64);
    }
}
