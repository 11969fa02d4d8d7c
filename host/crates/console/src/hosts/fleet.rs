//! The hosts of a cluster as the map and the table need them.

use serde_json::Value;

use super::colour::{self, Colour, Share};
use crate::ask::{Ask, Sent};
use crate::format::{cost, cut};
use crate::measures::{self, Measures};
use crate::parts::Measure;
use crate::url::segment;
use crate::value::{self, items, text};
use placewright_http::Problem;

/// The columns that are asked for.
const COLUMNS: &str = "id,state,zone,cpu.total,cpu.overcommit,cpu.usage,cpu.committed,cpu.pending,\
memory.total,memory.free,memory.reserved,memory.overcommit,memory.committed,memory.pending,\
vms.count,vms.pending";

/// A host in a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostRow {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) zone: Option<String>,
    /// What hosts are grouped by besides.
    pub(crate) group: Option<String>,
    /// Attributes that a filter names, without `attribute.`, with their values.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) vms: usize,
    pub(crate) pending: usize,
    /// In cores.
    pub(crate) cpu: Measure,
    /// In bytes.
    pub(crate) memory: Measure,
    /// What it is coloured by, if that is no share.
    pub(crate) value: Option<f64>,
    /// What is told in the place of the value.
    pub(crate) told: Option<String>,
    /// Whether a policy removes it, where costs are told.
    pub(crate) is_removed: bool,
}

impl HostRow {
    /// The value by which it is coloured; None: not known, or not finite.
    pub(crate) fn value(&self, colour: &Colour) -> Option<f64> {
        let used = |measure: &Measure| {
            let used = measure.used?;
            (measure.total > 0.0).then(|| used / measure.total)
        };
        let Colour::Share(share) = colour else {
            return self.value.filter(|value| value.is_finite());
        };
        match share {
            Share::Cpu => Some(self.cpu.share()),
            Share::Memory => Some(self.memory.share()),
            Share::CpuUsed => used(&self.cpu),
            Share::MemoryUsed => used(&self.memory),
        }
    }

    /// The value in words, or why there is none.
    pub(crate) fn written(&self, colour: &Colour) -> String {
        match (&self.told, self.value(colour)) {
            (Some(told), _) => told.clone(),
            (None, Some(value)) => colour.unit().written(value),
            (None, None) if matches!(colour, Colour::Column { .. }) => "not known".to_owned(),
            (None, None) => "not measured".to_owned(),
        }
    }

    /// Whether all words of a filter fit: a part of the id, `state:up`, `zone:z1`, `vms>10`,
    /// `cpu>=80` (in percent), and attributes by their names, as in `rack:r07`. A value with spaces
    /// stands in quotes, as in `zone:"Hall 1"`.
    fn fits(&self, filter: &str) -> bool {
        words(filter).iter().all(|word| self.fits_word(word))
    }

    fn fits_word(&self, word: &Word) -> bool {
        let Word { text, is_quoted } = word;
        let word = text.as_str();
        let is = |given: Option<&str>, wanted: &str| given.is_some_and(|it| it == wanted);
        match word.split_once(':') {
            Some(("state", "not-up")) => return self.state != "up",
            Some(("state", wanted)) => return self.state == wanted,
            Some(("zone", wanted)) => return is(self.zone.as_deref(), wanted),
            Some((name, wanted)) => {
                let mut known = self.attributes.iter();
                if let Some((_, value)) = known.find(|(known, _)| known == name) {
                    return value == wanted;
                }
            }
            None => {}
        }
        match Bound::of(word).filter(|_| !is_quoted) {
            Some(Ok(bound)) => bound.holds(match bound.of {
                Measured::Vms => self.vms as f64,
                Measured::Cpu => self.cpu.share() * 100.0,
                Measured::Memory => self.memory.share() * 100.0,
            }),
            Some(Err(_)) => false,
            None => self.id.to_lowercase().contains(&word.to_lowercase()),
        }
    }
}

/// A word of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Word {
    /// Without its quotes.
    text: String,
    /// Whether there were any: it compares nothing then.
    is_quoted: bool,
}

