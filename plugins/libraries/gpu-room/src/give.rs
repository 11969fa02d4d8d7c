//! What a placement writes: the GPUs that a VM was given on its host.

use placewright_sdk::prelude::*;

use crate::want::Want;

/// A GPU of the host that was chosen.
#[derive(Clone, Row)]
pub struct ChosenGpu {
    /// Its number.
    pub index: i64,
    /// Thousandths that nobody has.
    pub free: i64,
}

/// A member that runs on the host now.
#[derive(Clone, Row)]
pub struct Current {
    /// Row number in `members`.
    pub member: i64,
}

/// A GPU that a VM has for as long as it stays.
#[derive(Written)]
#[written(table = "gpus", scope = "placement", moment = "decided")]
pub struct Gift {
    index: i64,
    share: i64,
}

/// Gives each member what it wants, as `choose` says: by their places in the list, of what is
/// free of each. A VM that runs on the host already keeps those that it has.
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
    let mut changes = Changes::new();
    let indices: Vec<i64> = gpus.iter().map(|gpu| gpu.index).collect();
    let mut free: Vec<i64> = gpus.iter().map(|gpu| gpu.free).collect();
    for (member, want) in wants {
        if current.iter().any(|row| row.member == i64::from(member)) {
            continue;
        }
        let places = choose(&want, &free).ok_or_else(|| {
            Problem::refused(
                "the host has too few GPUs with enough free: a filter must keep such hosts out",
            )
        })?;
        for place in places {
            free[place] -= want.share;
            let (index, share) = (indices[place], want.share);
            changes.append(member, Gift { index, share });
        }
    }
    Ok(changes)
}
