//! Floating-point sums, which must stay within their error bound.

use super::{
    Mismatch, Verification,
    float::{Float, REFERENCE, narrowing, round},
};
use crate::dynamic::typed;
use tilewright_core::{
    Activation, DType, DynRef, Epilogue, Error, Factors, Granularity, Joining, MatRef, Math, Problem, Scales,
    Value, bf16, f16,
};

/// Rows that are summed together, so that B is read once for all of them.
pub(super) const GROUP: usize = 16;
/// Rows of B that are widened to f64 together.
pub(super) const PANEL: usize = 32;

/// Unit roundoffs of the type of the sums by which GELU of a sum may be wrong, relative to the sum.
const OF_GELU: f64 = 8.0;
/// Products of 8-bit floats that tensor cores add to a sum at a time, and what is lost of that for each unit of the terms' magnitudes: the sum and the products are cut
/// to 13 digits of the largest.
const ADDED: f64 = 32.0;
const FLOAT8: f64 = (ADDED + 1.0) / (1 << 13) as f64;
/// Terms after which sums are added up in f32.
const PROMOTED: f64 = 128.0;

/// The product whose result is compared.
pub(super) struct Sums<'p> {
    pub a: DynRef<'p>,
    pub b: DynRef<'p>,
    pub math: Math,
    /// Whether tensor cores may have summed floats of 8 bits.
    pub in_tensor_cores: bool,
    pub joining: Joining<Value>,
    pub old: Option<DynRef<'p>>,
    pub epilogue: Epilogue<DynRef<'p>>,
    pub scales: Scales<DynRef<'p>>,
    pub c: DynRef<'p>,
}

/// The right result, nearly, and what its error is measured by.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    /// The sum of the magnitudes of the terms.
    magnitude: f64,
}

