use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::{Batch, Cancel, Scheduler, SchedulerOptions};
use placewright_engine::generation::Generation;
use placewright_model::schema::Schema;
use placewright_model::{Host, Vm};
use placewright_policy::Policy;

fn limits(text: serde_json::Value) -> Result<QuotaLimits, String> {
    serde_json::from_value(text).map_err(|error| error.to_string())
}

#[test]
fn limits_are_written_as_requests_write_what_they_ask_for() {
    let read = limits(json!({"cpu": "500m", "memory": "8 GiB", "gpus": 2.5, "vms": 3})).unwrap();
    let wanted = QuotaLimits {
        cpu: Some(500),
        memory: Some(8 << 30),
        gpus: Some(2500),
        vms: Some(3),
    };
    assert_eq!(read, wanted);
    let written = serde_json::to_value(read).unwrap();
    let memory = 8_i64 << 30;
    assert_eq!(
        written,
        json!({"cpu": 0.5, "memory": memory, "gpus": 2.5, "vms": 3})
    );
    assert_eq!(limits(written), Ok(wanted));
    assert_eq!(
        limits(json!({"cpu": 4, "vms": null})).unwrap().cpu,
        Some(4000)
    );
    assert!(limits(json!({"vms": null})).unwrap().is_none());
}

#[test]
fn what_is_no_limit_is_refused_with_what_is_allowed() {
    for (wrong, sentence) in [
        (json!({"cpu": -1}), "expected cores from 0 on"),
        (json!({"cpu": 0.0001}), "expected cores from 0 on"),
        (json!({"memory": "lots"}), "such as 8589934592 or \"8 GiB\""),
        (json!({"gpus": true}), "expected GPUs from 0 on"),
        (json!({"vms": 1.5}), "expected a whole number of VMs"),
        (json!({"vms": "3"}), "expected a whole number of VMs"),
        (json!({"disks": 1}), "unknown field `disks`"),
        (json!({"memory": 1e300}), "expected bytes from 0 on"),
    ] {
        let refused = limits(wrong.clone()).unwrap_err();
        assert!(refused.contains(sentence), "{wrong}: {refused}");
    }
}

fn holding(cpu: i128, vms: i128) -> Holding {
    Holding {
        cpu,
        vms,
        ..Holding::NONE
    }
}

#[test]
fn only_what_more_is_asked_for_of_is_held_against_its_limit() {
    let limits = limits(json!({"cpu": 4, "vms": 2})).unwrap();
    let exceeded = |held, more| limits.exceeded(held, more);
    assert_eq!(exceeded(holding(3000, 1), holding(1000, 1)), []);
    assert_eq!(
        exceeded(holding(3000, 2), holding(1001, 1)),
        [QuotaResource::Cpu, QuotaResource::Vms]
    );
    // Somebody above the limit may go on as before.
    assert_eq!(exceeded(holding(9000, 1), holding(0, 1)), []);
    assert_eq!(
        exceeded(holding(9000, 1), holding(1, 0)),
        [QuotaResource::Cpu]
    );
}

/// Allows so many VMs of any tenant, and remembers what it was asked.
#[derive(Debug, Default)]
struct MostVms {
    most: i64,
    asked: Mutex<Vec<(Arc<str>, i128, bool)>>,
}

impl TenantLimits for MostVms {
    fn is_limiting(&self) -> bool {
        true
    }

    fn admit(
        &self,
        tenant: &Arc<str>,
        held: Holding,
        more: Holding,
        only_tried: bool,
    ) -> Result<(), Box<QuotaRefusal>> {
        let asked = (tenant.clone(), held.vms, only_tried);
        self.asked.lock().unwrap().push(asked);
        let limits = limits(json!({"vms": self.most})).unwrap();
        match limits.exceeded(held, more) {
            exceeded if exceeded.is_empty() => Ok(()),
            exceeded => {
                let of = ("most".into(), tenant.clone(), None);
                let refusal = QuotaRefusal::new(of, limits, (held, more), exceeded);
                Err(Box::new(refusal))
            }
        }
    }
}

/// A scheduler that asks no units, of a cluster with two hosts.
fn scheduler(most: i64) -> (Scheduler, Arc<MostVms>) {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    for host in ["a", "b"] {
        inventory.add_host(Host::new(host)).unwrap();
    }
    let generation = Generation::default();
    let schema = inventory.schema().clone();
    let policy = Policy::load("name = \"nothing\"\n", "p.toml", &generation, &schema).unwrap();
    let limits = Arc::new(MostVms {
        most,
        ..MostVms::default()
    });
    let options = SchedulerOptions {
        quotas: Quotas::of(limits.clone()),
        ..SchedulerOptions::default()
    };
    let scheduler = Scheduler::new(inventory, Arc::new(policy), &generation, options);
    (scheduler.unwrap(), limits)
}

fn of(tenant: &str, id: &str) -> Vm {
    Vm::new(id).with("tenant", tenant)
}

fn asks(members: impl IntoIterator<Item = Vm>) -> Request {
    Request {
        members: members.into_iter().collect(),
        ..Request::default()
    }
}

