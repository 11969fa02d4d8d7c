//! What callers for some clusters are shown of what concerns the whole server: nothing that names
//! other clusters, callers, policies of others, or files of the machine.

use serde_json::Value;

use super::problem::{Code, Problem};
use super::{Caller, Permission};
use placewright_deployment::{Deployment, DeploymentError, Event, Origin, PolicyRecord, PolicyUse};

/// Stands for a sentence that may name what the caller is not for.
const WITHHELD: &str = "the reason is shown to tokens for all clusters";

/// Columns of units and their history that are for those who see all clusters.
const WITHHELD_COLUMNS: [&str; 4] = ["path", "staging", "replay", "note"];

impl Caller {
    /// Whether nothing is kept from it.
    pub fn sees_all(&self) -> bool {
        self.clusters.is_none()
    }

    /// Whether a policy is shown to it: one that decides in a cluster of its own, that it made,
    /// or that comes with the program.
    pub fn sees_policy(&self, deployment: &Deployment, policy: &PolicyRecord) -> bool {
        let is_ours = || {
            let users = deployment.clusters_of(&policy.name);
            users.iter().any(|cluster| self.sees(cluster.name()))
        };
        self.sees_all()
            || policy.origin == Origin::Program
            || *policy.owner == *self.name
            || is_ours()
    }

    /// The policy of that name, if it is shown to the caller.
    ///
    /// # Errors
    /// If there is none that is.
    pub fn policy(
        &self,
        deployment: &Deployment,
        name: &str,
    ) -> Result<std::sync::Arc<PolicyRecord>, Problem> {
        match deployment.policy(name) {
            Ok(policy) if self.sees_policy(deployment, &policy) => Ok(policy),
            Ok(_) => Err(Problem::not_found("policy", name)),
            Err(error) => Err(self.told_error(error)),
        }
    }

    /// An error as it is told to the caller: the policy that was probably meant may be one that
    /// is not shown to it.
    pub fn told_error(&self, error: DeploymentError) -> Problem {
        match error {
            DeploymentError::Unknown { what, name, .. } if !self.sees_all() => {
                Problem::not_found(what, &name)
            }
            error => error.into(),
        }
    }

    /// What it is shown of a unit, or of what became of its candidates.
    pub fn shown_unit(&self, mut shown: Value) -> Value {
        if !self.sees_all() {
            self.withhold(&mut shown);
        }
        shown
    }

    fn withhold(&self, value: &mut Value) {
        match value {
            Value::Object(columns) => {
                columns.retain(|name, value| {
                    let is_other = name == "by" && *value != *self.name;
                    !is_other && !WITHHELD_COLUMNS.contains(&name.as_str())
                });
                for (name, value) in columns.iter_mut() {
                    match name.as_str() {
                        "why" | "trouble" if value.is_string() => *value = WITHHELD.into(),
                        _ => self.withhold(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.withhold(value)),
            _ => {}
        }
    }

    /// What it is told of an event; None: nothing. Of what concerns the whole server it is told
    /// in a sentence that names nobody.
    pub fn told_of(&self, deployment: &Deployment, event: &Event) -> Option<Event> {
        if self.sees_all() {
            return Some(event.clone());
        }
        if let Some(cluster) = &event.cluster {
            return self.sees(cluster).then(|| event.clone());
        }
        if let Some(policy) = &event.policy {
            let policy = deployment.policy(policy).ok()?;
            if !self.sees_policy(deployment, &policy) {
                return None;
            }
        }
        Some(Event {
            by: event.by.clone().filter(|by| *by == self.name),
            message: match event.kind {
                placewright_deployment::EventKind::Reset => event.message.clone(),
                kind => kind.meaning().to_owned(),
            },
            ..event.clone()
        })
    }

    /// Check that the caller may write a policy: on every cluster in which it decides. One that
    /// decides nowhere is changed by who made it, or by who may write policies for all clusters.
    ///
    /// # Errors
    /// If not.
    pub fn may_write_policy(&self, policy: &PolicyUse) -> Result<(), Problem> {
        let permission = Permission::AuthorPolicies;
        self.must(permission, None)?;
        if !policy.clusters.iter().all(|cluster| self.sees(cluster)) {
            return Err(self.refused_elsewhere("this policy"));
        }
        let is_others = policy
            .owner
            .as_deref()
            .is_some_and(|owner| *owner != *self.name);
        if policy.clusters.is_empty() && is_others && self.must_everywhere(permission).is_err() {
            let sentence = format!(
                "the token \"{}\" is for some clusters; this policy decides nowhere and was made by \
                 somebody else: clone it, or have it changed by who made it",
                self.name
            );
            return Err(Problem::new(Code::Forbidden, sentence));
        }
        Ok(())
    }

    /// That something decides in clusters that the token is not for; they are not named.
    pub fn refused_elsewhere(&self, what: &str) -> Problem {
        let name = &self.name;
        Problem::new(
            Code::Forbidden,
            format!("the token \"{name}\" is not for all clusters in which {what} decides"),
        )
    }
}
