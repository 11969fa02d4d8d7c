use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::questions::{Changed, FailureOptions, Limit, Situation, Standing};
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

    fn refusals(&self, tenant: &Arc<str>, held: Holding, more: Holding) -> Vec<QuotaRefusal> {
        let limits = limits(json!({"vms": self.most})).unwrap();
        let exceeded = limits.exceeded(held, more);
        let of = ("most".into(), tenant.clone(), None);
        let refusal = || QuotaRefusal::new(of, limits, (held, more), exceeded.clone());
        match exceeded.is_empty() {
            true => Vec::new(),
            false => vec![refusal()],
        }
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
        match self.refusals(tenant, held, more).pop() {
            None => Ok(()),
            Some(refusal) => Err(Box::new(refusal)),
        }
    }
}

/// A cluster with two hosts, and the policy that asks no units.
struct World {
    inventory: Inventory,
    policy: Arc<Policy>,
    generation: Generation,
    options: SchedulerOptions,
    limits: Arc<MostVms>,
}

impl World {
    fn new(most: i64) -> Self {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        for host in ["a", "b"] {
            inventory.add_host(Host::new(host)).unwrap();
        }
        let generation = Generation::default();
        let schema = inventory.schema().clone();
        let policy = Policy::load("name = \"nothing\"\n", "p.toml", &generation, &schema);
        let limits = Arc::new(MostVms {
            most,
            ..MostVms::default()
        });
        Self {
            inventory,
            policy: Arc::new(policy.unwrap()),
            generation,
            options: SchedulerOptions {
                quotas: Quotas::of(limits.clone()),
                ..SchedulerOptions::default()
            },
            limits,
        }
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            inventory: &self.inventory,
            policy: &self.policy,
            generation: &self.generation,
            options: &self.options,
        }
    }

    /// Whether whoever knows the limits was asked, and every time only as a trial.
    fn is_only_tried(&self) -> bool {
        let asked = self.limits.asked.lock().unwrap();
        asked.iter().all(|(.., only_tried)| *only_tried)
    }
}

