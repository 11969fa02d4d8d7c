//! Quotas of tenants on a server.

use clap::{Args, Subcommand, ValueEnum};
use placewright_client::{Call, ClientError, Method};
use serde_json::{Map, Value, json};

use super::list::Kind;
use super::{Session, fault, shown};
use crate::cli::failure::{Answer, Failure};

/// List, set and delete quotas: how much tenants may hold.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright --context prod quota list --tenant acme
  placewright --context prod quota set acme --tenant acme --cpu 64 --vms 40
  placewright --context prod quota set acme --memory '256 GiB' --no-limit vms
  placewright --context prod quota delete acme")]
pub(super) enum Quota {
    List(List),
    /// Show a quota, with what its tenant holds
    Show {
        /// Its name
        name: String,
    },
    Set(Set),
    /// Delete a quota: its tenant is limited by it no more
    Delete {
        /// Its name
        name: String,
    },
}

/// List quotas, with what is held under each
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those of this tenant alone
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
    /// Those that hold in this cluster: its own, and those of all clusters together
    #[arg(long, short = 'c', value_name = "NAME")]
    cluster: Option<String>,
}

/// What a quota limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Resource {
    Cpu,
    Memory,
    Gpus,
    Vms,
}

impl Resource {
    fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Gpus => "gpus",
            Self::Vms => "vms",
        }
    }
}

/// Make a quota, or change one.
///
/// What is not named of a quota that is there stays as it is. What a tenant holds already stays,
/// also where that is more than the quota allows.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod quota set acme --tenant acme --memory '256 GiB'
  placewright --context prod quota set acme-east --tenant acme --cluster east \\
      --gpus 2.5")]
pub(super) struct Set {
    /// Its name
    name: String,
    /// The tenant, as VMs name it; needed for a new quota
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
    /// The cluster in which the tenant is limited; a new quota without one limits it in all
    /// clusters together
    #[arg(
        long,
        short = 'c',
        value_name = "NAME",
        conflicts_with = "all_clusters"
    )]
    cluster: Option<String>,
    /// Let a quota of one cluster limit the tenant in all together from now on
    #[arg(long)]
    all_clusters: bool,
    /// CPU at most, in cores: 64, 0.5 or 500m
    #[arg(long, value_name = "CORES")]
    cpu: Option<String>,
    /// Memory at most: '256 GiB', or a number of bytes
    #[arg(long, value_name = "BYTES")]
    memory: Option<String>,
    /// GPUs at most; a share of one counts as its part
    #[arg(long, value_name = "N")]
    gpus: Option<f64>,
    /// VMs at most
    #[arg(long, value_name = "N")]
    vms: Option<u64>,
    /// Limit this no more. May be given again
    #[arg(long, value_enum, value_name = "RESOURCE")]
    no_limit: Vec<Resource>,
}

impl Quota {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        match self {
            Self::List(list) => list.run(session)?,
            Self::Show { name } => {
                let answer = session.call(Call::get(["quotas", &name]))?;
                session.print(&answer.body, shown::outline)?;
            }
            Self::Set(set) => set.run(session)?,
            Self::Delete { name } => {
                let answer = session.call(Call::new(Method::Delete, ["quotas", &name]))?;
                session.print(&answer.body, |_| "It is gone.".to_owned())?;
            }
        }
        Ok(Answer::Yes)
    }
}

impl List {
    fn run(self, session: &Session) -> Result<(), Failure> {
        let mut call = Call::get(["quotas"]);
        for (key, value) in [("tenant", self.tenant), ("cluster", self.cluster)] {
            if let Some(value) = value {
                call = call.query(key, value);
            }
        }
        let items = session.client.list(&call, usize::MAX).map_err(fault)?;
        session.print(&items.into(), |items| {
            let items = items.as_array().map_or(&[][..], Vec::as_slice);
            match items.is_empty() {
                true => "There is none.".to_owned(),
                false => shown::table(Kind::Quotas.columns(), items),
            }
        })
    }
}

impl Set {
    fn run(self, session: &Session) -> Result<(), Failure> {
        let way = ["quotas", self.name.as_str()];
        let answer = match session.client.call(Call::get(way)) {
            Ok(_) => session.call(Call::new(Method::Patch, way).json(&self.changes()))?,
            Err(ClientError::Refused(refusal)) if refusal.status == 404 => {
                let call = Call::new(Method::Put, way).header("if-none-match", "*");
                session.call(call.json(&self.document()?))?
            }
            Err(error) => return Err(fault(error)),
        };
        session.print(&answer.body, shown::outline)
    }

    /// A new quota.
    fn document(&self) -> Result<Value, Failure> {
        let Some(tenant) = &self.tenant else {
            return Err(Failure::input_because(format!(
                "there is no quota \"{}\": to make it, give --tenant as well",
                self.name
            )));
        };
        let mut quota = json!({"tenant": tenant, "limits": self.limits()});
        if let Some(cluster) = &self.cluster {
            quota["cluster"] = cluster.as_str().into();
        }
        Ok(quota)
    }

    /// What is to be different of a quota that is there.
    fn changes(&self) -> Value {
        let mut limits = self.limits();
        for resource in &self.no_limit {
            limits.insert(resource.key().to_owned(), Value::Null);
        }
        let mut changes = json!({"limits": limits});
        if let Some(tenant) = &self.tenant {
            changes["tenant"] = tenant.as_str().into();
        }
        match (&self.cluster, self.all_clusters) {
            (Some(cluster), _) => changes["cluster"] = cluster.as_str().into(),
            (None, true) => changes["cluster"] = Value::Null,
            (None, false) => {}
        }
        changes
    }

    fn limits(&self) -> Map<String, Value> {
        let given = [
            ("cpu", self.cpu.as_deref().map(Value::from)),
            ("memory", self.memory.as_deref().map(Value::from)),
            ("gpus", self.gpus.map(Value::from)),
            ("vms", self.vms.map(Value::from)),
        ];
        let given = given.into_iter();
        given
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect()
    }
}
