//! Each place that is given ends once: it is confirmed, cancelled or expires.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use shuttle::sync::Mutex;
use shuttle::sync::atomic::Ordering;
use shuttle::thread;

use super::explore::explore;
use super::world::{BEGIN, EXPIRY, HOSTS, ROOM, World, generations};

/// How often something was acknowledged of each VM.
#[derive(Default)]
struct Ends(Mutex<BTreeMap<(String, &'static str), usize>>);

impl Ends {
    fn note(&self, id: &str, what: &'static str) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *ends.entry((id.to_owned(), what)).or_default() += 1;
    }

    fn count(&self, id: &str, what: &'static str) -> usize {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.get(&(id.to_owned(), what)).copied().unwrap_or(0)
    }
}

fn confirm(world: &World, ends: &Ends, id: &str) {
    let vm = id.to_owned();
    let turn = world
        .cluster()
        .turn(move |state| state.confirm(&[vm], None));
    if turn.wait().is_ok() {
        ends.note(id, "confirmed");
    }
}

fn cancel(world: &World, ends: &Ends, id: &str) {
    let vm = id.to_owned();
    let turn = world.cluster().turn(move |state| state.cancel(&[vm]));
    if turn.wait().is_ok() {
        ends.note(id, "cancelled");
    }
}

const IDS: [&str; 5] = ["v0", "v1", "v2", "v3", "v4"];

#[test]
fn every_reservation_ends_once_whatever_meets_it() {
    explore(1.0, || {
        let (world, ends) = (World::new(), Arc::new(Ends::default()));
        let mut threads = Vec::new();
        for some in [&IDS[..3], &IDS[3..]] {
            let (world, ends) = (world.clone(), ends.clone());
            threads.push(thread::spawn(move || {
                for id in some {
                    if world.place(id).unwrap().is_some() {
                        ends.note(id, "placed");
                        confirm(&world, &ends, id);
                    }
                }
            }));
        }
        let (one, told) = (world.clone(), ends.clone());
        threads.push(thread::spawn(move || {
            IDS.iter().for_each(|id| cancel(&one, &told, id));
        }));
        let one = world.clone();
        threads.push(thread::spawn(move || {
            let late = ["confirmed", "cancelled"];
            let placed = late.map(|id| one.place(id).unwrap().is_some());
            one.clock.store(BEGIN + EXPIRY, Ordering::SeqCst);
            // Nothing may have been decided since, that would have noticed it.
            let confirmed = one
                .cluster()
                .turn(move |state| state.confirm(&late[..1], None));
            assert!(confirmed.wait().is_err(), "its place has expired");
            let cancelled = one.cluster().turn(move |state| state.cancel(&late[1..]));
            // What has ended is a success; of what never had a place, nothing is known.
            assert_eq!(cancelled.wait().is_ok(), placed[1]);
        }));
        let one = world.clone();
        threads.push(thread::spawn(move || {
            one.reload(1);
            one.reload(2);
        }));
        for thread in threads {
            thread.join().unwrap();
        }
        // Whatever was not told of in time expires now.
        let later = BEGIN + 2 * EXPIRY;
        world.clock.store(later, Ordering::SeqCst);
        let expire = world
            .cluster()
            .turn(|state| state.confirm(&["nobody"], None));
        assert!(expire.wait().is_err());
        let vms = world.vms();
        for id in IDS {
            let count = |what| ends.count(id, what);
            let told = count("confirmed") + count("cancelled");
            assert!(told <= 1, "{id} has ended {told} times");
            let runs = vms.get(id).map(|pending| !pending);
            let expected = (count("confirmed") == 1).then_some(true);
            assert_eq!(runs, expected, "{id}: {vms:?}");
            assert!(told <= count("placed") + count("cancelled"));
        }
        // What has ended has given all of its room back, and not more.
        let free = HOSTS * ROOM - vms.len();
        for number in 0..=free {
            let place = world.place(&format!("more-{number}")).unwrap();
            assert_eq!(place.is_some(), number < free, "{number} of {free}");
        }
        world.restart(&generations()[2]).deployment.stop();
    });
}

#[test]
fn what_was_acknowledged_before_a_stop_is_kept() {
    explore(0.5, || {
        let (world, ends) = (World::new(), Arc::new(Ends::default()));
        let mut threads = Vec::new();
        for id in ["v0", "v1"] {
            let (world, ends) = (world.clone(), ends.clone());
            threads.push(thread::spawn(move || {
                // The stop may come before: then there is no cluster, or no turn.
                let cluster = world.deployment.cluster("c");
                let Ok(cluster) = cluster else { return };
                let asked = super::world::request(id);
                let placed = cluster.turn(move |state| state.place(asked, None));
                if placed.wait().is_ok() {
                    ends.note(id, "placed");
                }
            }));
        }
        let one = world.clone();
        let stopped = thread::spawn(move || {
            one.deployment.stop();
            one.store.inventory("c").unwrap().vms.len()
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let rows = world.store.inventory("c").unwrap();
        assert_eq!(rows.vms.len(), stopped.join().unwrap(), "after the stop");
        for id in ["v0", "v1"] {
            let kept = rows.vms.iter().filter(|vm| vm.id == id).count();
            assert_eq!(kept, ends.count(id, "placed"), "{id}");
        }
    });
}
