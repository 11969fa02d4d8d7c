//! What the derives have in common: named fields, doc comments, collected errors.

use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, Meta, Result,
};

/// The fields of a struct without type parameters: named ones, or none.
pub fn named<'a>(input: &'a DeriveInput, derive: &str) -> Result<Vec<(&'a Ident, &'a Field)>> {
    no_parameters(input, derive)?;
    let Data::Struct(data) = &input.data else {
        return Err(wrong_shape(input, derive));
    };
    match &data.fields {
        Fields::Named(fields) => {
            let named = |field: &'a Field| Some((field.ident.as_ref()?, field));
            Ok(fields.named.iter().filter_map(named).collect())
        }
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(_) => Err(wrong_shape(input, derive)),
    }
}

fn wrong_shape(input: &DeriveInput, derive: &str) -> Error {
    let message = format!("#[derive({derive})] is for structs with named fields");
    Error::new_spanned(&input.ident, message)
}

/// Refuses type parameters and lifetimes.
pub fn no_parameters(input: &DeriveInput, derive: &str) -> Result<()> {
    if input.generics.params.is_empty() {
        return Ok(());
    }
    let message = format!("#[derive({derive})] is for types without parameters or lifetimes");
    Err(Error::new_spanned(&input.generics, message))
}

/// The name under which a field is known outside: `_` read as `-`.
pub fn outside_name(ident: &Ident) -> String {
    let name = ident.to_string();
    name.trim_start_matches("r#").replace('_', "-")
}

/// The doc comment as one line; empty if there is none.
pub fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else {
            return None;
        };
        match &meta.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) if meta.path.is_ident("doc") => Some(text.value().trim().to_owned()),
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// The results of all, or all errors in one.
pub fn all<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut good = Vec::new();
    let mut bad: Option<Error> = None;
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(error) => match &mut bad {
                Some(errors) => errors.combine(error),
                None => bad = Some(error),
            },
        }
    }
    match bad {
        Some(errors) => Err(errors),
        None => Ok(good),
    }
}
