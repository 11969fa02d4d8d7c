use placewright_sdk::contract::{Answers, Tables};
use placewright_sdk::native::Call;

use super::*;

const CPU: Name = Name(0);
const MEMORY: Name = Name(1);
const GPU: Name = Name(2);

fn vm(needs: &[(Name, i64)]) -> Vm {
    let amount = |&(name, need): &(Name, i64)| VmAmount { name, need };
    Vm {
        amounts: needs.iter().map(amount).collect(),
    }
}

/// Amounts of a host: name, total, used, pending.
fn host(amounts: &[(Name, i64, i64, i64)]) -> Host {
    let amount = |&(name, total, used, pending): &(Name, i64, i64, i64)| HostAmount {
        name,
        free: total - used - pending,
        pending,
    };
    Host {
        amounts: amounts.iter().map(amount).collect(),
    }
}

fn prepare(vms: Vec<Vm>) -> Result<Need<Name>, Problem> {
    Utilization::prepare(&Request { vms: vms.into() }, &())
}

fn together(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    Utilization::keep(&prepare(vms).expect("nothing is refused"), host)
}

fn verdict(needs: &[(Name, i64)], host: &Host) -> Verdict<Reason> {
    together(vec![vm(needs)], host)
}

const TOO_LITTLE: Verdict<Reason> = Verdict::Remove(Reason::TooLittle);
const LACKING: Verdict<Reason> = Verdict::Remove(Reason::Lacking);

#[test]
fn exactly_what_is_free_fits_and_one_more_does_not() {
    let host = host(&[(CPU, 8, 3, 0), (MEMORY, 64, 0, 0)]);
    assert_eq!(verdict(&[(CPU, 5), (MEMORY, 64)], &host), Verdict::Keep);
    assert_eq!(verdict(&[(CPU, 6)], &host), TOO_LITTLE);
    assert_eq!(verdict(&[(CPU, 5), (MEMORY, 65)], &host), TOO_LITTLE);
}

#[test]
fn an_amount_that_a_host_does_not_have_is_0() {
    let host = host(&[(CPU, 8, 0, 0)]);
    assert_eq!(verdict(&[(CPU, 1), (GPU, 1)], &host), LACKING);
    assert_eq!(verdict(&[(GPU, 1), (CPU, 1)], &host), LACKING);
    assert_eq!(verdict(&[(CPU, 1)], &self::host(&[])), LACKING);
}

#[test]
fn a_need_of_0_always_fits() {
    assert_eq!(verdict(&[], &host(&[])), Verdict::Keep);
    assert_eq!(verdict(&[(GPU, 0)], &host(&[])), Verdict::Keep);
    let overfull = host(&[(CPU, 4, 9, 0)]);
    assert_eq!(verdict(&[(CPU, 0)], &overfull), Verdict::Keep);
    assert_eq!(verdict(&[(CPU, 1)], &overfull), TOO_LITTLE);
}

#[test]
fn amounts_are_found_in_any_order() {
    let host = host(&[(GPU, 1, 0, 0), (CPU, 8, 0, 0), (MEMORY, 4, 0, 0)]);
    let needs = [(MEMORY, 4), (GPU, 1), (CPU, 8)];
    assert_eq!(verdict(&needs, &host), Verdict::Keep);
    assert_eq!(verdict(&[(MEMORY, 4), (CPU, 9)], &host), TOO_LITTLE);
}

#[test]
fn what_is_pending_alone_makes_a_reason_that_passes() {
    let host = host(&[(CPU, 8, 2, 4), (MEMORY, 8, 8, 0)]);
    let passing = Verdict::Remove(Reason::TooLittleWhilePending);
    assert_eq!(verdict(&[(CPU, 2)], &host), Verdict::Keep);
    assert_eq!(verdict(&[(CPU, 6)], &host), passing);
    assert_eq!(verdict(&[(CPU, 7)], &host), TOO_LITTLE);
    // Waiting for the CPU would not help.
    assert_eq!(verdict(&[(CPU, 6), (MEMORY, 1)], &host), TOO_LITTLE);
}

#[test]
fn vms_placed_together_need_room_together() {
    let host = host(&[(CPU, 4, 0, 0), (MEMORY, 2, 0, 0)]);
    let two = |cpu| vec![vm(&[(CPU, 2), (MEMORY, 2)]), vm(&[(CPU, cpu)])];
    assert_eq!(together(two(2), &host), Verdict::Keep);
    assert_eq!(together(two(3), &host), TOO_LITTLE);
}

#[test]
fn a_negative_need_is_refused_with_the_rule() {
    let refused = prepare(vec![vm(&[(CPU, -1)])]).err();
    let rule = "what a VM needs of an amount must be 0 or more, not -1";
    assert_eq!(refused, Some(Problem::refused(rule)));
}

