//! Products of stacks against a loop of single products.

use proptest::prelude::*;
use tilewright::{
    Backend, DType, DynMatrix, DynProduct, DynRef, Epilogue, Error, Joining, Layout, MatMut, MatRef, Matrix,
    NO_ARG, Options, SemiringId, StackMut, StackProduct, StackRef, Value, expressions::Expressions,
    stack::Shapes,
};

/// An array in memory: shape, strides, and where its first element is.
#[derive(Clone, Debug)]
struct Array {
    shape: Vec<usize>,
    strides: Vec<isize>,
    origin: usize,
    room: usize,
}

impl Array {
    /// Dimensions in any order, some of them backwards, with gaps; and repeated where `repeats` says so.
    fn new(shape: Vec<usize>, order: u64, signs: u64, repeats: u64) -> Self {
        let mut dimensions: Vec<usize> = (0..shape.len()).collect();
        dimensions.sort_by_key(|&d| (order >> (8 * d)) & 255);
        let (mut strides, mut next, mut origin) = (vec![0; shape.len()], 1isize, 0isize);
        for d in dimensions {
            if repeats >> d & 1 == 1 {
                continue;
            }
            let is_backwards = signs >> d & 1 == 1;
            strides[d] = if is_backwards { -next } else { next };
            let reach = next * (shape[d] as isize - 1).max(0);
            origin += if is_backwards { reach } else { 0 };
            next += reach + (signs >> (16 + d) & 1) as isize;
        }
        Self { shape, strides, origin: origin as usize, room: next as usize + 2 }
    }

    fn data(&self, salt: usize) -> Vec<i32> {
        (0..self.room).map(|i| ((i * 7 + salt * 13) % 19) as i32 - 4).collect()
    }

    /// The address of an element of an index that is broadcast to this array.
    fn at(&self, batch: &[usize], own: &[usize]) -> usize {
        let dimensions = self.shape.len();
        let stack = dimensions - own.len();
        let index = batch[batch.len() - stack.min(batch.len())..].iter().chain(own);
        let index = index.zip(&self.shape).map(|(&i, &extent)| if extent == 1 { 0 } else { i });
        let offset: isize = index.zip(&self.strides).map(|(i, &stride)| i as isize * stride).sum();
        (self.origin as isize + offset) as usize
    }

    /// A matrix of it.
    fn matrix(&self, batch: &[usize], is_row: bool) -> (usize, Layout) {
        match self.shape[..] {
            [.., rows, cols] => {
                let [.., row, col] = self.strides[..] else { unreachable!() };
                (self.at(batch, &[0, 0]), Layout::strided(rows, cols, row, col))
            }
            [n] if is_row => (self.at(&[], &[0]), Layout::strided(1, n, 1, self.strides[0])),
            [n] => (self.at(&[], &[0]), Layout::strided(n, 1, self.strides[0], 1)),
            [] => unreachable!("products have none"),
        }
    }
}

/// All indices of a shape.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &extent| {
        all.iter()
            .flat_map(|head| (0..extent).map(move |i| head.iter().copied().chain([i]).collect()))
            .collect()
    })
}

/// The products one by one, by the definition.
fn one_by_one(
    semiring: SemiringId,
    (a, b, c): (&Array, &Array, &Array),
    (x, y): (&[i32], &[i32]),
    (z, winners): (&mut [i32], &mut [u32]),
    joining: Joining<Value>,
) {
    let shapes = Shapes::of(&a.shape, &b.shape).unwrap();
    let options = Options { backend: Backend::Reference, ..Options::default() };
    for batch in indices(&shapes.batch) {
        let view = |data, (at, layout): (usize, Layout)| {
            let data: &[i32] = data;
            // SAFETY: the arrays were given room for all of their elements.
            unsafe { MatRef::from_raw_parts(std::ptr::NonNull::from(&data[at]), layout) }
        };
        let (first, second) = (view(x, a.matrix(&batch, true)), view(y, b.matrix(&batch, false)));
        let (mut sums, mut arg) = (
            Matrix::filled(shapes.m, shapes.n, 0).unwrap(),
            Matrix::filled(shapes.m, shapes.n, NO_ARG).unwrap(),
        );
        let places: Vec<(usize, usize, usize)> = indices(&[shapes.m, shapes.n])
            .iter()
            .map(|place| {
                let own = [shapes.has_rows.then_some(place[0]), shapes.has_columns.then_some(place[1])];
                let own: Vec<usize> = own.into_iter().flatten().collect();
                (place[0], place[1], c.at(&batch, &own))
            })
            .collect();
        places.iter().for_each(|&(i, j, at)| sums[(i, j)] = z[at]);
        let product = DynProduct::new(semiring, first, second).unwrap().options(options);
        let product = product.update(joining, None).unwrap();
        let is_selective = semiring.is_selective();
        product.write_to(sums.as_mut().into(), is_selective.then(|| arg.as_mut())).unwrap();
        places.iter().for_each(|&(i, j, at)| (z[at], winners[at]) = (sums[(i, j)], arg[(i, j)]));
    }
}

