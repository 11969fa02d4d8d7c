//! Runs the policy's balance unit, and says what it proposes in ids.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::effects::row_change;
use super::encode::Context;
use super::{Chain, DecisionError, PartStep};
use placewright_engine::contract::{self, Change, Description, Moment, Part};
use placewright_inventory::Inventory;
use placewright_model::{Entity, Measure, Value, Write};
use placewright_policy::Settings;

/// What a balance unit proposes, in order of preference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PlanNote))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Proposed {
    /// Move a VM, or change with it what only a move changes.
    Move {
        /// Id of the VM.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
        vm: Arc<str>,
        /// Id of the host that the VM runs on.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
        from: Arc<str>,
        /// Hosts that the chain may choose from; empty = any.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["h1", "h2"])))]
        among: Vec<Arc<str>>,
        /// Hosts of which the chain's choice must be one; empty = any will do.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["h1"])))]
        accept: Vec<Arc<str>>,
        /// What is written of the VM together with the move; with it, the VM may stay
        /// on its host.
        #[serde(skip)]
        writes: Vec<Write>,
        /// Why, as the unit says it.
        #[cfg_attr(feature = "openapi", schema(example = "its host is to be emptied"))]
        reason: String,
    },
    /// Bring a host into another state.
    HostState {
        /// Id of the host.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
        host: Arc<str>,
        /// The state that the host is to have, as in documents.
        #[cfg_attr(feature = "openapi", schema(example = "maintenance"))]
        state: String,
        /// Why, as the unit says it.
        #[cfg_attr(feature = "openapi", schema(example = "its host is to be emptied"))]
        reason: String,
    },
    /// Something that an operator should know.
    Finding {
        /// Why, as the unit says it.
        #[cfg_attr(feature = "openapi", schema(example = "its host is to be emptied"))]
        reason: String,
        /// What it is about: a table and the row's id, or its number.
        #[cfg_attr(feature = "openapi", schema(schema_with = crate::openapi::pairs))]
        about: Vec<(String, String)>,
    },
}

/// The policy's balance unit, and how it is set.
#[derive(Debug, Clone, Copy)]
pub struct Balancing<'c> {
    /// The unit's name.
    pub unit: &'c str,
    description: &'c Description,
    settings: &'c Settings,
}

impl<'c> Balancing<'c> {
    fn host_columns(&self) -> impl Iterator<Item = &'c str> + use<'c> {
        let reads = self.description.reads(Part::Balance).unwrap_or_default();
        let hosts = reads.iter().filter(|read| read.table == "hosts");
        hosts.flat_map(|read| read.columns.iter().map(|column| column.column.as_str()))
    }

    /// Whether it reads this column of hosts.
    pub fn reads_host(&self, column: &str) -> bool {
        self.host_columns().any(|read| read == column)
    }

    /// The names of the watches of which it reads since when they hold.
    pub fn watches_read(&self) -> impl Iterator<Item = &'c str> + use<'c> {
        self.host_columns()
            .filter_map(|column| column.strip_prefix("watch.")?.strip_suffix(".since"))
    }

    /// Its settings that are durations, in seconds.
    pub fn durations(&self) -> impl Iterator<Item = (&'c str, i64)> + use<'c> {
        let settings = self.settings;
        let durations = self.description.settings.iter().filter(|setting| {
            setting.measure.as_deref().and_then(Measure::from_name) == Some(Measure::Seconds)
        });
        durations.filter_map(move |setting| match settings.value(&setting.name)? {
            Value::Integer(seconds) => Some((setting.name.as_str(), *seconds)),
            _ => None,
        })
    }
}

impl Chain {
    /// The policy's balance unit; None if it names none.
    pub fn balancing(&self) -> Option<Balancing<'_>> {
        let step = self.balance.as_ref()?;
        let description = step.unit.description();
        Some(Balancing {
            unit: &description.name,
            description,
            settings: &step.settings,
        })
    }

