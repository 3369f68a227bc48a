//! Products of 8-bit floats with scales, by every tile that has them, on the emulated driver with all its checks: as the definition. Elements are small whole numbers and scales are
//! powers of two, so that all sums are exact and results agree bit for bit. Data whose sums are rounded are compared in `tilewright`, with the stated bound.
//!
//! Without NVRTC there is no program to run; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a failure. `TILEWRIGHT_THIRD` of 0, 1 or 2 takes every third product.

use tilewright_arch::Gpu;
use tilewright_core::{
    Activation, DynRef, E4m3, E5m2, Element, Epilogue, Extremes, Granularity, Joining, Layout, MatMut, Math,
    Matrix, PlusTimes, Problem, Scales, SemiringId, Update, Value, bf16, reference,
    semiring::{Arithmetic, RoundTo},
};
use tilewright_cuda::{DeviceProduct, DeviceRef, Engine, With};
use tilewright_kernels::{Alignment, Request, find, mma_tiles, wgmma_tiles};

#[derive(Clone, Copy, Debug)]
struct Case {
    kernel: &'static str,
    size: [usize; 3],
    /// Whether A, B, C and both matrices of scales lie by columns.
    by_columns: [bool; 4],
    scales: [Option<Granularity>; 2],
    factors: [f64; 2],
    tile: [u32; 6],
    splits: u32,
    has_bias: bool,
    math: Math,
}

fn matrix<T: Element>(rows: usize, cols: usize, by_columns: bool, of: impl Fn(usize) -> f64) -> Matrix<T> {
    let layout = if by_columns { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) };
    let element = |i| T::from_value(Value::Float(of(i)), Extremes::Refuse).expect("small");
    Matrix::from_vec((0..rows * cols).map(element).collect(), layout).expect("as many")
}

/// Small whole numbers.
fn numbers<T: Element>(rows: usize, cols: usize, by_columns: bool, seed: usize) -> Matrix<T> {
    matrix(rows, cols, by_columns, |i| ((i * 7919 + seed * 104_729) / 13 % 7) as f64 - 3.0)
}

/// Powers of two, and one that is negative or 0 here and there.
fn powers([rows, cols]: [usize; 2], by_columns: bool, seed: usize) -> Matrix<f32> {
    let sign = |i: usize| [1.0, 1.0, -1.0, 1.0, 0.0][(i + seed) % 5];
    matrix(rows, cols, by_columns, |i| 2f64.powi((i * 5 + seed) as i32 % 4 - 2) * sign(i * 3))
}

fn engine() -> Engine {
    // Few multiprocessors, so that blocks take several tiles.
    Engine::emulated(Gpu { multiprocessors: 2, ..Gpu::default() }).expect("a device")
}