#[test]
fn capacities_beyond_32_bits_do_not_overflow() {
    let whole = (1 << 53) - 1;
    let large = host(&[(CPU, whole, 0, 0)]);
    assert_eq!(verdict(&[(CPU, whole)], &large), Verdict::Keep);
    assert_eq!(
        together(vec![vm(&[(CPU, whole)]), vm(&[(CPU, i64::MAX)])], &large),
        TOO_LITTLE
    );
    let absurd = host(&[(CPU, -whole, whole, whole)]);
    assert_eq!(verdict(&[(CPU, 1)], &absurd), TOO_LITTLE);
}

#[test]
fn in_a_call_an_amount_is_found_by_its_name() {
    // A VM that needs 2 of "cpu"; a host with 9 of "gpu" and 2 of "cpu", another one
    // with 9 of "gpu" only.
    let tables = Tables {
        rows: vec![1, 1, 2, 3],
        integers: [
            &[0, 1, 1, 2][..], // members/amounts: offsets, name, need
            &[0, 2, 3],        // hosts/amounts: offsets
            &[0, 1, 0],        // name
            &[9, 2, 9],        // free
            &[0, 0, 0],        // pending
        ]
        .concat(),
        numbers: Vec::new(),
        absent_integers: Vec::new(),
        absent_numbers: Vec::new(),
        texts: vec!["gpu".into(), "cpu".into()],
    };
    let want = Answers {
        verdicts: true,
        costs: false,
    };
    let judgement = native_unit().judge(want, &Call::new(tables));
    assert_eq!(judgement.map(|it| it.verdicts), Ok(vec![0, 1]));
}

/// What the unit says of hosts with these amounts (name, free, pending) for a VM with these
/// needs, in a call.
fn in_a_call(needs: &[(i64, i64)], hosts: &[Vec<(i64, i64, i64)>]) -> Vec<u8> {
    let amounts = hosts.concat();
    let ends = hosts.iter().scan(0, |end, host| {
        *end += host.len() as i64;
        Some(*end)
    });
    let tables = Tables {
        rows: [1, needs.len(), hosts.len(), amounts.len()]
            .map(|rows| rows as u32)
            .to_vec(),
        integers: [0, needs.len() as i64]
            .into_iter()
            .chain(needs.iter().map(|it| it.0))
            .chain(needs.iter().map(|it| it.1))
            .chain([0])
            .chain(ends)
            .chain(amounts.iter().map(|it| it.0))
            .chain(amounts.iter().map(|it| it.1))
            .chain(amounts.iter().map(|it| it.2))
            .collect(),
        numbers: Vec::new(),
        absent_integers: Vec::new(),
        absent_numbers: Vec::new(),
        texts: vec!["cpu".into(), "memory".into(), "gpu".into()],
    };
    let want = Answers {
        verdicts: true,
        costs: false,
    };
    let judgement = native_unit().judge(want, &Call::new(tables));
    judgement.expect("nothing is refused").verdicts
}

#[test]
fn hosts_that_are_alike_are_judged_together_as_they_are_one_by_one() {
    let free = [0, 3, 4, 9];
    let mut hosts = Vec::new();
    for (cpu, memory) in free
        .iter()
        .flat_map(|cpu| free.map(|memory| (*cpu, memory)))
    {
        hosts.push(vec![(0, cpu, 0), (1, memory, 0), (2, 1, 0)]);
        hosts.push(vec![(0, cpu, 5), (1, memory, 1), (2, 0, 1)]);
    }
    // None like it: with it hosts are judged one by one.
    let odd = vec![
        vec![(1, 4, 0)],
        vec![],
        vec![(1, 4, 0), (0, 4, 0), (2, 1, 0)],
    ];
    let needs = [
        vec![(0, 4), (1, 4)],
        vec![(1, 4), (0, 4)],
        vec![(2, 1), (0, 9)],
        vec![(1, 9)],
        vec![(3, 1), (0, 4)],
        vec![],
    ];
    for needs in needs {
        let together = in_a_call(&needs, &hosts);
        for odd in &odd {
            let mixed = [&hosts[..], std::slice::from_ref(odd)].concat();
            let one_by_one = in_a_call(&needs, &mixed);
            assert_eq!(together, one_by_one[..hosts.len()], "{needs:?}");
        }
    }
}

#[test]
fn hosts_that_name_an_amount_twice_are_judged_by_the_first() {
    let twice = vec![(0, 1, 0), (0, 9, 0)];
    assert_eq!(in_a_call(&[(0, 4)], &[twice.clone(), twice]), [2, 2]);
}