impl Sums<'_> {
    /// What tensor cores lose of sums of 8-bit floats. Scales by blocks of terms are multiplied in f32, so that these sums are promoted whatever was asked for.
    fn lost_of_float8(&self, k: f64, by_blocks: bool) -> f64 {
        let in_a_row = if self.math == Math::Fast && !by_blocks { k } else { k.min(PROMOTED) };
        (in_a_row / ADDED).ceil() * FLOAT8
    }

    /// For elements of type `T`, whose sums are f32, and results of this type.
    pub fn verify_into<T: Float>(&self, output: DType, rows: &[usize]) -> Result<Verification, Error> {
        match output {
            DType::F16 => self.verify::<T, f16>(rows),
            DType::Bf16 => self.verify::<T, bf16>(rows),
            _ => self.verify::<T, f32>(rows),
        }
    }

    /// For elements of type `T` and results of type `O`.
    pub fn verify<T: Float, O: Float>(&self, rows: &[usize]) -> Result<Verification, Error> {
        let (a, b, c) = (typed::<T>("A", self.a)?, typed::<T>("B", self.b)?, typed::<O>("C", self.c)?);
        let [alpha, beta] = self.joining.factors().map(round::<T::Acc>);
        let old = self.old.map(|c0| typed::<O>("C0", c0)).transpose()?;

        let Epilogue { bias, activation } = self.epilogue;
        let bias = bias.map(|bias| typed::<O>("the bias", bias)).transpose()?;

        let (n, k) = (b.cols(), b.rows());
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        let factors = if self.scales.is_none() { None } else { Some(Factors::new(self.scales, &problem)?) };
        let of = self.scales.map(|one| one.layout()).of(&problem)?;
        let by_blocks = of.iter().flatten().any(|(granularity, _)| granularity.is_by_terms());
        // A sum of a block is multiplied by its factor, and added.
        let of_scales = if factors.is_some() { 2.0 } else { 0.0 };
        let roundings = k as f64 + 4.0 + of_scales + if bias.is_some() { 1.0 } else { 0.0 };
        // Both factors of a term are rounded.
        let elements = self.math.roundoff() * (2.0 + self.math.roundoff());
        let own = if activation == Activation::Gelu { OF_GELU * T::SUM.roundoff } else { 0.0 };
        let float8 = if self.in_tensor_cores { self.lost_of_float8(k as f64, by_blocks) } else { 0.0 };
        let steepness = activation.steepness();
        let sums = roundings * (T::SUM.roundoff + REFERENCE) + elements + float8;
        let bound = steepness * sums + own + narrowing(T::SUM, O::ELEMENT);
        let slack = O::ELEMENT.tiny + steepness * roundings * T::SUM.tiny * alpha.abs().max(1.0);
        let mut verdict = Verification::of(rows.len(), bound);
        let mut sums = vec![Sum::default(); GROUP.min(rows.len()) * n];
        for group in rows.chunks(GROUP) {
            sums.fill(Sum::default());
            add_rows(&mut sums, a, b, group, factors);
            for (&row, sums) in group.iter().zip(sums.chunks_exact(n.max(1))) {
                for (col, &sum) in sums.iter().enumerate() {
                    let old = old.and_then(|c0| c0.get(row, col)).map(|x| beta * x.into());
                    let added = bias.and_then(|bias| bias.get(0, col)).map_or(0.0, Into::into);
                    // No bound holds there.
                    let exact = factors
                        .filter(|factors| !sum.value.is_finite() && !finite_factors(factors, k, row, col));
                    let value = exact.map_or(sum.value, |factors| by_definition(a, b, row, col, &factors));
                    let right = Sum {
                        value: activation.of(alpha * value + old.unwrap_or(0.0) + added),
                        magnitude: alpha.abs() * sum.magnitude + old.unwrap_or(0.0).abs() + added.abs(),
                    };
                    let reach = right.magnitude.max(sum.magnitude);
                    let Some(found) = c.get(row, col).map(Into::into) else { continue };
                    let error = match kind(found, right.value) {
                        Kind::Same => continue,
                        _ if exact.is_some() => f64::INFINITY,
                        Kind::Finite => {
                            let error = (found - right.value).abs() - slack;
                            if error <= 0.0 { continue } else { error / right.magnitude }
                        }
                        // Partial sums may overflow on the way to a finite result, and a result when rounded.
                        Kind::Overflow if reach * (1.0 + bound) >= T::SUM.max => continue,
                        Kind::Overflow
                            if found.is_infinite()
                                && right.value.abs() + bound * right.magnitude >= O::ELEMENT.max =>
                        {
                            continue;
                        }
                        Kind::Undecided if finite_operands(a, b, row, col) => continue,
                        Kind::Overflow | Kind::Undecided => f64::INFINITY,
                    };
                    verdict.max_error = verdict.max_error.max(error);
                    if error > bound {
                        let (found, expected) = (Value::Float(found), Value::Float(round::<O>(right.value)));
                        verdict.fail(Mismatch { matrix: "C", row, col, found, expected });
                    }
                }
            }
        }
        Ok(verdict)
    }
}

/// How a result and the reference can be compared.
enum Kind {
    /// Equal, or both NaN.
    Same,
    /// Both are finite.
    Finite,
    /// Only the reference is finite.
    Overflow,
    /// The reference is not finite, and the result is something else.
    Undecided,
}

fn kind(found: f64, right: f64) -> Kind {
    match (found, right) {
        _ if found == right || (found.is_nan() && right.is_nan()) => Kind::Same,
        _ if !right.is_finite() => Kind::Undecided,
        _ if !found.is_finite() => Kind::Overflow,
        _ => Kind::Finite,
    }
}

/// True when the reference itself must have overflowed: infinite operands would have decided the result in
/// any order of summation, an overflow decides nothing.
fn finite_operands<T: Float>(a: MatRef<'_, T>, b: MatRef<'_, T>, row: usize, col: usize) -> bool {
    let finite = |x: Option<T>| x.is_some_and(|x| Into::<f64>::into(x).is_finite());
    (0..b.rows()).all(|p| finite(a.get(row, p)) && finite(b.get(p, col)))
}

