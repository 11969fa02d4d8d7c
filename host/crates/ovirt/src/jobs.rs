//! Jobs: what takes its time. The migrations that were asked for here, and what clients say
//! that they are doing. They are not stored: a server that starts anew has none.

mod steps;

pub(crate) use steps::{add as add_step, end as end_step, list as list_steps, show as show_step};

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::call::{Call, Reply};
use super::element::{flag, only};
use super::fault::Fault;
use super::ids;
use super::import::Element;
use super::inventory::Part;
use super::moment;
use super::search::{Field, Search};
use super::site::Site;
use super::tree::Tree;
use placewright_http::Permission;
use placewright_model::budget::Collection;

/// The most steps of a job.
const MOST_STEPS: usize = 50;

/// The most bytes of a description.
const LONGEST: usize = 1024;

/// The jobs that are remembered, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: VecDeque<Job>,
    /// How many there have been.
    count: u64,
}

/// A job, or a step of one.
#[derive(Debug, Clone)]
struct Job {
    id: String,
    description: String,
    /// The name of the token of whoever began it.
    owner: Arc<str>,
    correlation: Option<String>,
    begun: i64,
    work: Work,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    id: String,
    description: String,
    kind: String,
    begun: i64,
    ended: Option<(i64, bool)>,
}

/// What a job is done by.
#[derive(Debug, Clone)]
enum Work {
    /// A client, who says when it is over, and whether it went well.
    Client { ended: Option<(i64, bool)> },
    /// Whoever moves VMs: it is over when the VM has no place reserved any more.
    Migration {
        cluster: Arc<str>,
        vm: Arc<str>,
        to: Arc<str>,
    },
}

/// Path of a job.
pub(crate) fn href(id: &str) -> String {
    format!("/ovirt-engine/api/jobs/{id}")
}

fn lock(site: &Site) -> MutexGuard<'_, Jobs> {
    site.jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    fn next_id(&mut self) -> String {
        self.count += 1;
        ids::of("job", &[&self.count.to_string()])
    }

    fn push(&mut self, job: Job) {
        if self.all.len() >= Collection::Jobs.most() {
            self.make_room();
        }
        self.all.push_back(job);
    }

    /// Forget a job of the owner with the most: one that is over, or else the oldest.
    fn make_room(&mut self) {
        let mut counts: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for job in &self.all {
            *counts.entry(&job.owner).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let Some(owner) = most.map(|(owner, _)| owner.clone()) else {
            return;
        };
        let is_own = |job: &Job| job.owner == owner;
        let is_over =
            |job: &Job| is_own(job) && matches!(job.work, Work::Client { ended: Some(_) });
        let place = self.all.iter().position(is_over);
        let place = place.or_else(|| self.all.iter().position(is_own));
        if let Some(place) = place {
            self.all.remove(place);
        }
    }

    /// Add a step to a client's job; gives the path of the job, and the step with its id.
    fn add_step(&mut self, id: &str, owner: &str, step: Step) -> Result<(String, Step), Fault> {
        let job = self.get_mut(id, owner)?;
        if !matches!(job.work, Work::Client { ended: None }) {
            return Err(Fault::refused(
                "Cannot add Step. The job is over, or is none of a client's",
            ));
        }
        if job.steps.len() >= MOST_STEPS {
            return Err(Fault::refused(format!(
                "Cannot add Step. The job has {MOST_STEPS} steps, and none may have more: add another job"
            )));
        }
        let id = ids::of("step", &[&job.id, &job.steps.len().to_string()]);
        let step = Step { id, ..step };
        job.steps.push(step.clone());
        Ok((job.href(), step))
    }

    fn get_mut(&mut self, id: &str, owner: &str) -> Result<&mut Job, Fault> {
        let mut jobs = self.all.iter_mut();
        let found = jobs.find(|job| job.id == id && *job.owner == *owner);
        found.ok_or_else(|| Fault::not_found("job", id))
    }
}

/// Remember that a VM is on its way; gives the id of the job.
pub(crate) fn migration(
    call: &Call,
    (cluster, vm): (&Arc<str>, &Arc<str>),
    to: &Arc<str>,
    name: &str,
) -> String {
    let mut jobs = lock(&call.site);
    let id = jobs.next_id();
    jobs.push(Job {
        id: id.clone(),
        description: format!("Migrating VM {name}"),
        owner: call.caller.name.clone(),
        correlation: call.correlation().map(str::to_owned),
        begun: call.site.deployment.now(),
        work: Work::Migration {
            cluster: cluster.clone(),
            vm: vm.clone(),
            to: to.clone(),
        },
        steps: Vec::new(),
    });
    id
}

