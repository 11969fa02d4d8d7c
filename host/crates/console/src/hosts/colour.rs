//! What the cells of the map are coloured by, and on what scale.

use serde_json::{Value, json};

use super::HostRow;
use crate::ask::Ask;
use crate::format;
use crate::parts;
use crate::url::{self, segment};
use crate::value::text;

/// The least share of each band of shares.
const SHARES: [f64; BANDS] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];
/// Bands of a scale at most.
pub(crate) const BANDS: usize = 7;

/// The word for the cost of a VM.
pub(crate) const COST: &str = "cost";
/// The VM of which the cost is told if the page says none: cores and memory.
const USUAL: [(&str, &str); 2] = [("cpu", "2"), ("memory", "8 GiB")];
/// Columns of numbers that say nothing of a host as it stands.
const MEANINGLESS: [&str; 2] = ["listed", "batch.placed"];

/// A share that is worked out of several columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    Cpu,
    CpuUsed,
    Memory,
    MemoryUsed,
}

impl Share {
    pub(crate) const WORDS: &[(&str, &str, Self)] = &[
        ("cpu", "CPU promised", Self::Cpu),
        ("cpu-used", "CPU used", Self::CpuUsed),
        ("memory", "memory promised", Self::Memory),
        ("memory-used", "memory used", Self::MemoryUsed),
    ];
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 1 is all of it.
    Share,
    Percent,
    Cores,
    Bytes,
    Seconds,
    Plain,
    Cost,
}

impl Unit {
    fn of(measure: Option<&str>) -> Self {
        match measure {
            Some("fraction") => Self::Share,
            Some("percent") => Self::Percent,
            Some("millicores") => Self::Cores,
            Some("bytes") => Self::Bytes,
            Some("seconds") => Self::Seconds,
            _ => Self::Plain,
        }
    }

    pub(crate) fn written(self, value: f64) -> String {
        match self {
            Self::Share => format::percent(value),
            Self::Percent => format::percent(value / 100.0),
            Self::Cores => format::cores(value),
            Self::Bytes => format::bytes(value),
            Self::Seconds => format!("{} s", format::number(value, 1)),
            Self::Plain => format::number(value, 3),
            // Of great costs the digits behind the point say nothing.
            Self::Cost if (1e3..1e9).contains(&value.abs()) => format::number(value, 0),
            Self::Cost => format::cost(value),
        }
    }

    /// What its values are measured in, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Share | Self::Percent => "in percent",
            Self::Cores => "in cores",
            Self::Bytes => "in bytes",
            Self::Seconds => "in seconds",
            Self::Plain => "a number",
            Self::Cost => "lower is better",
        }
    }
}

/// What the cells of the map are coloured by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Colour {
    Share(Share),
    /// A column of numbers, and what it means.
    Column {
        name: String,
        unit: Unit,
        meaning: String,
    },
    /// What a VM would cost.
    Cost(Shape),
}

/// A VM, and the policy under which its cost is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// None: that of the cluster.
    pub(crate) policy: Option<String>,
    /// In cores, as it was entered.
    pub(crate) cpu: String,
    /// As it was entered.
    pub(crate) memory: String,
}

impl Shape {
    fn of(ask: &Ask) -> Self {
        let [cpu, memory] =
            USUAL.map(|(name, usual)| ask.param(name).unwrap_or(usual).trim().to_owned());
        Self {
            policy: ask.param("policy").map(str::to_owned),
            cpu,
            memory,
        }
    }

    /// The request that the API is asked about.
    pub(crate) fn body(&self) -> Value {
        json!({"id": "map", "cpu": self.cpu, "memory": self.memory})
    }

    /// The route that is asked; `api` is the path of the cluster.
    pub(crate) fn path(&self, api: &str) -> String {
        let query = url::query([("policy", self.policy.as_deref())]);
        let path = format!("{api}/host-costs?{query}");
        path.trim_end_matches('?').to_owned()
    }

    /// The command that asks the same.
    pub(crate) fn command(&self, cluster: &str) -> String {
        let mut words = vec!["costs", "--cluster", cluster];
        words.extend(["--cpu", &self.cpu, "--memory", &self.memory]);
        if let Some(policy) = &self.policy {
            words.extend(["--policy", policy]);
        }
        parts::command(&words)
    }
}

impl Colour {
    /// What the page asks for; `columns` are those of hosts. An error says what there is not.
    pub(crate) fn asked(ask: &Ask, columns: &[Value]) -> Result<Self, String> {
        let Some(word) = ask.param("colour") else {
            return Ok(Self::Share(Share::Cpu));
        };
        if word == COST {
            return Ok(Self::Cost(Shape::of(ask)));
        }
        let share = Share::WORDS.iter().find(|(known, ..)| *known == word);
        if let Some((.., share)) = share {
            return Ok(Self::Share(*share));
        }
        let column = columns
            .iter()
            .find(|column| text(column, "name") == word && has_numbers(column));
        let column = column.ok_or_else(|| {
            let word = format::cut(word, 60);
            format!("hosts have no column of numbers \"{word}\" here: choose another colour")
        })?;
        Ok(Self::Column {
            name: word.to_owned(),
            unit: Unit::of(column["measure"].as_str()),
            meaning: text(column, "meaning").to_owned(),
        })
    }

    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Share(share) => Share::WORDS[*share as usize].0,
            Self::Column { name, .. } => name,
            Self::Cost(_) => COST,
        }
    }

    /// What it is, for people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Share(share) => Share::WORDS[*share as usize].1.to_owned(),
            Self::Column { name, .. } => name.trim_start_matches("attribute.").to_owned(),
            Self::Cost(shape) => format!(
                "cost of a VM with {} cores and {}",
                format::cut(&shape.cpu, 20),
                format::cut(&shape.memory, 20)
            ),
        }
    }

    /// The same as the head of a column.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Column { .. } => self.text(),
            _ => format::sentence_start(&self.text()),
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self {
            Self::Share(_) => Unit::Share,
            Self::Column { unit, .. } => *unit,
            Self::Cost(_) => Unit::Cost,
        }
    }

    /// Whether the table has no column of it otherwise.
    pub(crate) fn needs_column(&self) -> bool {
        !matches!(self, Self::Share(Share::Cpu | Share::Memory))
    }
}

