//! The document of what is to be placed: one VM, or VMs, or whole requests.
//!
//! A document that is itself a VM is one request. One with `[[vms]]` is a request
//! for each of them, or one for all if they go `together`. One with `[[requests]]`
//! says all of each request, VMs included. A VM of which the id is enough may be written as a
//! text: `vms = ["web-1"]`. It must be one that the cluster knows: nothing of it is described.

mod named;
mod written;

pub use written::WrittenRequest;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::cluster::Ids;
use super::form::{BOOLEAN, Fields, Key, Shape, TEXT, TIME, key, required};
use super::pinning::{LOCATION, PINNED, PREFERRED, pinning};
use super::{
    Content, Entry, Place, Problems, RowReader, Table, json_schema, parse_with_nulls, shown,
};
use placewright_model::schema::{Schema, Source};
use placewright_model::{Bounds, Kind, Measure, Request, Vm};

/// What a document of requests is read against.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The tables and columns of the cluster.
    pub schema: &'a Schema,
    /// The time of requests that say none, in seconds since 1970-01-01 UTC.
    pub now: i64,
    /// The ids of the cluster's hosts, if it is known which those are: then naming
    /// another one is a problem.
    pub hosts: Option<&'a BTreeSet<Arc<str>>>,
}

const SHARE: Shape = Shape::Value(Kind::Number, None, Bounds::SHARE);

const SECONDS: Shape = Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO);

/// What a request has besides the columns of `request`.
pub(super) const REQUEST: &[Key] = &[
    key("now", TIME, "When the decision is made"),
    key(
        "draw",
        SHARE,
        "The number, 0 or more and less than 1, that decides what is left to chance",
    )
    .such_as("0.61"),
    key(
        "allowed",
        Shape::Texts,
        "If not empty, only these hosts are considered",
    ).such_as("h1"),
    key("excluded", Shape::Texts, "These hosts are not considered").such_as("h2"),
    key(
        "preferred-hosts",
        Shape::Texts,
        "Of the hosts that all filters left, only these are kept, if there is any",
    ).such_as("h1"),
    key(
        "force",
        TEXT,
        "An admin's choice: this host, without asking any unit; of a server it needs the role admin",
    ).such_as("h1"),
    key("dry-run", BOOLEAN, "Decide, but change nothing"),
    key(
        "all-or-nothing",
        BOOLEAN,
        "Of a batch: reserve nothing unless every VM finds a host; the VMs of one request go together anyway",
    ),
    key(
        "reserve-for",
        SECONDS,
        "Seconds for which the places are reserved, of a server from 1 to its option longest-reservation, which is 24 h if not set; not given: as long as its option reservation says. 0, until they are confirmed or released, is refused unless one of both options is 0",
    ),
    key(
        "again",
        BOOLEAN,
        "Place VMs again that already run on a host that is up; values that are not given are unchanged, and null or an empty list takes one away",
    ),
];

/// What a VM to be placed has besides the columns and tables of `members`.
pub(super) const VM: &[Key] = &[
    required("id", TEXT, "Id of the VM, unique in the cluster").such_as("web-1"),
    PINNED,
    PREFERRED,
    LOCATION,
];

/// Where the VMs of a request stand.
pub(super) const VMS: Key = key(
    "vms",
    Shape::OpenTables,
    "The VMs; of those that the cluster knows their ids are enough, and a text alone is the id of one of them",
);

/// Whether the VMs of a document are one request.
pub(super) const TOGETHER: Key = key(
    "together",
    BOOLEAN,
    "True: the VMs go on one host; false, if not given: each goes where it suits",
);

/// Where whole requests stand.
pub(super) const REQUESTS: &[Key] = &[key("requests", Shape::OpenTables, "The requests, in order")];

/// Read the document of what is to be placed, in TOML or JSON.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_requests(
    text: &str,
    file: &str,
    surroundings: Surroundings<'_>,
) -> Result<Vec<Request>, Problems> {
    requests_of_tree(&parse_with_nulls(text, file)?, surroundings)
}

