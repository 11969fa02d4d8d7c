//! The unit of systemd.

use std::process::Command;

use super::{folder, is_there, succeeds};

/// The most that `systemd-analyze security` may find, in tenths: 0 is nothing, 100 everything.
const EXPOSURE: u32 = 15;

#[test]
fn the_service_has_few_rights() {
    if !is_there("systemd-analyze") {
        eprintln!("THE RIGHTS OF THE SERVICE ARE NOT CHECKED: systemd-analyze is missing");
        return;
    }
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(["security", "--offline=true", "--no-pager"]);
    analyze.arg(format!("--threshold={EXPOSURE}"));
    analyze.arg(folder().join("debian/placewright.service"));
    let said = succeeds(analyze);
    assert!(said.contains("Overall exposure level"), "{said}");
}
