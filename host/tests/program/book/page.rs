//! Pages, and the fenced blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::pages;

/// A page of the book.
pub(super) struct Page {
    pub path: PathBuf,
    pub text: String,
    pub blocks: Vec<Block>,
}

/// A fenced block, or a hidden command: `<!-- run: COMMAND -->`.
pub(super) struct Block {
    /// Counted from 1: that of the fence.
    pub line: usize,
    /// The words of the info string.
    pub words: Vec<String>,
    pub text: String,
}

impl Page {
    /// All pages, by path.
    pub(super) fn all() -> Vec<Self> {
        let mut files = Vec::new();
        collect(&pages(), &mut files);
        files.sort();
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let blocks = blocks(&text);
            Self { path, text, blocks }
        };
        files.into_iter().map(read).collect()
    }

    /// Its path from the folder of pages.
    pub(super) fn name(&self) -> String {
        let path = self.path.strip_prefix(pages()).unwrap();
        path.display().to_string()
    }

    /// Where a block is, for messages.
    pub(super) fn place(&self, block: &Block) -> String {
        format!("book/src/{}:{}", self.name(), block.line)
    }

    /// The text without blocks.
    pub(super) fn prose(&self) -> String {
        let mut inside = false;
        let lines = self.text.lines().filter(|line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !fence && !inside
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Block {
    /// The language.
    pub(super) fn language(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// What follows `KEY=` in the info string.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let mut words = self.words.iter();
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (line, content) in (1..).zip(text.lines()) {
        let hidden = content.strip_prefix("<!-- run: ");
        match (content.strip_prefix("```"), inside) {
            (Some(_), true) => inside = false,
            (Some(info), false) => {
                inside = true;
                let words = info.split_whitespace().map(str::to_owned).collect();
                let text = String::new();
                blocks.push(Block { line, words, text });
            }
            (None, true) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(content);
                text.push('\n');
            }
            (None, false) => {
                if let Some(command) = hidden.and_then(|it| it.strip_suffix(" -->")) {
                    let words = vec!["console".to_owned()];
                    let text = format!("$ {command}\n...\n");
                    blocks.push(Block { line, words, text });
                }
            }
        }
    }
    assert!(!inside, "a block does not end");
    blocks
}

#[test]
fn blocks_and_hidden_commands_are_found_with_their_lines_and_words() {
    let found = blocks("a\n```rust source=x y\nfn f() {}\n```\n<!-- run: cd x -->\n```\n```\n");
    let shown: Vec<_> = (found.iter())
        .map(|block| (block.line, block.words.join(" "), block.text.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (2, "rust source=x y".to_owned(), "fn f() {}\n"),
            (5, "console".to_owned(), "$ cd x\n...\n"),
            (6, String::new(), ""),
        ]
    );
    assert_eq!(found[0].value("source"), Some("x"));
}
