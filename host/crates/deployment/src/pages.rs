//! Lists end by bytes as well as by entries: what somebody has written must not decide how much
//! an answer takes.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

/// Bytes of the entries of a page, but for the last of them.
pub const PAGE_BYTES: usize = 4 << 20;

/// Counts what is written, and keeps none of it.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes entries until they have [`PAGE_BYTES`] as JSON; at least one.
#[derive(Debug, Default)]
pub struct PageRoom {
    taken: usize,
}

impl PageRoom {
    /// Take an entry in. Whether there is room for more after it.
    pub fn takes(&mut self, entry: &impl Serialize) -> bool {
        let mut count = Count(0);
        // What cannot be written is refused where it is sent.
        let _ = serde_json::to_writer(&mut count, entry);
        self.takes_bytes(count.0)
    }

    /// The same of a value, whose bytes are estimated.
    pub fn takes_json(&mut self, entry: &Value) -> bool {
        self.takes_bytes(weight(entry))
    }

    /// The same of an entry of so many bytes.
    pub fn takes_bytes(&mut self, bytes: usize) -> bool {
        self.taken = self.taken.saturating_add(bytes);
        self.taken < PAGE_BYTES
    }
}

/// About how many bytes a value takes when it is written.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(items) => 2 + items.iter().map(weight).sum::<usize>(),
        Value::Object(items) => {
            let items = items.iter();
            2 + items
                .map(|(name, value)| name.len() + 4 + weight(value))
                .sum::<usize>()
        }
    }
}
