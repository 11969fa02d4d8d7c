//! A server is killed under load, and everything that it acknowledged is there again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;
use super::listener::Listener;

/// How often the server is killed.
const KILLS: usize = 6;

/// What a client was told of a VM: its host, when its reservation ends, and whether it is
/// confirmed.
type Told = BTreeMap<String, (String, i64, bool)>;

/// Place VMs and confirm every other one, until the server answers no more.
fn drive(api: &Api, next: &AtomicUsize, told: &Mutex<Told>) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let id = format!("v{number}");
        let Ok(placed) = api.try_send("POST", "/v1/clusters/c/place", &vm(&id)) else {
            return;
        };
        let Some(host) = placed.body["host"].as_str() else {
            panic!("there is room for all: {placed:?}");
        };
        let expires = placed.body["expires"].as_i64().unwrap();
        let entry = (host.to_owned(), expires, false);
        told.lock().unwrap().insert(id.clone(), entry);
        if number.is_multiple_of(2) {
            let ids = json!({"vms": [&id]});
            match api.try_send("POST", "/v1/clusters/c/confirm", &ids) {
                Ok(confirmed) => assert_eq!(confirmed.status, 204, "{confirmed:?}"),
                Err(_) => {
                    // It may have been done or not.
                    told.lock().unwrap().remove(&id);
                    return;
                }
            }
            if let Some((_, _, confirmed)) = told.lock().unwrap().get_mut(&id) {
                *confirmed = true;
            }
        }
    }
}

/// Whatever was told of is there, and with a number of its own.
fn compare_events(heard: &[Value], vms: &BTreeMap<String, Value>, last: &mut u64) {
    for event in heard {
        let number = event["number"].as_u64().unwrap();
        assert!(number > *last, "{event} comes after {last}");
        *last = number;
        let kind = event["kind"].as_str().unwrap();
        let Some(id) = event["vm"].as_str() else {
            continue;
        };
        let vm = vms.get(id).unwrap_or_else(|| panic!("{event} is lost"));
        let host = &event["host"];
        let is_there = match kind {
            "vm-placed" => vm["reserved"]["host"] == *host || vm["host"] == *host,
            "vm-confirmed" => vm["host"] == *host && vm.get("reserved").is_none(),
            other => panic!("nothing was done that is called {other}"),
        };
        assert!(is_there, "{event}: {vm}");
    }
}

/// Every VM of the cluster, by its id.
fn all(api: &Api) -> BTreeMap<String, Value> {
    let (mut vms, mut after) = (BTreeMap::new(), String::new());
    loop {
        let page = api
            .get(&format!("/v1/clusters/c/vms?limit=1000{after}"))
            .body;
        for vm in page["items"].as_array().unwrap() {
            let id = vm["id"].as_str().unwrap().to_owned();
            assert!(vms.insert(id, vm.clone()).is_none(), "listed twice");
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return vms,
        }
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_acknowledged() {
    let data = folder();
    let (told, next) = (Mutex::new(Told::new()), AtomicUsize::new(0));
    let mut server = Server::start(data.path(), &["--durability", "normal"]);
    let made = Api::of(&server).send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 8));
    assert_eq!(made.status, 201);
    let (mut last, mut events) = (0, 0);
    for kill in 0..KILLS {
        let listener = Listener::open(&server, (kill > 0).then_some(last));
        let apis: Vec<Api> = (0..4).map(|_| Api::of(&server)).collect();
        let heard = std::thread::scope(|scope| {
            let listener = scope.spawn(|| listener.collect::<Vec<Value>>());
            let before = told.lock().unwrap().len();
            let drivers = apis
                .iter()
                .map(|api| scope.spawn(|| drive(api, &next, &told)));
            let drivers: Vec<_> = drivers.collect();
            // Each time at another moment of the load, however fast this machine is.
            let more = 25 + 13 * kill % 17;
            while told.lock().unwrap().len() < before + more
                && !drivers.iter().any(|driver| driver.is_finished())
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            server.signal("KILL");
            listener.join().unwrap()
        });
        server.ended();
        server = Server::start(data.path(), &["--durability", "normal"]);
        let api = Api::of(&server);
        let vms = all(&api);
        compare_events(&heard, &vms, &mut last);
        events += heard.len();
        let told = told.lock().unwrap();
        for (id, (host, expires, confirmed)) in &*told {
            let vm = vms
                .get(id)
                .unwrap_or_else(|| panic!("{id} is lost after kill {kill}"));
            let place = match confirmed {
                true => &vm["host"],
                false => &vm["reserved"]["host"],
            };
            assert_eq!(place, &json!(host), "{id}: {vm}");
            let left = vm["reserved"]["expires"].as_i64();
            assert_eq!(left, (!confirmed).then_some(*expires), "{id}: {vm}");
            assert!(
                !(*confirmed && vm.get("reserved").is_some()),
                "{id} has two places"
            );
        }
        let counted = &api.get("/v1/clusters/c").body["counted"];
        let places = counted["vms"].as_u64().unwrap() + counted["pending"].as_u64().unwrap();
        assert_eq!(places as usize, vms.len(), "no place is doubled");
    }
    assert!(told.lock().unwrap().len() > 100, "the load was none");
    assert!(events > 100, "{events} events were heard");
}
