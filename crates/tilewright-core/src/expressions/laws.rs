//! Whether expressions make a semiring: tried on samples.

use super::{Broken, Cell, Expression, Expressions};
use crate::dtype::DType;

/// Numbers whose sums and products are exact.
pub(crate) const SAMPLES: [f64; 12] = [0.0, 1.0, -1.0, 2.0, 3.0, -4.0, 7.0, 0.5, -2.5, 16.0, -100.0, 1000.0];

/// The values that laws compare.
struct Trial<'a, T> {
    text: &'a Expressions,
    zero: T,
    one: Option<T>,
}

impl<T: Cell> Trial<'_, T> {
    fn add(&self, x: T, y: T) -> T {
        self.text.add.value(x, y)
    }
    /// A product as it counts: joined with a sum of no terms, which leaves out what is absent.
    fn mul(&self, x: T, y: T) -> T {
        self.add(self.zero, self.text.mul.value(x, y))
    }
}

/// Whether every sum of two samples is one of them.
pub(super) fn selects<T: Cell>(text: &Expressions) -> bool {
    let samples: Vec<T> = SAMPLES.into_iter().filter_map(T::of).filter(|&x| text.admits(x)).collect();
    let selects = |x: T, y: T| [x, y].contains(&text.add.value(x, y));
    samples.iter().all(|&x| samples.iter().all(|&y| selects(x, y)))
}

/// Tries every law on all triples of the samples.
pub(super) fn check<T: Cell>(text: &Expressions) -> Result<(), Broken> {
    let constant = |what: &'static str, expression: &Expression| {
        expression
            .constant::<T>()
            .ok_or_else(|| foreign::<T>(format!("{what} is a number of the type"), expression))
    };
    let zero = constant("zero", &text.zero)?;
    let one = text.one.as_ref().map(|one| constant("one", one)).transpose()?;
    for expression in [&text.add, &text.mul].into_iter().chain(&text.condition) {
        if expression.foreign::<T>().is_some() {
            return Err(foreign::<T>("all numbers are numbers of the type".into(), expression));
        }
    }
    let trial = Trial { text, zero, one };
    let fixed = [Some(zero), one].into_iter().flatten();
    let samples: Vec<T> = fixed.chain(SAMPLES.into_iter().filter_map(T::of)).collect();
    let samples: Vec<T> = samples.into_iter().filter(|&x| text.admits(x)).collect();
    // The simplest counter-example first.
    samples.iter().try_for_each(|&x| trial.of_one(x))?;
    let pairs = || samples.iter().flat_map(|&x| samples.iter().map(move |&y| (x, y)));
    pairs().try_for_each(|(x, y)| trial.of_two(x, y))?;
    pairs().try_for_each(|(x, y)| samples.iter().try_for_each(|&z| trial.of_three(x, y, z)))
}

/// A number that the type does not have.
fn foreign<T: Cell>(law: String, expression: &Expression) -> Broken {
    let number = expression.foreign::<T>().map_or_else(String::new, |number| number.to_string());
    Broken { law, example: format!("{} has no {number}", T::DTYPE) }
}

/// Both sides of a law: how they are written and what they are.
type Side<'a, T> = (&'a str, T);

impl<T: Cell> Trial<'_, T> {
    fn of_one(&self, x: T) -> Result<(), Broken> {
        let same = |law, left, right| same(law, &[("x", x)], left, right);
        same("zero is the identity of add", ("add(zero, x)", self.add(self.zero, x)), ("x", x))?;
        same("zero is the identity of add", ("add(x, zero)", self.add(x, self.zero)), ("x", x))?;
        same("zero annihilates", ("mul(zero, x)", self.mul(self.zero, x)), ("zero", self.zero))?;
        same("zero annihilates", ("mul(x, zero)", self.mul(x, self.zero)), ("zero", self.zero))?;
        let nothing = self.text.mul.value(self.zero, self.zero);
        same("zero annihilates", ("add(x, mul(zero, zero))", self.add(x, nothing)), ("x", x))?;
        if let Some(one) = self.one {
            same("one is the identity of mul", ("mul(one, x)", self.mul(one, x)), ("x", x))?;
            same("one is the identity of mul", ("mul(x, one)", self.mul(x, one)), ("x", x))?;
        }
        Ok(())
    }

    fn of_two(&self, x: T, y: T) -> Result<(), Broken> {
        let (left, right) = (("add(x, y)", self.add(x, y)), ("add(y, x)", self.add(y, x)));
        same("add is commutative", &[("x", x), ("y", y)], left, right)
    }

    fn of_three(&self, x: T, y: T, z: T) -> Result<(), Broken> {
        let same = |law, left, right| same(law, &[("x", x), ("y", y), ("z", z)], left, right);
        let (xy, yz, xz) = (self.mul(x, y), self.mul(y, z), self.mul(x, z));
        same(
            "add is associative",
            ("add(add(x, y), z)", self.add(self.add(x, y), z)),
            ("add(x, add(y, z))", self.add(x, self.add(y, z))),
        )?;
        same(
            "mul is associative",
            ("mul(mul(x, y), z)", self.mul(xy, z)),
            ("mul(x, mul(y, z))", self.mul(x, yz)),
        )?;
        same(
            "mul distributes over add",
            ("mul(x, add(y, z))", self.mul(x, self.add(y, z))),
            ("add(mul(x, y), mul(x, z))", self.add(xy, xz)),
        )?;
        same(
            "mul distributes over add",
            ("mul(add(x, y), z)", self.mul(self.add(x, y), z)),
            ("add(mul(x, z), mul(y, z))", self.add(xz, yz)),
        )
    }
}

/// Compares both sides, as nearly as rounding lets them agree.
fn same<T: Cell>(
    law: &str,
    where_: &[(&str, T)],
    left: Side<'_, T>,
    right: Side<'_, T>,
) -> Result<(), Broken> {
    let [l, r] = [left.1, right.1].map(|x| x.to_value().to_f64());
    let close = l.is_finite() && r.is_finite() && (l - r).abs() <= T::TOLERANCE * (l.abs() + r.abs());
    if left.1 == right.1 || (T::DTYPE.is_float() && close) {
        return Ok(());
    }
    let places: Vec<String> = where_.iter().map(|(name, x)| format!("{name} = {x}")).collect();
    let example =
        format!("with {}, {} = {} and {} = {}", places.join(", "), left.0, left.1, right.0, right.1);
    Err(Broken { law: law.into(), example })
}

/// Calls [`check`] with the type.
pub(super) fn check_on(text: &Expressions, dtype: DType) -> Option<Result<(), Broken>> {
    Some(match dtype {
        DType::F32 => check::<f32>(text),
        DType::F64 => check::<f64>(text),
        DType::I32 => check::<i32>(text),
        DType::I64 => check::<i64>(text),
        _ => return None,
    })
}
