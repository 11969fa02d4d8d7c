//! What compiling one function takes.
//!
//! A compiler follows every local variable through every branch and place where branches meet,
//! so that its memory and time grow with the product of both.

use wasmparser::{BlockType, FunctionBody, Operator};

use super::Refused;

/// Bytes of one function. The largest that compilers make of an interpreter's main loop have
/// some 100 KB.
const LONGEST: u64 = 1 << 20;

/// Values that the branches, blocks and calls of one function carry, counting the local
/// variables at each. The compiler takes some 10 bytes or more for each. An interpreter's main
/// loop has about a tenth of it.
const MOST_VALUES: u64 = 20_000_000;

/// What types and functions of a module take and give.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    /// Numbers of parameters and of results of each type.
    pub(super) types: Vec<(u64, u64)>,
    /// The type of each function.
    pub(super) functions: Vec<u32>,
}

impl Signatures {
    fn of_type(&self, ty: u32) -> (u64, u64) {
        self.types.get(ty as usize).copied().unwrap_or_default()
    }

    fn of_function(&self, function: u32) -> (u64, u64) {
        let ty = self.functions.get(function as usize);
        ty.map_or((0, 0), |ty| self.of_type(*ty))
    }

    fn values(&self, ty: u32) -> u64 {
        let (parameters, results) = self.of_type(ty);
        parameters + results
    }

    /// The most values that a block or call may have.
    fn greatest(&self) -> u64 {
        let values = self.types.iter().map(|(given, taken)| given + taken);
        values.max().unwrap_or(0)
    }
}

/// Refuse the function of that number if compiling it takes too much.
pub(super) fn check(
    number: usize,
    body: &FunctionBody<'_>,
    signatures: &Signatures,
) -> Result<(), Refused> {
    let range = body.range();
    let bytes = range.end.saturating_sub(range.start);
    if bytes > LONGEST {
        return Err(Refused::TooMuch(format!(
            "its function {number} has {bytes} bytes, and at most {LONGEST} are allowed; split it"
        )));
    }
    let (parameters, _) = u32::try_from(number).map_or((0, 0), |it| signatures.of_function(it));
    let mut locals = parameters;
    for declared in body.get_locals_reader()? {
        locals += u64::from(declared?.0);
    }
    // A branch has at least two bytes. Most functions are not looked into.
    let greatest = signatures.greatest() + 1;
    if bytes / 2 * (locals + greatest) <= MOST_VALUES {
        return Ok(());
    }
    let mut values = 0_u64;
    for operator in body.get_operators_reader()? {
        values += carried(&operator?, locals, signatures);
        if values > MOST_VALUES {
            return Err(Refused::TooMuch(format!(
                "the branches, blocks and calls of its function {number} carry more than {MOST_VALUES} values, counting its {locals} local variables at each; split it"
            )));
        }
    }
    Ok(())
}

/// How many values an instruction carries from one place to another.
fn carried(operator: &Operator<'_>, locals: u64, signatures: &Signatures) -> u64 {
    let block = |ty: &BlockType| match ty {
        BlockType::Empty => locals,
        BlockType::Type(_) => locals + 1,
        BlockType::FuncType(ty) => locals + signatures.values(*ty),
    };
    match operator {
        Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty } => {
            block(blockty)
        }
        Operator::Else | Operator::Br { .. } | Operator::BrIf { .. } => locals,
        Operator::BrTable { targets } => locals * (1 + u64::from(targets.len())),
        Operator::Call { function_index } => {
            let (parameters, results) = signatures.of_function(*function_index);
            parameters + results
        }
        Operator::CallIndirect { type_index, .. } => signatures.values(*type_index),
        _ => 0,
    }
}
