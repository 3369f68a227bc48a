//! Log-plus on a GPU: within the bound of the processor's way, on data that are hard for sums of exponentials.

use crate::{
    cuda::{has_gpu, noise},
    support::layouts,
};
use tilewright::{
    Backend, DynProduct, DynRef, Joining, Layout, MatMut, MatRef, Options, Problem, SemiringId,
    cuda::Engine,
    kernels::{Alignment, Batch, Form, Recipe, Request, find},
    semiring::Logarithm,
};

/// What elements are.
#[derive(Clone, Copy, Debug)]
enum Data {
    Narrow,
    /// A third of them is `-inf`.
    Absent,
    /// Some sums cannot be trusted.
    Wide,
    /// No sum can.
    VeryWide,
    /// The largest element of each line meets the smallest one: all terms are alike, and their factors vanish.
    Shifted,
    /// Some lines have elements that are NaN, infinite or the largest of the type.
    Special,
}

const DATA: [Data; 6] =
    [Data::Narrow, Data::Absent, Data::Wide, Data::VeryWide, Data::Shifted, Data::Special];

impl Data {
    /// An operand, or with `side` 2 an old C, by its number of row and column.
    fn element<T: Logarithm>(self, side: usize, [i, j]: [usize; 2], noise: f64) -> T {
        let (line, term) = if side == 1 { (j, i) } else { (i, j) };
        let span: f64 = T::SPAN.into();
        T::nearest(match self {
            Self::Narrow => 3.0 * noise,
            Self::Absent if noise < -0.3 => f64::NEG_INFINITY,
            Self::Absent => 5.0 * noise,
            Self::Wide => 0.8 * span * noise,
            Self::VeryWide => 40.0 * span * noise,
            Self::Shifted => noise + [1.0, -1.0, 0.0][side] * 20.0 * span * (term % 7) as f64,
            Self::Special => match (line % 11, (i * 3 + j * 5) % 13) {
                (2, 3) if side == 1 => f64::NAN,
                (4, 3) => f64::INFINITY,
                (5, _) => f64::NEG_INFINITY,
                (6, 0..4) => f64::NEG_INFINITY,
                (8, 1) => T::nearest(f64::MAX / 2.0).into().min(3e38),
                (9, 2) => f64::INFINITY * if side == 0 { 1.0 } else { -1.0 },
                _ => 30.0 * noise,
            },
        })
    }
}

/// A matrix of some layout, and what lies around it.
struct Placed<T> {
    elements: Vec<T>,
    layout: Layout,
    origin: usize,
}

impl<T: Logarithm> Placed<T> {
    fn new(data: Data, side: usize, [rows, cols]: [usize; 2], which: usize) -> Self {
        let (layout, origin) = layouts(rows, cols)[which];
        let mut elements = vec![T::nearest(7.0); 4 * (rows + 4) * (cols + 4)];
        let numbers = noise(rows * cols, 1 + side as u64, |x| x);
        let mut view = MatMut::with_origin(&mut elements, layout, origin).unwrap();
        view.fill_with(|i, j| data.element(side, [i, j], numbers[i * cols + j]));
        Self { elements, layout, origin }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::with_origin(&self.elements, self.layout, self.origin).unwrap()
    }
}

/// One product by a backend.
fn check<T: Logarithm>(backend: Backend, data: Data, [m, n, k]: [usize; 3], which: [usize; 3], joins: bool) {
    let (a, b) = (Placed::<T>::new(data, 0, [m, k], which[0]), Placed::<T>::new(data, 1, [k, n], which[1]));
    let old = Placed::<T>::new(data, 2, [m, n], which[2]);
    let mut c = Placed { elements: old.elements.clone(), ..old };
    let joining = if joins { Joining::Accumulate } else { Joining::Replace };
    let product = DynProduct::new(SemiringId::LogPlus, a.view(), b.view()).unwrap();
    let product = product.options(Options { backend, ..Options::default() });
    let product = product.update(joining, Some(old.view().into())).unwrap();
    let (layout, origin) = (c.layout, c.origin);
    let view = MatMut::with_origin(&mut c.elements, layout, origin).unwrap();
    let report = product.write_to(view.into(), None).unwrap();
    let verdict = product.verify(c.view().into(), None).unwrap();
    let what = format!("{data:?} {m} x {n} x {k}, layouts {which:?}, joined: {joins}, {}", T::DTYPE);
    assert_eq!((report.backend, report.kernel.to_string().as_str()), (backend, "log-plus"), "{what}");
    assert!(verdict.passed, "{what}: {verdict:?}");
    // Around C nothing is written.
    let mut beside = MatMut::with_origin(&mut c.elements, layout, origin).unwrap();
    beside.fill_with(|_, _| T::nearest(7.0));
    assert!(c.elements.iter().all(|&x| x.into() == 7.0), "{what}");
}

#[test]
fn log_plus_of_every_size_layout_and_spread() {
    if !has_gpu() {
        return;
    }
    const SIZES: [[usize; 3]; 8] = [
        [1, 1, 1],
        [33, 31, 65],
        [64, 64, 32],
        [130, 70, 100],
        [1, 300, 40],
        [200, 1, 33],
        [65, 67, 0],
        [20, 24, 700],
    ];
    const LAYOUTS: [[usize; 3]; 7] =
        [[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0], [2, 3, 4], [4, 5, 1], [5, 2, 5]];
    for (s, size) in SIZES.into_iter().enumerate() {
        for (d, data) in DATA.into_iter().enumerate() {
            let which = LAYOUTS[(2 * s + d) % LAYOUTS.len()];
            check::<f32>(Backend::Cuda, data, size, which, (s + d) % 2 == 1);
            if (s + d) % 2 == 0 {
                check::<f64>(Backend::Cuda, data, size, which, s % 2 == 1);
            }
        }
    }
}

