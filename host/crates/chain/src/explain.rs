//! What a decision was made of, for people: made on demand, by running the pure
//! chain again.

use std::sync::Arc;

use serde::Serialize;

use super::decode;
use super::encode::{Dictionary, HostRows, encode};
use super::facts::{FactShown, Facts};
use super::run::{
    COSTS_INFINITELY_MUCH, Decided, DecisionError, EXCLUDED, Extent, Runner, StageRun,
    cuts_infinite, not_up,
};
use super::scale::weighted;
use super::subject::Subject;
use super::{Chain, Cost, Stage, Step};
use placewright_engine::contract::Call;
use placewright_inventory::Inventory;
use placewright_model::Request;

/// Who was removed by whom and why, what the others cost, and who was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Explanation {
    /// Name of the policy that decided.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "general"))]
    pub policy: Arc<str>,
    /// Name of the cluster.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "north"))]
    pub cluster: Arc<str>,
    /// The version of the inventory that the decision was made on.
    #[cfg_attr(feature = "openapi", schema(example = 4711))]
    pub inventory_version: u64,
    /// The number that decided what was left to chance.
    #[cfg_attr(feature = "openapi", schema(example = 0.61))]
    pub draw: f64,
    /// The units of the chain.
    pub units: Vec<UnitShown>,
    /// If no host was looked for: why, as a sentence. What is told of hosts then is what would
    /// have become of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "no host is left"))]
    pub refused: Option<Arc<str>>,
    /// Id of the chosen host; none if every host was removed, or none was looked for.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h2"))]
    pub chosen: Option<Arc<str>>,
    /// How many hosts had the same costs as the chosen one, it included.
    #[cfg_attr(feature = "openapi", schema(example = 1))]
    pub tied: usize,
    /// Hosts that no unit was asked about, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_considered: Vec<NotConsidered>,
    /// Its stages, in policy order.
    pub stages: Vec<StageShown>,
    /// Entries that were left out of the decision, or tell no facts, because their
    /// units failed; with the fault.
    pub left_out: Vec<LeftOutShown>,
}

/// An entry of the policy that was left out, because its unit failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LeftOutEntry))]
pub struct LeftOutShown {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "spread"))]
    pub entry: Arc<str>,
    /// How its unit failed.
    #[cfg_attr(feature = "openapi", schema(example = "the unit ran out of time"))]
    pub fault: String,
}

/// A unit of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DecidingUnit))]
pub struct UnitShown {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(example = "memory"))]
    pub name: String,
    /// Its version.
    #[cfg_attr(feature = "openapi", schema(example = "1.2.0"))]
    pub version: String,
    /// SHA-256 of the component.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")
    )]
    pub digest: String,
}

/// A host that no unit was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotConsidered {
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// Completes "host ...".
    #[cfg_attr(feature = "openapi", schema(example = "is in maintenance"))]
    pub reason: String,
}

/// One stage, host by host in the order of their ids.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExplainedStage))]
pub struct StageShown {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "fit"))]
    pub name: Arc<str>,
    /// The tiers that occur, by number.
    #[cfg_attr(feature = "openapi", schema(example = json!([1])))]
    pub tiers: Vec<u32>,
    /// What became of each host, in the order of their ids.
    pub hosts: Vec<HostShown>,
    /// What its selections made of the candidates, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selections: Vec<SelectionShown>,
    /// What its units work out for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactShown>,
}

/// The candidates after one selection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Selection))]
pub struct SelectionShown {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "best"))]
    pub name: Arc<str>,
    /// Name of the unit.
    #[cfg_attr(feature = "openapi", schema(example = "best-cost"))]
    pub unit: String,
    /// Best group first.
    pub groups: Vec<Vec<ShareShown>>,
}

/// A candidate and its share of chance in its group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Share))]
pub struct ShareShown {
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// Its share of chance in its group, a fraction 0..1.
    #[cfg_attr(feature = "openapi", schema(example = 0.25))]
    pub share: f64,
}

