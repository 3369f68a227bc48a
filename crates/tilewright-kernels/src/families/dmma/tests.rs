//! What the recipes say, without a GPU.

use super::*;
use crate::{
    catalogue::find,
    kernel::launch::{Recipe, Role},
    request::{Batch, Form},
    tensor::Tensor,
};
use tilewright_arch::Gpu;
use tilewright_core::{Layout, Problem};

fn request(a: Layout, b: Layout, c: Layout) -> Request {
    Request::new(Problem::new(a, b, c).unwrap(), SemiringId::PlusTimes, DType::F64)
}

fn square(n: usize) -> Request {
    let l = Layout::row_major(n, n);
    request(l, l, l)
}

fn recipe(request: &Request) -> Recipe {
    find("dmma").unwrap().recipe(request).unwrap()
}

fn tensors(launch: &Launch) -> Vec<&Tensor> {
    let found = launch.arguments().iter().filter_map(|argument| match &argument.value {
        Argument::Tensor(tensor) => Some(&**tensor),
        _ => None,
    });
    found.collect()
}

#[test]
fn every_tile_fits_as_often_as_it_says() {
    for tile in TILES {
        // Sums of a thread, two sets of columns, and rows of four steps.
        let [m, n] = tile.warp.map(|side| side / 8);
        let registers = 2 * (2 * m * n + 4 * n + 16) + 40;
        let registers = registers.min(64 * 1024 / (tile.threads() * tile.resident)).next_multiple_of(8);
        let found = Gpu::default().resident_blocks(tile.threads(), registers, tile.shared_memory());
        assert!(found.is_some_and(|found| found >= tile.resident), "{} {registers}: {found:?}", tile.name());
        assert!(tile.block[0] % tile.warp[0] == 0 && tile.block[1] % tile.warp[1] == 0);
    }
}

#[test]
fn aligned_operands_are_read_where_they_are() {
    let l = Layout::row_major(512, 512);
    for (a, b, kinds) in [(l, l, "k.mn"), (l.t(), l, "mn.mn"), (l, l.t(), "k.k"), (l.t(), l.t(), "mn.k")] {
        let recipe = recipe(&Request { splits: Some(1), ..request(a, b, l) });
        let [launch] = recipe.launches() else { panic!("one launch") };
        assert!(launch.program().name().ends_with(kinds), "{}", launch.program().name());
        assert_eq!(tensors(launch).len(), 2);
        assert!(recipe.workspaces().is_empty());
        for tensor in tensors(launch) {
            assert_eq!((&*tensor.extents, &*tensor.strides), (&[512, 512, 1][..], &[4096, 4096 * 512][..]));
        }
    }
}

#[test]
fn a_result_by_columns_is_computed_as_its_transpose() {
    let (l, k) = (Layout::row_major(256, 512), Layout::row_major(512, 128));
    let recipe = recipe(&request(l, k, Layout::col_major(256, 128)));
    let launch = &recipe.launches()[0];
    let memory: Vec<_> = tensors(launch).iter().map(|tensor| tensor.memory).collect();
    assert_eq!(memory, [Buffer::B, Buffer::A]);
    // Rows of B^T lie across.
    assert!(launch.program().name().ends_with(".mn.k"), "{}", launch.program().name());
}

/// Elements of a single row or column may lie apart.
#[test]
fn vectors_are_results_wherever_their_elements_lie() {
    let (row, a) = (Layout::strided(1, 64, 900, 3), Layout::row_major(1, 64));
    let l = Layout::row_major(64, 64);
    for (a, b, c) in [(a, l, row), (l, a.t(), row.t()), (l, a.t(), Layout::strided(64, 1, 3, 7))] {
        let recipe = recipe(&Request { splits: Some(1), ..request(a, b, c) });
        let launch = recipe.launches().last().unwrap();
        let stride = launch.arguments().iter().find(|argument| argument.name == "row_stride").unwrap();
        assert_eq!(stride.value, Argument::i64(3), "{c:?}");
    }
}

#[test]
fn what_tma_cannot_read_is_copied_to_lines_that_it_can() {
    let (odd, even) = (Layout::row_major(129, 131), Layout::row_major(131, 136));
    let one = recipe(&Request { splits: Some(1), ..request(odd, even, Layout::row_major(129, 136)) });
    assert_eq!(one.workspaces(), [129 * 144 * 8]);
    let [copy, product] = one.launches() else { panic!("two launches") };
    assert_eq!((copy.role(), product.role()), (Role::Pack, Role::Product));
    assert_eq!(tensors(product)[0].strides[0], 144 * 8);
    let whole = |request: Request| recipe(&Request { splits: Some(1), ..request });
    // A view that begins at an odd element.
    let shifted = Request { alignment: crate::Alignment { b: 8, ..square(136).alignment }, ..square(136) };
    assert_eq!(whole(shifted).launches().len(), 2);
    // A result of odd rows is written element by element.
    let single = whole(request(even.t(), Layout::row_major(131, 135), Layout::row_major(136, 135)));
    let launch = single.launches().last().unwrap();
    assert!(launch.program().name().ends_with(".single"), "{}", launch.program().name());
    // Broadcast, reversed and scattered operands.
    let l = Layout::row_major(136, 136);
    for [row, col] in [[0, 1], [-136, 1], [3, 2]] {
        assert_eq!(whole(request(Layout::strided(136, 136, row, col), l, l)).launches().len(), 2);
    }
}

