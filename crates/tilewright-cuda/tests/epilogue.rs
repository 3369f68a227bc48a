//! Bias and activation behind products, by every family of kernels on the emulated driver: as the definition. Elements are small whole numbers, whose sums are exact,
//! so that all but GELU agree bit for bit.
//!
//! Without NVRTC there is no program to run; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a failure. `TILEWRIGHT_THIRD` of 0, 1 or 2 takes every third product.

use tilewright_arch::Gpu;
use tilewright_core::{
    Activation, DType, Element, Epilogue, Joining, Layout, MatMut, MatRef, Math, Matrix, PlusTimes, Problem,
    SemiringId, Update, Value, bf16, f16, reference, semiring::Arithmetic,
};
use tilewright_cuda::{DeviceProduct, DeviceRef, DynDeviceMatrix, Engine};
use tilewright_kernels::{Alignment, Batch, Request, dmma_tiles, find, mma_tiles, wgmma_tiles};

#[derive(Clone, Copy, Debug)]
struct Case {
    kernel: &'static str,
    size: [usize; 3],
    /// Whether A, B and C lie by columns.
    by_columns: [bool; 3],
    factors: [f64; 2],
    products: usize,
    tile: Option<[u32; 6]>,
    splits: Option<u32>,
    has_bias: bool,
    activation: Activation,
}

/// Small whole numbers in memory of this order, those of all products below each other.
fn numbers<T: Element>(rows: usize, cols: usize, by_columns: bool, seed: usize) -> Matrix<T> {
    let layout = if by_columns { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) };
    let number = |i: usize| Value::Float(((i * 7919 + seed * 104_729) / 13 % 7) as f64 - 3.0);
    let of = |i| T::from_value(number(i), tilewright_core::Extremes::Refuse).expect("small");
    Matrix::from_vec((0..rows * cols).map(of).collect(), layout).expect("as many")
}

fn engine() -> Engine {
    // Few multiprocessors, so that blocks take several tiles.
    Engine::emulated(Gpu { multiprocessors: 2, ..Gpu::default() }).expect("a device")
}

/// False where there is no compiler.
fn is_right<T: Arithmetic<Out = T> + Into<f64>>(engine: &Engine, case: &Case) -> bool
where
    T::Acc: Element,
{
    let [m, n, k] = case.size;
    let count = case.products;
    let matrix = |which: usize, rows: usize, cols: usize| {
        numbers::<T>(count * rows, cols, case.by_columns[which], which + 1)
    };
    let (a, b, mut wanted) = (matrix(0, m, k), matrix(1, k, n), matrix(2, m, n));
    let bias = numbers::<T>(1, n, false, 9);
    let [alpha, beta] = case.factors;
    let upload = |matrix: &Matrix<T>| engine.upload_dyn(matrix.as_ref().into()).expect("fits");
    let (on_a, on_b, on_c, on_bias) = (upload(&a), upload(&b), upload(&wanted), upload(&bias));

    let part = |matrix: DynDeviceMatrix, rows| matrix.with_rows(rows).expect("fewer");
    let (on_a, on_b, mut on_c) = (part(on_a, m), part(on_b, k), part(on_c, m));
    let next = |layout: Layout| if count > 1 { layout.rows as isize * layout.row_stride } else { 0 };
    let [la, lb, lc] = [on_a.layout(), on_b.layout(), on_c.layout()];
    let request = Request {
        math: Math::Tf32,
        joining: Joining::<Value>::scale(alpha, beta),
        epilogue: Epilogue { bias: case.has_bias.then_some(1), activation: case.activation },
        batch: Batch { count, a: next(la), b: next(lb), c: next(lc) },
        alignment: Alignment { a: 16, b: 16, c: 16 },
        gpu: engine.gpu(),
        tile: case.tile,
        splits: case.splits,
        ..Request::new(Problem::new(la, lb, lc).expect("shapes fit"), SemiringId::PlusTimes, T::DTYPE)
    };
    let recipe = find(case.kernel).expect("known").recipe(&request).expect("accepted");
    assert!(recipe.details().iter().any(|(name, _)| *name == "epilogue"), "{:?}", recipe.details());
    let prepared = match engine.prepare(recipe) {
        Ok(prepared) => prepared,
        Err(error) if error.is_unavailable() => {
            assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{error}");
            return false;
        }
        Err(error) => panic!("{case:?}: {error}"),
    };
    if case.has_bias {
        assert_eq!(prepared.run(&on_a, &on_b, &mut on_c).expect_err("no bias").code(), "unsupported");
        prepared.run_with_bias(&on_a, &on_b, &mut on_c, &on_bias).expect("runs");
    } else {
        assert!(prepared.run_with_bias(&on_a, &on_b, &mut on_c, &on_bias).is_err(), "a bias");
        prepared.run(&on_a, &on_b, &mut on_c).expect("runs");
    }
    let mut found = numbers::<T>(count * m, n, false, 0);
    on_c.with_rows(count * m).expect("all").copy_to(found.as_mut().into()).expect("copies");

    let in_sums =
        |x: f64| T::Acc::from_value(Value::Float(x), tilewright_core::Extremes::Refuse).expect("small");
    let update = Update::<PlusTimes<T>>::scale(in_sums(alpha), in_sums(beta));
    let epilogue =
        Epilogue { bias: case.has_bias.then(|| bias.as_ref().into()), activation: case.activation };
    for t in 0..count {
        let (x, y) = (a.as_ref().window(t * m, 0, m, k), b.as_ref().window(t * k, 0, k, n));
        let c: MatMut<'_, T> = wanted.as_mut().window(t * m, 0, m, n).expect("inside");
        let (x, y): (MatRef<'_, T>, MatRef<'_, T>) = (x.expect("inside"), y.expect("inside"));
        reference::multiply_with::<PlusTimes<T>>(c, x, y, &update, epilogue).expect("right");
    }
    // A few roundings of GELU, of the type of the sums or of C.
    let tolerance = match (case.activation, T::DTYPE) {
        (Activation::None | Activation::Relu, _) => 0.0,
        (_, DType::F16) => 1e-3,
        (_, DType::Bf16) => 1e-2,
        (_, DType::F32) => 1e-5,
        _ => 1e-13,
    };
    for i in 0..count * m {
        for j in 0..n {
            let (found, wanted): (f64, f64) = (found[(i, j)].into(), wanted[(i, j)].into());
            let is_near = (found - wanted).abs() <= tolerance * wanted.abs().max(1e-3);
            assert!(is_near, "{case:?}: C[{i}, {j}] is {found}, not {wanted}");
        }
    }
    true
}

