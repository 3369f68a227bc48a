//! The kernel for log-plus with all checks: within its bound, whatever the elements and the memory, and no finding.

use super::rig::{self, Array};
use tilewright_core::{
    DType, Joining, Layout, Problem, SemiringId,
    semiring::{Logarithm, log_add_exp},
};
use tilewright_kernels::{Batch, Buffer, Form, Recipe, Request, find};

/// How far the elements of a line lie apart.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// So little that every sum is trusted; a fifth of the elements is absent.
    Narrow,
    /// So far that hardly a sum is.
    Wide,
    /// Every other row of A alone.
    Rows,
    /// As [`Spread::Narrow`], but with lines of NaN, of infinities, and of the largest numbers.
    Special,
}

const PRODUCTS: usize = 2;

struct Case {
    spread: Spread,
    /// M, N, K.
    size: [usize; 3],
    /// Of A, B and C.
    by_columns: [bool; 3],
    joins: bool,
}

/// Element (`line`, `term`) of an operand, or of an old C.
fn element<T: Logarithm>(spread: Spread, which: usize, line: usize, term: usize) -> T {
    let at = (line * 31 + term * 17 + which * 7 + line * term) % 101;
    let unit = at as f64 / 50.0 - 1.0;
    let far = 30.0 * f64::from(T::SPAN.into() as f32);
    T::nearest(match spread {
        _ if which == 2 => 10.0 * unit,
        Spread::Wide => far * unit,
        Spread::Rows if which == 0 && line % 2 == 1 => unit + far * (term % 5) as f64,
        Spread::Rows if which == 1 => unit - far * (term % 5) as f64 / 60.0,
        Spread::Special if line % 7 == 2 && at.is_multiple_of(3) => f64::NAN,
        Spread::Special if line % 7 == 3 && at.is_multiple_of(3) => f64::INFINITY,
        Spread::Special if line % 7 == 4 => f64::NEG_INFINITY,
        Spread::Special if line % 7 == 5 => unit * T::nearest(3e38).into(),
        _ if at.is_multiple_of(5) => f64::NEG_INFINITY,
        _ => 9.0 * unit,
    })
}

/// Runs a case in the memory that it is given, and compares every element.
fn check<T: Logarithm>(case: &Case, ask: &dyn Fn(&mut Request)) -> Recipe {
    let &Case { spread, size: [m, n, k], by_columns, joins } = case;
    let layout = |which: usize, rows, cols| match by_columns[which] {
        true => Layout::col_major(rows, cols),
        false => Layout::row_major(rows, cols),
    };
    let [a, b, c] = [layout(0, m, k), layout(1, k, n), layout(2, m, n)];
    let at_a = |product: usize, i: usize, p: usize| element::<T>(spread, 0, i + product * m, p);
    let at_b = |p: usize, j: usize| element::<T>(spread, 1, j, p);
    let at_c = |product: usize, i: usize, j: usize| element::<T>(spread, 2, i + product, j);
    let stack = |layout: Layout, count: usize, at: &dyn Fn(usize, usize, usize) -> T| {
        let mut all = vec![T::NOUGHT; count * layout.rows * layout.cols];
        for product in 0..count {
            for (i, j) in (0..layout.rows).flat_map(|i| (0..layout.cols).map(move |j| (i, j))) {
                all[product * layout.rows * layout.cols + layout.offset(i, j) as usize] = at(product, i, j);
            }
        }
        all
    };
    let (first, second) = (stack(a, PRODUCTS, &at_a), stack(b, 1, &|_, p, j| at_b(p, j)));
    let old = stack(c, PRODUCTS, &at_c);

    let mut request = Request {
        // One B for all.
        batch: Batch { count: PRODUCTS, a: (m * k) as isize, b: 0, c: (m * n) as isize },
        joining: if joins { Joining::Accumulate } else { Joining::Replace },
        ..Request::new(Problem::new(a, b, c).expect("shapes fit"), SemiringId::LogPlus, T::DTYPE)
    };
    ask(&mut request);
    let recipe = find("log-plus").expect("known").recipe(&request).expect("accepted");
    let array = |name, elements: &[T]| Array { name, bytes: bytes(elements), origin: 0 };
    let mut arrays = vec![array("A", &first), array("B", &second), array("C", &old)];
    let place = |buffer| match buffer {
        Buffer::A => Some(0),
        Buffer::B => Some(1),
        Buffer::C => Some(2),
        Buffer::Workspace(index) => Some(3 + index),
        _ => None,
    };
    if !rig::execute(&recipe, &mut arrays, &place) {
        return recipe;
    }
    let found: Vec<f64> = arrays[2].bytes.chunks(size_of::<T>()).map(number).collect();
    for (product, i) in (0..PRODUCTS).flat_map(|product| (0..m).map(move |i| (product, i))) {
        for j in 0..n {
            let terms = (0..k).map(|p| at_a(product, i, p).into() + at_b(p, j).into());
            let sum = sum_of_exponentials(terms);
            let exact = if joins { log_add_exp(at_c(product, i, j).into(), sum) } else { sum };
            let got = found[product * m * n + c.offset(i, j) as usize];
            let slack = T::error_bound(k, exact, joins) + 2f64.powi(-53) * (24.0 + 3.0 * exact.abs());
            let is_right = got == T::nearest(exact).into()
                || got.is_nan() && exact.is_nan()
                || (got - exact).abs() <= slack;
            assert!(
                is_right,
                "{spread:?} {:?} {by_columns:?} {joins} {}, product {product} ({i}, {j}): {got}, not {exact}",
                case.size,
                T::DTYPE
            );
        }
    }
    recipe
}

