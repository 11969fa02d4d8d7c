//! What the API's description says of the routes of a kind of entity.

use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{
    Content, ContentBuilder, Header, HeaderBuilder, ObjectBuilder, Ref, Required, ResponseBuilder,
    ResponsesBuilder,
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
    operation::<E>("get", E::SHOW).responses(shown::<E>(&["200"]))
}

fn put<E: Entity>() -> OperationBuilder {
    operation::<E>("put", E::PUT)
        .parameter(if_match::<E>("replaced"))
        .parameter(header(
            "If-None-Match",
            format!("* to add a new {} only", E::NOUN),
        ))
        .request_body(Some(body(
            format!(
                "The {} as in the cluster's document; its id is that of the path",
                E::NOUN
            ),
            &format!("{}Body", E::SCHEMA),
        )))
        .responses(shown::<E>(&["200", "201"]))
}

fn change<E: Entity>() -> OperationBuilder {
    operation::<E>("patch", E::CHANGE)
        .parameter(if_match::<E>("changed"))
        .request_body(Some(body(
            "The values to change".to_owned(),
            &format!("{}Patch", E::SCHEMA),
        )))
        .responses(shown::<E>(&["200"]))
}

fn remove<E: Entity>() -> OperationBuilder {
    let gone = ResponsesBuilder::new().response(
        "204",
        ResponseBuilder::new().description(format!("The {} is gone", E::NOUN)),
    );
    operation::<E>("delete", E::REMOVE)
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

fn body(meaning: String, schema: &str) -> RequestBody {
    RequestBodyBuilder::new()
        .description(Some(format!("{meaning}, in JSON or TOML")))
        .content("application/json", of(schema))
        .required(Some(Required::True))
        .build()
}

/// The entity as it is shown, for each of these statuses.
fn shown<E: Entity>(statuses: &[&str]) -> utoipa::openapi::Responses {
    let answer = |status: &str| {
        let described = ResponseBuilder::new().description(match status {
            "201" => format!("The {}, which is new", E::NOUN),
            _ => format!("The {} as it is now", E::NOUN),
        });
        let tag = answer_header("Of its document, to be sent as If-Match");
        let described = described.header("ETag", tag);
        let described = match status {
            "201" => described.header("Location", answer_header("Its path")),
            _ => described,
        };
        described.content("application/json", of(E::SCHEMA))
    };
    let responses = statuses.iter().map(|status| (*status, answer(status)));
    ResponsesBuilder::new()
        .responses_from_iter(responses)
        .build()
}

fn answer_header(meaning: &str) -> Header {
    let text = ObjectBuilder::new().schema_type(Type::String);
    HeaderBuilder::new()
        .schema(text)
        .description(Some(meaning))
        .build()
}

fn of(schema: &str) -> Content {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(schema)))
        .build()
}
