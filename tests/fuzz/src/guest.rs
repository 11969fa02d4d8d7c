//! Units that answer whatever they are made or set to answer.
//!
//! Both are written as text and go the way of every unit: encoded as a component, compiled,
//! instantiated, called through the component model's own conversion of values.

use std::sync::OnceLock;

use arbitrary::Unstructured;
use placewright_engine::contract::Part;
use placewright_tests::component::{CONTRACT, encoded};
use serde_json::Value;
use wit_parser::{Resolve, SizeAlign, Type};

use crate::image::Image;

/// Where the image of a description lies in the memory of a unit.
const BASE: usize = 1 << 20;

/// Where a unit of [`told`] puts the images of its answers. From here to the description nothing
/// else lies; below are zeros.
const ANSWER: usize = 1 << 19;

/// Bytes that a unit has for the image of its description.
const DESCRIPTION: usize = 16 << 10;

/// The contract's types.
pub(crate) struct Contract {
    resolve: Resolve,
    sizes: SizeAlign,
}

impl Contract {
    pub(crate) fn get() -> &'static Self {
        static CONTRACT_READ: OnceLock<Contract> = OnceLock::new();
        CONTRACT_READ.get_or_init(|| {
            let mut resolve = Resolve::default();
            resolve
                .push_str("policy.wit", CONTRACT)
                .expect("the contract is sound");
            let mut sizes = SizeAlign::default();
            sizes.fill(&resolve).expect("its types have sizes");
            Self { resolve, sizes }
        })
    }

    /// What the only function of a part returns.
    fn result(&self, part: Part) -> Type {
        let mut interfaces = self.resolve.interfaces.iter();
        let found = interfaces.find(|(_, it)| it.name.as_deref() == Some(part.name()));
        let (_, interface) = found.expect("each part is an interface");
        let (_, function) = interface.functions.first().expect("with a function");
        function.result.expect("that returns something")
    }

    /// An arbitrary answer of that part, as it lies in a unit's memory.
    pub(crate) fn arbitrary(&self, part: Part, input: &mut Unstructured<'_>) -> Vec<u8> {
        let base = if part == Part::Unit { BASE } else { ANSWER };
        let image = Image::new(&self.resolve, &self.sizes, base);
        image.arbitrary(&self.result(part), input)
    }

    /// The answer that is written in JSON.
    pub(crate) fn of_json(&self, part: Part, value: &Value) -> Vec<u8> {
        let image = Image::new(&self.resolve, &self.sizes, BASE);
        image.of_json(&self.result(part), value)
    }
}

/// A component with a place for the image of its description.
pub(crate) struct Describing {
    bytes: Vec<u8>,
    /// Where the image stands in the component.
    image: usize,
}

impl Describing {
    /// One that exports every part, none of which can be called.
    pub(crate) fn get() -> &'static Self {
        static MADE: OnceLock<Describing> = OnceLock::new();
        MADE.get_or_init(|| Self::new(&Code::default()))
    }

    fn new(code: &Code) -> Self {
        // What is found again in the component: no text of it holds this.
        let mark: Vec<u8> = (0..DESCRIPTION).map(|n| (n * 7 + n / 251) as u8).collect();
        let bytes = encoded(&module(&mark, code), CONTRACT, "everything");
        let image = bytes.windows(mark.len()).position(|window| window == mark);
        let image = image.expect("the module lies in the component as it is");
        Self { bytes, image }
    }

    /// The component that describes itself by an image; none if there is no place for it.
    pub(crate) fn with(&self, image: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = self.bytes.clone();
        let place = bytes.get_mut(self.image..self.image + DESCRIPTION)?;
        place.fill(0);
        place.get_mut(..image.len())?.copy_from_slice(image);
        Some(bytes)
    }
}

/// The code of a unit, as WebAssembly text.
pub(crate) struct Code<'c> {
    /// What the functions of parts do. `TEXTS` and `COUNT` stand for the parameters that have the
    /// texts of the call, `PART` for the number of the part.
    pub(crate) answer: &'c str,
    /// What the function `$answer` does with `$text`, `$count` and `$part`.
    pub(crate) decode: &'c str,
    /// What is done before the unit describes itself.
    pub(crate) before: &'c str,
    /// More definitions.
    pub(crate) more: &'c str,
    /// The only part that it has, and the world of the contract that has no other; None: it has all.
    pub(crate) only: Option<(&'c str, &'c str)>,
}

impl Default for Code<'_> {
    fn default() -> Self {
        Self {
            answer: "unreachable",
            decode: "unreachable",
            before: "",
            more: "",
            only: None,
        }
    }
}

