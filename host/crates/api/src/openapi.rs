//! The API in OpenAPI, made from the routes.

mod amounts;
#[cfg(test)]
mod breaking;
mod exclusive;
mod headers;
mod shape;

use std::sync::OnceLock;

use serde_json::Value as Json;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, Content, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder,
    PathItem, RefOr, ResponseBuilder, extensions::ExtensionsBuilder, schema,
};
use utoipa::{PartialSchema, ToSchema};

use super::{RULES, contract};
use placewright_deployment::EventKind;
use placewright_document::Word;
use placewright_http::compression::Compressed;
use placewright_http::permission::{BodySize, Rule, Scope};
use placewright_http::problem::{PROBLEM_TYPE, ProblemBody};

/// The name of the one way to show who calls.
const TOKEN: &str = "token";

/// The document without routes.
pub(super) fn frame() -> OpenApi {
    let mut license = LicenseBuilder::new().name("Apache-2.0").build();
    license.identifier = Some("Apache-2.0".to_owned());
    let info = InfoBuilder::new()
        .title("Placewright")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Places virtual machines by policies made of WebAssembly units. Errors are problem \
             details after RFC 9457. A number means what its text means: memory is in bytes, \
             CPU in cores (4 and \"4\" are four cores, 0.5 is half of one), durations are in \
             seconds, times in seconds since 1970-01-01 UTC; texts such as \"8 GiB\", \"500m\", \
             \"2 min\" and \"2030-03-17T18:46:40+01:00\" are taken, too. What is given is written by the \
             same rule. Each time in seconds has the same after RFC 3339 beside it (format date-time), \
             under its name and \"-time\", as in expires and expires-time, and under \"time\" beside \
             \"at\"; new times are after RFC 3339 only. Within a version \
             answers may get new keys, and new words where a key has one of a few: clients pass \
             over what they do not know.",
        ))
        .license(Some(license));
    OpenApiBuilder::new().info(info.build()).build()
}

/// Take out types that are none, which parameters have whose schema is one of several.
fn leave_out_no_types(value: &mut Json) {
    match value {
        Json::Object(object) => {
            object.retain(|key, value| key != "type" || !value.is_null());
            object.values_mut().for_each(leave_out_no_types);
        }
        Json::Array(values) => values.iter_mut().for_each(leave_out_no_types),
        _ => {}
    }
}

/// A body that need not be sent is not null where it is sent.
fn leave_out_no_bodies(paths: &mut Json) {
    let items = paths.as_object_mut().into_iter().flatten();
    let operations = items.filter_map(|(_, item)| item.as_object_mut()).flatten();
    for (_, operation) in operations {
        let content = operation.pointer_mut("/requestBody/content");
        let content = content.and_then(Json::as_object_mut);
        for (_, kind) in content.into_iter().flatten() {
            let Some(variants) = kind["schema"]["oneOf"].as_array() else {
                continue;
            };
            let mut others = variants.iter().filter(|it| it["type"] != "null");
            if let (Some(only), None) = (others.next().cloned(), others.next()) {
                kind["schema"] = only;
            }
        }
    }
}

/// The API in OpenAPI: routes, schemas, and what each route needs. It is the contract that
/// clients are made from.
pub fn openapi() -> Json {
    let mut document = serde_json::to_value(routes()).unwrap_or_default();
    shape::shape(&mut document, contract::schemas());
    leave_out_no_types(&mut document["paths"]);
    leave_out_no_bodies(&mut document["paths"]);
    headers::describe(&mut document);
    let kinds = &mut document["components"]["schemas"]["EventKind"];
    kinds["description"] = kinds_of_events().into();
    kinds["x-keys"] = keys_of_events();
    document
}

/// What each kind of event tells.
fn kinds_of_events() -> String {
    let kinds = EventKind::WORDS.iter();
    let kinds = kinds.map(|(word, kind)| {
        let keys = kind.keys().iter().map(|key| format!("`{key}`"));
        let keys: Vec<String> = keys.collect();
        let keys = match keys.is_empty() {
            true => String::new(),
            false => format!(" It may have {}.", keys.join(", ")),
        };
        format!("- `{word}`: {}{keys}", kind.meaning())
    });
    let kinds: Vec<String> = kinds.collect();
    format!("What happened.\n\n{}", kinds.join("\n"))
}

/// Which keys an event of a kind may have besides those that all events have.
fn keys_of_events() -> Json {
    let kinds = EventKind::WORDS.iter();
    kinds
        .map(|(word, kind)| ((*word).to_owned(), Json::from(kind.keys())))
        .collect()
}

