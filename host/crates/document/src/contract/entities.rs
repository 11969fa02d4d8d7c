//! Hosts, VMs, groups and tenants: as documents give them, as a server shows them, and what is
//! different of them; the documents that hold them, and requests.

use serde_json::{Map, Value as Json, json};

use super::rows::{Form, list_of, nullable, or_null, time_schema};
use super::{Contract, examples, reference};
use crate::cluster::{self, forms as given};
use crate::form::Key;
use crate::json_schema::{closed, described, example, list, object, properties, required};
use crate::request::{REQUEST, REQUESTS, TOGETHER, VM, VMS};
use crate::{changes, words};
use placewright_model::{Kind, Measure, rfc3339_key};

/// What was wrong with a sentence each, beside what is shown.
const WARNINGS: &str = "What is allowed in what was sent and surely a mistake, a sentence each";

impl Contract {
    /// What a server shows.
    pub(super) fn shown(&mut self) {
        let host = self.row(
            "hosts",
            "Host",
            Form::Shown,
            Map::from_iter([
                text("id", "Id of the host, unique in the cluster", "h1"),
                (
                    "statistics".to_owned(),
                    described(
                        json!({ "type": "object", "additionalProperties": reference("Measured") }),
                        "When its statistics were measured, by the column or table",
                    ),
                ),
                (
                    "vms".to_owned(),
                    described(
                        list_of("VmOfHost"),
                        "The VMs that run here or have a place reserved here",
                    ),
                ),
                warnings(),
            ]),
            vec!["id", "vms"],
        );
        self.add(
            "Host",
            described(host, "A host, with what its VMs add up to"),
        );
        self.add(
            "Measured",
            described(
                closed(
                    Map::from_iter([
                        seconds("measured", "When, in seconds since 1970-01-01 UTC"),
                        time("measured", json!("string")),
                        flag("outdated", "Whether it is too old to be used"),
                    ]),
                    vec!["measured", "measured-time", "outdated"],
                ),
                "When something was measured of a host",
            ),
        );
        self.add(
            "VmOfHost",
            described(
                closed(
                    Map::from_iter([
                        text("id", "Id of the VM", "web-1"),
                        flag(
                            "pending",
                            "Whether its place is reserved and it does not run there yet",
                        ),
                    ]),
                    vec!["id", "pending"],
                ),
                "A VM that runs on a host or has a place reserved there",
            ),
        );
        self.shown_vm();
        let tenant = self.row(
            "tenant",
            "Tenant",
            Form::Shown,
            Map::from_iter([text("id", "Id of the tenant", "shop"), warnings()]),
            vec!["id"],
        );
        self.add("Tenant", described(tenant, "A tenant"));
        let rule = json!({ "type": "string", "enum": words::<cluster::Rule>() });
        self.add(
            "GroupRule",
            described(
                rule,
                "Whether VMs are wanted together (positive) or apart (negative)",
            ),
        );
        let mut group = group(given::GROUP);
        if let Some(properties) = group["properties"].as_object_mut() {
            properties.extend([warnings()]);
        }
        self.add("Group", described(group, "An affinity group"));
    }

    fn shown_vm(&mut self) {
        let reserved = closed(
            Map::from_iter([
                text("host", "Id of the host", "h1"),
                (
                    "expires".to_owned(),
                    described(
                        json!({ "type": ["integer", "null"], "format": "int64", "examples": [1_764_000_300] }),
                        "The second after which the place is free again, counted from 1970-01-01 UTC; null: it stays reserved",
                    ),
                ),
                time("expires", json!(["string", "null"])),
                (
                    "changes".to_owned(),
                    described(
                        json!({ "type": "object", "additionalProperties": true }),
                        "What a VM that runs is to have otherwise once this is confirmed: columns and tables as they are to be; null: none. Absent if nothing changes but the host",
                    ),
                ),
            ]),
            vec!["host", "expires", "expires-time"],
        );
        self.add(
            "ReservedPlace",
            described(reserved, "A place that is reserved for a VM"),
        );
        let mut keys = pinning();
        keys.extend([
            text("id", "Id of the VM, unique in the cluster", "web-1"),
            text(
                "host",
                "Id of the host where it runs; absent if it does not run yet",
                "h1",
            ),
            (
                "reserved".to_owned(),
                described(
                    json!({ "anyOf": [reference("ReservedPlace")] }),
                    "The place that is reserved for it, if one is",
                ),
            ),
            warnings(),
        ]);
        let vm = self.row("hosts/vms", "Vm", Form::Shown, keys, vec!["id"]);
        self.add(
            "Vm",
            described(vm, "A VM that runs or has a place reserved"),
        );
    }