fn word(ended: Option<(i64, bool)>) -> &'static str {
    match ended {
        None => "started",
        Some((_, true)) => "finished",
        Some((_, false)) => "failed",
    }
}

impl Job {
    /// When it was over, and whether it went well; None: it goes on.
    fn ended(&self, call: &Call) -> Option<(i64, bool)> {
        let (cluster, vm, to) = match &self.work {
            Work::Client { ended } => return *ended,
            Work::Migration { cluster, vm, to } => (cluster, vm, to),
        };
        let now = call.site.deployment.now();
        let found = call.site.deployment.cluster(cluster).ok().map(Part::of);
        let Some(Ok(part)) = found else {
            return Some((now, false));
        };
        let inventory = part.inventory();
        let running = inventory.running(vm).map(|entry| entry.slot);
        // What is reserved where it runs is for its growth.
        let place = inventory.pending(vm).map(|entry| Some(entry.slot));
        if place.is_some_and(|place| place != running) {
            return None;
        }
        let host = running.and_then(|slot| inventory.host(slot));
        Some((now, host.is_some_and(|host| host.id == *to)))
    }

    fn href(&self) -> String {
        href(&self.id)
    }

    fn tree(&self, call: &Call) -> Tree {
        let ended = self.ended(call);
        let href = self.href();
        let is_external = matches!(self.work, Work::Client { .. });
        let mut tree = Tree::new("job")
            .at(&href, &self.id)
            .text("auto_cleared", true)
            .text("description", &self.description)
            .text("external", is_external)
            .text("last_updated", moment::written(self.begun))
            .text("start_time", moment::written(self.begun))
            .text("status", word(ended));
        if let Some((at, _)) = ended {
            tree = tree.text("end_time", moment::written(at));
        }
        if call.follows("steps") {
            let steps = self.steps.iter().map(|step| step.tree(&href));
            tree = tree.with(Tree::list("steps", steps));
        }
        tree.link_below(&href, "clear")
            .link_below(&href, "end")
            .link_below(&href, "steps")
    }
}

fn field(key: &str) -> Option<Field> {
    match key {
        "status" | "description" | "correlation_id" | "id" => Some(Field::Text),
        _ => None,
    }
}

/// The jobs of the caller, the last one first.
fn of_caller(call: &Call) -> Vec<Job> {
    let jobs = lock(&call.site);
    let own = jobs.all.iter().rev();
    let own = own.filter(|job| job.owner == call.caller.name);
    own.cloned().collect()
}

/// `GET /jobs`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let search = Search::read(call, field)?;
    let found = search.of(of_caller(call), |job, key| match key {
        "status" => Some(word(job.ended(call)).to_owned()),
        "description" => Some(job.description.clone()),
        "correlation_id" => job.correlation.clone(),
        _ => Some(job.id.clone()),
    })?;
    let found = found.iter().take(call.most()?);
    Ok(Reply::ok(Tree::list(
        "jobs",
        found.map(|job| job.tree(call)),
    )))
}

fn find(call: &Call) -> Result<Job, Fault> {
    let id = call.part("id");
    let mut own = of_caller(call).into_iter();
    let found = own.find(|job| job.id == id);
    found.ok_or_else(|| Fault::not_found("job", id))
}

/// `GET /jobs/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    Ok(Reply::ok(find(call)?.tree(call)))
}

/// What is done, as a body says.
fn description(body: &Element, what: &str) -> Result<String, Fault> {
    let text = body.get("description").map(|it| it.text.clone());
    let text = text.filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| Fault::incomplete(what, "description", "add"))?;
    match text.len() <= LONGEST {
        true => Ok(text),
        false => Err(Fault::refused(format!(
            "Cannot add {what}. Its description has more than {LONGEST} bytes"
        ))),
    }
}

/// `POST /jobs`
pub(crate) fn create(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("job")?;
    let known = [
        "id",
        "href",
        "name",
        "comment",
        "description",
        "external",
        "auto_cleared",
        "status",
        "owner",
        "start_time",
        "end_time",
        "last_updated",
        "steps",
    ];
    only(body, &known)?;
    let description = description(body, "Job")?;
    call.caller.must(Permission::Operate, None)?;
    let mut jobs = lock(&call.site);
    let id = jobs.next_id();
    let job = Job {
        id,
        description,
        owner: call.caller.name.clone(),
        correlation: call.correlation().map(str::to_owned),
        begun: call.site.deployment.now(),
        work: Work::Client { ended: None },
        steps: Vec::new(),
    };
    jobs.push(job.clone());
    drop(jobs);
    Ok(Reply::created(job.tree(call), job.href()))
}