/// Shapes of two arrays that go together: vectors, matrices and stacks with extents of 1 and 0.
fn shapes() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    let extents = proptest::collection::vec(prop_oneof![4 => 1usize..4, 1 => Just(0)], 0..3);
    (extents, 0usize..4, 0usize..5, 0usize..4, any::<[u8; 2]>()).prop_map(|(batch, m, k, n, how)| {
        let stack = |how: u8| -> Vec<usize> {
            let own = batch.iter().enumerate().skip(usize::from(how & 3).min(batch.len()));
            own.map(|(d, &extent)| if how >> (2 + d) & 1 == 1 { 1 } else { extent }).collect()
        };
        let array = |how: u8, own: [usize; 2], vector: usize| match how {
            224.. => vec![vector],
            _ => stack(how).into_iter().chain(own).collect(),
        };
        (array(how[0], [m, k], k), array(how[1], [k, n], k))
    })
}

proptest! {
    #[test]
    fn a_stack_is_the_products_of_its_matrices(
        (a, b) in shapes(),
        order in any::<[u64; 3]>(),
        signs in any::<[u64; 3]>(),
        (repeats, way) in (any::<[u8; 2]>(), 0usize..4),
    ) {
        let shapes = Shapes::of(&a, &b).unwrap();
        let repeats = repeats.map(|bits| if bits > 200 { u64::from(bits & 7) } else { 0 });
        let a = Array::new(a, order[0], signs[0], repeats[0]);
        let b = Array::new(b, order[1], signs[1], repeats[1]);
        let c = Array::new(shapes.result.clone(), order[2], signs[2], 0);
        let (x, y, old) = (a.data(1), b.data(2), c.data(3));
        let (semiring, joining) = [
            (SemiringId::PlusTimes, Joining::Replace),
            (SemiringId::PlusTimes, Joining::<Value>::scale(2.0, -1.0)),
            (SemiringId::MinPlus, Joining::Replace),
            (SemiringId::MaxPlus, Joining::Accumulate),
        ][way];
        let (mut wanted, mut terms) = (old.clone(), vec![77u32; c.room]);
        one_by_one(semiring, (&a, &b, &c), (&x, &y), (&mut wanted, &mut terms), joining);

        let left = StackRef::new(&x, &a.shape, &a.strides, a.origin).unwrap();
        let right = StackRef::new(&y, &b.shape, &b.strides, b.origin).unwrap();
        let product = StackProduct::new(semiring, left, right).unwrap().joining(joining).unwrap();
        for backend in [Backend::Auto, Backend::Cpu, Backend::Reference] {
            let product = product.clone().options(Options { backend, ..Options::default() });
            let mut found = old.clone();
            let to = StackMut::new(&mut found, &c.shape, &c.strides, c.origin).unwrap();
            product.write_to(to, None).unwrap();
            prop_assert_eq!(&found, &wanted);
            if semiring.is_selective() {
                let (mut found, mut arg) = (old.clone(), vec![77i32; c.room]);
                let to = StackMut::new(&mut found, &c.shape, &c.strides, c.origin).unwrap();
                let winners = StackMut::new(&mut arg, &c.shape, &c.strides, c.origin).unwrap();
                product.write_to(to, Some(winners)).unwrap();
                let arg: Vec<u32> = arg.iter().map(|&term| term as u32).collect();
                prop_assert_eq!((&found, &arg), (&wanted, &terms));
            }
            let result = StackRef::new(&found, &c.shape, &c.strides, c.origin).unwrap();
            let before = StackRef::new(&old, &c.shape, &c.strides, c.origin).unwrap();
            let verdict = product.verify(&result, Some(&before), None).unwrap();
            prop_assert_eq!(verdict.is_none(), shapes.count() == 0);
            prop_assert!(verdict.is_none_or(|verdict| verdict.passed && verdict.rows_checked == shapes.m * shapes.count()));
        }
    }
}

