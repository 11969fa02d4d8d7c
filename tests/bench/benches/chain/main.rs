//! The five reference units as a chain, beside their native twins: the same
//! sources, called unit by unit over the same tables, in the same run.
//!
//! Read the figures as ratios: `wasm` against `native`, `call/10 rows` against
//! `call/empty`.

mod balance;
mod batch;
mod fleet;
mod fused;
mod gpus;
mod guest;
mod keys;
mod native;
mod reuse;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use placewright_chain::{Reuse, Runner};
use placewright_engine::contract::{Answers, Part};
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_scheduler::BalanceOptions;

const HOSTS: [usize; 3] = [100, 1_000, 10_000];
const BUDGET: Duration = Duration::from_secs(10);

/// A whole decision without reuse: tables, calls, scales, sums, choice.
fn chain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chain");
    for hosts in HOSTS {
        let bench = fleet::Bench::new(hosts);
        let mut runner = Runner::new(bench.chain.clone(), BUDGET);
        let decided = runner.decide(&bench.inventory, &bench.request, 0.5);
        let chosen = decided
            .expect("the fleet has room")
            .chosen
            .expect("a host is left");
        // An explanation asks every unit about every host: so does the twin.
        let whole = runner.explain(&bench.inventory, &bench.request, 0.5);
        whole.expect("the decision can be explained");
        let twin = native::Twin::new(&runner);
        assert_eq!(
            twin.best(),
            Some(chosen.slot as usize),
            "the twin decides as the chain does"
        );
        let fused = fused::Fused::new(&bench.inventory, 2, 8 << 30);
        assert_eq!(fused.best(), twin.best(), "and so does the loop");
        group.bench_function(BenchmarkId::new("wasm", hosts), |bencher| {
            bencher.iter(|| black_box(runner.decide(&bench.inventory, &bench.request, 0.5)));
        });
        group.bench_function(BenchmarkId::new("native", hosts), |bencher| {
            bencher.iter(|| black_box(twin.best()));
        });
        group.bench_function(BenchmarkId::new("native, hand-fused", hosts), |bencher| {
            bencher.iter(|| black_box(fused.best()));
        });
    }
    group.finish();
}

/// Decisions one after the other with kept answers, what they reserve and record
/// included, beside the native twin of one decision that looks at every host, unit by unit
/// and as one loop.
fn reused(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reuse");
    let kept = Reuse {
        bytes: 256 << 20,
        ..Reuse::default()
    };
    group.throughput(Throughput::Elements(1));
    let plain = reuse::Variant::default();
    let variants = [
        plain.of(1_000),
        plain.of(5_000),
        plain.of(10_000),
        plain.of(100_000),
        plain.scaled("min-max"),
        plain.scaled("rank"),
        plain.with_groups(1_000),
        plain.with_a_whole_table(),
        plain.with_networks(100),
    ];
    for variant in variants {
        // Made only if it is wanted.
        let mut made = None;
        let (name, hosts) = (variant.to_string(), variant.hosts);
        group.bench_function(BenchmarkId::new(&name, hosts), |bencher| {
            let coming = made.get_or_insert_with(|| reuse::Coming::new(variant, Some(kept)));
            bencher.iter(|| coming.come());
        });
        let Some(coming) = made else { continue };
        println!("{name}, {hosts} hosts: {}", coming.told());
        if variant.networks > 0 {
            // The twin knows nothing of networks.
            continue;
        }
        let twin = coming.twin();
        let of_twin = BenchmarkId::new(format!("native, {name}"), hosts);
        group.bench_function(of_twin, |bencher| {
            bencher.iter(|| black_box(twin.best_scaled(variant.scaling)));
        });
        if variant.is_of_five_units_alone() {
            let fused = coming.fused();
            assert_eq!(fused.best(), twin.best(), "the loop decides as the twin");
            let of_loop = BenchmarkId::new(format!("native, hand-fused, {name}"), hosts);
            group.bench_function(of_loop, |bencher| {
                bencher.iter(|| black_box(fused.best()));
            });
        }
    }
    group.finish();
}

/// One of the five units in Python or JavaScript: a call beside its twin's, and decisions
/// one after the other with kept answers.
fn in_other_languages(criterion: &mut Criterion) {
    for language in ["python", "javascript"] {
        let name = format!("cpu-in-{language}");
        if let Some(component) = guest::component(&name) {
            in_another_language(criterion, language, &guest::Units::load(&component, &name));
        }
    }
}

fn in_another_language(criterion: &mut Criterion, language: &str, units: &guest::Units) {
    let mut group = criterion.benchmark_group(language);
    for rows in [0, 1, 10, 10_000] {
        let call = guest::call(rows);
        for unit in [&units.rust, &units.guest] {
            let mut instance = unit.instantiate(Part::Judge).expect("the unit starts");
            group.bench_function(format!("call of {}/{rows}", unit.name()), |bencher| {
                bencher.iter(|| {
                    let answer = instance.judge(Answers::BOTH, &call, rows, BUDGET);
                    black_box(answer.expect("the call is good"))
                });
            });
        }
    }
    for unit in [&units.rust, &units.guest] {
        group.bench_function(format!("fresh instance of {}", unit.name()), |bencher| {
            bencher.iter(|| black_box(unit.instantiate(Part::Judge)));
        });
    }
    group.throughput(Throughput::Elements(1));
    let variant = reuse::Variant::default();
    let hosts = variant.hosts;
    let kept = Reuse {
        bytes: 256 << 20,
        ..Reuse::default()
    };
    let mut made = None;
    group.bench_function(BenchmarkId::new("reuse", hosts), |bencher| {
        let make =
            || reuse::Coming::under(&units.policy(), &units.generation(), variant, Some(kept));
        let coming = made.get_or_insert_with(make);
        bencher.iter(|| coming.come());
    });
    if let Some(coming) = made {
        println!("{hosts} hosts: {}", coming.told());
        for line in coming.told_by_unit() {
            println!("  {line}");
        }
        let twin = coming.twin();
        group.bench_function(BenchmarkId::new("native", hosts), |bencher| {
            bencher.iter(|| black_box(twin.best()));
        });
    }
    group.finish();
}