#[test]
fn a_refused_decision_is_recorded_explained_and_not_made_again_by_other_units() {
    let (mut scheduler, _) = scheduler(1);
    let placed = scheduler.place(asks([of("t", "one")])).unwrap();
    assert!(placed.host.is_some() && placed.refused.is_none());
    let refused = scheduler.place(asks([of("t", "two")])).unwrap();
    let because = refused.refused.as_ref().unwrap().because.clone();
    assert_eq!(
        because,
        "quota \"most\" of tenant \"t\" in all clusters together: 1 VMs allowed, 1 VMs held, 1 VMs more asked for"
    );
    assert_eq!(
        (refused.host.as_ref(), refused.decided.considered),
        (None, 0)
    );
    assert!(scheduler.inventory().pending("two").is_none());
    let explained = scheduler.explain(refused.number).unwrap();
    assert_eq!(explained.refused.as_deref(), Some(&*because));
    assert_eq!(explained.chosen, None);
    let past = scheduler.past(refused.number).unwrap();
    let why = past.why("a", &Cancel::default()).unwrap();
    let why = serde_json::to_value(why).unwrap();
    assert_eq!(why["standing"], "refused-by-quota");
    assert_eq!(why["because"], *because);
    assert!(past.comes_out_the_same().unwrap());
    assert_eq!(past.runners_up(3).unwrap(), []);
    // Only the first is.
    assert_eq!(scheduler.trial(10).decisions(), 1);
    // Of others, and of VMs without a tenant, nothing is asked for.
    assert!(
        scheduler
            .place(asks([of("u", "three")]))
            .unwrap()
            .host
            .is_some()
    );
    assert!(
        scheduler
            .place(asks([Vm::new("four")]))
            .unwrap()
            .host
            .is_some()
    );
}

#[test]
fn members_of_one_request_count_together_and_those_of_a_batch_in_their_order() {
    let (mut scheduler, _) = scheduler(2);
    let three = ["a", "b", "c"].map(|id| of("t", id));
    let together = scheduler.place(asks(three.clone())).unwrap();
    assert!(together.refused.is_some());
    let batch = Batch {
        members: three.to_vec(),
        ..Batch::default()
    };
    let dry = Batch {
        dry_run: true,
        ..batch.clone()
    };
    for (batch, only_tried) in [(dry, true), (batch, false)] {
        let plan = scheduler.place_batch(batch).unwrap();
        let hosts = plan.turns.iter().map(|turn| turn.host().is_some());
        assert_eq!(hosts.collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(plan.left_out().count(), 1);
        let asked = scheduler.options().quotas.limits.clone();
        assert!(asked.is_some());
        assert_eq!(
            scheduler.inventory().pending_count(),
            if only_tried { 0 } else { 2 }
        );
    }
}

#[test]
fn a_dry_run_says_so_to_whoever_knows_the_limits() {
    let (mut scheduler, limits) = scheduler(1);
    let dry = Request {
        dry_run: true,
        ..asks([of("t", "v")])
    };
    scheduler.place(dry).unwrap();
    scheduler.place(asks([of("t", "v")])).unwrap();
    let batch = |dry_run| Batch {
        members: vec![of("t", "w")],
        dry_run,
        ..Batch::default()
    };
    scheduler.place_batch(batch(true)).unwrap();
    scheduler.place_batch(batch(false)).unwrap();
    let asked = limits.asked.lock().unwrap();
    let asked: Vec<_> = asked.iter().map(|(_, held, dry)| (*held, *dry)).collect();
    assert_eq!(asked, [(0, true), (0, false), (1, true), (1, false)]);
}

#[test]
fn vms_that_run_are_moved_and_planned_anew_whatever_is_held() {
    let (mut scheduler, limits) = scheduler(0);
    for (id, host) in [("v", "a"), ("w", "b")] {
        scheduler.inventory_mut().run_vm(of("t", id), host).unwrap();
    }
    let moved = Request {
        excluded: vec!["a".into()],
        ..asks([Vm::new("v")])
    };
    assert_eq!(scheduler.place(moved).unwrap().host.as_deref(), Some("b"));
    scheduler.inventory_mut().cancel_vm("v").unwrap();
    let anew = Batch {
        members: vec![Vm::new("v"), Vm::new("w")],
        from_nothing: true,
        dry_run: true,
        ..Batch::default()
    };
    let plan = scheduler.place_batch(anew).unwrap();
    assert_eq!(plan.left_out().count(), 0);
    assert!(
        limits.asked.lock().unwrap().is_empty(),
        "nothing more is held"
    );
    let grown = Request {
        members: vec![Vm::new("v").with("cpu", 5000)],
        ..Request::default()
    };
    // It has a limit for VMs alone, and their number does not grow.
    assert!(scheduler.place(grown).unwrap().refused.is_none());
    assert_eq!(limits.asked.lock().unwrap().len(), 1);
    // A copy asks nobody.
    let mut copy = scheduler.copy();
    assert!(copy.place(asks([of("t", "new")])).unwrap().host.is_some());
}
