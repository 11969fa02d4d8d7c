//! Plays many histories, on all cores, and tells the first that is at fault, shrunk, or all of them.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use clap::Parser;
use placewright_referee::{Match, POLICIES, Served, histories};
use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Play many histories against a server in memory, and tell the first that is at fault, shrunk, or
/// all of them.
#[derive(Parser)]
struct Options {
    /// How many histories.
    #[arg(long, default_value_t = 20_000)]
    histories: u64,
    /// Requests of a history, at most.
    #[arg(long, default_value_t = 24)]
    requests: usize,
    /// Where chance begins: the same number gives the same histories.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Go on with a run of the same seed and as many threads that was ended after so many
    /// histories: those that servers have played to their end are passed over.
    #[arg(long, default_value_t = 0)]
    after: u64,
    /// How many are played beside each other.
    #[arg(long, default_value_t = 2)]
    threads: u64,
    /// Play them under this policy alone.
    #[arg(long)]
    policy: Option<String>,
    /// Play on after a fault, and tell all of them.
    #[arg(long)]
    keep_going: bool,
}

/// After so many histories a server is made anew.
const OF_A_SERVER: u64 = 5000;

/// From one line on how far it is to the next.
const BETWEEN: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let options = Options::parse();
    let only = match &options.policy {
        None => None,
        Some(name) => match POLICIES.iter().position(|it| it.name == name) {
            Some(number) => Some(number),
            None => {
                let names: Vec<_> = POLICIES.iter().map(|it| it.name).collect();
                eprintln!(
                    "referee: no policy \"{name}\"; there are {}",
                    names.join(", ")
                );
                return ExitCode::from(2);
            }
        },
    };
    let begin = Instant::now();
    let (played, effects) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_over = AtomicBool::new(false);
    let (done, is_done) = channel::<()>();
    let threads = options.threads.max(1);
    let rounds_passed = options.after / threads / OF_A_SERVER;
    let is_fair = std::thread::scope(|scope| {
        let passed = threads * rounds_passed * OF_A_SERVER;
        let (counted, of) = (&played, options.histories.saturating_sub(passed));
        scope.spawn(move || {
            // Nothing is ever sent: it ends when the sender is dropped.
            while is_done.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                let (played, seconds) =
                    (counted.load(Ordering::Relaxed), begin.elapsed().as_secs());
                eprintln!("{played} of {of} histories after {seconds} s");
            }
        });
        let playing = (0..threads).map(|thread| {
            let (options, played, effects, is_over) = (&options, &played, &effects, &is_over);
            scope.spawn(move || {
                let mut round = rounds_passed;
                let share = options.histories / threads;
                let mut left = share.saturating_sub(round * OF_A_SERVER);
                let mut is_fair = true;
                while left > 0 && !is_over.load(Ordering::Relaxed) {
                    let cases = left.min(OF_A_SERVER);
                    round += 1;
                    let seed = options.seed ^ (thread << 48) ^ (round << 32);
                    let counts = (played, effects);
                    let (done, fault) = some(options, only, (seed, cases), counts);
                    left = left.saturating_sub(done);
                    if let Some(fault) = fault {
                        is_fair = false;
                        eprintln!("{fault}");
                        // A server that does not start would not start again.
                        if !options.keep_going || done == 0 {
                            is_over.store(true, Ordering::Relaxed);
                        }
                    }
                }
                is_fair
            })
        });
        let playing: Vec<_> = playing.collect();
        let fair: Vec<bool> = playing
            .into_iter()
            .map(|it| it.join().unwrap_or(false))
            .collect();
        drop(done);
        fair.into_iter().all(|it| it)
    });
    let seconds = begin.elapsed().as_secs_f64();
    let played = played.into_inner();
    println!(
        "{played} histories in {seconds:.1} s ({:.0} a second), {} requests with an effect",
        played as f64 / seconds,
        effects.into_inner()
    );
    match is_fair {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Play some histories against one server, up to the first at fault. How many were played, that
/// one among them, and the fault.
fn some(
    options: &Options,
    only: Option<usize>,
    (seed, cases): (u64, u64),
    (played, effects): (&AtomicU64, &AtomicU64),
) -> (u64, Option<String>) {
    let served = match Served::start() {
        Ok(served) => std::cell::RefCell::new(served),
        Err(fault) => return (0, Some(fault)),
    };
    let config = Config {
        cases: u32::try_from(cases).unwrap_or(u32::MAX),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let (number, done) = (std::cell::Cell::new(0_u64), std::cell::Cell::new(0_u64));
    let is_shrinking = std::cell::Cell::new(false);
    let strategy = histories(options.requests).prop_map(move |mut history| {
        history.policy = only.unwrap_or(history.policy);
        history
    });
    let judged = TestRunner::new_with_rng(config, rng).run(&strategy, |history| {
        number.set(number.get() + 1);
        let name = format!("c{}", number.get());
        let outcome = Match::play(&mut served.borrow_mut(), &name, &history);
        if !is_shrinking.get() {
            done.set(done.get() + 1);
            played.fetch_add(1, Ordering::Relaxed);
            let with_effect = outcome
                .as_ref()
                .map_or(0, |with_effect| *with_effect as u64);
            effects.fetch_add(with_effect, Ordering::Relaxed);
        }
        outcome.map(drop).map_err(|fault| {
            is_shrinking.set(true);
            TestCaseError::fail(fault)
        })
    });
    let fault = match judged {
        Ok(()) => None,
        Err(TestError::Fail(fault, history)) => {
            let policy = POLICIES[history.policy].name;
            let first = format!("seed {seed}, history {}", done.get());
            Some(format!("{first}, under {policy}: {}", fault.message()))
        }
        Err(TestError::Abort(why)) => Some(why.message().to_owned()),
    };
    (done.get(), fault)
}