const STACK: [usize; 3] = [4, 2, 3];
const BY_ROWS: [isize; 3] = [6, 3, 1];

fn stack(data: &[f32]) -> StackRef<'_> {
    StackRef::new(data, &STACK, &BY_ROWS, 0).unwrap()
}

#[test]
fn semirings_of_the_users_multiply_stacks() {
    let data: Vec<f32> = (0..24).map(|i| (i % 7) as f32).collect();
    let text: Expressions = "add=fminf(x,y); mul=x+y; zero=inf; one=0; where=x>=0".parse().unwrap();
    let (shape, strides) = ([4, 2, 2], [4, 2, 1]);
    let (mut by_name, mut by_text, mut by_function) = ([50.0f32; 16], [50.0f32; 16], [50.0f32; 16]);
    let to = |c| StackMut::new(c, &shape, &strides, 0).unwrap();
    let joining = Joining::Accumulate;
    let product = StackProduct::new(SemiringId::MinPlus, stack(&data), stack(&data).t()).unwrap();
    product.joining(joining).unwrap().write_to(to(&mut by_name), None).unwrap();
    let product = StackProduct::with_text(&text, stack(&data), stack(&data).t()).unwrap();
    let report = product.clone().joining(joining).unwrap().write_to(to(&mut by_text), None).unwrap();
    assert!(report.kernel.to_string().starts_with("expressions "), "{}", report.kernel);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let function =
        |(a, b): (DynRef<'_>, DynRef<'_>), mut c: tilewright::DynMut<'_>, joins: bool, _: &Options<'_>| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let product = DynProduct::new(SemiringId::MinPlus, a, b)?;
            let joining = if joins { Joining::Accumulate } else { Joining::Replace };
            product.update(joining, None)?.write_to(c.reborrow(), None).map(drop)
        };
    let product = StackProduct::with_function(&function, stack(&data), stack(&data).t()).unwrap();
    product.clone().joining(joining).unwrap().write_to(to(&mut by_function), None).unwrap();
    assert_eq!(
        (by_name, by_name, count.load(std::sync::atomic::Ordering::Relaxed)),
        (by_text, by_function, 4)
    );
    let refused = product.joining(Joining::<Value>::scale(2.0, 0.0)).unwrap_err();
    assert_eq!(refused.code(), "unsupported");

    // All elements are looked at before the first product is written.
    let mut wrong = data.clone();
    wrong[23] = -1.0;
    let mut c = [9.0f32; 4 * 4 * 4];
    let (shape, strides, four) = ([4, 4, 2, 2], [16, 4, 2, 1], [4, 1, 2, 3]);
    let wide = |data| StackRef::new(data, &four, &[6, 6, 3, 1], 0).unwrap();
    for product in [
        StackProduct::with_text(&text, wide(&wrong), stack(&data).t()).unwrap(),
        StackProduct::new(SemiringId::MaxTimes, wide(&wrong), stack(&data).t()).unwrap(),
    ] {
        let error = product.write_to(StackMut::new(&mut c, &shape, &strides, 0).unwrap(), None).unwrap_err();
        assert_eq!(error.code(), "outside-domain", "{error}");
        assert!(error.to_string().starts_with("A["), "{error}");
    }
    assert_eq!(c, [9.0; 64]);
}

