//! `placewright explain`: why there, why not there, and what if the policy were
//! another.

mod text;

use clap::Args;
use placewright_scheduler::questions::{Change, Comparison, Situation, Why, supposing};
use serde::Serialize;

use super::explained::{self, Extent};
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::questions::About;
use text::{changed_text, why_text};

/// Tell why a VM goes where it goes, and why it does not go to another host.
///
/// Decides again, by the same chain on a copy of the cluster, and changes nothing. With --host the
/// answer is about that host: every unit that keeps the VM off it, or how much worse it is than the
/// chosen one and through which cost. With --without or --factor the decision is shown beside the
/// one that another policy would make.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright explain --cluster cluster.toml --policy even.toml --vm web-1
  placewright explain --cluster cluster.toml --policy even.toml --vm vm.toml \\
      --host h1
  placewright explain --cluster cluster.toml --policy even.toml --vm vm.toml \\
      --without affinity
  placewright explain --cluster cluster.toml --policy even.toml --vm web-1 \\
      --host h2 --factor affinity=2.5

Exit code 1: the VM finds no host. See placewright --help for the others.")]
pub(super) struct Explain {
    /// The VM: the id of one of the cluster, or the document of one that is to be placed
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    /// The host that is asked about
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// Suppose that this entry of the policy, or this unit, is not asked. May be given again
    #[arg(long, value_name = "ENTRY")]
    without: Vec<String>,
    /// Suppose that this cost entry has another factor. May be given again
    #[arg(long, value_name = "ENTRY=FACTOR", value_parser = factor)]
    factor: Vec<(String, f64)>,
    #[command(flatten)]
    about: About,
}

fn factor(text: &str) -> Result<(String, f64), String> {
    let (entry, factor) = text
        .rsplit_once('=')
        .ok_or("write an entry of the policy, = and its factor, for example affinity=2.5")?;
    match factor.trim().parse::<f64>() {
        Ok(factor) if factor.is_finite() => Ok((entry.trim().to_owned(), factor)),
        _ => Err(format!("\"{factor}\" is no finite number")),
    }
}

/// The answer about one host, before and after a change.
#[derive(Serialize)]
struct Both {
    before: Why,
    after: Why,
}

/// The answer to what would be otherwise, as programs read it.
#[derive(Serialize)]
struct Changed<'a> {
    without: &'a [String],
    factors: &'a [(String, f64)],
    #[serde(flatten)]
    comparison: Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Both>,
}

impl Explain {
    /// Ask and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let asked = self.about.read()?;
        let request = asked.request(&self.vm)?;
        let situation = asked.situation();
        let change = Change {
            without: self.without,
            factors: self.factor,
        };
        let format = self.about.format;
        if !change.is_empty() {
            let comparison = situation
                .compare(&request, &change)
                .map_err(Failure::question)?;
            let answer = Answer::yes_if(comparison.chosen_after.is_some());
            let changed = change.of(asked.policy()).map_err(Failure::input)?.into();
            let options = supposing(situation.options);
            let after = Situation {
                policy: &changed,
                options: &options,
                ..situation
            };
            let ask = |situation: &Situation<'_>, host: &str| {
                situation.why(&request, host).map_err(Failure::question)
            };
            let why = match &self.host {
                Some(host) => Some(Both {
                    before: ask(&situation, host)?,
                    after: ask(&after, host)?,
                }),
                None => None,
            };
            let changed = Changed {
                without: &change.without,
                factors: &change.factors,
                comparison,
                why,
            };
            match format {
                Format::Json => output::print_json(&changed)?,
                Format::Table => output::print(&changed_text(&changed, asked.policy()))?,
            }
            return Ok(answer);
        }
        if let Some(host) = &self.host {
            let why = situation.why(&request, host).map_err(Failure::question)?;
            match format {
                Format::Json => output::print_json(&why)?,
                Format::Table => output::print(&why_text(&why, asked.policy().stages.len()))?,
            }
            return Ok(Answer::yes_if(why.chosen.is_some()));
        }
        let (decision, explanation) = situation.decide(&request).map_err(Failure::question)?;
        match format {
            Format::Json => output::print_json(&explanation)?,
            Format::Table => output::print(&explained::text(&explanation, Extent::Whole))?,
        }
        Ok(Answer::yes_if(decision.host.is_some()))
    }
}
