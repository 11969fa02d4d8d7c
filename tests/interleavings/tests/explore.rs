//! Schedules are drawn from fixed seeds, or one is run again.

use std::sync::Arc;

use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::{Config, FailurePersistence, Runner};

/// Schedules of each kind, unless the environment says how many.
const ITERATIONS: usize = 300;

/// In how many places the second kind of schedules departs from priorities: most
/// mistakes need two.
const DEPTH: usize = 3;

fn config() -> Config {
    let mut config = Config::new();
    // Units run on the stacks of threads, and may take 1 MiB there.
    config.stack_size = 4 << 20;
    config.failure_persistence = FailurePersistence::Print;
    config
}

/// Run `test` in many orders: in ones drawn evenly, and in ones in which some threads
/// are far behind others. `share` of the usual number of times.
pub(crate) fn explore(share: f64, test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    if let Ok(schedule) = std::env::var("SCHEDULE") {
        let scheduler = ReplayScheduler::new_from_encoded(&schedule);
        Runner::new(scheduler, config()).run(move || test());
        return;
    }
    let iterations = std::env::var("ITERATIONS").ok();
    let iterations = iterations.and_then(|number| number.parse().ok());
    let iterations = (iterations.unwrap_or(ITERATIONS) as f64 * share).ceil() as usize;
    let even = RandomScheduler::new_from_seed(7, iterations);
    let again = test.clone();
    Runner::new(even, config()).run(move || again());
    let uneven = PctScheduler::new_from_seed(7, DEPTH, iterations);
    Runner::new(uneven, config()).run(move || test());
}
