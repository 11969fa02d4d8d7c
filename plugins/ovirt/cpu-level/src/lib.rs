//! CPU level: keeps the hosts whose CPU has all the flags that the VM needs.
//!
//! Which flags a VM needs is worked out by whoever describes it: those of the type
//! of CPU that it asks for, or, where it is shown the host's CPU as it is, those
//! that it was started with.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("has-cpu-flags", gate)]
    needs_flags: bool,
    running: bool,
    /// Whether it is shown the CPU of its host as it is.
    #[column("attribute.cpu-passthrough")]
    passthrough: Option<bool>,
    #[table("cpu-flags")]
    flags: Rows<Flag>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("cpu-flags")]
    flags: Rows<Flag>,
}

/// A CPU flag.
#[derive(Row)]
struct Flag {
    flag: Text,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has a CPU without all the flags that the VM needs
    MissingFlags,
}

struct CpuLevel;

impl RowWise for CpuLevel {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    /// The flags.
    type Need = Vec<Text>;

    fn prepare(vm: &Vm, (): &()) -> Result<Vec<Text>, Problem> {
        // It takes whatever flags the host has, if it does not run with others yet.
        if vm.passthrough == Some(true) && !vm.running {
            return Ok(Vec::new());
        }
        Ok(vm.flags.iter().map(|row| row.flag).collect())
    }
}

impl RowFilter for CpuLevel {
    fn keep(needed: &Vec<Text>, host: &Host) -> Verdict<Reason> {
        let has = |flag: &Text| host.flags.iter().any(|row| row.flag == *flag);
        Verdict::keep_if(needed.iter().all(has), Reason::MissingFlags)
    }
}

placewright_sdk::export!(
    CpuLevel: filter,
    aliases = ["CPU-Level", "438b052c-90ab-40e8-9be0-a22560202ea6"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(flags: &[&str]) -> Rows<Flag> {
        let row = |flag: &&str| Flag {
            flag: Text::from(*flag),
        };
        flags.iter().map(row).collect()
    }

    fn vm(needed: &[&str]) -> Vm {
        Vm {
            needs_flags: !needed.is_empty(),
            running: false,
            passthrough: None,
            flags: flags(needed),
        }
    }

    fn keep(vm: &Vm, host: &[&str]) -> Verdict<Reason> {
        let needed = CpuLevel::prepare(vm, &()).expect("nothing is refused");
        CpuLevel::keep(&needed, &Host { flags: flags(host) })
    }

    const MISSING: Verdict<Reason> = Verdict::Remove(Reason::MissingFlags);

    #[test]
    fn a_host_has_all_the_flags_or_is_left_out() {
        assert_eq!(
            keep(&vm(&["avx", "sse"]), &["sse", "nx", "avx"]),
            Verdict::Keep
        );
        assert_eq!(keep(&vm(&["avx", "sse"]), &["sse", "nx"]), MISSING);
        assert_eq!(keep(&vm(&["sse"]), &[]), MISSING);
    }

    #[test]
    fn a_vm_that_needs_no_flags_runs_anywhere() {
        assert_eq!(keep(&vm(&[]), &[]), Verdict::Keep);
    }

    #[test]
    fn a_vm_with_the_cpu_of_its_host_starts_anywhere_and_moves_where_it_finds_it_again() {
        let started = Vm {
            passthrough: Some(true),
            ..vm(&["avx"])
        };
        assert_eq!(keep(&started, &["sse"]), Verdict::Keep);
        let moved = Vm {
            running: true,
            ..started
        };
        assert_eq!(keep(&moved, &["sse"]), MISSING);
        assert_eq!(keep(&moved, &["sse", "avx"]), Verdict::Keep);
    }
}
