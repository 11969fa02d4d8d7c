//! `placewright get`: what a server has.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use placewright_client::{Call, Event, Method};
use serde_json::Value;

use super::events::Following;
use super::{ClusterArg, Session, fault, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// A list that is watched is printed no more often.
const PAUSE: Duration = Duration::from_secs(1);

/// What changes without an event is read so often while it is watched.
const PERIOD: Duration = Duration::from_secs(2);

/// Kinds of things that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Clusters
    Clusters,
    /// Hosts of a cluster
    Hosts,
    /// VMs of a cluster
    Vms,
    /// Groups of VMs and hosts in a cluster
    Groups,
    /// Whether the groups of a cluster are kept, and which VMs break them
    GroupStandings,
    /// Tenants of a cluster
    Tenants,
    /// Places that are reserved in a cluster
    Reservations,
    /// Decisions of a cluster, newest first
    Decisions,
    /// Plans of moves in a cluster
    Plans,
    /// The settings of a cluster
    Settings,
    /// The whole inventory of a cluster
    Inventory,
    /// VMs of a cluster whose needs its policy does not check
    Unheeded,
    /// Policies
    Policies,
    /// Units
    Units,
    /// Files of units, with what became of each
    UnitFiles,
    /// Candidates that are being staged now
    UnitStagings,
    /// What the units of a cluster's policy cost in time and memory
    UnitCosts,
    /// Quotas of tenants
    Quotas,
    /// Tokens
    Tokens,
    /// What just happened, newest first; `placewright events` goes on from there
    Events,
}

impl Kind {
    /// Where it is found, below `/v1`.
    pub(super) fn way(self, cluster: Option<&str>) -> Vec<&str> {
        let mut way = Vec::new();
        if self.is_of_cluster() {
            way.extend(["clusters", cluster.unwrap_or_default()]);
        }
        way.push(match self {
            Self::Clusters => "clusters",
            Self::Hosts => "hosts",
            Self::Vms => "vms",
            Self::Groups => "groups",
            Self::GroupStandings => "group-standings",
            Self::Tenants => "tenants",
            Self::Reservations => "reservations",
            Self::Decisions => "decisions",
            Self::Plans => "plans",
            Self::Settings => "settings",
            Self::Inventory => "inventory",
            Self::Unheeded => "unheeded",
            Self::Policies => "policies",
            Self::Units => "units",
            Self::UnitFiles => "unit-files",
            Self::UnitStagings => "unit-stagings",
            Self::UnitCosts => "unit-costs",
            Self::Quotas => "quotas",
            Self::Tokens => "tokens",
            Self::Events => "events",
        });
        if self == Self::Events {
            way.push("recent");
        }
        way
    }

    pub(super) fn is_of_cluster(self) -> bool {
        !matches!(
            self,
            Self::Clusters
                | Self::Policies
                | Self::Units
                | Self::UnitFiles
                | Self::UnitStagings
                | Self::Quotas
                | Self::Tokens
                | Self::Events
        )
    }

    /// Whether one of them can be called by that method.
    pub(super) fn takes(self, method: Method) -> bool {
        match method {
            Method::Get => true,
            Method::Post => false,
            Method::Put => matches!(
                self,
                Self::Hosts
                    | Self::Vms
                    | Self::Groups
                    | Self::Tenants
                    | Self::Settings
                    | Self::Inventory
                    | Self::Policies
                    | Self::Quotas
            ),
            Method::Patch => matches!(
                self,
                Self::Hosts
                    | Self::Vms
                    | Self::Groups
                    | Self::Tenants
                    | Self::Settings
                    | Self::Quotas
            ),
            Method::Delete => matches!(
                self,
                Self::Clusters
                    | Self::Hosts
                    | Self::Vms
                    | Self::Groups
                    | Self::Tenants
                    | Self::Reservations
                    | Self::Policies
                    | Self::Units
                    | Self::Quotas
                    | Self::Tokens
            ),
        }
    }

    /// Reads the kinds that can be called by that method, and lists them where another is given.
    pub(super) fn that_take(method: Method) -> impl TypedValueParser<Value = Self> {
        let kinds = Self::value_variants().iter().copied();
        let kinds = kinds.filter(move |kind| kind.takes(method));
        let words = kinds.filter_map(|kind| kind.to_possible_value());
        PossibleValuesParser::new(words).try_map(|word| Self::from_str(&word, false))
    }

    /// Whether it is one thing, and no list.
    fn is_single(self) -> bool {
        matches!(self, Self::Settings | Self::Inventory | Self::Unheeded)
    }

    /// Whether some of its changes are no events: tokens end, a VM finds no host, units are called.
    fn changes_without_event(self) -> bool {
        matches!(
            self,
            Self::Decisions | Self::Tokens | Self::UnitCosts | Self::UnitStagings
        )
    }

