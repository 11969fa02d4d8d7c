//! Schemas of values that have no types of their own, for the OpenAPI document.

use utoipa::openapi::schema::{
    AnyOfBuilder, Array, ArrayBuilder, Object, ObjectBuilder, Schema, Type,
};

use placewright_model::Word;
use placewright_policy::Unheeded;

/// A value of a column: a number, a boolean or a text.
pub fn value() -> Schema {
    let kinds = [Type::Number, Type::Boolean, Type::String];
    let kinds = kinds.map(of_kind);
    let either = kinds
        .into_iter()
        .fold(AnyOfBuilder::new(), AnyOfBuilder::item);
    Schema::AnyOf(either.description(Some("A value of a column")).build())
}

fn of_kind(kind: Type) -> ObjectBuilder {
    let schema = ObjectBuilder::new();
    let schema = match kind {
        Type::Number => schema.examples([0.35]),
        Type::String => schema.examples(["z1"]),
        _ => schema,
    };
    schema.schema_type(kind)
}

/// The same, or null.
pub fn nullable_value() -> Schema {
    let kinds = [Type::Number, Type::Boolean, Type::String, Type::Null];
    let kinds = kinds.map(of_kind);
    let either = kinds
        .into_iter()
        .fold(AnyOfBuilder::new(), AnyOfBuilder::item);
    Schema::AnyOf(either.build())
}

/// A table, and the id or number of a row of it.
pub fn pair() -> Array {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .examples(["hosts"]);
    let pair = ArrayBuilder::new().items(text);
    let pair = pair.min_items(Some(2)).max_items(Some(2));
    let meaning = "The name of a table, and the id or number of a row of it";
    pair.description(Some(meaning)).build()
}

/// Several of them.
pub fn pairs() -> Array {
    let pair = Schema::Array(pair());
    let pairs = ArrayBuilder::new().items(utoipa::openapi::RefOr::T(pair));
    let meaning = "What it is about: tables, each with the id or number of a row of it";
    pairs.description(Some(meaning)).build()
}

/// What becomes of requests with a need that nobody checks.
pub fn unheeded() -> Object {
    let words = Unheeded::WORDS.iter().map(|(word, _)| *word);
    let words = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words));
    words
        .description(Some("What becomes of a request with it"))
        .build()
}
