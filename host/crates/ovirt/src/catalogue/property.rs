//! Settings of units as properties of a policy: texts that match an expression.

use regex::Regex;
use serde_json::Value as Json;

use crate::import::table::{Amount, PARAMETERS, Parameter};
use placewright_engine::contract::{Kind as SettingKind, Setting};
use placewright_model::{Kind, Measure, Value};

/// A setting of a unit as oVirt's clients see it.
#[derive(Debug, Clone)]
pub(crate) struct UnitProperty {
    name: String,
    expression: String,
    /// What it is in oVirt, if it is there.
    parameter: Option<&'static Parameter>,
    setting: Setting,
}

impl UnitProperty {
    /// The property that a setting is; None: it is a table, and no text says what it is.
    pub(crate) fn of(setting: &Setting) -> Option<Self> {
        if !setting.columns.is_empty() {
            return None;
        }
        let mut parameters = PARAMETERS.iter();
        let parameter =
            parameters.find(|it| it.setting == setting.name && measures(it.amount, setting));
        let (name, expression) = match parameter {
            Some(parameter) => (
                parameter.name.to_owned(),
                format!("^({})$", parameter.expression),
            ),
            None => (setting.name.clone(), expression(setting)),
        };
        Some(Self {
            name,
            expression,
            parameter,
            setting: setting.clone(),
        })
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the whole of a value must match.
    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }

    /// The setting's name here.
    pub(crate) fn setting(&self) -> &str {
        &self.setting.name
    }

    fn measure(&self) -> Option<Measure> {
        Measure::from_name(self.setting.measure.as_deref()?)
    }

