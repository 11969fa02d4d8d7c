//! Values of settings as they are written in attributes: numbers, texts, and
//! amounts with units such as `"1 GiB"`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, Expr, ExprLit, ExprUnary, GenericArgument, Lit, PathArguments, Result, Type, UnOp,
};

/// The types that a setting may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SettingType {
    Integer,
    Number,
    Boolean,
    Text,
    Bytes,
    Millicores,
    Seconds,
}

/// A value of a setting.
#[derive(Clone, PartialEq)]
pub enum Value {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
}

impl SettingType {
    /// By the last name of the type.
    pub fn of(ty: &Type) -> Option<Self> {
        Some(match last_name(ty)?.0.as_str() {
            "i64" => Self::Integer,
            "f64" => Self::Number,
            "bool" => Self::Boolean,
            "Text" => Self::Text,
            "Bytes" => Self::Bytes,
            "Millicores" => Self::Millicores,
            "Seconds" => Self::Seconds,
            _ => return None,
        })
    }

    /// Is there an order, so that bounds make sense?
    pub fn is_ordered(self) -> bool {
        !matches!(self, Self::Boolean | Self::Text)
    }

    /// Reads a value as it is written in an attribute.
    pub fn value(self, expr: &Expr) -> Result<Value> {
        let value = match (self, literal(expr)?) {
            (Self::Number, Value::Integer(whole)) => Some(Value::Number(whole as f64)),
            (Self::Boolean, value @ Value::Boolean(_))
            | (Self::Text, value @ Value::Text(_))
            | (Self::Number, value @ Value::Number(_)) => Some(value),
            (Self::Boolean | Self::Text | Self::Number, _) => None,
            (_, Value::Integer(whole)) => Some(Value::Integer(whole)),
            (_, Value::Text(text)) => self.amount(&text).map(Value::Integer),
            (_, Value::Number(_) | Value::Boolean(_)) => None,
        };
        match value {
            Some(Value::Integer(whole)) if whole.unsigned_abs() >= 1 << 53 => {
                Err(Error::new_spanned(expr, "integers are below 2^53"))
            }
            Some(value) => Ok(value),
            None => Err(Error::new_spanned(expr, self.expected())),
        }
    }

    /// The value as Rust, for the author's own tests.
    pub fn rust(self, value: &Value) -> TokenStream {
        let value = match value {
            Value::Integer(whole) => quote!(#whole),
            Value::Number(number) => quote!(#number),
            Value::Boolean(boolean) => quote!(#boolean),
            Value::Text(text) => quote!(#text),
        };
        match self {
            Self::Integer | Self::Number | Self::Boolean => value,
            Self::Text => quote!(::placewright_sdk::text::Text::from(#value)),
            Self::Bytes => quote!(::placewright_sdk::amounts::Bytes(#value)),
            Self::Millicores => quote!(::placewright_sdk::amounts::Millicores(#value)),
            Self::Seconds => quote!(::placewright_sdk::amounts::Seconds(#value)),
        }
    }

    fn amount(self, text: &str) -> Option<i64> {
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
            .unwrap_or(text.len());
        let (digits, unit) = (&text[..end], text[end..].trim());
        let (_, per_unit) = self.units().iter().find(|(name, _)| *name == unit)?;
        let amount = digits.parse::<f64>().ok()? * *per_unit as f64;
        (amount.fract() == 0.0 && amount.abs() < (1i64 << 53) as f64).then_some(amount as i64)
    }

    fn units(self) -> &'static [(&'static str, i64)] {
        match self {
            Self::Bytes => &[
                ("B", 1),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
                ("TiB", 1 << 40),
                ("kB", 1_000),
                ("MB", 1_000_000),
                ("GB", 1_000_000_000),
                ("TB", 1_000_000_000_000),
            ],
            Self::Millicores => &[("m", 1), ("", 1000)],
            Self::Seconds => &[("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)],
            _ => &[],
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Integer => "expected a whole number",
            Self::Number => "expected a number",
            Self::Boolean => "expected true or false",
            Self::Text => "expected a text",
            Self::Bytes => "expected a whole number of bytes, or a text such as \"512 MiB\"",
            Self::Millicores => {
                "expected a whole number of millicores, or a text such as \"500m\" or \"2\" (cores)"
            }
            Self::Seconds => {
                "expected a whole number of seconds, or a text such as \"90 s\", \"2 min\" or \"1 h\""
            }
        }
    }
}

impl Value {
    /// The value as a bound.
    pub fn bound(&self) -> Option<f64> {
        match self {
            Self::Integer(whole) => Some(*whole as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as the contract's `value`.
    pub fn contract(&self) -> TokenStream {
        match self {
            Self::Integer(whole) => quote!(::placewright_sdk::contract::Value::Integer(#whole)),
            Self::Number(number) => quote!(::placewright_sdk::contract::Value::Number(#number)),
            Self::Boolean(value) => quote!(::placewright_sdk::contract::Value::Boolean(#value)),
            Self::Text(text) => quote! {
                ::placewright_sdk::contract::Value::Text(::std::string::String::from(#text))
            },
        }
    }
}

/// The last name of a type's path, and the type in its angle brackets.
pub fn last_name(ty: &Type) -> Option<(String, Option<&Type>)> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => Some(inner),
            _ => None,
        },
        _ => None,
    };
    Some((last.ident.to_string(), inner))
}

fn literal(expr: &Expr) -> Result<Value> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Int(whole) => Ok(Value::Integer(whole.base10_parse()?)),
            Lit::Float(number) => Ok(Value::Number(number.base10_parse()?)),
            Lit::Bool(boolean) => Ok(Value::Boolean(boolean.value)),
            Lit::Str(text) => Ok(Value::Text(text.value())),
            _ => Err(Error::new_spanned(
                expr,
                "expected a number, a text, true or false",
            )),
        },
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr: inner,
            ..
        }) => match literal(inner)? {
            Value::Integer(whole) => Ok(Value::Integer(-whole)),
            Value::Number(number) => Ok(Value::Number(-number)),
            _ => Err(Error::new_spanned(expr, "only numbers can be negative")),
        },
        Expr::Group(group) => literal(&group.expr),
        _ => Err(Error::new_spanned(
            expr,
            "expected a number, a text, true or false",
        )),
    }
}