/// What became of one host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExplainedHost))]
#[serde(rename_all = "kebab-case")]
pub struct HostShown {
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// Who removed it; none if it was left to the end of the stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = RemovalShown))]
    pub removed: Option<RemovalShown>,
    /// Its costs, in policy order; none if a filter removed it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostShown>,
    /// The sums of its weighted costs, tier by tier; null = infinite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
    pub sums: Vec<f64>,
    /// Left to the end of the stage, and not among those that go on to the next.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passed_over: bool,
}

/// Why a host was removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Removal))]
pub struct RemovalShown {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
    pub filter: Arc<str>,
    /// Name of the unit.
    #[cfg_attr(feature = "openapi", schema(example = "memory"))]
    pub unit: String,
    /// Completes "host ...".
    #[cfg_attr(feature = "openapi", schema(example = "has too little memory"))]
    pub reason: String,
    /// Waiting for pending placements may help.
    pub passing: bool,
    /// What the unit saw of the VMs and of this host, and its settings in force (table
    /// `settings`).
    pub values: Vec<ValueShown>,
}

/// A value that a unit saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SeenValue))]
pub struct ValueShown {
    /// Name of the table.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "hosts"))]
    pub table: Arc<str>,
    /// Name of the column.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory.free"))]
    pub column: Arc<str>,
    /// As a person would write it; of several rows, one after the other.
    #[cfg_attr(feature = "openapi", schema(example = "12 GiB"))]
    pub value: String,
}

/// What one entry of the policy says of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EntryCost))]
pub struct CostShown {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "spread"))]
    pub name: Arc<str>,
    /// What the unit said; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 40.0))]
    pub raw: f64,
    /// The cost on the scale of the entry; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.4))]
    pub scaled: f64,
    /// Scaled, times the factor; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.8))]
    pub weighted: f64,
}

impl Explanation {
    /// The same of a decision for which no host was looked for, with why.
    #[must_use]
    pub fn refused(mut self, because: Arc<str>) -> Self {
        self.refused = Some(because);
        (self.chosen, self.tied) = (None, 0);
        self
    }
}

impl Runner {
    /// Decide again, and tell everything. With the inventory version, request and
    /// draw of an earlier decision this explains it; what comes out is the same.
    ///
    /// # Errors
    /// As for [`Runner::decide`].
    pub fn explain(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
    ) -> Result<(Decided, Explanation), DecisionError> {
        self.explain_rows(inventory, request, draw, None)
    }

    /// The same of the hosts in these slots alone, without facts: most of the work of an
    /// explanation is to write down what became of each host.
    ///
    /// # Errors
    /// As for [`Runner::decide`].
    pub fn explain_hosts(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        slots: &[u32],
    ) -> Result<Explanation, DecisionError> {
        let explained = self.explain_rows(inventory, request, draw, Some(slots));
        explained.map(|(_, explanation)| explanation)
    }

    /// `only` are the slots of the hosts that are wanted; None: all.
    fn explain_rows(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        only: Option<&[u32]>,
    ) -> Result<(Decided, Explanation), DecisionError> {
        let decided = self.run(inventory, request, draw, Extent::AllAsked)?;
        let chain = self.chain().clone();
        let subject = Subject::new(request, inventory, draw);
        let asks = Facts {
            chain: &chain,
            inventory,
            subject: &subject,
            limit: self.limit(),
        };
        let mut stages = Vec::with_capacity(chain.stages.len());
        let mut silent: Vec<LeftOutShown> = Vec::new();
        for (number, (stage, run)) in chain.stages.iter().zip(self.stage_runs()).enumerate() {
            let mut shown = stage_shown(&chain, stage, run, (inventory, only), &subject);
            if only.is_none() {
                shown.facts = asks.of_stage(number, self.stage_runs(), &mut silent);
            }
            stages.push(shown);
        }
        let explanation = Explanation {
            policy: chain.policy.name.clone(),
            cluster: inventory.name().clone(),
            inventory_version: inventory.version(),
            draw,
            units: units(&chain),
            refused: None,
            chosen: decided
                .chosen
                .as_ref()
                .and_then(|chosen| Some(inventory.host(chosen.slot)?.id.clone())),
            tied: decided.chosen.as_ref().map_or(0, |chosen| chosen.tied),
            not_considered: not_considered(self.stage_runs().first(), inventory, request),
            stages,
            left_out: decided
                .left_out
                .iter()
                .map(|left_out| LeftOutShown {
                    entry: left_out.entry.clone(),
                    fault: left_out.fault.to_string(),
                })
                .chain(silent)
                .collect(),
        };
        Ok((decided, explanation))
    }
}

