//! Vectors of this system are not run yet.

use super::report::Report;
use super::units::Units;
use super::vectors::VectorFile;

/// Run the cases of a file.
pub fn run(file: &VectorFile, _: &Units, report: &mut Report) {
    report.not_covered(file, "not run yet");
}
