//! What an admin may set.

use std::rc::Rc;

use crate::call::Call;
use crate::contract::{Problem, Setting};
use crate::row::Row;

/// The settings of a unit. Written with `#[derive(Settings)]`.
///
/// A field is the setting of its name, `_` read as `-`; its doc comment tells
/// the admin what it means. Its type says the kind and the unit of measure, and
/// `#[setting(...)]` the rest:
///
/// ```
/// # use placewright_sdk::prelude::*;
/// # #[derive(Row)] struct Window { from: Seconds, to: Seconds }
/// #[derive(Settings)]
/// struct Settings {
///     /// Memory kept free on every host.
///     #[setting(default = "1 GiB", least = 0)]
///     headroom: Bytes,
///     /// Load above which a host is full.
///     #[setting(default = 0.8, range = 0.0..=1.0, measure = "fraction")]
///     full_at: f64,
///     /// What is compared.
///     #[setting(name = "compare", default = "cpu", choices = ["cpu", "memory"])]
///     compared: Text,
///     /// Only VMs whose class matches; all, if not set.
///     #[setting(pattern = "[a-z]+")]
///     class: Option<Text>,
///     /// When the rule rests.
///     rests: Rows<Window>,
/// }
/// ```
///
/// Without a default, a setting is optional if its type is `Option`, else it is
/// required. A field of type [`Rows`](crate::rows::Rows) is a setting that is a
/// table. Defaults and bounds of [`Bytes`](crate::amounts::Bytes) may be written
/// `"512 MiB"`, of [`Millicores`](crate::amounts::Millicores) `"500m"` or `"2"`
/// (cores), of [`Seconds`](crate::amounts::Seconds) `"90 s"` or `"2 min"`.
///
/// `()` = there is nothing to set.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what can be set",
    note = "write #[derive(Settings)], or use () if there is nothing to set"
)]
pub trait Settings: Row {
    /// The settings as they are described to the runtime.
    fn describe() -> Vec<Setting>;

    /// The settings of an admin who sets nothing; none if one is required.
    fn defaults() -> Option<Self>;
}

impl Settings for () {
    fn describe() -> Vec<Setting> {
        Vec::new()
    }

    fn defaults() -> Option<Self> {
        Some(())
    }
}

/// Reads the settings that came with a call.
pub(crate) fn read<S: Settings>(call: &Rc<Call>) -> Result<S, Problem> {
    match call.plan().settings {
        Some(number) => call.row(number, 0),
        None => S::defaults().ok_or_else(|| Problem::failed("the settings were not declared")),
    }
}
