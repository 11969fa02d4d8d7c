//! Why a deployment does not do what it was asked for.

use std::sync::Arc;

use super::cluster::Vanishing;
use super::turns::TurnError;
use placewright_chain::ChainError;
use placewright_document::Problems;
use placewright_engine::unit::Fault;
use placewright_inventory::InventoryError;
use placewright_library::actor::TakenAway;
use placewright_model::budget::Full;
use placewright_model::{HostState, Word, rfc3339};
use placewright_scheduler::questions::QuestionError;
use placewright_scheduler::{BalanceError, ExplainError, PlaceError};
use placewright_store::StoreError;

/// Why something was not done. Nothing was changed, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum DeploymentError {
    #[error("there is no {what} \"{name}\"{}", near(.nearest))]
    Unknown {
        /// Such as "cluster".
        what: &'static str,
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    #[error("there is a {what} \"{name}\" already")]
    Exists { what: &'static str, name: String },
    #[error("quota \"{quota}\" limits {what} already: change that one")]
    Limited {
        quota: Arc<str>,
        /// The tenant, and where.
        what: String,
    },
    #[error(
        "policy \"{0}\" comes with the program and cannot be changed: clone it under another name"
    )]
    Locked(String),
    #[error("a policy has at most {most} bytes, this one {bytes}")]
    PolicyTooLarge { bytes: usize, most: usize },
    #[error("policy \"{name}\" is defined in the file {file}: change it there")]
    InFile { name: String, file: String },
    #[error("policy \"{name}\" is in force in {}: attach another policy there first", .clusters.join(", "))]
    InUse { name: String, clusters: Vec<String> },
    #[error(
        "the document is of {what} \"{given}\", not of \"{name}\": send it there, or leave its name out"
    )]
    OtherName {
        what: &'static str,
        given: String,
        name: String,
    },
    #[error(
        "the revision of {what} is {current} by now, not {given}: read it again, and change that"
    )]
    Revision {
        what: String,
        given: u64,
        current: u64,
    },
    #[error("{what} is not as it was read, or is gone: read it again, and change that")]
    Changed {
        /// Such as `host "h1"`.
        what: String,
    },
    #[error("there is {what} already: If-None-Match: * makes a new one only")]
    IsThere {
        /// Such as `host "h1"`.
        what: String,
    },
    /// More of a cluster would vanish than may unless the request confirms it.
    #[error(
        "the document lacks {} of {} hosts and {} of {} VMs that run; more than {} % of either is refused (option vanishing-share); if they are gone, confirm it with ?vanishing-hosts={}&vanishing-vms={}",
        .vanishing.hosts, .vanishing.of_hosts, .vanishing.vms, .vanishing.of_vms,
        (.share * 100.0).round(), .vanishing.hosts, .vanishing.vms
    )]
    Vanishing { vanishing: Vanishing, share: f64 },
    #[error("the cluster does not answer: {0}")]
    NoTurn(#[from] TurnError),
    /// A cluster was taken out whose turn is still under way: its name is not free yet.
    #[error(
        "cluster \"{0}\" is being removed: it is gone as soon as the turn that is under way there ends; try again later"
    )]
    Ending(Arc<str>),
    /// The same for whoever had it taken out: that will be carried out.
    #[error(
        "cluster \"{0}\" is being removed: it is gone as soon as the turn that is under way there ends; nothing more is needed"
    )]
    Removing(Arc<str>),
    /// What was kept of a cluster cannot be read, and why.
    #[error("cluster \"{cluster}\" is out of service: {why}")]
    Unread { cluster: Arc<str>, why: String },
    /// The policy of a cluster cannot run, and why.
    #[error("cluster \"{cluster}\" decides nothing: {why}")]
    NoPolicy { cluster: Arc<str>, why: String },
    /// A unit has failed again and again, and is not called for a while.
    #[error(
        "decisions are suspended for {seconds} s: {} keeps failing, and the policy cannot do without it ({fault}); return to its predecessor with POST /v1/units/{}/rollback, or upload a version that works",
        .fault.unit, .fault.unit.name
    )]
    Paused { fault: Arc<Fault>, seconds: i64 },
    #[error("{0}")]
    Problems(#[from] Problems),
    #[error("\"now\" is {ahead} s ahead of the server's clock: leave it out, or set the clocks")]
    Future { ahead: i64 },
    #[error("key \"{0}\" came with another request before: take a new key for a new request")]
    OtherRequest(String),
    /// VMs that were to be placed run already: each with its host.
    #[error("{}", run_already(.0))]
    VmsRun(Vec<(Arc<str>, Arc<str>)>),
    /// A VM runs, and that is not what was asked for.
    #[error("VM \"{vm}\" {truth}")]
    VmRuns { vm: Arc<str>, truth: String },
    #[error("VM \"{vm}\" has a place reserved on {host} already{}: confirm or cancel it first", until(*.expires))]
    Reserved {
        vm: Arc<str>,
        host: Arc<str>,
        expires: Option<i64>,
    },
    /// There is no reservation any more.
    #[error("there is no reservation of VM \"{vm}\": {truth}")]
    ReservationEnded { vm: Arc<str>, truth: String },
    /// A VM is said to run on a host where it has no place.
    #[error("VM \"{vm}\" has no place reserved on {given}: {truth}")]
    OtherHost {
        vm: Arc<str>,
        given: Arc<str>,
        truth: String,
    },
    /// A VM is to be confirmed on a host that is down or in error.
    #[error("VM \"{vm}\" cannot run on {host}, whose state is {}: set the state of the host first, or place the VM again", .state.word())]
    HostLost {
        vm: Arc<str>,
        host: Arc<str>,
        state: HostState,
    },
    #[error("\"reserve-for\" must be from 1 to {longest} s, not {seconds} s")]
    Duration { seconds: i64, longest: i64 },
    /// It would go once something that is under way has ended: a sentence.
    #[error("{0}")]
    Busy(String),
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    TakenAway(#[from] TakenAway),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    #[error(transparent)]
    Explain(#[from] ExplainError),
    #[error(transparent)]
    Question(#[from] QuestionError),
    #[error(transparent)]
    Balance(#[from] BalanceError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// It is in force, but may be gone after a restart.
    #[error("the change was made but could not be stored: {0}")]
    NotKept(StoreError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Full(#[from] Full),
}

/// How many VMs an error names at most.
const NAMED: usize = 5;

fn run_already(vms: &[(Arc<str>, Arc<str>)]) -> String {
    let named = vms.iter().take(NAMED);
    let named = named.map(|(vm, host)| format!("VM \"{vm}\" runs on {host}"));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = vms.len().checked_sub(NAMED) {
        text += &format!(", and {more} more VMs run already");
    }
    let it = if vms.len() == 1 { "it" } else { "them" };
    text + &format!("; use migrate to move {it}, or \"again\": true to place {it} again")
}

fn until(expires: Option<i64>) -> String {
    expires.map_or(String::new(), |expires| {
        format!(" until {}", rfc3339(expires))
    })
}

fn near(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!(" (did you mean \"{name}\"?)"),
        None => String::new(),
    }
}

/// Of more names none is suggested: each is compared.
const COMPARED: usize = 1000;

/// The nearest of these names, unless they are too many.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().take(COMPARED + 1).collect();
    match known.len() {
        0..=COMPARED => placewright_document::nearest(name, known),
        _ => None,
    }
}

impl DeploymentError {
    /// There is no such thing; of the `known` names the nearest is suggested, unless they are
    /// so many that looking for it takes long.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            what,
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        }
    }

    /// Whether what was asked for was done, or is being done, all the same.
    pub fn was_carried_out(&self) -> bool {
        matches!(self, Self::NotKept(_) | Self::Removing(_))
    }

    /// The same of something that is in force already: what could not be stored was changed.
    #[must_use]
    pub(crate) fn of_change_in_force(self) -> Self {
        match self {
            Self::Store(error) => Self::NotKept(error),
            other => other,
        }
    }

    /// The same of something that was taken back: what could not be stored was not changed.
    #[must_use]
    pub(crate) fn of_change_taken_back(self) -> Self {
        match self {
            Self::NotKept(error) => Self::Store(error),
            other => other,
        }
    }

    /// The same for whoever sent no lists of entries: what is wrong with the first one, without its
    /// position.
    #[must_use]
    pub fn of_one_entry(self) -> Self {
        match self {
            Self::Inventory(error) => Self::Inventory(error.of_one_entry()),
            other => other,
        }
    }
}
