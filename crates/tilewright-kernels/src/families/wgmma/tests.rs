//! What the recipes say, without a GPU.

use super::{menu::TILES, *};
use crate::{
    catalogue::find,
    kernel::launch::{Recipe, Role},
    request::{Batch, Form},
    scaling::Place,
};
use tilewright_arch::Gpu;
use tilewright_core::{DType, Layout, Math, Problem, Scales, SemiringId};

fn request(a: Layout, b: Layout, c: Layout) -> Request {
    Request::new(Problem::new(a, b, c).unwrap(), SemiringId::PlusTimes, DType::Bf16)
}

fn square(n: usize) -> Request {
    let l = Layout::row_major(n, n);
    request(l, l, l)
}

fn recipe(request: &Request) -> Recipe {
    find("wgmma").unwrap().recipe(request).unwrap()
}

fn tensors(launch: &Launch) -> Vec<&crate::tensor::Tensor> {
    let mut found = Vec::new();
    for argument in launch.arguments() {
        if let Argument::Tensor(tensor) = &argument.value {
            found.push(&**tensor);
        }
    }
    found
}

#[test]
fn every_tile_fits_a_multiprocessor() {
    let most = Gpu::default().limits;
    for tile in TILES {
        let shared = tile.shared_memory();
        assert!(shared <= 232_448, "{} takes {shared} bytes", tile.name());
        assert!(Gpu::default().resident_blocks(tile.threads(), 168, shared) == Some(1), "{most:?}");
        for place in [Place::ByBlocks, Place::ByColumns] {
            let (with_scales, bytes) = tile.with_scales(place);
            let fewer = tile.stages - with_scales.stages;
            assert!(bytes > with_scales.shared_memory() && bytes <= 232_448 && fewer < 2, "{}", tile.name());
        }
        // Sums of a thread, beside what else it needs, in 232 registers.
        assert!(tile.waves() * tile.n / 2 <= 192, "{}", tile.name());
        assert!(
            tile.n.is_multiple_of(32) && (tile.n / tile.cluster * 128).is_multiple_of(1024),
            "{}",
            tile.name()
        );
    }
}

#[test]
fn aligned_operands_are_read_where_they_are() {
    let l = Layout::row_major(512, 512);
    for (a, b, kinds) in [(l, l, "k.mn"), (l.t(), l, "mn.mn"), (l, l.t(), "k.k"), (l.t(), l.t(), "mn.k")] {
        let recipe = recipe(&request(a, b, l));
        let [launch] = recipe.launches() else { panic!("one launch") };
        assert!(launch.program().name().ends_with(kinds), "{}", launch.program().name());
        assert_eq!(tensors(launch).len(), 3);
        assert!(recipe.workspaces().is_empty());
        for tensor in tensors(launch) {
            assert_eq!((&*tensor.extents, &*tensor.strides), (&[512, 512, 1][..], &[1024, 1024 * 512][..]));
        }
    }
}

#[test]
fn a_result_by_columns_is_computed_as_its_transpose() {
    let l = Layout::row_major(256, 512);
    let k = Layout::row_major(512, 128);
    let recipe = recipe(&request(l, k, Layout::col_major(256, 128)));
    let launch = &recipe.launches()[0];
    let memory: Vec<_> = tensors(launch).iter().map(|tensor| tensor.memory).collect();
    assert_eq!(memory, [Buffer::B, Buffer::A, Buffer::C]);
    // Rows of B^T lie across.
    assert!(launch.program().name().ends_with(".mn.k"), "{}", launch.program().name());
}

/// Elements of a single row or column may lie apart.
#[test]
fn vectors_are_results_wherever_their_elements_lie() {
    let (row, a) = (Layout::strided(1, 64, 900, 3), Layout::row_major(1, 64));
    let l = Layout::row_major(64, 64);
    for (a, b, c) in
        [(a, l, row), (l, a.t(), row.t()), (a, l, row.t().t()), (l, a.t(), Layout::strided(64, 1, 3, 7))]
    {
        let recipe = recipe(&request(a, b, c));
        let launch = recipe.launches().last().unwrap();
        let stride = launch.arguments().iter().find(|argument| argument.name == "row_stride").unwrap();
        assert_eq!(stride.value, Argument::i64(3), "{c:?}");
    }
}

