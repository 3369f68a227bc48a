//! Which element type two files are multiplied in.

use crate::failure::Failure;
use tilewright::{DType, SemiringId};

/// The element type found in a file, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The file stores it.
    Stored(DType),
    /// It is the narrowest of bool, i64 and f64 that holds the numbers of a text file.
    Text(DType),
}

impl Found {
    pub fn dtype(self) -> DType {
        match self {
            Self::Stored(dtype) | Self::Text(dtype) => dtype,
        }
    }
}

/// The type for both operands when `--dtype` does not say.
///
/// Stored types are never changed silently: two that differ, or one that the semiring does not know, are
/// refused. Text takes the type of a stored operand, or the narrowest that the semiring knows.
pub fn common(semiring: SemiringId, a: Found, b: Found) -> Result<DType, Failure> {
    let dtype = match (a, b) {
        (Found::Stored(a), Found::Stored(b)) if a != b => {
            let what = format!("A holds {a} and B holds {b}");
            let wider = if a.is_float() || b.is_float() { widest_float(a, b) } else { wider(a, b) };
            let hint = match suggestion(semiring, wider) {
                Some(dtype) => format!("convert both with --dtype, for example --dtype {dtype}"),
                None => "convert both with --dtype".into(),
            };
            return Err(Failure::usage(what, hint));
        }
        (Found::Stored(dtype), _) | (_, Found::Stored(dtype)) => dtype,
        (Found::Text(a), Found::Text(b)) => {
            let natural = if a.is_float() || b.is_float() { DType::F64 } else { wider(a, b) };
            let known = semiring.dtypes();
            [natural, DType::I64, DType::F64, DType::Bool]
                .into_iter()
                .find(|d| known.contains(d) && (*d != DType::I64 || !natural.is_float()))
                .unwrap_or(natural)
        }
    };
    check_supported(semiring, dtype)?;
    Ok(dtype)
}

/// Refuses a type that the semiring does not know, and says which one to use.
pub fn check_supported(semiring: SemiringId, dtype: DType) -> Result<(), Failure> {
    let known = semiring.dtypes();
    if known.contains(&dtype) {
        return Ok(());
    }
    let names = known.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
    let hint = match suggestion(semiring, dtype) {
        Some(better) => format!("convert with --dtype {better}; {semiring} is defined on {names}"),
        None => format!("{semiring} is defined on {names}"),
    };
    Err(Failure::usage(format!("{semiring} is not defined on {dtype}"), hint))
}

/// The type that the semiring knows and that loses least of `dtype`.
fn suggestion(semiring: SemiringId, dtype: DType) -> Option<DType> {
    let integers = [DType::I16, DType::I32, DType::I64];
    let order = if dtype.is_float() || dtype == DType::Bool {
        vec![dtype, DType::F32, DType::F64, DType::Bool]
    } else {
        let wider = integers.into_iter().filter(|d| d.size() > dtype.size());
        [dtype].into_iter().chain(wider).chain([DType::F64, DType::Bool]).collect()
    };
    order
        .into_iter()
        .find(|d| semiring.dtypes().contains(d) && (d.size() >= dtype.size() || *d == DType::Bool))
}

fn wider(a: DType, b: DType) -> DType {
    if b.size() > a.size() || a == DType::Bool { b } else { a }
}

/// A float type that holds both as well as can be.
fn widest_float(a: DType, b: DType) -> DType {
    let enough = |d: DType| match d {
        DType::F16 | DType::Bf16 | DType::F32 | DType::I8 | DType::I16 | DType::Bool => DType::F32,
        _ => DType::F64,
    };
    wider(enough(a), enough(b))
}

#[cfg(test)]
mod tests {
    use super::Found::{Stored, Text};
    use super::*;
    use SemiringId::*;

    fn found(semiring: SemiringId, a: Found, b: Found) -> Option<DType> {
        common(semiring, a, b).ok()
    }

    fn hint(semiring: SemiringId, a: Found, b: Found) -> String {
        match common(semiring, a, b) {
            Err(Failure::Usage { what, hint }) => format!("{what}; {hint}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_takes_the_type_of_a_stored_operand() {
        assert_eq!(found(PlusTimes, Stored(DType::F16), Text(DType::I64)), Some(DType::F16));
        assert_eq!(found(MinPlus, Text(DType::F64), Stored(DType::I32)), Some(DType::I32));
    }

    #[test]
    fn two_texts_take_the_narrowest_type_that_the_semiring_knows() {
        assert_eq!(found(PlusTimes, Text(DType::I64), Text(DType::I64)), Some(DType::I64));
        assert_eq!(found(PlusTimes, Text(DType::I64), Text(DType::F64)), Some(DType::F64));
        assert_eq!(found(MaxTimes, Text(DType::I64), Text(DType::I64)), Some(DType::F64));
        assert_eq!(found(MaxMin, Text(DType::I64), Text(DType::I64)), Some(DType::F64));
        assert_eq!(found(OrAnd, Text(DType::I64), Text(DType::I64)), Some(DType::Bool));
        assert_eq!(found(OrAnd, Text(DType::Bool), Text(DType::F64)), Some(DType::Bool));
        assert_eq!(found(PlusTimes, Text(DType::Bool), Text(DType::Bool)), Some(DType::I64));
        assert_eq!(found(PlusTimes, Text(DType::Bool), Text(DType::I64)), Some(DType::I64));
    }

    #[test]
    fn stored_types_are_not_changed_without_being_asked() {
        let two = hint(PlusTimes, Stored(DType::F32), Stored(DType::F64));
        assert!(two.contains("A holds f32 and B holds f64") && two.contains("--dtype f64"), "{two}");
        assert!(hint(PlusTimes, Stored(DType::I32), Stored(DType::F32)).contains("--dtype f64"));
        assert!(hint(MaxTimes, Stored(DType::I64), Text(DType::I64)).contains("--dtype f64"));
        assert!(hint(PlusTimes, Stored(DType::I16), Stored(DType::I16)).contains("--dtype i32"));
        assert!(hint(OrAnd, Stored(DType::I8), Stored(DType::I8)).contains("--dtype bool"));
        assert!(hint(MaxMin, Stored(DType::F16), Stored(DType::F16)).contains("--dtype f32"));
    }
}
