//! `#[derive(Settings)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Field, Ident, Result, Type};

use crate::amount::{Value, last_name};
use crate::columns::{Content, RowField, implement};
use crate::fields::{all, doc, named, outside_name};
use crate::setting_attribute::{Single, written};

struct Setting<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: String,
    meaning: String,
    form: Form<'a>,
}

enum Form<'a> {
    Table { row: &'a Type },
    Value(Box<Single>),
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named(input, "Settings")?;
    let settings = all(fields
        .into_iter()
        .map(|(ident, field)| setting(ident, field)))?;
    let row_fields: Vec<_> = settings.iter().map(Setting::row_field).collect();
    let row = implement(&input.ident, &row_fields);
    let ident = &input.ident;
    let described = settings.iter().map(Setting::describe);
    let names = settings.iter().map(|setting| setting.ident);
    let defaults = settings.iter().map(Setting::default);
    let flat = settings.iter().filter_map(Setting::assert_flat);
    Ok(quote! {
        #row
        #(#flat)*

        #[automatically_derived]
        #[allow(unreachable_code)]
        const _: () = {
            impl ::placewright_sdk::settings::Settings for #ident {
                fn describe() -> ::std::vec::Vec<::placewright_sdk::contract::Setting> {
                    ::std::vec![#(#described,)*]
                }

                fn defaults() -> ::std::option::Option<Self> {
                    ::std::option::Option::Some(Self { #(#names: #defaults,)* })
                }
            }
        };
    })
}

fn setting<'a>(ident: &'a Ident, field: &'a Field) -> Result<Setting<'a>> {
    let written = written(field)?;
    let meaning = doc(&field.attrs);
    if meaning.is_empty() {
        let message = "a doc comment must tell the admin what this setting means";
        return Err(Error::new_spanned(ident, message));
    }
    let name = match &written.name {
        Some(name) => name.value(),
        None => outside_name(ident),
    };
    let form = match last_name(&field.ty) {
        Some((name, Some(row))) if name == "Rows" => {
            written.refuse_all(ident)?;
            Form::Table { row }
        }
        Some((name, Some(inner))) if name == "Option" => {
            Form::Value(Box::new(written.single(inner, true)?))
        }
        _ => Form::Value(Box::new(written.single(&field.ty, false)?)),
    };
    Ok(Setting {
        ident,
        ty: &field.ty,
        name,
        meaning,
        form,
    })
}

impl Setting<'_> {
    fn row_field(&self) -> RowField<'_> {
        RowField {
            ident: self.ident,
            ty: self.ty,
            name: self.name.clone(),
            content: match self.form {
                Form::Table { .. } => Content::Table,
                Form::Value(_) => Content::Column { gate: false },
            },
            meaning: self.meaning.clone(),
        }
    }

    /// The value where the admin sets nothing; leaves the function if there is none.
    fn default(&self) -> TokenStream {
        match &self.form {
            Form::Table { .. } => quote!(::std::default::Default::default()),
            Form::Value(single) => match &single.default {
                Some(value) => single.of.rust(value),
                None if single.optional => quote!(::std::option::Option::None),
                None => quote!(return ::std::option::Option::None),
            },
        }
    }

    fn assert_flat(&self) -> Option<TokenStream> {
        let Form::Table { row } = &self.form else {
            return None;
        };
        Some(quote_spanned! {row.span()=>
            const _: () = ::std::assert!(
                <#row as ::placewright_sdk::row::Row>::FLAT,
                "a setting that is a table has no tables below it"
            );
        })
    }

    fn describe(&self) -> TokenStream {
        let (name, meaning, ty) = (&self.name, &self.meaning, self.ty);
        let contract = quote!(::placewright_sdk::contract);
        match &self.form {
            Form::Table { row } => quote_spanned! {ty.span()=>
                #contract::Setting {
                    name: ::std::string::String::from(#name),
                    kind: #contract::Kind::Text,
                    measure: ::std::option::Option::None,
                    default: ::std::option::Option::None,
                    required: false,
                    least: ::std::option::Option::None,
                    greatest: ::std::option::Option::None,
                    pattern: ::std::option::Option::None,
                    choices: ::std::vec::Vec::new(),
                    meaning: ::std::string::String::from(#meaning),
                    columns: <#row as ::placewright_sdk::row::Row>::setting_columns(),
                }
            },
            Form::Value(single) => {
                let required = !single.optional && single.default.is_none();
                let default = option(single.default.as_ref().map(Value::contract));
                let least = option(single.least.map(|bound| quote!(#bound)));
                let greatest = option(single.greatest.map(|bound| quote!(#bound)));
                let pattern = option(single.pattern.as_ref().map(|text| owned(text)));
                let choices = single.choices.iter().map(|text| owned(text));
                let measure = match &single.measure {
                    Some(name) => option(Some(owned(name))),
                    None => quote! {
                        <#ty as ::placewright_sdk::cell::Cell>::MEASURE
                            .map(::std::string::String::from)
                    },
                };
                quote_spanned! {ty.span()=>
                    #contract::Setting {
                        name: ::std::string::String::from(#name),
                        kind: <#ty as ::placewright_sdk::cell::Cell>::KIND,
                        measure: #measure,
                        default: #default,
                        required: #required,
                        least: #least,
                        greatest: #greatest,
                        pattern: #pattern,
                        choices: ::std::vec![#(#choices,)*],
                        meaning: ::std::string::String::from(#meaning),
                        columns: ::std::vec::Vec::new(),
                    }
                }
            }
        }
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}

fn owned(text: &str) -> TokenStream {
    quote!(::std::string::String::from(#text))
}