/// The routes with what is the same for all of them.
fn routes() -> OpenApi {
    let mut document = super::families(None).into_openapi();
    let components = document.components.get_or_insert_with(Components::new);
    let mut schemas = vec![(ProblemBody::name().into_owned(), ProblemBody::schema())];
    ProblemBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.add_security_scheme(
        TOKEN,
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some("A token made by `placewright token new`"))
                .build(),
        ),
    );
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            let known = |rule: &&Rule| rule.path == path && rule.method == method;
            finish(operation, RULES.iter().find(known));
        }
    }
    document
}

/// The document as it is served: made and compressed once. None: it cannot be compressed.
pub(super) fn text() -> Option<&'static Compressed> {
    static TEXT: OnceLock<Option<Compressed>> = OnceLock::new();
    TEXT.get_or_init(|| Compressed::new("application/json", openapi().to_string()).ok())
        .as_ref()
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    [
        ("GET", item.get.as_mut()),
        ("PUT", item.put.as_mut()),
        ("POST", item.post.as_mut()),
        ("DELETE", item.delete.as_mut()),
        ("PATCH", item.patch.as_mut()),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation?)))
}

/// The body of a refusal.
fn problem() -> Content {
    let problem = schema::Ref::from_schema_name(ProblemBody::name());
    ContentBuilder::new().schema(Some(problem)).build()
}

/// Add what is the same for all routes: what errors look like, and the role needed.
fn finish(operation: &mut Operation, rule: Option<&Rule>) {
    let responses = &mut operation.responses.responses;
    let response = ResponseBuilder::new()
        .description("A problem; `code` says of which kind")
        .content(PROBLEM_TYPE, problem());
    responses
        .entry("default".to_owned())
        .or_insert(RefOr::T(response.build()));
    // Whatever a route says of its own refusals, what stands before it refuses with a problem.
    let refusals = responses
        .iter_mut()
        .filter(|(status, _)| status.starts_with(['4', '5']));
    for (_, refusal) in refusals {
        if let RefOr::T(refusal) = refusal {
            let content = refusal.content.entry(PROBLEM_TYPE.to_owned());
            content.or_insert_with(problem);
        }
    }
    if rule.is_some_and(|rule| rule.is_conditional) {
        let response = ResponseBuilder::new()
            .description("It is not as If-Match or If-None-Match says, and nothing is changed")
            .content(PROBLEM_TYPE, problem())
            .build();
        let responses = responses.entry("412".to_owned());
        responses.or_insert(RefOr::T(response));
    }
    let bound = match rule.map_or(BodySize::Nothing, |rule| rule.body) {
        BodySize::Nothing => None,
        BodySize::Form => Some("16 KiB"),
        BodySize::Usual => Some("1 MiB"),
        BodySize::Batch => Some("4 MiB"),
        BodySize::Whole => Some("the option request-body says, 64 MiB if it is not given"),
    };
    if let Some(bound) = bound {
        let refused = [
            (
                "413",
                format!("The body is larger than {bound}, as it was sent or unpacked"),
            ),
            (
                "415",
                "The body is of another type or encoding; `Accept-Encoding` says which encodings \
                 are taken"
                    .to_owned(),
            ),
        ];
        for (status, meaning) in refused {
            let response = ResponseBuilder::new()
                .description(meaning)
                .content(PROBLEM_TYPE, problem())
                .build();
            let responses = &mut operation.responses.responses;
            let responses = responses.entry(status.to_owned());
            responses.or_insert(RefOr::T(response));
        }
    }
    let Some((permission, scope)) = rule.and_then(|rule| rule.needs) else {
        operation.security = Some(Vec::new());
        return;
    };
    operation.security = Some(vec![SecurityRequirement::new(TOKEN, Vec::<String>::new())]);
    let scope = match scope {
        Scope::Cluster => "the cluster in the path",
        Scope::Any => "any cluster; only what belongs to the token's clusters is shown or changed",
        Scope::All => "all clusters",
    };
    // One object: extensions beside each other come in no order.
    let mut needs =
        serde_json::json!({ "role": permission.least_role().word(), "clusters": scope });
    if let Some(to_try) = rule.and_then(|rule| rule.to_try) {
        needs["role-with-dry-run"] = to_try.least_role().word().into();
    }
    let needs = ExtensionsBuilder::new().add("x-needs", needs).build();
    operation.extensions.get_or_insert_default().merge(needs);
}

#[cfg(test)]
mod tests;
