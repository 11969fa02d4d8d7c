//! Long lists, a page at a time.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::{Code, Problem};
use placewright_deployment::PageRoom;

/// Entries of a page, where the request does not say.
const USUAL: u32 = 100;
/// Entries of a page at most.
pub(crate) const MOST: u32 = 1000;

/// Which page of a list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    pub after: Option<String>,
}

/// Which page of a list that is in the order of numbers: a [`PageQuery`] as it is described there.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes what is read as a PageQuery")]
pub struct NumberedPageQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    #[param(pattern = "^[0-9]+$")]
    after: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Page<T> {
    /// The entries, in order.
    pub items: Vec<T>,
    /// Where the next page begins: give it as `after`. Not there on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "web-3")]
    pub next: Option<String>,
}

impl PageQuery {
    /// A page of at most so many entries.
    pub fn of(limit: Option<u32>) -> Self {
        Self { limit, after: None }
    }

    /// Entries at most.
    ///
    /// # Errors
    /// If it is none that is allowed.
    pub fn limit(&self) -> Result<usize, Problem> {
        let limit = self.limit.unwrap_or(USUAL);
        if (1..=MOST).contains(&limit) {
            return Ok(limit as usize);
        }
        Err(Problem::new(
            Code::InvalidParameter,
            format!("\"limit\" must be from 1 to {MOST}, not {limit}"),
        ))
    }

    /// The number after which the page begins, for lists that are in the order of numbers.
    ///
    /// # Errors
    /// If it is no number; `what` says of what it must be one.
    pub fn after_number(&self, what: &str) -> Result<Option<u64>, Problem> {
        let Some(after) = &self.after else {
            return Ok(None);
        };
        // A sign would be taken as well, and is none of a number that was told.
        let is_number = after.bytes().all(|byte| byte.is_ascii_digit());
        let number = after.parse().ok().filter(|_| is_number);
        number.map(Some).ok_or_else(|| {
            let sentence = format!("\"after\" must be the number of {what}");
            Problem::new(Code::InvalidParameter, sentence)
        })
    }

    /// The key after which the page begins, for lists that are in the order of keys.
    ///
    /// # Errors
    /// If the cursor is none of a page of `list`.
    pub fn after_key(&self, list: &str) -> Result<Option<&str>, Problem> {
        let Some(after) = self.after.as_deref() else {
            return Ok(None);
        };
        let key = after.strip_prefix(list).and_then(|it| it.strip_prefix(':'));
        key.map(Some).ok_or_else(|| {
            let sentence = "\"after\" is not the \"next\" of a page of this list";
            Problem::new(Code::InvalidParameter, sentence)
        })
    }

    /// This page of a list that is in ascending order of its keys, with fewer entries where they
    /// are large. Keys stay what they are while a client turns pages, so that none is left out
    /// or given twice. The cursor of the next page names the list, so that no other takes it.
    ///
    /// # Errors
    /// If the limit is none that is allowed, or the cursor is that of another list.
    pub fn page<T: Serialize>(
        &self,
        list: &str,
        all: impl IntoIterator<Item = T>,
        key: impl Fn(&T) -> String,
    ) -> Result<Page<T>, Problem> {
        let after = self.after_key(list)?;
        let is_after = |entry: &T, _: &str| after.is_none_or(|after| key(entry).as_str() > after);
        self.page_after(all, is_after, |entry| format!("{list}:{}", key(entry)))
    }

    /// As [`PageQuery::page`], for keys whose order is not that of their texts, as with
    /// numbers: `is_after` says whether an entry comes after the key of a request.
    ///
    /// # Errors
    /// If the limit is none that is allowed.
    pub fn page_after<T: Serialize>(
        &self,
        all: impl IntoIterator<Item = T>,
        is_after: impl Fn(&T, &str) -> bool,
        key: impl Fn(&T) -> String,
    ) -> Result<Page<T>, Problem> {
        let limit = self.limit()?;
        let wanted = |entry: &T| match &self.after {
            Some(after) => is_after(entry, after),
            None => true,
        };
        let mut rest = all.into_iter().filter(wanted);
        let (mut room, mut items) = (PageRoom::default(), Vec::new());
        while items.len() < limit
            && let Some(entry) = rest.next()
        {
            let has_room = room.takes(&entry);
            items.push(entry);
            if !has_room {
                break;
            }
        }
        let next = match rest.next() {
            Some(_) => items.last().map(&key),
            None => None,
        };
        Ok(Page { items, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_together_are_the_list() {
        let all: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
        let (mut query, mut seen, mut pages) = (PageQuery::default(), Vec::new(), 0);
        query.limit = Some(10);
        loop {
            let page = query.page("all", all.clone(), String::clone).unwrap();
            seen.extend(page.items);
            pages += 1;
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!((seen, pages), (all, 3));
    }

    #[test]
    fn a_page_of_large_entries_has_fewer() {
        let large = "x".repeat(placewright_deployment::PAGE_BYTES / 2);
        let all: Vec<String> = (0..5).map(|number| format!("{number}{large}")).collect();
        let key = |entry: &String| entry[..1].to_owned();
        let mut query = PageQuery::default();
        let mut pages = Vec::new();
        loop {
            let page = query.page("all", all.clone(), key).unwrap();
            pages.push(page.items.len());
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(pages, [2, 2, 1]);
    }

    #[test]
    fn a_full_last_page_has_no_next() {
        let query = PageQuery {
            limit: Some(2),
            after: None,
        };
        let page = query.page("all", ["a", "b"], ToString::to_string).unwrap();
        assert_eq!((page.items.len(), page.next), (2, None));
    }

    #[test]
    fn a_numbered_page_begins_after_a_number_and_nothing_else() {
        let after = |text: &str| {
            let mut query = PageQuery::of(None);
            query.after = Some(text.to_owned());
            query
                .after_number("a plan")
                .map_err(|problem| problem.code())
        };
        assert_eq!(after("17").unwrap(), Some(17));
        assert_eq!(PageQuery::of(None).after_number("a plan").unwrap(), None);
        for wrong in [
            "",
            "+1",
            "-1",
            "1.0",
            "x",
            "plans:1",
            "99999999999999999999",
        ] {
            assert_eq!(after(wrong), Err(Code::InvalidParameter), "{wrong}");
        }
    }

    #[test]
    fn limits_out_of_bounds_are_refused() {
        for limit in [0, 1001] {
            let query = PageQuery {
                limit: Some(limit),
                after: None,
            };
            assert!(query.page("all", ["a"], ToString::to_string).is_err());
        }
    }
}
