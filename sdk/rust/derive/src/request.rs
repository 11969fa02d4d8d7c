//! `#[derive(Request)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Field, Ident, LitStr, Result, Type};

use crate::fields::{all, named, outside_name};

struct TableField<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    table: String,
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named(input, "Request")?;
    let fields = all(fields
        .into_iter()
        .map(|(ident, field)| table_field(ident, field)))?;
    let ident = &input.ident;
    let name = fields.iter().map(|field| field.ident);
    let per_vm = fields.iter().filter(|field| field.table == "members");
    let per_vm = per_vm.map(|field| one_row(field.ty));
    let declare = fields.iter().map(|TableField { ty, table, .. }| {
        quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::request::TableField>::declare(reads, #table)
        }
    });
    let read = fields.iter().enumerate().map(|(position, field)| {
        let TableField { ty, table, .. } = field;
        let row = if table == "members" {
            let one_row = one_row(ty);
            quote!(if #one_row { ::std::option::Option::Some(vm) } else { ::std::option::Option::None })
        } else {
            quote!(::std::option::Option::None)
        };
        quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::request::TableField>::read(call, numbers[#position], #row)?
        }
    });
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        const _: () = {
            impl ::placewright_sdk::request::Request for #ident {
                const PER_VM: bool = false #(|| #per_vm)*;

                fn declare(
                    reads: &mut ::placewright_sdk::reads::Reads,
                ) -> ::std::vec::Vec<::placewright_sdk::reads::UseNumber> {
                    ::std::vec![#(#declare,)*]
                }

                fn read(
                    call: &::std::rc::Rc<::placewright_sdk::call::Call>,
                    numbers: &[::placewright_sdk::reads::UseNumber],
                    vm: usize,
                ) -> ::std::result::Result<Self, ::placewright_sdk::contract::Problem> {
                    ::std::result::Result::Ok(Self { #(#name: #read,)* })
                }
            }
        };
    })
}

fn one_row(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::placewright_sdk::request::TableField>::ONE_ROW)
}

fn table_field<'a>(ident: &'a Ident, field: &'a Field) -> Result<TableField<'a>> {
    let mut table = outside_name(ident);
    for attribute in &field.attrs {
        if attribute.path().is_ident("table") {
            table = attribute.parse_args::<LitStr>()?.value();
        }
    }
    if table == "settings" || table.starts_with("settings/") {
        let message = "settings are passed to the part beside the request";
        return Err(Error::new_spanned(field, message));
    }
    if table.split('/').any(str::is_empty) {
        let message = "a table is named like `members` or `hosts/vms`";
        return Err(Error::new_spanned(field, message));
    }
    Ok(TableField {
        ident,
        ty: &field.ty,
        table,
    })
}
