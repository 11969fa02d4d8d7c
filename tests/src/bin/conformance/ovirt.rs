//! Vectors of oVirt's scheduler.
//!
//! Each becomes a cluster, a request and a policy with the one unit that it is about,
//! named by the id that it has in oVirt. The scheduler decides, and what its
//! explanation or the inventory says is compared.

mod allocation;
mod asking;
mod balance;
mod conflicts;
mod document;
mod enforcement;
mod filters;
mod input;
mod outcome;
mod parameters;
mod pending;
mod policy;
mod ranking;
mod recorded;
mod selectors;
mod vector;
mod weights;

use super::report::Report;
use super::units::Units;
use super::vectors::{self, VectorFile};
use outcome::Outcome;
use vector::{Document, UnitNamed, Vector};

/// What runs the vectors of a file.
type Runner = fn(&UnitNamed, &Vector, &Units) -> Result<Outcome, String>;

/// Run the cases of a file.
pub(crate) fn run(file: &VectorFile, units: &Units, report: &mut Report) {
    for (_, case) in &file.cases {
        let document: Document = match vectors::read(case) {
            Ok(document) => document,
            Err(why) => {
                report.broken(file, "file", "the whole file", why);
                continue;
            }
        };
        match runner(&document.unit) {
            Err(why) => report.not_covered(file, why),
            Ok(runner) => {
                for vector in &document.vectors {
                    run_vector(file, &document.unit, vector, runner, units, report);
                }
            }
        }
    }
}

/// What runs the vectors of a unit.
///
/// # Errors
/// Why they are not run.
fn runner(unit: &UnitNamed) -> Result<Runner, &'static str> {
    match unit.name.as_str() {
        "HA" | "HostedEngineSpares" => {
            return Err("about the VM of oVirt's own engine, which there is not");
        }
        "InClusterUpgrade" => return Err("about upgrades between releases of oVirt's hosts"),
        "MDevice" => return Err("mediated devices are not known"),
        "Migration-Tsc-Frequency" => {
            return Err("frequencies of time stamp counters are not known");
        }
        _ => {}
    }
    Ok(match (unit.kind.as_str(), unit.name.as_str()) {
        ("filter", _) => filters::run,
        ("allocation", _) => |_, vector, units| allocation::exclusive_cpus(vector, units),
        ("helper", "(assignment of virtual NUMA nodes)") => {
            |_, vector, units| allocation::numa_nodes(vector, units)
        }
        ("table", _) => |_, vector, units| pending::run(vector, units),
        ("policy", _) => |_, vector, units| policy::run(vector, units),
        ("helper", "(host operating system text)") => {
            return Err("operating systems of hosts are not told apart");
        }
        ("aggregation", _) => {
            return Err(
                "history: a unit that fails stops the decision here, if not told otherwise",
            );
        }
        ("weight", _) => weights::run,
        ("load_balancing", _) => balance::run,
        ("power", _) => balance::run_power,
        ("enforcer", _) => |_, vector, units| enforcement::run(vector, units),
        ("manager", _) => |_, vector, units| enforcement::run_round(vector, units),
        ("check", _) => |_, vector, units| conflicts::run(vector, units),
        ("selector", _) => selectors::run,
        ("helper", "(ranking and list order)") => |_, vector, units| ranking::run(vector, units),
        // Not known, and so not to be passed over.
        _ => |unit, _, _| Err(format!("field unit.type: there is no {}", unit.shown())),
    })
}

fn run_vector(
    file: &VectorFile,
    unit: &UnitNamed,
    vector: &Vector,
    runner: Runner,
    units: &Units,
    report: &mut Report,
) {
    let (kind, case) = (&unit.kind, vector.shown());
    let outcome = runner(unit, vector, units).and_then(Outcome::into_differences);
    let [asserted, worked_out] = match outcome {
        Ok(differences) => differences,
        Err(why) => return report.broken(file, kind, &case, why),
    };
    if let Some(differences) = asserted {
        report.case(file, kind, &case, differences);
    }
    if let Some(differences) = worked_out {
        let kind = format!("{kind}, not asserted by oVirt's tests");
        report.case(file, &kind, &case, differences);
    }
}
