//! The name that was probably meant.

use strsim::damerau_levenshtein;

/// Names longer than this are not compared: nobody mistypes them, and comparing
/// costs the product of the lengths.
const LONGEST: usize = 100;

/// Of more names the nearest is not looked for: who looks may hold up others.
const MOST: usize = 1000;

/// Comparing two names costs the product of their lengths; no search costs more than this
/// sum of them, which is some ten milliseconds.
const MOST_STEPS: usize = 500_000;

/// Shorter names are the beginning of too many others.
const SHORTEST_BEGINNING: usize = 3;

/// The one of `right` that is nearest to what is written, if any is near: a third of its
/// characters may differ, in each part between dots, or it is the last part of a dotted name,
/// or the beginning of a name. It is not looked for among more than 1,000 names, names of more than 100 bytes are
/// not compared, and where the names are so long that comparing them takes its time, those
/// that come late are not compared, either.
pub fn nearest<'a>(written: &str, right: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.is_empty() || written.len() > LONGEST {
        return None;
    }
    let right: Vec<&str> = right.into_iter().take(MOST + 1).collect();
    if right.len() > MOST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(written);
    let length = name.chars().count();
    let tolerated = (length / 3).max(1);
    let mut steps = 0;
    right
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let compared = plain(candidate);
            let distance = if compared.rsplit('.').next() == Some(&name) && compared != name {
                1
            } else if name.len() >= SHORTEST_BEGINNING && compared.starts_with(&name) {
                tolerated
            } else {
                let other = compared.chars().count();
                // So many characters differ at least.
                if length.abs_diff(other) > tolerated {
                    return None;
                }
                steps += length * other;
                if steps > MOST_STEPS {
                    return None;
                }
                match is_alike_in_parts(&name, &compared) {
                    true => damerau_levenshtein(&name, &compared),
                    false => return None,
                }
            };
            // Where two are as near, the one in the same case is meant.
            (distance <= tolerated)
                .then(|| (distance, damerau_levenshtein(written, candidate), candidate))
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Parts of names with no more letters are words of their own, such as `cpu` and `gpu`: they
/// are alike only if they begin alike.
const SHORT_WORD: usize = 3;

/// Whether each part between dots is near to its counterpart, where both names have as many.
fn is_alike_in_parts(name: &str, other: &str) -> bool {
    if name.matches('.').count() != other.matches('.').count() {
        return true;
    }
    let mut parts = name.split('.').zip(other.split('.'));
    parts.all(|(part, other)| {
        let length = part.chars().count();
        let begins_alike = part.chars().next() == other.chars().next();
        damerau_levenshtein(part, other) <= (length / 3).max(1)
            && (length > SHORT_WORD || begins_alike)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_word_is_not_suggested_for_being_near() {
        assert_eq!(nearest("gpu", ["cpu", "cpus"]), None);
        assert_eq!(nearest("gpu.count", ["vms.count", "cpu.count"]), None);
        assert_eq!(nearest("cpi", ["cpu"]), Some("cpu"));
        assert_eq!(nearest("gpu.cuont", ["gpu.count"]), Some("gpu.count"));
    }

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let right = ["memory.total", "cpu.total", "networks", "state"];
        assert_eq!(nearest("memory.totl", right), Some("memory.total"));
        assert_eq!(nearest("Network", right), Some("networks"));
        assert_eq!(nearest("cpu_total", right), Some("cpu.total"));
        assert_eq!(nearest("sate", right), Some("state"));
        assert_eq!(
            nearest("even_distribution", ["even-distribution"]),
            Some("even-distribution")
        );
    }

    #[test]
    fn a_beginning_is_recognised() {
        assert_eq!(nearest("mem", ["name", "memory"]), Some("memory"));
        assert_eq!(nearest("me", ["memory"]), None);
    }

    #[test]
    fn a_missing_prefix_is_recognised() {
        assert_eq!(
            nearest("rack", ["attribute.rack", "name"]),
            Some("attribute.rack")
        );
    }

    #[test]
    fn what_is_far_off_is_not_suggested() {
        assert_eq!(nearest("colour", ["memory", "cpu"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest(&"a".repeat(1_000_000), ["aa"]), None);
        assert_eq!(nearest("aaa", ["a".repeat(101).as_str()]), None);
    }

    #[test]
    fn the_nearest_of_too_many_names_is_not_looked_for() {
        let names: Vec<String> = (0..1001).map(|number| format!("host-{number}")).collect();
        let names = |count: usize| names.iter().take(count).map(String::as_str);
        assert_eq!(nearest("hst-7", names(1000)), Some("host-7"));
        assert_eq!(nearest("hst-7", names(1001)), None);
    }

    #[test]
    fn of_long_names_those_that_come_late_are_not_compared() {
        let long = |last: &str| format!("{}{last}", "a".repeat(90));
        let names: Vec<String> = (0..1000)
            .map(|number| long(&format!("{number:04}")))
            .collect();
        let all = names.iter().map(String::as_str);
        // Every one is as near; the first in their order is taken of those that are compared.
        assert_eq!(nearest(&long("x"), all.clone()), Some(names[0].as_str()));
        assert_eq!(nearest(&long("x"), all.rev()), Some(names[942].as_str()));
    }
}
