use std::num::NonZeroUsize;
use std::sync::Arc;

use super::super::trace::{Rows, TraceError};
use super::*;
use placewright_chain::Reuse;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_policy::Policy;

const NODES: &str = "node,cpu_milli,memory_mib,gpu,model\n";
const PODS: &str = "pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

fn rows(name: &str, text: String) -> Rows {
    Rows::new(name, Box::new(std::io::Cursor::new(text))).unwrap()
}

fn nodes(text: &str) -> Result<Nodes, TraceError> {
    Nodes::parse(rows("n.csv", format!("{NODES}{text}")))
}

fn pods(text: &str) -> Result<PodList, TraceError> {
    PodList::parse(rows("p.csv", format!("{PODS}{text}")))
}

fn said<T>(read: Result<T, TraceError>) -> String {
    read.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

/// Two nodes with three GPUs of two models.
fn three_gpus() -> Nodes {
    nodes("0,8000,16384,2,T4\n1,8000,16384,1,A10\n").unwrap()
}

/// The units that these policies need, as they come with the program.
fn units(names: &[&str]) -> Generation {
    let engine = Engine::new(Limits::default(), None).unwrap();
    let embedded = plugins::UNITS
        .iter()
        .filter(|unit| names.contains(&unit.name));
    let units = embedded.map(|unit| Unit::load(&engine, unit.bytes, unit.name).unwrap());
    Generation::new(units.collect::<Vec<_>>()).unwrap()
}

fn policy(name: &str, units: &Generation) -> Arc<Policy> {
    let text = plugins::policy(name).unwrap().text;
    Arc::new(Policy::load(text, "p.toml", units, Schema::built_in()).unwrap())
}

fn replay(nodes: &Nodes, list: &PodList, name: &str) -> GpuReport {
    let units = units(&["gpu-fit", "gpu-best-fit", "fgd"]);
    let replay = GpuReplay {
        nodes,
        list,
        seed: 5,
        limit: None,
        reuse: Some(Reuse::default()),
    };
    replay
        .run(&policy(name, &units), &units, |_, _| {})
        .unwrap()
}

#[test]
fn nodes_and_pods_are_read_in_millicores_bytes_and_thousandths() {
    let nodes = nodes("7,64000,262144,2,P100\n8,500,1,0,\n").unwrap();
    let read = |node: &GpuNode| (node.cpu, node.memory, node.gpus, node.model.to_string());
    assert_eq!(read(&nodes.nodes[0]), (64_000, 256 << 30, 2, "P100".into()));
    assert_eq!(read(&nodes.nodes[1]), (500, 1 << 20, 0, String::new()));
    assert_eq!(nodes.thousandths(), 2000);
    let list = pods("0,6000,12288,1,460,\n1,3000,1,0,0,\n2,1,1,4,1000,A10|T4\n").unwrap();
    let thousandths: Vec<i64> = list.pods.iter().map(Pod::thousandths).collect();
    assert_eq!(thousandths, [460, 0, 4000]);
    assert_eq!(
        (list.pods[0].memory, &*list.pods[2].models),
        (12 << 30, "A10|T4")
    );
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_line_and_column() {
    assert_eq!(
        said(nodes("0,64000,262144,2,P100\n1,64000,262144,two,P100\n")),
        "n.csv, line 3, column 4 (gpu): \"two\" is not a whole number from 0 to 1000"
    );
    assert_eq!(
        said(pods("0,6000,12288,1,1001,\n")),
        "p.csv, line 2, column 5 (gpu_milli): \"1001\" is not a whole number from 0 to 1000, thousandths of a GPU"
    );
    assert_eq!(
        said(pods("0,6000,12288,1,0,\n")),
        "p.csv, line 2, column 5 (gpu_milli): \"0\" is not more than 0, as it must be of a pod with GPUs"
    );
    assert_eq!(
        said(pods("0,-1,12288,1,500,\n")),
        "p.csv, line 2, column 2 (cpu_milli): \"-1\" is not a whole number, 0 or more, that a node could have"
    );
    assert_eq!(
        said(pods("0,1,9007199254740991,1,500,\n")),
        "p.csv, line 2, column 3 (memory_mib): \"9007199254740991\" is not a whole number, 0 or more, that a node could have"
    );
    assert_eq!(
        said(pods("0,6000\n")),
        "p.csv, line 2: 2 fields, where the header names 6 columns"
    );
    assert_eq!(said(pods("")), "p.csv has no VM that can be replayed");
    assert_eq!(
        said(PodList::parse(rows("x.csv", NODES.to_owned()))),
        "x.csv is no list of pods: its first line must name the columns \
         pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec, and it names \
         node,cpu_milli,memory_mib,gpu,model"
    );
    let published = "workload,policy,arrived_pct,gpu_alloc_pct_mean,gpu_alloc_pct_sd\n";
    assert_eq!(
        said(Published::parse(rows(
            "r.csv",
            format!("{published}default,fgd,95,many,0.1\n")
        ))),
        "r.csv, line 2, column 4 (gpu_alloc_pct_mean): \"many\" is not a number from 0 to 100, percent"
    );
}

#[test]
fn pods_come_shuffled_and_are_drawn_again_until_enough_is_asked_for() {
    let text: String = (0..20)
        .map(|pod| format!("{pod},1000,1,1,{},\n", 10 + pod))
        .collect();
    let list = pods(&text).unwrap();
    let order = arrivals(&list.pods, 1000, 3);
    let mut first: Vec<usize> = order[..20].to_vec();
    assert!(!first.is_sorted());
    first.sort_unstable();
    assert_eq!(first, Vec::from_iter(0..20));
    let asked =
        |order: &[usize]| -> i64 { order.iter().map(|pod| list.pods[*pod].thousandths()).sum() };
    assert!(asked(&order) >= 1300 && asked(&order[..order.len() - 1]) < 1300);
    assert_eq!(arrivals(&list.pods, 1000, 3), order);
    assert_ne!(arrivals(&list.pods, 1000, 4), order);
    let no_gpus = pods("0,1000,1,0,0,\n").unwrap();
    assert_eq!(arrivals(&no_gpus.pods, 1000, 3), [0]);
}

#[test]
fn typical_shapes_are_the_most_frequent_ones_up_to_95_percent() {
    let mut text = "0,1000,1,1,500,\n".repeat(60) + &"0,2000,1,1,500,\n".repeat(34);
    // Memory makes no other shape; of the rare ones only the first is wanted.
    text += &("0,2000,9,1,500,\n".to_owned()
        + &"0,3000,1,1,500,\n".repeat(3)
        + "0,9,1,0,0,\n0,8,1,0,0,\n");
    let shapes = typical(&pods(&text).unwrap().pods);
    let counts: Vec<(i64, usize)> = shapes
        .iter()
        .map(|(shape, count)| (shape.cpu, *count))
        .collect();
    assert_eq!(counts, [(1000, 60), (2000, 35)]);
    let rare: Vec<usize> = typical(
        &pods("0,1,1,1,500,\n0,2,1,1,500,\n0,2,1,1,500,\n")
            .unwrap()
            .pods,
    )
    .iter()
    .map(|(_, count)| *count)
    .collect();
    assert_eq!(rare, [2, 1]);
}

#[test]
fn a_policy_is_given_the_shapes_that_it_lacks() {
    let units = units(&["fgd"]);
    let shapes = typical(&pods("0,4000,1,1,500,T4|A10\n").unwrap().pods);
    let given = with_typical(&policy("gpu-fgd", &units), &shapes);
    let stage = &given.stages[0];
    for settings in [
        &stage.filters[0].settings,
        &stage.costs[0].settings,
        &given.effects[0].settings,
    ] {
        let row = &settings.rows("typical")[0];
        assert_eq!(row.number("cpu"), Some(4.0));
        assert_eq!(row.text("models"), Some("T4|A10"));
        assert_eq!(row.integer("weight"), Some(1));
    }
    // Those that it has stay.
    let again = with_typical(&given, &typical(&pods("0,1,1,1,900,\n").unwrap().pods));
    assert_eq!(again, given);
}

#[test]
fn a_small_cluster_fills_up_as_worked_out_by_hand() {
    let list = pods("0,1000,1,1,1000,\n").unwrap();
    let report = replay(&three_gpus(), &list, "gpu-best-fit");
    // Each pod asks for a third of the cluster: three find a GPU, the fourth none.
    assert_eq!((report.arrivals, report.placed, report.rejected), (4, 3, 1));
    assert_eq!((report.arrived_pct, report.allocated_pct), (133.33, 100.0));
    let points: Vec<(u32, f64)> = report
        .points
        .iter()
        .map(|point| (point.arrived_pct, point.allocated_pct))
        .collect();
    assert_eq!(points, [(95, 100.0), (100, 100.0), (130, 100.0)]);
}

#[test]
fn cpu_and_models_keep_pods_out() {
    let only_a10 = pods("0,1000,1,1,1000,A10\n").unwrap();
    let report = replay(&three_gpus(), &only_a10, "gpu-random");
    assert_eq!((report.placed, report.rejected), (1, 3));
    let greedy = pods("0,5000,1,1,1000,\n").unwrap();
    let report = replay(&three_gpus(), &greedy, "gpu-random");
    assert_eq!((report.placed, report.rejected), (2, 2));
    let unknown = pods("0,1000,1,1,1000,H100\n").unwrap();
    let report = replay(&three_gpus(), &unknown, "gpu-fgd");
    assert_eq!((report.placed, report.points[2].allocated_pct), (0, 0.0));
}

fn study() -> (Study, Generation) {
    let units = units(&["gpu-fit", "fgd"]);
    let list = pods("0,1000,1,1,400,\n1,500,1,1,700,\n2,2000,1,2,1000,\n3,100,1,0,0,\n").unwrap();
    let named = |name: &str| (name.to_owned(), policy(name, &units));
    let study = Study {
        nodes: three_gpus(),
        lists: vec![("default".into(), list)],
        policies: vec![named("gpu-random"), named("gpu-fgd")],
        seeds: 3,
    };
    (study, units)
}

#[test]
fn results_do_not_depend_on_how_many_replays_run_at_once() {
    let (study, units) = study();
    let counted = std::sync::atomic::AtomicUsize::new(0);
    let run = |threads: usize| {
        let threads = NonZeroUsize::new(threads).unwrap();
        let reports = study.run(&units, threads, |pods| {
            counted.fetch_add(pods, std::sync::atomic::Ordering::Relaxed);
        });
        Comparison::new(&study, &reports.unwrap(), &Published::default())
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert_eq!(counted.into_inner(), 2 * study.decisions());
    assert_eq!(one.decisions, study.decisions() as u64);
    assert_eq!((one.lines.len(), one.lines[0].runs), (6, 3));
}

#[test]
fn means_stand_beside_what_was_published() {
    let (study, units) = study();
    let reports = study.run(&units, NonZeroUsize::MIN, |_| {}).unwrap();
    let published = "workload,policy,arrived_pct,gpu_alloc_pct_mean,gpu_alloc_pct_sd,runs\n\
                     default,gpu-fgd,100,50.5,0.25,10\n";
    let published = Published::parse(rows("r.csv", published.to_owned())).unwrap();
    let comparison = Comparison::new(&study, &reports, &published);
    let line = &comparison.lines[4];
    assert_eq!((&*line.policy, line.arrived_pct), ("gpu-fgd", 100));
    assert_eq!(
        (line.published_mean, line.published_deviation),
        (Some(50.5), Some(0.25))
    );
    let difference = line.difference.unwrap();
    assert!((line.mean - 50.5 - difference).abs() < 0.006, "{line:?}");
    assert!(comparison.lines[3].published_mean.is_none());
}
