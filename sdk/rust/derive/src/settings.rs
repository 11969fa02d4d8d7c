//! `#[derive(Settings)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    DeriveInput, Error, Expr, ExprRange, Field, Ident, LitStr, RangeLimits, Result, Token, Type,
    bracketed,
};

use crate::amount::{SettingType, Value, last_name};
use crate::columns::{Content, RowField, implement};
use crate::fields::{all, doc, named, outside_name};

/// Measures that a float may carry; other types imply theirs.
const MEASURES_OF_NUMBERS: [&str; 2] = ["fraction", "percent"];

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

/// A setting that is one value.
struct Single {
    of: SettingType,
    optional: bool,
    default: Option<Value>,
    measure: Option<String>,
    least: Option<f64>,
    greatest: Option<f64>,
    pattern: Option<String>,
    choices: Vec<String>,
}

/// `#[setting(...)]` as it is written.
#[derive(Default)]
struct Written {
    name: Option<LitStr>,
    default: Option<Expr>,
    range: Option<ExprRange>,
    least: Option<Expr>,
    greatest: Option<Expr>,
    pattern: Option<LitStr>,
    measure: Option<LitStr>,
    choices: Option<Punctuated<LitStr, Token![,]>>,
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

fn written(field: &Field) -> Result<Written> {
    let mut written = Written::default();
    for attribute in &field.attrs {
        if !attribute.path().is_ident("setting") {
            continue;
        }
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().map(Ident::to_string);
            let value = meta.value()?;
            match key.as_deref() {
                Some("name") => written.name = Some(value.parse()?),
                Some("default") => written.default = Some(value.parse()?),
                Some("range") => written.range = Some(value.parse()?),
                Some("least") => written.least = Some(value.parse()?),
                Some("greatest") => written.greatest = Some(value.parse()?),
                Some("pattern") => written.pattern = Some(value.parse()?),
                Some("measure") => written.measure = Some(value.parse()?),
                Some("choices") => {
                    let list;
                    bracketed!(list in value);
                    written.choices = Some(Punctuated::parse_terminated(&list)?);
                }
                _ => {
                    return Err(meta.error(
                        "expected name, default, range, least, greatest, pattern, choices or measure",
                    ));
                }
            }
            Ok(())
        })?;
    }
    Ok(written)
}

impl Written {
    /// A setting that is a table has nothing but a name.
    fn refuse_all(&self, ident: &Ident) -> Result<()> {
        let only_name = self.default.is_none()
            && self.range.is_none()
            && self.least.is_none()
            && self.greatest.is_none()
            && self.pattern.is_none()
            && self.measure.is_none()
            && self.choices.is_none();
        if only_name {
            return Ok(());
        }
        let message = "a setting that is a table may have a name and nothing else";
        Err(Error::new(ident.span(), message))
    }

    fn single(&self, ty: &Type, optional: bool) -> Result<Single> {
        let Some(of) = SettingType::of(ty) else {
            let message = "a setting is i64, f64, bool, Bytes, Millicores, Seconds or Text, \
                           Option of one of these, or Rows of a table";
            return Err(Error::new_spanned(ty, message));
        };
        let (least, greatest) = self.bounds(of)?;
        let single = Single {
            of,
            optional,
            default: self
                .default
                .as_ref()
                .map(|expr| of.value(expr))
                .transpose()?,
            measure: self.measure(of)?,
            least,
            greatest,
            pattern: self.pattern(of)?,
            choices: self.choices(of)?,
        };
        if let Some(expr) = &self.default {
            single.check_default(expr)?;
        }
        Ok(single)
    }

    fn bounds(&self, of: SettingType) -> Result<(Option<f64>, Option<f64>)> {
        let (mut least, mut greatest) = (self.least.as_ref(), self.greatest.as_ref());
        if let Some(range) = &self.range {
            let (start, end) = (range.start.as_deref(), range.end.as_deref());
            let closed = matches!(range.limits, RangeLimits::Closed(_));
            if !closed || start.is_none() || end.is_none() || least.or(greatest).is_some() {
                let message = "expected range = LEAST..=GREATEST, or least = and greatest =";
                return Err(Error::new_spanned(range, message));
            }
            (least, greatest) = (start, end);
        }
        let bound = |expr: &Expr| {
            if !of.is_ordered() {
                return Err(Error::new_spanned(
                    expr,
                    "only numbers and amounts have bounds",
                ));
            }
            Ok(of.value(expr)?.bound())
        };
        let bounds = (
            least.map(bound).transpose()?.flatten(),
            greatest.map(bound).transpose()?.flatten(),
        );
        match (bounds, greatest) {
            ((Some(low), Some(high)), Some(expr)) if low > high => Err(Error::new_spanned(
                expr,
                "the greatest value is below the least",
            )),
            _ => Ok(bounds),
        }
    }

    fn measure(&self, of: SettingType) -> Result<Option<String>> {
        let Some(measure) = &self.measure else {
            return Ok(None);
        };
        let name = measure.value();
        if of != SettingType::Number || !MEASURES_OF_NUMBERS.contains(&name.as_str()) {
            let message = "an f64 may have the measure \"fraction\" or \"percent\"; \
                           for amounts use Bytes, Millicores or Seconds";
            return Err(Error::new_spanned(measure, message));
        }
        Ok(Some(name))
    }

    fn pattern(&self, of: SettingType) -> Result<Option<String>> {
        match &self.pattern {
            Some(pattern) if of != SettingType::Text => {
                Err(Error::new_spanned(pattern, "only a Text has a pattern"))
            }
            pattern => Ok(pattern.as_ref().map(LitStr::value)),
        }
    }

    fn choices(&self, of: SettingType) -> Result<Vec<String>> {
        match &self.choices {
            Some(choices) if of != SettingType::Text => {
                Err(Error::new_spanned(choices, "only a Text has choices"))
            }
            choices => Ok(choices.iter().flatten().map(LitStr::value).collect()),
        }
    }
}

impl Single {
    fn check_default(&self, expr: &Expr) -> Result<()> {
        if self.optional {
            let message = "with a default, a setting is never absent: drop the Option";
            return Err(Error::new_spanned(expr, message));
        }
        let fits = match &self.default {
            Some(Value::Text(text)) => self.choices.is_empty() || self.choices.contains(text),
            Some(value) => value.bound().is_none_or(|value| {
                self.least.is_none_or(|least| value >= least)
                    && self.greatest.is_none_or(|greatest| value <= greatest)
            }),
            None => true,
        };
        if fits {
            return Ok(());
        }
        Err(Error::new_spanned(
            expr,
            "the default is not among the values that this setting allows",
        ))
    }
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