    /// What documents give.
    pub(super) fn documents(&mut self) {
        self.add(
            "LocationScore",
            described(location(), "A score that a VM has for a host"),
        );
        let mut host = keys(given::HOST);
        host.insert(
            "vms".to_owned(),
            described(list_of("VmDocument"), "The VMs on the host"),
        );
        let host = self.row("hosts", "Host", Form::Written, host, required(given::HOST));
        self.add_with_example("HostDocument", host, "A host", examples::host());
        let mut vm = keys(given::VM);
        vm.extend(pinning());
        let vm = self.row("hosts/vms", "Vm", Form::Written, vm, required(given::VM));
        let mut beside = vm.clone();
        beside["properties"]["host"] = keys(given::VM)["host"].clone();
        beside["required"] = json!(["id", "host"]);
        self.add_with_example("VmDocument", vm, "A VM that has a place", examples::vm());
        self.add_with_example(
            "PlacedVmDocument",
            beside,
            "A VM that has a place, beside all hosts",
            examples::vm(),
        );
        let tenant = self.row(
            "tenant",
            "Tenant",
            Form::Written,
            keys(cluster::TENANT),
            required(cluster::TENANT),
        );
        self.add_with_example("TenantDocument", tenant, "A tenant", examples::tenant());
        self.add_with_example(
            "GroupDocument",
            group(given::GROUP),
            "An affinity group",
            examples::group(),
        );
        self.attributes();
        let mut whole = keys(cluster::FORM);
        whole.extend([
            of("hosts", "HostDocument", "The hosts"),
            of(
                "vms",
                "PlacedVmDocument",
                "The VMs that run or have a place reserved; they may also stand inside their hosts",
            ),
            of(
                "groups",
                "GroupDocument",
                "The affinity groups of VMs and hosts",
            ),
            of("tenants", "TenantDocument", "The tenants that own VMs"),
            one(
                "attributes",
                "AttributeDefinitions",
                "Columns and tables that this deployment adds",
            ),
        ]);
        let whole = self.row(
            "cluster",
            "Cluster",
            Form::Written,
            whole,
            required(cluster::FORM),
        );
        self.add_with_example(
            "ClusterDocument",
            whole,
            "A cluster of hosts, with the VMs on them",
            examples::cluster(),
        );
    }

    /// What is put at paths of its own: each of them as in a document, where whatever may be left out
    /// may be null. Its id is that of the path.
    pub(super) fn bodies(&mut self) {
        for (name, path) in [
            ("Host", "{host}"),
            ("Vm", "{vm}"),
            ("Group", "{group}"),
            ("Tenant", "{tenant}"),
        ] {
            let document = self.schemas.get(&format!("{name}Document"));
            let mut body = or_null(document.cloned().unwrap_or_default());
            if let Some(required) = body["required"].as_array_mut() {
                required.retain(|key| *key != "id");
            }
            let meaning = format!("Its id: that of the path, which may be left out here ({path})");
            body["properties"]["id"]["description"] = meaning.into();
            self.add(&format!("{name}Body"), body);
        }
    }

    fn attributes(&mut self) {
        let kinds = json!({ "type": "string", "enum": words::<Kind>() });
        self.add(
            "AttributeKind",
            described(kinds, "Of which kind the values of an attribute are"),
        );
        let measures = json!({ "type": "string", "enum": words::<Measure>() });
        let meaning = "The unit of measure of the values of an attribute";
        self.add("AttributeMeasure", described(measures, meaning));
        let column = attribute(given::COLUMN);
        self.add(
            "AttributeColumn",
            described(column, "A column of an attribute that is a table"),
        );
        let mut whole = attribute(given::ATTRIBUTE);
        whole["properties"]["table"] = described(
            json!({
                "type": "object",
                "additionalProperties": {
                    "anyOf": [reference("AttributeKind"), reference("AttributeColumn")]
                }
            }),
            "For an attribute that is a table: its columns, by name",
        );
        self.add(
            "AttributeDefinition",
            described(whole, "What an attribute is"),
        );
        let by_name = json!({
            "type": "object",
            "additionalProperties": {
                "anyOf": [reference("AttributeKind"), reference("AttributeDefinition")]
            }
        });
        let entities = cluster::ATTRIBUTES.iter();
        let entities = entities.map(|key| {
            let meaning = format!("{}, by name", key.meaning);
            (key.name.to_owned(), described(by_name.clone(), &meaning))
        });
        let entities = closed(entities.collect(), Vec::new());
        self.add(
            "AttributeDefinitions",
            described(entities, "Columns and tables that a deployment adds"),
        );
    }

