//! Groups of hosts by what they are for: what `resource-affinity` and `pod-binding`
//! have in common.
//!
//! A host belongs to the group of its tag, and without one to the general group. A
//! request asks for a group by an extra specification whose key stands for a kind
//! of resource; one without such a specification asks for the general group.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A key that stands for a kind of resource.
#[derive(Row)]
pub struct AffinityKey {
    /// Key of extra specifications and of tags, for example "resource"
    pub key: Text,
}

/// An extra specification of a request, or a tag of a host.
#[derive(Row, Clone, PartialEq)]
pub struct Tag {
    /// For example `resource`.
    pub key: Text,
    /// For example `HPC`.
    pub value: Text,
}

impl Tag {
    /// As it is written in bindings, where the general group is the empty text.
    pub fn written(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}

/// The tags that a request asks for, any of which will do; none = the general
/// group.
pub struct Wanted(Vec<Tag>);

impl Wanted {
    /// Of its extra specifications those whose key is one of the keys.
    pub fn of(specs: &Rows<Tag>, keys: &Rows<AffinityKey>) -> Self {
        let is_key = |spec: &Tag| keys.iter().any(|row| row.key == spec.key);
        Self(specs.iter().filter(is_key).collect())
    }

    /// Is the general group asked for?
    pub fn is_general(&self) -> bool {
        self.0.is_empty()
    }

    /// Is this one of the tags?
    pub fn has(&self, tag: &Tag) -> bool {
        self.0.contains(tag)
    }

    /// Is a host with these tags in a group that is asked for?
    pub fn is_offered_by(&self, tags: &Rows<Tag>) -> bool {
        if self.is_general() {
            tags.is_empty()
        } else {
            tags.iter().any(|tag| self.has(&tag))
        }
    }

    /// The tags as they are written in bindings.
    pub fn written(&self) -> Vec<String> {
        if self.is_general() {
            vec![String::new()]
        } else {
            self.0.iter().map(Tag::written).collect()
        }
    }
}

/// Accepts the keys.
///
/// # Errors
///
/// A sentence for the admin, if a key is empty or would make written tags
/// ambiguous.
pub fn check_keys(keys: &Rows<AffinityKey>) -> Result<(), String> {
    for AffinityKey { key } in keys {
        if key.is_empty() {
            return Err("a key of affinity-keys must not be empty".into());
        }
        if key.contains('=') {
            return Err(format!(
                "the key \"{key}\" of affinity-keys must not contain \"=\", \
                 which stands between key and value where a tag is written"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[&str]) -> Rows<AffinityKey> {
        let row = |&key: &&str| AffinityKey { key: key.into() };
        keys.iter().map(row).collect()
    }

    fn tags(tags: &[(&str, &str)]) -> Rows<Tag> {
        let row = |&(key, value): &(&str, &str)| Tag {
            key: key.into(),
            value: value.into(),
        };
        tags.iter().map(row).collect()
    }

    fn wanted(specs: &[(&str, &str)]) -> Wanted {
        Wanted::of(&tags(specs), &keys(&["resource", "class"]))
    }

    #[test]
    fn only_specifications_with_one_of_the_keys_are_wanted() {
        let some = wanted(&[("os", "linux"), ("resource", "HPC"), ("class", "gold")]);
        assert!(some.is_offered_by(&tags(&[("resource", "HPC")])));
        assert!(some.is_offered_by(&tags(&[("class", "gold")])));
        assert!(!some.is_offered_by(&tags(&[("os", "linux")])));
        assert!(wanted(&[("os", "linux")]).is_general());
    }

    #[test]
    fn general_requests_never_use_tagged_hosts_and_others_never_untagged_ones() {
        let general = wanted(&[]);
        assert!(general.is_offered_by(&tags(&[])));
        assert!(!general.is_offered_by(&tags(&[("resource", "HPC")])));
        assert!(!wanted(&[("resource", "HPC")]).is_offered_by(&tags(&[])));
    }

    #[test]
    fn key_and_value_must_both_be_the_same() {
        let some = wanted(&[("resource", "HPC")]);
        assert!(!some.is_offered_by(&tags(&[("resource", "CAD Modeling")])));
        assert!(!some.is_offered_by(&tags(&[("class", "HPC")])));
    }

    #[test]
    fn of_several_tags_of_a_host_one_is_enough() {
        let some = wanted(&[("resource", "HPC")]);
        assert!(some.is_offered_by(&tags(&[("class", "gold"), ("resource", "HPC")])));
    }

    #[test]
    fn tags_are_written_as_key_and_value_and_the_general_group_as_nothing() {
        let some = wanted(&[("resource", "HPC"), ("class", "gold")]);
        assert_eq!(some.written(), ["resource=HPC", "class=gold"]);
        assert_eq!(wanted(&[]).written(), [""]);
    }

    #[test]
    fn without_keys_every_request_is_general() {
        assert!(Wanted::of(&tags(&[("resource", "HPC")]), &keys(&[])).is_general());
    }

    #[test]
    fn keys_that_are_empty_or_would_be_ambiguous_are_refused() {
        assert_eq!(check_keys(&keys(&["resource", "class"])), Ok(()));
        let empty = check_keys(&keys(&["resource", ""])).expect_err("empty");
        assert!(empty.contains("must not be empty"), "{empty}");
        let ambiguous = check_keys(&keys(&["a=b"])).expect_err("ambiguous");
        assert!(ambiguous.contains("\"a=b\""), "{ambiguous}");
    }
}