/// A decision by placement keys, beside the same units called natively one by one
/// over the tables that they were sent.
fn placement_keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("placement keys");
    let hosts = 10_000;
    let bench = keys::bench(hosts);
    let mut runner = Runner::new(bench.chain.clone(), BUDGET);
    let decided = runner.decide(&bench.inventory, &bench.request, 0.5);
    assert!(decided.expect("the keys are good").chosen.is_some());
    let whole = runner.explain(&bench.inventory, &bench.request, 0.5);
    whole.expect("the decision can be explained");
    let twin = native::Twin::new(&runner);
    group.sample_size(20);
    group.bench_function(BenchmarkId::new("wasm", hosts), |bencher| {
        bencher.iter(|| black_box(runner.decide(&bench.inventory, &bench.request, 0.5)));
    });
    group.bench_function(BenchmarkId::new("native", hosts), |bencher| {
        bencher.iter(|| black_box(twin.judge_all()));
    });
    group.finish();
}

/// A whole batch: its order, and a decision for each VM.
fn batches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("batch");
    let (hosts, vms) = (1_000, 5_000);
    let (mut scheduler, batch) = batch::batch(hosts, vms);
    group.sample_size(10);
    group.bench_function(format!("{hosts} hosts, {vms} VMs"), |bencher| {
        bencher.iter_batched(
            || batch.clone(),
            |batch| black_box(scheduler.place_batch(batch)),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// One step of a plan: the unit is asked for the best of all moves, and the chain
/// whether it would make it; beside the unit alone.
fn balancing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("balance step");
    let (hosts, vms) = (80, 800);
    let mut scheduler = balance::scheduler(hosts, vms);
    let options = BalanceOptions {
        moves: 1,
        ..BalanceOptions::default()
    };
    let plan = scheduler.plan_balance(0, &options).expect("a plan");
    assert_eq!(plan.moves.len(), 1, "there is something to move: {plan:?}");
    group.sample_size(20);
    group.bench_function(format!("{hosts} hosts, {vms} VMs"), |bencher| {
        bencher.iter(|| black_box(scheduler.plan_balance(0, &options)));
    });
    group.bench_function(format!("{hosts} hosts, {vms} VMs, unit alone"), |bencher| {
        bencher.iter(|| black_box(scheduler.balance(0)));
    });
    group.finish();
}

/// A decision by fragmentation gradient descent, what it takes and records included: a pod
/// comes to a cluster of 1,213 nodes that is well filled, and the oldest one leaves.
fn fgd(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fgd");
    let mut gpus = gpus::Gpus::new();
    group.throughput(Throughput::Elements(1));
    group.bench_function("1213 nodes", |bencher| bencher.iter(|| gpus.come()));
    group.finish();
}

/// One call on a warm instance: nothing to say, and 10 rows of 9 columns.
fn call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    let (unit, ten, empty) = fleet::nine_columns();
    let mut instance = unit.instantiate(Part::Judge).expect("the unit starts");
    let nothing = Answers {
        verdicts: false,
        costs: false,
    };
    let answer = instance.judge(nothing, &empty, 0, BUDGET);
    answer.expect("a call without rows is answered");
    group.bench_function("empty", |bencher| {
        bencher.iter(|| black_box(instance.judge(nothing, &empty, 0, BUDGET)));
    });
    let answer = instance.judge(Answers::BOTH, &ten, 10, BUDGET);
    answer.expect("a call of ten rows is answered");
    group.bench_function("10 rows", |bencher| {
        bencher.iter(|| black_box(instance.judge(Answers::BOTH, &ten, 10, BUDGET)));
    });
    group.finish();
}

/// What it takes to have a unit: an instance, the code from the cache, a compile.
fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    let bytes = fleet::component("memory");
    let engine = Engine::new(Limits::default(), None).expect("an engine");
    let unit = Unit::load(&engine, &bytes, "memory").expect("the unit loads");
    group.bench_function("fresh instance", |bencher| {
        bencher.iter(|| black_box(unit.instantiate(Part::Judge)));
    });
    let cache = tempfile::tempdir().expect("a folder");
    let cached = Engine::new(Limits::default(), Some(cache.path())).expect("an engine");
    Unit::load(&cached, &bytes, "memory").expect("the unit loads");
    group.bench_function("from the cache", |bencher| {
        bencher.iter(|| black_box(Unit::load(&cached, &bytes, "memory")));
    });
    group.sample_size(10);
    group.bench_function("compile", |bencher| {
        bencher.iter(|| black_box(Unit::load(&engine, &bytes, "memory")));
    });
    group.finish();
}

criterion_group!(
    benches,
    chain,
    call,
    load,
    placement_keys,
    reused,
    in_other_languages,
    batches,
    balancing,
    fgd
);
criterion_main!(benches);
