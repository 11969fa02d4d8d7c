//! The tests of decisions are in `tests/`.