/// Whether what is ended by an action went well.
fn succeeded(call: &Call) -> Result<bool, Fault> {
    let action = call.body("action")?;
    only(action, &["async", "force", "succeeded", "status", "job"])?;
    Ok(flag(action, "succeeded")?.unwrap_or(true))
}

/// `POST /jobs/{id}/end`
pub(crate) fn end(call: &Call) -> Result<Reply, Fault> {
    let is_well = succeeded(call)?;
    let now = call.site.deployment.now();
    let mut jobs = lock(&call.site);
    let job = jobs.get_mut(call.part("id"), &call.caller.name)?;
    match &mut job.work {
        Work::Client { ended } => {
            ended.get_or_insert((now, is_well));
            for step in &mut job.steps {
                step.ended.get_or_insert((now, is_well));
            }
            Ok(Reply::complete())
        }
        Work::Migration { .. } => Err(Fault::refused(
            "Cannot end Job. It is none of a client's: a migration is over when it is confirmed",
        )),
    }
}

/// `POST /jobs/{id}/clear`
pub(crate) fn clear(call: &Call) -> Result<Reply, Fault> {
    succeeded(call)?;
    let mut jobs = lock(&call.site);
    let id = jobs.get_mut(call.part("id"), &call.caller.name)?.id.clone();
    jobs.all.retain(|job| job.id != id);
    Ok(Reply::complete())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(jobs: &mut Jobs, ended: Option<(i64, bool)>) -> String {
        job_of(jobs, "admin", ended)
    }

    fn job_of(jobs: &mut Jobs, owner: &str, ended: Option<(i64, bool)>) -> String {
        let id = jobs.next_id();
        jobs.push(Job {
            id: id.clone(),
            description: "work".to_owned(),
            owner: owner.into(),
            correlation: None,
            begun: 0,
            work: Work::Client { ended },
            steps: Vec::new(),
        });
        id
    }

    #[test]
    fn a_bounded_number_of_jobs_is_remembered_and_those_that_are_over_go_first() {
        let mut jobs = Jobs::default();
        let first = job(&mut jobs, None);
        let over = job(&mut jobs, Some((1, true)));
        for _ in 2..Collection::Jobs.most() {
            job(&mut jobs, None);
        }
        assert_eq!(jobs.all.len(), Collection::Jobs.most());
        job(&mut jobs, None);
        assert_eq!(jobs.all.len(), Collection::Jobs.most());
        assert!(jobs.get_mut(&over, "admin").is_err());
        assert!(jobs.get_mut(&first, "admin").is_ok());
        // Where all go on, the oldest goes.
        job(&mut jobs, None);
        assert!(jobs.get_mut(&first, "admin").is_err());
    }

    #[test]
    fn jobs_of_one_client_drive_out_none_of_others() {
        let mut jobs = Jobs::default();
        let first = job_of(&mut jobs, "modest", None);
        for _ in 0..2 * Collection::Jobs.most() {
            job_of(&mut jobs, "greedy", None);
        }
        let second = job_of(&mut jobs, "modest", Some((1, true)));
        job_of(&mut jobs, "greedy", None);
        assert_eq!(jobs.all.len(), Collection::Jobs.most());
        for id in [first, second] {
            assert!(jobs.get_mut(&id, "modest").is_ok());
        }
    }

    #[test]
    fn the_steps_of_a_job_are_bounded_and_keep_none_from_others() {
        let mut jobs = Jobs::default();
        let ids = [job(&mut jobs, None), job_of(&mut jobs, "other", None)];
        let step = Step {
            id: String::new(),
            description: "upgrade".to_owned(),
            kind: "executing".to_owned(),
            begun: 0,
            ended: None,
        };
        for _ in 0..MOST_STEPS {
            let added = jobs.add_step(&ids[0], "admin", step.clone());
            assert!(added.is_ok());
        }
        assert!(jobs.add_step(&ids[0], "admin", step.clone()).is_err());
        assert!(jobs.add_step(&ids[1], "other", step).is_ok());
    }

    #[test]
    fn a_job_is_that_of_its_owner() {
        let mut jobs = Jobs::default();
        let own = job(&mut jobs, None);
        assert!(jobs.get_mut(&own, "admin").is_ok());
        assert!(jobs.get_mut(&own, "other").is_err());
    }
}
