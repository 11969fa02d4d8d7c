use super::*;

/// 800 bytes, of which 100 are for callers that hold nothing, each 12 of them.
fn budget() -> Arc<Budget> {
    let purpose = Purpose {
        what: "bodies",
        option: Some("request-bodies"),
    };
    Arc::new(Budget {
        wait: Duration::from_millis(1),
        ..Budget::new(purpose, 800, 100)
    })
}

struct Callers(Arc<Budget>);

impl Callers {
    /// What a body of that caller on that cluster holds, or why it does not.
    async fn take(&self, caller: &str, cluster: &str, bytes: usize) -> Result<Held, Code> {
        let (caller, cluster) = (Arc::from(caller), Arc::from(cluster));
        let mut held = Held::new(&self.0, Some(&caller), Some(&cluster));
        match held.grow_to(bytes).await {
            Ok(()) => Ok(held),
            Err(problem) => Err(problem.code()),
        }
    }
}

#[tokio::test]
async fn one_caller_leaves_room_for_others() {
    let callers = Callers(budget());
    let mut first = callers.take("greedy", "a", 100).await.unwrap();
    first.grow_to(300).await.unwrap();
    let refused = callers.take("greedy", "b", 101).await;
    assert_eq!(refused.err(), Some(Code::TooManyRequests));
    callers.take("greedy", "b", 100).await.unwrap();
    callers.take("other", "b", 300).await.unwrap();
    first.shrink_to(100);
    callers.take("greedy", "b", 300).await.unwrap();
}

#[tokio::test]
async fn the_callers_of_one_cluster_leave_room_for_those_of_others() {
    let callers = Callers(budget());
    let _held = [
        callers.take("one", "a", 200).await.unwrap(),
        callers.take("two", "a", 200).await.unwrap(),
    ];
    let refused = callers.take("three", "a", 1).await;
    assert_eq!(refused.err(), Some(Code::TooManyRequests));
    callers.take("three", "b", 300).await.unwrap();
}

#[tokio::test]
async fn who_holds_nothing_has_a_small_part_when_others_have_taken_all() {
    let callers = Callers(budget());
    let mut held = vec![
        callers.take("one", "a", 350).await.unwrap(),
        callers.take("two", "b", 350).await.unwrap(),
    ];
    let refused = callers.take("one", "c", 1).await;
    assert_eq!(refused.err(), Some(Code::Unavailable));
    let refused = callers.take("three", "c", 13).await;
    assert_eq!(refused.err(), Some(Code::Unavailable));
    let small = callers.take("three", "c", 12).await.unwrap();
    let refused = callers.take("three", "c", 1).await;
    assert_eq!(refused.err(), Some(Code::Unavailable));
    held.pop();
    callers.take("three", "c", 100).await.unwrap();
    drop(small);
}

#[tokio::test]
async fn all_is_there_again_when_all_was_given_back() {
    let budget = budget();
    let callers = Callers(budget.clone());
    let mut held = callers.take("one", "a", 400).await.unwrap();
    held.shrink_to(10);
    held.shrink_to(0);
    drop(held);
    assert_eq!(budget.common.available_permits(), 700);
    assert_eq!(budget.reserve.available_permits(), 100);
    callers.take("one", "a", 400).await.unwrap();
}

#[tokio::test]
async fn whoever_holds_something_sees_that_another_one_waits() {
    let budget = Arc::new(Budget {
        wait: Duration::from_secs(60),
        ..Budget::new(budget().purpose, 800, 800)
    });
    let callers = Callers(budget.clone());
    let held = callers.take("one", "a", 800).await.unwrap();
    assert!(!held.is_wanted());
    let waiting = tokio::spawn(async move { callers.take("two", "b", 1).await.is_ok() });
    while !held.is_wanted() {
        tokio::task::yield_now().await;
    }
    drop(held);
    assert!(waiting.await.unwrap());
    assert!(!budget.is_short());
}