/// The words of a filter, which end at spaces that are not in quotes.
fn words(filter: &str) -> Vec<Word> {
    let (mut words, mut word, mut is_open) = (Vec::new(), Word::default(), false);
    for letter in filter.chars() {
        match letter {
            '"' => {
                is_open = !is_open;
                word.is_quoted = true;
            }
            space if space.is_whitespace() && !is_open => words.push(std::mem::take(&mut word)),
            letter => word.text.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.text.is_empty());
    words
}

/// What hosts are compared by in a filter.
#[derive(Debug, Clone, Copy)]
enum Measured {
    Vms,
    Cpu,
    Memory,
}

/// A word of a filter that compares, such as `vms>=10`.
#[derive(Debug, Clone, Copy)]
struct Bound<'w> {
    of: Measured,
    sign: &'w str,
    number: f64,
}

impl<'w> Bound<'w> {
    /// None: the word compares nothing. An error says what can be compared.
    fn of(word: &'w str) -> Option<Result<Self, String>> {
        let at = word.find(['<', '>', '='])?;
        let (name, rest) = word.split_at(at);
        let signs = rest.find(|letter| !"<>=".contains(letter));
        let (sign, number) = rest.split_at(signs.unwrap_or(rest.len()));
        let of = match name {
            "vms" => Some(Measured::Vms),
            "cpu" => Some(Measured::Cpu),
            "memory" => Some(Measured::Memory),
            _ => None,
        };
        let number = number.trim_end_matches('%').parse::<f64>().ok();
        let is_sign = ["<", "<=", "=", ">=", ">"].contains(&sign);
        Some(match (of, number.filter(|it| it.is_finite() && is_sign)) {
            (Some(of), Some(number)) => Ok(Self { of, sign, number }),
            _ => Err(format!(
                "\"{}\" is not understood: a filter compares vms, cpu and memory with a number, these two in percent of what may be promised, such as vms>=15 or cpu<80",
                cut(word, 60)
            )),
        })
    }

    fn holds(&self, value: f64) -> bool {
        match self.sign {
            "<" => value < self.number,
            "<=" => value <= self.number,
            ">" => value > self.number,
            ">=" => value >= self.number,
            _ => (value - self.number).abs() < 0.5,
        }
    }
}

/// What hosts are put together by on the map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// Whether those of a zone are together.
    pub(crate) is_zoned: bool,
    /// And those with the same value of this attribute.
    pub(crate) attribute: Option<String>,
}

/// What the name of an attribute begins with in an address, where zones do not count.
pub(crate) const ALONE: &str = "alone:";
/// The word for no grouping in an address.
pub(crate) const NONE: &str = "none";

impl Grouping {
    /// What a page asks for; an error says what there is not.
    fn asked(word: Option<&str>, attributes: &[String]) -> Result<Self, String> {
        let word = word.unwrap_or_default();
        let (is_zoned, name) = match word.strip_prefix(ALONE) {
            Some(name) => (false, name),
            None => (true, word),
        };
        match name {
            "" => Ok(Self {
                is_zoned: true,
                attribute: None,
            }),
            NONE => Ok(Self::default()),
            name if attributes.iter().any(|known| known == name) => Ok(Self {
                is_zoned,
                attribute: Some(name.to_owned()),
            }),
            name => Err(format!(
                "hosts have no attribute \"{}\" that they could be grouped by here",
                cut(name, 60)
            )),
        }
    }
}

/// The hosts of a cluster.
pub(crate) struct Fleet {
    /// By id.
    pub(crate) hosts: Vec<HostRow>,
    /// Attributes that hosts can be grouped by.
    pub(crate) attributes: Vec<String>,
    /// Columns of numbers, built-in ones first.
    pub(crate) numbers: Vec<String>,
    pub(crate) grouping: Grouping,
    pub(crate) colour: Colour,
    /// Where costs are told: the policy, and the host that would be chosen.
    pub(crate) costs: Option<(String, Option<String>)>,
    /// What the page asks for and there is not, a sentence each.
    pub(crate) wrong: Vec<String>,
    /// Names in the filter that no host has, as it is written.
    pub(crate) unknown: Vec<String>,
}

