//! Products one after another without a pause, as in a steady state: a kernel starts while the one before it ends, packs into the same workspace and joins
//! the same parts. Every C is looked at.

use crate::common::{self, compiles, expected, gpu, matrix};
use tilewright_arch::Gpu;
use tilewright_core::{DType, Element, Layout, MatRef, Matrix, PlusTimes, Problem, SemiringId};
use tilewright_cuda::{DeviceMatrix, DriverKind, Engine, Prepared};
use tilewright_kernels::{Request, Variant, find, simt_tiles};

/// As many of each product; the operands alternate, so that what an earlier one left behind is another result. The emulator does not overlap launches: there
/// once more is enough.
fn repetitions(engine: &Engine) -> usize {
    if engine.driver_kind() == DriverKind::Emulator { 2 } else { 12 }
}

/// The tiles to try: of those that differ in nothing but numbers, the emulator executes one.
fn tiles(engine: &Engine, dtype: DType) -> Vec<[u32; 6]> {
    let most = if engine.driver_kind() == DriverKind::Emulator { 1 } else { usize::MAX };
    simt_tiles(Variant::new(SemiringId::PlusTimes, dtype)).into_iter().take(most).collect()
}

/// What is split and packed: the parts of the sum over k, which operands are packed, and the multiprocessors that the recipe is for. Where the parts are left
/// open and multiprocessors are few, those of the last wave are split.
const WAYS: [(Option<u32>, [bool; 2], u32); 6] = [
    (Some(1), [false, false], 132),
    (Some(1), [true, false], 132),
    (Some(1), [true, true], 132),
    (Some(3), [false, false], 132),
    (Some(3), [true, true], 132),
    (None, [true, true], 1),
];

struct Operands<T: Element> {
    a: DeviceMatrix<T>,
    b: DeviceMatrix<T>,
    wanted: Vec<T>,
}

/// All ways of one tile in turn: neighbours in the stream share operands, and repetitions of one way its workspaces.
fn overlapping<T: Element + PartialEq>(
    engine: &Engine,
    tile: [u32; 6],
    make: fn(i64) -> T,
    multiply: fn(MatRef<'_, T>, MatRef<'_, T>) -> Vec<T>,
) {
    let [rows, cols, terms] = [tile[0], tile[1], tile[2]].map(|x| x as usize);
    // Edges on all sides, and three tiles of rows, of which the last wave has one.
    let (m, n, k) = (3 * rows - 3, cols - 1, 12 * terms + 3);
    let operands: Vec<Operands<T>> = [1, 5]
        .map(|salt| {
            let (a, b) = (matrix(m, k, salt, make), matrix(k, n, salt + 1, make));
            let upload = |matrix: &Matrix<T>| engine.upload(matrix.as_ref()).expect("uploads");
            Operands { a: upload(&a), b: upload(&b), wanted: multiply(a.as_ref(), b.as_ref()) }
        })
        .into();
    let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
    let problem = Problem::new(layouts[0], layouts[1], layouts[2]).expect("shapes fit");
    let prepared: Vec<Prepared> = WAYS
        .iter()
        .map(|&(splits, pack, multiprocessors)| {
            let request = Request {
                gpu: Gpu { multiprocessors, ..engine.gpu() },
                tile: Some(tile),
                splits,
                pack: Some(pack),
                ..Request::new(problem, SemiringId::PlusTimes, T::DTYPE)
            };
            let recipe = find("simt").expect("known").recipe(&request).expect("accepted");
            engine.prepare(recipe).expect("compiles")
        })
        .collect();
    let repetitions = repetitions(engine);
    // What is not written is seen.
    let unwritten = Matrix::filled(m, n, make(-1_000_000)).expect("small");
    let upload = |_| engine.upload(unwritten.as_ref()).expect("uploads");
    let mut results: Vec<DeviceMatrix<T>> = (0..repetitions * 2 * WAYS.len()).map(upload).collect();
    let way = |number: usize| match number / (repetitions * WAYS.len()) {
        // First the repetitions of each way, then all ways in turn.
        0 => number / repetitions,
        _ => number % WAYS.len(),
    };
    for (number, c) in results.iter_mut().enumerate() {
        let Operands { a, b, .. } = &operands[number / 3 % 2];
        prepared[way(number)].run(a, b, c).expect("runs");
    }
    for (number, c) in results.iter().enumerate() {
        let found = c.to_matrix().expect("downloads");
        let wanted = &operands[number / 3 % 2].wanted;
        let wrong = found.as_slice().iter().zip(wanted).position(|(found, wanted)| found != wanted);
        assert_eq!(wrong, None, "{tile:?} {:?}, product {number}: the first that differs", WAYS[way(number)]);
    }
}

