//! Tables that are looked up in by an id or a name, several times for each VM that is placed.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// What is found by an id. It is never walked in an order that a decision depends on. The hash is
/// quick for texts of a few bytes, and seeded anew in each process, so that nobody can choose ids
/// that fall together.
pub(super) type ById<T> = HashMap<Arc<str>, T, RandomState>;
