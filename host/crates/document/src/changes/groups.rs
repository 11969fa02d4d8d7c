//! What is different of affinity groups.

use std::sync::Arc;

use crate::Problems;
use crate::cluster::{Ids, Rule};
use crate::form::{BOOLEAN, Fields, Key, NUMBER, Shape, TEXT, key, required};
use crate::words;
use placewright_model::{Group, GroupRule};

/// A group that is new, or of which something is different.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedGroup {
    /// Its id.
    pub id: Arc<str>,
    /// Ids of its VMs.
    pub vms: MembersChange,
    /// Ids of its hosts.
    pub hosts: MembersChange,
    /// What it wants of its VMs.
    pub vm_rule: RuleChange,
    /// What it wants of its VMs and hosts.
    pub host_rule: RuleChange,
    /// None: it stays.
    pub priority: Option<f64>,
    /// What people call it.
    pub name: TextChange,
    /// What it is for.
    pub description: TextChange,
    /// Ids of the groups whose VMs it has, too; None: they stay.
    pub vms_of: Option<Vec<Arc<str>>>,
    /// Ids of the groups whose hosts it has, too; None: they stay.
    pub hosts_of: Option<Vec<Arc<str>>>,
}

/// What is different of a text: None: nothing; Some(None): there is none any more.
pub type TextChange = Option<Option<Arc<str>>>;

/// What is different of the members of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MembersChange {
    /// All of them; None: those that there are.
    pub all: Option<Vec<Arc<str>>>,
    /// Members from now on; some may be already.
    pub add: Vec<Arc<str>>,
    /// Members no more; some may be none.
    pub remove: Vec<Arc<str>>,
}

/// What is different of a rule of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuleChange {
    /// The rule stays as it is.
    #[default]
    Stays,
    /// There is none any more.
    Goes,
    /// Only whether it must be kept.
    Hard(bool),
    /// What it wants; whether it must be kept stays, if that is not given.
    Is {
        /// Together; false: apart.
        positive: bool,
        /// Whether it must be kept; None: as before.
        hard: Option<bool>,
    },
}

/// What can be said of a group. Keys of the cluster's document, and members that come and
/// go one by one.
pub(crate) const FORM: &[Key] = &[
    required("id", TEXT, "Id of the group, unique in the cluster").such_as("web-apart"),
    key("name", TEXT, "What people call it; null: its id").such_as("Web servers apart"),
    key("description", TEXT, "What it is for; null: nothing is said")
        .such_as("No two web servers on one host"),
    key(
        "vms",
        Shape::Texts,
        "Ids of all its VMs, running or not; null: it has none",
    )
    .such_as("web-1"),
    key("add-vms", Shape::Texts, "Ids of VMs that come into it").such_as("web-3"),
    key("remove-vms", Shape::Texts, "Ids of VMs that it has no more").such_as("web-2"),
    key(
        "hosts",
        Shape::Texts,
        "Ids of all its hosts; null: it has none",
    )
    .such_as("h1"),
    key("add-hosts", Shape::Texts, "Ids of hosts that come into it").such_as("h2"),
    key(
        "remove-hosts",
        Shape::Texts,
        "Ids of hosts that it has no more",
    )
    .such_as("h1"),
    key(
        "vms-of",
        Shape::Texts,
        "Ids of all other groups whose own VMs are in this one, too; null: of none",
    )
    .such_as("web"),
    key(
        "hosts-of",
        Shape::Texts,
        "Ids of all other groups whose own hosts are in this one, too; null: of none",
    )
    .such_as("racks-1"),
    key(
        "rule",
        Shape::Word(words::<Rule>),
        "What it wants of its VMs: together on one host, or no two on one host; null: nothing",
    ),
    key("hard", BOOLEAN, "Whether the rule for VMs must be kept"),
    key(
        "host-rule",
        Shape::Word(words::<Rule>),
        "What it wants of its VMs and hosts: VMs on these hosts, or not on them; null: nothing",
    ),
    key(
        "host-hard",
        BOOLEAN,
        "Whether the rule for hosts must be kept",
    ),
    key(
        "priority",
        NUMBER,
        "The greater, the more it counts where not all groups can be had; null: 1",
    )
    .such_as("2"),
];

