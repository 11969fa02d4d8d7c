//! What other systems write: policies of oVirt, clusters of Ganeti, traces.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use placewright_inventory::Inventory;
use placewright_ovirt::import::{Document, Options, Policy as OvirtPolicy, carry, parse};
use placewright_policy::Policy;
use placewright_tools::simulate::openb::{Nodes, PodList};
use placewright_tools::simulate::trace::Trace;

use super::documents::assert_told;
use super::text;
use crate::world::{schema, units};

/// A policy of oVirt is carried over into a document that reads as a policy here.
pub(crate) fn ovirt(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let read = parse(text, "fuzzed.xml").and_then(|it| OvirtPolicy::read(&[it], None));
    let policy = match read {
        Ok(policy) => policy,
        Err(problems) => return assert_told(&problems),
    };
    for ranks in [false, true] {
        let options = Options {
            ranks,
            mandatory: !ranks,
        };
        match carry(&policy, units(), options) {
            Ok(carried) => {
                let written = Document {
                    policy: &policy,
                    carried: &carried,
                };
                let written = written.to_string();
                if let Err(problems) = Policy::read(&written, "carried.toml") {
                    panic!("{problems}\n{written}");
                }
                drop(Policy::load(&written, "carried.toml", units(), &schema()));
            }
            Err(problems) => assert_told(&problems),
        }
    }
}

/// A cluster of Ganeti becomes one of ours, or it is told why not.
pub(crate) fn ganeti(input: &[u8]) {
    let Some(text) = text(input) else { return };
    match placewright_tools::ganeti::read(text, "fuzzed.data", None) {
        Ok(document) => match Inventory::of_document(document, 1000) {
            Ok(inventory) => assert!(inventory.slots() >= inventory.host_count()),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(problems) => assert_told(&problems),
    }
}

/// The first byte says what the rest is: a trace, nodes or pods, plain or to be compressed.
pub(crate) fn trace(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else {
        return;
    };
    let bytes = match how & 1 {
        0 => rest.to_vec(),
        _ => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            let written = gzip.write_all(rest);
            written
                .and_then(|()| gzip.finish())
                .expect("memory takes it")
        }
    };
    if how & 30 != 0 {
        match Trace::read("fuzzed.csv", Cursor::new(bytes)) {
            Ok(trace) => {
                assert!(!trace.vms.is_empty());
                for vm in &trace.vms {
                    assert!(vm.end.is_none_or(|end| end > vm.start), "{vm:?}");
                    assert!(vm.cpu >= 0 && vm.memory >= 0, "{vm:?}");
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        return;
    }
    // These are read from files alone.
    let Ok(mut file) = tempfile::NamedTempFile::new() else {
        return;
    };
    if file.write_all(&bytes).is_err() {
        return;
    }
    if let Ok(nodes) = Nodes::open(file.path()) {
        assert!(nodes.thousandths() >= 0);
        drop(nodes.inventory("fuzzed"));
    }
    if let Ok(pods) = PodList::open(file.path()) {
        assert!(pods.pods.iter().all(|pod| pod.thousandths() >= 0));
    }
}
