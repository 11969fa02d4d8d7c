//! What is wrong with a description: the first problems in sentences, the others counted.

use crate::contract::bounds;

/// Problems of a description.
#[derive(Debug, Default)]
pub(super) struct Problems {
    sentences: Vec<String>,
    more: usize,
}

impl Problems {
    /// The description would be wrong in one more way. No sentence is made of what is only
    /// counted.
    pub(super) fn add(&mut self, sentence: impl FnOnce() -> String) {
        match self.sentences.len() {
            0..bounds::PROBLEMS => self.sentences.push(sentence()),
            _ => self.more += 1,
        }
    }

    /// Take over what is wrong with something of that name.
    pub(super) fn append(&mut self, what: &str, found: Self) {
        for sentence in &found.sentences {
            self.add(|| format!("{what}: {sentence}"));
        }
        self.more += found.more;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The sentences, the last of them telling how many more there would be.
    pub(super) fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.sentences.push(format!("and {} more", self.more));
        }
        self.sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_problems_the_first_are_told_and_the_others_counted() {
        let (mut problems, mut inner) = (Problems::default(), Problems::default());
        let mut made = 0;
        for number in 0..30 {
            inner.add(|| {
                made += 1;
                number.to_string()
            });
        }
        assert_eq!(made, bounds::PROBLEMS);
        problems.append("it", inner);
        problems.add(|| "one".to_owned());
        let sentences = problems.into_sentences();
        assert_eq!(sentences.len(), bounds::PROBLEMS + 1);
        assert_eq!(sentences[0], "it: 0");
        assert_eq!(sentences[bounds::PROBLEMS], "and 11 more");
    }
}
