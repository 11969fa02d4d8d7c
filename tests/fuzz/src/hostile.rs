//! Units that attack whoever loads or calls them, for `tests/attacks`.

use serde_json::{Value, json};

use crate::guest::{Code, component};
use crate::targets::answers::description;

/// Where memory begins that nothing else lies in.
const FREE: usize = 4 << 20;

/// All of them, by name.
pub fn units() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("summary-large", summary_large()),
        ("names-large", names_large()),
        ("patterns", patterns()),
        ("reasons-large", reasons_large()),
        ("elements", elements()),
        ("locals", locals()),
        ("code-large", code_large()),
        ("memory-eater", memory_eater()),
    ]
}

/// Fills memory before the unit describes itself.
fn filling(fills: &[(usize, char, usize)]) -> String {
    let fills = fills.iter().map(|(at, with, length)| {
        let byte = u32::from(*with);
        format!("(memory.fill (i32.const {at}) (i32.const {byte}) (i32.const {length}))")
    });
    fills.collect()
}

fn slice(at: usize, length: usize) -> Value {
    json!({ "at": at, "length": length })
}

/// What the unit of a name says of itself, with something else in place of one field.
fn but(name: &str, field: &str, value: Value) -> Value {
    let mut described = description(name, 1);
    described[field] = value;
    described
}

/// A summary of 5.8 MB of control characters, each of which takes five to show.
fn summary_large() -> Vec<u8> {
    let length = 5_767_168;
    let code = Code {
        before: &filling(&[(FREE, '\u{1}', length)]),
        ..Code::default()
    };
    component(&but("evil", "summary", slice(FREE, length)), &code)
}

/// A setting and a column of it that is not there, both with names of 1 MiB.
fn names_large() -> Vec<u8> {
    let length = 1 << 20;
    let code = Code {
        before: &filling(&[(FREE, 'a', length), (FREE + length, 'b', length)]),
        ..Code::default()
    };
    let mut described = description("stuck", 1);
    described["settings"][0]["name"] = slice(FREE, length);
    let column = json!([{ "column": slice(FREE + length, length), "kind": [3] }]);
    described["explain"][1]["reads"] = json!([{ "table": "settings", "columns": column }]);
    component(&described, &code)
}

/// 1,500 settings whose patterns take long to compile.
fn patterns() -> Vec<u8> {
    let setting = |number: usize| {
        json!({
            "name": format!("s{number}"),
            "kind": [3],
            "pattern": [1, r"\w{40}\w{40}"],
            "meaning": "Anything.",
        })
    };
    let settings = (0..1500).map(setting).collect();
    component(&but("patterns", "settings", settings), &Code::default())
}

/// 255 reasons of 200 KB.
fn reasons_large() -> Vec<u8> {
    let code = Code {
        before: &filling(&[(FREE, 'r', 300_000)]),
        ..Code::default()
    };
    let mut described = description("reasons", 1);
    let reason = |number: usize| json!({ "text": slice(FREE, 200_000 + number) });
    described["judge"][1]["reasons"] = (0..255).map(reason).collect();
    component(&described, &code)
}

/// 100,000 elements of a segment whose offset is worked out when the unit is instantiated.
fn elements() -> Vec<u8> {
    let more = format!(
        "(table 120000 funcref) (func $f)\
         (elem (offset (i32.add (i32.const 0) (i32.const 0))) func{})",
        " $f".repeat(100_000)
    );
    let code = Code {
        more: &more,
        ..Code::default()
    };
    component(&description("elements", 1), &code)
}

/// One function with 10,000 locals, and as many branches back to its beginning.
fn locals() -> Vec<u8> {
    let steps: String = (1..10_000)
        .map(|n| {
            let from = (n * 7919) % 10_000 + 1;
            format!("(local.set {n} (i64.add (local.get {from}) (local.get {n})))(br_if $l (local.get 0))")
        })
        .collect();
    let more = format!(
        "(func $big (param i32) (local{}) (loop $l {steps}))",
        " i64".repeat(10_001)
    );
    let code = Code {
        more: &more,
        ..Code::default()
    };
    component(&description("locals", 1), &code)
}

/// 4 MB of functions, none of which is anything but long.
fn code_large() -> Vec<u8> {
    let more: String = (0..20_000_u32)
        .map(|n| {
            let adds = format!("(i32.const {})i32.add ", n + 1_000_000).repeat(33);
            format!("(func (param i32) (result i32) (local.get 0) {adds})")
        })
        .collect();
    let code = Code {
        more: &more,
        ..Code::default()
    };
    component(&description("code", 1), &code)
}

/// Answers soundly while it is probed. Where its setting begins with `!eat`, it takes almost all
/// memory that an instance may have, and writes to all of it, whenever it judges.
fn memory_eater() -> Vec<u8> {
    let code = Code {
        answer: "(global.set $free (i32.const 0x200000))
                 (if (call $answer (local.get TEXTS) (local.get COUNT) (i32.const PART)) (then
                   (drop (memory.grow (i32.const 2900)))
                   (memory.fill (i32.const 0x800000) (i32.const 1) (i32.const 0xe000000))))
                 ;; A verdict and a cost of 0 for each host, as they are wanted.
                 (i32.store (i32.const 0x10004) (i32.const 0x20000))
                 (i32.store (i32.const 0x10008)
                   (i32.mul (local.get 0) (i32.load (local.get 2))))
                 (i32.store (i32.const 0x1000c) (i32.const 0x20000))
                 (i32.store (i32.const 0x10010)
                   (i32.mul (local.get 1) (i32.load (local.get 2))))
                 (i32.const 0x10000)",
        decode: EATS,
        only: Some(("judge", "judging")),
        ..Code::default()
    };
    let mut described = description("memory-eater", 1);
    if let Some(parts) = described.as_object_mut() {
        parts.retain(|name, _| {
            !["selection", "effects", "balance", "order", "explain"].contains(&name.as_str())
        });
    }
    component(&described, &code)
}

/// Whether a text of the call begins with `!eat`.
const EATS: &str = "
    (block $none (loop $next
      (br_if $none (i32.eqz (local.get $count)))
      (local.set $at (i32.load (local.get $text)))
      (local.set $end (i32.load offset=4 (local.get $text)))
      (local.set $text (i32.add (local.get $text) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $end) (i32.const 4)))
      (br_if $next (i32.ne (i32.load (local.get $at)) (i32.const 0x74616521)))
      (return (i32.const 1))))
    (i32.const 0)";
