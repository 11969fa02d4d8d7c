//! Whether a cluster restarts VMs of hosts that are down by itself.

use clap::{Args, Subcommand, ValueEnum};
use placewright_client::{Call, Method};
use serde_json::{Value, json};

use super::{ClusterArg, Session, moment};
use crate::cli::failure::{Answer, Failure};

/// Have the server restart VMs of hosts that are down or in error by itself, or not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright restarts on --settle 120 --vms ha --cluster east
  placewright restarts off --cluster east
  placewright restarts show --cluster east")]
pub(super) struct Restarts {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Restart VMs by itself from now on
    On(On),
    /// Restart none by itself; restarts that are under way go on
    Off {
        #[command(flatten)]
        cluster: ClusterArg,
    },
    /// How it is set
    Show {
        #[command(flatten)]
        cluster: ClusterArg,
    },
}

#[derive(Debug, Args)]
struct On {
    /// Seconds for which a host must be down or in error without a break, or so long, such as 2min; 60
    /// if not given
    #[arg(long, value_name = "DURATION", value_parser = moment::seconds)]
    settle: Option<i64>,
    /// How many restarts may be under way at once; 8 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    max_in_flight: Option<u16>,
    /// Which VMs; all if not given
    #[arg(long, value_enum, value_name = "WHICH")]
    vms: Option<Which>,
    #[command(flatten)]
    cluster: ClusterArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// Those with "ha"
    Ha,
    /// All
    All,
}

impl On {
    fn settings(&self) -> Value {
        let mut settings = json!({});
        if let Some(settle) = self.settle {
            settings["settle"] = settle.into();
        }
        if let Some(most) = self.max_in_flight {
            settings["max-in-flight"] = most.into();
        }
        if let Some(which) = self.vms {
            settings["vms"] = match which {
                Which::Ha => "ha".into(),
                Which::All => "all".into(),
            };
        }
        settings
    }
}

impl Restarts {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let (cluster, restart) = match &self.what {
            What::On(on) => (&on.cluster, Some(Some(on.settings()))),
            What::Off { cluster } => (cluster, Some(None)),
            What::Show { cluster } => (cluster, None),
        };
        let cluster = cluster.name(session)?;
        let way = ["clusters", &cluster, "settings"];
        let now = session.call(Call::get(way))?;
        let Some(restart) = restart else {
            session.print(&now.body["restart"], |body| shown(&cluster, body))?;
            return Ok(Answer::Yes);
        };
        let mut settings = now.body;
        if let Some(object) = settings.as_object_mut() {
            // They follow from the others.
            object.remove("revision");
            object.remove("seed");
            object.remove("restart");
            object.extend(restart.map(|restart| ("restart".to_owned(), restart)));
        }
        let mut call = Call::new(Method::Put, way).json(&settings);
        if let Some(etag) = now.etag {
            call = call.header("if-match", etag);
        }
        let answer = session.call(call)?;
        session.print(&answer.body["restart"], |body| shown(&cluster, body))?;
        Ok(Answer::Yes)
    }
}

/// How it is set, as a sentence.
fn shown(cluster: &str, restart: &Value) -> String {
    if restart.is_null() {
        return format!("The server restarts no VMs of cluster {cluster} by itself.");
    }
    let which = match restart["vms"].as_str() {
        Some("ha") => "highly available VMs",
        _ => "VMs",
    };
    format!(
        "The server restarts {which} of cluster {cluster} once their host has been down or in error for {} s, {} at once.",
        restart["settle"], restart["max-in-flight"]
    )
}
