//! Which element type two arrays are multiplied in.

mod promote;

use crate::{args::Meaning, failure::Failure};
use tilewright::{DType, SemiringId, files::Stored};

/// The element type found in a file, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The file stores it.
    Stored(Stored),
    /// It is the narrowest of bool, i64 and f64 that holds the numbers of a text file.
    Text(DType),
}

impl Found {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored(stored) => stored.name(),
            Self::Text(dtype) => dtype.name(),
        }
    }
}

/// The element type of a product, and what the user should know of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    pub dtype: DType,
    /// Where a stored type is not kept: what becomes of it.
    pub note: Option<String>,
}

/// The type for both operands when `--dtype` does not say.
///
/// Stored types that differ are promoted as NumPy does, and that is said. Unsigned integers, and promoted types, that the semiring does not
/// know take the narrowest type that holds them. Under or-and every number but 0 is true. Text takes the type of a stored operand, or the
/// narrowest that the semiring knows.
pub fn common(semiring: &Meaning, a: Found, b: Found) -> Result<Chosen, Failure> {
    use Found::{Stored as S, Text as T};
    let stored = match (a, b) {
        (T(a), T(b)) => return text(semiring, a, b),
        (S(one), T(_)) | (T(_), S(one)) => one,
        (S(a), S(b)) => promote::common(a, b),
    };
    let is_promoted = matches!((a, b), (S(a), S(b)) if a != b);
    let natural = stored.read_as();
    let dtype = match holding(stored).iter().find(|dtype| semiring.dtypes().contains(dtype)) {
        Some(&dtype) => dtype,
        None if semiring.is(SemiringId::OrAnd) => DType::Bool,
        None if is_promoted => suggestion(semiring, natural).unwrap_or(natural),
        None => natural,
    };
    check_supported(semiring, dtype)?;
    let why = match () {
        () if dtype == DType::Bool => ": every number but 0 is true",
        () if is_promoted && dtype == natural => ", as NumPy promotes them",
        () => ", which holds them",
    };
    Ok(Chosen { dtype, note: note(a, b, dtype, why) })
}

fn text(semiring: &Meaning, a: DType, b: DType) -> Result<Chosen, Failure> {
    let natural = if a.is_float() || b.is_float() { DType::F64 } else { wider(a, b) };
    let known = semiring.dtypes();
    let dtype = [natural, DType::I64, DType::F64, DType::Bool]
        .into_iter()
        .find(|d| known.contains(d) && (*d != DType::I64 || !natural.is_float()))
        .unwrap_or(natural);
    check_supported(semiring, dtype)?;
    Ok(Chosen { dtype, note: None })
}

/// The types that a stored type is multiplied in without being asked: itself, or those that hold an unsigned one as well, narrowest first.
fn holding(stored: Stored) -> Vec<DType> {
    match stored {
        Stored::U8 => vec![DType::U8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64],
        Stored::U16 => vec![DType::I32, DType::I64, DType::F32, DType::F64],
        Stored::U32 | Stored::U64 => vec![DType::I64, DType::F64],
        other => vec![other.read_as()],
    }
}

/// What is said of types that are not kept.
fn note(a: Found, b: Found, dtype: DType, why: &str) -> Option<String> {
    let is_kept = |found: Found| match found {
        Found::Stored(stored) => !stored.is_widened() && stored.read_as() == dtype,
        Found::Text(_) => true,
    };
    let holds = |name: &str, found: Found| match found {
        Found::Stored(stored) => format!("{name} holds {}", stored.name()),
        Found::Text(_) => format!("{name} is text"),
    };
    let said = || format!("{} and {}: multiplied as {dtype}{why}", holds("A", a), holds("B", b));
    (!is_kept(a) || !is_kept(b)).then(said)
}

/// Whether an element of one type becomes one of the other without being asked: what NumPy calls a safe cast.
pub fn is_safe(from: Found, to: DType) -> bool {
    match from {
        Found::Text(_) => true,
        Found::Stored(stored) => promote::of_dtype(to).is_some_and(|to| promote::common(stored, to) == to),
    }
}

/// Refuses a type that the semiring does not know, and says which one to use.
pub fn check_supported(semiring: &Meaning, dtype: DType) -> Result<(), Failure> {
    let known = semiring.dtypes();
    if known.contains(&dtype) {
        return Ok(());
    }
    let name = semiring.name();
    let names = known.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
    let hint = match suggestion(semiring, dtype) {
        Some(better) => format!("convert with --dtype {better}; {name} is defined on {names}"),
        None => format!("{name} is defined on {names}"),
    };
    Err(Failure::usage(format!("{name} is not defined on {dtype}"), hint))
}

