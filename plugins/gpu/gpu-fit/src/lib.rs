//! GPU fit: keeps the hosts with enough free CPU, memory and GPUs of an accepted
//! model, and gives the VMs their GPUs when they are placed.

#![forbid(unsafe_code)]

mod draw;

use draw::Draws;
use gpu_room::{ChosenGpu, Current, Gift, Host, Need, Reason, Request, Vm, Want, give};
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// Which of the GPUs with enough free a VM is given: those with the least room, or any by
    /// the request's draw.
    #[setting(default = "least-room", choices = ["least-room", "random"])]
    gpus: Text,
}

struct GpuFit;

impl RowWise for GpuFit {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, _: &Settings) -> Result<Need, Problem> {
        Ok(Need::of(request))
    }
}

impl RowFilter for GpuFit {
    #[inline]
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        need.keep(host)
    }
}

/// What is read of a placement.
#[derive(Request)]
struct Placement {
    request: Chance,
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<ChosenHost>,
}

/// What is left to chance.
#[derive(Row)]
struct Chance {
    draw: Option<f64>,
}

/// What is read of the host that was chosen.
#[derive(Row)]
struct ChosenHost {
    #[table("gpus")]
    gpus: Rows<ChosenGpu>,
    #[table("current")]
    current: Rows<Current>,
}

impl Effects for GpuFit {
    type Request = Placement;
    type Settings = Settings;
    type Writes = Gift;

    fn placed(placement: &Placement, settings: &Settings) -> Result<Changes<Gift>, Problem> {
        let Some(host) = placement.hosts.get(0) else {
            return Ok(Changes::new());
        };
        let mut draws = (settings.gpus == "random")
            .then(|| Draws::new(placement.request.draw.unwrap_or_default()));
        let choose = |want: &Want, free: &[i64]| match &mut draws {
            Some(draws) => draws.choose(want, free),
            None => want.least_room(free),
        };
        let vms = placement.vms.numbered();
        let wants = vms.map(|(member, vm)| (member, Want::of(&vm)));
        give(wants, &host.current, &host.gpus, choose)
    }
}

placewright_sdk::export!(GpuFit: filter, effects);

#[cfg(test)]
mod tests {
    use gpu_room::HeldGpu;
    use placewright_sdk::contract::{Operation, Value};

    use super::*;

    /// The GPUs that VMs of these counts and shares are given: member, index, share.
    fn given(wants: &[(i64, i64)], free: &[i64], gpus: &str, draw: f64) -> Vec<(u32, i64, i64)> {
        let vm = |(count, share): &(i64, i64)| Vm {
            cpu: Millicores(0),
            memory: Bytes(0),
            count: Some(*count),
            share: Some(*share),
            models: Rows::default(),
        };
        let gpu = |(index, free): (i64, &i64)| ChosenGpu { index, free: *free };
        let host = ChosenHost {
            gpus: (10..).zip(free).map(gpu).collect(),
            current: Rows::default(),
        };
        let placement = Placement {
            request: Chance { draw: Some(draw) },
            vms: wants.iter().map(vm).collect(),
            hosts: vec![host].into(),
        };
        let settings = Settings { gpus: gpus.into() };
        let changes = GpuFit::placed(&placement, &settings).expect("there is room");
        let row = |change: placewright_sdk::contract::Change| match change.operation {
            Operation::Append(values) => match values[..] {
                [Some(Value::Integer(index)), Some(Value::Integer(share))] => {
                    (change.entity, index, share)
                }
                _ => panic!("{values:?}"),
            },
            other => panic!("{other:?}"),
        };
        changes.into_contract().into_iter().map(row).collect()
    }

    #[test]
    fn the_tightest_gpus_are_given_by_their_own_numbers() {
        let free = [1000, 600, 1000, 700];
        let one_by_one = [(0, 11, 500), (1, 13, 500), (2, 10, 500)];
        assert_eq!(given(&[(1, 500); 3], &free, "least-room", 0.9), one_by_one);
        let two = [(0, 10, 1000), (0, 12, 1000)];
        assert_eq!(given(&[(2, 1000)], &free, "least-room", 0.9), two);
        assert_eq!(given(&[(0, 0)], &free, "least-room", 0.9), []);
    }

    #[test]
    fn by_chance_every_gpu_with_room_is_given_and_no_other() {
        let mut seen = std::collections::BTreeSet::new();
        for draw in 0..100 {
            let gpus = given(
                &[(2, 500)],
                &[1000, 400, 600, 500],
                "random",
                f64::from(draw) / 100.0,
            );
            assert_ne!(gpus[0].1, gpus[1].1);
            seen.extend(gpus.iter().map(|gpu| gpu.1));
        }
        assert_eq!(Vec::from_iter(seen), [10, 12, 13]);
    }

    /// The GPUs, with their shares, that a VM which has 600 of GPU 10 is written when it asks
    /// for these.
    fn written_for(asked: (i64, i64), free: &[i64]) -> Vec<(i64, i64)> {
        let (count, share) = asked;
        let vm = Vm {
            cpu: Millicores(0),
            memory: Bytes(0),
            count: Some(count),
            share: Some(share),
            models: Rows::default(),
        };
        let own = HeldGpu {
            index: 10,
            share: 600,
        };
        let current = Current {
            member: 0,
            count: Some(1),
            share: Some(600),
            gpus: vec![own].into(),
            models: Rows::default(),
        };
        let gpu = |(index, free): (i64, &i64)| ChosenGpu { index, free: *free };
        let host = ChosenHost {
            gpus: (10..).zip(free).map(gpu).collect(),
            current: vec![current].into(),
        };
        let placement = Placement {
            request: Chance { draw: Some(0.5) },
            vms: vec![vm].into(),
            hosts: vec![host].into(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let changes = GpuFit::placed(&placement, &settings).expect("there is room");
        let row = |change: placewright_sdk::contract::Change| match change.operation {
            Operation::Append(values) => match values[..] {
                [Some(Value::Integer(index)), Some(Value::Integer(share))] => (index, share),
                _ => panic!("{values:?}"),
            },
            other => panic!("{other:?}"),
        };
        changes.into_contract().into_iter().map(row).collect()
    }

    #[test]
    fn a_vm_that_asks_for_more_goes_on_with_the_gpu_that_it_has() {
        assert_eq!(written_for((2, 600), &[400, 700]), [(11, 600)]);
        assert_eq!(written_for((2, 400), &[400, 700]), [(10, 400), (11, 400)]);
        assert_eq!(written_for((1, 700), &[100, 1000]), [(10, 700)]);
        assert_eq!(written_for((1, 700), &[50, 1000]), [(11, 700)]);
        assert_eq!(written_for((1, 500), &[0, 0]), [(10, 500)]);
    }

    #[test]
    fn a_vm_that_runs_there_keeps_its_gpus() {
        let vm = || Vm {
            cpu: Millicores(0),
            memory: Bytes(0),
            count: Some(1),
            share: None,
            models: Rows::default(),
        };
        let host = ChosenHost {
            gpus: vec![ChosenGpu {
                index: 0,
                free: 1000,
            }]
            .into(),
            current: vec![Current {
                member: 0,
                count: Some(1),
                share: None,
                gpus: Rows::default(),
                models: Rows::default(),
            }]
            .into(),
        };
        let placement = Placement {
            request: Chance { draw: None },
            vms: vec![vm(), vm()].into(),
            hosts: vec![host].into(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let changes = GpuFit::placed(&placement, &settings).expect("there is room");
        let members: Vec<u32> = changes.into_contract().iter().map(|it| it.entity).collect();
        assert_eq!(members, [1]);
    }
}
