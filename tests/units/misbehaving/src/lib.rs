//! A unit for tests of the runtime: its setting `how` says in which way it goes
//! wrong. All of it is what a Rust author could do by mistake with the SDK; what
//! only a broken SDK could do is in the unit `unsound`.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    memory: Bytes,
}

/// What a balance part reads.
#[derive(Request)]
struct Cluster {
    #[table("hosts")]
    hosts: Rows<Host>,
}

#[derive(Settings)]
struct Settings {
    /// What goes wrong.
    #[setting(
        default = "keeps-everything",
        choices = [
            "keeps-everything",
            "removes-everything",
            "loops-forever",
            "eats-memory",
            "recurses-forever",
            "recurses-with-large-frames",
            "panics",
            "answers-nan",
            "answers-minus-infinity",
            "answers-infinity",
            "refuses",
            "fails",
            "remembers",
            "panics-when-used-again",
            "loops-when-used-again",
            "chatters",
        ]
    )]
    how: Text,
    /// Memory that is of no use here, to have a setting with bounds.
    #[setting(default = "1 GiB", least = 0, greatest = "1 TiB")]
    headroom: Bytes,
}

#[derive(Reason)]
enum Reason {
    /// is out of favour
    Disliked,
}

/// How often this instance has been called.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// What is left to be done for each host.
struct Need {
    removes: bool,
    /// Added to every cost.
    cost: f64,
}

/// Goes wrong in the way that shows before any host is looked at.
fn begin(settings: &Settings) -> Result<Need, Problem> {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    let mut need = Need {
        removes: false,
        cost: 0.0,
    };
    // Hyphens fill a default up that a test has put in place of another.
    match settings.how.trim_end_matches('-') {
        "removes-everything" => need.removes = true,
        "loops-forever" => loop_forever(),
        "eats-memory" => eat_memory(),
        "recurses-forever" => need.cost = deeper(calls).into(),
        "recurses-with-large-frames" => need.cost = deeper_with_large_frames(calls).into(),
        "panics" => panic!("the headroom of {} is beyond me", settings.headroom.0),
        "answers-nan" => need.cost = f64::NAN,
        "answers-minus-infinity" => need.cost = f64::NEG_INFINITY,
        "answers-infinity" => need.cost = f64::INFINITY,
        "refuses" => return Err(Problem::refused("the VM must name its owner")),
        "fails" => return Err(Problem::failed("the table of prices is empty")),
        "remembers" => need.cost = calls.into(),
        "panics-when-used-again" if calls > 0 => panic!("called {calls} times before"),
        "loops-when-used-again" if calls > 0 => loop_forever(),
        "chatters" => chatter(),
        _ => {}
    }
    Ok(need)
}

fn loop_forever() {
    loop {
        black_box(());
    }
}

fn eat_memory() {
    let mut eaten = Vec::new();
    loop {
        eaten.push(black_box(vec![1_u8; 1 << 20]));
    }
}

#[expect(unconditional_recursion, reason = "this is the point")]
fn deeper(depth: u32) -> u32 {
    black_box(deeper(depth.wrapping_add(1))).wrapping_add(1)
}

/// Rust keeps what has an address on a stack in linear memory, which is not the
/// stack that the runtime bounds.
#[expect(unconditional_recursion, reason = "this is the point")]
fn deeper_with_large_frames(depth: u32) -> u32 {
    let frame = black_box([depth; 1024]);
    deeper_with_large_frames(frame[7].wrapping_add(1)).wrapping_add(black_box(frame)[9])
}

fn chatter() {
    for line in 0..10_000 {
        log::info(&format!("line {line} \u{1b}[31m{}", "and on ".repeat(1000)));
    }
}

struct Misbehaving;

impl RowWise for Misbehaving {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(_: &(), settings: &Settings) -> Result<Need, Problem> {
        begin(settings)
    }
}

impl RowFilter for Misbehaving {
    fn keep(need: &Need, _: &Host) -> Verdict<Reason> {
        Verdict::keep_if(!need.removes, Reason::Disliked)
    }
}

impl RowCost for Misbehaving {
    /// The greater the host, the dearer.
    fn cost(need: &Need, host: &Host) -> f64 {
        need.cost + host.memory.0 as f64
    }
}

impl Balance for Misbehaving {
    type Request = Cluster;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = ();

    /// A finding for each host.
    fn balance(cluster: &Cluster, settings: &Settings) -> Result<Vec<Proposal<Reason>>, Problem> {
        begin(settings)?;
        let finding = |(row, _)| Proposal::Finding {
            reason: Reason::Disliked,
            rows: vec![("hosts", row)],
        };
        Ok(cluster.hosts.numbered().map(finding).collect())
    }
}

impl CheckSettings for Misbehaving {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        if settings.headroom.0 == 13 {
            return Err("a headroom of 13 bytes brings bad luck".into());
        }
        Ok(())
    }
}

placewright_sdk::export!(Misbehaving: filter, cost_function, balance, settings);