fn units(chain: &Chain) -> Vec<UnitShown> {
    chain
        .units()
        .into_iter()
        .map(|unit| UnitShown {
            name: unit.description().name.clone(),
            version: unit.description().version.clone(),
            digest: unit.digest().to_string(),
        })
        .collect()
}

fn not_considered(
    first: Option<&StageRun>,
    inventory: &Inventory,
    request: &Request,
) -> Vec<NotConsidered> {
    let mut asked = vec![false; inventory.slots()];
    if let Some(run) = first {
        for row in 0..run.considered() {
            asked[run.slot(row) as usize] = true;
        }
    }
    if let Some(slot) = request.forced.as_ref().and_then(|id| inventory.slot(id))
        && inventory.is_up(slot)
    {
        asked[slot as usize] = true;
    }
    not_asked(&asked, inventory, request)
}

/// The hosts that are not among the asked, of which there is one for each slot, by id.
pub(super) fn not_asked(
    asked: &[bool],
    inventory: &Inventory,
    request: &Request,
) -> Vec<NotConsidered> {
    let mut hosts: Vec<NotConsidered> = inventory
        .hosts()
        .filter(|(slot, _)| !asked[*slot as usize])
        .map(|(slot, host)| NotConsidered {
            host: host.id.clone(),
            reason: match not_up(inventory, slot) {
                Some(reason) => reason,
                _ if request.forced.is_some() => {
                    "is not the host that an administrator chose".into()
                }
                _ if request.excluded.contains(&host.id) => EXCLUDED.into(),
                _ => "is not among the hosts that the request allows".into(),
            },
        })
        .collect();
    hosts.sort_by(|a, b| a.host.cmp(&b.host));
    hosts
}

fn stage_shown(
    chain: &Chain,
    stage: &Stage,
    run: &StageRun,
    (inventory, only): (&Inventory, Option<&[u32]>),
    subject: &Subject<'_>,
) -> StageShown {
    let scaled: Vec<Vec<f64>> = stage
        .costs
        .iter()
        .enumerate()
        .map(|(entry, cost)| match run.counts(entry) {
            true => run.scaled(entry, cost),
            false => Vec::new(),
        })
        .collect();
    let mut survivor_of: Vec<Option<usize>> = vec![None; run.considered()];
    for survivor in 0..run.survivors() {
        survivor_of[run.survivor_row(survivor) as usize] = Some(survivor);
    }
    let cuts_infinite = cuts_infinite(chain, stage);
    let wanted = only.map_or(run.considered(), <[u32]>::len);
    let mut hosts: Vec<(u32, HostShown)> = Vec::with_capacity(wanted);
    for (row, survivor) in survivor_of.into_iter().enumerate() {
        let slot = run.slot(row);
        if only.is_some_and(|only| !only.contains(&slot)) {
            continue;
        }
        let Some(host) = inventory.host(slot) else {
            continue;
        };
        let costs = survivor.map_or(Vec::new(), |survivor| {
            let entries = stage.costs.iter().zip(&scaled).enumerate();
            entries
                .filter(|(entry, _)| run.counts(*entry))
                .map(|(entry, (cost, scaled))| {
                    cost_shown(cost, run.raw(entry, row), scaled[survivor])
                })
                .collect()
        });
        let removed = run.removal(row).map(|removal| {
            let (filter, step) = removal.by(stage);
            let (reason, passing) = removal.reason(step);
            let selection = || stage.selections.iter().find(|it| it.step.name == filter);
            let unit = match step {
                Some(step) => Some(&step.unit),
                None => selection().map(|selection| &selection.step.unit),
            };
            RemovalShown {
                unit: unit.map_or_else(String::new, |unit| unit.description().name.clone()),
                reason: reason.to_owned(),
                passing,
                values: step.map_or_else(Vec::new, |step| values(step, slot, inventory, subject)),
                filter,
            }
        });
        let infinite = survivor.filter(|it| cuts_infinite && run.is_infinite(*it));
        let removed = removed.or_else(|| {
            infinite.map(|_| {
                let entry = run.infinite_by(stage, row as u32);
                too_costly(stage, entry, slot, inventory, subject)
            })
        });
        let shown = HostShown {
            host: host.id.clone(),
            removed,
            costs,
            sums: survivor.map_or(Vec::new(), |survivor| {
                run.sums.iter().map(|tier| tier[survivor]).collect()
            }),
            passed_over: run.removal(row).is_none() && !run.goes_on(row as u32),
        };
        hosts.push((inventory.ranks()[slot as usize], shown));
    }
    hosts.sort_by_key(|(rank, _)| *rank);
    StageShown {
        name: stage.name.clone(),
        tiers: stage.tiers.clone(),
        hosts: hosts.into_iter().map(|(_, host)| host).collect(),
        selections: selections_shown(stage, run, inventory),
        facts: Vec::new(),
    }
}

