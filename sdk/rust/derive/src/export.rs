//! `export!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Result, Token, Type, bracketed};

use crate::part::{PARTS, Part};

/// `Type: part, ..., name = "...", aliases = ["...", ...]`.
pub struct Export {
    unit: Type,
    judge: Option<Judge>,
    /// Which of [`PARTS`] it has.
    has: [bool; PARTS.len()],
    settings: bool,
    name: Option<LitStr>,
    aliases: Vec<LitStr>,
}

/// The `judge` export: which answers, on rows or on the whole table.
struct Judge {
    whole_table: bool,
    verdicts: bool,
    costs: bool,
}

impl Parse for Export {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let unit: Type = input.parse()?;
        input.parse::<Token![:]>()?;
        let mut export = Self {
            unit,
            judge: None,
            has: [false; PARTS.len()],
            settings: false,
            name: None,
            aliases: Vec::new(),
        };
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                export.option(&word, input)?;
            } else {
                export.part(&word)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if export.judge.is_none() && export.parts().next().is_none() {
            let message = "a unit needs a part: filter, cost_function, table_filter, \
                           table_cost_function, selection, effects, balance, order or explain";
            return Err(Error::new_spanned(&export.unit, message));
        }
        Ok(export)
    }
}

impl Export {
    fn option(&mut self, word: &Ident, input: ParseStream<'_>) -> Result<()> {
        if word == "name" {
            self.name = Some(input.parse()?);
        } else if word == "aliases" {
            let list;
            bracketed!(list in input);
            let aliases = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
            self.aliases = aliases.into_iter().collect();
        } else {
            let message = "expected `name` or `aliases`";
            return Err(Error::new(word.span(), message));
        }
        Ok(())
    }

    fn part(&mut self, word: &Ident) -> Result<()> {
        let name = word.to_string();
        let twice = match name.as_str() {
            "filter" => self.judge(word, false)?.give_verdicts(),
            "cost_function" => self.judge(word, false)?.give_costs(),
            "table_filter" => self.judge(word, true)?.give_verdicts(),
            "table_cost_function" => self.judge(word, true)?.give_costs(),
            "settings" => std::mem::replace(&mut self.settings, true),
            _ => match PARTS.iter().position(|part| part.name == name) {
                Some(part) => std::mem::replace(&mut self.has[part], true),
                None => {
                    let message = "expected filter, cost_function, table_filter, \
                                   table_cost_function, selection, effects, balance, order, \
                                   explain or settings";
                    return Err(Error::new(word.span(), message));
                }
            },
        };
        if twice {
            return Err(Error::new(word.span(), "this part is named twice"));
        }
        Ok(())
    }

    fn judge(&mut self, word: &Ident, whole_table: bool) -> Result<&mut Judge> {
        let judge = self.judge.get_or_insert(Judge {
            whole_table,
            verdicts: false,
            costs: false,
        });
        if judge.whole_table != whole_table {
            let message = "a unit's filter and cost function are both row-wise or both \
                           about the whole table; make two units of them";
            return Err(Error::new(word.span(), message));
        }
        Ok(judge)
    }

