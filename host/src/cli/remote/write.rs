//! What a server has is made, changed and taken away.

use std::path::PathBuf;

use clap::Args;
use placewright_client::{Call, ClientError, Content, Method};

use super::list::Kind;
use super::{ClusterArg, Session, document, fault, shown};
use crate::cli::failure::{Answer, Failure};

/// Make a cluster of its document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod create cluster.toml --policy general")]
pub(super) struct Create {
    /// The document: hosts, VMs that run there, groups (TOML or JSON)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The policy that decides; the server's choice if not given
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
}

impl Create {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let mut call = Call::post(["clusters"]).content(document::of_file(&self.file)?);
        if let Some(policy) = self.policy {
            call = call.query("policy", policy);
        }
        let answer = session.call(call)?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}

/// Of which state a thing is changed.
#[derive(Debug, Args)]
struct Condition {
    /// Only if it has this ETag; that of now if not given
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
}

/// Which thing.
struct Which {
    kind: Kind,
    /// Its id or name; None of what a cluster has one of.
    name: Option<String>,
    cluster: ClusterArg,
}

impl Which {
    fn call(&self, session: &Session, method: Method) -> Result<Call, Failure> {
        let cluster = match self.kind.is_of_cluster() {
            true => Some(self.cluster.name(session)?),
            false => None,
        };
        let mut way = self.kind.way(cluster.as_deref());
        match (&self.name, self.kind) {
            (None, Kind::Settings | Kind::Inventory) => {}
            (Some(_), Kind::Settings | Kind::Inventory) => {
                return Err(Failure::input_because(
                    "a cluster has one of them: no name belongs here",
                ));
            }
            (Some(name), _) => way.push(name),
            (None, _) => return Err(Failure::input_because("its id or name is missing")),
        }
        Ok(Call::new(method, way))
    }

    /// A call that is carried out if the thing is as it was when somebody looked: now, if not
    /// given otherwise.
    fn conditional(
        &self,
        session: &Session,
        method: Method,
        condition: Condition,
    ) -> Result<Call, Failure> {
        let call = self.call(session, method)?;
        if let Some(etag) = condition.if_match {
            return Ok(call.header("if-match", etag));
        }
        match session.client.call(self.call(session, Method::Get)?) {
            Ok(answer) => Ok(match answer.etag {
                Some(etag) => call.header("if-match", etag),
                None => call,
            }),
            Err(ClientError::Refused(refusal))
                if refusal.status == 404 && method == Method::Put =>
            {
                Ok(call.header("if-none-match", "*"))
            }
            Err(error) => Err(fault(error)),
        }
    }
}

/// Put a thing in the place of what is there, or make it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright put hosts h9 host.toml --cluster east
  placewright put policies mine mine.toml
  placewright put settings settings.json --cluster east")]
pub(super) struct Put {
    /// What it is
    #[arg(value_parser = Kind::that_take(Method::Put), value_name = "KIND")]
    kind: Kind,
    /// Its id or name, where it has one, and the file with its document (TOML or JSON)
    #[arg(value_name = "[NAME] FILE", num_args = 1..=2, required = true)]
    words: Vec<String>,
    #[command(flatten)]
    cluster: ClusterArg,
    #[command(flatten)]
    condition: Condition,
}

impl Put {
    pub(super) fn run(mut self, session: &Session) -> Result<Answer, Failure> {
        let file = PathBuf::from(self.words.pop().unwrap_or_default());
        let which = Which {
            kind: self.kind,
            name: self.words.pop(),
            cluster: self.cluster,
        };
        let content = document::of_file(&file)?;
        let call = which.conditional(session, Method::Put, self.condition)?;
        let answer = session.call(call.content(content))?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}

/// Change parts of a host, a VM, a group, a tenant, the settings of a cluster or a quota.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright patch hosts h1 --set state=maintenance --cluster east
  placewright patch vms web-1 --set 'memory=8 GiB' --set cpu=4 --cluster east
  placewright patch settings --set policy=mine --cluster east")]
pub(super) struct Patch {
    /// What it is
    #[arg(value_parser = Kind::that_take(Method::Patch), value_name = "KIND")]
    kind: Kind,
    /// Its id or name; settings have none
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
    /// A key and its new value: JSON, or else a text; null takes it away. May be given again
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A document with what changes (TOML or JSON)
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    file: Option<PathBuf>,
    #[command(flatten)]
    condition: Condition,
}

impl Patch {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let content = match &self.file {
            Some(file) => document::of_file(file)?,
            None if self.set.is_empty() => {
                let why = "nothing is to be changed: give --set KEY=VALUE, or --file FILE";
                return Err(Failure::input_because(why));
            }
            None => Content::Json(document::of_words(&self.set)?.to_string()),
        };
        let which = Which {
            kind: self.kind,
            name: self.name,
            cluster: self.cluster,
        };
        let call = which.conditional(session, Method::Patch, self.condition)?;
        let answer = session.call(call.content(content))?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}

/// Take a thing away: a cluster, host, VM, group, tenant, reservation, policy, unit, quota or token.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright delete vms web-1 --cluster east
  placewright delete policies mine")]
pub(super) struct Delete {
    /// What it is
    #[arg(value_parser = Kind::that_take(Method::Delete), value_name = "KIND")]
    kind: Kind,
    /// Its id or name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    cluster: ClusterArg,
    #[command(flatten)]
    condition: Condition,
}

impl Delete {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let which = Which {
            kind: self.kind,
            name: Some(self.name),
            cluster: self.cluster,
        };
        let call = which.conditional(session, Method::Delete, self.condition)?;
        let answer = session.call(call)?;
        session.print(&answer.body, |body| match body.is_null() {
            true => "It is gone.".to_owned(),
            false => shown::outline(body),
        })?;
        Ok(Answer::Yes)
    }
}

/// Carry a document of changes out in a cluster: all of it or nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright change changes.toml --cluster east")]
pub(super) struct Change {
    /// The document (TOML or JSON)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Change {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let call = Call::post(["clusters", &cluster, "inventory", "changes"]);
        let answer = session.call(call.content(document::of_file(&self.file)?))?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}
