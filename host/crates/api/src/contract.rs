//! Bodies of the API that have no Rust types of their own: documents, and what is shown of an
//! inventory, are made from the schema of columns. Here each has its name in the contract.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::placing::BatchShown;
use placewright_deployment::NAME_PATTERN;
use placewright_deployment::cluster::{EntityKind, Standing};
use placewright_document::contract;
use placewright_policy::policy_json_schema;
use placewright_scheduler::DecisionShown;

/// Types that stand for the schemas of these names.
macro_rules! named {
    ($($(#[doc = $meaning:literal])+ $name:ident,)*) => {
        $(
            $(#[doc = $meaning])+
            #[derive(Debug)]
            pub(super) enum $name {}

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    Ref::from_schema_name(stringify!($name)).into()
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}

named! {
    /// The document of a cluster.
    ClusterDocument,
    /// A document of changes.
    InventoryChanges,
    /// A host as it is shown.
    Host,
    /// A VM as it is shown.
    Vm,
    /// An affinity group.
    Group,
    /// A tenant.
    Tenant,
    /// A request for VMs.
    PlacementRequest,
    /// The document of a policy.
    PolicyDocument,
    /// This API in OpenAPI.
    OpenApiDocument,
}

/// The schemas that stand for these types, and those that they refer to, by name.
pub(super) fn schemas() -> Map<String, Json> {
    let mut schemas = contract();
    // No file gives its name to a document that comes in a request. Where a cluster is replaced, one
    // that lacks it is taken all the same: the path names the cluster.
    if let Some(cluster) = schemas.get_mut("ClusterDocument") {
        cluster["required"] = json!(["name"]);
        let meaning = "Name of the cluster, unique on the server";
        let known = cluster["properties"]["name"].take();
        cluster["properties"]["name"] = json!({
            "type": "string",
            "pattern": NAME_PATTERN,
            "description": meaning,
            "examples": known["examples"],
        });
    }
    let settings = json!({
        "type": "object",
        "description": "Settings of a unit, by name; placewright unit inspect says which it has",
        "additionalProperties": reference("SettingValue"),
    });
    schemas.insert("Settings".to_owned(), settings);
    let value = json!({
        "description": "A value of a setting: a number, a truth value, a text such as \"8 GiB\", or the rows of a table",
        "anyOf": [
            { "type": ["number", "boolean", "string"] },
            { "type": "array", "items": {
                "type": "object",
                "additionalProperties": { "type": ["number", "boolean", "string", "null"] }
            } },
        ],
    });
    schemas.insert("SettingValue".to_owned(), value);
    schemas.insert("PolicyDocument".to_owned(), policy());
    let openapi = json!({
        "type": "object",
        "description": "This document, in OpenAPI 3.1",
        "additionalProperties": {},
    });
    schemas.insert("OpenApiDocument".to_owned(), openapi);
    schemas
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schema of a policy document that editors use, with types for what it leaves open.
fn policy() -> Json {
    let mut policy = policy_json_schema().to_value();
    if let Json::Object(policy) = &mut policy {
        policy.remove("$schema");
        policy.remove("title");
    }
    close(&mut policy);
    policy
}

fn close(schema: &mut Json) {
    // Generators take what has alternatives for these, and nothing else.
    if let (true, Some(schema)) = (schema["type"] == "object", schema.as_object_mut()) {
        schema.remove("anyOf");
    }
    if schema["type"] == "object"
        && let Some(properties) = schema["properties"].as_object_mut()
    {
        for (name, property) in properties {
            let is_open = property["type"] == "object" && property.get("properties").is_none();
            match name.as_str() {
                "settings" if is_open => {
                    let meaning = property["description"].take();
                    *property = reference("Settings");
                    property["description"] = meaning;
                }
                _ if is_open => property["additionalProperties"] = json!({ "type": "string" }),
                _ if property.get("type").is_none() && property.get("enum").is_none() => {
                    property["type"] = json!(["number", "boolean", "string"]);
                }
                _ if property.get("enum").is_some() => property["type"] = json!("string"),
                _ => close(property),
            }
        }
    }
    if let Some(items) = schema.get_mut("items") {
        close(items);
        if items.get("enum").is_some() {
            items["type"] = json!("string");
        }
    }
}

/// One of the schemas of these names.
fn one_of(names: &[&str]) -> RefOr<Schema> {
    let names = names.iter().map(|name| Ref::from_schema_name(*name));
    let one = names.fold(OneOfBuilder::new(), OneOfBuilder::item);
    Schema::OneOf(one.build()).into()
}

/// What an inventory consists of, as its own route shows it.
#[derive(Debug)]
pub(super) enum Entity {}

impl PartialSchema for Entity {
    fn schema() -> RefOr<Schema> {
        one_of(&["Host", "Vm", "Group", "Tenant"])
    }
}

impl ToSchema for Entity {}

/// A text of which the server takes these words alone.
pub(super) fn one_of_words<'w>(words: impl Iterator<Item = &'w str>) -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(utoipa::openapi::Type::String);
    let one = text.enum_values(Some(words.map(str::to_owned)));
    Schema::Object(one.build()).into()
}

/// What an inventory that is followed tells of.
#[derive(Debug)]
pub(super) enum FollowedKind {}

impl PartialSchema for FollowedKind {
    fn schema() -> RefOr<Schema> {
        one_of_words(EntityKind::ALL.into_iter().map(EntityKind::word))
    }
}

impl ToSchema for FollowedKind {}

/// A VM to be placed by itself, or a request with its VMs.
#[derive(Debug)]
pub(super) enum OneRequest {}

impl PartialSchema for OneRequest {
    fn schema() -> RefOr<Schema> {
        one_of(&["VmToPlace", "PlacementRequest"])
    }
}

impl ToSchema for OneRequest {}

/// A list of VMs, or of requests.
#[derive(Debug)]
pub(super) enum Requests {}

impl PartialSchema for Requests {
    fn schema() -> RefOr<Schema> {
        one_of(&["PlacementRequest", "RequestList"])
    }
}

impl ToSchema for Requests {}

/// The bytes of a component.
#[derive(Debug)]
pub(super) enum Component {}

impl PartialSchema for Component {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new().schema_type(utoipa::openapi::Type::String);
        let format =
            utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::Binary);
        let bytes = bytes.format(Some(format));
        let bytes = bytes.description(Some("A WebAssembly component"));
        Schema::Object(bytes.build()).into()
    }
}

impl ToSchema for Component {}

/// The bytes of a database of SQLite.
#[derive(Debug)]
pub(super) enum Database {}

impl PartialSchema for Database {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new().schema_type(utoipa::openapi::Type::String);
        let format =
            utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::Binary);
        let bytes = bytes.format(Some(format));
        let bytes = bytes.description(Some(
            "A copy of what a server has stored, a database of SQLite",
        ));
        Schema::Object(bytes.build()).into()
    }
}

impl ToSchema for Database {}

/// A decision. If the same request came before with the same Idempotency-Key, the decision of
/// then.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "number": 17,
    "vms": ["web-3"],
    "host": "h1",
    "reserved": true,
    "expires": 1_764_000_300,
    "expires-time": "2025-11-24T16:05:00Z",
    "considered": 12,
    "tied": 1,
    "costs": [0.25],
    "removed": [
        { "filter": "memory", "reason": "has too little memory", "passing": false, "hosts": 3 }
    ],
    "left-out": [],
    "draw": 0.61,
    "inventory-version": 4711
})))]
pub(super) struct Placement {
    #[serde(flatten)]
    decision: DecisionShown<'static>,
    /// Of a decision that is answered again, and of which the places are no longer held: what
    /// has become of them.
    #[schema(required = false)]
    reservation: Standing,
}

/// What came of a batch.
#[derive(Serialize, ToSchema)]
pub(super) struct BatchPlacement {
    #[serde(flatten)]
    shown: BatchShown,
    /// The decisions, in the order in which they were made.
    decisions: Vec<Placement>,
}