/// TMA would write behind rows that end inside of 16 bytes.
#[test]
fn rows_of_odd_lengths_are_not_written_by_tma() {
    let (a, b) = (Layout::row_major(64, 64), |cols| Layout::strided(64, cols, 192, 1));
    for (cols, ending) in
        [(1, ".rows"), (2, ".rows"), (72, ".k.mn"), (65, ".rows"), (68, ".rows"), (128, ".k.mn")]
    {
        for c in [Layout::strided(64, cols, 192, 1), Layout::strided(1, cols, 192, 1)] {
            let a = Layout { rows: c.rows, ..a };
            let recipe = recipe(&request(a, b(cols), c));
            let program =
                recipe.launches().iter().find(|launch| launch.role() == Role::Product).unwrap().program();
            assert!(
                program.name().contains(".parts") || program.name().ends_with(ending),
                "{} for {c:?}",
                program.name()
            );
        }
    }
}

#[test]
fn what_tma_cannot_read_is_copied_to_rows_that_it_can() {
    let (odd, even) = (Layout::row_major(129, 131), Layout::row_major(131, 136));
    let c = Layout::row_major(129, 136);
    let one = recipe(&request(odd, even, c));
    assert_eq!(one.workspaces(), [129 * 192 * 2]);
    let [copy, product] = one.launches() else { panic!("two launches") };
    assert_eq!((copy.role(), product.role()), (Role::Pack, Role::Product));
    assert_eq!(tensors(product)[0].strides[0], 192 * 2);
    // A view that begins at an odd element.
    let shifted = Request { alignment: crate::Alignment { b: 2, ..square(136).alignment }, ..square(136) };
    assert_eq!(recipe(&shifted).launches().len(), 2);
    // A result of odd rows is written by threads.
    let rows = recipe(&request(even.t(), Layout::row_major(131, 135), Layout::row_major(136, 135)));
    let launch = rows.launches().last().unwrap();
    assert!(launch.program().name().ends_with(".rows"), "{}", launch.program().name());
    // Broadcast and reversed operands.
    for a in
        [Layout::strided(136, 136, 0, 1), Layout::strided(136, 136, -136, 1), Layout::strided(136, 136, 3, 2)]
    {
        let l = Layout::row_major(136, 136);
        assert_eq!(recipe(&request(a, l, l)).launches().len(), 2, "{a:?}");
    }
}

#[test]
fn batches_are_one_launch_and_shared_operands_are_copied_once() {
    let odd = Layout::row_major(65, 65);
    let batch = Batch { count: 7, a: 65 * 65, b: 0, c: 65 * 65 };
    let several = recipe(&Request { batch, ..request(odd, odd, odd) });
    assert_eq!(several.workspaces(), [7 * 65 * 72 * 2, 65 * 72 * 2]);
    assert_eq!(several.launches().len(), 2);
    let aligned = recipe(&Request { batch: Batch { count: 7, a: 4096, b: 0, c: 4096 }, ..square(64) });
    let [launch] = aligned.launches() else { panic!("one launch") };
    let extents: Vec<_> = tensors(launch).iter().map(|tensor| tensor.extents[2]).collect();
    assert_eq!(extents, [7, 1, 7]);
}