#[test]
fn every_product_is_followed_by_the_epilogue() {
    let data: Vec<f32> = (0..24).map(|i| i as f32 - 12.0).collect();
    let bias = [100.0f32, -100.0];
    let epilogue =
        Epilogue { bias: Some(MatRef::column(&bias).into()), activation: tilewright::Activation::Relu };
    let product = StackProduct::new(SemiringId::PlusTimes, stack(&data), stack(&data).t()).unwrap();
    let product = product.epilogue(epilogue).unwrap();
    let mut c = [0.0f32; 16];
    product.write_to(StackMut::new(&mut c, &[4, 2, 2], &[4, 2, 1], 0).unwrap(), None).unwrap();
    let sum = |t: usize, i: usize, j: usize| -> f32 {
        (0..3).map(|p| data[6 * t + 3 * i + p] * data[6 * t + 3 * j + p]).sum()
    };
    for place in indices(&[4, 2, 2]) {
        let [t, i, j] = place[..] else { unreachable!() };
        assert_eq!(c[4 * t + 2 * i + j], (sum(t, i, j) + bias[j]).max(0.0));
    }
    let result = StackRef::new(&c, &[4, 2, 2], &[4, 2, 1], 0).unwrap();
    assert!(product.verify(&result, None, None).unwrap().unwrap().passed);
    c[13] += 1.0;
    let result = StackRef::new(&c, &[4, 2, 2], &[4, 2, 1], 0).unwrap();
    assert!(!product.verify(&result, None, None).unwrap().unwrap().passed);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let (data, mut c) = ([1.0f32; 24], [0.0f32; 48]);
    let message = |error: Error| (error.code(), error.to_string());
    let pair = || StackProduct::new(SemiringId::PlusTimes, stack(&data), stack(&data).t()).unwrap();
    let error = pair().write_to(StackMut::new(&mut c, &[2, 2, 4], &[8, 4, 1], 0).unwrap(), None).unwrap_err();
    assert_eq!(message(error), ("result-mismatch", "C is 2x2x4 but the product is 4x2x2".into()));
    let mut wrong = [0i32; 16];
    let error =
        pair().write_to(StackMut::new(&mut wrong, &[4, 2, 2], &[4, 2, 1], 0).unwrap(), None).unwrap_err();
    assert_eq!(error.code(), "dtype-mismatch", "{error}");
    let arg = StackMut::new(&mut wrong, &[4, 2, 2], &[4, 2, 1], 0).unwrap();
    let to = StackMut::new(&mut c, &[4, 2, 2], &[4, 2, 1], 0).unwrap();
    let error = pair().write_to(to, Some(arg)).unwrap_err();
    assert_eq!(error.to_string(), "an arg result of plus-times is not supported: no single k wins a sum");
    let error = StackRef::new(&data, &[4, 2, 3], &[6, 3, 1], 1).unwrap_err();
    assert!(error.to_string().contains("[4, 2, 3]") && error.code() == "unsupported", "{error}");
    assert_eq!(StackRef::new(&data, &[4, 2], &[-6, 3], 17).unwrap_err().code(), "unsupported");
    assert_eq!(StackMut::new(&mut c, &[4, 2], &[1, 1], 0).unwrap_err().code(), "unsupported");
    let rows = DynMatrix::zeros(DType::F32, 6, 3).unwrap();
    assert!(StackRef::of_rows(&rows, &[2, 3, 3]).is_ok());
    assert_eq!(StackRef::of_rows(&rows, &[2, 2, 3]).unwrap_err().code(), "unsupported");
    let small = StackRef::new(&data, &[3], &[1], 0).unwrap();
    assert_eq!(small.broadcast(&[2, 4]).unwrap_err().code(), "result-mismatch");
}