    /// Ask the policy's balance unit, in an instance of its own, what to change.
    /// `now` in seconds. A policy without balance proposes nothing.
    ///
    /// # Errors
    /// If the unit refuses or fails; then nothing is proposed.
    pub fn balance(
        &self,
        inventory: &Inventory,
        now: i64,
        limit: std::time::Duration,
    ) -> Result<Vec<Proposed>, DecisionError> {
        let Some(step) = &self.balance else {
            return Ok(Vec::new());
        };
        let context = Context {
            inventory,
            subject: None,
            settings: &step.settings,
            now,
            candidates: None,
        };
        // Hosts of every state.
        let slots = inventory.hosts().map(|(slot, _)| slot).collect();
        let (call, slots) = step.tables(context, slots)?;
        let proposals = step
            .ask(limit, |instance, limit| instance.balance(&call, limit))
            .map_err(|fault| step.refusal(fault))?;
        let names = Names::new(step, inventory, &slots);
        Ok(proposals
            .into_iter()
            .map(|proposal| names.proposed(proposal))
            .collect())
    }
}

/// Row numbers of the call to ids.
pub(super) struct Names<'a> {
    step: &'a PartStep,
    hosts: Vec<Arc<str>>,
    /// Ids of VMs and of their hosts.
    vms: Vec<(Arc<str>, Arc<str>)>,
    groups: Vec<Arc<str>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(step: &'a PartStep, inventory: &Inventory, slots: &[u32]) -> Self {
        let entries: Vec<_> = slots
            .iter()
            .filter_map(|slot| inventory.host(*slot))
            .collect();
        let vms = entries.iter().flat_map(|host| {
            inventory
                .residents_of(host)
                .map(|entry| (entry.vm.id.clone(), host.id.clone()))
        });
        Self {
            step,
            vms: vms.collect(),
            groups: inventory
                .groups()
                .map(|entry| entry.group.id.clone())
                .collect(),
            hosts: entries.iter().map(|host| host.id.clone()).collect(),
        }
    }

    pub(super) fn proposed(&self, proposal: contract::Proposal) -> Proposed {
        match proposal {
            contract::Proposal::Move(moved) => {
                let (vm, from) = self
                    .vms
                    .get(moved.vm as usize)
                    .cloned()
                    .unwrap_or_else(|| ("".into(), "".into()));
                Proposed::Move {
                    writes: self.writes(&vm, moved.changes),
                    vm,
                    from,
                    among: self.host_ids(&moved.among),
                    accept: self.host_ids(&moved.accept),
                    reason: self.reason(moved.reason),
                }
            }
            contract::Proposal::HostState(state) => Proposed::HostState {
                host: self
                    .host_ids(&[state.host])
                    .pop()
                    .unwrap_or_else(|| "".into()),
                state: state.state,
                reason: self.reason(state.reason),
            },
            contract::Proposal::Finding(finding) => Proposed::Finding {
                reason: self.reason(finding.reason),
                about: finding.rows.iter().map(|row| self.about(row)).collect(),
            },
        }
    }

    /// Changes that were checked against the declared writes.
    fn writes(&self, vm: &Arc<str>, changes: Vec<Change>) -> Vec<Write> {
        let part = self.step.unit.description().balance.as_ref();
        let declared = part.map_or(&[][..], |part| &part.writes);
        let write = |change: Change| {
            let declared = declared.get(change.write as usize)?;
            let row = row_change(declared, &change.operation)?;
            let write = Write::row(Entity::Vm(vm.clone()), declared.table.as_str(), row);
            Some(match declared.moment {
                Moment::Decided => write,
                Moment::Running => write.once_running(vm.clone()),
            })
        };
        changes.into_iter().filter_map(write).collect()
    }

    fn host_ids(&self, rows: &[u32]) -> Vec<Arc<str>> {
        rows.iter()
            .filter_map(|row| self.hosts.get(*row as usize).cloned())
            .collect()
    }

    fn about(&self, row: &contract::Row) -> (String, String) {
        let table = self.step.plan.tables.get(row.table as usize);
        let name = table.map_or(String::new(), |table| table.name.to_string());
        let number = row.row as usize;
        let id = match name.as_str() {
            "hosts" => self.hosts.get(number).map(|id| id.to_string()),
            "hosts/vms" => self.vms.get(number).map(|(vm, _)| vm.to_string()),
            "groups" => self.groups.get(number).map(|id| id.to_string()),
            _ => None,
        };
        (name, id.unwrap_or_else(|| number.to_string()))
    }

    fn reason(&self, number: u8) -> String {
        let balance = self.step.unit.description().balance.as_ref();
        let reason = balance.and_then(|part| part.reasons.get(usize::from(number).checked_sub(1)?));
        reason.map_or(String::new(), |reason| reason.text.clone())
    }
}
