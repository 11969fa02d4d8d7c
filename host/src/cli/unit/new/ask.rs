//! Asks on a terminal for what the command line did not say.

use clap::ValueEnum;
use dialoguer::{Input, MultiSelect, Select};
use placewright_build::project;

use super::{Evaluation, Kind, Language, New};
use crate::cli::failure::Failure;

/// Ask for each word that is missing. What is asked for begins with what would be taken
/// otherwise.
pub(super) fn for_what_is_missing(new: &mut New) -> Result<(), Failure> {
    if new.name.is_none() {
        let good = |name: &String| project::check_name(name);
        let asked = Input::new()
            .with_prompt("Name of the unit")
            .validate_with(good)
            .interact_text();
        new.name = Some(asked.map_err(no_answer)?);
    }
    if new.lang.is_none() {
        let languages = Language::value_variants();
        let chosen = Select::new()
            .with_prompt("The language that it is written in")
            .items(described(languages))
            .default(0)
            .interact();
        new.lang = languages.get(chosen.map_err(no_answer)?).copied();
    }
    if new.kind.is_empty() {
        let kinds = Kind::value_variants();
        let chosen = MultiSelect::new()
            .with_prompt("What it does (space to choose, enter to go on)")
            .items(described(kinds))
            .defaults(&vec![true; kinds.len()])
            .interact();
        let chosen = chosen.map_err(no_answer)?.into_iter();
        new.kind = chosen.filter_map(|at| kinds.get(at).copied()).collect();
        if new.kind.is_empty() {
            let sentence = "a unit does at least one thing: choose filter, cost, or both";
            return Err(Failure::input_because(sentence));
        }
    }
    // In Python there is only one way.
    if new.evaluation.is_none() && new.lang != Some(Language::Python) {
        let ways = Evaluation::value_variants();
        let chosen = Select::new()
            .with_prompt("How it looks at hosts")
            .items(described(ways))
            .default(0)
            .interact();
        new.evaluation = ways.get(chosen.map_err(no_answer)?).copied();
    }
    if new.description.is_none() {
        let asked = Input::new()
            .with_prompt("What it is for, in a sentence (enter for what the example does)")
            .allow_empty(true)
            .interact_text();
        new.description = Some(asked.map_err(no_answer)?);
    }
    Ok(())
}

/// The words of the command line, with what the help says of them.
fn described<T: ValueEnum>(values: &[T]) -> Vec<String> {
    let values = values.iter().filter_map(ValueEnum::to_possible_value);
    values
        .map(|value| match value.get_help() {
            Some(help) => format!("{}: {help}", value.get_name()),
            None => value.get_name().to_owned(),
        })
        .collect()
}

fn no_answer(error: dialoguer::Error) -> Failure {
    Failure::input(anyhow::Error::new(error).context("nothing was answered, and nothing is made"))
}