    /// What is shown of each, as [`shown::table`] has it.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Clusters => &[
                "cluster:name",
                "policy:settings/policy",
                ">hosts:counted/hosts",
                ">VMs:counted/vms",
                ">pending:counted/pending",
                ">groups:counted/groups",
            ],
            Self::Hosts => &[
                "host:id",
                "state",
                ">cores:cpu.total",
                ">promised:cpu.committed",
                ">pending:cpu.pending",
                ">memory:memory.total",
                ">promised:memory.committed",
                ">pending:memory.pending",
                ">VMs:vms.count",
            ],
            Self::Vms => &[
                "VM:id",
                "host",
                "reserved:reserved/host",
                ">cores:cpu",
                ">memory",
                "state",
                "tenant",
            ],
            Self::Groups => &["group:id", "rule", "hard", ">priority", "vms", "hosts"],
            Self::GroupStandings => &[
                "group:id",
                "VMs:vms-wanted",
                "hosts:hosts-wanted",
                "hard",
                "kept",
                ">members",
                ">placed",
                ">breaks",
            ],
            Self::Tenants => &["tenant:id", "bindings"],
            Self::Reservations => &["VM:vm", "host", "kind", "from", ">decision", "expires"],
            Self::Decisions => &[
                ">number",
                "at",
                "VMs:decision/vms",
                "host:decision/host",
                ">considered:decision/considered",
                "by",
            ],
            Self::Plans => &[
                ">plan:number",
                "origin",
                "by",
                ">planned:counted/planned",
                ">begun:counted/begun",
                ">confirmed:counted/confirmed",
                ">stale:counted/stale",
            ],
            Self::Policies => &["policy:name", ">revision", "origin", "used by:clusters"],
            Self::Units => &[
                "unit:name",
                "kinds",
                "version",
                "pinned",
                "disabled",
                "source",
            ],
            Self::UnitFiles => &["file:path", "unit:name", "offers", "trouble"],
            Self::UnitStagings => &[
                "unit:name",
                "version",
                "source",
                "step",
                ">microseconds:took-us",
            ],
            // What a terminal of 80 columns has room for; JSON has all.
            Self::UnitCosts => &[
                "unit",
                ">calls",
                ">share",
                ">median µs:median-us",
                ">99 % µs:p99-us",
                ">longest µs:longest-us",
                ">memory",
            ],
            Self::Quotas => &[
                "quota:name",
                "tenant",
                "cluster",
                ">cores:used/cpu",
                ">of:limits/cpu",
                ">memory:used/memory",
                ">of:limits/memory",
                ">GPUs:used/gpus",
                ">of:limits/gpus",
                ">VMs:used/vms",
                ">of:limits/vms",
            ],
            Self::Tokens => &["token:name", "role", "clusters", "origin", "expires", "by"],
            Self::Events => &[">number", "time", "kind", "cluster", "by", "message"],
            Self::Settings | Self::Inventory | Self::Unheeded => &[],
        }
    }
}

/// List what a server has, or show one thing of it.
///
/// --where narrows a list by the server's own filters, as state=down for hosts or host=h1 for VMs;
/// one that the server does not know is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright get clusters
  placewright get hosts --cluster east --where state=maintenance
  placewright get vms web-1 --cluster east --format json
  placewright get hosts --cluster east --watch")]
pub(super) struct Get {
    /// What is listed
    #[arg(value_enum, value_name = "KIND")]
    kind: Kind,
    /// The id or name of the one that is shown
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
    /// Only those of which this holds. May be given again
    #[arg(long = "where", value_name = "KEY=VALUE", conflicts_with = "name")]
    filters: Vec<String>,
    /// List at most N
    #[arg(long, value_name = "N", conflicts_with = "name",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    limit: Option<usize>,
    /// Print it again when it changes, until you stop it
    #[arg(long)]
    watch: bool,
}