/// A row of A for each case, and a column of B for each: where they meet is another case.
#[test]
fn log_plus_of_special_values() {
    fn all<T: Logarithm>() {
        let inf = f64::INFINITY;
        let largest: f64 = if T::UNIT_ROUNDOFF > 1e-10 { f32::MAX.into() } else { f64::MAX };
        let lines = [
            [0.0, 0.0, -inf],
            [1.0, 2.0, -inf],
            [3.0, -inf, 7.0],
            [-inf; 3],
            [-inf, 0.0, -inf],
            [0.0, -800.0, -inf],
            [-800.0, 0.0, -inf],
            [500.0, -900.0, 0.0],
            [-1000.0, 300.0, -520.0],
            [-5e17, -5e17 - 4096.0, -inf],
            [-5e17 - 8192.0, -5e17, -inf],
            [largest, -largest, 0.0],
            [-largest, largest, -inf],
            [-largest; 3],
            [inf, 1.0, -900.0],
            [inf, -inf, 5.0],
            [-inf, inf, 5.0],
            [1.0, f64::NAN, -inf],
        ];
        let k = lines[0].len();
        let elements: Vec<T> = lines.concat().into_iter().map(T::nearest).collect();
        let a = MatRef::new(&elements, Layout::row_major(lines.len(), k)).unwrap();
        let product = DynProduct::new(SemiringId::LogPlus, a, a.t()).unwrap();
        let outcome =
            product.options(Options { backend: Backend::Cuda, ..Options::default() }).compute().unwrap();
        let verdict = product.verify(outcome.c.as_ref(), None).unwrap();
        assert!(verdict.passed, "{}: {verdict:?}", T::DTYPE);
    }
    if has_gpu() {
        all::<f32>();
        all::<f64>();
    }
}

/// Stacks of products by one recipe, whatever memory it has.
fn stacked<T: Logarithm>(data: Data, [m, n, k]: [usize; 3], ask: &dyn Fn(&mut Request)) -> Recipe {
    const COUNT: usize = 3;
    let engine = Engine::shared().unwrap();
    let place = |side, sides| Placed::<T>::new(data, side, sides, 0);
    // One B for all.
    let (a, b, old) = (place(0, [COUNT * m, k]), place(1, [k, n]), place(2, [COUNT * m, n]));
    let upload = |matrix: &Placed<T>| engine.upload_dyn(matrix.view().into()).unwrap();
    let [l, r, mut c] = [&a, &b, &old].map(upload);
    let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
    let problem = Problem::new(layouts[0], layouts[1], layouts[2]).unwrap();
    let mut request = Request {
        batch: Batch { count: COUNT, a: (m * k) as isize, b: 0, c: (m * n) as isize },
        joining: Joining::Accumulate,
        alignment: Alignment::ALLOCATION,
        gpu: engine.gpu(),
        ..Request::new(problem, SemiringId::LogPlus, T::DTYPE)
    };
    ask(&mut request);
    let recipe = find("log-plus").unwrap().recipe(&request).unwrap();
    let prepared = engine.prepare(recipe.clone()).unwrap();
    let l = l.with_rows(m).unwrap();
    c = c.with_rows(m).unwrap();
    prepared.run(&l, &r, &mut c).unwrap();
    let mut found = old.elements.clone();
    let all = MatMut::with_origin(&mut found, old.layout, old.origin).unwrap();
    c.with_rows(COUNT * m).unwrap().copy_to(all.into()).unwrap();
    let found = Placed { elements: found, ..old };
    let product = DynProduct::new(SemiringId::LogPlus, a.view(), b.view()).unwrap();
    let old = place(2, [COUNT * m, n]);
    let product = product.update(Joining::Accumulate, Some(DynRef::from(old.view()))).unwrap();
    let verdict = product.verify(found.view().into(), None).unwrap();
    assert!(verdict.passed, "{data:?} {m} x {n} x {k}, {}: {verdict:?}", T::DTYPE);
    recipe
}

#[test]
fn log_plus_of_batches_in_any_memory() {
    if !has_gpu() {
        return;
    }
    if let Err(missing) = tilewright::cuda::Nvrtc::find() {
        return eprintln!("skipped: {missing}");
    }
    for data in DATA {
        let whole = stacked::<f32>(data, [37, 50, 90], &|_| ());
        assert_eq!(whole.launches().len(), 4);
        let without = stacked::<f32>(data, [37, 50, 90], &|r| r.workspace = 0);
        assert_eq!(without.launches().len(), 1);
        stacked::<f64>(data, [20, 33, 40], &|r| r.form = Form::Plain);
    }
    // One product at a time, and rectangles of C.
    let few = stacked::<f32>(Data::Wide, [37, 50, 90], &|r| r.workspace = 60_000);
    assert_eq!(few.launches().len(), 3 * 4);
    let tiles = stacked::<f32>(Data::Wide, [300, 290, 24], &|r| r.workspace = 330_000);
    assert_eq!(tiles.launches().len(), 3 * (1 + 4 * 3));
    // Parts of the terms of a line, and of the sums.
    let parts = stacked::<f32>(Data::Wide, [5, 6, 3000], &|r| r.splits = Some(3));
    assert_eq!(parts.launches().len(), 5);
    assert!(parts.launches()[0].grid()[1] > 1);
}