pub(super) fn read(document: &Fields<'_>, problems: &mut Problems) -> Vec<ChangedGroup> {
    let mut ids = Ids::new("group");
    let mut groups = Vec::new();
    for table in document.tables("groups") {
        let fields = Fields::read(table, FORM, "a group", problems);
        let changed = |id| ChangedGroup {
            id,
            vms: MembersChange::read(&fields, ["vms", "add-vms", "remove-vms"]),
            hosts: MembersChange::read(&fields, ["hosts", "add-hosts", "remove-hosts"]),
            vm_rule: RuleChange::read(&fields, "rule", "hard"),
            host_rule: RuleChange::read(&fields, "host-rule", "host-hard"),
            priority: match fields.is_null("priority") {
                true => Some(1.0),
                false => fields.number("priority"),
            },
            name: text(&fields, "name"),
            description: text(&fields, "description"),
            vms_of: fields.list_given("vms-of"),
            hosts_of: fields.list_given("hosts-of"),
        };
        for (all, ones) in [
            ("vms", ["add-vms", "remove-vms"]),
            ("hosts", ["add-hosts", "remove-hosts"]),
        ] {
            let one = ones.iter().find_map(|one| fields.place_of(one));
            if let (Some(place), Some(_)) = (one, fields.place_of(all)) {
                let [add, remove] = ones;
                problems.add(
                    place,
                    format!(
                        "\"{all}\" gives all members, \"{add}\" and \"{remove}\" some: give either"
                    ),
                );
            }
        }
        for (rule, hard) in [("rule", "hard"), ("host-rule", "host-hard")] {
            if let (true, Some(place)) = (fields.is_null(rule), fields.place_of(hard)) {
                let message = format!("\"{hard}\" says nothing without \"{rule}\"");
                problems.add(place, message);
            }
        }
        groups.extend(ids.take(&fields, problems).map(changed));
    }
    groups
}

fn text(fields: &Fields<'_>, key: &str) -> TextChange {
    match fields.is_null(key) {
        true => Some(None),
        false => fields.text(key).map(Some),
    }
}

impl MembersChange {
    fn read(fields: &Fields<'_>, [all, add, remove]: [&str; 3]) -> Self {
        Self {
            all: fields.list_given(all),
            add: fields.list(add),
            remove: fields.list(remove),
        }
    }

    /// The members from now on: those that stay in their order, then those that come.
    pub fn apply(&self, members: &mut Vec<Arc<str>>) {
        if let Some(all) = &self.all {
            members.clone_from(all);
        }
        members.retain(|member| !self.remove.contains(member));
        for new in &self.add {
            if !members.contains(new) {
                members.push(new.clone());
            }
        }
    }
}

impl RuleChange {
    fn read(fields: &Fields<'_>, rule: &str, hard: &str) -> Self {
        let must = match fields.is_null(hard) {
            true => Some(false),
            false => fields.boolean(hard),
        };
        match (fields.word::<Rule>(rule), must) {
            (Some(rule), hard) => Self::Is {
                positive: rule == Rule::Positive,
                hard,
            },
            (None, _) if fields.is_null(rule) => Self::Goes,
            (None, Some(hard)) => Self::Hard(hard),
            (None, None) => Self::Stays,
        }
    }

    /// The rule from now on. None: there is no rule that could be kept or not.
    pub fn apply(self, rule: Option<GroupRule>) -> Option<Option<GroupRule>> {
        let of = |positive, hard| match positive {
            true => GroupRule::Positive { hard },
            false => GroupRule::Negative { hard },
        };
        let (was_positive, was_hard) = match rule {
            Some(GroupRule::Positive { hard }) => (Some(true), hard),
            Some(GroupRule::Negative { hard }) => (Some(false), hard),
            None => (None, false),
        };
        Some(match (self, was_positive) {
            (Self::Stays, _) => rule,
            (Self::Goes, _) => None,
            (Self::Is { positive, hard }, _) => Some(of(positive, hard.unwrap_or(was_hard))),
            (Self::Hard(hard), Some(positive)) => Some(of(positive, hard)),
            (Self::Hard(true), None) => return None,
            (Self::Hard(false), None) => None,
        })
    }
}

impl ChangedGroup {
    /// A change that names a group and changes nothing of it.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            vms: MembersChange::default(),
            hosts: MembersChange::default(),
            vm_rule: RuleChange::Stays,
            host_rule: RuleChange::Stays,
            priority: None,
            name: None,
            description: None,
            vms_of: None,
            hosts_of: None,
        }
    }

    /// The group as it is from now on; `old` is what it was, if there was one.
    ///
    /// # Errors
    /// The key that says whether a rule must be kept, where there is no such rule.
    pub fn apply(&self, old: Option<&Group>) -> Result<Group, &'static str> {
        let mut group = old.cloned().unwrap_or_else(|| Group::new(self.id.clone()));
        self.vms.apply(&mut group.vms);
        self.hosts.apply(&mut group.hosts);
        group.vm_rule = self.vm_rule.apply(group.vm_rule).ok_or("hard")?;
        group.host_rule = self.host_rule.apply(group.host_rule).ok_or("host-hard")?;
        group.priority = self.priority.unwrap_or(group.priority);
        for (change, text) in [
            (&self.name, &mut group.name),
            (&self.description, &mut group.description),
        ] {
            if let Some(new) = change {
                text.clone_from(new);
            }
        }
        for (change, others) in [
            (&self.vms_of, &mut group.vms_of),
            (&self.hosts_of, &mut group.hosts_of),
        ] {
            if let Some(new) = change {
                others.clone_from(new);
            }
        }
        Ok(group)
    }
}
