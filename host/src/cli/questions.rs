//! What the commands that ask questions share: the cluster, the policy, and the VM
//! that they are about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use placewright_document::{Surroundings, nearest, read_requests};
use placewright_engine::generation::Generation;
use placewright_model::{Request, Vm, doubts};
use placewright_plugins::DEFAULT_POLICY;
use placewright_policy::Policy;
use placewright_scheduler::questions::Situation;
use placewright_scheduler::{Scheduler, SchedulerOptions};

use super::clusters::{self, Cluster};
use super::failure::Failure;
use super::output::{self, Format};
use super::units::{self, UnitArgs};

/// The cluster and the policy that a question is about.
#[derive(Debug, Args)]
pub(super) struct About {
    /// The document of the cluster: hosts, VMs that run there, groups (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// The policy: one that comes with the program (placewright policy list), or a file
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_POLICY)]
    policy: String,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// They, read.
pub(super) struct Asked {
    pub cluster: Cluster,
    policy: Arc<Policy>,
    generation: Generation,
    options: SchedulerOptions,
}

impl About {
    /// Read the documents, and load the units.
    pub(super) fn read(&self) -> Result<Asked, Failure> {
        let cluster = clusters::read(&self.cluster)?;
        let generation = self.units.load()?;
        let policy = units::policy(&self.policy, &generation, cluster.inventory.schema())?;
        let options = SchedulerOptions {
            seed: cluster.seed,
            ..SchedulerOptions::default()
        };
        Ok(Asked {
            cluster,
            policy,
            generation,
            options,
        })
    }
}

impl Asked {
    /// What decides in the cluster, with the time of the cluster.
    pub(super) fn scheduler(self) -> Result<(Scheduler, i64), Failure> {
        let Cluster { inventory, now, .. } = self.cluster;
        let scheduler = Scheduler::new(inventory, self.policy, &self.generation, self.options);
        Ok((scheduler.map_err(Failure::input)?, now))
    }

    /// What is asked about.
    pub(super) fn situation(&self) -> Situation<'_> {
        Situation {
            inventory: &self.cluster.inventory,
            policy: &self.policy,
            generation: &self.generation,
            options: &self.options,
        }
    }

    /// The policy that decides.
    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The request for a VM: one of the cluster by its id, or that of a document.
    pub(super) fn request(&self, vm: &str) -> Result<Request, Failure> {
        request(&self.cluster, vm)
    }
}

/// The request for a VM: one of the cluster by its id, or that of a document.
pub(super) fn request(cluster: &Cluster, vm: &str) -> Result<Request, Failure> {
    match <[Request; 1]>::try_from(requests(cluster, vm)?) {
        Ok([request]) => Ok(request),
        Err(requests) => Err(Failure::input_because(format!(
            "{vm} holds {} requests, and a question is about one: put the VM in a separate document",
            requests.len()
        ))),
    }
}

/// The request for a VM of the cluster by its id, or all of those of a document.
pub(super) fn requests(cluster: &Cluster, vm: &str) -> Result<Vec<Request>, Failure> {
    let inventory = &cluster.inventory;
    let entry = inventory.running(vm).or_else(|| inventory.pending(vm));
    if let Some(entry) = entry {
        return Ok(vec![request_of(cluster, &entry.vm)]);
    }
    let path = Path::new(vm);
    if !path.is_file() && !vm.contains(['/', '\\', '.']) {
        return Err(no_vm(cluster, vm));
    }
    let surroundings = Surroundings {
        schema: inventory.schema(),
        now: cluster.now,
        hosts: Some(&cluster.hosts),
    };
    let requests = read_requests(&units::read(path)?, vm, surroundings).map_err(Failure::input)?;
    let members = requests.iter().flat_map(|it| &it.members);
    // Of a VM of which the id is enough, the cluster knows the rest.
    let given = members.filter(|vm| **vm != Vm::new(vm.id.clone()));
    output::warn(&doubts(given, []));
    Ok(requests)
}

/// Who owns a VM asks for it.
fn request_of(cluster: &Cluster, vm: &Vm) -> Request {
    let mut request = Request {
        members: vec![vm.clone()],
        now: cluster.now,
        ..Request::default()
    };
    if let Some(tenant) = vm.facts.get("tenant") {
        request.facts.set("tenant", tenant.clone());
    }
    request
}

fn no_vm(cluster: &Cluster, vm: &str) -> Failure {
    let inventory = &cluster.inventory;
    let entries = inventory
        .hosts()
        .flat_map(|(_, host)| inventory.vms_of(host));
    let ids: Vec<&str> = entries.map(|entry| &*entry.vm.id).collect();
    let hint = nearest(vm, ids).map_or_else(
        || "name one that runs there, or the document of one".to_owned(),
        |near| format!("did you mean \"{near}\"?"),
    );
    Failure::input_because(format!("there is no VM \"{vm}\" in the cluster: {hint}"))
}
