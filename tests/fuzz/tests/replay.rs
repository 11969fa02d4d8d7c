//! Every input that is committed passes: the corpora, and what was found and mended.

use std::fs;
use std::path::PathBuf;

use placewright_fuzz::{Allocator, TARGETS, Target, allocator, corpus, find};

#[global_allocator]
static ALLOCATOR: Allocator = allocator();

/// The inputs of a target, by name.
fn inputs(target: &Target) -> Vec<PathBuf> {
    let folder = fs::read_dir(corpus(target)).expect("each target has a corpus");
    let mut inputs: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

/// Hand a target its inputs.
fn replay(name: &str) {
    let target = find(name).expect("a target of that name");
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "the corpus of {name} is empty");
    for path in inputs {
        let input = fs::read(&path).unwrap();
        // A target that panics or aborts is told of by the last line.
        println!("{}", path.display());
        target.run(&ALLOCATOR, &input);
    }
}

/// One test for each target. They run one after the other: memory is counted for all threads.
#[test]
fn every_committed_input_passes_its_target() {
    for target in TARGETS {
        replay(target.name);
    }
}

#[test]
fn corpora_stay_small_enough_to_be_replayed_by_the_gate() {
    for target in TARGETS {
        let sizes: Vec<u64> = inputs(target)
            .iter()
            .map(|path| fs::metadata(path).unwrap().len())
            .collect();
        let bytes: u64 = sizes.iter().sum();
        assert!(
            sizes.len() <= 400 && bytes <= 400_000,
            "{} has {} inputs of {bytes} bytes; minimise them: tests/fuzz/run --merge {0}",
            target.name,
            sizes.len()
        );
    }
}
