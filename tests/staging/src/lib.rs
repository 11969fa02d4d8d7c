//! The tests of how components become units are in `tests/`.
