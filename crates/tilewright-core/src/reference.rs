//! The definition of right: one loop, one term at a time, in increasing `k`.

use crate::{
    domain,
    dynamic::DynRef,
    epilogue::{Epilogue, Finish},
    error::Error,
    problem::Problem,
    scales::{Factors, Granularity, Scales},
    semiring::Semiring,
    update::Update,
    view::{MatMut, MatRef},
};

/// The arg result of an element to which no term contributed.
pub const NO_ARG: u32 = u32::MAX;

/// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`, joined with the old C as `update` says.
///
/// # Errors
/// `inner-mismatch`, `result-mismatch` when shapes disagree; `outside-domain` for an element that the
/// semiring does not admit. C is untouched on error.
///
/// ```
/// use tilewright_core::{Layout, MatMut, MatRef, MinPlus, Update, reference};
/// let inf = f32::INFINITY;
/// let w = [0.0, 3.0, inf, /**/ inf, 0.0, 4.0, /**/ 1.0, inf, 0.0];
/// let w = MatRef::new(&w, Layout::row_major(3, 3))?;
/// let mut two = [0.0; 9];
/// let c = MatMut::new(&mut two, Layout::row_major(3, 3))?;
/// reference::multiply::<MinPlus<f32>>(c, w, w, &Update::Replace)?;
/// assert_eq!(two[2], 7.0); // 0 -> 1 -> 2
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn multiply<S: Semiring>(
    c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
) -> Result<(), Error> {
    multiply_with(c, a, b, update, Epilogue::default())
}

/// As [`multiply`], followed by a bias and an activation: `C = activation(alpha A B + beta C + bias)`.
///
/// # Errors
/// As [`multiply`] and [`Epilogue::checked`].
pub fn multiply_with<S: Semiring>(
    mut c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    epilogue: Epilogue<DynRef<'_>>,
) -> Result<(), Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let finish = Finish::new(update, epilogue, &problem)?;
    domain::check::<S>(a, b)?;
    let k = problem.k();
    each(&mut c, |i, j, old| {
        // SAFETY: the shapes were checked.
        let sum = (0..k)
            .fold(S::ZERO, |acc, p| unsafe { S::mul_add(acc, a.get_unchecked(i, p), b.get_unchecked(p, j)) });
        finish.apply(j, sum, old)
    });
    Ok(())
}

/// As [`multiply_with`], of operands with [scales](Scales): `C = activation(alpha Σ_t (a[i,t] b[t,j]) Σ_k A[i,k] B[k,j] + beta C + bias)`, where `t` counts blocks of 128 terms.
///
/// # Errors
/// As [`multiply_with`] and [`Scales::checked`].
pub fn multiply_scaled<S: Semiring>(
    mut c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    epilogue: Epilogue<DynRef<'_>>,
    scales: Scales<DynRef<'_>>,
) -> Result<(), Error> {
    if scales.is_none() {
        return multiply_with(c, a, b, update, epilogue);
    }
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let finish = Finish::new(update, epilogue, &problem)?;
    let singles = scales.singles::<S>()?;
    let factors = Factors::new(scales, &problem)?;
    domain::check::<S>(a, b)?;
    let k = problem.k();
    each(&mut c, |i, j, old| {
        let mut sum = 0.0f32;
        for first in (0..k).step_by(Granularity::BLOCK) {
            let block = first..k.min(first + Granularity::BLOCK);
            // SAFETY: the shapes were checked.
            let part = block.fold(S::ZERO, |acc, p| unsafe {
                S::mul_add(acc, a.get_unchecked(i, p), b.get_unchecked(p, j))
            });
            let factor = factors.of_row(i, first) * factors.of_col(j, first);
            sum = factor.mul_add((singles.of)(part), sum);
        }
        finish.apply(j, (singles.sum)(sum), old)
    });
    Ok(())
}

/// As [`multiply`], and `arg[i,j]` is the smallest `k` whose term is the result.
///
/// It is [`NO_ARG`] when no term is strictly better than the semiring's zero or, with
/// [`Update::Accumulate`], than the old element.
///
/// # Errors
/// As [`multiply`]; `unsupported` when ⊕ is not selective, `k >= u32::MAX`, or the update scales.
pub fn multiply_arg<S: Semiring>(
    mut c: MatMut<'_, S::Out>,
    mut arg: MatMut<'_, u32>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
) -> Result<(), Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    problem.check_arg(arg.layout(), update)?;
    domain::check::<S>(a, b)?;
    let k = problem.k();
    each(&mut c, |i, j, old| {
        let start = match update {
            Update::Accumulate => S::add(S::ZERO, S::resume(old())),
            _ => S::ZERO,
        };
        let (mut best, mut winner) = (start, NO_ARG);
        for p in 0..k {
            // SAFETY: the shapes were checked.
            let next = unsafe { S::mul_add(best, a.get_unchecked(i, p), b.get_unchecked(p, j)) };
            if next != best {
                (best, winner) = (next, p as u32);
            }
        }
        if let Some(slot) = arg.get_mut(i, j) {
            *slot = winner;
        }
        S::finish(best)
    });
    Ok(())
}

/// Sets every element `(i, j)` of `c` to `f(i, j, old)`.
fn each<T: Copy>(c: &mut MatMut<'_, T>, mut f: impl FnMut(usize, usize, &dyn Fn() -> T) -> T) {
    let (layout, ptr) = (c.layout(), c.as_mut_ptr());
    if layout.is_empty() {
        return;
    }
    for i in 0..layout.rows {
        for j in 0..layout.cols {
            // SAFETY: the indices run inside the layout, and `c` is borrowed exclusively.
            unsafe {
                let slot = ptr.offset(layout.offset(i, j));
                slot.write(f(i, j, &|| slot.read()));
            }
        }
    }
}
