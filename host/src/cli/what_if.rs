//! `placewright what-if`: what happens if hosts fail.

use clap::Args;
use placewright_document::Word;
use placewright_scheduler::questions::{Failure as Failed, FailureOptions, Resettled, Restart};
use serde::Serialize;

use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::place::SearchArgs;
use super::progress::Bar;
use super::questions::About;

/// Show what happens if hosts fail: where their VMs go, and which find no host.
///
/// On a copy of the cluster the hosts go down and their VMs are placed again, in the order of the
/// policy's order unit or else by priority. --restart selects which VMs. Nothing outside changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright what-if --cluster cluster.toml --policy even.toml \\
      --without-host h1
  placewright what-if --cluster cluster.toml --policy even.toml \\
      --without-host h1 --without-host h2 --search
  placewright what-if --cluster cluster.toml --policy even.toml --n-plus-1

Exit code 1: a VM would find no host. See placewright --help for the others.")]
pub(super) struct WhatIf {
    /// The host that fails. Repeat it for hosts that fail together
    #[arg(long, value_name = "ID", required_unless_present = "n_plus_1")]
    without_host: Vec<String>,
    /// Let each host that is up fail alone, and show which failures the cluster survives
    #[arg(long, conflicts_with = "without_host")]
    n_plus_1: bool,
    /// Which VMs are restarted: ha: VMs with "ha" = true; all: every VM
    #[arg(long, value_name = "ha|all", value_parser = restart, default_value = "all")]
    restart: Restart,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    about: About,
}

/// What becomes of the failure of one host, as programs read it.
#[derive(Serialize)]
struct Shown<'a> {
    survived: bool,
    #[serde(flatten)]
    failure: &'a Failed,
}

/// What becomes of each host's failure, as programs read it.
#[derive(Serialize)]
struct AllShown<'a> {
    /// Whether the failure of any one host is survived.
    survived: bool,
    failures: Vec<Shown<'a>>,
}

impl<'a> Shown<'a> {
    fn new(failure: &'a Failed) -> Self {
        Self {
            survived: failure.survived(),
            failure,
        }
    }
}

impl WhatIf {
    /// Ask and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let asked = self.about.read()?;
        let (situation, now) = (asked.situation(), asked.cluster.now);
        let format = self.about.format;
        let options = FailureOptions {
            search: self.search.search,
            restart: self.restart,
        };
        if !self.n_plus_1 {
            let failure = situation.without_hosts(&self.without_host, now, options);
            let failure = failure.map_err(Failure::question)?;
            match format {
                Format::Json => output::print_json(&Shown::new(&failure))?,
                Format::Table => output::print(&text(&failure))?,
            }
            return Ok(Answer::yes_if(failure.survived()));
        }
        let mut bar = Bar::new("Hosts fail");
        let failures = situation.n_plus_one(now, options, |done, of| bar.progressed(done, of));
        let failures = failures.map_err(Failure::question)?;
        let survived = failures.iter().all(Failed::survived);
        match format {
            Format::Json => output::print_json(&AllShown {
                survived,
                failures: failures.iter().map(Shown::new).collect(),
            })?,
            Format::Table => output::print(&all_text(&failures))?,
        }
        Ok(Answer::yes_if(survived))
    }
}

fn restart(word: &str) -> Result<Restart, String> {
    Restart::from_word(word).ok_or_else(|| "write ha or all".to_owned())
}

fn text(failure: &Failed) -> String {
    let mut summary = match (failure.vms.len(), failure.stranded().count()) {
        (0, _) if failure.not_restarted.is_empty() => "No VM has a place there.".to_owned(),
        (0, _) => "No VM is restarted.".to_owned(),
        (all, 0) => format!("Of {all} VMs, all find another host."),
        (all, stranded) => format!("Of {all} VMs, {stranded} find no host."),
    };
    if !failure.not_restarted.is_empty() {
        summary += &format!(
            " {} {} not restarted: {}.",
            failure.not_restarted.len(),
            if failure.not_restarted.len() == 1 {
                "is"
            } else {
                "are"
            },
            failure.not_restarted.join(", ")
        );
    }
    if failure.vms.is_empty() {
        return summary;
    }
    let mut table = output::table(&["VM", ">priority", "from", "to", "why"]);
    for vm in &failure.vms {
        let to = vm.host.as_deref().unwrap_or("none");
        table.add_row([
            vm.vm.to_string().into(),
            vm.priority.to_string().into(),
            vm.from.to_string().into(),
            output::strong(to),
            why(vm).into(),
        ]);
    }
    format!("{}\n\n{summary}", output::shown(&table))
}

/// Why a VM finds no host.
fn why(vm: &Resettled) -> String {
    if vm.host.is_some() {
        return String::new();
    }
    if let Some(refused) = &vm.refused {
        return refused.clone();
    }
    let reasons = vm.stopped_by.iter().map(ToString::to_string);
    let reasons: Vec<String> = reasons.collect();
    match reasons.is_empty() {
        true => output::nobody_left(vm.considered),
        false => reasons.join("; "),
    }
}

fn all_text(failures: &[Failed]) -> String {
    let mut table = output::table(&[
        "host that fails",
        ">restarted",
        ">find no host",
        ">not restarted",
        "for example",
    ]);
    for failure in failures {
        let stranded = failure.stranded().count();
        let example = failure.stranded().next();
        let example = example.map_or(String::new(), |vm| format!("{}: {}", vm.vm, why(vm)));
        table.add_row([
            failure.hosts.join(", ").into(),
            failure.vms.len().to_string().into(),
            match stranded {
                0 => "0".into(),
                stranded => output::strong(stranded),
            },
            failure.not_restarted.len().to_string().into(),
            example.into(),
        ]);
    }
    let survived = failures.iter().filter(|failure| failure.survived()).count();
    let summary = match failures.len() {
        all if all == survived => format!("The failure of any one of {all} hosts is survived."),
        all => format!("Of {all} hosts, the failure of {survived} is survived."),
    };
    format!("{}\n\n{summary}", output::shown(&table))
}