/// Whether cells can be coloured by a column.
pub(crate) fn has_numbers(column: &Value) -> bool {
    matches!(text(column, "kind"), "integer" | "number")
        && column["measure"] != "time"
        && !MEANINGLESS.contains(&text(column, "name"))
}

/// Whether hosts can be grouped by a column: an attribute of few values.
pub(crate) fn can_group(column: &Value) -> bool {
    text(column, "name").starts_with("attribute.")
        && matches!(text(column, "kind"), "text" | "boolean" | "integer")
        && column["measure"].is_null()
}

/// The scale of a map: the least value of each of its bands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    least: Vec<f64>,
    /// The greatest value on it; None: there is no end.
    greatest: Option<f64>,
}

impl Scale {
    /// That of these hosts. Shares have the same one always; anything else goes from the least to
    /// the greatest of the hosts that are up.
    pub(crate) fn of(colour: &Colour, hosts: &[&HostRow]) -> Self {
        if let Colour::Share(_) = colour {
            return Self {
                least: SHARES.to_vec(),
                greatest: None,
            };
        }
        let up = hosts.iter().filter(|host| host.state == "up");
        let values = up.filter_map(|host| host.value(colour));
        let (least, greatest) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |it, value| {
            (it.0.min(value), it.1.max(value))
        });
        let bands = match greatest - least {
            wide if wide > 0.0 => BANDS,
            _ if least.is_finite() => 1,
            _ => 0,
        };
        let wide = (greatest - least) / BANDS as f64;
        let bounds = (0..bands).map(|band| least + wide * band as f64);
        Self {
            least: bounds.collect(),
            greatest: Some(greatest).filter(|it| it.is_finite()),
        }
    }

    /// The least value of each band.
    pub(crate) fn bands(&self) -> &[f64] {
        &self.least
    }

    /// The least and the greatest value on it, where they are those of hosts.
    pub(crate) fn ends(&self) -> Option<(f64, f64)> {
        Some((*self.least.first()?, self.greatest?))
    }

    /// The band of a value.
    pub(crate) fn band(&self, value: f64) -> usize {
        // Of numbers that are not written exactly, the one at a bound is above it.
        let value = value + value.abs() * 1e-12;
        self.least
            .iter()
            .rposition(|least| value >= *least)
            .unwrap_or(0)
    }
}

/// The columns that the API is asked for, for a colour.
pub(super) fn column(colour: &Colour) -> Option<String> {
    match colour {
        Colour::Column { name, .. } => Some(segment(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(value: f64) -> HostRow {
        HostRow {
            state: "up".to_owned(),
            value: Some(value),
            ..HostRow::default()
        }
    }

    fn memory() -> Colour {
        Colour::Column {
            name: "memory.total".to_owned(),
            unit: Unit::Bytes,
            meaning: String::new(),
        }
    }

    #[test]
    fn a_share_is_in_the_band_of_the_greatest_bound_below_it() {
        let scale = Scale::of(&Colour::Share(Share::Cpu), &[]);
        for (share, expected) in [
            (0.0, 0),
            (0.149, 0),
            (0.15, 1),
            (0.6, 4),
            (0.9, 6),
            (1.4, 6),
        ] {
            assert_eq!(scale.band(share), expected, "{share}");
        }
        assert_eq!(scale.ends(), None);
    }

    #[test]
    fn a_column_has_a_scale_from_its_least_to_its_greatest_value() {
        let (low, high) = (host(10.0), host(80.0));
        let scale = Scale::of(&memory(), &[&low, &high]);
        assert_eq!(scale.ends(), Some((10.0, 80.0)));
        assert_eq!(scale.bands(), [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]);
        let bands = [10.0, 19.0, 20.0, 79.0, 80.0].map(|value| scale.band(value));
        assert_eq!(bands, [0, 0, 1, 6, 6]);
        let same = Scale::of(&memory(), &[&low]);
        assert_eq!((same.bands(), same.band(10.0)), (&[10.0][..], 0));
        assert!(Scale::of(&memory(), &[]).bands().is_empty());
        // What is not up is not on it.
        let down = HostRow {
            state: "down".to_owned(),
            ..host(500.0)
        };
        assert_eq!(
            Scale::of(&memory(), &[&low, &high, &down]).ends(),
            Some((10.0, 80.0))
        );
    }

    #[test]
    fn values_are_written_in_their_unit_of_measure() {
        for (measure, value, expected) in [
            (Some("bytes"), 549_755_813_888.0, "512 GiB"),
            (Some("millicores"), 32.0, "32 cores"),
            (Some("fraction"), 0.5, "50 %"),
            (Some("percent"), 50.0, "50 %"),
            (Some("seconds"), 90.0, "90 s"),
            (None, 1234.5, "1,234.5"),
        ] {
            assert_eq!(Unit::of(measure).written(value), expected);
        }
        assert_eq!(Unit::Cost.written(1.25), "1.250");
        assert_eq!(Unit::Cost.written(-284_800.4), "−284,800");
    }
}
