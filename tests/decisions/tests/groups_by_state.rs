//! Groups are judged by where their VMs can run: placements, batches, plans and questions about
//! failures send a VM to the same host, whatever the state of the one that it leaves.

use placewright_inventory::Inventory;
use placewright_model::GroupRule::{self, Negative, Positive};
use placewright_model::{Request, Vm};
use placewright_scheduler::questions::FailureOptions;
use placewright_scheduler::{BalanceOptions, Batch};

use super::evacuation::{cluster, group, state};
use super::questions::Scene;

/// Group rules that need not be kept are preferences.
const POLICY: &str = "
    tie-rule = ['listed']
    [[filters]]
    unit = 'memory'
    [[filters]]
    unit = 'affinity'
    [[costs]]
    unit = 'affinity'
";

/// Where the VMs of a case go: those that leave host a, in the order of ids.
type Expected = &'static [Option<&'static str>];

/// What a group wants of its VMs, on which hosts these run, and where those on host a go that is
/// in another state than up.
struct Case {
    rule: GroupRule,
    runs_on: &'static [&'static str],
    /// Their memory, GiB; hosts have 64.
    memory: &'static [i64],
    /// Where the host is down or in error: those that are there hold nobody.
    lost: Expected,
    /// In maintenance they run, so that one after the other cannot leave the others.
    maintained: Expected,
}

const SMALL: &[i64] = &[4, 4];

const CASES: [Case; 9] = [
    // Of VMs that are all on the lost host, the first one chooses and the others follow.
    Case {
        rule: Positive { hard: true },
        runs_on: &["a", "a"],
        memory: SMALL,
        lost: &[Some("b"), Some("b")],
        maintained: &[None, None],
    },
    // Where no host takes all of them, each is placed by itself.
    Case {
        rule: Positive { hard: true },
        runs_on: &["a", "a"],
        memory: &[4, 65],
        lost: &[Some("b"), None],
        maintained: &[None, None],
    },
    Case {
        rule: Positive { hard: false },
        runs_on: &["a", "a"],
        memory: SMALL,
        lost: &[Some("b"), Some("b")],
        maintained: &[Some("b"), Some("b")],
    },
    Case {
        rule: Negative { hard: true },
        runs_on: &["a", "a"],
        memory: SMALL,
        lost: &[Some("b"), Some("c")],
        maintained: &[Some("b"), Some("c")],
    },
    Case {
        rule: Negative { hard: false },
        runs_on: &["a", "a"],
        memory: SMALL,
        lost: &[Some("b"), Some("c")],
        maintained: &[Some("b"), Some("c")],
    },
    // Those elsewhere draw and repel it.
    Case {
        rule: Positive { hard: true },
        runs_on: &["a", "c"],
        memory: SMALL,
        lost: &[Some("c")],
        maintained: &[Some("c")],
    },
    Case {
        rule: Positive { hard: false },
        runs_on: &["a", "c"],
        memory: SMALL,
        lost: &[Some("c")],
        maintained: &[Some("c")],
    },
    Case {
        rule: Negative { hard: true },
        runs_on: &["a", "b"],
        memory: SMALL,
        lost: &[Some("c")],
        maintained: &[Some("c")],
    },
    Case {
        rule: Negative { hard: false },
        runs_on: &["a", "b"],
        memory: SMALL,
        lost: &[Some("c")],
        maintained: &[Some("c")],
    },
];

impl Case {
    fn ids(&self) -> Vec<String> {
        (0..self.runs_on.len())
            .map(|number| format!("v{number}"))
            .collect()
    }

    /// The VMs on host a.
    fn leaving(&self) -> Vec<String> {
        let ids = self.ids().into_iter().zip(self.runs_on);
        ids.filter(|(_, host)| **host == "a")
            .map(|(id, _)| id)
            .collect()
    }