/// A component that describes itself by JSON.
pub(crate) fn component(description: &Value, code: &Code) -> Vec<u8> {
    let image = Contract::get().of_json(Part::Unit, description);
    let world = code.only.map_or("everything", |(_, world)| world);
    encoded(&module(&image, code), CONTRACT, world)
}

/// A module with the contract's functions.
fn module(description: &[u8], code: &Code) -> String {
    let Code {
        answer,
        decode,
        before: first,
        more,
        only,
    } = code;
    let data: String = description.iter().map(|b| format!("\\{b:02x}")).collect();
    let lists = " i32".repeat(12);
    let mut parts = String::new();
    for (number, (part, function, before)) in PARTS.iter().enumerate() {
        if only.is_some_and(|(only, _)| only != *part) {
            continue;
        }
        let texts = if before.is_empty() { 10 } else { 12 };
        let body = answer
            .replace("TEXTS", &texts.to_string())
            .replace("COUNT", &(texts + 1).to_string())
            .replace("PART", &number.to_string());
        parts.push_str(&format!(
            "(func (export \"placewright:policy/{part}@0.1.0#{function}\")\
               (param{before}{lists}) (result i32) {body})\n"
        ));
    }
    format!(
        r#"(module
        (memory (export "memory") 1024)
        (global $free (mut i32) (i32.const 0x200000))
        (data (i32.const {BASE}) "{data}")
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
          (local $at i32)
          (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
          (global.set $free (i32.add (local.get $at) (local.get 3)))
          (if (i32.gt_u (global.get $free) (i32.const 0x7f0000)) (then unreachable))
          (local.get $at))
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32)
          {first} (i32.const {BASE}))
        (func $answer (param $text i32) (param $count i32) (param $part i32) (result i32)
          (local $at i32) (local $end i32) (local $to i32)
          {decode})
        {more} {parts})"#
    )
}

/// The parts that are called with tables: their names, functions, and parameters before those.
const PARTS: &[(&str, &str, &str)] = &[
    ("judge", "judge", " i32 i32"),
    ("selection", "refine", ""),
    ("effects", "placed", ""),
    ("balance", "balance", ""),
    ("order", "order", ""),
    ("explain", "explain", ""),
    ("settings", "check", ""),
];

/// Looks among the texts of a call for the one that begins with `!` and the part's digit, and
/// copies what it writes to [`ANSWER`]. Without such a text the answer is zeros.
const DECODING: &str = "
    (global.set $free (i32.const 0x200000))
    (block $none (loop $next
      (br_if $none (i32.eqz (local.get $count)))
      (local.set $at (i32.load (local.get $text)))
      (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $text))))
      (local.set $text (i32.add (local.get $text) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $next (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 2)))
      (br_if $next (i32.ne (i32.load8_u (local.get $at)) (i32.const 33)))
      (br_if $next (i32.ne (i32.load8_u offset=1 (local.get $at))
                           (i32.add (local.get $part) (i32.const 48))))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (local.set $to (i32.const 0x80000))
      (block $done (loop $byte
        (br_if $done (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $end)))
        (i32.store8 (local.get $to) (i32.or
          (i32.shl (i32.sub (i32.load8_u (local.get $at)) (i32.const 97)) (i32.const 4))
          (i32.sub (i32.load8_u offset=1 (local.get $at)) (i32.const 97))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (br $byte)))
      ;; What an earlier answer left behind this one is no part of it.
      (if (i32.gt_u (global.get $end) (local.get $to)) (then
        (memory.fill (local.get $to) (i32.const 0)
          (i32.sub (global.get $end) (local.get $to)))))
      (global.set $end (local.get $to))
      (return (i32.const 0x80000))))
    (i32.const 0x10000)";

/// A component that answers what the texts of a call tell it to, described by JSON.
pub(crate) fn told(description: &Value) -> Vec<u8> {
    let code = Code {
        answer: "(call $answer (local.get TEXTS) (local.get COUNT) (i32.const PART))",
        decode: DECODING,
        // Where the answer before ends.
        more: "(global $end (mut i32) (i32.const 0x80000))",
        ..Code::default()
    };
    component(description, &code)
}

/// The text that tells a part of [`told`] to answer with an image.
pub(crate) fn telling(part: Part, image: &[u8]) -> String {
    let number = PARTS.iter().position(|(name, ..)| *name == part.name());
    let mut text = format!("!{}", number.unwrap_or(9));
    for byte in image {
        text.push(char::from(b'a' + (byte >> 4)));
        text.push(char::from(b'a' + (byte & 15)));
    }
    text
}
