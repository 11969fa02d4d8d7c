//! The events of a case, one after the other.

use std::sync::Arc;

use placewright_inventory::InventoryError;
use placewright_model::{Facts, Request, Value, Vm};
use placewright_scheduler::{Decision, Scheduler};
use serde_json::{Value as Json, json};

use super::case::Given;
use super::event::{self, Event};
use super::{pods, policy, step};

/// A history as far as it went.
pub(super) struct Replay {
    scheduler: Scheduler,
    filters: Vec<step::Filter>,
    /// The vector's one table of bindings: whose row each is, and which of theirs.
    table: Vec<(String, usize)>,
}

/// What a decision did to the bindings of its tenant.
pub(super) struct Bound {
    pub action: &'static str,
    /// Numbers of the rows that ended.
    pub closed: Vec<usize>,
}

impl Replay {
    /// At its beginning.
    pub(super) fn new(scheduler: Scheduler, given: &Given) -> Self {
        let filters = given
            .cfg
            .filters
            .iter()
            .zip(policy::filter_names(&given.cfg));
        let mut replay = Self {
            scheduler,
            filters: filters
                .map(|(filter, entry)| step::Filter {
                    word: filter.word(),
                    entry,
                })
                .collect(),
            table: Vec::new(),
        };
        for binding in &given.bindings {
            replay.list(&binding.tenant);
        }
        replay
    }

    /// Give the tenant's next row a number in the table.
    fn list(&mut self, tenant: &str) {
        let before = self.table.iter().filter(|(other, _)| other == tenant);
        let row = before.count();
        self.table.push((tenant.to_owned(), row));
    }

    /// Let an event happen, and tell what was decided.
    ///
    /// # Errors
    /// If it cannot happen.
    pub(super) fn event(&mut self, number: usize, event: &Event) -> Result<Json, String> {
        let inventory = self.scheduler.inventory_mut();
        let changed: Result<(), InventoryError> = match event {
            Event::Request(request) => return self.request(number, request),
            Event::AdminBind(bind) => return self.admin_bind(number, bind),
            Event::Usage(event) => {
                let usage = pods::usage(event.usage.as_ref());
                inventory.set_host_rows(&event.pod, "usage", usage)
            }
            Event::Maintenance(event) => {
                let on = Some(Value::Boolean(event.on));
                inventory.set_host_value(&event.pod, "attribute.maintenance", on)
            }
            Event::AddPod(event) => inventory.add_host(pods::host(&event.pod)).map(drop),
            Event::RemovePod(event) => inventory.remove_host(&event.pod),
        };
        changed.map_err(|error| error.to_string())?;
        Ok(Json::Null)
    }

    fn request(&mut self, number: usize, asked: &event::Request) -> Result<Json, String> {
        let mut vm = Vm::new(format!("event-{number}"));
        for (key, value) in &asked.extra_specs {
            vm.facts.push_row("specs", pods::pair(key, value));
        }
        let mut facts = Facts::new()
            .with("kind", asked.kind.word())
            .with("tenant", asked.tenant.as_str());
        if let Some(zone) = &asked.az {
            facts.set("zone", zone.as_str());
        }
        let (decision, bound) = self.decide(Request {
            members: vec![vm],
            facts,
            now: asked.t,
            ..Request::default()
        })?;
        let explanation = self.scheduler.explain(decision.number);
        let explanation = explanation.map_err(|error| error.to_string())?;
        let listed = step::Listed::of(self.scheduler.inventory());
        step::of_request(&decision, &bound, &explanation, &listed, &self.filters)
    }

    fn admin_bind(&mut self, number: usize, bind: &event::AdminBind) -> Result<Json, String> {
        let (decision, bound) = self.decide(Request {
            members: vec![Vm::new(format!("event-{number}"))],
            facts: Facts::new().with("tenant", bind.tenant.as_str()),
            now: bind.t,
            forced: Some(bind.pod.as_str().into()),
            ..Request::default()
        })?;
        Ok(json!({
            "action": bound.action,
            "pod": decision.host,
            "closed": bound.closed,
        }))
    }

    /// Place, and see what became of the tenant's bindings. The place itself is given
    /// back: what is placed in a pod is no concern of the cases.
    fn decide(&mut self, request: Request) -> Result<(Arc<Decision>, Bound), String> {
        let tenant = request.facts.text("tenant").unwrap_or_default().to_owned();
        let before = self.rows(&tenant).to_vec();
        let decision = self.scheduler.place(request);
        let decision = decision.map_err(|error| error.to_string())?;
        if let Some(left_out) = decision.decided.left_out.first() {
            return Err(format!(
                "the entry \"{}\" of the policy was left out: {}",
                left_out.entry, left_out.fault
            ));
        }
        let inventory = self.scheduler.inventory_mut();
        for vm in &decision.request.members {
            if decision.host.is_some() {
                let cancelled = inventory.cancel_vm(&vm.id);
                cancelled.map_err(|error| error.to_string())?;
            }
        }
        let closed = self.ended(&tenant, &before);
        let begun = self.rows(&tenant).len().saturating_sub(before.len());
        for _ in 0..begun {
            self.list(&tenant);
        }
        let action = match (&decision.host, begun, closed.len()) {
            (None, ..) => "reject",
            (Some(_), 0, _) => "keep",
            (Some(_), _, 0) => "bind",
            (Some(_), ..) => "rebind",
        };
        Ok((decision, Bound { action, closed }))
    }

    /// Numbers of the tenant's rows that have an end and had none before.
    fn ended(&self, tenant: &str, before: &[Facts]) -> Vec<usize> {
        let rows = self.rows(tenant);
        let has_ended = |row: usize| {
            let end = |rows: &[Facts]| rows.get(row).and_then(|row| row.integer("end"));
            end(before).is_none() && end(rows).is_some()
        };
        let table = self.table.iter().enumerate();
        table
            .filter(|(_, (other, row))| other == tenant && has_ended(*row))
            .map(|(number, _)| number)
            .collect()
    }

    fn rows(&self, tenant: &str) -> &[Facts] {
        let facts = self.scheduler.inventory().tenant(tenant);
        facts.map_or(&[], |facts| facts.rows("bindings"))
    }

    /// The whole table, as vectors write it.
    pub(super) fn bindings(&self) -> Vec<Json> {
        let written = |(tenant, row): &(String, usize)| {
            let row = self.rows(tenant).get(*row)?;
            let text = |column| row.text(column).unwrap_or_default();
            Some(json!([
                tenant,
                text("host"),
                text("zone"),
                text("tag"),
                row.integer("start"),
                row.integer("end"),
            ]))
        };
        self.table.iter().filter_map(written).collect()
    }
}
