//! Steps of a job of a client's.

use super::{Job, Step, description, find, lock, succeeded, word};
use crate::call::{Call, Reply};
use crate::element::only;
use crate::fault::Fault;
use crate::moment;
use crate::tree::Tree;

impl Step {
    pub(super) fn tree(&self, job: &str) -> Tree {
        let href = format!("{job}/steps/{}", self.id);
        let id = job.rsplit('/').next().unwrap_or_default();
        let mut tree = Tree::new("step")
            .at(&href, &self.id)
            .text("description", &self.description)
            .text("external", true)
            .text("start_time", moment::written(self.begun))
            .text("status", word(self.ended))
            .text("type", &self.kind)
            .with(Tree::new("job").at(job, id));
        if let Some((at, _)) = self.ended {
            tree = tree.text("end_time", moment::written(at));
        }
        tree.link_below(&href, "end")
            .link_below(&href, "statistics")
    }
}

/// `GET /jobs/{id}/steps`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let job = find(call)?;
    let href = job.href();
    let steps = job.steps.iter().take(call.most()?);
    Ok(Reply::ok(Tree::list(
        "steps",
        steps.map(|step| step.tree(&href)),
    )))
}

/// `GET /jobs/{id}/steps/{step}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let job = find(call)?;
    let wanted = call.part("step");
    let found = job.steps.iter().find(|step| step.id == wanted);
    let step = found.ok_or_else(|| Fault::not_found("step", wanted))?;
    Ok(Reply::ok(step.tree(&job.href())))
}

/// `POST /jobs/{id}/steps`
pub(crate) fn add(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("step")?;
    let known = [
        "id",
        "href",
        "name",
        "comment",
        "description",
        "external",
        "external_type",
        "job",
        "number",
        "parent_step",
        "progress",
        "status",
        "type",
        "start_time",
        "end_time",
        "execution_host",
    ];
    only(body, &known)?;
    let description = description(body, "Step")?;
    let kind = body.get("type").map(|it| it.text.clone());
    let kind = kind.ok_or_else(|| Fault::incomplete("Step", "type", "add"))?;
    if !["unknown", "validating", "executing", "finalizing"].contains(&kind.as_str()) {
        return Err(Fault::syntax(
            "\"type\" must be unknown, validating, executing or finalizing",
        ));
    }
    let now = call.site.deployment.now();
    let mut jobs = lock(&call.site);
    let step = Step {
        id: String::new(),
        description,
        kind,
        begun: now,
        ended: None,
    };
    let (href, step) = jobs.add_step(call.part("id"), &call.caller.name, step)?;
    let own = format!("{href}/steps/{}", step.id);
    Ok(Reply::created(step.tree(&href), own))
}

/// `POST /jobs/{id}/steps/{step}/end`
pub(crate) fn end(call: &Call) -> Result<Reply, Fault> {
    let is_well = succeeded(call)?;
    let now = call.site.deployment.now();
    let mut jobs = lock(&call.site);
    let job: &mut Job = jobs.get_mut(call.part("id"), &call.caller.name)?;
    let wanted = call.part("step");
    let found = job.steps.iter_mut().find(|step| step.id == wanted);
    let step = found.ok_or_else(|| Fault::not_found("step", wanted))?;
    step.ended.get_or_insert((now, is_well));
    Ok(Reply::complete())
}