#[test]
fn every_c_of_overlapping_products_is_right() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    for tile in tiles(&engine, DType::F32) {
        overlapping::<f32>(&engine, tile, |x| x as f32, expected::<PlusTimes<f32>>);
    }
    for tile in tiles(&engine, DType::I32) {
        overlapping::<i32>(&engine, tile, |x| x as i32, expected::<PlusTimes<i32>>);
    }
    for tile in tiles(&engine, DType::F64) {
        overlapping::<f64>(&engine, tile, |x| x as f64, expected::<PlusTimes<f64>>);
    }
}

/// Sizes that are measured in a steady state, some with many waves of blocks, by what the cost model chooses. The matrices are of rank one,
/// `A[i, t] = r(i) s(t)` and `B[t, j] = s(t) u(j)`, so that the definition is a product of three numbers.
#[test]
fn every_c_of_large_overlapping_products_is_right() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    let r = |i: usize| (i % 7) as f32 - 3.0;
    let s = |t: usize| [1.0_f32, -1.0, 2.0][t % 3];
    let u = |j: usize, salt: usize| ((j * 5 + salt) % 9) as f32 - 4.0;
    // The emulator does not overlap launches; there it is the numbers that count.
    let sizes = match engine.driver_kind() {
        DriverKind::Emulator => vec![(100, 100, 100), (64, 64, 1000), (129, 30, 55)],
        _ => vec![(1000, 1000, 1000), (2048, 2048, 2048), (4097, 1030, 515), (64, 64, 65_536)],
    };
    for (m, n, k) in sizes {
        let upload = |matrix: Matrix<f32>| engine.upload(matrix.as_ref()).expect("uploads");
        let a = upload(Matrix::from_fn(m, k, |i, t| r(i) * s(t)).expect("fits"));
        let b = [0, 1].map(|salt| upload(Matrix::from_fn(k, n, |t, j| s(t) * u(j, salt)).expect("fits")));
        let empty = || engine.zeros::<f32>(Layout::row_major(m, n)).expect("fits");
        let request = engine.request(SemiringId::PlusTimes, &a, &b[0], &empty()).expect("shapes fit");
        let prepared = engine.prepare(find("simt").expect("known").recipe(&request).expect("accepted"));
        let prepared = prepared.expect("compiles");
        let mut results: Vec<_> = (0..repetitions(&engine)).map(|_| empty()).collect();
        for (number, c) in results.iter_mut().enumerate() {
            prepared.run(&a, &b[number % 2], c).expect("runs");
        }
        let squares: f32 = (0..k).map(|t| s(t) * s(t)).sum();
        for (number, c) in results.iter().enumerate() {
            let found = c.to_matrix().expect("downloads");
            let wanted = |at: usize| r(at / n) * squares * u(at % n, number % 2);
            let wrong = found.as_slice().iter().enumerate().position(|(at, &x)| x != wanted(at));
            let details = prepared.recipe().details();
            assert_eq!(wrong, None, "{m} x {n} x {k}, {details:?}, product {number}: the first that differs");
        }
    }
}

#[test]
fn all_pass_on_the_emulator() {
    common::all_pass_on_the_emulator(module_path!());
}
