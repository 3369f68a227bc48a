//! Looking at all weights before a closure, and making them clean.

use crate::{group::Group, matrix::DistMatrix};
use tilewright::{
    DType, Element, Error, ErrorKind, Extremes, MatMut, SemiringId, Value, for_each_pair, paths::PathSemiring,
};

/// Makes elements clean and the diagonal no worse than the semiring's one, after it has looked at all of them.
///
/// # Errors
/// The same at every rank: `outside-domain` for an element that the semiring does not contain; `unsupported` where sums of integers may leave the range in
/// which products are computed, and where an edge of rounded weights makes paths better.
pub(crate) fn prepare(semiring: SemiringId, d: &mut DistMatrix<'_>) -> Result<(), Error> {
    with_types(semiring, d)
}

macro_rules! with_types {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        fn with_types(semiring: SemiringId, d: &mut DistMatrix<'_>) -> Result<(), Error> {
            match (semiring, d.dtype()) {
                $($((SemiringId::$id, DType::$dtype) => of::<$semiring>(d),)*)*
                (semiring, dtype) => Err(unsupported(semiring, dtype)),
            }
        }
    };
}
for_each_pair!(with_types!());

fn unsupported(semiring: SemiringId, dtype: DType) -> Error {
    let known = semiring.path_dtypes().iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    let hint =
        if known.is_empty() { "choose min-plus, for example".into() } else { format!("one of {known}") };
    let what = format!("best paths over {semiring} on {dtype}");
    ErrorKind::Unsupported { what, why: String::new(), hint: hint.into() }.into()
}

fn of<S: PathSemiring>(d: &mut DistMatrix<'_>) -> Result<(), Error> {
    let (n, world) = (d.rows().len, d.grid().world());
    let (mut largest, mut gains) = (0.0_f64, false);
    let looked = d.fill(|block, part| {
        let Some(mut part) = part.typed::<S::Weight>() else { return Ok(()) };
        refuse_outside::<S>(&part, (block.rows.start, block.cols.start))?;
        for i in 0..part.rows() {
            for j in 0..part.cols() {
                let weight = S::clean(part[(i, j)]);
                let is_diagonal = block.rows.start + i == block.cols.start + j;
                part[(i, j)] = if is_diagonal { S::add(S::ONE, weight) } else { weight };
                gains |= !is_diagonal && S::improves(weight, S::ONE);
                let magnitude = weight.to_value().to_f64().abs();
                if !S::is_absent(weight) && magnitude.is_finite() {
                    largest = largest.max(magnitude);
                }
            }
        }
        Ok(())
    });
    world.agree(looked, "looking at the weights")?;
    if sums_integers::<S>() {
        check_range::<S>(world, n, largest)
    } else if S::times_is_strict() && S::Weight::DTYPE.is_float() {
        refuse_gains::<S>(world, gains)
    } else {
        Ok(())
    }
}

/// Refuses rounded weights of which an edge makes paths better: all ranks alike.
///
/// Whether a cycle is one that makes paths better, or one of roundings, follows from the largest weight of the whole graph. Blocks are closed one by one, and
/// know their own.
fn refuse_gains<S: PathSemiring>(world: &dyn Group, gains: bool) -> Result<(), Error> {
    let all = world.exchange(&[u8::from(gains)])?;
    if all.iter().all(|&gains| gains == 0) {
        return Ok(());
    }
    let (semiring, dtype) = (S::NAME, S::Weight::DTYPE);
    let what =
        format!("an edge that makes paths better, under {semiring} on {dtype} in blocks of several ranks,");
    let why = "a cycle that makes paths better cannot be told from roundings".to_owned();
    let hint = if matches!(semiring, "min-plus" | "max-plus") {
        "use one process, or integers"
    } else {
        "use one process"
    };
    Err(ErrorKind::Unsupported { what, why, hint: hint.into() }.into())
}

/// Names an element of the whole matrix that is not one of the semiring's. Integers that are too large are found by their sums.
fn refuse_outside<S: PathSemiring>(part: &MatMut<'_, S::Weight>, first: (usize, usize)) -> Result<(), Error> {
    let (Some(accepts), false) = (S::ACCEPTS, sums_integers::<S>()) else { return Ok(()) };
    for i in 0..part.rows() {
        for j in 0..part.cols() {
            if !S::admits(part[(i, j)]) {
                let (row, col, value) = (first.0 + i, first.1 + j, part[(i, j)].to_value().to_string());
                return Err(ErrorKind::OutsideDomain {
                    operand: "W",
                    row,
                    col,
                    value,
                    semiring: S::NAME,
                    accepts,
                }
                .into());
            }
        }
    }
    Ok(())
}

/// Whether weights are integers that are added.
fn sums_integers<S: PathSemiring>() -> bool {
    let id = S::BUILT_IN.map(|built_in| built_in.id());
    matches!(id, Some(SemiringId::MinPlus | SemiringId::MaxPlus)) && !S::Weight::DTYPE.is_float()
}

/// Refuses weights of which a path of `n - 1` edges may leave the range of products: all ranks alike.
fn check_range<S: PathSemiring>(world: &dyn Group, n: usize, largest: f64) -> Result<(), Error> {
    let all = world.exchange(&largest.to_le_bytes())?;
    let numbers = all.chunks(8).map(|bytes| bytes.try_into().map_or(0.0, f64::from_le_bytes));
    let largest = numbers.fold(0.0, f64::max);
    let longest = largest * n.saturating_sub(1).max(1) as f64;
    let fits = S::Weight::from_value(Value::Float(longest), Extremes::Refuse).is_some_and(S::admits);
    if fits {
        return Ok(());
    }
    let what = format!(
        "a path of {} edges of weight {largest} under {} on {}",
        n.saturating_sub(1),
        S::NAME,
        S::Weight::DTYPE
    );
    let why = "its weight may leave the range in which products are computed".to_owned();
    let hint = match S::Weight::DTYPE {
        DType::I64 => "scale the weights, or choose f64",
        _ => "choose i64",
    };
    Err(ErrorKind::Unsupported { what, why, hint: hint.into() }.into())
}
