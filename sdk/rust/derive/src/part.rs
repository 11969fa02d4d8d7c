//! The parts of a unit that are one function of a call each.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

/// A part with an export of its own name, besides `judge` and `settings`.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its name in `export!`, in the contract and as a module of the SDK.
    pub name: &'static str,
    /// The author's trait.
    implements: &'static str,
    /// The function of the contract.
    function: &'static str,
    /// What it answers, and whether a list of it.
    answer: (&'static str, bool),
}

/// All of them, in the order of the contract.
pub const PARTS: [Part; 5] = [
    Part {
        name: "selection",
        implements: "Selection",
        function: "refine",
        answer: ("Shares", false),
    },
    Part {
        name: "effects",
        implements: "Effects",
        function: "placed",
        answer: ("Change", true),
    },
    Part {
        name: "balance",
        implements: "Balance",
        function: "balance",
        answer: ("Proposal", true),
    },
    Part {
        name: "order",
        implements: "Order",
        function: "order",
        answer: ("Turns", false),
    },
    Part {
        name: "explain",
        implements: "Explain",
        function: "explain",
        answer: ("Fact", true),
    },
];

impl Part {
    /// Its name in code.
    pub fn ident(&self) -> Ident {
        ident(self.name)
    }

    /// Where its plan is kept.
    fn plan(&self) -> Ident {
        ident(&self.name.to_uppercase())
    }

    /// The item that keeps its plan.
    pub fn plan_item(&self) -> TokenStream {
        let plan = self.plan();
        quote! {
            static #plan: ::placewright_sdk::entry::PlanOnce =
                ::placewright_sdk::entry::PlanOnce::new();
        }
    }

    /// The settings of the part.
    pub fn settings(&self, unit: &Type) -> TokenStream {
        let (name, implements) = (self.ident(), ident(self.implements));
        quote!(<#unit as ::placewright_sdk::#name::#implements>::Settings)
    }

    /// Its description.
    pub fn describe(&self, unit: &Type) -> TokenStream {
        let (plan, describe) = (self.plan(), format_ident!("describe_{}", self.name));
        quote!(::placewright_sdk::entry::#describe::<#unit>(&#plan))
    }

    /// Its function of `NativeUnit`.
    pub fn function(&self, unit: &Type) -> TokenStream {
        let (plan, function) = (self.plan(), ident(self.function));
        let (answer, is_list) = self.answer;
        let answer = ident(answer);
        let mut answer = quote!(::placewright_sdk::contract::#answer);
        if is_list {
            answer = quote!(::std::vec::Vec<#answer>);
        }
        quote! {
            fn #function(
                &self,
                call: &::placewright_sdk::native::Call,
            ) -> ::std::result::Result<#answer, ::placewright_sdk::contract::Problem> {
                ::placewright_sdk::entry::#function::<#unit>(&#plan, call)
            }
        }
    }

    /// Its export from a component.
    pub fn export(&self) -> TokenStream {
        let (name, export) = (self.ident(), format_ident!("export_{}", self.name));
        quote! {
            ::placewright_sdk::bindings::#name::#export!(
                Unit with_types_in ::placewright_sdk::bindings::#name
            );
        }
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