    /// What is different.
    pub(super) fn changes(&mut self) {
        for (name, table, noun, form, meaning) in [
            (
                "HostChange",
                "hosts",
                "Host",
                changes::HOST,
                "What is different of a host, or a new one",
            ),
            (
                "HostMeasurements",
                "hosts",
                "Host",
                changes::STATISTICS,
                "What was measured of a host",
            ),
            (
                "VmChange",
                "hosts/vms",
                "Vm",
                changes::VM,
                "What is different of a VM, or a new one",
            ),
            (
                "TenantChange",
                "tenant",
                "Tenant",
                changes::TENANT,
                "What is different of a tenant, or a new one",
            ),
        ] {
            let mut keys = keys(form);
            if table == "hosts/vms" {
                keys.extend(pinning());
            }
            let row = self.row(table, noun, Form::Changed, keys, required(form));
            let meaning = format!("{meaning}; null takes a value away");
            self.add(name, described(row, &meaning));
        }
        let mut group = group(changes::GROUP);
        if let Some(properties) = group["properties"].as_object_mut() {
            nullable(properties, &required(changes::GROUP));
        }
        self.add(
            "GroupChange",
            described(
                group,
                "What is different of an affinity group, or a new one",
            ),
        );
        // The id of what is changed by itself stands in the path.
        for name in ["HostChange", "VmChange", "TenantChange", "GroupChange"] {
            let mut alone = self.schemas.get(name).cloned().unwrap_or_default();
            if let Some(schema) = alone.as_object_mut() {
                schema.remove("required");
            }
            let name = name.replace("Change", "Patch");
            self.add(&name, alone);
        }
        self.add(
            "GoneEntities",
            described(object(changes::GONE), "Ids of what is there no more"),
        );
        let mut all = keys(changes::FORM);
        all.extend([
            of("hosts", "HostChange", "Hosts that are new or different"),
            of(
                "statistics",
                "HostMeasurements",
                "What was measured of hosts",
            ),
            of("vms", "VmChange", "VMs that are new or different"),
            of(
                "groups",
                "GroupChange",
                "Affinity groups that are new or different",
            ),
            of(
                "tenants",
                "TenantChange",
                "Tenants that are new or different",
            ),
            one(
                "attributes",
                "AttributeDefinitions",
                "Columns and tables that are added",
            ),
            one("gone", "GoneEntities", "What is there no more"),
        ]);
        self.add_with_example(
            "InventoryChanges",
            strings(closed(all, required(changes::FORM))),
            "Changes of a cluster, of which all are carried out or none",
            examples::changes(),
        );
    }

    /// What is to be placed.
    pub(super) fn requests(&mut self) {
        let mut member = keys(VM);
        member.extend(pinning());
        let vm = self.row("members", "Vm", Form::Written, member.clone(), required(VM));
        self.add_with_example(
            "RequestedVm",
            or_null(vm),
            "A VM of a request; of one that the cluster knows the id is enough",
            examples::vm_of_request(),
        );
        let mut alone = self.row("request", "Request", Form::Written, Map::new(), Vec::new());
        let of_request = alone["properties"].take();
        // A column of the request that a VM has, too, is meant for both.
        let mut all = of_request.as_object().cloned().unwrap_or_default();
        all.extend(keys(REQUEST));
        all.extend(member);
        let vm = self.row("members", "Vm", Form::Written, all, required(VM));
        self.add_with_example(
            "VmToPlace",
            or_null(vm),
            "A VM to be placed by itself: a request for one VM",
            examples::vm_to_place(),
        );
        let either = json!({ "anyOf": [reference("RequestedVm"), { "type": "string" }] });
        let vms = || {
            let mut vms = described(list(either.clone()), VMS.meaning);
            vms["examples"] = json!([["web-1"]]);
            vms
        };
        let mut whole = keys(REQUEST);
        whole.insert(VMS.name.to_owned(), vms());
        let request = self.row(
            "request",
            "Request",
            Form::Written,
            whole.clone(),
            vec![VMS.name],
        );
        self.add(
            "WholeRequest",
            described(
                or_null(request),
                "A request of a batch, of which the VMs go on one host. All requests of a batch have \
                 the same values, but for `vms`, `again` and the tenant; none has `allowed`, \
                 `excluded`, `preferred-hosts` or `force`. `dry-run` and `all-or-nothing` of one hold \
                 for all",
            ),
        );
        whole.extend(keys(&[TOGETHER]));
        let request = self.row("request", "Request", Form::Written, whole, vec![VMS.name]);
        self.add_with_example(
            "PlacementRequest",
            request,
            "VMs to be placed: together on one host, or each where it suits",
            examples::request(),
        );
        let requests = of(REQUESTS[0].name, "WholeRequest", REQUESTS[0].meaning);
        self.add(
            "RequestList",
            described(
                closed(Map::from_iter([requests]), vec![REQUESTS[0].name]),
                "Several requests, in order",
            ),
        );
    }

