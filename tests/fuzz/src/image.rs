//! Values of the contract's types as they lie in a unit's memory: what the canonical ABI of
//! the component model would read there.

use arbitrary::Unstructured;
use serde_json::Value;
use wit_parser::{Resolve, SizeAlign, Type, TypeDefKind};

/// The greatest memory that an image may fill.
const LARGEST: usize = 64 << 10;

/// Texts that mean something to the runtime; others come from the input.
const WORDS: &[&str] = &[
    "",
    "a",
    "unit",
    "hosts",
    "id",
    "settings",
    "hosts/vms",
    "members",
    "candidates",
    "request",
    "cluster",
    "tenant",
    "memory.total",
    "cpu.cores",
    "memory",
    "share",
    "1.0.0",
    "0.0.1-a+b",
    "bytes",
    "seconds",
    "share",
    "up",
    "down",
    "maintenance",
    "^[a-z]+$",
    "(",
    "(a{1000}){1000}",
    "judge",
    "x/y",
    "X Y",
    "\u{1}\n",
    "\u{202e}ä",
    "said",
    "answer",
    "amounts",
    "gpu",
    "h0",
    "v0",
];

/// What lies in a unit's memory from `base` on.
pub(crate) struct Image<'c> {
    resolve: &'c Resolve,
    sizes: &'c SizeAlign,
    base: usize,
    bytes: Vec<u8>,
}

impl<'c> Image<'c> {
    pub(crate) fn new(resolve: &'c Resolve, sizes: &'c SizeAlign, base: usize) -> Self {
        Self {
            resolve,
            sizes,
            base,
            bytes: Vec::new(),
        }
    }

    /// The image of an arbitrary value of that type, which stands at its beginning.
    pub(crate) fn arbitrary(mut self, ty: &Type, input: &mut Unstructured<'_>) -> Vec<u8> {
        let at = self.room(ty, 1);
        self.put_arbitrary(at, ty, input);
        self.bytes
    }

    /// The image of a value that is written in JSON: records as objects, of which what is not
    /// given is false, 0, empty or none; variants and enums as `[case]` or `[case, payload]`; a text
    /// that lies in memory already as `{"at": ..., "length": ...}`.
    pub(crate) fn of_json(mut self, ty: &Type, value: &Value) -> Vec<u8> {
        let at = self.room(ty, 1);
        self.put_json(at, ty, value);
        self.bytes
    }