/// False where there is no compiler.
fn is_right<T: Arithmetic<Acc = f32>, O: Element>(engine: &Engine, case: &Case) -> bool
where
    f32: RoundTo<O>,
{
    let [m, n, k] = case.size;
    let [a_by, b_by, c_by, scales_by] = case.by_columns;
    let (a, b) = (numbers::<T>(m, k, a_by, 1), numbers::<T>(k, n, b_by, 2));
    let mut wanted = numbers::<O>(m, n, c_by, 3);
    let bias = numbers::<O>(1, n, false, 9);
    let of_a = case.scales[0].map(|one| powers(one.shape(m, k), scales_by, 1));
    let of_b = case.scales[1].map(|one| powers(one.shape(n, k), !scales_by, 2));
    let upload = |view: DynRef<'_>| engine.upload_dyn(view).expect("fits");
    let (on_a, on_b) = (upload(a.as_ref().into()), upload(b.as_ref().into()));
    let mut on_c = upload(wanted.as_ref().into());
    let on_bias = upload(bias.as_ref().into());
    let scales = Scales {
        a: of_a.as_ref().map(|x| x.as_ref().into()),
        b: of_b.as_ref().map(|x| x.as_ref().t().into()),
    };
    let on_scales = scales.map(upload);
    let read = With {
        bias: case.has_bias.then(|| (&on_bias).into()),
        scales: on_scales.as_ref().map(DeviceRef::from),
    };
    let [alpha, beta] = case.factors;
    let epilogue = Epilogue { bias: case.has_bias.then_some(1), activation: Activation::None };
    let [la, lb, lc] = [on_a.layout(), on_b.layout(), on_c.layout()];
    let problem = Problem::new(la, lb, lc).expect("shapes fit");
    let request = Request {
        math: case.math,
        joining: Joining::<Value>::scale(alpha, beta),
        epilogue,
        scales: on_scales.as_ref().map(|one| one.layout()),
        alignment: Alignment { a: 16, b: 16, c: 16 },
        gpu: engine.gpu(),
        tile: Some(case.tile),
        splits: Some(case.splits),
        ..Request::new(problem, SemiringId::PlusTimes, T::DTYPE).giving(O::DTYPE).expect("a result")
    };
    let recipe = find(case.kernel).expect("known").recipe(&request).expect("accepted");
    assert!(recipe.details().iter().any(|(name, _)| *name == "scales"), "{:?}", recipe.details());
    let prepared = match engine.prepare(recipe) {
        Ok(prepared) => prepared,
        Err(error) if error.is_unavailable() => {
            assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{error}");
            return false;
        }
        Err(error) => panic!("{case:?}: {error}"),
    };
    let without = With { scales: Scales::NONE, ..read };
    let refused = prepared.run_with((&on_a).into(), (&on_b).into(), (&mut on_c).into(), without);
    assert_eq!(refused.expect_err("no scales").code(), "unsupported");
    prepared.run_with((&on_a).into(), (&on_b).into(), (&mut on_c).into(), read).expect("runs");
    let mut found = numbers::<O>(m, n, false, 0);
    on_c.copy_to(found.as_mut().into()).expect("copies");

    let update = Update::<PlusTimes<T, O>>::scale(alpha as f32, beta as f32);
    let epilogue = Epilogue { bias: case.has_bias.then(|| bias.as_ref().into()), ..Epilogue::default() };
    let c: MatMut<'_, O> = wanted.as_mut();
    reference::multiply_scaled(c, a.as_ref(), b.as_ref(), &update, epilogue, scales).expect("right");
    for i in 0..m {
        for j in 0..n {
            let (found, wanted) = (found[(i, j)], wanted[(i, j)]);
            assert!(found == wanted, "{case:?}: C[{i}, {j}] is {found}, not {wanted}");
        }
    }
    true
}

const NONE: Option<Granularity> = None;
const OPERAND: Option<Granularity> = Some(Granularity::Operand);
const ROW: Option<Granularity> = Some(Granularity::Row);
const ROW_BLOCK: Option<Granularity> = Some(Granularity::RowBlock);
const BLOCK: Option<Granularity> = Some(Granularity::Block);

/// The usual pairs first, each way that a program has them, then those that nobody asks for.
const PAIRS: [[Option<Granularity>; 2]; 12] = [
    [ROW_BLOCK, BLOCK],
    [ROW, ROW],
    [ROW_BLOCK, ROW_BLOCK],
    [OPERAND, OPERAND],
    [BLOCK, BLOCK],
    [NONE, ROW_BLOCK],
    [ROW, NONE],
    [BLOCK, NONE],
    [NONE, OPERAND],
    [BLOCK, ROW],
    [OPERAND, BLOCK],
    [ROW, ROW_BLOCK],
];

/// Every pair of scales with orders, joinings and splits in turns, at the edges of a tile and of blocks of terms.
fn cases(kernel: &'static str, tile: [u32; 6], turn: usize) -> Vec<Case> {
    let [m, n] = [tile[0] as usize, tile[1] as usize];
    let case = |(i, scales): (usize, [Option<Granularity>; 2])| Case {
        kernel,
        size: [
            [m, 2 * m + 1, 9, m - 3][i % 4],
            [n + 3, 8, 2 * n, n][(i + turn) % 4],
            [300, 128, 72, 513, 256][(i + turn) % 5],
        ],
        by_columns: [i % 2 == 1, i / 2 % 2 == 1, i % 4 > 1, i % 3 == 1],
        scales,
        factors: [[1.0, 0.0], [2.0, -1.0]][i / 2 % 2],
        tile,
        splits: [1, 1, 2][i % 3],
        has_bias: i % 4 == 2,
        math: if i % 5 == 4 { Math::Fast } else { Math::Full },
    };
    PAIRS.into_iter().enumerate().map(case).collect()
}

