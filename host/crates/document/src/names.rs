//! The names that may stand in a place, for the sentence about one that may not.

/// So many names are listed at most.
const MOST: usize = 64;

/// `"a", "b" and "c"`.
pub(crate) fn and<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = names
        .into_iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".to_owned(),
    }
}

/// The names that may stand where `wrong` is written, in quotes. Of dotted names the ones that
/// begin as it does are listed, those of other beginnings as `"cpu.*"`; of more than 64 the
/// first ones. What is not listed is counted.
pub(crate) fn allowed<'a>(wrong: &str, right: impl IntoIterator<Item = &'a str>) -> String {
    let right: Vec<&str> = right.into_iter().collect();
    let prefix = wrong
        .rmatch_indices('.')
        .map(|(dot, _)| &wrong[..=dot])
        .find(|prefix| right.iter().any(|name| name.starts_with(prefix)))
        .unwrap_or_default();
    let mut listed: Vec<String> = Vec::new();
    for rest in right.iter().filter_map(|name| name.strip_prefix(prefix)) {
        let name = match rest.split_once('.') {
            Some((first, _)) => format!("{prefix}{first}.*"),
            None => format!("{prefix}{rest}"),
        };
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    let elsewhere = right.iter().filter(|name| !name.starts_with(prefix));
    let more = elsewhere.count() + listed.len().saturating_sub(MOST);
    listed.truncate(MOST);
    match more {
        0 => and(listed.iter().map(String::as_str)),
        more => {
            let listed: Vec<_> = listed.iter().map(|name| format!("\"{name}\"")).collect();
            format!("{} and {more} more", listed.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_beginning_are_listed_as_one() {
        let right = ["id", "cpu", "cpu.cores", "cpu.total", "zone"];
        assert_eq!(
            allowed("colour", right),
            "\"id\", \"cpu\", \"cpu.*\" and \"zone\""
        );
        assert_eq!(allowed("x.y", ["id"]), "\"id\"");
        assert_eq!(allowed("colour", []), "none");
    }

    #[test]
    fn names_that_begin_as_the_wrong_one_does_are_listed_in_full_and_the_others_counted() {
        let right = [
            "id",
            "cpu.cores",
            "cpu.total",
            "cpu.l2.size",
            "memory.total",
        ];
        assert_eq!(
            allowed("cpu.colour", right),
            "\"cpu.cores\", \"cpu.total\", \"cpu.l2.*\" and 2 more"
        );
        assert_eq!(
            allowed("cpu.l2.colour", right),
            "\"cpu.l2.size\" and 4 more"
        );
    }

    #[test]
    fn of_many_names_the_first_are_listed_and_the_others_counted() {
        let names: Vec<String> = (0..80).map(|number| format!("n{number}")).collect();
        let list = |count| allowed("x", names.iter().take(count).map(String::as_str));
        assert!(list(64).ends_with(", \"n62\" and \"n63\""), "{}", list(64));
        assert!(list(65).ends_with(", \"n63\" and 1 more"), "{}", list(65));
        assert!(list(80).ends_with(", \"n63\" and 16 more"), "{}", list(80));
    }
}
