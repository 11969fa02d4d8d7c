//! Kinds and single values, and their way to and from the model's.

use wasmtime::component::{ComponentType, Lift};

use placewright_model as model;

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Kind {
    /// A whole number within ±(2^53 - 1).
    #[component(name = "integer")]
    Integer,
    /// A 64-bit float.
    #[component(name = "number")]
    Number,
    /// True or false.
    #[component(name = "boolean")]
    Boolean,
    /// A text.
    #[component(name = "text")]
    Text,
}

impl From<Kind> for model::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer,
            Kind::Number => Self::Number,
            Kind::Boolean => Self::Boolean,
            Kind::Text => Self::Text,
        }
    }
}

impl From<model::Kind> for Kind {
    fn from(kind: model::Kind) -> Self {
        match kind {
            model::Kind::Integer => Self::Integer,
            model::Kind::Number => Self::Number,
            model::Kind::Boolean => Self::Boolean,
            model::Kind::Text => Self::Text,
        }
    }
}

/// One value on its own.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(variant)]
pub enum Value {
    /// A whole number.
    #[component(name = "integer")]
    Integer(i64),
    /// A float.
    #[component(name = "number")]
    Number(f64),
    /// True or false.
    #[component(name = "boolean")]
    Boolean(bool),
    /// A text.
    #[component(name = "text")]
    Text(String),
}

impl From<&Value> for model::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(*value),
            Value::Number(value) => Self::Number(*value),
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Text(value) => Self::Text(value.as_str().into()),
        }
    }
}

impl From<&model::Value> for Value {
    fn from(value: &model::Value) -> Self {
        match value {
            model::Value::Integer(value) => Self::Integer(*value),
            model::Value::Number(value) => Self::Number(*value),
            model::Value::Boolean(value) => Self::Boolean(*value),
            model::Value::Text(value) => Self::Text(value.as_ref().to_owned()),
        }
    }
}
