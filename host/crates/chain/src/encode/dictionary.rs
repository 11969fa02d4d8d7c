//! The dictionary of one call.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use placewright_inventory::Texts;

/// Hands out the codes of one call's texts. Texts of host columns are found by
/// their code in the inventory, without hashing.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    by_text: HashMap<Arc<str>, i64, RandomState>,
    /// By code in the inventory: the call in which the text got a code, and which.
    by_inventory_code: Vec<(u64, i64)>,
    call: u64,
}

impl Dictionary {
    /// Forget the codes of the call before.
    pub(super) fn clear(&mut self) {
        self.by_text.clear();
        self.call += 1;
    }

    /// The code of a text in this call.
    pub(super) fn code(&mut self, text: &Arc<str>, texts: &mut Vec<Arc<str>>) -> i64 {
        if let Some(code) = self.by_text.get(text) {
            return *code;
        }
        let code = texts.len() as i64;
        texts.push(text.clone());
        self.by_text.insert(text.clone(), code);
        code
    }

    /// The code in this call of the text that has `code` in the inventory.
    #[inline]
    pub(super) fn inventory_code(
        &mut self,
        code: i64,
        inventory: &Texts,
        texts: &mut Vec<Arc<str>>,
    ) -> i64 {
        match self.by_inventory_code.get(code as usize) {
            Some((call, known)) if *call == self.call => *known,
            _ => self.first_use(code, inventory, texts),
        }
    }

    /// The same of many texts; their codes in this call go to `integers`.
    pub(super) fn inventory_codes(
        &mut self,
        codes: &[i64],
        inventory: &Texts,
        texts: &mut Vec<Arc<str>>,
        integers: &mut Vec<i64>,
    ) {
        let first = integers.len();
        integers.resize(first + codes.len(), 0);
        let (mut codes, mut places) = (codes, &mut integers[first..]);
        loop {
            let known = self.known(codes, places);
            let Some((code, rest)) = codes[known..].split_first() else {
                return;
            };
            places[known] = self.first_use(*code, inventory, texts);
            (codes, places) = (rest, &mut places[known + 1..]);
        }
    }

    /// Puts codes in this call into the places of as many texts as are known to have one,
    /// and tells how many those are.
    fn known(&self, codes: &[i64], places: &mut [i64]) -> usize {
        let (by_inventory_code, this_call) = (&*self.by_inventory_code, self.call);
        let unknown = codes.iter().zip(places).position(|(code, place)| {
            let known = by_inventory_code.get(*code as usize);
            let known = known.filter(|(call, _)| *call == this_call);
            known.map(|(_, code)| *place = *code).is_none()
        });
        unknown.unwrap_or(codes.len())
    }

    #[cold]
    fn first_use(&mut self, code: i64, inventory: &Texts, texts: &mut Vec<Arc<str>>) -> i64 {
        if self.by_inventory_code.len() < inventory.len() {
            self.by_inventory_code.resize(inventory.len(), (0, 0));
        }
        let Some(text) = inventory.text(code) else {
            return 0;
        };
        let known = self.code(text, texts);
        self.by_inventory_code[code as usize] = (self.call, known);
        known
    }
}
