//! The macros of `placewright-sdk`, which documents and re-exports them.
//!
//! Each derive writes one implementation of the trait of its name; `export!`
//! writes the unit. All mistakes are reported at once, each at its place.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod amount;
mod columns;
mod export;
mod fields;
mod part;
mod reason;
mod request;
mod row;
mod setting_attribute;
mod settings;
mod written;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Writes `Row`: the fields are columns and nested tables.
#[proc_macro_derive(Row, attributes(column, table))]
pub fn row(input: TokenStream) -> TokenStream {
    derive(input, row::expand)
}

/// Writes `Request`: the fields are tables.
#[proc_macro_derive(Request, attributes(table))]
pub fn request(input: TokenStream) -> TokenStream {
    derive(input, request::expand)
}

/// Writes `Settings`: the fields are what an admin may set.
#[proc_macro_derive(Settings, attributes(setting))]
pub fn settings(input: TokenStream) -> TokenStream {
    derive(input, settings::expand)
}

/// Writes `Reason`: the variants are reasons, their doc comments the sentences.
#[proc_macro_derive(Reason, attributes(reason))]
pub fn reason(input: TokenStream) -> TokenStream {
    derive(input, reason::expand)
}

/// Writes `Written`: the fields are columns of a table that is written.
#[proc_macro_derive(Written, attributes(column, written))]
pub fn written(input: TokenStream) -> TokenStream {
    derive(input, written::expand)
}

/// Makes a type the unit of its crate: `export!(Type: part, ...)`.
///
/// Parts are `filter`, `cost_function` (traits `RowFilter`, `RowCost`),
/// `table_filter`, `table_cost_function` (`TableFilter`, `TableCost`),
/// `selection` (`Selection`), `effects` (`Effects`), `balance` (`Balance`),
/// `order` (`Order`), `explain` (`Explain`) and `settings` (`CheckSettings`), of
/// which a unit has any but `settings` alone. Name, version and summary are those
/// of the crate; `name = "..."` and `aliases = ["...", ...]` may follow the parts.
///
/// Defines `native_unit()`, and on `wasm32` the exports of the component.
#[proc_macro]
pub fn export(input: TokenStream) -> TokenStream {
    let export = parse_macro_input!(input as export::Export);
    export.expand().into()
}

fn derive(
    input: TokenStream,
    expand: fn(&DeriveInput) -> Result<proc_macro2::TokenStream, Error>,
) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}
