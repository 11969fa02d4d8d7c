//! What must hold after any sequence of requests, binds by hand, and pods that
//! become unfit and fit again.

use super::cloud::{Cloud, Pod};
use super::*;

/// A generator of numbers that are random enough, the same in every run
/// (Knuth's MMIX).
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const ZONES: [&str; 3] = ["az1", "az2", ""];
const TAGS: [&str; 3] = ["", "resource=HPC", "class=gold"];
const IDS: [&str; 8] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];

fn any_cloud(dice: &mut Dice) -> Cloud {
    let mut cloud = Cloud::of([]);
    for id in IDS {
        cloud
            .pods
            .push(Pod::new(id, dice.of(&ZONES), dice.of(&TAGS)));
    }
    cloud
}

/// The bindings that hold.
fn holding(cloud: &Cloud) -> Vec<&Binding> {
    let bindings = cloud.bindings.iter();
    bindings.filter(|binding| binding.end.is_none()).collect()
}

fn assert_one_binding_a_group(cloud: &Cloud) {
    let holding = holding(cloud);
    for (number, one) in holding.iter().enumerate() {
        let same = |other: &&Binding| (&other.zone, &other.tag) == (&one.zone, &one.tag);
        assert!(!holding[number + 1..].iter().any(same), "{holding:?}");
    }
}

/// Rows stay where they are; only the end of one that held may have been written.
fn assert_is_history(before: &[Binding], after: &[Binding], now: i64) {
    assert!(before.len() <= after.len() && after.len() <= before.len() + 1);
    for (old, new) in before.iter().zip(after) {
        let ended = Binding {
            end: Some(Seconds(now)),
            ..old.clone()
        };
        assert!(new == old || old.end.is_none() && *new == ended);
    }
}

#[test]
fn a_tenant_has_at_most_one_binding_in_each_zone_and_group_and_its_rows_are_history() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut cloud = any_cloud(&mut dice);
        for now in 0..60 {
            let before = cloud.bindings.clone();
            match dice.below(6) {
                0 => cloud.bind(now, dice.of(&IDS)),
                1 | 2 => {
                    let id = dice.of(&IDS);
                    cloud.pod(id).fit ^= true;
                }
                _ => {
                    let zone = dice.of(&[None, Some("az1"), Some("az2")]);
                    cloud.request(now, zone, dice.of(&TAGS));
                }
            }
            assert_is_history(&before, &cloud.bindings, now);
            assert_one_binding_a_group(&cloud);
        }
    }
}

#[test]
fn whoever_was_served_is_bound_there_and_served_there_again_without_a_change() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut cloud = any_cloud(&mut dice);
        cloud.settings.by_zone = dice.below(2) == 0;
        cloud.settings.by_tag = dice.below(2) == 0;
        for now in 0..60 {
            let id = dice.of(&IDS);
            cloud.pod(id).fit ^= true;
            let zone = dice.of(&[None, Some("az1"), Some("az2")]);
            let specs = dice.of(&TAGS);
            let Some(pod) = cloud.request(now, zone, specs) else {
                continue;
            };
            assert!(holding(&cloud).iter().any(|binding| binding.host == pod));
            let bindings = cloud.bindings.clone();
            assert_eq!(cloud.request(now + 1, zone, specs), Some(pod));
            assert_eq!(cloud.bindings, bindings);
        }
    }
}