/// Every combination of orders, joinings, batches, splits and epilogues in turns, at the edges of a tile.
fn cases(kernel: &'static str, tile: Option<[u32; 6]>, sides: [usize; 2], turn: usize) -> Vec<Case> {
    const EPILOGUES: [(bool, Activation); 5] = [
        (true, Activation::None),
        (true, Activation::Relu),
        (true, Activation::Gelu),
        (false, Activation::Relu),
        (false, Activation::Gelu),
    ];
    let [m, n] = sides;
    let case = |i: usize| {
        let (has_bias, activation) = EPILOGUES[(i + turn) % 5];
        Case {
            kernel,
            size: [
                [m, m + 1, 9, 2 * m - 3][i % 4],
                [n + 3, 8, n, n + 8][(i + turn) % 4],
                [8, 72, 136][i % 3],
            ],
            by_columns: [i % 2 == 1, i / 2 % 2 == 1, i % 4 > 1],
            factors: [[1.0, 0.0], [2.0, -1.0]][i / 2 % 2],
            products: 1 + i % 3 / 2,
            tile,
            splits: Some(1 + (i % 4 == 3) as u32),
            has_bias,
            activation,
        }
    };
    (0..8).map(case).collect()
}

fn run_all<T: Arithmetic<Out = T> + Into<f64>>(cases: &[Case])
where
    T::Acc: Element,
{
    let third = std::env::var("TILEWRIGHT_THIRD").ok().map(|third| third.parse().expect("0, 1 or 2"));
    let (first, step) = third.map_or((0, 1), |third: usize| (third, 3));
    let engine = engine();
    let all = cases.iter().skip(first).step_by(step);
    let without = all.filter(|case| !is_right::<T>(&engine, case)).count();
    eprintln!("{without} of {} without a compiler", cases.len());
}

fn sides([m, n, ..]: [u32; 6]) -> [usize; 2] {
    [m as usize, n as usize]
}

#[test]
fn wgmma_finishes_its_sums() {
    let (tiles, last) = (wgmma_tiles(), wgmma_tiles().len() - 1);
    let of = |i: usize| cases("wgmma", Some(tiles[i]), sides(tiles[i]), i);
    run_all::<f16>(&of(last));
    run_all::<bf16>(&of(0)[..3]);
    run_all::<f32>(&of(last / 2)[..4]);
}

#[test]
fn mma_finishes_its_sums() {
    let (tiles, last) = (mma_tiles(), mma_tiles().len() - 1);
    let of = |i: usize| cases("mma", Some(tiles[i]), sides(tiles[i]), i);
    run_all::<bf16>(&of(last));
    run_all::<f16>(&of(0)[..3]);
    run_all::<f32>(&of(last / 2)[..4]);
}

