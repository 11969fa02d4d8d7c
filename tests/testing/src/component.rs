//! Small units written as text, that do one thing each, right or wrong.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const WIT: &str = include_str!("../../../wit/policy.wit");

/// Where the description's data begins in memory; the pages below are free for
/// the code of a test.
const DATA: u32 = 4096;

/// A core module with the world's metadata, encoded as a component.
pub fn encode(wat: &str, wit: &str, world: &str) -> Vec<u8> {
    let mut module = wat::parse_str(wat).unwrap();
    let mut resolve = Resolve::default();
    let package = resolve.push_str("policy.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .unwrap()
        .encode()
        .unwrap()
}

/// Name, kind by its number in the WIT, whether it is required.
pub type Column = (&'static str, u8, bool);

/// A unit that judges, written by hand.
pub struct Judging {
    /// What it calls itself.
    pub name: &'static str,
    /// Tables with their columns.
    pub reads: Vec<(&'static str, Vec<Column>)>,
    /// 0 row-wise, 1 whole-table.
    pub evaluation: u8,
    /// The reasons that it gives.
    pub reasons: Vec<&'static str>,
    /// The least and the greatest cost that it claims.
    pub cost_range: Option<(f64, f64)>,
    /// Whether the description says that it judges.
    pub described: bool,
    /// More definitions of the module.
    pub definitions: &'static str,
    /// The body of `judge`: parameters `$verdicts $costs` and for each list of
    /// the call a pointer and a length (`$rows $rows.len` ...). It returns the
    /// pointer to the answer, best with `(call $answer VERDICTS COSTS)`, which
    /// answers with that many zeros.
    pub judge: &'static str,
}

impl Default for Judging {
    fn default() -> Self {
        Self {
            name: "sample",
            reads: vec![("hosts", vec![])],
            evaluation: 0,
            reasons: vec!["is not liked"],
            cost_range: None,
            described: true,
            definitions: "",
            judge: ALL_ALIKE,
        }
    }
}

/// Keeps every host at cost 0.
pub const ALL_ALIKE: &str = "
    (local $hosts i32)
    (local.set $hosts (i32.load (local.get $rows)))
    (call $answer
      (select (local.get $hosts) (i32.const 0) (local.get $verdicts))
      (select (local.get $hosts) (i32.const 0) (local.get $costs)))";

impl Judging {
    /// The component.
    pub fn component(&self) -> Vec<u8> {
        self.component_of(WIT)
    }

    /// The same, built against another version of the contract.
    pub fn component_of_version(&self, version: &str) -> Vec<u8> {
        self.component_of(&WIT.replace("policy@0.1.0", &format!("policy@{version}")))
    }

    fn component_of(&self, wit: &str) -> Vec<u8> {
        encode(&self.module(version(wit)), wit, "judging")
    }

    fn module(&self, version: &str) -> String {
        let mut data = Data::default();
        let description = self.description(&mut data);
        let common = common(version, &data, description);
        format!(
            r#"(module
              {common}
              {definitions}
              (func $answer (param $verdicts i32) (param $costs i32) (result i32)
                (local $p i32)
                (local.set $p (call $realloc (i32.const 0) (i32.const 0) (i32.const 8) (i32.const 32)))
                (i32.store8 (local.get $p) (i32.const 0))
                (i32.store offset=4 (local.get $p)
                  (call $zeros (local.get $verdicts)))
                (i32.store offset=8 (local.get $p) (local.get $verdicts))
                (i32.store offset=12 (local.get $p)
                  (call $zeros (i32.shl (local.get $costs) (i32.const 3))))
                (i32.store offset=16 (local.get $p) (local.get $costs))
                (i32.store offset=20 (local.get $p) (i32.const 8))
                (i32.store offset=24 (local.get $p) (i32.const 0))
                (local.get $p))
              (func (export "placewright:policy/judge@{version}#judge")
                (param $verdicts i32) (param $costs i32) {CALL} (result i32)
                {judge})
              (func (export "cabi_post_placewright:policy/judge@{version}#judge") (param i32)
                (global.set $next (i32.const 65536))))"#,
            definitions = self.definitions,
            judge = self.judge,
        )
    }

    /// The record `description` as the canonical ABI lays it out; its address.
    fn description(&self, data: &mut Data) -> u32 {
        let reads = data.reads(&self.reads);
        let reasons: Vec<Vec<u8>> = self
            .reasons
            .iter()
            .map(|reason| [data.text(reason), vec![0; 4]].concat())
            .collect();
        let mut judge = vec![1, 1, self.evaluation, 0];
        judge.extend(reads);
        judge.extend(data.list(&reasons));
        judge.extend([0; 4]);
        match self.cost_range {
            None => judge.extend([0; 24]),
            Some((least, greatest)) => {
                judge.extend([1, 0, 0, 0, 0, 0, 0, 0]);
                judge.extend(least.to_le_bytes());
                judge.extend(greatest.to_le_bytes());
            }
        }
        let mut description = data.introduction(self.name);
        description.extend([u8::from(self.described), 0, 0, 0, 0, 0, 0, 0]);
        description.extend(judge);
        description.resize(DESCRIPTION, 0);
        data.place(&description)
    }
}

/// The version of the contract that a text of it says.
fn version(wit: &str) -> &str {
    wit.split_once("package placewright:policy@")
        .and_then(|(_, rest)| rest.split_once(';'))
        .unwrap()
        .0
}

/// Bytes of the record `description`.
const DESCRIPTION: usize = 184;

/// The parameters that a call's tables are.
const CALL: &str = "
    (param $rows i32) (param $rows.len i32)
    (param $integers i32) (param $integers.len i32)
    (param $numbers i32) (param $numbers.len i32)
    (param $absent-integers i32) (param $absent-integers.len i32)
    (param $absent-numbers i32) (param $absent-numbers.len i32)
    (param $texts i32) (param $texts.len i32)";

/// What every module has: memory, a bump allocator, and its description.
fn common(version: &str, data: &Data, description: u32) -> String {
    let bytes: String = data.bytes.iter().map(|b| format!("\\{b:02x}")).collect();
    format!(
        r#"(import "placewright:policy/log@{version}" "log" (func $log (param i32 i32 i32)))
          (memory (export "memory") 2)
          (data (i32.const {DATA}) "{bytes}")
          (global $next (mut i32) (i32.const 65536))
          (func $realloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (local $p i32)
            (local.set $p (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
            (global.set $next (i32.add (local.get $p) (local.get 3)))
            (block $fits
              (loop $grow
                (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
                (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
                (br $grow)))
            (local.get $p))
          (func $zeros (param $bytes i32) (result i32)
            (local $p i32)
            (local.set $p (call $realloc (i32.const 0) (i32.const 0) (i32.const 8) (local.get $bytes)))
            (memory.fill (local.get $p) (i32.const 0) (local.get $bytes))
            (local.get $p))
          (func (export "placewright:policy/unit@{version}#describe") (result i32)
            (i32.const {description}))"#
    )
}

/// A unit written by hand, with one part that is asked once: selection, effects,
/// order or explain.
pub struct Asking {
    /// The interface's name in the contract: `selection`, `effects`, `order` or `explain`.
    pub part: &'static str,
    /// Tables with their columns.
    pub reads: Vec<(&'static str, Vec<Column>)>,
    /// More definitions of the module.
    pub definitions: &'static str,
    /// The body of the part's function: for each list of the call a pointer and a
    /// length (`$rows $rows.len` ...). It returns the pointer to the answer.
    pub answer: &'static str,
}

/// An answer without any entry: it begins with a byte that says that it is one, and
/// all its lists are empty.
pub const NOTHING: &str = "(call $zeros (i32.const 32))";

impl Asking {
    /// The component.
    pub fn component(&self) -> Vec<u8> {
        let mut data = Data::default();
        let description = self.description(&mut data);
        let version = version(WIT);
        let common = common(version, &data, description);
        let interface = format!("placewright:policy/{}@{version}", self.part);
        let function = match self.part {
            "selection" => "refine",
            "effects" => "placed",
            part => part,
        };
        let module = format!(
            r#"(module
              {common}
              {definitions}
              (func (export "{interface}#{function}") {CALL} (result i32)
                {answer})
              (func (export "cabi_post_{interface}#{function}") (param i32)
                (global.set $next (i32.const 65536))))"#,
            definitions = self.definitions,
            answer = self.answer,
        );
        encode(&module, WIT, self.world())
    }

    fn world(&self) -> &'static str {
        match self.part {
            "selection" => "selecting",
            "effects" => "effecting",
            "order" => "ordering",
            _ => "explaining",
        }
    }

    /// The record `description`, of which only this part is given; its address.
    fn description(&self, data: &mut Data) -> u32 {
        let reads = data.reads(&self.reads);
        let mut description = data.introduction("sample");
        // Judge, selection, effects, balance, order and explain follow one another.
        description.resize(
            match self.part {
                "selection" => 96,
                "effects" => 112,
                "order" => 160,
                _ => 172,
            },
            0,
        );
        description.extend([1, 0, 0, 0]);
        description.extend(reads);
        if self.part == "selection" {
            // In any position.
            description.push(1);
        }
        description.resize(DESCRIPTION, 0);
        data.place(&description)
    }
}

/// Static data of a module.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
}

impl Data {
    fn place(&mut self, bytes: &[u8]) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let address = DATA + u32::try_from(self.bytes.len()).unwrap();
        self.bytes.extend(bytes);
        address
    }

    fn pair(&mut self, bytes: &[u8], length: usize) -> Vec<u8> {
        let mut pair = self.place(bytes).to_le_bytes().to_vec();
        pair.extend(u32::try_from(length).unwrap().to_le_bytes());
        pair
    }

    fn text(&mut self, text: &str) -> Vec<u8> {
        self.pair(text.as_bytes(), text.len())
    }

    fn list(&mut self, entries: &[Vec<u8>]) -> Vec<u8> {
        self.pair(&entries.concat(), entries.len())
    }

    /// The tables that a part reads, as a list.
    fn reads(&mut self, reads: &[(&'static str, Vec<Column>)]) -> Vec<u8> {
        let tables: Vec<Vec<u8>> = reads
            .iter()
            .map(|(table, columns)| {
                let columns: Vec<Vec<u8>> = columns
                    .iter()
                    .map(|(column, kind, required)| {
                        let mut read = self.text(column);
                        read.extend([*kind, u8::from(*required), 0, 0]);
                        read
                    })
                    .collect();
                [self.text(table), self.list(&columns)].concat()
            })
            .collect();
        self.list(&tables)
    }

    /// How a description begins: name, version and summary, no aliases and no
    /// settings.
    fn introduction(&mut self, name: &str) -> Vec<u8> {
        let mut introduction = self.text(name);
        introduction.extend(self.text("1.0.0"));
        introduction.extend(self.text("A unit to test with"));
        introduction.extend([0; 16]);
        introduction
    }
}
