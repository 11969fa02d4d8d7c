//! What stands beside an instance in its store: its log, and what it was refused.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::{Linker, WasmStr};
use wasmtime::{ResourceLimiter, StoreContextMut};

use super::Identity;
use super::lines::Lines;
use crate::contract::{self, Level};
use crate::{Engine, Share};

/// One sentence that a unit logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// How weighty it is.
    pub level: Level,
    /// The sentence, cut to [`Limits::sentence`](crate::Limits::sentence).
    pub message: String,
}

/// What an element of a table takes, in bytes.
const TABLE_ELEMENT: usize = size_of::<usize>();

/// The host's side of an instance.
pub(super) struct State {
    unit: Arc<Identity>,
    /// The lines of all instances of the unit.
    lines: Arc<Lines>,
    /// Of the memory of all instances.
    share: Share,
    memory_limit: usize,
    table_limit: usize,
    /// Bytes of all memories together.
    memory: usize,
    /// Memory and table growth that was refused in this call, and what was wanted.
    pub(super) refused_memory: Option<usize>,
    pub(super) refused_table: Option<usize>,
    /// Memory or table growth that all instances together had no room for, in bytes.
    pub(super) refused_share: Option<usize>,
    messages: usize,
    sentence: usize,
    /// What was logged in this call.
    pub(super) log: Vec<Logged>,
    /// The last error that was logged in this call, whatever the bound on `log`.
    pub(super) last_error: Option<String>,
}

impl State {
    pub(super) fn new(unit: Arc<Identity>, lines: Arc<Lines>, engine: &Engine) -> Self {
        let limits = engine.limits();
        Self {
            unit,
            lines,
            share: engine.share(),
            memory_limit: limits.memory,
            table_limit: limits.table_elements,
            memory: 0,
            refused_memory: None,
            refused_table: None,
            refused_share: None,
            messages: limits.log_messages,
            sentence: limits.sentence,
            log: Vec::new(),
            last_error: None,
        }
    }

    /// Bytes of all memories together.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Forget what belongs to the call before.
    pub(super) fn begin(&mut self) {
        self.refused_memory = None;
        self.refused_table = None;
        self.refused_share = None;
        self.log.clear();
        self.last_error = None;
    }

    fn keep(&mut self, level: Level, message: &str) {
        let message = sentence(message, self.sentence);
        if level == Level::Error {
            self.last_error = Some(message.clone());
        }
        if self.log.len() >= self.messages {
            return;
        }
        if is_written(level) {
            self.write(level, &message);
        }
        self.log.push(Logged { level, message });
    }

    /// Write a line to the log, unless the unit has written too many.
    fn write(&self, level: Level, message: &str) {
        let Some(dropped) = self.lines.admit(Instant::now()) else {
            return;
        };
        let unit = self.unit.name.as_str();
        if dropped > 0 {
            tracing::warn!(
                unit,
                dropped,
                "lines of this unit were not written: it logs too many"
            );
        }
        match level {
            Level::Error => tracing::error!(unit, "{message}"),
            Level::Warn => tracing::warn!(unit, "{message}"),
            Level::Info => tracing::info!(unit, "{message}"),
            Level::Debug => tracing::debug!(unit, "{message}"),
        }
    }

    /// Whether all instances together have room for so many bytes more. They are taken.
    fn take(&mut self, bytes: usize) -> bool {
        let is_taken = self.share.take(bytes);
        if !is_taken {
            self.refused_share = Some(bytes);
        }
        is_taken
    }
}

/// Whether lines of that level are written at all.
fn is_written(level: Level) -> bool {
    match level {
        Level::Error => tracing::enabled!(tracing::Level::ERROR),
        Level::Warn => tracing::enabled!(tracing::Level::WARN),
        Level::Info => tracing::enabled!(tracing::Level::INFO),
        Level::Debug => tracing::enabled!(tracing::Level::DEBUG),
    }
}

/// A text of a unit as it may be shown: no longer than `limit` bytes, and no
/// control characters, which would reach terminals and log files.
pub(super) fn sentence(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit);
    text[..end]
        .trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

impl ResourceLimiter for State {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let wanted = self.memory.saturating_add(more);
        if wanted > self.memory_limit {
            self.refused_memory = Some(wanted);
            return Ok(false);
        }
        if !self.take(more) {
            return Ok(false);
        }
        self.memory = wanted;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.table_limit {
            self.refused_table = Some(desired);
            return Ok(false);
        }
        let more = desired.saturating_sub(current);
        Ok(self.take(more.saturating_mul(TABLE_ELEMENT)))
    }
}

/// A linker that offers `log` and nothing else.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine.wasmtime());
    linker
        .instance(&contract::interface(contract::LOG))?
        .func_wrap("log", log)?;
    Ok(linker)
}

fn log(
    mut store: StoreContextMut<'_, State>,
    (level, message): (Level, WasmStr),
) -> wasmtime::Result<()> {
    // Beyond the bound, only an error is worth reading: it may be the last word
    // before a trap.
    if store.data().log.len() >= store.data().messages && level != Level::Error {
        return Ok(());
    }
    let message = message.to_str(&store)?.into_owned();
    store.data_mut().keep(level, &message);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::unit::Digest;

    fn state(unit: &str, limits: Limits) -> State {
        let unit = Arc::new(Identity {
            name: unit.to_owned(),
            digest: Digest::of(b""),
        });
        let limits = Limits {
            instances: 1,
            ..limits
        };
        State::new(unit, Arc::default(), &Engine::new(limits, None).unwrap())
    }

    #[test]
    fn a_sentence_is_cut_between_characters_and_cleared_of_control_characters() {
        assert_eq!(sentence("a\u{1b}[31mb\nc\n", 100), "a [31mb c");
        assert_eq!(sentence("äöü", 3), "ä");
    }

    #[test]
    fn the_log_is_bounded_and_keeps_the_last_error() {
        let mut state = state("chatty", Limits::default());
        for number in 0..1000 {
            state.keep(Level::Error, &number.to_string());
        }
        assert_eq!(state.log.len(), Limits::default().log_messages);
        assert_eq!(state.last_error.as_deref(), Some("999"));
        state.begin();
        assert!(state.log.is_empty() && state.last_error.is_none());
    }

    #[test]
    fn all_memories_of_an_instance_count_together() {
        let limits = Limits {
            memory: 3 << 16,
            ..Limits::default()
        };
        let mut state = state("greedy", limits);
        assert!(state.memory_growing(0, 2 << 16, None).unwrap());
        assert!(!state.memory_growing(0, 2 << 16, None).unwrap());
        assert_eq!(state.refused_memory, Some(4 << 16));
        assert!(state.memory_growing(2 << 16, 3 << 16, None).unwrap());
    }
}