impl Fleet {
    /// Ask for the hosts; `api` is the path of the cluster.
    pub(crate) async fn read(ask: &Ask, api: &str) -> Result<Self, Problem> {
        let schema = ask.get(&format!("{api}/host-schema")).await?;
        let columns = items(&schema, "columns");
        let named = |wanted: fn(&Value) -> bool| {
            let columns = columns.iter().filter(move |column| wanted(column));
            columns.map(|column| text(column, "name").to_owned())
        };
        let mut attributes: Vec<String> = named(colour::can_group).collect();
        attributes.sort();
        let numbers: Vec<String> = named(colour::has_numbers).collect();
        let mut wrong = Vec::new();
        let mut or_usual = |told: String| wrong.push(told);
        let colour = Colour::asked(ask, columns).unwrap_or_else(|told| {
            or_usual(told);
            Colour::Share(Share::Cpu)
        });
        let grouping = Grouping::asked(ask.param("group"), &attributes).unwrap_or_else(|told| {
            or_usual(told);
            Grouping {
                is_zoned: true,
                attribute: None,
            }
        });
        let mut path = format!("{api}/host-columns?columns={COLUMNS}");
        let more = grouping.attribute.as_deref().map(segment);
        for name in more.into_iter().chain(colour::column(&colour)) {
            path.push(',');
            path.push_str(&name);
        }
        let (mut filtered, mut unknown) = (Vec::new(), Vec::new());
        let words = words(ask.param("filter").unwrap_or_default());
        let texts = words.iter().map(|word| word.text.as_str());
        for (word, name) in texts.filter_map(|word| Some((word, word.split_once(':')?.0))) {
            let column = format!("attribute.{name}");
            match attributes.contains(&column) {
                true if filtered.contains(&name) => {}
                true => {
                    filtered.push(name);
                    path.push(',');
                    path.push_str(&segment(&column));
                }
                false if matches!(name, "state" | "zone") => {}
                false => unknown.push((name.to_owned(), word.to_lowercase())),
            }
        }
        let compare = words.iter().filter(|word| !word.is_quoted);
        wrong.extend(compare.filter_map(|word| Bound::of(&word.text)?.err()));
        let shown = ask.get(&path).await?;
        let mut hosts = rows(&shown, &grouping, &filtered);
        let mut costs = None;
        match &colour {
            Colour::Share(_) => {}
            Colour::Column { name, .. } => {
                let values = items(&shown["columns"], name);
                for (host, value) in hosts.iter_mut().zip(values) {
                    host.value = value.as_f64();
                }
            }
            Colour::Cost(shape) => {
                let body = shape.body();
                let path = shape.path(api);
                match ask.send("POST", &path, Sent::Json(&body)).await {
                    Ok(answer) => {
                        price(&mut hosts, &answer.body);
                        let chosen = answer.body["chosen"].as_str().map(str::to_owned);
                        costs = Some((text(&answer.body, "policy").to_owned(), chosen));
                    }
                    Err(problem) => wrong.push(problem.detail().to_owned()),
                }
            }
        }
        Ok(Self {
            attributes,
            numbers,
            grouping,
            colour,
            costs,
            wrong,
            // Ids may have colons.
            unknown: unknown
                .into_iter()
                .filter(|(_, word)| !hosts.iter().any(|it| it.id.to_lowercase().contains(word)))
                .map(|(name, _)| name)
                .collect(),
            hosts,
        })
    }

    /// The hosts that fit the filters of the page, as they are to be sorted.
    pub(crate) fn wanted(&self, ask: &Ask) -> Vec<&HostRow> {
        let filter = ask.param("filter").unwrap_or_default();
        let state = ask.param("state").map(|state| format!("state:{state}"));
        let state = state.unwrap_or_default();
        let hosts = self.hosts.iter();
        let mut wanted: Vec<&HostRow> = hosts
            .filter(|it| it.fits(filter) && it.fits(&state))
            .collect();
        let sorted = ask.param("sort").unwrap_or_default();
        let (by, descends) = match sorted.strip_prefix('-') {
            Some(by) => (by, true),
            None => (sorted, false),
        };
        wanted.sort_by(|a, b| {
            let order = match by {
                "state" => a.state.cmp(&b.state),
                "zone" => a.zone.cmp(&b.zone),
                "group" => a.group.cmp(&b.group),
                "vms" => a.vms.cmp(&b.vms),
                "cpu" => a.cpu.share().total_cmp(&b.cpu.share()),
                "memory" => a.memory.share().total_cmp(&b.memory.share()),
                "left-cpu" => left(&a.cpu).total_cmp(&left(&b.cpu)),
                "left-memory" => left(&a.memory).total_cmp(&left(&b.memory)),
                "value" => {
                    // Those without a value are beyond all others.
                    let value = |host: &HostRow| host.value(&self.colour).unwrap_or(f64::INFINITY);
                    value(a).total_cmp(&value(b))
                }
                _ => a.id.cmp(&b.id),
            };
            let order = if descends { order.reverse() } else { order };
            order.then_with(|| a.id.cmp(&b.id))
        });
        wanted
    }
}

