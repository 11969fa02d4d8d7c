//! What a request asks of a unit, as words that can be compared: equal words mean that
//! the unit is told the same, hosts apart.

use crate::encode::{self, Context, Dictionary, Incomplete};
use crate::plan::ReadPlan;
use placewright_engine::contract::Call;

/// Fill `words` with all that the plan's tables say of every host alike: request,
/// members, groups, tenant, cluster, sources. Settings are left out, as a step has the
/// same for all requests; so are relations, which are about few hosts. Texts are
/// spelled out, since their codes differ from call to call.
pub(crate) fn key(
    plan: &ReadPlan,
    context: Context<'_>,
    dictionary: &mut Dictionary,
    call: &mut Call,
    words: &mut Vec<u64>,
) -> Result<(), Incomplete> {
    encode::request_side(plan, context, dictionary, call)?;
    words.clear();
    words.extend(call.rows.iter().map(|rows| u64::from(*rows)));
    words.push(call.integers.len() as u64);
    words.extend(call.integers.iter().map(|value| value.cast_unsigned()));
    words.extend(call.numbers.iter().map(|value| value.to_bits()));
    for absent in [&call.absent_integers, &call.absent_numbers] {
        words.push(absent.len() as u64);
        words.extend(absent.iter().map(|place| u64::from(*place)));
    }
    for text in &call.texts {
        words.push(text.len() as u64);
        words.extend(text.as_bytes().chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }));
    }
    Ok(())
}