/// Whether the factors of all terms of an element are finite.
fn finite_factors(factors: &Factors<'_>, k: usize, row: usize, col: usize) -> bool {
    let mut firsts = (0..k).step_by(Granularity::BLOCK);
    firsts.all(|first| (factors.of_row(row, first) * factors.of_col(col, first)).is_finite())
}

/// The sum of an element with scales as the definition has it, in f32. With a factor that is not finite it follows from the sign of a block's sum, and from whether that is 0.
fn by_definition<T: Float>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    row: usize,
    col: usize,
    factors: &Factors<'_>,
) -> f64 {
    let element = |x: Option<T>| x.map_or(f32::NAN, |x| Into::<f64>::into(x) as f32);
    let k = b.rows();
    let mut sum = 0.0f32;
    for first in (0..k).step_by(Granularity::BLOCK) {
        let mut part = 0.0f32;
        for p in first..k.min(first + Granularity::BLOCK) {
            // Products of 8-bit floats are exact.
            part += element(a.get(row, p)) * element(b.get(p, col));
        }
        let factor = factors.of_row(row, first) * factors.of_col(col, first);
        sum = factor.mul_add(part, sum);
    }
    f64::from(sum)
}

/// Adds the terms of the rows `group` of A times B to `sums`, a row of B at a time.
fn add_rows<T: Float>(
    sums: &mut [Sum],
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    group: &[usize],
    factors: Option<Factors<'_>>,
) {
    const { assert!(Granularity::BLOCK.is_multiple_of(PANEL)) };
    let (k, n) = (b.rows(), b.cols().max(1));
    let mut panel = vec![0.0; PANEL * b.cols()];
    for first in (0..k).step_by(PANEL) {
        let depth = PANEL.min(k - first);
        widen(b, first, depth, &mut panel);
        let of_cols = factors.map(|of| (0..b.cols()).map(|j| of.of_col(j, first)).collect::<Vec<_>>());
        for (&row, sums) in group.iter().zip(sums.chunks_exact_mut(n)) {
            if let (Some(factors), Some(of_cols)) = (factors, &of_cols) {
                let of_row = factors.of_row(row, first);
                for (j, (sum, of_col)) in sums.iter_mut().zip(of_cols).enumerate() {
                    let factor = f64::from(of_row * of_col);
                    for (p, b) in panel.chunks_exact(n).take(depth).enumerate() {
                        let a: f64 = a.get(row, first + p).map_or(f64::NAN, Into::into);
                        sum.value += factor * (a * b[j]);
                        sum.magnitude += (factor * (a * b[j])).abs();
                    }
                }
                continue;
            }
            for (p, b) in panel.chunks_exact(n).take(depth).enumerate() {
                let a: f64 = a.get(row, first + p).map_or(f64::NAN, Into::into);
                for (sum, &b) in sums.iter_mut().zip(b) {
                    sum.value += a * b;
                    sum.magnitude += (a * b).abs();
                }
            }
        }
    }
}

/// Rows `first .. first + depth` of B as f64, one after another.
pub(super) fn widen<T: Copy + Into<f64>>(b: MatRef<'_, T>, first: usize, depth: usize, panel: &mut [f64]) {
    let n = b.cols();
    let mut set = |p: usize, j: usize| panel[p * n + j] = b.get(first + p, j).map_or(f64::NAN, Into::into);
    // Along the shorter stride.
    if b.layout().row_stride.unsigned_abs() < b.layout().col_stride.unsigned_abs() {
        (0..n).for_each(|j| (0..depth).for_each(|p| set(p, j)));
    } else {
        (0..depth).for_each(|p| (0..n).for_each(|j| set(p, j)));
    }
}