#[test]
fn what_others_do_is_refused_by_name() {
    let refused = |request: &Request| find("wgmma").unwrap().recipe(request).unwrap_err();
    let a6000 = Request { gpu: Gpu::named("a6000").unwrap(), ..square(64) };
    assert!(refused(&a6000).found.contains("sm_86"), "{}", refused(&a6000));
    let b200 = Request { gpu: Gpu::named("b200").unwrap(), ..square(64) };
    assert!(refused(&b200).needs.contains("sm_90a"));
    let plain = Request { form: Form::Plain, ..square(64) };
    assert!(refused(&plain).needs.contains("NVRTC"));
    let simt = Request { tile: Some([128, 128, 8, 16, 8, 1]), ..square(64) };
    assert!(refused(&simt).needs.contains("tiles"));
    let little = Request { workspace: 0, ..square(65) };
    assert!(refused(&little).needs.contains("workspace"));
    let apart = Layout::strided(64, 64, 2, 130);
    let l = Layout::row_major(64, 64);
    assert!(refused(&request(l, l, apart)).found.contains("apart"));
    let full = Request { dtype: DType::F32, ..square(64) };
    assert!(refused(&full).found.contains("full precision"), "{}", refused(&full));
    let min_plus = Request { semiring: SemiringId::MinPlus, ..square(64) };
    assert!(refused(&min_plus).needs.contains("plus-times"));
    let none = request(Layout::row_major(64, 0), Layout::row_major(0, 64), l);
    assert!(refused(&none).found.contains('0'));
}

#[test]
fn small_products_take_small_tiles_and_large_ones_large_tiles() {
    let tile = |n| recipe(&square(n)).details()[0].1.clone();
    assert_eq!(tile(1024), "64x128, 64 terms a step");
    for n in [2048, 8192, 16384] {
        let large = ["128x256", "256x128", "128x128"];
        assert!(large.iter().any(|large| tile(n).starts_with(large)), "{n}: {}", tile(n));
    }
}

#[test]
fn sums_are_split_where_c_is_small() {
    let (a, b) = (Layout::row_major(64, 100_000), Layout::col_major(100_000, 64));
    let asked = request(a, b, Layout::row_major(64, 64));
    let split = recipe(&asked);
    let [product, join] = split.launches() else { panic!("two launches") };
    assert_eq!((product.role(), join.role()), (Role::Product, Role::Join));
    assert!(product.parts() > 32 && product.grid()[0] > 32, "{} parts", product.parts());
    assert_eq!(split.workspaces(), [64 * 64 * 4 * u64::from(product.parts())]);
    // No part is empty: 1563 steps.
    let steps = 1563_u32.div_ceil(product.parts());
    assert!(steps * (product.parts() - 1) < 1563);
    let whole = recipe(&Request { splits: Some(1), ..asked });
    assert_eq!(whole.launches().len(), 1);
    let three = recipe(&Request { splits: Some(3), ..asked });
    assert_eq!(three.launches()[0].parts(), 3);
    let little = recipe(&Request { workspace: 100, ..asked });
    assert_eq!((little.launches().len(), little.workspaces().len()), (1, 0));
}

/// Bytes and tf32 are taken by terms alone: what lies across is turned.
#[test]
fn only_16_bits_lie_across() {
    let l = Layout::row_major(256, 256);
    for (dtype, terms) in [(DType::I8, "128 terms"), (DType::U8, "128 terms"), (DType::F32, "32 terms")] {
        let ask = |a, b| Request { dtype, math: Math::Tf32, ..request(a, b, l) };
        let straight = recipe(&ask(l, l.t()));
        assert_eq!((straight.launches().len(), straight.workspaces().len()), (1, 0), "{dtype}");
        assert!(straight.details()[0].1.contains(terms), "{:?}", straight.details());
        assert_eq!(tensors(&straight.launches()[0])[0].tile[0] * dtype.size() as u32, 128);
        for (a, b, turned) in [(l, l, 1), (l.t(), l, 2), (l.t(), l.t(), 1)] {
            let recipe = recipe(&ask(a, b));
            let [copy, product] = recipe.launches() else { panic!("two launches") };
            let turns = copy.arguments().iter().filter(|one| one.name.starts_with("turns_"));
            assert_eq!(turns.filter(|one| one.value == Argument::i32(1)).count(), turned, "{dtype}");
            assert!(product.program().name().ends_with(".k.k"), "{}", product.program().name());
        }
    }
}

/// Rows outside a tensor take the time of others.
#[test]
fn boxes_have_no_more_rows_than_a_has() {
    let (k, n) = (Layout::row_major(16, 512), Layout::row_major(512, 8192));
    let recipe = recipe(&request(k, n, Layout::row_major(16, 8192)));
    let launch = recipe.launches().iter().find(|launch| launch.role() == Role::Product).unwrap();
    assert_eq!(tensors(launch)[0].tile, [64, 16, 1]);
    let rows = launch.arguments().iter().find(|argument| argument.name == "box_rows").unwrap();
    assert_eq!(rows.value, Argument::i32(16));
}