#[test]
fn batches_are_one_launch_and_shared_operands_are_copied_once() {
    let odd = Layout::row_major(65, 65);
    let batch = Batch { count: 7, a: 65 * 65, b: 0, c: 65 * 65 };
    let several = recipe(&Request { batch, splits: Some(1), ..request(odd, odd, odd) });
    assert_eq!(several.workspaces(), [7 * 65 * 80 * 8, 65 * 80 * 8]);
    assert_eq!(several.launches().len(), 2);
    let batch = Batch { count: 7, a: 4096, b: 0, c: 4096 };
    let aligned = recipe(&Request { batch, splits: Some(1), ..square(64) });
    let [launch] = aligned.launches() else { panic!("one launch") };
    let extents: Vec<_> = tensors(launch).iter().map(|tensor| tensor.extents[2]).collect();
    assert_eq!(extents, [7, 1]);
}

#[test]
fn what_others_do_is_refused_by_name() {
    let refused = |request: &Request| find("dmma").unwrap().recipe(request).unwrap_err();
    for name in ["a100", "a6000", "b200"] {
        let other = Request { gpu: Gpu::named(name).unwrap(), ..square(64) };
        assert!(refused(&other).needs.contains("sm_90a"), "{name}: {}", refused(&other));
    }
    let plain = Request { form: Form::Plain, ..square(64) };
    assert!(refused(&plain).needs.contains("NVRTC"));
    let simt = Request { tile: Some([128, 128, 8, 16, 8, 1]), ..square(64) };
    assert!(refused(&simt).needs.contains("tiles"));
    let little = Request { workspace: 0, ..square(65) };
    assert!(refused(&little).needs.contains("workspace"));
    let (apart, l) = (Layout::strided(64, 64, 2, 130), Layout::row_major(64, 64));
    assert!(refused(&request(l, l, apart)).found.contains("apart"));
    let f32 = Request { dtype: DType::F32, ..square(64) };
    assert!(refused(&f32).needs.contains("plus-times"));
    let none = request(Layout::row_major(64, 0), Layout::row_major(0, 64), l);
    assert!(refused(&none).found.contains('0'));
}

#[test]
fn small_products_take_small_tiles_and_large_ones_large_tiles() {
    let tile = |n| recipe(&square(n)).details()[0].1.clone();
    for n in [512, 1024] {
        assert_eq!(tile(n), "64x32, 16 terms a step");
    }
    for n in [2048, 8192, 16384] {
        assert_eq!(tile(n), "64x64, 16 terms a step");
    }
}

/// 13 x 128 tiles are 6 waves of 264 and 80 more.
#[test]
fn the_last_wave_is_split_where_it_leaves_most_of_the_gpu_idle() {
    let (a, b) = (Layout::row_major(1664, 8192), Layout::row_major(8192, 8192));
    let asked = request(a, b, Layout::row_major(1664, 8192));
    let split = recipe(&Request { tile: Some(TILES[0].id()), ..asked });
    let [product, join] = split.launches() else { panic!("two launches") };
    assert_eq!((product.role(), join.role(), product.parts()), (Role::Product, Role::Join, 1));
    assert_eq!(product.grid(), [6 * 264 + 80 * 3, 1, 1]);
    assert_eq!(split.workspaces(), [80 * 3 * 128 * 64 * 8]);
    assert!(split.details()[4].1.contains("in the last 80 of 1664 tiles"), "{:?}", split.details());
}

#[test]
fn sums_are_split_where_c_is_small() {
    let (a, b) = (Layout::row_major(64, 100_000), Layout::col_major(100_000, 64));
    let asked = request(a, b, Layout::row_major(64, 64));
    let split = recipe(&asked);
    let [product, join] = split.launches() else { panic!("two launches") };
    assert_eq!((product.role(), join.role()), (Role::Product, Role::Join));
    assert!(product.parts() > 32 && product.grid()[0] > 32, "{} parts", product.parts());
    // No part is empty: 6250 steps.
    let steps = 6250_u32.div_ceil(product.parts());
    assert!(steps * (product.parts() - 1) < 6250);
    let whole = recipe(&Request { splits: Some(1), ..asked });
    assert_eq!(whole.launches().len(), 1);
    let three = recipe(&Request { splits: Some(3), ..asked });
    assert_eq!(three.launches()[0].parts(), 3);
    let little = recipe(&Request { workspace: 100, ..asked });
    assert_eq!((little.launches().len(), little.workspaces().len()), (1, 0));
}
