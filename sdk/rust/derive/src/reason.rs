//! `#[derive(Reason)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Variant};

use crate::fields::{all, doc, no_parameters};

/// The contract gives verdicts one byte, of which 0 keeps.
const MOST_REASONS: usize = 255;

struct ReasonVariant<'a> {
    ident: &'a Ident,
    text: String,
    passing: bool,
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    no_parameters(input, "Reason")?;
    let Data::Enum(data) = &input.data else {
        let message = "#[derive(Reason)] is for enums: one variant for each reason";
        return Err(Error::new_spanned(&input.ident, message));
    };
    if data.variants.is_empty() || data.variants.len() > MOST_REASONS {
        let message = format!("a part has 1 to {MOST_REASONS} reasons; `()` if it has none");
        return Err(Error::new_spanned(&input.ident, message));
    }
    let variants = all(data.variants.iter().map(reason_variant))?;
    let ident = &input.ident;
    let names = variants.iter().map(|variant| variant.ident);
    let numbers = 1..=u8::MAX;
    let texts = variants.iter().map(|variant| &variant.text);
    let passing = variants.iter().map(|variant| variant.passing);
    Ok(quote! {
        #[automatically_derived]
        const _: () = {
            impl ::placewright_sdk::reason::Reason for #ident {
                const REASONS: &'static [(&'static str, bool)] = &[#((#texts, #passing)),*];

                #[inline]
                fn number(&self) -> u8 {
                    match self {
                        #(Self::#names => #numbers,)*
                    }
                }
            }
        };
    })
}

fn reason_variant(variant: &Variant) -> Result<ReasonVariant<'_>> {
    if !matches!(variant.fields, Fields::Unit) {
        let message = "a reason is a fixed sentence and carries no data";
        return Err(Error::new_spanned(variant, message));
    }
    let text = doc(&variant.attrs);
    if text.is_empty() {
        let message = "a doc comment must complete the sentence \"host h1 ...\", \
                       for example `/// has too little free memory`";
        return Err(Error::new_spanned(variant, message));
    }
    let mut passing = false;
    for attribute in &variant.attrs {
        if attribute.path().is_ident("reason") {
            attribute.parse_nested_meta(|meta| {
                if !meta.path.is_ident("passing") {
                    return Err(meta.error("expected `passing`"));
                }
                passing = true;
                Ok(())
            })?;
        }
    }
    Ok(ReasonVariant {
        ident: &variant.ident,
        text: text.trim_end_matches('.').to_owned(),
        passing,
    })
}