fn float8(n: usize, scales: Scales<Layout>) -> Request {
    let l = Layout::row_major(n, n);
    Request { dtype: DType::E4m3, scales, ..request(l, l.t(), l) }
}

/// In ping-pong the tensor cores would wait for additions.
#[test]
fn promoted_sums_take_tiles_that_two_groups_share() {
    for n in [2048, 4096, 8192] {
        let full = recipe(&float8(n, Scales::NONE));
        assert_eq!(full.details()[0].1, "128x192, 128 terms a step", "{n}");
        let fast = recipe(&Request { math: Math::Fast, ..float8(n, Scales::NONE) });
        assert!(fast.seconds() < full.seconds(), "{n}");
    }
}

#[test]
fn scales_are_passed_as_they_lie() {
    let l = Layout::row_major;
    let value = |recipe: &Recipe, name: &str| {
        let launch = recipe.launches().iter().find(|launch| launch.role() == Role::Product).unwrap();
        launch.arguments().iter().find(|argument| argument.name == name).unwrap().value.clone()
    };
    let blocks = Scales { a: Some(l(512, 4)), b: Some(Layout::col_major(4, 4)) };
    let one = recipe(&float8(512, blocks));
    assert!(one.launches()[0].program().name().contains(".scaled-blocks"), "{one:?}");
    assert_eq!(value(&one, "scale_a"), Argument::Pointer(Buffer::ScaleA));
    assert_eq!([value(&one, "scale_a_row"), value(&one, "scale_a_term")], [4, 1].map(Argument::i64));
    assert_eq!([value(&one, "scale_b_row"), value(&one, "scale_b_term")], [4, 1].map(Argument::i64));
    assert_eq!([value(&one, "scale_a_shift"), value(&one, "scale_b_shift")], [0, 7].map(Argument::i32));
    // The transpose of C has A's scales at its columns.
    let by_columns = Request {
        problem: Problem::new(l(512, 512), l(512, 512).t(), l(512, 512).t()).unwrap(),
        ..float8(512, blocks)
    };
    let other = recipe(&by_columns);
    assert_eq!(value(&other, "scale_b"), Argument::Pointer(Buffer::ScaleA));
    assert!(other.launches()[0].program().name().contains(".scaled-columns"), "{other:?}");
    // Those of rows stay out of the loop, and leave fast sums where they are.
    let rows = Scales { a: Some(l(512, 1)), b: None };
    let fast = recipe(&Request { math: Math::Fast, ..float8(512, rows) });
    assert!(fast.launches()[0].program().name().ends_with(".fast.scaled"), "{fast:?}");
    assert_eq!(value(&fast, "scale_b_shift"), Argument::i32(-1));
    let fast = recipe(&Request { math: Math::Fast, ..float8(512, blocks) });
    assert!(!fast.launches()[0].program().name().contains("fast"), "{fast:?}");
}

#[test]
fn scales_are_refused_by_name_where_there_are_none() {
    let refused = |name: &str, request: &Request| find(name).unwrap().recipe(request).unwrap_err();
    let one = Scales { a: Some(Layout::row_major(1, 1)), b: None };
    let simt = refused("simt", &float8(64, one));
    assert!(simt.needs.contains("without scales") && simt.hint.contains("wgmma"), "{simt}");
    let halves = refused("wgmma", &Request { dtype: DType::Bf16, ..float8(64, one) });
    assert!(halves.needs.contains("e4m3"), "{halves}");
    let wrong = Scales { a: Some(Layout::row_major(2, 1)), b: None };
    assert!(refused("mma", &float8(64, wrong)).found.contains("2x1"));
    let batch = Batch { count: 2, a: 4096, b: 4096, c: 4096 };
    assert!(refused("wgmma", &Request { batch, ..float8(64, one) }).needs.contains("one product"));
}
