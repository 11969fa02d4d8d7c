//! The name that was probably meant.

use strsim::damerau_levenshtein;

/// Names longer than this are not compared: nobody mistypes them, and comparing
/// costs the product of the lengths.
const LONGEST: usize = 100;

/// Shorter names are the beginning of too many others.
const SHORTEST_BEGINNING: usize = 3;

/// The one of `right` that is nearest to what is written, if any is near: a third of its
/// characters may differ, or it is the last part of a dotted name, or the
/// beginning of a name.
pub fn nearest<'a>(written: &str, right: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.is_empty() || written.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(written);
    let tolerated = (name.chars().count() / 3).max(1);
    right
        .into_iter()
        .filter_map(|candidate| {
            let compared = plain(candidate);
            let distance = if compared.rsplit('.').next() == Some(&name) && compared != name {
                1
            } else if name.len() >= SHORTEST_BEGINNING && compared.starts_with(&name) {
                tolerated
            } else {
                damerau_levenshtein(&name, &compared)
            };
            // Where two are as near, the one in the same case is meant.
            (distance <= tolerated)
                .then(|| (distance, damerau_levenshtein(written, candidate), candidate))
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