    /// The text of what a document here sets.
    pub(crate) fn text(&self, set: &Json) -> String {
        let raw = || match set {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let amount = match self.parameter {
            Some(parameter) => parameter.amount,
            None => return raw(),
        };
        let kind = Kind::from(self.setting.kind);
        let value = match (set, self.measure()) {
            (Json::String(text), Some(measure)) => measure.parse(text, kind).ok(),
            (Json::Number(number), Some(measure)) => number
                .as_f64()
                .and_then(|number| measure.of_number(number, kind).ok()),
            _ => None,
        };
        let number = match value {
            Some(Value::Integer(integer)) => integer as f64,
            Some(Value::Number(number)) => number,
            _ => return raw(),
        };
        let each = match amount {
            Amount::Minutes => 60.0,
            Amount::Mebibytes => (1u64 << 20) as f64,
            Amount::Percent | Amount::Number | Amount::Switch => 1.0,
        };
        (number / each).to_string()
    }

    /// What a document here sets for a text, in TOML.
    ///
    /// # Errors
    /// What the text must be.
    pub(crate) fn read(&self, text: &str) -> Result<toml_edit::Value, String> {
        let whole = format!("^(?:{})$", self.expression);
        let matches = Regex::new(&whole).is_ok_and(|expression| expression.is_match(text));
        let misfit = || {
            format!(
                "the value \"{}\" of the property {} does not match {}",
                placewright_document::shown(text),
                self.name,
                self.expression
            )
        };
        if !matches {
            return Err(misfit());
        }
        let fragment = match self.parameter {
            Some(parameter) => parameter.amount.toml(text, &self.setting),
            None => match (Kind::from(self.setting.kind), self.measure()) {
                (Kind::Text, _) => return Ok(text.into()),
                (Kind::Boolean, _) => Some(text.to_owned()),
                (_, None) => Some(text.to_owned()),
                (_, Some(_)) => match text.parse::<f64>() {
                    Ok(_) => Some(text.to_owned()),
                    Err(_) => return Ok(text.into()),
                },
            },
        };
        let value = fragment.and_then(|fragment| fragment.parse::<toml_edit::Value>().ok());
        value.ok_or_else(misfit)
    }
}

/// Whether a parameter of oVirt is measured as a setting is.
fn measures(amount: Amount, setting: &Setting) -> bool {
    let measure = setting.measure.as_deref();
    match amount {
        Amount::Percent => measure == Some("percent"),
        Amount::Mebibytes => measure == Some("bytes"),
        Amount::Minutes => measure == Some("seconds"),
        Amount::Number => {
            measure.is_none() && matches!(setting.kind, SettingKind::Integer | SettingKind::Number)
        }
        Amount::Switch => setting.kind == SettingKind::Boolean,
    }
}

/// What the values of a setting that oVirt has not must match. Its bounds are told when they
/// are broken.
fn expression(setting: &Setting) -> String {
    if !setting.choices.is_empty() {
        let choices: Vec<_> = setting.choices.iter().map(|it| regex::escape(it)).collect();
        return format!("^({})$", choices.join("|"));
    }
    let number = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?";
    match (Kind::from(setting.kind), &setting.measure) {
        (Kind::Boolean, _) => "^(true|false)$".to_owned(),
        (Kind::Text, _) => match &setting.pattern {
            Some(pattern) => format!("^({pattern})$"),
            None => "^(.*)$".to_owned(),
        },
        (Kind::Integer, None) => "^(-?[0-9]+)$".to_owned(),
        (Kind::Number, None) => format!("^({number})$"),
        // As documents have it: 80, "80 %", "8 GiB".
        (_, Some(_)) => format!("^({number} ?[A-Za-z%]*)$"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn property(name: &str, kind: SettingKind, measure: Option<&str>) -> UnitProperty {
        UnitProperty::of(&Setting {
            name: name.into(),
            kind,
            measure: measure.map(Into::into),
            default: None,
            required: false,
            least: None,
            greatest: None,
            pattern: None,
            choices: Vec::new(),
            meaning: String::new(),
            columns: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn parameters_of_ovirt_have_its_names_and_measures() {
        let minutes = property(
            "over-commit-duration",
            SettingKind::Integer,
            Some("seconds"),
        );
        assert_eq!(minutes.name(), "CpuOverCommitDurationMinutes");
        assert_eq!(minutes.text(&json!("2 min")), "2");
        assert_eq!(minutes.text(&json!(90)), "1.5");
        assert_eq!(minutes.read("3").unwrap().as_str(), Some("3 min"));
        assert!(minutes.read("0").unwrap_err().contains("[1-9][0-9]*"));
        let memory = property("low-memory", SettingKind::Integer, Some("bytes"));
        assert_eq!(memory.name(), "MaxFreeMemoryForOverUtilized");
        assert_eq!(memory.text(&json!("1 GiB")), "1024");
        let percent = property("high-utilization", SettingKind::Number, Some("percent"));
        assert_eq!(percent.text(&json!(80)), "80");
        assert!(percent.read("100").is_err());
    }

    #[test]
    fn a_value_is_read_as_it_was_shown() {
        for (setting, kind, measure, texts) in [
            (
                "high-utilization",
                SettingKind::Number,
                Some("percent"),
                &["50", "99"][..],
            ),
            (
                "low-memory",
                SettingKind::Integer,
                Some("bytes"),
                &["1", "4096"],
            ),
            ("scale-down", SettingKind::Integer, None, &["1", "100"]),
            (
                "headroom",
                SettingKind::Integer,
                Some("bytes"),
                &["8 GiB", "1024"],
            ),
            ("zone-weight", SettingKind::Number, None, &["1", "-2.5"]),
            ("spread", SettingKind::Boolean, None, &["true", "false"]),
            ("hook", SettingKind::Text, None, &["50_vhostmd", ""]),
        ] {
            let property = property(setting, kind, measure);
            for text in texts {
                let set = crate::policy::json_of(&property.read(text).unwrap());
                assert_eq!(property.text(&set), *text, "{setting}");
            }
        }
    }

    #[test]
    fn a_setting_of_the_name_of_a_parameter_and_another_measure_is_none() {
        let other = property("high-memory", SettingKind::Text, None);
        assert_eq!(other.name(), "high-memory");
    }
}