/// The type that the semiring knows and that loses least of `dtype`.
fn suggestion(semiring: &Meaning, dtype: DType) -> Option<DType> {
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

#[cfg(test)]
mod tests {
    use super::Found::Text;
    use super::*;
    use SemiringId::*;

    fn common(semiring: SemiringId, a: Found, b: Found) -> Result<Chosen, Failure> {
        super::common(&Meaning::BuiltIn(semiring), a, b)
    }

    fn stored(stored: Stored) -> Found {
        Found::Stored(stored)
    }

    fn found(semiring: SemiringId, a: Found, b: Found) -> Option<DType> {
        common(semiring, a, b).ok().map(|chosen| chosen.dtype)
    }

    fn hint(semiring: SemiringId, a: Found, b: Found) -> String {
        match common(semiring, a, b) {
            Err(Failure::Usage { what, hint }) => format!("{what}; {hint}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_takes_the_type_of_a_stored_operand() {
        assert_eq!(found(PlusTimes, stored(Stored::F16), Text(DType::I64)), Some(DType::F16));
        assert_eq!(found(MinPlus, Text(DType::F64), stored(Stored::I32)), Some(DType::I32));
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
    fn stored_types_that_differ_are_promoted_and_that_is_said() {
        let chosen = |a, b| common(PlusTimes, stored(a), stored(b)).unwrap();
        let note = "A holds f32 and B holds f64: multiplied as f64, as NumPy promotes them";
        assert_eq!(chosen(Stored::F32, Stored::F64), Chosen { dtype: DType::F64, note: Some(note.into()) });
        assert_eq!(chosen(Stored::I8, Stored::I32).dtype, DType::I32);
        assert_eq!(chosen(Stored::I32, Stored::F32).dtype, DType::F64);
        assert_eq!(chosen(Stored::I8, Stored::I8), Chosen { dtype: DType::I8, note: None });
        // NumPy's i16 is no type of max-min.
        let wider = common(MaxMin, stored(Stored::I8), stored(Stored::I16)).unwrap();
        let note = "A holds i8 and B holds i16: multiplied as i32, which holds them";
        assert_eq!(wider, Chosen { dtype: DType::I32, note: Some(note.into()) });
    }

    #[test]
    fn unsigned_integers_take_a_type_that_holds_them_and_are_named() {
        let chosen = |semiring, a| common(semiring, stored(a), stored(a)).unwrap();
        assert_eq!(chosen(PlusTimes, Stored::U8), Chosen { dtype: DType::U8, note: None });
        assert_eq!(chosen(MinPlus, Stored::U8).dtype, DType::I16);
        assert_eq!(chosen(PlusTimes, Stored::U16).dtype, DType::I32);
        assert_eq!(chosen(MaxTimes, Stored::U16).dtype, DType::F32);
        assert_eq!(chosen(PlusTimes, Stored::U64).dtype, DType::I64);
        let note = chosen(MinPlus, Stored::U8).note.unwrap();
        assert_eq!(note, "A holds u8 and B holds u8: multiplied as i16, which holds them");
        let beside_text = common(PlusTimes, stored(Stored::U16), Text(DType::I64)).unwrap();
        assert_eq!(
            beside_text.note.unwrap(),
            "A holds u16 and B is text: multiplied as i32, which holds them"
        );
    }

    #[test]
    fn a_text_has_types_of_its_own() {
        let text = "add=x+y; mul=x*y; zero=0".parse().unwrap();
        let semiring = Meaning::Own(std::sync::Arc::new(text));
        let chosen = |a| super::common(&semiring, stored(a), stored(a));
        assert_eq!(chosen(Stored::U8).unwrap().dtype, DType::I32);
        assert_eq!(chosen(Stored::F32).unwrap(), Chosen { dtype: DType::F32, note: None });
        let Err(Failure::Usage { what, hint }) = chosen(Stored::I8) else { panic!("i8 is no such type") };
        assert!(what.contains("add=x+y; mul=x*y; zero=0 is not defined on i8"), "{what}");
        assert!(hint.contains("--dtype i32"), "{hint}");
    }

    #[test]
    fn under_or_and_every_number_but_zero_is_true() {
        let chosen = common(OrAnd, stored(Stored::F64), stored(Stored::F64)).unwrap();
        assert_eq!(chosen.dtype, DType::Bool);
        assert!(chosen.note.unwrap().ends_with("every number but 0 is true"));
    }

    #[test]
    fn a_type_that_the_semiring_does_not_know_is_refused_with_one_that_it_does() {
        let both = |semiring, a| hint(semiring, stored(a), stored(a));
        assert!(hint(MaxTimes, stored(Stored::I64), Text(DType::I64)).contains("--dtype f64"));
        assert!(both(MaxMin, Stored::I16).contains("--dtype i32"));
        assert!(both(MaxMin, Stored::F16).contains("--dtype f32"));
    }

    #[test]
    fn a_matrix_to_join_may_be_narrower() {
        assert!(is_safe(stored(Stored::F32), DType::F64) && is_safe(stored(Stored::I8), DType::I32));
        assert!(!is_safe(stored(Stored::F64), DType::F32) && !is_safe(stored(Stored::I64), DType::I32));
    }
}