    fn scene(&self, how: &str) -> Scene {
        let mut inventory: Inventory = cluster(&[("a", 64), ("b", 64), ("c", 64)], &[]);
        let ids = self.ids();
        for ((id, host), memory) in ids.iter().zip(self.runs_on).zip(self.memory) {
            inventory
                .run_vm(super::evacuation::vm(id, *memory), host)
                .unwrap();
        }
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        inventory.set_group(group("g", &names, self.rule)).unwrap();
        if how != "up" {
            state(&mut inventory, "a", how);
        }
        Scene::new(inventory, POLICY)
    }

    fn placed(&self, how: &str) -> Vec<Option<String>> {
        let mut scheduler = self.scene(how).scheduler();
        let place = |id: String| {
            let request = Request {
                members: vec![Vm::new(id)],
                now: 1000,
                again: true,
                ..Request::default()
            };
            let host = scheduler.place(request).unwrap().host.clone();
            host.map(|host| host.to_string())
        };
        self.leaving().into_iter().map(place).collect()
    }

    fn batched(&self, how: &str) -> Vec<Option<String>> {
        let leaving = self.leaving();
        let batch = Batch {
            members: leaving.iter().map(|id| Vm::new(&**id)).collect(),
            now: 1000,
            ..Batch::default()
        };
        let (mut scheduler, mut begun) = (self.scene(how).scheduler(), 0);
        let plan = scheduler.place_batch_seen(batch, &mut |_| begun += 1);
        let plan = plan.unwrap();
        assert_eq!(begun, plan.turns.len(), "each turn begins once");
        let host = |id: &String| plan.host(id).map(|host| host.to_string());
        leaving.iter().map(host).collect()
    }

    fn planned(&self, how: &str) -> Vec<Option<String>> {
        let mut scheduler = self.scene(how).scheduler();
        let options = BalanceOptions::default();
        let plan = scheduler.plan_balance(1000, &options).unwrap();
        let host = |id: &String| {
            let mut moves = plan.moves.iter();
            moves.find(|it| *it.vm == **id).map(|it| it.to.to_string())
        };
        self.leaving().iter().map(host).collect()
    }

    /// If host a, in that state, fails.
    fn asked(&self, how: &str) -> Vec<Option<String>> {
        let scene = self.scene(how);
        let options = FailureOptions::default();
        let failure = scene.ask().without_hosts(&["a".to_owned()], 1000, options);
        let failure = failure.unwrap();
        let host = |id: &String| {
            let mut vms = failure.vms.iter();
            let found = vms.find(|it| *it.vm == **id);
            found
                .and_then(|it| it.host.as_ref())
                .map(|it| it.to_string())
        };
        self.leaving().iter().map(host).collect()
    }
}

#[test]
fn every_route_sends_the_vms_of_a_group_to_the_same_hosts() {
    for case in &CASES {
        for how in ["down", "error", "maintenance"] {
            let (rule, on) = (case.rule, case.runs_on);
            let said = |route: &str| format!("{rule:?} on {on:?}, a is {how}: {route}");
            let expected = match how {
                "maintenance" => case.maintained,
                _ => case.lost,
            };
            assert_eq!(case.placed(how), named(expected), "{}", said("place"));
            // Batches and plans have the VMs of a host that is left go together, where they can.
            let left = match case.memory {
                SMALL => case.lost,
                _ => expected,
            };
            assert_eq!(case.batched(how), named(left), "{}", said("batch"));
            assert_eq!(case.planned(how), named(left), "{}", said("plan"));
            assert_eq!(case.asked(how), named(case.lost), "{}", said("what if"));
        }
        // Of a host that is up it is asked what would be if it failed.
        assert_eq!(
            case.asked("up"),
            named(case.lost),
            "{:?}: what if",
            case.rule
        );
    }
}

fn named(hosts: &[Option<&str>]) -> Vec<Option<String>> {
    hosts.iter().map(|host| host.map(str::to_owned)).collect()
}