/// Read the document of what is to be placed that was parsed already.
///
/// # Errors
/// Everything that is wrong with it.
pub fn requests_of_tree(
    tree: &Table,
    surroundings: Surroundings<'_>,
) -> Result<Vec<Request>, Problems> {
    let given = without_null_lists(tree);
    let tabled = named::as_tables(&given);
    let named = named::named(&given);
    let tree = &*tabled;
    let mut reader = RequestReader {
        hosts: surroundings.hosts,
        now: surroundings.now,
        ids: Ids::new("VM"),
        unset: BTreeMap::new(),
        rows: RowReader::new(surroundings.schema, Problems::new()),
    };
    let requests = if tree.get("requests").is_some() {
        let problems = &mut reader.rows.problems;
        let fields = Fields::read(tree, REQUESTS, "a document of requests", problems);
        let tables = fields.tables("requests").iter();
        tables
            .map(|table| reader.together(table, "a request"))
            .collect()
    } else if tree.get("vms").is_some() {
        reader.vms(tree)
    } else {
        vec![reader.vm_as_request(tree)]
    };
    let mut problems = reader.rows.problems;
    problems.locate(tree);
    problems.or(requests).map(|mut requests| {
        for request in &mut requests {
            let ids = request.members.iter().map(|member| &member.id);
            request.named = ids.filter_map(|id| named.get(id).cloned()).collect();
        }
        requests
    })
}

struct RequestReader<'a, 't> {
    hosts: Option<&'a BTreeSet<Arc<str>>>,
    now: i64,
    ids: Ids<'t>,
    /// What VMs of the request at hand are to have no more.
    unset: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    rows: RowReader<'a>,
}

