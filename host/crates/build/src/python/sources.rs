//! The SDK for Python and the contract, as they are when this program is built.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[
            ("placewright/wit/policy.wit", include_str!("../../../../../wit/policy.wit")),
            $((
                concat!("placewright/", $name),
                include_str!(concat!("../../../../../sdk/python/src/placewright/", $name)),
            )),*
        ]
    };
}

/// Names in the folder that is put on Python's path, and contents.
pub(super) const FILES: &[(&str, &str)] = files![
    "__init__.py",
    "amounts.py",
    "call.py",
    "component.py",
    "contract.py",
    "declaring.py",
    "fault.py",
    "judge.py",
    "log.py",
    "problem.py",
    "py.typed",
    "reading.py",
    "reads.py",
    "reason.py",
    "request.py",
    "row.py",
    "row_wise.py",
    "sealing.py",
    "settings.py",
    "unit.py",
    "building/__init__.py",
    "building/__main__.py",
    "building/component.py",
    "building/imports.py",
    "building/project.py",
];
