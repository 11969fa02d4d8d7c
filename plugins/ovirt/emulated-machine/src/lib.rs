//! Emulated machine: keeps the hosts that can emulate the VM's machine type.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    #[column(gate)]
    machine: Option<Text>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("machine-types")]
    types: Rows<MachineType>,
}

/// A machine type that the host can emulate.
#[derive(Row)]
struct MachineType {
    name: Text,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// cannot emulate the VM's machine type
    NotEmulated,
}

struct EmulatedMachine;

impl RowWise for EmulatedMachine {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Option<Text>;

    fn prepare(vm: &Vm, (): &()) -> Result<Option<Text>, Problem> {
        Ok(vm.machine.clone())
    }
}

impl RowFilter for EmulatedMachine {
    fn keep(machine: &Option<Text>, host: &Host) -> Verdict<Reason> {
        let emulated = |machine: &Text| host.types.iter().any(|row| row.name == *machine);
        Verdict::keep_if(machine.as_ref().is_none_or(emulated), Reason::NotEmulated)
    }
}

placewright_sdk::export!(
    EmulatedMachine: filter,
    aliases = ["Emulated-Machine", "58894b5b-d55d-4f85-8f82-5bf217e640b0"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(machine: Option<&str>, types: &[&str]) -> Verdict<Reason> {
        let row = |name: &&str| MachineType {
            name: Text::from(*name),
        };
        let host = Host {
            types: types.iter().map(row).collect(),
        };
        EmulatedMachine::keep(&machine.map(Text::from), &host)
    }

    #[test]
    fn the_machine_type_must_be_one_that_the_host_emulates() {
        assert_eq!(keep(Some("q35"), &["i440fx", "q35"]), Verdict::Keep);
        let not = Verdict::Remove(Reason::NotEmulated);
        assert_eq!(keep(Some("q35"), &["i440fx"]), not);
        assert_eq!(keep(Some("q35"), &[]), not);
    }

    #[test]
    fn a_vm_without_a_machine_type_of_its_own_runs_anywhere() {
        assert_eq!(keep(None, &[]), Verdict::Keep);
    }
}
