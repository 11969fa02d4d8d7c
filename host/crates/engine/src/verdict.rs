//! What once was too much for the compiler, so that it is not tried again at each start.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{CompileError, Limits};

/// Under what a verdict is noted beside compiled code.
pub(super) const KIND: &str = "uncompiled";

/// How often compiling may run out of time or break off before it is not tried again: the
/// machine may have had much to do, or too little memory.
const TRIES: u32 = 3;

/// Why a component was not compiled under the limits of then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It took more than that many bytes of memory.
    Memory(usize),
    /// It took longer than that, so many times.
    Time(Duration, u32),
    /// The compiler broke off with so many bytes of memory, so many times.
    Broken(usize, u32),
}

impl Verdict {
    /// The verdict on an error, after the one before it. None if another try may end otherwise.
    pub(super) fn of(error: &CompileError, before: Option<Self>, limits: &Limits) -> Option<Self> {
        match error {
            CompileError::TooMuchMemory(_) => Some(Self::Memory(limits.compile_memory)),
            CompileError::TooSlow(time) => {
                let tries = match before {
                    Some(Self::Time(before, tries)) if before >= *time => tries,
                    _ => 0,
                };
                Some(Self::Time(*time, tries + 1))
            }
            CompileError::TooMuchProcessor(time) => Some(Self::Time(*time, TRIES)),
            CompileError::Broken(_) => {
                let tries = match before {
                    Some(Self::Broken(before, tries)) if before >= limits.compile_memory => tries,
                    _ => 0,
                };
                Some(Self::Broken(limits.compile_memory, tries + 1))
            }
            CompileError::Invalid(_)
            | CompileError::Busy(_)
            | CompileError::Compiler(_)
            | CompileError::NotAgain(_) => None,
        }
    }

    /// The error without another try, if the limits have not been raised since.
    pub(super) fn error(self, limits: &Limits) -> Option<CompileError> {
        let error = match self {
            Self::Memory(memory) if limits.compile_memory <= memory => {
                CompileError::TooMuchMemory(memory)
            }
            Self::Time(time, tries) if limits.compile_time <= time && tries >= TRIES => {
                CompileError::TooSlow(time)
            }
            Self::Broken(memory, tries) if limits.compile_memory <= memory && tries >= TRIES => {
                CompileError::Broken("it broke off".to_owned())
            }
            _ => return None,
        };
        Some(CompileError::NotAgain(Box::new(error)))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(memory) => write!(f, "memory {memory}"),
            Self::Time(time, tries) => write!(f, "time {} {tries}", time.as_millis()),
            Self::Broken(memory, tries) => write!(f, "broken {memory} {tries}"),
        }
    }
}

impl FromStr for Verdict {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |word: &str| word.parse::<u64>().map_err(drop);
        let bytes = |word: &str| usize::try_from(number(word)?).map_err(drop);
        let count = |word: &str| word.parse::<u32>().map_err(drop);
        match words[..] {
            ["memory", memory] => Ok(Self::Memory(bytes(memory)?)),
            ["broken", memory, tries] => Ok(Self::Broken(bytes(memory)?, count(tries)?)),
            ["time", time, tries] => {
                let time = Duration::from_millis(number(time)?);
                Ok(Self::Time(time, count(tries)?))
            }
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        for verdict in [
            Verdict::Memory(7),
            Verdict::Time(SECOND, 2),
            Verdict::Broken(9, 1),
        ] {
            assert_eq!(verdict.to_string().parse(), Ok(verdict));
        }
        for damaged in ["", "memory", "memory x", "time 3", "other 4"] {
            assert_eq!(damaged.parse::<Verdict>(), Err(()), "{damaged}");
        }
    }

    #[test]
    fn what_took_too_much_is_tried_again_when_the_limit_is_raised() {
        let limits = |compile_memory, compile_time| Limits {
            compile_memory,
            compile_time,
            ..Limits::default()
        };
        let given = limits(100, SECOND);
        for (verdict, raised) in [
            (Verdict::Memory(100), limits(101, SECOND)),
            (Verdict::Broken(100, TRIES), limits(101, SECOND)),
            (Verdict::Time(SECOND, TRIES), limits(100, SECOND * 2)),
        ] {
            assert!(verdict.error(&given).is_some(), "{verdict}");
            assert!(verdict.error(&raised).is_none(), "{verdict}");
        }
    }

    #[test]
    fn what_is_too_slow_is_tried_three_times() {
        let limits = Limits {
            compile_time: SECOND,
            ..Limits::default()
        };
        let mut verdict = None;
        for _ in 0..TRIES {
            assert!(verdict.is_none_or(|it: Verdict| it.error(&limits).is_none()));
            verdict = Verdict::of(&CompileError::TooSlow(SECOND), verdict, &limits);
        }
        assert!(verdict.unwrap().error(&limits).is_some());
        let invalid = CompileError::Invalid("it is cut off".to_owned());
        assert_eq!(Verdict::of(&invalid, None, &limits), None);
    }
}
