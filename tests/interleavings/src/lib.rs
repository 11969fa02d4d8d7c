//! The tests of interleavings are in `tests/`; they need the feature `shuttle`.