impl<'t> RequestReader<'_, 't> {
    /// A document with a list of VMs.
    fn vms(&mut self, tree: &'t Table) -> Vec<Request> {
        let form = [REQUEST, &[VMS, TOGETHER]].concat();
        let (fields, request, unset) = self.request(tree, &form, "a document of VMs");
        let members = self.members(&fields);
        self.needs_vms(tree, "a document of VMs");
        if fields.boolean("together") == Some(true) {
            return vec![self.complete(request, &unset, members)];
        }
        members
            .into_iter()
            .map(|member| self.complete(request.clone(), &unset, vec![member]))
            .collect()
    }

    /// A request whose VMs go on one host.
    fn together(&mut self, table: &'t Table, what: &str) -> Request {
        let form = [REQUEST, &[VMS]].concat();
        let (fields, request, unset) = self.request(table, &form, what);
        let members = self.members(&fields);
        self.needs_vms(table, what);
        self.complete(request, &unset, members)
    }

    fn needs_vms(&mut self, table: &Table, what: &str) {
        let needs = || format!("{what} needs \"vms\": the VMs to be placed");
        let (place, message) = match table.get("vms") {
            None => (&table.place, needs()),
            Some(node) => match &node.content {
                Content::Null => (&node.place, needs()),
                Content::List(list) if list.is_empty() => {
                    let message = "\"vms\" is empty: it lists the VMs to be placed".to_owned();
                    (&node.place, message)
                }
                _ => return,
            },
        };
        self.rows.problems.add(place, message);
    }

    /// A document that is a VM. Columns of `request` are those of the request,
    /// all others the VM's; the tenant is both's.
    fn vm_as_request(&mut self, tree: &'t Table) -> Request {
        let form = [REQUEST, VM].concat();
        let problems = &mut self.rows.problems;
        let (fields, others) = Fields::split(tree, &form, "a VM", problems);
        let (of_request, of_vm): (Vec<&Entry>, Vec<&Entry>) = others
            .into_iter()
            .partition(|entry| self.is_of_request(&entry.key));
        let unset = self.unset_of_vms(&of_request);
        let request = self.options(&fields, of_request, &form);
        let vm = self.vm(&fields, of_vm, &form);
        self.complete(request, &unset, vm.into_iter().collect())
    }

    fn is_of_request(&self, key: &str) -> bool {
        let column = self.rows.schema.column("request", key);
        column.is_some_and(|column| column.source != Source::Kept)
    }

    /// A request without its VMs, and which values of these it takes away.
    fn request(
        &mut self,
        table: &'t Table,
        form: &[Key],
        what: &str,
    ) -> (Fields<'t>, Request, Vec<Arc<str>>) {
        let (fields, others) = Fields::split(table, form, what, &mut self.rows.problems);
        let unset = self.unset_of_vms(&others);
        let request = self.options(&fields, others, form);
        (fields, request, unset)
    }

    /// Which values of its VMs a request takes away: its own columns that are null and that VMs
    /// have, too, such as the zone. Otherwise it would ask for those of VMs that are known.
    fn unset_of_vms(&self, columns: &[&Entry]) -> Vec<Arc<str>> {
        let of_vms = |entry: &&&Entry| self.rows.schema.column("members", &entry.key).is_some();
        let nulls = columns
            .iter()
            .filter(|entry| matches!(entry.node.content, Content::Null));
        nulls
            .filter(of_vms)
            .map(|entry| (&*entry.key).into())
            .collect()
    }

    /// A request without its VMs.
    fn options(&mut self, fields: &Fields<'t>, columns: Vec<&Entry>, form: &[Key]) -> Request {
        let keys: Vec<_> = form.iter().map(|key| key.name).collect();
        let facts = self.rows.facts("request", columns, &keys);
        let problems = &mut self.rows.problems;
        for key in ["allowed", "excluded", "preferred-hosts"] {
            for (host, place) in fields.texts(key) {
                check_host(self.hosts, host, place, problems);
            }
        }
        if let (Some(host), Some(place)) = (fields.text("force"), fields.place_of("force")) {
            check_host(self.hosts, &host, place, problems);
        }
        let draw = fields.number("draw");
        if let (Some(1.0), Some(place)) = (draw, fields.place_of("draw")) {
            self.rows
                .problems
                .add(place, "\"draw\" must be less than 1");
        }
        Request {
            members: Vec::new(),
            named: Vec::new(),
            facts,
            now: fields.integer("now").unwrap_or(self.now),
            draw,
            allowed: fields.list("allowed"),
            excluded: fields.list("excluded"),
            forced: fields.text("force"),
            preferred: fields.list("preferred-hosts"),
            dry_run: fields.boolean("dry-run").unwrap_or(false),
            all_or_nothing: fields.boolean("all-or-nothing").unwrap_or(false),
            reserve_for: fields.integer("reserve-for"),
            again: fields.boolean("again").unwrap_or(false),
            unset: BTreeMap::new(),
        }
    }

    fn members(&mut self, request: &Fields<'t>) -> Vec<Vm> {
        let mut members = Vec::new();
        for table in request.tables("vms") {
            let (fields, others) = Fields::split(table, VM, "a VM", &mut self.rows.problems);
            members.extend(self.vm(&fields, others, VM));
        }
        members
    }

    fn vm(&mut self, fields: &Fields<'t>, columns: Vec<&Entry>, form: &[Key]) -> Option<Vm> {
        let keys: Vec<_> = form.iter().map(|key| key.name).collect();
        let change = self.rows.change("members", columns, &keys);
        let problems = &mut self.rows.problems;
        let hosts = self.hosts;
        let pinning = pinning(fields, problems, |host, place, problems| {
            check_host(hosts, host, place, problems);
        });
        let id = self.ids.take(fields, problems)?;
        let mut unset = change.unset;
        for (key, is_empty) in [
            (&PINNED, pinning.pinned.is_empty()),
            (&PREFERRED, pinning.preferred.is_empty()),
            (&LOCATION, pinning.location.is_empty()),
        ] {
            if is_empty && fields.place_of(key.name).is_some() {
                unset.push(key.name.into());
            }
        }
        if !unset.is_empty() {
            self.unset.insert(id.clone(), unset);
        }
        Some(Vm {
            id,
            facts: change.set,
            pinning,
        })
    }

    /// The request with its members, and with what these are to have no more; `unset` is that of
    /// all of them.
    fn complete(&mut self, request: Request, unset: &[Arc<str>], members: Vec<Vm>) -> Request {
        let mut request = complete(request, members);
        for member in &request.members {
            let mut own = self.unset.remove(&member.id).unwrap_or_default();
            own.extend_from_slice(unset);
            // A VM may have got the tenant of the request in the place of its own.
            own.retain(|name| member.facts.get(name).is_none());
            own.sort_unstable();
            own.dedup();
            request.unset.insert(member.id.clone(), own);
        }
        request.unset.retain(|_, unset| !unset.is_empty());
        request
    }
}

