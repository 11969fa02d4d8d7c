//! Turns are taken in order, or not at all.

use std::sync::mpsc;

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn take<S: Send + 'static, R: Send + 'static>(
    turns: &Turns<S>,
    limit: Duration,
    work: impl FnOnce(&mut S, Answer<R, TurnError>) + Send + 'static,
) -> Reply<R, TurnError> {
    turns.take((Share::Work, None), limit, work, || {})
}

fn add(turns: &Turns<Vec<u32>>, number: u32) -> Reply<usize, TurnError> {
    take(turns, LONG, move |state, answer| {
        state.push(number);
        answer.give(Ok(state.len()));
    })
}

#[test]
fn turns_are_taken_in_order_and_end_before_the_thread_does() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let replies: Vec<_> = (0..50).map(|number| add(&turns, number)).collect();
    let all = take(
        &turns,
        LONG,
        |state: &mut Vec<u32>, answer: Answer<_, TurnError>| {
            answer.give(Ok(state.clone()));
        },
    );
    turns.close();
    assert!(turns.join(None));
    for (number, reply) in replies.into_iter().enumerate() {
        assert_eq!(reply.wait(), Ok(number + 1));
    }
    assert_eq!(all.wait().unwrap(), (0..50).collect::<Vec<_>>());
}

#[test]
fn whoever_waits_too_long_is_told_so_and_nothing_is_done() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (hold, held) = mpsc::channel::<()>();
    let first = take(
        &turns,
        LONG,
        move |_: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            let _ = held.recv();
            answer.give(Ok(()));
        },
    );
    let late = take(
        &turns,
        Duration::ZERO,
        |state: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            state.push(1);
            answer.give(Ok(()));
        },
    );
    hold.send(()).unwrap();
    assert_eq!(first.wait(), Ok(()));
    assert_eq!(late.wait(), Err(TurnError::Waited(Duration::ZERO)));
    assert_eq!(add(&turns, 2).wait(), Ok(1));
}

#[test]
fn no_more_than_the_bound_wait() {
    let turns = Turns::start("test", Vec::new(), 1).unwrap();
    let (hold, held) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let first = take(
        &turns,
        LONG,
        move |_: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            let _ = begun.send(());
            let _ = held.recv();
            answer.give(Ok(()));
        },
    );
    begins.recv().unwrap();
    let waits = add(&turns, 1);
    assert_eq!(add(&turns, 2).wait(), Err(TurnError::Crowded(1)));
    // What has to be done is done all the same.
    let anyway = turns.take_anyway(|state: &mut Vec<u32>, answer: Answer<usize, TurnError>| {
        state.push(3);
        answer.give(Ok(state.len()));
    });
    hold.send(()).unwrap();
    assert_eq!((first.wait(), waits.wait()), (Ok(()), Ok(1)));
    assert_eq!(anyway.wait(), Ok(2));
}

#[test]
fn after_a_panic_everybody_is_told_that_it_has_stopped() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let panics = take(
        &turns,
        LONG,
        |_: &mut Vec<u32>, _: Answer<(), TurnError>| panic!("on purpose"),
    );
    assert_eq!(panics.wait(), Err(TurnError::Stopped));
    assert_eq!(add(&turns, 1).wait(), Err(TurnError::Stopped));
}

/// A turn that goes on until it is let go.
fn hold(turns: &Turns<Vec<u32>>) -> (mpsc::Sender<()>, Reply<(), TurnError>) {
    let (hold, held) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let reply = take(turns, LONG, move |_: &mut Vec<u32>, answer| {
        let _ = begun.send(());
        let _ = held.recv();
        answer.give(Ok(()));
    });
    begins.recv().unwrap();
    (hold, reply)
}

#[test]
fn whoever_waits_behind_a_long_turn_is_told_while_it_goes_on() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    let soon = Duration::from_millis(20);
    let late = take(&turns, soon, |state: &mut Vec<u32>, answer| {
        state.push(1);
        answer.give(Ok(()));
    });
    assert_eq!(turns.waiting(), 1);
    // The turn before is still under way.
    assert_eq!(late.wait(), Err(TurnError::Waited(soon)));
    assert_eq!(turns.waiting(), 0);
    let_go.send(()).unwrap();
    assert_eq!(long.wait(), Ok(()));
    assert_eq!(add(&turns, 2).wait(), Ok(1), "it was done all the same");
}

