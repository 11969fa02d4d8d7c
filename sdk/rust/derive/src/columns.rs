//! Writes the implementation of `Row`, for rows and for settings alike.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Index, Type};

/// One field of a row.
pub struct RowField<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    /// Name of the column or of the nested table.
    pub name: String,
    pub content: Content,
    /// A sentence for the admin, where the rows are those of a setting.
    pub meaning: String,
}

/// What a field holds.
pub enum Content {
    Column { gate: bool },
    Table,
}

/// `impl Row for ident`.
pub fn implement(ident: &Ident, fields: &[RowField<'_>]) -> TokenStream {
    let flat = !(fields.iter()).any(|field| matches!(field.content, Content::Table));
    let declare = fields.iter().map(declare);
    let types = fields.iter().map(column_type);
    let columns = columns(fields);
    let setting_columns = fields.iter().filter_map(setting_column);
    let duplicate = fields.iter().map(duplicate);
    let names: Vec<_> = fields.iter().map(|field| field.ident).collect();
    let numbered = || fields.iter().enumerate();
    let read = numbered().map(|(position, field)| read(position, field));
    let column_needs_drop = fields.iter().filter_map(column_needs_drop);
    let read_without_nested = numbered().map(|(position, field)| match field.content {
        Content::Column { .. } => self::read(position, field),
        Content::Table => none(field),
    });
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::unused_unit, clippy::clone_on_copy)]
        const _: () = {
            impl ::placewright_sdk::row::Row for #ident {
                const FLAT: bool = #flat;
                const COLUMNS_NEED_DROP: bool = false #(|| #column_needs_drop)*;
                type Columns<'a> = (#(#types,)*);

                fn declare(reads: &mut ::placewright_sdk::reads::TableReads<'_>) {
                    #(#declare)*
                }

                #[inline(always)]
                fn columns(
                    call: &::std::rc::Rc<::placewright_sdk::call::Call>,
                    number: ::placewright_sdk::reads::UseNumber,
                ) -> Self::Columns<'_> {
                    (#(#columns,)*)
                }

                #[inline(always)]
                fn read(columns: &Self::Columns<'_>, row: usize) -> Self {
                    Self { #(#names: #read,)* }
                }

                #[inline(always)]
                fn read_without_nested(columns: &Self::Columns<'_>, row: usize) -> Self {
                    Self { #(#names: #read_without_nested,)* }
                }

                fn duplicate(&self) -> Self {
                    Self { #(#duplicate,)* }
                }

                fn setting_columns()
                -> ::std::vec::Vec<::placewright_sdk::contract::SettingColumn> {
                    ::std::vec![#(#setting_columns,)*]
                }
            }
        };
    }
}

fn declare(field: &RowField<'_>) -> TokenStream {
    let RowField { ty, name, .. } = field;
    match field.content {
        Content::Column { gate } => quote_spanned! {ty.span()=>
            reads.column::<#ty>(#name, #gate);
        },
        Content::Table => quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::row::Nested>::declare(reads, #name);
        },
    }
}

fn column_type(field: &RowField<'_>) -> TokenStream {
    let ty = field.ty;
    match field.content {
        Content::Column { .. } => quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::cell::Cell>::Column<'a>
        },
        Content::Table => quote_spanned! {ty.span()=>
            ::placewright_sdk::call::ChildTable<'a, <#ty as ::placewright_sdk::row::Nested>::Row>
        },
    }
}

/// Columns and nested tables are numbered each on their own.
fn columns(fields: &[RowField<'_>]) -> Vec<TokenStream> {
    let (mut next_column, mut next_table) = (0usize, 0usize);
    let column = |field: &RowField<'_>| {
        let ty = field.ty;
        match field.content {
            Content::Column { .. } => {
                let number = next_column;
                next_column += 1;
                quote_spanned!(ty.span()=> call.column::<#ty>(number, #number))
            }
            Content::Table => {
                let number = next_table;
                next_table += 1;
                quote!(call.child(number, #number))
            }
        }
    };
    fields.iter().map(column).collect()
}

fn read(position: usize, field: &RowField<'_>) -> TokenStream {
    let ty = field.ty;
    let position = Index::from(position);
    match field.content {
        Content::Column { .. } => quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::cell::Cell>::at(&columns.#position, row)
        },
        Content::Table => quote_spanned! {ty.span()=>
            <#ty as ::placewright_sdk::row::Nested>::at(&columns.#position, row)
        },
    }
}

fn column_needs_drop(field: &RowField<'_>) -> Option<TokenStream> {
    let ty = field.ty;
    matches!(field.content, Content::Column { .. })
        .then(|| quote_spanned!(ty.span()=> ::std::mem::needs_drop::<#ty>()))
}

fn none(field: &RowField<'_>) -> TokenStream {
    let ty = field.ty;
    quote_spanned!(ty.span()=> <#ty as ::placewright_sdk::row::Nested>::none())
}

fn duplicate(field: &RowField<'_>) -> TokenStream {
    let RowField { ident, ty, .. } = field;
    match field.content {
        Content::Column { .. } => quote_spanned! {ty.span()=>
            #ident: ::std::clone::Clone::clone(&self.#ident)
        },
        Content::Table => quote_spanned! {ty.span()=>
            #ident: <#ty as ::placewright_sdk::row::Nested>::duplicate(&self.#ident)
        },
    }
}

fn setting_column(field: &RowField<'_>) -> Option<TokenStream> {
    let RowField {
        ty, name, meaning, ..
    } = field;
    matches!(field.content, Content::Column { .. }).then(|| {
        quote_spanned! {ty.span()=>
            ::placewright_sdk::contract::SettingColumn {
                name: ::std::string::String::from(#name),
                kind: <#ty as ::placewright_sdk::cell::Cell>::KIND,
                required: <#ty as ::placewright_sdk::cell::Cell>::REQUIRED,
                meaning: ::std::string::String::from(#meaning),
            }
        }
    })
}
