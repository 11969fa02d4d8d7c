//! `#[setting(...)]`: what is written there, checked against the field's type.

use syn::punctuated::Punctuated;
use syn::{
    Error, Expr, ExprRange, Field, Ident, LitStr, RangeLimits, Result, Token, Type, bracketed,
};

use crate::amount::{SettingType, Value};

/// Measures that a float may carry; other types imply theirs.
const MEASURES_OF_NUMBERS: [&str; 2] = ["fraction", "percent"];

/// A setting that is one value.
pub struct Single {
    pub of: SettingType,
    pub optional: bool,
    pub default: Option<Value>,
    pub measure: Option<String>,
    pub least: Option<f64>,
    pub greatest: Option<f64>,
    pub pattern: Option<String>,
    pub choices: Vec<String>,
}

/// `#[setting(...)]` as it is written.
#[derive(Default)]
pub struct Written {
    pub name: Option<LitStr>,
    default: Option<Expr>,
    range: Option<ExprRange>,
    least: Option<Expr>,
    greatest: Option<Expr>,
    pattern: Option<LitStr>,
    measure: Option<LitStr>,
    choices: Option<Punctuated<LitStr, Token![,]>>,
}

/// Reads the attributes of a field.
pub fn written(field: &Field) -> Result<Written> {
    let mut written = Written::default();
    for attribute in &field.attrs {
        if !attribute.path().is_ident("setting") {
            continue;
        }
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().map(Ident::to_string);
            let value = meta.value()?;
            match key.as_deref() {
                Some("name") => written.name = Some(value.parse()?),
                Some("default") => written.default = Some(value.parse()?),
                Some("range") => written.range = Some(value.parse()?),
                Some("least") => written.least = Some(value.parse()?),
                Some("greatest") => written.greatest = Some(value.parse()?),
                Some("pattern") => written.pattern = Some(value.parse()?),
                Some("measure") => written.measure = Some(value.parse()?),
                Some("choices") => {
                    let list;
                    bracketed!(list in value);
                    written.choices = Some(Punctuated::parse_terminated(&list)?);
                }
                _ => {
                    return Err(meta.error(
                        "expected name, default, range, least, greatest, pattern, choices or measure",
                    ));
                }
            }
            Ok(())
        })?;
    }
    Ok(written)
}

impl Written {
    /// A setting that is a table has nothing but a name.
    pub fn refuse_all(&self, ident: &Ident) -> Result<()> {
        let only_name = self.default.is_none()
            && self.range.is_none()
            && self.least.is_none()
            && self.greatest.is_none()
            && self.pattern.is_none()
            && self.measure.is_none()
            && self.choices.is_none();
        if only_name {
            return Ok(());
        }
        let message = "a setting that is a table may have a name and nothing else";
        Err(Error::new(ident.span(), message))
    }

    /// The setting, if it is one value of this type.
    pub fn single(&self, ty: &Type, optional: bool) -> Result<Single> {
        let Some(of) = SettingType::of(ty) else {
            let message = "a setting is i64, f64, bool, Bytes, Millicores, Seconds or Text, \
                           Option of one of these, or Rows of a table";
            return Err(Error::new_spanned(ty, message));
        };
        let (least, greatest) = self.bounds(of)?;
        let single = Single {
            of,
            optional,
            default: self
                .default
                .as_ref()
                .map(|expr| of.value(expr))
                .transpose()?,
            measure: self.measure(of)?,
            least,
            greatest,
            pattern: self.pattern(of)?,
            choices: self.choices(of)?,
        };
        if let Some(expr) = &self.default {
            single.check_default(expr)?;
        }
        Ok(single)
    }

    fn bounds(&self, of: SettingType) -> Result<(Option<f64>, Option<f64>)> {
        let (mut least, mut greatest) = (self.least.as_ref(), self.greatest.as_ref());
        if let Some(range) = &self.range {
            let (start, end) = (range.start.as_deref(), range.end.as_deref());
            let closed = matches!(range.limits, RangeLimits::Closed(_));
            if !closed || start.is_none() || end.is_none() || least.or(greatest).is_some() {
                let message = "expected range = LEAST..=GREATEST, or least = and greatest =";
                return Err(Error::new_spanned(range, message));
            }
            (least, greatest) = (start, end);
        }
        let bound = |expr: &Expr| {
            if !of.is_ordered() {
                return Err(Error::new_spanned(
                    expr,
                    "only numbers and amounts have bounds",
                ));
            }
            Ok(of.value(expr)?.bound())
        };
        let bounds = (
            least.map(bound).transpose()?.flatten(),
            greatest.map(bound).transpose()?.flatten(),
        );
        match (bounds, greatest) {
            ((Some(low), Some(high)), Some(expr)) if low > high => Err(Error::new_spanned(
                expr,
                "the greatest value is below the least",
            )),
            _ => Ok(bounds),
        }
    }

    fn measure(&self, of: SettingType) -> Result<Option<String>> {
        let Some(measure) = &self.measure else {
            return Ok(None);
        };
        let name = measure.value();
        if of != SettingType::Number || !MEASURES_OF_NUMBERS.contains(&name.as_str()) {
            let message = "an f64 may have the measure \"fraction\" or \"percent\"; \
                           for amounts use Bytes, Millicores or Seconds";
            return Err(Error::new_spanned(measure, message));
        }
        Ok(Some(name))
    }

    fn pattern(&self, of: SettingType) -> Result<Option<String>> {
        match &self.pattern {
            Some(pattern) if of != SettingType::Text => {
                Err(Error::new_spanned(pattern, "only a Text has a pattern"))
            }
            pattern => Ok(pattern.as_ref().map(LitStr::value)),
        }
    }

    fn choices(&self, of: SettingType) -> Result<Vec<String>> {
        match &self.choices {
            Some(choices) if of != SettingType::Text => {
                Err(Error::new_spanned(choices, "only a Text has choices"))
            }
            choices => Ok(choices.iter().flatten().map(LitStr::value).collect()),
        }
    }
}

impl Single {
    fn check_default(&self, expr: &Expr) -> Result<()> {
        if self.optional {
            let message = "with a default, a setting is never absent: drop the Option";
            return Err(Error::new_spanned(expr, message));
        }
        let fits = match &self.default {
            Some(Value::Text(text)) => self.choices.is_empty() || self.choices.contains(text),
            Some(value) => value.bound().is_none_or(|value| {
                self.least.is_none_or(|least| value >= least)
                    && self.greatest.is_none_or(|greatest| value <= greatest)
            }),
            None => true,
        };
        if fits {
            return Ok(());
        }
        Err(Error::new_spanned(
            expr,
            "the default is not among the values that this setting allows",
        ))
    }
}