/// The hosts of a cluster with their measures alone, by id; `api` is the path of the cluster.
pub(crate) async fn measured(ask: &Ask, api: &str) -> Result<Vec<HostRow>, Problem> {
    let shown = ask
        .get(&format!("{api}/host-columns?columns={COLUMNS}"))
        .await?;
    Ok(rows(&shown, &Grouping::default(), &[]))
}

/// By what hosts are sorted; descending with a `-` before it.
const ORDERS: [&str; 10] = [
    "id",
    "state",
    "zone",
    "group",
    "vms",
    "cpu",
    "memory",
    "left-cpu",
    "left-memory",
    "value",
];

/// That the order that is asked for is one that there is.
///
/// # Errors
/// If it is none.
pub(crate) fn check_order(ask: &Ask) -> Result<(), Problem> {
    let descending = ORDERS.map(|order| format!("-{order}"));
    let mut all = ORDERS.to_vec();
    all.extend(descending.iter().map(String::as_str));
    ask.one_of("sort", &all).map(drop)
}

/// What may still be promised.
pub(crate) fn left(measure: &Measure) -> f64 {
    measure.promisable - measure.committed - measure.reserved
}

/// Put what an answer says of costs to the hosts.
fn price(hosts: &mut [HostRow], answer: &Value) {
    let mut told = items(answer, "hosts").iter().peekable();
    for host in hosts {
        // Both are in the order of ids.
        while told
            .next_if(|it| text(it, "host") < host.id.as_str())
            .is_some()
        {}
        let Some(costed) = told.next_if(|it| text(it, "host") == host.id) else {
            host.told = Some("not known".to_owned());
            continue;
        };
        let costs: Vec<f64> = items(costed, "costs").iter().map(value::cost).collect();
        host.value = costs.first().copied();
        host.is_removed = costed["reason"].is_string();
        host.told = match (costed["filter"].as_str(), costed["reason"].as_str()) {
            (Some(filter), Some(reason)) => Some(format!(
                "removed by {}: {}",
                cut(filter, 60),
                cut(reason, 160)
            )),
            (_, Some(reason)) => Some(cut(reason, 160)),
            (_, None) if costs.is_empty() => Some("left, and the policy has no costs".to_owned()),
            (_, None) if costs.len() == 1 && costs[0].is_finite() => None,
            (_, None) => {
                let costs: Vec<String> = costs.into_iter().map(cost).collect();
                Some(costs.join(" / "))
            }
        };
    }
}