#[test]
fn dmma_finishes_its_sums() {
    let tile = *dmma_tiles().last().expect("there are tiles");
    run_all::<f64>(&cases("dmma", Some(tile), sides(tile), 0));
    // The last wave in parts, behind whole tiles.
    let last = cases("dmma", Some(tile), sides(tile), 2).into_iter().take(2);
    let last: Vec<_> =
        last.map(|case| Case { size: [224, 61, 1000], splits: None, products: 1, ..case }).collect();
    run_all::<f64>(&last);
}

#[test]
fn simt_finishes_its_sums() {
    run_all::<f32>(&cases("simt", None, [64, 64], 0));
    run_all::<f64>(&cases("simt", None, [33, 17], 1)[..4]);
    run_all::<f16>(&cases("simt", None, [33, 65], 2)[..4]);
    run_all::<bf16>(&cases("simt", None, [16, 40], 3)[..4]);
    // Without terms the bias is all there is, and where C has one row or column.
    let thin = |size| Case {
        size,
        splits: None,
        products: 1,
        by_columns: [false; 3],
        ..cases("simt", None, [8, 8], 0)[0]
    };
    run_all::<f32>(&[thin([5, 7, 0]), thin([1, 50, 9]), thin([300, 1, 20])]);
}

#[test]
fn a_bias_that_does_not_fit_is_refused_before_anything_is_written() {
    let engine = engine();
    let row = |n: usize| engine.upload(Matrix::filled(1, n, 1.0f32).expect("small").as_ref()).expect("fits");
    let a = engine.upload(Matrix::filled(3, 3, 1.0f32).expect("small").as_ref()).expect("fits");
    let mut c = engine.upload(Matrix::filled(3, 3, 7.0f32).expect("small").as_ref()).expect("fits");
    let halves = engine.upload(Matrix::filled(1, 3, f16::ONE).expect("small").as_ref()).expect("fits");
    let product = DeviceProduct::new(SemiringId::PlusTimes);
    let short = engine.multiply_with_bias(&product, &a, &a, &mut c, &row(2)).expect_err("short");
    assert!(short.code() == "result-mismatch" && short.to_string().contains("the bias is 1x2"), "{short}");
    let min_plus = DeviceProduct::new(SemiringId::MinPlus);
    let error = engine.multiply_with_bias(&min_plus, &a, &a, &mut c, &row(3)).expect_err("no sums");
    assert!(error.to_string().contains("bias after min-plus"), "{error}");
    match engine.multiply_with_bias(&product, &a, &a, &mut c, &halves) {
        Err(error) => assert!(error.code() == "dtype-mismatch" || error.is_unavailable(), "{error}"),
        Ok(_) => panic!("halves are no f32"),
    }
    assert_eq!(c.to_matrix().expect("copies").as_slice(), [7.0; 9]);
}

#[test]
fn kernels_of_the_ladder_refuse_by_name() {
    let l = Layout::row_major(8, 8);
    let problem = Problem::new(l, l, l).expect("fits");
    let epilogue = Epilogue { bias: None, activation: Activation::Relu };
    let request = Request { epilogue, ..Request::new(problem, SemiringId::PlusTimes, DType::F32) };
    let error = find("naive").expect("known").recipe(&request).expect_err("it has none").to_string();
    assert!(error.contains("no bias and no activation") && error.contains("relu"), "{error}");
}

#[test]
fn a_bias_may_be_a_column_of_another_matrix() {
    let engine = engine();
    let upload = |rows: Matrix<f32>| engine.upload(rows.as_ref()).expect("fits");
    let (x, many) = (
        upload(Matrix::from([[1.0, 2.0], [3.0, -4.0]])),
        upload(Matrix::from([[9.0, 9.0, 0.5], [9.0, 9.0, -20.0]])),
    );
    let bias = DeviceRef::from(&many).window(0, 2, 2, 1).expect("inside");
    let product = DeviceProduct::new(SemiringId::PlusTimes)
        .epilogue(Epilogue { bias: None, activation: Activation::Relu });
    for by_columns in [false, true] {
        let layout = if by_columns { Layout::col_major(2, 2) } else { Layout::row_major(2, 2) };
        let mut y = engine.zeros::<f32>(layout).expect("fits");
        match engine.multiply_with_bias(&product, &x, &x, &mut y, bias) {
            Ok(_) => {
                assert_eq!(y.to_matrix().expect("copies"), Matrix::from([[7.5, 0.0], [0.0, 2.0]]));
            }
            Err(error) => assert!(error.is_unavailable(), "{error}"),
        }
    }
}