fn sum_of_exponentials(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let best = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    match terms.clone().any(f64::is_nan) {
        true => f64::NAN,
        false if best.is_infinite() => best,
        false => best + terms.map(|term| (term - best).exp()).sum::<f64>().ln(),
    }
}

fn bytes<T: Logarithm>(elements: &[T]) -> Vec<u8> {
    let bytes = |&x: &T| match T::DTYPE {
        DType::F64 => x.into().to_le_bytes().to_vec(),
        _ => (x.into() as f32).to_le_bytes().to_vec(),
    };
    elements.iter().flat_map(bytes).collect()
}

fn number(bytes: &[u8]) -> f64 {
    match bytes.try_into() {
        Ok(double) => f64::from_le_bytes(double),
        Err(_) => f32::from_le_bytes(bytes.try_into().expect("four bytes")).into(),
    }
}

#[test]
fn log_plus_keeps_its_bound_on_every_spread_layout_and_size() {
    let spreads = [Spread::Narrow, Spread::Wide, Spread::Rows, Spread::Special];
    for (s, size) in [
        [1, 1, 1],
        [33, 31, 65],
        [64, 64, 32],
        [70, 100, 40],
        [1, 150, 20],
        [90, 1, 33],
        [9, 7, 0],
        [5, 6, 600],
    ]
    .into_iter()
    .enumerate()
    {
        for (d, &spread) in spreads.iter().enumerate() {
            let by_columns = [s % 2 == 1, d % 2 == 1, (s + d) % 3 == 1];
            let case = Case { spread, size, by_columns, joins: (s + d) % 2 == 1 };
            check::<f32>(&case, &|_| ());
            if s % 2 == 0 {
                check::<f64>(&case, &|_| ());
            }
        }
    }
}

#[test]
fn log_plus_keeps_its_bound_in_any_memory() {
    for spread in [Spread::Wide, Spread::Special] {
        let case = |size| Case { spread, size, by_columns: [false; 3], joins: true };
        let whole = check::<f32>(&case([37, 50, 90]), &|_| ());
        assert_eq!(whole.launches().len(), 4);
        let without = check::<f32>(&case([37, 50, 90]), &|r| r.workspace = 0);
        assert_eq!(without.launches().len(), 1);
        check::<f64>(&case([20, 33, 40]), &|r| r.workspace = 0);
        check::<f64>(&case([20, 33, 40]), &|r| r.form = Form::Plain);
        let few = check::<f32>(&case([37, 50, 90]), &|r| r.workspace = 60_000);
        assert_eq!(few.launches().len(), PRODUCTS * 4);
    }
    // Rectangles of C, and parts of the terms of a line and of the sums.
    let case = |size| Case { spread: Spread::Rows, size, by_columns: [false, true, true], joins: false };
    let tiles = check::<f32>(&case([300, 290, 24]), &|r| r.workspace = 450_000);
    assert!(tiles.launches().len() > PRODUCTS * 4, "{}", tiles.launches().len());
    let parts = check::<f32>(&case([5, 6, 3000]), &|r| r.splits = Some(3));
    assert_eq!(parts.launches().len(), 5);
    assert!(parts.launches()[0].grid()[1] > 1);
}