/// A value by which hosts are grouped or filtered, in a word.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn rows(shown: &Value, grouping: &Grouping, named: &[&str]) -> Vec<HostRow> {
    let (columns, overcommit) = (&shown["columns"], shown["cpu-overcommit"].as_f64());
    // Each column is found once, and not for each host.
    let column = |name: &str| items(columns, name);
    let (ids, states, zones) = (column("id"), column("state"), column("zone"));
    let (running, pending) = (column("vms.count"), column("vms.pending"));
    let amounts = measures::AMOUNTS.map(column);
    let groups = grouping.attribute.as_deref().map(column);
    let named: Vec<(&str, &[Value])> = named
        .iter()
        .map(|name| (*name, column(&format!("attribute.{name}"))))
        .collect();
    let text = |column: &[Value], row: usize| Some(column.get(row)?.as_str()?.to_owned());
    let count = |column: &[Value], row: usize| {
        let count = column.get(row).and_then(Value::as_u64);
        usize::try_from(count.unwrap_or_default()).unwrap_or(usize::MAX)
    };
    let rows = (0..ids.len()).map(|row| {
        let amounts = amounts.map(|column| column.get(row)?.as_f64());
        let Measures { cpu, memory } = Measures::of(amounts, overcommit);
        HostRow {
            id: text(ids, row).unwrap_or_default(),
            state: text(states, row).unwrap_or_else(|| "up".to_owned()),
            zone: text(zones, row),
            group: groups.and_then(|group| word(group.get(row)?)),
            attributes: named
                .iter()
                .filter_map(|(name, column)| Some(((*name).to_owned(), word(column.get(row)?)?)))
                .collect(),
            vms: count(running, row),
            pending: count(pending, row),
            cpu,
            memory,
            ..HostRow::default()
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_filtered_by_words_that_all_fit() {
        let host = HostRow {
            id: "N1-03".to_owned(),
            state: "maintenance".to_owned(),
            zone: Some("z1".to_owned()),
            attributes: vec![("rack".to_owned(), "r07".to_owned())],
            vms: 12,
            cpu: Measure {
                committed: 30.0,
                promisable: 40.0,
                ..Measure::default()
            },
            ..HostRow::default()
        };
        for fits in [
            "",
            "n1",
            "state:not-up zone:z1",
            "rack:r07",
            "vms>10 cpu>70%",
            "cpu<76",
        ] {
            assert!(host.fits(fits), "{fits}");
        }
        for fails in [
            "n2", "state:up", "zone:z2", "rack:r08", "row:r07", "vms>12", "cpu>x", "n1 vms<3",
            "a>1",
        ] {
            assert!(!host.fits(fails), "{fails}");
        }
    }

    #[test]
    fn a_value_with_spaces_stands_in_quotes() {
        let host = HostRow {
            id: "a=b".to_owned(),
            zone: Some("Hall 1".to_owned()),
            ..HostRow::default()
        };
        for fits in ["zone:\"Hall 1\"", "\"zone:Hall 1\" a", "\"a=b\""] {
            assert!(host.fits(fits), "{fits}");
        }
        for fails in ["zone:Hall 1", "zone:\"Hall 2\"", "a=b"] {
            assert!(!host.fits(fails), "{fails}");
        }
    }

    #[test]
    fn hosts_are_grouped_by_zone_by_an_attribute_or_by_both() {
        let attributes = ["attribute.rack".to_owned()];
        let asked = |word: &str| Grouping::asked(Some(word), &attributes);
        let rack = || Some("attribute.rack".to_owned());
        for (word, is_zoned, attribute) in [
            ("", true, None),
            ("none", false, None),
            ("attribute.rack", true, rack()),
            ("alone:attribute.rack", false, rack()),
        ] {
            let expected = Grouping {
                is_zoned,
                attribute,
            };
            assert_eq!(asked(word), Ok(expected), "{word}");
        }
        assert!(
            asked("attribute.row")
                .unwrap_err()
                .contains("attribute.row")
        );
    }

    #[test]
    fn costs_are_put_to_their_hosts_and_what_removes_the_others_is_told() {
        let host = |id: &str| HostRow {
            id: id.to_owned(),
            ..HostRow::default()
        };
        let mut hosts = ["a", "b", "c", "d", "e", "f"].map(host);
        let answer = serde_json::json!({"hosts": [
            {"host": "a", "costs": [1.5]},
            {"host": "b", "costs": [], "filter": "cpu", "reason": "has too little"},
            {"host": "c", "costs": [2.0, null]},
            {"host": "d", "costs": [], "reason": "is not up"},
            {"host": "e", "costs": []},
        ]});
        price(&mut hosts, &answer);
        let told = hosts.each_ref().map(|it| (it.value, it.told.as_deref()));
        assert_eq!(
            told,
            [
                (Some(1.5), None),
                (None, Some("removed by cpu: has too little")),
                (Some(2.0), Some("2.000 / ∞")),
                (None, Some("is not up")),
                (None, Some("left, and the policy has no costs")),
                (None, Some("not known")),
            ]
        );
    }
}