#[tokio::test]
async fn a_future_that_waits_behind_a_long_turn_is_told_while_it_goes_on() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    let soon = Duration::from_millis(20);
    let late = take(&turns, soon, |state: &mut Vec<u32>, answer| {
        state.push(1);
        answer.give(Ok(()));
    });
    assert_eq!(late.await, Err(TurnError::Waited(soon)));
    let_go.send(()).unwrap();
    assert_eq!(long.await, Ok(()));
    assert_eq!(add(&turns, 2).await, Ok(1), "it was done all the same");
}

#[test]
fn a_turn_that_nobody_waits_for_is_not_taken_unless_it_has_to_be() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    drop(add(&turns, 1));
    drop(
        turns.take_anyway(|state: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            state.push(2);
            answer.give(Ok(()));
        }),
    );
    assert_eq!(turns.waiting(), 1);
    let_go.send(()).unwrap();
    assert_eq!(long.wait(), Ok(()));
    let all = take(&turns, LONG, |state: &mut Vec<u32>, answer| {
        answer.give(Ok(state.clone()));
    });
    assert_eq!(all.wait(), Ok(vec![2]));
}

#[test]
fn reads_and_work_are_taken_by_turns_where_both_wait() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    let push = |share, number: u32| {
        let work = move |state: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            state.push(number);
            answer.give(Ok(()));
        };
        turns.take((share, None), LONG, work, || {})
    };
    let mut replies: Vec<_> = (0..3).map(|number| push(Share::Reads, number)).collect();
    replies.extend((10..12).map(|number| push(Share::Work, number)));
    let_go.send(()).unwrap();
    assert_eq!(long.wait(), Ok(()));
    for reply in replies {
        assert_eq!(reply.wait(), Ok(()));
    }
    let all = take(&turns, LONG, |state: &mut Vec<u32>, answer| {
        answer.give(Ok(state.clone()));
    });
    assert_eq!(all.wait(), Ok(vec![0, 10, 1, 11, 2]));
}

#[test]
fn one_turn_of_each_asker_is_taken_after_the_other() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    let push = |asker: Option<&str>, number: u32| {
        let work = move |state: &mut Vec<u32>, answer: Answer<(), TurnError>| {
            state.push(number);
            answer.give(Ok(()));
        };
        let asker = asker.map(Arc::from);
        turns.take((Share::Work, asker), LONG, work, || {})
    };
    assert!(!turns.are_wanted()());
    let mut replies: Vec<_> = (0..4).map(|number| push(Some("greedy"), number)).collect();
    assert!(turns.are_wanted()());
    replies.extend((10..12).map(|number| push(Some("other"), number)));
    replies.push(push(None, 20));
    let_go.send(()).unwrap();
    assert_eq!(long.wait(), Ok(()));
    for reply in replies {
        assert_eq!(reply.wait(), Ok(()));
    }
    let all = take(&turns, LONG, |state: &mut Vec<u32>, answer| {
        answer.give(Ok(state.clone()));
    });
    assert_eq!(all.wait(), Ok(vec![0, 10, 20, 1, 11, 2, 3]));
}

#[test]
fn whoever_waits_when_turns_are_cut_off_is_told_so_and_the_end_is_waited_for_no_longer_than_said() {
    let turns = Turns::start("test", Vec::new(), 100).unwrap();
    let (let_go, long) = hold(&turns);
    let waits = add(&turns, 1);
    turns.cut_off();
    assert_eq!(waits.wait(), Err(TurnError::Stopped));
    assert_eq!(add(&turns, 2).wait(), Err(TurnError::Stopped));
    assert!(!turns.join(Some(Instant::now())), "a turn is under way");
    let_go.send(()).unwrap();
    assert_eq!(long.wait(), Ok(()));
    assert!(turns.join(None));
}
