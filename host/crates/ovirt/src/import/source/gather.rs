//! Which of the documents is what.

use placewright_document::{Place, Problems};

use super::{Element, Kind, shown};

/// What an answer should have been asked for with.
const FOLLOW: &str = "?follow=filters,weights,balances";

/// So many policies are named where one must be chosen.
const NAMED: usize = 10;

/// The parts of one policy.
pub(super) struct Gathered<'d> {
    pub(super) policy: &'d Element,
    cluster: Option<&'d Element>,
    /// Its lists, by kind; each may be in several pieces.
    lists: [Vec<&'d Element>; 3],
}

impl<'d> Gathered<'d> {
    /// None if there is no policy, or not one alone; then it has been complained of.
    pub(super) fn from(
        documents: &'d [Element],
        wanted: Option<&str>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut policies: Vec<&Element> = Vec::new();
        let mut clusters: Vec<&Element> = Vec::new();
        let mut apart: [Vec<&Element>; 3] = Default::default();
        let mut empty = 0;
        for document in documents {
            match document.name.as_str() {
                "scheduling_policy" => policies.push(document),
                "scheduling_policies" => policies.extend(document.all("scheduling_policy")),
                "cluster" => clusters.push(document),
                // In JSON, a list of nothing.
                "" if document.inside.is_empty() => empty += 1,
                name => match Kind::ALL.iter().position(|kind| kind.list() == name) {
                    Some(kind) => apart[kind].push(document),
                    None => problems.add(&document.place, stranger(document)),
                },
            }
        }
        refuse_second(&clusters, "parameters of a cluster", problems);
        let policy = choose(documents, &policies, wanted, problems)?;
        let lists = [0, 1, 2].map(|number| {
            let kind = Kind::ALL[number];
            let own: Vec<&Element> = policy.all(kind.list()).collect();
            let apart = &apart[number];
            refuse_second(apart, kind.list(), problems);
            if let (Some(own), Some(apart)) = (own.first(), apart.first()) {
                let message = format!(
                    "the policy has its {} at {}; leave this list out, or take the policy without",
                    kind.list(),
                    own.place
                );
                problems.add(&apart.place, message);
            }
            [own.as_slice(), apart.as_slice()].concat()
        });
        let gathered = Self {
            policy,
            cluster: clusters.first().copied(),
            lists,
        };
        gathered.refuse_mixed(problems);
        gathered.refuse_links(empty, problems);
        Some(gathered)
    }

    /// The entries of a list.
    pub(super) fn entries(&self, kind: Kind) -> impl Iterator<Item = &'d Element> {
        let lists = self.lists[kind as usize].iter().copied();
        lists.flat_map(move |list| {
            // A list may stand under its own name without a name for its entries.
            let is_entry = list.get("scheduling_policy_unit").is_some() || list.get("id").is_some();
            let alone = is_entry.then_some(list);
            alone.into_iter().chain(
                list.inside
                    .iter()
                    .filter(move |inner| inner.name == kind.element()),
            )
        })
    }

    /// Who has parameters: what the first has goes before what the next have.
    pub(super) fn owners(&self) -> impl Iterator<Item = &'d Element> {
        let inner = self
            .cluster
            .iter()
            .flat_map(|it| it.all("scheduling_policy"));
        let cluster = self.cluster.into_iter().chain(inner);
        cluster.chain([self.policy])
    }

    /// What is no entry of a list is not looked at, unless it is one of another.
    fn refuse_mixed(&self, problems: &mut Problems) {
        for kind in Kind::ALL {
            let inside = self.lists[kind as usize].iter().flat_map(|it| &it.inside);
            for inner in inside {
                let of_another = |other: &Kind| *other != kind && other.element() == inner.name;
                if let Some(other) = Kind::ALL.iter().find(|other| of_another(other)) {
                    let message = format!(
                        "a {} stands among the {}; move it to the {}",
                        inner.name,
                        kind.list(),
                        other.list()
                    );
                    problems.add(&inner.place, message);
                }
            }
        }
    }

    /// A list of which only the address is known would be taken for an empty one.
    fn refuse_links(&self, empty: usize, problems: &mut Problems) {
        let missing: Vec<(&str, &Place)> = Kind::ALL
            .into_iter()
            .filter(|kind| self.lists[*kind as usize].is_empty())
            .filter_map(|kind| {
                let mut links = self.policy.all("link");
                let link = links.find(|link| {
                    let rel = link.get("rel").map(|rel| &*rel.text);
                    rel == Some(kind.list()) || rel == Some(kind.element())
                })?;
                Some((kind.list(), &link.place))
            })
            .collect();
        if missing.len() <= empty {
            return;
        }
        for (list, place) in missing {
            let message = format!(
                "the policy's {list} are not in the file, only a link to them; ask the engine \
                 for the policy with {FOLLOW}, or give the answer of .../{list} as another file"
            );
            problems.add(place, message);
        }
    }
}

/// What is said of a document that is none of a policy.
fn stranger(document: &Element) -> String {
    match document.name.as_str() {
        "fault" => format!(
            "the engine refused to answer: {} {}; ask it again",
            shown(said(document, "reason")),
            shown(said(document, "detail"))
        ),
        name => format!(
            "{} is no part of a scheduling policy; give what the engine answers for \
             /ovirt-engine/api/schedulingpolicies/ID{FOLLOW}",
            match name {
                "" => "this".to_owned(),
                name => shown(name),
            }
        ),
    }
}

/// The text of what is in an element.
fn said<'d>(element: &'d Element, name: &str) -> &'d str {
    element.get(name).map_or("", |inner| &inner.text)
}

fn refuse_second(documents: &[&Element], what: &str, problems: &mut Problems) {
    if let [first, others @ ..] = documents {
        for other in others {
            let message = format!(
                "{what} stand here for the second time; the first are at {}; leave one of them out",
                first.place
            );
            problems.add(&other.place, message);
        }
    }
}

/// The only policy, or the one that is wanted.
fn choose<'d>(
    documents: &[Element],
    policies: &[&'d Element],
    wanted: Option<&str>,
    problems: &mut Problems,
) -> Option<&'d Element> {
    let chosen: Vec<&Element> = policies
        .iter()
        .copied()
        .filter(|policy| {
            wanted.is_none_or(|it| ["name", "id"].map(|key| said(policy, key)).contains(&it))
        })
        .collect();
    if let [policy] = chosen[..] {
        return Some(policy);
    }
    let names = policies.iter().take(NAMED);
    let names: Vec<_> = names.map(|policy| shown(said(policy, "name"))).collect();
    let more = if policies.len() > NAMED { ", ..." } else { "" };
    let names = names.join(", ") + more;
    let message = match (wanted, &chosen[..]) {
        _ if policies.is_empty() && !problems.is_empty() => return None,
        _ if policies.is_empty() => format!(
            "there is no policy; give what the engine answers for \
             /ovirt-engine/api/schedulingpolicies/ID{FOLLOW}"
        ),
        (Some(wanted), []) => format!(
            "there is no policy of name or id {}; there is {names}",
            shown(wanted)
        ),
        _ => format!("there are several policies; choose one with --name: {names}"),
    };
    if let Some(place) = policies
        .first()
        .or(documents.first().as_ref())
        .map(|it| &it.place)
    {
        problems.add(place, message);
    }
    None
}
