//! In what changes of shares are counted.

/// In what changes of shares are counted: the choices of the setting `unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Hundredths of the group's whole chance.
    Points,
    /// Per cent of the candidate's own share.
    Relative,
}

impl Unit {
    /// The unit of this name. (Names other than the choices do not get this far.)
    pub fn named(name: &str) -> Self {
        match name {
            "relative" => Self::Relative,
            _ => Self::Points,
        }
    }
}
