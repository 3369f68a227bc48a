//! Looking at all weights before a closure, and making them clean.

use crate::{group::Group, matrix::DistMatrix, site::Map};
use std::{panic::resume_unwind, thread};
use tilewright::{
    DType, Element, Error, ErrorKind, Extremes, MatMut, SemiringId, Value, for_each_pair, paths::PathSemiring,
};

/// Makes elements clean and the diagonal no worse than the semiring's one, after it has looked at all of them.
///
/// # Errors
/// The same at every rank: `outside-domain` for an element that the semiring does not contain; `unsupported` where sums of integers may leave the range in
/// which products are computed, and where an edge of rounded weights makes paths better. `threads` is the most that look; 0 stands for all.
pub(crate) fn prepare(semiring: SemiringId, d: &mut DistMatrix<'_>, threads: usize) -> Result<(), Error> {
    with_types(semiring, d, threads)
}

macro_rules! with_types {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        fn with_types(semiring: SemiringId, d: &mut DistMatrix<'_>, threads: usize) -> Result<(), Error> {
            match (semiring, d.dtype()) {
                $($((SemiringId::$id, DType::$dtype) => of::<$semiring>(d, threads),)*)*
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

/// Elements that are worth a thread of their own.
const SHARE: usize = 1 << 20;

fn of<S: PathSemiring>(d: &mut DistMatrix<'_>, threads: usize) -> Result<(), Error> {
    let (n, world, map) = (d.rows().len, d.grid().world(), Map::of(d));
    let elements = d.local_mut().typed::<S::Weight>().and_then(MatMut::into_slice).unwrap_or_default();
    let (rows, cols) = map.local();
    let all = if threads == 0 { thread::available_parallelism().map_or(1, usize::from) } else { threads };
    let share = rows.div_ceil((rows * cols).div_ceil(SHARE).clamp(1, all)).max(1);
    let looked: Result<Seen, Error> = thread::scope(|scope| {
        let parts = elements.chunks_mut((share * cols).max(1)).enumerate();
        let look = |(at, part)| move || look_at::<S>(&map, at * share, part);
        let begun: Vec<_> = parts.map(|part| scope.spawn(look(part))).collect();
        let mut parts =
            begun.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        parts.try_fold(Seen::default(), |all, part| Ok(all.with(part?)))
    });
    let seen = world.agree(looked, "looking at the weights")?;
    if sums_integers::<S>() {
        check_range::<S>(world, n, seen.largest as f64)
    } else if S::times_is_strict() && S::Weight::DTYPE.is_float() {
        refuse_gains::<S>(world, seen.gains)
    } else {
        Ok(())
    }
}

/// What has been seen of weights.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The largest magnitude of an integer.
    largest: u64,
    /// Whether an edge makes paths better.
    gains: bool,
}

impl Seen {
    fn with(self, other: Self) -> Self {
        Self { largest: self.largest.max(other.largest), gains: self.gains | other.gains }
    }
}

/// Looks at some rows of this rank, from its row `first` on.
fn look_at<S: PathSemiring>(map: &Map, first: usize, rows: &mut [S::Weight]) -> Result<Seen, Error> {
    let (cols, mut seen) = (map.local().1, Seen::default());
    for (at, row) in rows.chunks_exact_mut(cols.max(1)).enumerate() {
        let i = map.rows.global(map.place.0, first + at);
        refuse_outside::<S>(map, i, row)?;
        // The element of the diagonal is no edge.
        let block = i / map.cols.block;
        let own =
            (map.cols.owner(block) == map.place.1).then(|| map.cols.local(block).start + i % map.cols.block);
        let (before, from) = row.split_at_mut(own.unwrap_or(0));
        let (diagonal, after) = from.split_at_mut(usize::from(own.is_some()));
        for weight in diagonal {
            *weight = S::clean(*weight);
            seen = seen.with(Seen { largest: magnitude::<S>(*weight), gains: false });
            *weight = S::add(S::ONE, *weight);
        }
        seen = seen.with(look_at_edges::<S>(before)).with(look_at_edges::<S>(after));
    }
    Ok(seen)
}

fn look_at_edges<S: PathSemiring>(edges: &mut [S::Weight]) -> Seen {
    let mut seen = Seen::default();
    for edge in edges.iter_mut() {
        *edge = S::clean(*edge);
        seen.gains |= S::improves(*edge, S::ONE);
    }
    if sums_integers::<S>() {
        seen.largest = edges.iter().map(|edge| magnitude::<S>(*edge)).max().unwrap_or(0);
    }
    seen
}

fn magnitude<S: PathSemiring>(weight: S::Weight) -> u64 {
    match weight.to_value() {
        Value::Int(number) if !S::is_absent(weight) => number.unsigned_abs(),
        _ => 0,
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

/// Names an element of row `i` of the whole matrix that is not one of the semiring's. Integers that are too large are found by their sums.
fn refuse_outside<S: PathSemiring>(map: &Map, i: usize, row: &[S::Weight]) -> Result<(), Error> {
    let (Some(accepts), false) = (S::ACCEPTS, sums_integers::<S>()) else { return Ok(()) };
    if row.iter().fold(true, |all, &weight| all & S::admits(weight)) {
        return Ok(());
    }
    let found = row.iter().enumerate().find(|(_, weight)| !S::admits(**weight));
    found.map_or(Ok(()), |(at, weight)| {
        let (col, value) = (map.cols.global(map.place.1, at), weight.to_value().to_string());
        let (operand, semiring) = ("W", S::NAME);
        Err(ErrorKind::OutsideDomain { operand, row: i, col, value, semiring, accepts }.into())
    })
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
