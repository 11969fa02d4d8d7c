//! Resource affinity: keeps the hosts that are tagged for the kind of resource
//! that is asked for, and for requests that ask for none the hosts without tags.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use resource_groups::{AffinityKey, Tag, Wanted, check_keys};

/// What is read of each VM or volume to be placed: VMs and volumes are treated
/// alike.
#[derive(Row)]
struct Member {
    #[table("specs")]
    specs: Rows<Tag>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("tags")]
    tags: Rows<Tag>,
}

#[derive(Settings)]
struct Settings {
    /// The keys that stand for kinds of resources; without any, every request is an
    /// ordinary one.
    affinity_keys: Rows<AffinityKey>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is set aside for other kinds of resources
    OtherResources,
    /// has no tag for the kind of resource that is asked for
    NoSuchResource,
}

struct ResourceAffinity;

impl RowWise for ResourceAffinity {
    type Request = Member;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Wanted;

    fn prepare(member: &Member, settings: &Settings) -> Result<Wanted, Problem> {
        Ok(Wanted::of(&member.specs, &settings.affinity_keys))
    }
}

impl RowFilter for ResourceAffinity {
    fn keep(wanted: &Wanted, host: &Host) -> Verdict<Reason> {
        let reason = if wanted.is_general() {
            Reason::OtherResources
        } else {
            Reason::NoSuchResource
        };
        Verdict::keep_if(wanted.is_offered_by(&host.tags), reason)
    }
}

impl CheckSettings for ResourceAffinity {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        check_keys(&settings.affinity_keys)
    }
}

placewright_sdk::export!(
    ResourceAffinity: filter, settings,
    aliases = ["ResourceAffinityFilter"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[(&str, &str)]) -> Rows<Tag> {
        let row = |&(key, value): &(&str, &str)| Tag {
            key: key.into(),
            value: value.into(),
        };
        tags.iter().map(row).collect()
    }

    fn settings() -> Settings {
        let key = "resource".into();
        Settings {
            affinity_keys: vec![AffinityKey { key }].into(),
        }
    }

    fn keep(specs: &[(&str, &str)], host: &[(&str, &str)]) -> Verdict<Reason> {
        let member = Member { specs: tags(specs) };
        let wanted = ResourceAffinity::prepare(&member, &settings()).expect("nothing is refused");
        ResourceAffinity::keep(&wanted, &Host { tags: tags(host) })
    }

    const CAD: (&str, &str) = ("resource", "CAD Modeling");
    const HPC: (&str, &str) = ("resource", "HPC");

    #[test]
    fn requests_go_where_their_tag_is() {
        assert_eq!(keep(&[CAD], &[CAD]), Verdict::Keep);
        let none = Verdict::Remove(Reason::NoSuchResource);
        assert_eq!(keep(&[CAD], &[HPC]), none);
        assert_eq!(keep(&[CAD], &[]), none);
    }

    #[test]
    fn ordinary_requests_go_to_hosts_without_tags() {
        assert_eq!(keep(&[], &[]), Verdict::Keep);
        assert_eq!(keep(&[("os", "linux")], &[]), Verdict::Keep);
        let other = Verdict::Remove(Reason::OtherResources);
        assert_eq!(keep(&[], &[CAD]), other);
        assert_eq!(keep(&[("os", "linux")], &[("os", "linux")]), other);
    }

    #[test]
    fn bad_keys_are_refused() {
        assert_eq!(ResourceAffinity::check(&settings()), Ok(()));
        let key = "".into();
        let empty = Settings {
            affinity_keys: vec![AffinityKey { key }].into(),
        };
        assert!(ResourceAffinity::check(&empty).is_err());
    }
}