#[test]
fn arrays_are_copied_by_broadcast() {
    let (row, mut c) = ([1, 2, 3], [0; 12]);
    let mut to = StackMut::new(&mut c, &[2, 2, 3], &[6, 3, 1], 0).unwrap();
    to.copy_from(&StackRef::new(&row, &[1, 3], &[7, -1], 2).unwrap()).unwrap();
    assert_eq!(c, [3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1]);
    let mut number = [0];
    let mut to = StackMut::new(&mut number, &[], &[], 0).unwrap();
    to.copy_from(&StackRef::new(&row, &[], &[], 1).unwrap()).unwrap();
    assert_eq!(number, [2]);
    let mut terms = [0u32; 4];
    let winners = MatMut::new(&mut terms, Layout::row_major(4, 1)).unwrap();
    assert_eq!(StackMut::of_winners(winners, &[2, 2]).unwrap().dtype(), DType::I32);
}

/// Arrays without elements may have any strides, and any number of matrices.
#[test]
fn strides_of_nothing_are_not_followed() {
    let (none, far): ([f32; 0], _) = ([], [isize::MAX, 1, 1]);
    let a = StackRef::new(&none, &[3, 2, 0], &far, 0).unwrap();
    let b = StackRef::new(&none, &[3, 0, 4], &far, 0).unwrap();
    let mut c = [7.0f32; 24];
    let to = StackMut::new(&mut c, &[3, 2, 4], &[8, 4, 1], 0).unwrap();
    let options = Options { backend: Backend::Reference, ..Options::default() };
    StackProduct::new(SemiringId::PlusTimes, a, b).unwrap().options(options).write_to(to, None).unwrap();
    assert_eq!(c, [0.0; 24]);
    let (many, strides) = (1 << 40, [0, 0, 1]);
    let shape = [many, 0, 3];
    let a = StackRef::new(&none, &shape, &strides, 0).unwrap();
    let b = [1.0f32; 12];
    let b = StackRef::new(&b, &[3, 4], &[4, 1], 0).unwrap();
    let (mut c, old): ([f32; 0], [f32; 0]) = ([], []);
    let shape = [many, 0, 4];
    let mut to = StackMut::new(&mut c, &shape, &strides, 0).unwrap();
    to.copy_from(&StackRef::new(&old, &shape, &strides, 0).unwrap()).unwrap();
    let product = StackProduct::new(SemiringId::PlusTimes, a, b).unwrap();
    assert!(product.verify(&to.as_ref(), None, None).unwrap().is_some_and(|verdict| verdict.passed));
}

/// All of it by the kernels of a GPU, two dimensions at once.
#[cfg(feature = "emulator")]
#[test]
fn kernels_take_the_last_dimension_together() {
    let a: Vec<f32> = (0..60).map(|i| (i % 11) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..60).map(|i| (i % 7) as f32 - 2.0).collect();
    let text: Expressions = "add=fmaxf(x,y); mul=x+y; zero=-inf; one=0".parse().unwrap();
    let (shape, strides) = ([2, 5, 2, 2], [20, 4, 2, 1]);
    let left = || StackRef::new(&a, &[2, 1, 2, 3], &[6, 6, 3, 1], 0).unwrap();
    let right = || StackRef::new(&b, &[5, 3, 2], &[6, 2, 1], 0).unwrap();
    for arg in [false, true] {
        for product in [
            StackProduct::new(SemiringId::MaxPlus, left(), right()).unwrap(),
            StackProduct::with_text(&text, left(), right()).unwrap(),
        ] {
            let compute = |backend| {
                let (mut c, mut terms) = ([0.0f32; 40], [0i32; 40]);
                let to = StackMut::new(&mut c, &shape, &strides, 0).unwrap();
                let winners = StackMut::new(&mut terms, &shape, &strides, 0).unwrap();
                let product = product.clone().options(Options { backend, ..Options::default() });
                let report = product.write_to(to, arg.then_some(winners));
                report.map(|report| (report.backend, c, terms))
            };
            match (compute(Backend::Cpu), compute(Backend::Emulator)) {
                (Ok(here), Ok(there)) => {
                    assert_eq!(((here.1, here.2), there.0), ((there.1, there.2), Backend::Emulator));
                }
                // A text has no winning terms, and no kernel without a compiler.
                (here, Err(error)) => assert!(
                    here.is_err() && error.code() == "unsupported" || error.is_unavailable(),
                    "{error}"
                ),
                (Err(error), _) => panic!("{error}"),
            }
        }
    }
}
