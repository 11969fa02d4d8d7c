//! The texts of host columns, each stored once.

use std::sync::Arc;

use super::Inventory;
use super::by_id::ById;
use placewright_model::Kind;
use placewright_model::budget::Collection;

/// Bytes that a text takes besides its own: a place in the list and one in the table.
const OVERHEAD: usize = 80;

/// Texts by code. Codes are handed out in the order of first use and mean nothing
/// outside their inventory; the table is only looked up in, never walked by hash.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    codes: ById<u32>,
    texts: Vec<Arc<str>>,
    bytes: usize,
    /// Bytes of those that were in use when the table was made anew.
    in_use: usize,
}

impl Texts {
    /// The code of `text`, a new one if it has none yet.
    pub(super) fn code(&mut self, text: &Arc<str>) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let code = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.codes.insert(text.clone(), code);
        self.texts.push(text.clone());
        self.bytes += text.len() + OVERHEAD;
        code
    }

    /// The code of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.codes.get(text).copied()
    }

    /// The text with that code.
    pub fn text(&self, code: i64) -> Option<&Arc<str>> {
        self.texts.get(usize::try_from(code).ok()?)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Bytes that the texts take, those included that nobody uses any more.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes from which on the table is made anew.
    pub fn bound(&self) -> usize {
        let besides = Collection::Texts.most();
        self.in_use.saturating_mul(2).saturating_add(besides)
    }
}

/// A table of texts that takes the place of another one.
struct Renewal {
    old: Texts,
    new: Texts,
    /// The new code of each old one, as far as it was asked for.
    codes: Vec<Option<u32>>,
}

impl Renewal {
    /// The code in the new table of the text that has `code` in the old one.
    fn code(&mut self, code: i64) -> i64 {
        let place = usize::try_from(code).unwrap_or(usize::MAX);
        let Some(text) = self.old.texts.get(place) else {
            return code;
        };
        let new = &mut self.new;
        i64::from(*self.codes[place].get_or_insert_with(|| new.code(text)))
    }
}

impl Inventory {
    /// Drop the texts that no column uses any more, once there are more of them than of those in
    /// use. The others get new codes: a code is valid until the next call of this alone. So an
    /// attribute with a time or a counter in it takes no more room for good.
    pub fn drop_unused_texts(&mut self) {
        if self.texts.bytes() <= self.texts.bound() {
            return;
        }
        let old = std::mem::take(&mut self.texts);
        let mut renewal = Renewal {
            codes: vec![None; old.len()],
            old,
            new: Texts::default(),
        };
        let columns = self.columns.iter_mut();
        let columns = columns.filter(|column| column.kind() == Kind::Text);
        for column in columns {
            column.recode(|code| renewal.code(code));
        }
        for nested in &mut self.nested {
            nested.recode(|code| renewal.code(code));
        }
        let is_text = |column: usize| {
            let known = self.columns.get(column);
            known.is_some_and(|known| known.kind() == Kind::Text)
        };
        self.journal.recode(|column, code| match is_text(column) {
            true => renewal.code(code),
            false => code,
        });
        self.texts = renewal.new;
        self.texts.in_use = self.texts.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Facts, Host};

    fn cluster(hosts: usize) -> Inventory {
        let mut schema = Schema::default();
        schema
            .define_attribute("hosts", "seen", Kind::Text, None, "")
            .unwrap();
        let mut inventory = Inventory::new("c", Arc::new(schema));
        for host in 0..hosts {
            let host = Host::new(format!("h{host}")).with("zone", "a");
            inventory.add_host(host).unwrap();
        }
        inventory
    }

    /// Give each host a text of its own that nobody had before.
    fn report(inventory: &mut Inventory, hosts: usize, round: usize) {
        for host in 0..hosts {
            let text = format!("{round}-{host}-{}", "x".repeat(4000));
            let text = Some(text.as_str().into());
            inventory
                .set_host_value(&format!("h{host}"), "attribute.seen", text)
                .unwrap();
        }
        inventory.drop_unused_texts();
    }

    #[test]
    fn texts_that_change_all_the_time_take_no_more_room_for_good() {
        let mut inventory = cluster(20);
        inventory.ensure_nested("amounts").unwrap();
        let amount = Facts::new().with("name", "licences").with("total", 5);
        inventory
            .set_host_rows("h3", "amounts", vec![amount])
            .unwrap();
        let mut most = 0;
        for round in 0..200 {
            report(&mut inventory, 20, round);
            most = most.max(inventory.texts().bytes());
        }
        // 16 MB went through.
        assert!(most < 6 << 20, "{most}");
        let slot = inventory.slot("h7").unwrap();
        let seen = inventory.host_value(slot, "attribute.seen");
        let last = format!("199-7-{}", "x".repeat(4000));
        assert_eq!(seen, Some(last.as_str().into()));
        assert_eq!(inventory.host_value(slot, "zone"), Some("a".into()));
        assert!(inventory.is_up(slot));
        // Tables below hosts have their texts as well.
        let nested = inventory.nested(0);
        let (name, row) = (nested.column_index("name").unwrap(), nested.span(3).start);
        let code = nested.column(name).integer(row).unwrap();
        assert_eq!(&**inventory.texts().text(code).unwrap(), "licences");
    }

    #[test]
    fn what_is_taken_back_has_the_texts_of_then() {
        let mut inventory = cluster(20);
        report(&mut inventory, 20, 0);
        let before = inventory.version();
        inventory.remove_host("h19").unwrap();
        let other = Host::new("other").with("zone", "b");
        inventory.add_host(other).unwrap();
        for round in 1..70 {
            report(&mut inventory, 19, round);
        }
        assert!(inventory.texts().find("up").is_some());
        let past = inventory.at_version(before).unwrap();
        let slot = past.slot("h19").unwrap();
        assert_eq!(past.host_value(slot, "zone"), Some("a".into()));
        let seen = past.host_value(slot, "attribute.seen").unwrap();
        assert!(seen.to_string().starts_with("0-19-"));
    }
}
