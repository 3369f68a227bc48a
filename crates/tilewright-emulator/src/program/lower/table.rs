//! Which opcode belongs to which part of the lowering, and the shapes of arithmetic instructions.

use crate::program::opcode::Split;
use crate::ptx_isa::{Modifier, Opcode};

/// The parts of the lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Loads, stores, atomics, copies, addresses.
    Memory,
    /// Jumps, calls.
    Control,
    /// Barriers and exchanges between lanes.
    Sync,
    /// Tensor cores.
    Matrix,
    /// Textures and surfaces.
    Texture,
    /// Memory that a function takes as it runs.
    Stack,
    /// The rest.
    Arithmetic,
}

/// The family of an opcode; what no table knows is arithmetic, and is refused there.
pub fn family(split: &Split<'_>) -> Family {
    match split.base {
        "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "prefetch" | "prefetchu" | "cp"
        | "discard" | "applypriority" | "createpolicy" | "mapa" | "getctarank" => Family::Memory,
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent"
        | "setmaxnreg" | "griddepcontrol" => Family::Control,
        "bar" | "barrier" | "mbarrier" | "membar" | "fence" | "shfl" | "vote" | "match" | "redux"
        | "activemask" | "elect" => Family::Sync,
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => Family::Matrix,
        "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" => Family::Texture,
        "alloca" | "stacksave" | "stackrestore" => Family::Stack,
        _ => Family::Arithmetic,
    }
}

/// Whether an instruction changes nothing but what stays in caches, or is a fence, which is as strong as any here: modifiers that are not known have
/// nothing to say to the emulator.
pub fn is_hint(split: &Split<'_>) -> bool {
    matches!(split.base, "prefetch" | "prefetchu" | "discard" | "applypriority" | "createpolicy" | "fence")
}

/// Whether an instruction is one of a barrier in memory, whose modifiers are looked at where it is lowered.
pub fn is_of_mbarrier(split: &Split<'_>) -> bool {
    split.base == "mbarrier"
        || split.text.starts_with("cp.async.mbarrier.arrive")
        || matches!(split.base, "st" | "red") && split.has(Modifier::Async)
}

/// Opcodes of the scalar semantics and how many sources they have.
pub const SCALAR: &[(&str, Opcode, usize)] = &[
    ("abs", Opcode::Abs, 1),
    ("add", Opcode::Add, 2),
    ("and", Opcode::And, 2),
    ("bfe", Opcode::Bfe, 3),
    ("bfi", Opcode::Bfi, 4),
    ("bfind", Opcode::Bfind, 1),
    ("bmsk", Opcode::Bmsk, 2),
    ("brev", Opcode::Brev, 1),
    ("clz", Opcode::Clz, 1),
    ("cnot", Opcode::Cnot, 1),
    ("copysign", Opcode::Copysign, 2),
    ("cos", Opcode::Cos, 1),
    ("cvt", Opcode::Cvt, 1),
    ("div", Opcode::Div, 2),
    ("dp2a", Opcode::Dp2a, 3),
    ("dp4a", Opcode::Dp4a, 3),
    ("ex2", Opcode::Ex2, 1),
    ("fma", Opcode::Fma, 3),
    ("fns", Opcode::Fns, 3),
    ("lg2", Opcode::Lg2, 1),
    ("lop3", Opcode::Lop3, 4),
    ("mad", Opcode::Mad, 3),
    ("mad24", Opcode::Mad24, 3),
    ("max", Opcode::Max, 2),
    ("min", Opcode::Min, 2),
    ("mul", Opcode::Mul, 2),
    ("mul24", Opcode::Mul24, 2),
    ("neg", Opcode::Neg, 1),
    ("not", Opcode::Not, 1),
    ("or", Opcode::Or, 2),
    ("popc", Opcode::Popc, 1),
    ("prmt", Opcode::Prmt, 3),
    ("rcp", Opcode::Rcp, 1),
    ("rem", Opcode::Rem, 2),
    ("rsqrt", Opcode::Rsqrt, 1),
    ("sad", Opcode::Sad, 3),
    ("selp", Opcode::Selp, 3),
    ("set", Opcode::Set, 2),
    ("setp", Opcode::Setp, 2),
    ("shf", Opcode::Shf, 3),
    ("shl", Opcode::Shl, 2),
    ("shr", Opcode::Shr, 2),
    ("sin", Opcode::Sin, 1),
    ("slct", Opcode::Slct, 3),
    ("sqrt", Opcode::Sqrt, 1),
    ("sub", Opcode::Sub, 2),
    ("szext", Opcode::Szext, 2),
    ("tanh", Opcode::Tanh, 1),
    ("testp", Opcode::Testp, 1),
    ("xor", Opcode::Xor, 2),
    ("vadd", Opcode::Vadd, 2),
    ("vsub", Opcode::Vsub, 2),
    ("vabsdiff", Opcode::Vabsdiff, 2),
    ("vmin", Opcode::Vmin, 2),
    ("vmax", Opcode::Vmax, 2),
    ("vshl", Opcode::Vshl, 2),
    ("vshr", Opcode::Vshr, 2),
    ("vmad", Opcode::Vmad, 3),
    ("vset", Opcode::Vset, 2),
    ("vadd2", Opcode::Vadd2, 3),
    ("vsub2", Opcode::Vsub2, 3),
    ("vavrg2", Opcode::Vavrg2, 3),
    ("vabsdiff2", Opcode::Vabsdiff2, 3),
    ("vmin2", Opcode::Vmin2, 3),
    ("vmax2", Opcode::Vmax2, 3),
    ("vset2", Opcode::Vset2, 3),
    ("vadd4", Opcode::Vadd4, 3),
    ("vsub4", Opcode::Vsub4, 3),
    ("vavrg4", Opcode::Vavrg4, 3),
    ("vabsdiff4", Opcode::Vabsdiff4, 3),
    ("vmin4", Opcode::Vmin4, 3),
    ("vmax4", Opcode::Vmax4, 3),
    ("vset4", Opcode::Vset4, 3),
];
