//! Reads how many VMs of a group are on a host, and asks only whether there are any.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Group {
    vms: i64,
}

#[derive(Row)]
struct Host {
    #[table("group-members")]
    groups: Rows<Group>,
}

struct Company;

impl RowWise for Company {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowCost for Company {
    fn cost((): &(), host: &Host) -> f64 {
        let any = host.groups.iter().any(|group| group.vms > 0);
        f64::from(u8::from(any))
    }
}

placewright_sdk::export!(Company: cost_function);
