//! Judges that tell verdict and cost of a host in one go.

use placewright_sdk::contract::{Answers, Tables};
use placewright_sdk::native::Call;
use placewright_sdk::prelude::*;
use placewright_sdk::row_wise::Together;

#[derive(Row)]
struct Vm {
    memory: i64,
}

#[derive(Row)]
struct Tag {
    worth: i64,
}

#[derive(Row)]
struct Host {
    memory: i64,
    #[table("tags")]
    tags: Rows<Tag>,
}

#[derive(Reason)]
enum Reason {
    /// is too small
    TooSmall,
}

struct Fits;

impl RowWise for Fits {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = i64;

    fn prepare(vm: &Vm, (): &()) -> Result<i64, Problem> {
        Ok(vm.memory)
    }
}

impl RowFilter for Fits {
    /// Half a point more than the rule says, to be told from it.
    const TOGETHER: Option<Together<Self>> = Some(|need, host| {
        let is_even = host.memory % 2 == 0;
        is_even.then(|| (Self::keep(need, host), Self::cost(need, host) + 0.5))
    });

    fn keep(need: &i64, host: &Host) -> Verdict<Reason> {
        Verdict::keep_if(host.memory >= *need, Reason::TooSmall)
    }
}

impl RowCost for Fits {
    fn cost(need: &i64, host: &Host) -> f64 {
        let worth: i64 = host.tags.iter().map(|tag| tag.worth).sum();
        (host.memory - need - worth) as f64
    }
}

placewright_sdk::export!(Fits: filter, cost_function);

/// VMs, then hosts with 6, 2, 5 and 8 of memory, then the tags: so many of each host.
fn answers(want: [bool; 2], vms: &[i64], tags: [u32; 4]) -> (Vec<u8>, Vec<f64>) {
    let mut integers = vms.to_vec();
    integers.extend([6, 2, 5, 8]);
    let mut offset = 0;
    integers.push(0);
    integers.extend(tags.map(|count| {
        offset += i64::from(count);
        offset
    }));
    integers.extend(vec![1; offset as usize]);
    let tables = Tables {
        rows: vec![vms.len() as u32, 4, offset as u32],
        integers,
        numbers: vec![],
        absent_integers: vec![],
        absent_numbers: vec![],
        texts: vec![],
    };
    let [verdicts, costs] = want;
    let want = Answers { verdicts, costs };
    let judgement = native_unit().judge(want, &Call::new(tables));
    let judgement = judgement.expect("nothing is refused");
    (judgement.verdicts, judgement.costs)
}

#[test]
fn a_host_that_is_left_and_those_after_it_are_judged_by_the_rule() {
    let both = [true, true];
    let expected = (vec![0, 1, 0, 0], vec![2.5, -1.5, 1.0, 4.0]);
    assert_eq!(answers(both, &[4], [0; 4]), expected);
    let tagged = vec![2.5, -2.5, -1.0, 3.0];
    assert_eq!(answers(both, &[4], [0, 1, 2, 1]).1, tagged);
}

#[test]
fn several_vms_add_up() {
    let costs = vec![2.5 + 0.5, -1.5 - 3.5, 1.0 - 1.0, 4.0 + 2.0];
    let of_both = answers([true, true], &[4, 6], [0; 4]);
    assert_eq!(of_both, (vec![0, 1, 1, 0], costs));
}

#[test]
fn one_answer_alone_is_told_in_one_go_as_far_as_both_are() {
    let alone = answers([false, true], &[4], [0; 4]);
    assert_eq!(alone, (vec![], vec![2.5, -1.5, 1.0, 4.0]));
    let tagged = answers([false, true], &[4], [0, 1, 2, 1]);
    assert_eq!(tagged.1, [2.5, -2.5, -1.0, 3.0]);
    let alone = answers([true, false], &[4], [0; 4]);
    assert_eq!(alone, (vec![0, 1, 0, 0], vec![]));
    assert_eq!(answers([true, false], &[9], [0; 4]).0, [1; 4]);
}
