//! What tags mean: those of the cluster say which tags of nodes and instances count.

use super::lines::Line;

/// The tags of the cluster.
pub(super) struct ClusterTags {
    tags: Vec<String>,
}

impl ClusterTags {
    pub(super) fn new(lines: &[Line<'_>]) -> Self {
        Self {
            tags: lines.iter().map(Line::text).collect(),
        }
    }

    /// What the tags with that prefix say, without it.
    fn after<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let rest = move |tag: &'a String| tag.strip_prefix(prefix);
        self.tags
            .iter()
            .filter_map(rest)
            .filter(|it| !it.is_empty())
    }

    /// Common causes of failure, `htools:nlocation:x`: those of a node's tags that begin
    /// with `x:`.
    pub(super) fn location(&self, node: &[&str]) -> Vec<String> {
        self.kinds("htools:nlocation:", node)
    }

    /// What limits migration, `htools:migration:x`: those of a node's tags that begin
    /// with `x:`.
    pub(super) fn migration(&self, node: &[&str]) -> Vec<String> {
        self.kinds("htools:migration:", node)
    }

    /// What a node with these tags can receive: its own migration tags, and those for
    /// which there is `htools:allowmigration:x::y`, `y` being one of its own.
    pub(super) fn receives(&self, node: &[&str]) -> Vec<String> {
        let mut receives = self.migration(node);
        let own = receives.clone();
        let allowed = self.after("htools:allowmigration:");
        let allowed = allowed.filter_map(|pair| pair.split_once("::"));
        let allowed = allowed.filter(|(_, to)| own.iter().any(|tag| tag == to));
        receives.extend(allowed.map(|(from, _)| from.to_owned()));
        receives
    }

    fn kinds(&self, prefix: &str, tags: &[&str]) -> Vec<String> {
        let of_kind = |tag: &&&str| {
            let mut kinds = self.after(prefix);
            kinds.any(|kind| tag.strip_prefix(kind).is_some_and(|it| it.starts_with(':')))
        };
        once(tags.iter().filter(of_kind))
    }

    /// Exclusion tags, `htools:iextags:x`: those of an instance's tags that begin
    /// with `x`.
    pub(super) fn exclusion(&self, instance: &[&str]) -> Vec<String> {
        self.begin("htools:iextags:", instance)
    }

    /// Desired locations, `htools:desiredlocation:x`: those of an instance's tags that
    /// begin with `x`.
    pub(super) fn desired_location(&self, instance: &[&str]) -> Vec<String> {
        self.begin("htools:desiredlocation:", instance)
    }

    fn begin(&self, prefix: &str, tags: &[&str]) -> Vec<String> {
        let wanted = |tag: &&&str| self.after(prefix).any(|begin| tag.starts_with(begin));
        once(tags.iter().filter(wanted))
    }
}

/// Each tag once, in the order of the list.
fn once<'a>(tags: impl Iterator<Item = &'a &'a str>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for tag in tags {
        if !list.iter().any(|known| known == tag) {
            list.push((*tag).to_owned());
        }
    }
    list
}