    fn add_with_example(&mut self, name: &str, schema: Json, meaning: &str, example: Json) {
        let mut schema = described(schema, meaning);
        schema["examples"] = json!([example]);
        self.add(name, schema);
    }
}

/// The properties of a form, each with the type of its value.
fn keys(form: &[Key]) -> Map<String, Json> {
    let mut keys = properties(form);
    for schema in keys.values_mut() {
        *schema = strings(schema.take());
    }
    keys
}

/// Say of words that they are texts.
fn strings(mut schema: Json) -> Json {
    if schema.get("enum").is_some() && schema.get("type").is_none() {
        schema["type"] = json!("string");
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        for property in properties.values_mut() {
            *property = strings(property.take());
        }
    }
    if let Some(items) = schema.get_mut("items") {
        *items = strings(items.take());
    }
    schema
}

fn group(form: &[Key]) -> Json {
    let mut group = strings(object(form));
    for key in ["rule", "host-rule"] {
        let meaning = group["properties"][key]["description"].clone();
        let meaning = meaning.as_str().unwrap_or_default();
        group["properties"][key] = described(reference("GroupRule"), meaning);
    }
    group
}

fn attribute(form: &[Key]) -> Json {
    let mut attribute = strings(object(form));
    for (key, name) in [("kind", "AttributeKind"), ("measure", "AttributeMeasure")] {
        let meaning = attribute["properties"][key]["description"].clone();
        let meaning = meaning.as_str().unwrap_or_default();
        attribute["properties"][key] = described(reference(name), meaning);
    }
    attribute
}

fn location() -> Json {
    let location = properties(&[crate::pinning::LOCATION]);
    location["location"]["items"].clone()
}

/// The hosts that a VM names.
fn pinning() -> Map<String, Json> {
    use crate::pinning::{LOCATION, PINNED, PREFERRED};
    let mut keys = properties(&[PINNED, PREFERRED]);
    keys.extend([of(LOCATION.name, "LocationScore", LOCATION.meaning)]);
    keys
}

fn of(key: &str, name: &str, meaning: &str) -> (String, Json) {
    (key.to_owned(), described(list_of(name), meaning))
}

fn one(key: &str, name: &str, meaning: &str) -> (String, Json) {
    (key.to_owned(), described(reference(name), meaning))
}

fn text(key: &str, meaning: &str, example: &str) -> (String, Json) {
    let text = json!({ "type": "string", "examples": [example] });
    (key.to_owned(), described(text, meaning))
}

/// What was wrong, beside what is shown.
fn warnings() -> (String, Json) {
    let mut texts = list(json!({ "type": "string" }));
    texts["examples"] = json!([["VM \"web-3\" has no \"memory\": it counts as 0"]]);
    ("warnings".to_owned(), described(texts, WARNINGS))
}

/// A time in seconds.
fn seconds(key: &str, meaning: &str) -> (String, Json) {
    let example = example(Measure::Time, Kind::Integer);
    let integer = json!({ "type": "integer", "format": "int64", "examples": [example] });
    (key.to_owned(), described(integer, meaning))
}

/// The time after RFC 3339 that stands beside the one in seconds under `key`.
fn time(key: &str, kinds: Json) -> (String, Json) {
    let mut time = time_schema();
    time["type"] = kinds;
    (
        rfc3339_key(key).into_owned(),
        described(time, "The same time"),
    )
}

fn flag(key: &str, meaning: &str) -> (String, Json) {
    (
        key.to_owned(),
        described(json!({ "type": "boolean" }), meaning),
    )
}
