//! What a placement writes: the GPUs that a VM was given on its host.

use placewright_sdk::prelude::*;

use crate::held::{Beyond, Current};
use crate::pack::pack;
use crate::want::Want;

/// A GPU of a host, which may be chosen.
#[derive(Clone, Row)]
pub struct ChosenGpu {
    /// Its number.
    pub index: i64,
    /// Thousandths that nobody has.
    pub free: i64,
}

/// A GPU that a VM has for as long as it stays.
#[derive(Written)]
#[written(table = "gpus", scope = "placement", moment = "decided")]
pub struct Gift {
    index: i64,
    share: i64,
}

/// Gives each member what it wants, as `choose` says: by their places in the list, of what is
/// free of each for it. A VM that runs on the host already goes on having those that it holds.
/// Where not all find enough one after the other, others are looked for that are enough for all.
///
/// # Errors
///
/// If there are too few.
pub fn give(
    wants: impl Iterator<Item = (u32, Want)>,
    current: &Rows<Current>,
    gpus: &Rows<ChosenGpu>,
    mut choose: impl FnMut(&Want, &[i64]) -> Option<Vec<usize>>,
) -> Result<Changes<Gift>, Problem> {
    let indices: Vec<i64> = gpus.iter().map(|gpu| gpu.index).collect();
    let mut free: Vec<i64> = gpus.iter().map(|gpu| gpu.free).collect();
    let mut members = Vec::new();
    let mut wanted: Vec<Beyond> = Vec::new();
    for (member, want) in wants {
        let beyond = want.beyond_held(i64::from(member), current, &indices, &free);
        beyond.grow(&mut free);
        // Who has all that it wants is no choice.
        if beyond.more.count == 0 && want.count > 0 {
            members.push((member, None, beyond.clone()));
        } else {
            members.push((member, Some(wanted.len()), beyond.clone()));
            wanted.push(beyond);
        }
    }
    let mut left = free.clone();
    let chosen = wanted.iter().map(|beyond| {
        let places = choose(&beyond.more, &beyond.free_for_more(&left))?;
        for place in &places {
            left[*place] -= beyond.more.share;
        }
        Some(places)
    });
    let chosen: Option<Vec<Vec<usize>>> = chosen.collect();
    let chosen = chosen.or_else(|| pack(&wanted, &free)).ok_or_else(|| {
        Problem::refused(
            "the host has too few GPUs with enough free: a filter must keep such hosts out",
        )
    })?;
    let mut changes = Changes::new();
    for (member, number, beyond) in members {
        let share = beyond.more.share;
        let own = beyond.grown.iter().map(|(place, _)| *place);
        let own = own.filter(|_| beyond.is_other_share);
        let given = number.map_or(&[][..], |number| &chosen[number][..]);
        for place in own.chain(given.iter().copied()) {
            let index = indices[place];
            changes.append(member, Gift { index, share });
        }
    }
    Ok(changes)
}
