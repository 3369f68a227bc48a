//! A parsed PTX module. Names borrow the text.

use crate::ptx_isa::Type;

/// A translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// `.target`, such as `sm_90` and `debug`.
    pub target: Vec<&'a str>,
    /// `.address_size`.
    pub address_size: u32,
    /// `.file`: index and path.
    pub files: Vec<(u32, &'a str)>,
    /// Variables at module scope.
    pub variables: Vec<Variable<'a>>,
    /// Entries and functions, declarations included.
    pub functions: Vec<Function<'a>>,
    /// `.alias new, old`.
    pub aliases: Vec<(&'a str, &'a str)>,
}

/// A state space of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the PTX space of the same spelling")]
pub enum StateSpace {
    Reg,
    Sreg,
    Const,
    Global,
    Local,
    Param,
    Shared,
    Tex,
}

/// How a symbol is seen from other modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// No directive.
    #[default]
    Internal,
    /// `.visible`.
    Visible,
    /// `.extern`: defined elsewhere; for shared memory: sized at launch.
    Extern,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

/// A variable, a register range or a parameter.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// The space.
    pub space: StateSpace,
    /// Linkage at module scope.
    pub linkage: Linkage,
    /// Explicit `.align`.
    pub align: Option<u32>,
    /// Elements of the vector type (`.v2`, `.v4`), 1 otherwise.
    pub vector: u32,
    /// Element type.
    pub ty: Type,
    /// The name.
    pub name: &'a str,
    /// `name<count>`: registers `name0` to `name(count-1)`.
    pub range: Option<u32>,
    /// Array dimensions; `None` for an open one (`[]`).
    pub dims: Vec<Option<u64>>,
    /// The initialiser, flattened.
    pub init: Vec<Init<'a>>,
    /// PTX line.
    pub line: u32,
}

/// One element of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init<'a> {
    /// A number.
    Value(Immediate),
    /// An address: symbol, addend; `generic(symbol)` says that the address is to be generic.
    Address {
        /// The symbol.
        symbol: &'a str,
        /// Bytes added.
        addend: i64,
        /// Whether `generic()` was written.
        generic: Generic,
        /// The byte of the address that is meant (`0xff00(sym)` is byte 1), or all of them.
        byte: Option<u8>,
    },
    /// Starts a nested brace at this depth: rows shorter than their dimension are padded with zeros.
    Open,
    /// Ends a nested brace.
    Close,
}

/// Whether an address is generic or relative to its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generic {
    /// `generic(symbol)`.
    Yes,
    /// The bare symbol.
    No,
}

/// Kernel or function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`: can be launched.
    Entry,
    /// `.func`: can be called.
    Device,
}

/// An entry or a function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Kernel or function.
    pub kind: FunctionKind,
    /// Linkage.
    pub linkage: Linkage,
    /// The (mangled) name.
    pub name: &'a str,
    /// Return parameters.
    pub returns: Vec<Variable<'a>>,
    /// Parameters.
    pub params: Vec<Variable<'a>>,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`, ... with their numbers.
    pub directives: Vec<(&'a str, Vec<u64>)>,
    /// Statements, or `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// PTX line of the name.
    pub line: u32,
}

/// A statement. Scopes are marked rather than nested, so that depth costs no stack.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// `{`.
    OpenScope,
    /// `}`.
    CloseScope,
    /// `name:`.
    Label(&'a str),
    /// A declaration.
    Variable(Variable<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `.loc`: the CUDA source position of what follows.
    Location(Location<'a>),
    /// `name: .branchtargets a, b;` and `.calltargets`.
    Targets(&'a str, Vec<&'a str>),
    /// `name: .callprototype ...;`
    Prototype(&'a str),
    /// `.pragma "nounroll"`: the loop that begins here stays one.
    NoUnroll,
}

/// A position in CUDA source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// Index of a `.file`.
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Where the function was inlined, if it was: file, line, column.
    pub inlined_at: Option<(u32, u32, u32)>,
    /// Label of the inlined function's name in the debug strings.
    pub function: Option<&'a str>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// Guard predicate.
    pub guard: Option<Guard<'a>>,
    /// Everything up to the first operand: `ld.global.v4.f32`.
    pub opcode: &'a str,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// PTX line.
    pub line: u32,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The predicate register.
    pub predicate: &'a str,
    /// The value of the predicate that lets a lane execute.
    pub when: bool,
}

/// A number in an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Immediate {
    /// An integer, wrapped to 64 bits.
    Int(u64),
    /// `0f...`: the bits of an f32.
    F32(u32),
    /// `0d...` or a decimal number.
    F64(f64),
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, symbol, label or `_`.
    Name(&'a str),
    /// `!%p`.
    Not(&'a str),
    /// `-%r1`, an option of `vmad`.
    Negated(&'a str),
    /// `symbol+4`.
    Offset(&'a str, i64),
    /// A number.
    Immediate(Immediate),
    /// `a|b`.
    Pair(&'a str, &'a str),
    /// `{%f1, %f2}|%p`: values, and a predicate.
    VectorPair(Vec<Operand<'a>>, &'a str),
    /// `{a, b, c, d}`.
    Vector(Vec<Operand<'a>>),
    /// `[a]`, `[a+8]`, `[tex, {x, y}]`.
    Address(Vec<Operand<'a>>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// One register of a vector variable, by its number. No text has it: an instruction that names the whole variable is taken to pieces.
    Element(&'a str, u32),
}