    /// The parts that it has, besides `judge` and `settings`.
    fn parts(&self) -> impl Iterator<Item = &'static Part> {
        let has = self.has.iter();
        PARTS
            .iter()
            .zip(has)
            .filter_map(|(part, &has)| has.then_some(part))
    }

    /// The unit: what it answers, and on wasm its exports.
    pub fn expand(&self) -> TokenStream {
        let unit = &self.unit;
        let describe = self.describe();
        let judge = self.judge.as_ref().map(|judge| judge.function(unit));
        let plans = self.parts().map(Part::plan_item);
        let functions = self.parts().map(|part| part.function(unit));
        let check = self.settings.then(|| check_function(unit));
        let same_settings = self.same_settings();
        let exports = self.exports();
        quote! {
            /// This crate's unit, to be called as plain Rust.
            #[must_use]
            pub fn native_unit() -> &'static dyn ::placewright_sdk::native::NativeUnit {
                #[derive(Default)]
                struct Unit;

                static JUDGE: ::placewright_sdk::entry::PlanOnce =
                    ::placewright_sdk::entry::PlanOnce::new();
                static SETTINGS: ::placewright_sdk::entry::PlanOnce =
                    ::placewright_sdk::entry::PlanOnce::new();
                #(#plans)*

                #same_settings

                impl ::placewright_sdk::native::NativeUnit for Unit {
                    #describe
                    #judge
                    #(#functions)*
                    #check
                }

                impl ::placewright_sdk::entry::Exported for Unit {}

                #exports

                &Unit
            }
        }
    }

    /// The settings type of each part.
    fn settings_types(&self) -> Vec<TokenStream> {
        let unit = &self.unit;
        let mut types = Vec::new();
        if let Some(judge) = &self.judge {
            let judge = judge.part(unit);
            types.push(quote!(<#judge as ::placewright_sdk::judge::JudgePart>::Settings));
        }
        types.extend(self.parts().map(|part| part.settings(unit)));
        if self.settings {
            types.push(quote!(<#unit as ::placewright_sdk::check::CheckSettings>::Settings));
        }
        types
    }

    fn same_settings(&self) -> TokenStream {
        let types = self.settings_types();
        let Some((first, others)) = types.split_first() else {
            return TokenStream::new();
        };
        quote! {
            const fn same_settings<T: ::placewright_sdk::entry::Same<U>, U>() {}
            #(const _: () = same_settings::<#others, #first>();)*
        }
    }

    fn describe(&self) -> TokenStream {
        let unit = &self.unit;
        let aliases = &self.aliases;
        let name = match &self.name {
            Some(name) => quote!(#name),
            None => quote!(::std::env!("CARGO_PKG_NAME")),
        };
        let settings = self.settings_types().into_iter().next();
        let judge = some_if(self.judge.as_ref().map(|judge| {
            let judge = judge.part(unit);
            quote!(::placewright_sdk::entry::describe_judge::<#judge>(&JUDGE))
        }));
        let others = PARTS.iter().zip(self.has).map(|(part, has)| {
            let name = part.ident();
            let described = some_if(has.then(|| part.describe(unit)));
            quote!(#name: #described)
        });
        quote! {
            #[inline(always)]
            fn describe(&self) -> ::placewright_sdk::contract::Description {
                ::placewright_sdk::entry::describe(
                    &::placewright_sdk::entry::Identity {
                        name: #name,
                        version: ::std::env!("CARGO_PKG_VERSION"),
                        summary: ::std::env!("CARGO_PKG_DESCRIPTION"),
                        aliases: &[#(#aliases),*],
                    },
                    <#settings as ::placewright_sdk::settings::Settings>::describe(),
                    ::placewright_sdk::entry::Parts {
                        judge: #judge,
                        #(#others,)*
                    },
                )
            }
        }
    }

    fn exports(&self) -> TokenStream {
        let mut exports = vec![quote! {
            ::placewright_sdk::bindings::contract::export_unit!(
                Unit with_types_in ::placewright_sdk::bindings::contract
            );
        }];
        if self.judge.is_some() {
            exports.push(quote! {
                ::placewright_sdk::bindings::judge::export_judge!(
                    Unit with_types_in ::placewright_sdk::bindings::judge
                );
            });
        }
        exports.extend(self.parts().map(Part::export));
        if self.settings {
            exports.push(quote! {
                ::placewright_sdk::bindings::settings::export_settings!(
                    Unit with_types_in ::placewright_sdk::bindings::settings
                );
            });
        }
        quote!(#(#[cfg(target_arch = "wasm32")] const _: () = { #exports };)*)
    }
}

impl Judge {
    fn give_verdicts(&mut self) -> bool {
        std::mem::replace(&mut self.verdicts, true)
    }

    fn give_costs(&mut self) -> bool {
        std::mem::replace(&mut self.costs, true)
    }

    fn part(&self, unit: &Type) -> TokenStream {
        let given = |given: bool| {
            if given {
                quote!(::placewright_sdk::judge::Given)
            } else {
                quote!(::placewright_sdk::judge::NotGiven)
            }
        };
        let (verdicts, costs) = (given(self.verdicts), given(self.costs));
        if self.whole_table {
            quote!(::placewright_sdk::judge::WholeTableJudge<#unit, #verdicts, #costs>)
        } else {
            quote!(::placewright_sdk::judge::RowWiseJudge<#unit, #verdicts, #costs>)
        }
    }

    fn function(&self, unit: &Type) -> TokenStream {
        let judge = self.part(unit);
        quote! {
            fn judge(
                &self,
                want: ::placewright_sdk::contract::Answers,
                call: &::placewright_sdk::native::Call,
            ) -> ::std::result::Result<
                ::placewright_sdk::contract::Judgement,
                ::placewright_sdk::contract::Problem,
            > {
                ::placewright_sdk::entry::judge::<#judge>(&JUDGE, want, call)
            }
        }
    }
}

fn check_function(unit: &Type) -> TokenStream {
    quote! {
        fn check(
            &self,
            settings: &::placewright_sdk::native::Call,
        ) -> ::std::result::Result<(), ::std::string::String> {
            ::placewright_sdk::entry::check::<#unit>(&SETTINGS, settings)
        }
    }
}

fn some_if(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}
