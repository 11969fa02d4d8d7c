//! A module that is being read: what its initial values and functions take.

use wasmparser::{
    ConstExpr, DataKind, ElementItems, ElementKind, FuncType, KnownCustom, Name, Payload,
    TableInit, TypeRef,
};

use super::Refused;
use super::function::{self, Signatures};

/// Bytes of a function's name. It is copied for each frame of a trap's backtrace.
const LONGEST_NAME: usize = 16 << 10;

#[derive(Debug, Default)]
pub(super) struct Module {
    /// Bytes of segments, of data and of elements.
    pub(super) segments: u64,
    signatures: Signatures,
    /// How many bodies have been read.
    bodies: usize,
    imported: usize,
}

impl Module {
    /// Take a payload into account. Gives how many initial values it holds that may become
    /// code.
    pub(super) fn take(&mut self, payload: &Payload<'_>) -> Result<u64, Refused> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types.clone() {
                    for ty in group?.into_types() {
                        let arity = match ty.composite_type.inner {
                            wasmparser::CompositeInnerType::Func(of) => arity(&of),
                            _ => (0, 0),
                        };
                        self.signatures.types.push(arity);
                    }
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.clone().into_imports() {
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import?.ty {
                        self.signatures.functions.push(ty);
                        self.imported += 1;
                    }
                }
            }
            Payload::FunctionSection(functions) => {
                for ty in functions.clone() {
                    self.signatures.functions.push(ty?);
                }
            }
            Payload::TableSection(tables) => {
                let mut initializers = 0;
                for table in tables.clone() {
                    if let TableInit::Expr(value) = table?.init {
                        initializers += instructions(&value)?;
                    }
                }
                return Ok(initializers);
            }
            Payload::GlobalSection(globals) => {
                let mut initializers = 0;
                for global in globals.clone() {
                    // One is what most have, and costs no code.
                    initializers += instructions(&global?.init_expr)? - 1;
                }
                return Ok(initializers);
            }
            Payload::ElementSection(segments) => {
                self.segments += bytes(segments.range());
                let mut initializers = 0;
                for segment in segments.clone() {
                    let segment = segment?;
                    if let ElementKind::Active { offset_expr, .. } = &segment.kind {
                        initializers += instructions(offset_expr)?;
                    }
                    initializers += match segment.items {
                        ElementItems::Functions(items) => u64::from(items.count()),
                        ElementItems::Expressions(_, items) => {
                            let mut count = 0;
                            for item in items {
                                count += instructions(&item?)?;
                            }
                            count
                        }
                    };
                }
                return Ok(initializers);
            }
            Payload::DataSection(segments) => {
                self.segments += bytes(segments.range());
                let mut initializers = 0;
                for segment in segments.clone() {
                    if let DataKind::Active { offset_expr, .. } = &segment?.kind {
                        initializers += instructions(offset_expr)?;
                    }
                }
                return Ok(initializers);
            }
            Payload::CodeSectionEntry(body) => {
                let number = self.imported + self.bodies;
                self.bodies += 1;
                function::check(number, body, &self.signatures)?;
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    check_names(names)?;
                }
            }
            _ => {}
        }
        Ok(0)
    }
}

fn arity(ty: &FuncType) -> (u64, u64) {
    (ty.params().len() as u64, ty.results().len() as u64)
}

fn bytes(range: std::ops::Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Instructions of an initial value; at least one.
fn instructions(value: &ConstExpr<'_>) -> Result<u64, Refused> {
    let mut count = 0_u64;
    for operator in value.get_operators_reader() {
        operator?;
        count += 1;
    }
    // The last one is the end.
    Ok(count.saturating_sub(1).max(1))
}

/// Names that cannot be read are none: nobody needs them.
fn check_names(names: wasmparser::NameSectionReader<'_>) -> Result<(), Refused> {
    for name in names {
        let Ok(Name::Function(functions)) = name else {
            continue;
        };
        for function in functions {
            let Ok(function) = function else {
                break;
            };
            if function.name.len() > LONGEST_NAME {
                return Err(Refused::TooMuch(format!(
                    "the name of its function {} has {} bytes, and at most {LONGEST_NAME} are allowed; build it without the names of functions",
                    function.index,
                    function.name.len()
                )));
            }
        }
    }
    Ok(())
}
