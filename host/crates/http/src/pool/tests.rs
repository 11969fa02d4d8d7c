//! Questions share their threads.

use super::*;

fn about(caller: &str, cluster: &str) -> About {
    About {
        caller: caller.into(),
        cluster: Some(cluster.into()),
    }
}

/// The names of those that are let begin, in their order, each as soon as the one before has
/// ended; what is asked first is under way meanwhile.
async fn order(slots: usize, asked: &[(&str, &str)]) -> Vec<(String, String)> {
    let pool = Pool::new("questions", slots, Duration::from_secs(60));
    let (first, rest) = asked.split_first().unwrap();
    let mut running = vec![pool.admit(about(first.0, first.1)).await.unwrap()];
    let mut waiting: Vec<_> = rest
        .iter()
        .map(|(caller, cluster)| pool.enqueue(about(caller, cluster)).unwrap())
        .collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        drop(running.pop());
        let begun = waiting
            .iter_mut()
            .position(|(receiver, _)| match receiver.try_recv() {
                Ok(permit) => {
                    let About { caller, cluster } = permit.about.clone();
                    let cluster = cluster.unwrap_or_default();
                    order.push((caller.to_string(), cluster.to_string()));
                    running.push(permit);
                    true
                }
                Err(_) => false,
            });
        drop(waiting.remove(begun.expect("nobody begins")));
    }
    order
}

fn names(order: &[(&str, &str)]) -> Vec<(String, String)> {
    let names = order.iter();
    names
        .map(|(caller, cluster)| ((*caller).to_owned(), (*cluster).to_owned()))
        .collect()
}

#[tokio::test]
async fn clusters_take_turns_and_so_do_the_callers_in_each() {
    let asked = [
        ("a", "x"),
        ("a", "x"),
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "x"),
    ];
    let expected = [("a", "y"), ("b", "x"), ("a", "x"), ("b", "x"), ("a", "x")];
    assert_eq!(order(1, &asked).await, names(&expected));
}

#[tokio::test]
async fn one_caller_has_half_of_the_threads_at_most() {
    let pool = Pool::new("questions", 4, Duration::from_secs(60));
    let mut asked: Vec<_> = (0..4)
        .map(|_| pool.enqueue(about("a", "x")).unwrap())
        .collect();
    let mut running = Vec::new();
    for (receiver, _) in &mut asked {
        running.extend(receiver.try_recv().ok());
    }
    assert_eq!(running.len(), 2);
    let (mut other, _place) = pool.enqueue(about("b", "x")).unwrap();
    assert!(other.try_recv().is_ok(), "another caller has to wait");
}

#[tokio::test]
async fn all_callers_of_one_cluster_leave_a_place_for_others() {
    let pool = Pool::new("questions", 4, Duration::from_secs(60));
    let mut asked: Vec<_> = (0..8)
        .map(|number| pool.enqueue(about(&format!("c{number}"), "x")).unwrap())
        .collect();
    let mut running = Vec::new();
    for (receiver, _) in &mut asked {
        running.extend(receiver.try_recv().ok());
    }
    assert_eq!(running.len(), 3);
    let (mut other, _place) = pool.enqueue(about("z", "y")).unwrap();
    let other = other.try_recv();
    assert!(other.is_ok(), "another cluster has to wait");
    // Whoever comes next to the other cluster goes before all who wait in the first one.
    let (mut next, _place) = pool.enqueue(about("z", "y")).unwrap();
    drop(other);
    assert!(next.try_recv().is_ok());
}

#[tokio::test]
async fn no_more_questions_wait_than_their_bounds_and_who_goes_waits_no_more() {
    let pool = Pool::new("questions", 1, Duration::from_secs(60));
    let running = pool.admit(about("a", "x")).await.unwrap();
    let mut waiting: Vec<_> = (0..WAITING_OF_ONE)
        .map(|_| pool.enqueue(about("a", "x")).unwrap())
        .collect();
    let refused = pool.enqueue(about("a", "y")).err().unwrap();
    assert_eq!(refused.code(), Code::TooManyRequests);
    waiting.pop();
    waiting.push(pool.enqueue(about("a", "y")).unwrap());
    for caller in 0..WAITING - WAITING_OF_ONE {
        let caller = format!("c{caller}");
        waiting.push(pool.enqueue(about(&caller, "x")).unwrap());
    }
    // There is a place for whoever has none, and no second one.
    waiting.push(pool.enqueue(about("z", "x")).unwrap());
    let refused = pool.enqueue(about("z", "x")).err().unwrap();
    assert_eq!(refused.code(), Code::Unavailable);
    drop((waiting, running));
    let state = pool.lock();
    assert_eq!((state.running, state.waiting.len()), (0, 0));
    assert!(state.callers.is_empty() && state.clusters.is_empty());
}

#[tokio::test]
async fn what_nobody_waits_for_is_told_to_end() {
    let pool = Pool::new("questions", 1, Duration::from_secs(60));
    let (begun, begins) = oneshot::channel();
    let (ended, ends) = oneshot::channel();
    let asking = pool.clone();
    let question = tokio::spawn(async move {
        let work = move |cancel: Cancel| {
            let _ = begun.send(());
            let why = loop {
                match cancel.check() {
                    Ok(()) => std::thread::yield_now(),
                    Err(why) => break why,
                }
            };
            let _ = ended.send(why);
            Ok::<_, Problem>(())
        };
        asking.run((&"a".into(), &"x".into()), work).await
    });
    begins.await.unwrap();
    question.abort();
    assert_eq!(
        ends.await,
        Ok(placewright_scheduler::InterruptedError::Cancelled)
    );
}

#[tokio::test]
async fn what_takes_too_long_is_told_to_end() {
    let pool = Pool::new("questions", 1, Duration::ZERO);
    let work = |cancel: Cancel| {
        cancel
            .check()
            .map_err(|why| Problem::new(Code::TimedOut, why))
    };
    let refused = pool.run((&"a".into(), &"x".into()), work).await;
    assert_eq!(refused.err().map(|it| it.code()), Some(Code::TimedOut));
}