/// A host that a cost entry costs infinitely much, where that is no place.
fn too_costly(
    stage: &Stage,
    entry: Arc<str>,
    slot: u32,
    inventory: &Inventory,
    subject: &Subject<'_>,
) -> RemovalShown {
    let mut steps = stage.steps.iter();
    let step = steps.find(|step| {
        let mut costs = step.costs.iter();
        costs.any(|cost| stage.costs[*cost].name == entry)
    });
    RemovalShown {
        unit: step.map_or_else(String::new, |step| step.unit.description().name.clone()),
        reason: COSTS_INFINITELY_MUCH.to_owned(),
        passing: false,
        values: step.map_or_else(Vec::new, |step| values(step, slot, inventory, subject)),
        filter: entry,
    }
}

fn selections_shown(stage: &Stage, run: &StageRun, inventory: &Inventory) -> Vec<SelectionShown> {
    let shown = |row: u32, share: f64| {
        let host = inventory.host(run.slot(row as usize))?;
        Some(ShareShown {
            host: host.id.clone(),
            share,
        })
    };
    let steps = stage.selections.iter().zip(&run.refined);
    steps
        .map(|(selection, groups)| SelectionShown {
            name: selection.step.name.clone(),
            unit: selection.step.unit.description().name.clone(),
            groups: groups
                .iter()
                .map(|group| {
                    let members = group.iter();
                    members
                        .filter_map(|member| shown(member.row, member.share))
                        .collect()
                })
                .collect(),
        })
        .collect()
}

fn cost_shown(cost: &Cost, raw: f64, scaled: f64) -> CostShown {
    CostShown {
        name: cost.name.clone(),
        raw,
        scaled,
        weighted: weighted(cost.factor, scaled),
    }
}

/// What a step's unit saw of the request and of one host: the call for this host
/// alone, which a unit that looks at rows one by one answers alike.
fn values(step: &Step, slot: u32, inventory: &Inventory, subject: &Subject<'_>) -> Vec<ValueShown> {
    let mut call = Call::default();
    let slots = [slot];
    let encoded = encode(
        &step.plan,
        step.context(inventory, subject),
        HostRows::List(&slots),
        &mut Dictionary::default(),
        &mut call,
    );
    match encoded {
        Ok(()) => {
            let settings = &step.unit.description().settings;
            decode::seen(&step.plan, &call, inventory.schema(), settings)
        }
        Err(_) => Vec::new(),
    }
}
