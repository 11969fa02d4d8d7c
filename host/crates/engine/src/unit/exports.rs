//! The functions that a component exports, found once when it is loaded.

use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, Lift, Lower};

use super::fault::Fault;
use super::guest::Guest;
use super::inspect::Interfaces;
use crate::contract::{
    Answers, Call, Change, Description, Fact, Judgement, Part, Problem, Proposal, Shares, Turns,
};

/// Where the function of each exported part stands in a component.
pub(super) struct Exports {
    functions: Vec<(Part, ComponentExportIndex)>,
    /// Whether `placewright unit build --names` would keep the names of its functions.
    pub(super) may_have_names: bool,
}

impl Exports {
    /// Find the functions of the parts that `interfaces` names. A part without
    /// its function is left out and fails when it is first looked up.
    pub(super) fn find(component: &Component, interfaces: &Interfaces) -> Self {
        let functions = interfaces.exports.iter().filter_map(|(part, name)| {
            let interface = component.get_export_index(None, name.as_str())?;
            let function = component.get_export_index(Some(&interface), part.function())?;
            Some((*part, function))
        });
        Self {
            functions: functions.collect(),
            may_have_names: interfaces.by_sdk_for_rust,
        }
    }

    pub(super) fn function(&self, part: Part) -> Option<&ComponentExportIndex> {
        self.functions
            .iter()
            .find_map(|(known, index)| (*known == part).then_some(index))
    }

    /// Check that each exported function is of the contract's type.
    pub(super) fn check(guest: &mut Guest, parts: &[Part]) -> Result<(), Fault> {
        type Answer<T> = (Result<T, Problem>,);
        type Tables = (&'static Call,);
        for part in parts {
            let part = *part;
            match part {
                Part::Unit => typed::<(), (Description,)>(guest, part),
                Part::Judge => typed::<(Answers, &'static Call), Answer<Judgement>>(guest, part),
                Part::Selection => typed::<Tables, Answer<Shares>>(guest, part),
                Part::Effects => typed::<Tables, Answer<Vec<Change>>>(guest, part),
                Part::Balance => typed::<Tables, Answer<Vec<Proposal>>>(guest, part),
                Part::Order => typed::<Tables, Answer<Turns>>(guest, part),
                Part::Explain => typed::<Tables, Answer<Vec<Fact>>>(guest, part),
                Part::Settings => typed::<Tables, (Result<(), String>,)>(guest, part),
            }?;
        }
        Ok(())
    }
}

fn typed<P, R>(guest: &mut Guest, part: Part) -> Result<(), Fault>
where
    P: ComponentNamedList + Lower,
    R: ComponentNamedList + Lift,
{
    guest.function::<P, R>(part).map(|_| ())
}
