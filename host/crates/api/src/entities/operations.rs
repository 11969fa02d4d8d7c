//! What the API's description says of the routes of a kind of entity.

use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{
    Content, ContentBuilder, ObjectBuilder, Required, ResponseBuilder, ResponsesBuilder,
};

use super::kinds::Entity;

/// The routes of a kind of entity, at the path at which they are.
pub(super) fn paths<E: Entity>() -> Paths {
    let path = format!(
        "/v1/clusters/{{cluster}}/{}/{{{}}}",
        E::KIND.list(),
        E::NAME
    );
    let operations = [
        (HttpMethod::Get, show::<E>()),
        (HttpMethod::Put, put::<E>()),
        (HttpMethod::Patch, change::<E>()),
        (HttpMethod::Delete, remove::<E>()),
    ];
    let mut paths = Paths::new();
    for (method, operation) in operations {
        paths.add_path_operation(&path, vec![method], operation);
    }
    paths
}

fn show<E: Entity>() -> OperationBuilder {
    operation::<E>("show", E::SHOW).responses(documents(&["200"]))
}

fn put<E: Entity>() -> OperationBuilder {
    operation::<E>("put", E::PUT)
        .parameter(if_match::<E>("replaced"))
        .parameter(header(
            "If-None-Match",
            format!("* to add a new {} only", E::NOUN),
        ))
        .request_body(Some(body(format!(
            "The {} as in the cluster's document",
            E::NOUN
        ))))
        .responses(documents(&["200", "201"]))
}

fn change<E: Entity>() -> OperationBuilder {
    operation::<E>("change", E::CHANGE)
        .parameter(if_match::<E>("changed"))
        .request_body(Some(body("The values to change".to_owned())))
        .responses(documents(&["200"]))
}

fn remove<E: Entity>() -> OperationBuilder {
    let gone = ResponsesBuilder::new().response("204", ResponseBuilder::new());
    operation::<E>("remove", E::REMOVE)
        .parameter(if_match::<E>("removed"))
        .responses(gone.build())
}

/// What all of them have: where the entity is, and what is done with it.
fn operation<E: Entity>(verb: &str, summary: &str) -> OperationBuilder {
    let id = format!("Id of the {}", E::NOUN);
    OperationBuilder::new()
        .tag("inventory")
        .operation_id(Some(format!("{verb}_{}", E::NAME)))
        .summary(Some(summary))
        .parameter(in_path("cluster", "Name of the cluster"))
        .parameter(in_path(E::NAME, &id))
}

fn in_path(name: &str, meaning: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(meaning))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn if_match<E: Entity>(what_becomes_of_it: &str) -> Parameter {
    let meaning = format!("ETag of the {} that is {what_becomes_of_it}", E::NOUN);
    header("If-Match", meaning)
}

/// A header that may be left out.
fn header(name: &str, meaning: String) -> Parameter {
    let optional = SchemaType::from_iter([Type::String, Type::Null]);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(meaning))
        .schema(Some(ObjectBuilder::new().schema_type(optional)))
        .build()
}

fn body(meaning: String) -> RequestBody {
    RequestBodyBuilder::new()
        .description(Some(meaning))
        .content("application/json", document())
        .required(Some(Required::True))
        .build()
}

/// The entity's document, for each of these statuses.
fn documents(statuses: &[&str]) -> utoipa::openapi::Responses {
    let answer = || ResponseBuilder::new().content("application/json", document());
    let responses = statuses.iter().map(|status| (*status, answer()));
    ResponsesBuilder::new()
        .responses_from_iter(responses)
        .build()
}

fn document() -> Content {
    ContentBuilder::new()
        .schema(Some(ObjectBuilder::new()))
        .build()
}