impl Get {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = match self.kind.is_of_cluster() {
            true => Some(self.cluster.name(session)?),
            false => None,
        };
        if !self.watch {
            self.print(session, &self.read(session, cluster.as_deref())?)?;
            return Ok(Answer::Yes);
        }
        // The stream first, so that nothing is missed between the two.
        let mut events = Following::begin(session.client.clone(), None)?;
        let (news, heard) = mpsc::channel();
        thread::spawn(move || {
            loop {
                let event = events.next();
                let is_over = event.is_err();
                if news.send(event).is_err() || is_over {
                    return;
                }
            }
        });
        let mut shown = self.read(session, cluster.as_deref())?;
        loop {
            let printed = Instant::now();
            self.print(session, &shown)?;
            loop {
                if self.wait(&heard, cluster.as_deref())? {
                    thread::sleep(PAUSE.saturating_sub(printed.elapsed()));
                    while heard.try_recv().is_ok() {}
                }
                let now = self.read(session, cluster.as_deref())?;
                if now != shown {
                    shown = now;
                    break;
                }
            }
            if session.format == Format::Table {
                output::print("")?;
            }
        }
    }

    /// Wait for an event that may have changed the list. False if the list is to be read without
    /// one, as it may have changed all the same.
    fn wait(
        &self,
        heard: &mpsc::Receiver<Result<Event, Failure>>,
        cluster: Option<&str>,
    ) -> Result<bool, Failure> {
        let ends = self
            .kind
            .changes_without_event()
            .then(|| Instant::now() + PERIOD);
        loop {
            let event = match ends {
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(ends) => heard.recv_timeout(ends.saturating_duration_since(Instant::now())),
            };
            let event = match event {
                Ok(event) => event?,
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::internal(anyhow::anyhow!(
                        "the server has ended the stream of events"
                    )));
                }
            };
            let of = event.data["cluster"].as_str();
            if cluster.is_none_or(|cluster| of.is_none_or(|of| of == cluster)) {
                return Ok(true);
            }
        }
    }

    /// What the server has.
    fn read(&self, session: &Session, cluster: Option<&str>) -> Result<Value, Failure> {
        let mut way = self.kind.way(cluster);
        way.extend(self.name.as_deref());
        let mut call = Call::get(way);
        for filter in &self.filters {
            let Some((key, value)) = filter.split_once('=') else {
                return Err(Failure::input_because(format!(
                    "\"{filter}\" is no filter: write KEY=VALUE"
                )));
            };
            call = call.query(key, value);
        }
        if self.name.is_some() || self.kind.is_single() {
            return Ok(session.call(call)?.body);
        }
        let items = session.client.list(&call, self.limit.unwrap_or(usize::MAX));
        items.map(Value::from).map_err(fault)
    }

    fn print(&self, session: &Session, found: &Value) -> Result<(), Failure> {
        if self.name.is_some() || self.kind.is_single() {
            return session.print(found, shown::outline);
        }
        session.print(found, |items| {
            let items = items.as_array().map_or(&[][..], Vec::as_slice);
            match items.is_empty() {
                true => "There is none.".to_owned(),
                false => shown::table(self.kind.columns(), items),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schemas that one stands for: what it refers to, and what it is made of.
    fn parts<'d>(document: &'d Value, schema: &'d Value) -> Vec<&'d Value> {
        let mut found = vec![schema];
        if let Some(reference) = schema["$ref"].as_str() {
            let way = reference.trim_start_matches('#');
            found.extend(parts(document, document.pointer(way).unwrap()));
        }
        for several in ["allOf", "oneOf", "anyOf"] {
            let several = schema[several].as_array();
            for part in several.into_iter().flatten() {
                found.extend(parts(document, part));
            }
        }
        found
    }

    /// Whether a value of that schema may have something at the end of a way of keys.
    fn has(document: &Value, schema: &Value, way: &str) -> bool {
        let parts = parts(document, schema);
        let properties = |key: &str| {
            let property = |part: &&Value| part["properties"].get(key).is_some();
            let has_property = parts.iter().copied().filter(property);
            has_property
                .map(|part| &part["properties"][key])
                .collect::<Vec<_>>()
        };
        if !properties(way).is_empty() {
            return true;
        }
        let Some((first, rest)) = way.split_once('/') else {
            return false;
        };
        let inner = properties(first);
        inner.into_iter().any(|schema| has(document, schema, rest))
    }

    #[test]
    fn kinds_are_put_changed_and_deleted_where_the_server_has_a_route_for_it() {
        let document = include_str!("../../../schemas/openapi.json");
        let document: Value = serde_json::from_str(document).unwrap();
        let paths = document["paths"].as_object().unwrap();
        for kind in Kind::value_variants() {
            let list = format!("/v1/{}", kind.way(Some("{cluster}")).join("/"));
            let is_one = |path: &str| {
                let rest = path.strip_prefix(&list);
                rest.is_some_and(|rest| match kind.is_single() {
                    true => rest.is_empty(),
                    false => rest.starts_with("/{") && !rest[1..].contains('/'),
                })
            };
            let one = paths.iter().find(|(path, _)| is_one(path));
            for (method, name) in [
                (Method::Put, "put"),
                (Method::Patch, "patch"),
                (Method::Delete, "delete"),
            ] {
                let has_route = one.is_some_and(|(_, item)| item.get(name).is_some());
                assert_eq!(kind.takes(method), has_route, "{name} {list}");
            }
        }
    }

    #[test]
    fn every_column_of_a_list_is_a_key_of_its_entries() {
        let document = include_str!("../../../schemas/openapi.json");
        let document: Value = serde_json::from_str(document).unwrap();
        let mut missing = Vec::new();
        for kind in Kind::value_variants() {
            let path = format!("/v1/{}", kind.way(Some("{cluster}")).join("/"));
            let answer = &document["paths"][&path]["get"]["responses"]["200"];
            let page = &answer["content"]["application/json"]["schema"];
            assert!(page.is_object(), "{path}");
            let entries: Vec<&Value> = parts(&document, page)
                .into_iter()
                .map(|part| match part.get("items") {
                    Some(entry) => entry,
                    None => &part["properties"]["items"]["items"],
                })
                .filter(|entry| entry.is_object())
                .collect();
            for column in kind.columns() {
                let way = column.split_once(':').map_or(*column, |(_, way)| way);
                let way = way.trim_start_matches('>');
                if !entries.iter().any(|entry| has(&document, entry, way)) {
                    missing.push(format!("{path}: {way}"));
                }
            }
        }
        assert_eq!(missing, [""; 0]);
    }
}
