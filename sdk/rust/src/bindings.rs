//! What `wit-bindgen` makes of the contract; nothing else in the SDK is generated or unsafe.
//!
//! One module per exported interface, each from a world that exports only that
//! interface, so that a unit carries the metadata of the parts that it has. The
//! host's tool joins them. All share the types of `contract`.

#![allow(unsafe_code, reason = "the canonical ABI passes pointers")]
#![allow(
    missing_docs,
    reason = "generated; the contract documents its own items"
)]

/// The types of the contract, the import `log` and the export `unit`.
pub mod contract {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world describing {
                import placewright:policy/types@0.1.0;
                import placewright:policy/log@0.1.0;
                export placewright:policy/unit@0.1.0;
            }
        ",
        path: "../../wit",
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq, Clone],
        pub_export_macro: true,
        export_macro_name: "export_unit",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `judge`.
pub mod judge {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world judging { export placewright:policy/judge@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/judge@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_judge",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `selection`.
pub mod selection {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world selecting { export placewright:policy/selection@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/selection@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_selection",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `effects`.
pub mod effects {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world effecting { export placewright:policy/effects@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/effects@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_effects",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `balance`.
pub mod balance {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world balancing { export placewright:policy/balance@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/balance@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_balance",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `order`.
pub mod order {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world ordering { export placewright:policy/order@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/order@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_order",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `explain`.
pub mod explain {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world explaining { export placewright:policy/explain@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/explain@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_explain",
        disable_custom_section_link_helpers: true,
    });
}

/// The export `settings`.
pub mod settings {
    wit_bindgen::generate!({
        inline: "
            package placewright:sdk;
            world checking { export placewright:policy/settings@0.1.0; }
        ",
        path: "../../wit",
        with: {
            "placewright:policy/types@0.1.0": crate::bindings::contract::placewright::policy::types,
            "placewright:policy/settings@0.1.0": generate,
        },
        pub_export_macro: true,
        export_macro_name: "export_settings",
        disable_custom_section_link_helpers: true,
    });
}