/// A scheduler of such a cluster.
fn scheduler(most: i64) -> (Scheduler, Arc<MostVms>) {
    let World {
        inventory,
        policy,
        generation,
        options,
        limits,
    } = World::new(most);
    let scheduler = Scheduler::new(inventory, policy, &generation, options);
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
    let why = past.why("b", &Cancel::default()).unwrap();
    let why = serde_json::to_value(why).unwrap();
    assert_eq!(why["standing"], "refused-by-quota");
    assert_eq!(why["because"], *because);
    assert_eq!(why["refused-by-quotas"][0]["quota"], "most");
    let way = &why["ways"][0];
    assert_eq!(
        (&way["chosen"], &way["changes"][0]["after"]),
        (&json!(true), &json!("2"))
    );
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

#[test]
fn room_for_a_tenant_ends_at_its_quota_and_for_others_goes_on() {
    let mut world = World::new(3);
    world.inventory.run_vm(of("t", "v"), "a").unwrap();
    let capacity = |vm| world.situation().capacity(&asks([vm]), 10).unwrap();
    let limited = capacity(of("t", "new"));
    assert_eq!((limited.fit, limited.bounded), (2, false));
    let refused = limited.refused_by_quota.unwrap();
    assert_eq!((&*refused.quota, refused.used.vms), ("most", 3));
    assert_eq!(refused.exceeded, [QuotaResource::Vms]);
    assert_eq!((limited.considered, limited.stopped_by), (0, Vec::new()));
    let free = capacity(Vm::new("new"));
    assert_eq!((free.fit, free.bounded), (10, true));
    assert_eq!(free.refused_by_quota, None);
    assert!(world.is_only_tried());
}

#[test]
fn why_not_there_begins_with_the_quota_and_how_far_it_is_to_be_raised() {
    let mut world = World::new(1);
    world.inventory.run_vm(of("t", "v"), "a").unwrap();
    let two = asks([of("t", "one"), of("t", "two")]);
    let why = |request: &Request, host| world.situation().why(request, host).unwrap();
    let hosts = ["a", "b"].map(|host| why(&two, host));
    for why in &hosts {
        assert!(matches!(why.standing, Standing::RefusedByQuota { .. }));
        assert_eq!(&*why.refused_by_quotas[0].quota, "most");
        assert_eq!((why.chosen.as_ref(), why.ways.len()), (None, 1));
        let [change] = &*why.ways[0].changes else {
            panic!("{:?}", why.ways);
        };
        assert_eq!((change.of, change.bound), (Changed::Quota, Limit::AtLeast));
        assert_eq!(change.id.as_deref(), Some("most"));
        assert_eq!(&*change.column, "limits.vms");
        let amounts = (change.before.as_deref(), change.after.as_deref());
        assert_eq!(amounts, (Some("1"), Some("3")));
        assert_eq!(
            why.ways[0].sentence,
            "quota \"most\" of tenant \"t\" allows 3 VMs, 2 VMs more than now"
        );
    }
    let chosen = hosts.iter().filter(|why| why.ways[0].chosen);
    assert_eq!(chosen.count(), 1, "one of them would be the one");

    // Of a host that is kept out by itself it is said as well, and is a part of every way.
    let elsewhere = Request {
        excluded: vec!["a".into()],
        ..two
    };
    let kept_out = why(&elsewhere, "a");
    assert!(matches!(kept_out.standing, Standing::NotAsked { .. }));
    assert_eq!(kept_out.refused_by_quotas.len(), 1);
    let mut first = kept_out.ways.iter().map(|way| way.changes[0].of);
    assert!(first.all(|of| of == Changed::Quota), "{:?}", kept_out.ways);

    // What holds no more than before is not refused, nor is a VM of nobody.
    for request in [asks([Vm::new("v")]), asks([Vm::new("free")])] {
        let why = why(&request, "b");
        assert!(why.refused_by_quotas.is_empty() && why.chosen.is_some());
    }
    assert!(world.is_only_tried());
}

#[test]
fn a_limit_that_cannot_be_high_enough_is_no_way() {
    let limits = limits(json!({"vms": 1})).unwrap();
    let asked = holding(0, i128::from(GREATEST_INTEGER));
    let of = ("q".into(), "t".into(), None);
    let exceeded = vec![QuotaResource::Vms];
    let refusal = QuotaRefusal::new(of, limits, (holding(0, 1), asked), exceeded);
    assert_eq!(refusal.raises(), None);
}

#[test]
fn a_refusal_is_read_as_it_was_written() {
    let limits = limits(json!({"cpu": "1500m", "gpus": 0.25, "memory": "1 GiB"})).unwrap();
    let of = ("q".into(), "t".into(), Some("c".into()));
    let exceeded = vec![QuotaResource::Cpu];
    let refusal = QuotaRefusal::new(of, limits, (holding(1200, 3), holding(333, 1)), exceeded);
    let written = serde_json::to_value(&refusal).unwrap();
    assert_eq!(written["used"]["cpu"], 1.2);
    assert_eq!(QuotaRefusal::deserialize(written).unwrap(), refusal);
}

#[test]
fn vms_of_hosts_that_fail_are_restarted_whatever_is_held() {
    let mut world = World::new(0);
    for (id, host) in [("v", "a"), ("w", "b")] {
        world.inventory.run_vm(of("t", id), host).unwrap();
    }
    let failed = world
        .situation()
        .without_hosts(&["a".into()], 0, FailureOptions::default());
    let failed = failed.unwrap();
    assert!(failed.survived());
    assert_eq!(failed.vms[0].host.as_deref(), Some("b"));
    let each = world
        .situation()
        .n_plus_one(0, FailureOptions::default(), |_, _| {});
    assert!(each.unwrap().iter().all(|failure| failure.survived()));
    assert!(
        world.limits.asked.lock().unwrap().is_empty(),
        "nobody is asked"
    );
}
