//! `#[derive(Written)]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Field, Ident, LitStr, Result};

use crate::columns::{Content, RowField};
use crate::fields::{all, named};
use crate::row::row_field;

/// The scopes of the contract, as they are written and as they are called in code.
const SCOPES: [(&str, &str); 5] = [
    ("placement", "Placement"),
    ("vm", "Vm"),
    ("tenant", "Tenant"),
    ("host", "Host"),
    ("cluster", "Cluster"),
];

/// The moments of the contract, likewise.
const MOMENTS: [(&str, &str); 2] = [("decided", "Decided"), ("running", "Running")];

const EXAMPLE: &str = "as in #[written(table = \"keys\", scope = \"vm\", moment = \"running\")]";

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named(input, "Written")?;
    let fields = all(fields
        .into_iter()
        .map(|(ident, field)| column(ident, field)))?;
    let Place {
        table,
        scope,
        moment,
    } = place(input)?;
    let ident = &input.ident;
    let columns = fields.iter().map(|RowField { ty, name, .. }| {
        quote_spanned!(ty.span()=> (#name, <#ty as ::placewright_sdk::cell::Cell>::KIND))
    });
    let values = fields.iter().map(|RowField { ident, ty, .. }| {
        quote_spanned!(ty.span()=> <#ty as ::placewright_sdk::cell::Cell>::written(self.#ident))
    });
    Ok(quote! {
        #[automatically_derived]
        const _: () = {
            impl ::placewright_sdk::written::Written for #ident {
                const TABLE: ::placewright_sdk::written::WrittenTable =
                    ::placewright_sdk::written::WrittenTable {
                        table: #table,
                        columns: &[#(#columns,)*],
                        scope: ::placewright_sdk::contract::Scope::#scope,
                        moment: ::placewright_sdk::contract::Moment::#moment,
                    };

                fn values(
                    self,
                ) -> ::std::vec::Vec<
                    ::std::option::Option<::placewright_sdk::contract::Value>,
                > {
                    ::std::vec![#(#values,)*]
                }
            }
        };
    })
}

fn column<'a>(ident: &'a Ident, field: &'a Field) -> Result<RowField<'a>> {
    let tables = |attribute: &&syn::Attribute| attribute.path().is_ident("table");
    if let Some(attribute) = field.attrs.iter().find(tables) {
        let message = "a written row holds columns only";
        return Err(Error::new_spanned(attribute, message));
    }
    let column = row_field(ident, field)?;
    match column.content {
        Content::Column { gate: false } => Ok(column),
        _ => Err(Error::new_spanned(field, "a written column is no gate")),
    }
}

/// Where the rows are written.
struct Place {
    table: String,
    scope: Ident,
    moment: Ident,
}

fn place(input: &DeriveInput) -> Result<Place> {
    let (mut table, mut scope, mut moment) = (None, None, None);
    for attribute in &input.attrs {
        if attribute.path().is_ident("written") {
            attribute.parse_nested_meta(|meta| {
                let place = match &meta.path {
                    path if path.is_ident("table") => &mut table,
                    path if path.is_ident("scope") => &mut scope,
                    path if path.is_ident("moment") => &mut moment,
                    _ => return Err(meta.error("expected table, scope or moment")),
                };
                text(place, &meta)
            })?;
        }
    }
    let (Some(table), Some(scope), Some(moment)) = (table, scope, moment) else {
        let message = format!("it must be said where rows are written, {EXAMPLE}");
        return Err(Error::new_spanned(&input.ident, message));
    };
    if table.value().split('/').any(str::is_empty) {
        return Err(Error::new(table.span(), "a table is named like `keys`"));
    }
    Ok(Place {
        table: table.value(),
        scope: one_of(&SCOPES, &scope)?,
        moment: one_of(&MOMENTS, &moment)?,
    })
}

fn text(place: &mut Option<LitStr>, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match place.replace(meta.value()?.parse()?) {
        None => Ok(()),
        Some(_) => Err(meta.error("this is said twice")),
    }
}

fn one_of(choices: &[(&str, &str)], given: &LitStr) -> Result<Ident> {
    let choice = choices.iter().find(|(name, _)| *name == given.value());
    match choice {
        Some((_, variant)) => Ok(Ident::new(variant, Span::call_site())),
        None => {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            let message = format!("expected one of {}", names.join(", "));
            Err(Error::new(given.span(), message))
        }
    }
}