/// The document without the keys of its other forms, where they are null: clients that write all
/// keys of a type write them so.
fn without_null_lists(tree: &Table) -> Cow<'_, Table> {
    let is_none = |entry: &Entry| {
        [VMS.name, TOGETHER.name, REQUESTS[0].name].contains(&&*entry.key)
            && matches!(entry.node.content, Content::Null)
    };
    if !tree.entries.iter().any(is_none) {
        return Cow::Borrowed(tree);
    }
    let mut tree = tree.clone();
    tree.entries.retain(|entry| !is_none(entry));
    Cow::Owned(tree)
}

/// Complain of a host that is not one of those that are known, if they are.
fn check_host(
    hosts: Option<&BTreeSet<Arc<str>>>,
    host: &str,
    place: &Place,
    problems: &mut Problems,
) {
    let Some(hosts) = hosts.filter(|hosts| !hosts.contains(host)) else {
        return;
    };
    problems.add_misnamed(
        place,
        format!("there is no host \"{}\"", shown(host)),
        host,
        hosts.iter().map(|known| &**known),
    );
}

/// The request with its members. Who asks owns the VMs, and who owns all the VMs
/// asks, where only one of the two is said.
fn complete(mut request: Request, mut members: Vec<Vm>) -> Request {
    match request.facts.get("tenant").cloned() {
        Some(tenant) => {
            for member in &mut members {
                if member.facts.get("tenant").is_none() {
                    member.facts.set("tenant", tenant.clone());
                }
            }
        }
        None => {
            if let Some(tenant) = common_tenant(&members) {
                request.facts.set("tenant", tenant);
            }
        }
    }
    request.members = members;
    request
}

fn common_tenant(members: &[Vm]) -> Option<&str> {
    let mut tenants = members.iter().map(|member| member.facts.text("tenant"));
    let first = tenants.next()??;
    tenants.all(|tenant| tenant == Some(first)).then_some(first)
}

/// The JSON Schema of whatever is to be placed: one VM, or VMs, or whole requests.
pub fn to_place() -> Json {
    let requests = described_list(REQUESTS[0], request());
    json!({ "anyOf": [
        vm_to_place(),
        vms_to_place(),
        json_schema::closed(requests, vec!["requests"]),
    ] })
}

/// The JSON Schema of a document that is a VM: it has what a request has, too.
pub fn vm_to_place() -> Json {
    let mut vm = member();
    if let (Some(keys), Json::Object(others)) = (vm["properties"].as_object_mut(), options()) {
        for (key, schema) in others {
            keys.entry(key).or_insert(schema);
        }
    }
    vm
}

/// The JSON Schema of a document with a list of VMs.
fn vms_to_place() -> Json {
    let mut keys = json_schema::properties(REQUEST);
    keys.extend(json_schema::properties(&[TOGETHER]));
    keys.extend(described_list(VMS, vms()["items"].take()));
    json_schema::row(Schema::built_in(), "request", keys, vec![VMS.name])
}

/// What a request has besides its VMs.
fn options() -> Json {
    let keys = json_schema::properties(REQUEST);
    json_schema::row(Schema::built_in(), "request", keys, Vec::new())["properties"].take()
}

/// The property for a key that is a list of such items.
fn described_list(key: Key, items: Json) -> Map<String, Json> {
    let list = json_schema::described(json_schema::list(items), key.meaning);
    Map::from_iter([(key.name.to_owned(), list)])
}

/// The JSON Schema of a VM of a request.
pub fn member() -> Json {
    let keys = json_schema::properties(VM);
    json_schema::row(
        Schema::built_in(),
        "members",
        keys,
        json_schema::required(VM),
    )
}

/// The JSON Schema of the VMs of a request: each as a table, or as its id.
pub fn vms() -> Json {
    let mut vms = json_schema::list(json!({ "oneOf": [member(), { "type": "string" }] }));
    vms["minItems"] = 1.into();
    vms
}

/// The JSON Schema of a whole request.
pub fn request() -> Json {
    let mut keys = json_schema::properties(REQUEST);
    keys.insert("vms".to_owned(), vms());
    json_schema::row(Schema::built_in(), "request", keys, vec!["vms"])
}

#[cfg(test)]
mod tests;