fn run_all<T: Arithmetic<Acc = f32>, O: Element>(cases: &[Case])
where
    f32: RoundTo<O>,
{
    let third = std::env::var("TILEWRIGHT_THIRD").ok().map(|third| third.parse().expect("0, 1 or 2"));
    let (first, step) = third.map_or((0, 1), |third: usize| (third, 3));
    let engine = engine();
    let all = cases.iter().skip(first).step_by(step);
    let without = all.filter(|case| !is_right::<T, O>(&engine, case)).count();
    eprintln!("{without} of {} without a compiler", cases.len());
}

/// Tiles whose threads have registers for sums twice.
fn has_room(kernel: &str, [m, n, .., ping_pong, _, _]: [u32; 6]) -> bool {
    match kernel {
        "wgmma" => m * n / if ping_pong == 1 { 128 } else { 256 } <= 96,
        _ => m * n / if m == 128 { 256 } else { 128 } <= 64,
    }
}

#[test]
fn wgmma_scales_its_sums() {
    let tiles: Vec<_> = wgmma_tiles().into_iter().filter(|&tile| has_room("wgmma", tile)).collect();
    let last = tiles.len() - 1;
    run_all::<E4m3, f32>(&cases("wgmma", tiles[last], 0));
    run_all::<E5m2, bf16>(&cases("wgmma", tiles[last], 1)[..3]);
    // Clusters and ping-pong, and two groups that share a tile.
    for (i, &tile) in tiles[..last].iter().enumerate() {
        run_all::<E4m3, bf16>(&cases("wgmma", tile, i)[..3]);
    }
}

#[test]
fn mma_scales_its_sums() {
    let tiles: Vec<_> = mma_tiles().into_iter().filter(|&tile| has_room("mma", tile)).collect();
    let last = tiles.len() - 1;
    run_all::<E4m3, f32>(&cases("mma", tiles[last], 0));
    run_all::<E5m2, bf16>(&cases("mma", tiles[last], 1)[..3]);
    run_all::<E4m3, bf16>(&cases("mma", tiles[0], 2)[..3]);
}

#[test]
fn complete_sums_stay_in_the_tensor_cores_where_they_are_fast() {
    let tile = wgmma_tiles()[0];
    let cases = cases("wgmma", tile, 0).into_iter().filter(|case| case.scales == [ROW, ROW]);
    let cases: Vec<_> = cases.map(|case| Case { math: Math::Fast, size: [9, 300, 160], ..case }).collect();
    run_all::<E4m3, f32>(&cases);
}

#[test]
fn scales_that_do_not_fit_are_refused_before_anything_is_written() {
    let engine = engine();
    let bytes = engine.upload(Matrix::filled(3, 3, E4m3::ONE).expect("small").as_ref()).expect("fits");
    let scales = |rows, cols| {
        engine.upload(Matrix::filled(rows, cols, 1.0f32).expect("small").as_ref()).expect("fits")
    };
    let mut c = engine.upload(Matrix::filled(3, 3, 7.0f32).expect("small").as_ref()).expect("fits");
    let product = DeviceProduct::new(SemiringId::PlusTimes);
    let with = |a| With { bias: None, scales: Scales { a: Some(a), b: None } };
    let wrong = scales(2, 1);
    let error =
        engine.multiply_with(&product, &bytes, &bytes, &mut c, with((&wrong).into())).expect_err("short");
    assert!(
        error.code() == "result-mismatch" && error.to_string().contains("scales of A are 2x1"),
        "{error}"
    );
    let floats = scales(3, 3);
    let error =
        engine.multiply_with(&product, &floats, &floats, &mut c, with((&wrong).into())).expect_err("f32");
    assert!(error.to_string().contains("plus-times on f32"), "{error}");
    match engine.multiply_with(&product, &bytes, &bytes, &mut c, with((&bytes).into())) {
        Err(error) => assert!(error.code() == "result-mismatch" || error.is_unavailable(), "{error}"),
        Ok(_) => panic!("nine scales"),
    }
    // Before 8.9 there are no tensor cores for them.
    let old = Engine::emulated(Gpu::named("a6000").expect("known")).expect("a device");
    let (bytes, one) = (
        old.upload(Matrix::filled(3, 3, E4m3::ONE).expect("small").as_ref()).expect("fits"),
        old.upload(Matrix::filled(1, 1, 2.0f32).expect("small").as_ref()).expect("fits"),
    );
    let mut c = old.zeros::<f32>(Layout::row_major(3, 3)).expect("fits");
    let error = old.multiply_with(&product, &bytes, &bytes, &mut c, with((&one).into())).expect_err("8.6");
    assert_eq!(error.code(), "unsupported");
}
