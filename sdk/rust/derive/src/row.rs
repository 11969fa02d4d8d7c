//! `#[derive(Row)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{DeriveInput, Error, Field, Ident, LitStr, Result, Token};

use crate::columns::{Content, RowField, implement};
use crate::fields::{all, doc, named, outside_name};

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named(input, "Row")?;
    let fields = all(fields
        .into_iter()
        .map(|(ident, field)| row_field(ident, field)))?;
    let ident = &input.ident;
    let row = implement(ident, &fields);
    Ok(quote! {
        #row

        #[automatically_derived]
        const _: () = {
            impl ::placewright_sdk::request::Request for #ident {
                const PER_VM: bool = true;

                fn declare(
                    reads: &mut ::placewright_sdk::reads::Reads,
                ) -> ::std::vec::Vec<::placewright_sdk::reads::UseNumber> {
                    ::std::vec![reads.table::<Self>("members")]
                }

                fn read(
                    call: &::std::rc::Rc<::placewright_sdk::call::Call>,
                    numbers: &[::placewright_sdk::reads::UseNumber],
                    vm: usize,
                ) -> ::std::result::Result<Self, ::placewright_sdk::contract::Problem> {
                    call.row(numbers[0], vm)
                }
            }
        };
    })
}

/// The column or nested table of a field.
pub fn row_field<'a>(ident: &'a Ident, field: &'a Field) -> Result<RowField<'a>> {
    let mut name = outside_name(ident);
    let mut content = Content::Column { gate: false };
    let mut seen = false;
    for attribute in &field.attrs {
        if attribute.path().is_ident("column") {
            let column: Column = attribute.parse_args()?;
            name = column.name.map_or(name, |given| given.value());
            content = Content::Column { gate: column.gate };
        } else if attribute.path().is_ident("table") {
            name = attribute.parse_args::<LitStr>()?.value();
            content = Content::Table;
        } else {
            continue;
        }
        if std::mem::replace(&mut seen, true) {
            let message = "a field is one column or one table: one attribute is enough";
            return Err(Error::new_spanned(attribute, message));
        }
    }
    if name.is_empty() || name.contains('/') {
        let message = "a column or nested table has a name without `/`";
        return Err(Error::new_spanned(field, message));
    }
    Ok(RowField {
        ident,
        ty: &field.ty,
        name,
        content,
        meaning: doc(&field.attrs),
    })
}

/// `"memory.free"`, `gate`, or `"memory.free", gate`.
struct Column {
    name: Option<LitStr>,
    gate: bool,
}

impl Parse for Column {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut column = Self {
            name: None,
            gate: false,
        };
        if input.peek(LitStr) {
            column.name = Some(input.parse()?);
            if input.is_empty() {
                return Ok(column);
            }
            input.parse::<Token![,]>()?;
        }
        let word: Ident = input.parse()?;
        if word != "gate" {
            let message = "expected `gate`, as in #[column(\"pinning\", gate)]";
            return Err(Error::new(word.span(), message));
        }
        column.gate = true;
        Ok(column)
    }
}
