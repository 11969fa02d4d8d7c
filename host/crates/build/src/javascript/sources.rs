//! The SDK for JavaScript and the contract, as they are when this program is built.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[
            ("wit/policy.wit", include_str!("../../../../../wit/policy.wit")),
            $(($name, include_str!(concat!("../../../../../sdk/javascript/", $name)))),*
        ]
    };
}

/// Names in the folder of the SDK, and contents.
pub(super) const FILES: &[(&str, &str)] = files![
    "package.json",
    "building/build-error.js",
    "building/bundle.js",
    "building/component.js",
    "building/describe.js",
    "building/imports.js",
    "building/lines.js",
    "building/main.js",
    "building/project.js",
    "building/tools.js",
    "src/amounts.js",
    "src/author.js",
    "src/call.js",
    "src/component.js",
    "src/console.js",
    "src/fault.js",
    "src/fields.js",
    "src/index.js",
    "src/judge.js",
    "src/plan.js",
    "src/problem.js",
    "src/reasons.js",
    "src/row.js",
    "src/sealing.js",
    "src/settings.js",
    "src/unit.js",
];
