//! Looks at all hosts at once and compares none of them.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
}

struct Largest;

impl WholeTable for Largest {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = ();
}

impl TableCost for Largest {
    fn cost((): &(), hosts: &Rows<Host>, (): &()) -> Result<Vec<f64>, Problem> {
        Ok(hosts.iter().map(|host| -(host.total.0 as f64)).collect())
    }
}

placewright_sdk::export!(Largest: table_cost_function);
