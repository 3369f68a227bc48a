//! The type that two stored types come to, as NumPy's `result_type` has it. bf16, which NumPy does not have, counts as a float of 16 bits.

use tilewright::{DType, files::Stored};

/// What kind of number it is, and of how many bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Unsigned(u32),
    Signed(u32),
    Float(u32),
}

const KINDS: [(Stored, Kind); 15] = [
    (Stored::Bool, Kind::Bool),
    (Stored::U8, Kind::Unsigned(8)),
    (Stored::U16, Kind::Unsigned(16)),
    (Stored::U32, Kind::Unsigned(32)),
    (Stored::U64, Kind::Unsigned(64)),
    (Stored::I8, Kind::Signed(8)),
    (Stored::I16, Kind::Signed(16)),
    (Stored::I32, Kind::Signed(32)),
    (Stored::I64, Kind::Signed(64)),
    (Stored::E4m3, Kind::Float(8)),
    (Stored::E5m2, Kind::Float(8)),
    (Stored::F16, Kind::Float(16)),
    (Stored::Bf16, Kind::Float(16)),
    (Stored::F32, Kind::Float(32)),
    (Stored::F64, Kind::Float(64)),
];

/// The common type of two.
pub fn common(a: Stored, b: Stored) -> Stored {
    if a == b {
        return a;
    }
    let kind = match (kind(a), kind(b)) {
        (Kind::Bool, _) => return b,
        (_, Kind::Bool) => return a,
        // Neither of the two halves holds the other.
        (Kind::Float(16), Kind::Float(16)) => Kind::Float(32),
        (Kind::Float(8), Kind::Float(8)) => Kind::Float(16),
        (Kind::Float(x), Kind::Float(y)) => return if x > y { a } else { b },
        (Kind::Float(x), other) | (other, Kind::Float(x)) => {
            let needed = float_for(other);
            // A float that is wide enough stays what it is.
            if needed <= x {
                return if matches!(kind(a), Kind::Float(_)) { a } else { b };
            }
            Kind::Float(needed)
        }
        (Kind::Signed(x), Kind::Signed(y)) => Kind::Signed(x.max(y)),
        (Kind::Unsigned(x), Kind::Unsigned(y)) => Kind::Unsigned(x.max(y)),
        (Kind::Signed(signed), Kind::Unsigned(unsigned))
        | (Kind::Unsigned(unsigned), Kind::Signed(signed)) => {
            match signed.max(2 * unsigned) {
                bits @ ..=64 => Kind::Signed(bits),
                // No integer holds both.
                _ => Kind::Float(64),
            }
        }
    };
    named(kind, a)
}

/// The stored type of an element type.
pub fn of_dtype(dtype: DType) -> Option<Stored> {
    let mut all = KINDS.iter().map(|(stored, _)| *stored);
    all.find(|stored| !stored.is_widened() && stored.read_as() == dtype)
}

fn kind(stored: Stored) -> Kind {
    KINDS.iter().find(|(known, _)| *known == stored).map_or(Kind::Float(64), |(_, kind)| *kind)
}

fn named(kind: Kind, otherwise: Stored) -> Stored {
    KINDS.iter().find(|(_, known)| *known == kind).map_or(otherwise, |(stored, _)| *stored)
}

/// Bits of the float that an integer takes.
fn float_for(kind: Kind) -> u32 {
    match kind {
        Kind::Unsigned(8) | Kind::Signed(8) => 16,
        Kind::Unsigned(16) | Kind::Signed(16) => 32,
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stored::*;

    /// `numpy.result_type` of NumPy 2, for each pair of these types, row by row.
    const NUMPY: [(Stored, [Stored; 12]); 12] = [
        (Bool, [Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64]),
        (U8, [U8, U8, U16, U32, U64, I16, I16, I32, I64, F16, F32, F64]),
        (U16, [U16, U16, U16, U32, U64, I32, I32, I32, I64, F32, F32, F64]),
        (U32, [U32, U32, U32, U32, U64, I64, I64, I64, I64, F64, F64, F64]),
        (U64, [U64, U64, U64, U64, U64, F64, F64, F64, F64, F64, F64, F64]),
        (I8, [I8, I16, I32, I64, F64, I8, I16, I32, I64, F16, F32, F64]),
        (I16, [I16, I16, I32, I64, F64, I16, I16, I32, I64, F32, F32, F64]),
        (I32, [I32, I32, I32, I64, F64, I32, I32, I32, I64, F64, F64, F64]),
        (I64, [I64, I64, I64, I64, F64, I64, I64, I64, I64, F64, F64, F64]),
        (F16, [F16, F16, F32, F64, F64, F16, F32, F64, F64, F16, F32, F64]),
        (F32, [F32, F32, F32, F64, F64, F32, F32, F64, F64, F32, F32, F64]),
        (F64, [F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64]),
    ];

    #[test]
    fn every_pair_is_promoted_as_numpy_does() {
        for (a, row) in NUMPY {
            for ((b, _), expected) in NUMPY.into_iter().zip(row) {
                assert_eq!(common(a, b), expected, "{} and {}", a.name(), b.name());
            }
        }
    }

    #[test]
    fn floats_of_8_bits_meet_in_f16() {
        assert_eq!((common(E4m3, E5m2), common(E5m2, E4m3)), (F16, F16));
        assert_eq!((common(E4m3, F32), common(Bf16, E5m2)), (F32, Bf16));
        assert_eq!((common(E4m3, I8), common(Bool, E4m3), common(E4m3, I16)), (F16, E4m3, F32));
    }

    #[test]
    fn bf16_is_a_float_of_its_own() {
        assert_eq!(common(Bf16, F16), F32);
        assert_eq!(common(Bf16, F32), F32);
        assert_eq!((common(Bf16, I8), common(I8, Bf16), common(Bool, Bf16)), (Bf16, Bf16, Bf16));
    }
}