    /// Where so many values of that type find room; they are zero.
    fn room(&mut self, ty: &Type, count: usize) -> usize {
        let align = self.sizes.align(ty).align_wasm32();
        let at = self.bytes.len().next_multiple_of(align);
        let size = self.sizes.size(ty).size_wasm32() * count;
        self.bytes.resize(at + size, 0);
        at
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// A pointer and a length.
    fn put_slice(&mut self, at: usize, pointer: usize, length: usize) {
        self.put(at, &(pointer as u32).to_le_bytes());
        self.put(at + 4, &(length as u32).to_le_bytes());
    }

    fn put_text(&mut self, at: usize, text: &[u8]) {
        let pointer = self.base + self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.put_slice(at, pointer, text.len());
    }

    /// The cases of a type that has some, and where their payload begins; none for others.
    fn cases(&self, kind: &TypeDefKind) -> Option<Vec<Option<Type>>> {
        Some(match kind {
            TypeDefKind::Variant(it) => it.cases.iter().map(|case| case.ty).collect(),
            TypeDefKind::Enum(it) => it.cases.iter().map(|_| None).collect(),
            TypeDefKind::Option(ty) => vec![None, Some(*ty)],
            TypeDefKind::Result(it) => vec![it.ok, it.err],
            _ => return None,
        })
    }

    /// Write which case it is, and give where its payload stands.
    fn put_case(&mut self, at: usize, cases: &[Option<Type>], case: u8) -> usize {
        self.put(at, &[case]);
        let payloads = cases.iter().flatten();
        let align = payloads.map(|ty| self.sizes.align(ty).align_wasm32()).max();
        // No type of the contract has more cases than a byte counts.
        at + align.unwrap_or(1)
    }

    /// The fields of a type that has some, with their places from its beginning.
    fn fields(&self, kind: &TypeDefKind) -> Option<Vec<(String, usize, Type)>> {
        let named: Vec<(String, Type)> = match kind {
            TypeDefKind::Record(it) => {
                let fields = it.fields.iter();
                fields.map(|field| (field.name.clone(), field.ty)).collect()
            }
            TypeDefKind::Tuple(it) => {
                let types = it.types.iter().enumerate();
                types.map(|(n, ty)| (n.to_string(), *ty)).collect()
            }
            _ => return None,
        };
        let mut end = 0_usize;
        let placed = named.into_iter().map(|(name, ty)| {
            let at = end.next_multiple_of(self.sizes.align(&ty).align_wasm32());
            end = at + self.sizes.size(&ty).size_wasm32();
            (name, at, ty)
        });
        Some(placed.collect())
    }

    fn put_arbitrary(&mut self, at: usize, ty: &Type, input: &mut Unstructured<'_>) {
        match ty {
            Type::Bool | Type::U8 | Type::S8 => {
                let byte = match input.ratio(7_u8, 8).unwrap_or(true) {
                    true => input.int_in_range(0..=2_u8),
                    false => input.arbitrary(),
                };
                self.put(at, &[byte.unwrap_or(0)]);
            }
            Type::U32 | Type::S32 => {
                let number = match input.ratio(7_u8, 8).unwrap_or(true) {
                    true => input.int_in_range(0..=4_u32),
                    false => input.arbitrary(),
                };
                self.put(at, &number.unwrap_or(0).to_le_bytes());
            }
            Type::U64 | Type::S64 => {
                let numbers = [0, 1, -1, i64::MIN, i64::MAX, 1 << 53, 1000];
                let number = match input.ratio(1_u8, 2).unwrap_or(true) {
                    true => input.choose(&numbers).copied(),
                    false => input.arbitrary(),
                };
                self.put(at, &number.unwrap_or(0).to_le_bytes());
            }
            Type::F64 => {
                let inf = f64::INFINITY;
                let numbers = [
                    0.0,
                    -0.0,
                    1.0,
                    0.5,
                    1e-300,
                    f64::NAN,
                    inf,
                    -inf,
                    f64::MAX,
                    -1.0,
                ];
                let number = match input.ratio(3_u8, 4).unwrap_or(true) {
                    true => input.choose(&numbers).copied(),
                    false => input.arbitrary(),
                };
                self.put(at, &number.unwrap_or(0.0).to_le_bytes());
            }
            Type::String => self.put_arbitrary_text(at, input),
            Type::Id(id) => {
                let resolve = self.resolve;
                let kind = &resolve.types[*id].kind;
                if let Some(fields) = self.fields(kind) {
                    for (_, offset, ty) in fields {
                        self.put_arbitrary(at + offset, &ty, input);
                    }
                } else if let Some(cases) = self.cases(kind) {
                    let last = cases.len() as u8 - 1;
                    let case = match input.ratio(63_u8, 64).unwrap_or(true) {
                        true => input.int_in_range(0..=last),
                        false => input.arbitrary(),
                    };
                    let case = case.unwrap_or(0);
                    let payload = self.put_case(at, &cases, case);
                    if let Some(Some(ty)) = cases.get(usize::from(case)) {
                        self.put_arbitrary(payload, ty, input);
                    }
                } else if let TypeDefKind::List(element) = kind {
                    self.put_arbitrary_list(at, element, input);
                } else if let TypeDefKind::Type(ty) = kind {
                    self.put_arbitrary(at, ty, input);
                }
            }
            _ => unreachable!("the contract has no values of type {ty:?}"),
        }
    }

    fn put_arbitrary_text(&mut self, at: usize, input: &mut Unstructured<'_>) {
        match input.int_in_range(0..=15_u8).unwrap_or(0) {
            0 => {
                // Anything, also what lies outside memory or is no UTF-8.
                let (pointer, length) = (input.arbitrary(), input.arbitrary());
                let (pointer, length): (u32, u32) = (pointer.unwrap_or(0), length.unwrap_or(0));
                self.put_slice(at, pointer as usize, length as usize);
            }
            // What the unit has in memory before the image: spaces, more than any bound.
            1 => self.put_slice(at, self.base / 2, self.base / 4),
            2..=4 => {
                let length = input.int_in_range(0..=80_usize).unwrap_or(0);
                let text = input.bytes(length.min(input.len())).unwrap_or(&[]);
                self.put_text(at, text);
            }
            _ => {
                let word = input.choose(WORDS).copied().unwrap_or("");
                self.put_text(at, word.as_bytes());
            }
        }
    }

    fn put_arbitrary_list(&mut self, at: usize, element: &Type, input: &mut Unstructured<'_>) {
        let size = self.sizes.size(element).size_wasm32();
        let count = match input.int_in_range(0..=31_u8).unwrap_or(0) {
            0 => {
                // The same memory again and again, up to far more than was meant.
                let length = input.int_in_range(0..=300_000_u32).unwrap_or(0);
                self.put_slice(at, self.base, length as usize);
                return;
            }
            1 => input.int_in_range(0..=300_usize).unwrap_or(0),
            2..=15 => input.int_in_range(0..=2_usize).unwrap_or(0),
            _ => input.int_in_range(0..=5_usize).unwrap_or(0),
        };
        let count = count.min((LARGEST.saturating_sub(self.bytes.len())) / size.max(1));
        let first = self.room(element, count);
        self.put_slice(at, self.base + first, count);
        for number in 0..count {
            self.put_arbitrary(first + number * size, element, input);
        }
    }

    fn put_json(&mut self, at: usize, ty: &Type, value: &Value) {
        match (ty, value) {
            (_, Value::Null) => {}
            (Type::Bool, Value::Bool(it)) => self.put(at, &[u8::from(*it)]),
            (Type::U8, it) => self.put(at, &[it.as_u64().unwrap_or(0) as u8]),
            (Type::U32, it) => self.put(at, &(it.as_u64().unwrap_or(0) as u32).to_le_bytes()),
            (Type::S64, it) => self.put(at, &it.as_i64().unwrap_or(0).to_le_bytes()),
            (Type::F64, it) => self.put(at, &it.as_f64().unwrap_or(0.0).to_le_bytes()),
            (Type::String, Value::String(it)) => self.put_text(at, it.as_bytes()),
            (Type::String, Value::Object(it)) => {
                let number = |key: &str| it.get(key).and_then(Value::as_u64).unwrap_or(0);
                self.put_slice(at, number("at") as usize, number("length") as usize);
            }
            (Type::Id(id), value) => {
                let resolve = self.resolve;
                let kind = &resolve.types[*id].kind;
                if let Some(fields) = self.fields(kind) {
                    for (name, offset, ty) in fields {
                        let number: usize = name.parse().unwrap_or(usize::MAX);
                        let field = value.get(&name).or_else(|| value.get(number));
                        self.put_json(at + offset, &ty, field.unwrap_or(&Value::Null));
                    }
                } else if let Some(cases) = self.cases(kind) {
                    let case = value.get(0).and_then(Value::as_u64).unwrap_or(0) as u8;
                    let payload = self.put_case(at, &cases, case);
                    if let Some(Some(ty)) = cases.get(usize::from(case)) {
                        self.put_json(payload, ty, value.get(1).unwrap_or(&Value::Null));
                    }
                } else if let TypeDefKind::List(element) = kind {
                    let values = value.as_array().map_or(&[][..], Vec::as_slice);
                    let first = self.room(element, values.len());
                    self.put_slice(at, self.base + first, values.len());
                    let size = self.sizes.size(element).size_wasm32();
                    for (number, value) in values.iter().enumerate() {
                        self.put_json(first + number * size, element, value);
                    }
                } else if let TypeDefKind::Type(ty) = kind {
                    self.put_json(at, ty, value);
                }
            }
            (ty, value) => unreachable!("{value} is no {ty:?}"),
        }
    }
}
