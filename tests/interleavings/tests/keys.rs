//! A request with a key is carried out once.

use placewright_deployment::cluster::{Key, Placed};
use shuttle::sync::atomic::Ordering;
use shuttle::thread;

use super::explore::explore;
use super::world::{BEGIN, EXPIRY, World, generations, request};

fn key() -> Key {
    Key {
        caller: "me".into(),
        word: "k".to_owned(),
        again: false,
    }
}

/// The answer as it was given first: one that is given again after the reservation's end
/// says so besides.
fn first_told(placed: &Placed) -> String {
    match placed.repeated {
        true => placed.body.replace(r#","reservation":"expired""#, ""),
        false => placed.body.to_string(),
    }
}

#[test]
fn a_request_that_comes_several_times_gets_one_answer_which_is_kept() {
    explore(1.0, || {
        let world = World::new();
        let mut threads = Vec::new();
        for _ in 0..3 {
            let world = world.clone();
            threads.push(thread::spawn(move || {
                let cluster = world.cluster();
                let placed = cluster.turn(|state| state.place(request("v"), Some(key())));
                let placed = placed.wait().unwrap();
                // A kill at this moment must not take it back.
                let kept = world.store.answer("c", "me\nk").unwrap();
                let kept = kept.expect("what was answered is kept");
                let (_, body): (String, String) = serde_json::from_str(&kept.body).unwrap();
                assert_eq!(body, first_told(&placed));
                placed
            }));
        }
        let one = world.clone();
        let reload = thread::spawn(move || one.reload(1));
        let one = world.clone();
        let later = thread::spawn(move || one.clock.store(BEGIN + EXPIRY, Ordering::SeqCst));
        let answers: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        reload.join().unwrap();
        later.join().unwrap();
        let first: Vec<_> = answers.iter().filter(|it| !it.repeated).collect();
        assert_eq!(first.len(), 1, "it is decided once");
        assert!(answers.iter().all(|it| first_told(it) == *first[0].body));
        let number = world.cluster();
        let number = number.turn(|state| Ok(state.scheduler().next_number()));
        assert_eq!(number.wait().unwrap(), 2);
        world.restart(&generations()[1]).deployment.stop();
    });
}
