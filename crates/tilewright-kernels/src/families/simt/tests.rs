use super::*;
use crate::{
    catalogue::find,
    kernel::launch::{Launch, Role},
    request::{Batch, Form},
    scalar::Scalar,
};
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{DType, Problem, SemiringId};

const F32: Variant = Variant::new(SemiringId::PlusTimes, DType::F32);

fn layouts(m: usize, n: usize, k: usize) -> [Layout; 3] {
    [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)]
}

fn request([a, b, c]: [Layout; 3]) -> Request {
    Request::new(Problem::new(a, b, c).unwrap(), SemiringId::PlusTimes, DType::F32)
}

fn plan(request: &Request) -> Recipe {
    find("simt").unwrap().recipe(request).unwrap()
}

fn detail(recipe: &Recipe, name: &str) -> String {
    recipe.details.iter().find(|(n, _)| *n == name).unwrap().1.clone()
}

fn argument(launch: &Launch, name: &str) -> Argument {
    launch.arguments.iter().find(|a| a.name == name).unwrap().value.clone()
}

#[test]
fn large_products_have_no_edges_and_few_parts() {
    for n in [2048, 4096, 8192] {
        let recipe = plan(&request(layouts(n, n, n)));
        assert!(detail(&recipe, "tile").starts_with("128x128"));
        assert!(detail(&recipe, "parts of k").starts_with("1"));
        assert_eq!(detail(&recipe, "edge tiles"), "none");
    }
}

#[test]
fn only_tiles_of_the_last_waves_are_split() {
    let recipe = plan(&request(layouts(4096, 4096, 4096)));
    let [_, product, reduction] = &recipe.launches[..] else { panic!("packing, product, reduction") };
    let whole = 3 * 264;
    assert_eq!(argument(product, "whole"), Argument::i32(whole));
    assert_eq!(product.grid(), [whole as u32 + 2 * (1024 - whole as u32), 1, 1]);
    assert_eq!(argument(reduction, "whole"), Argument::i32(whole));
    assert_eq!(reduction.grid(), [1024 - whole as u32, 16, 1]);
    assert_eq!(recipe.workspaces[1], 2 * (1024 - whole as u64) * 128 * 128 * 4);
}

#[test]
fn one_launch_packs_all_that_is_packed() {
    for (n, pitches) in [(4095, [4096, 4096]), (4096, [4096, 0])] {
        let recipe = plan(&request(layouts(n, n, n)));
        let [packing, product, ..] = &recipe.launches[..] else { panic!("packing and product") };
        assert_eq!((packing.entry, product.entry), ("pack", "simt"));
        assert_eq!(["pitch_a", "pitch_b"].map(|name| argument(packing, name)), pitches.map(Argument::i32));
        assert_eq!(packing.grid(), [3 * 132, 1, 1], "blocks stay");
        for (workspace, _) in pitches.iter().enumerate().filter(|(_, pitch)| **pitch > 0) {
            assert_eq!(recipe.workspaces[workspace], 4096 * 4096 * 4);
        }
    }
}

#[test]
fn the_model_agrees_with_measurements() {
    // The fastest of all tiles and divisions on an H200, as rows, columns and terms; tile, and its terms a step; parts of k,
    // 0 where only the last tiles are split.
    for ([m, n, k], tile, terms, parts) in [
        ([256, 256, 256], "64x128", 16, 4),
        ([512, 512, 512], "64x128", 32, 4),
        ([768, 768, 768], "64x128", 16, 5),
        ([1000, 1000, 1000], "64x128", 32, 1),
        ([1024, 1024, 1024], "64x128", 32, 1),
        ([1536, 1536, 1536], "64x64", 32, 0),
        ([2048, 2048, 2048], "128x128", 8, 1),
        ([2500, 2500, 2500], "64x128", 16, 0),
        ([4095, 4095, 4095], "128x128", 8, 0),
        ([4096, 4096, 4096], "128x128", 8, 0),
        ([4097, 4097, 4097], "128x128", 8, 0),
        ([5000, 5000, 5000], "128x128", 8, 0),
        ([6000, 6000, 6000], "128x128", 8, 0),
        ([8192, 8192, 8192], "128x128", 8, 0),
        ([128, 8192, 8192], "128x128", 8, 4),
        ([128, 128, 16_384], "64x128", 32, 64),
        ([64, 64, 262_144], "64x64", 32, 256),
        ([300, 3000, 3000], "64x128", 16, 3),
        ([8192, 8192, 64], "64x128", 16, 1),
        ([3000, 300, 1000], "64x64", 32, 1),
        ([1024, 4096, 1024], "128x128", 8, 1),
    ] {
        let recipe = plan(&request(layouts(m, n, k)));
        assert_eq!(detail(&recipe, "tile"), format!("{tile}, {terms} terms a step"), "{m}x{n}x{k}");
        let found = detail(&recipe, "parts of k");
        assert_eq!(found.parse().unwrap_or(0), parts, "{m}x{n}x{k}: {found}");
    }
}

#[test]
fn few_columns_or_rows_take_one_launch_and_no_workspace() {
    let [a, b, c] = layouts(131_072, 16, 16);
    for (layouts, name) in
        [([a, b, c], "16x16.11"), ([b.t(), a.t(), c.t()], "16x16.11"), (layouts(13, 131_072, 20), "16x32.00")]
    {
        let recipe = plan(&request(layouts));
        let [launch] = &recipe.launches[..] else { panic!("one launch") };
        assert_eq!(launch.program.name(), format!("thin.plus-times.f32.{name}"));
        assert_eq!((launch.grid(), recipe.workspaces.len()), ([1024, 1, 1], 0));
        let n = if name.ends_with("00") { 13 } else { 16 };
        assert_eq!(
            (argument(launch, "M"), argument(launch, "N")),
            (Argument::i32(131_072), Argument::i32(n))
        );
        assert_eq!(recipe.rejected.len(), menu::tiles(F32).len());
    }
    let is_thin = |request: &Request| plan(request).launches.iter().any(|launch| launch.entry == "thin");
    // Others were measured to be faster on an H200.
    for [m, n, k] in [
        [4096, 64, 4096],
        [128, 16, 65_536],
        [1000, 1000, 16],
        [8192, 1, 8192],
        [4096, 16, 4096],
        [262_144, 32, 512],
    ] {
        assert!(!is_thin(&request(layouts(m, n, k))), "{m}x{n}x{k}");
    }
    let thin = request([a, b, c]);
    assert!(!is_thin(&Request { form: Form::Plain, ..thin }));
    assert!(!is_thin(&Request { pack: Some([true, false]), ..thin }));
    assert!(is_thin(&Request { tile: Some([128, 16, 16, 1, 16, 1]), ..request(layouts(100, 9, 7)) }));
}

#[test]
fn every_other_tile_is_rejected_with_a_reason() {
    let recipe = plan(&request(layouts(1000, 1000, 1000)));
    let tiles = menu::tiles(F32).len();
    assert_eq!(recipe.rejected.len(), tiles - 1);
    for r in &recipe.rejected {
        assert_eq!(r.reason, "not estimated to be faster");
    }
}

#[test]
fn long_sums_of_small_results_are_split() {
    let recipe = plan(&request(layouts(64, 64, 262_144)));
    let [product, reduction] = &recipe.launches[..] else { panic!("two launches") };
    assert!(product.grid()[0] >= 132, "{:?}", product.grid());
    assert_eq!(reduction.entry, "split_k_reduce");
    assert_eq!(recipe.workspaces, [u64::from(product.grid()[0]) * 64 * 64 * 4]);
    // Every term belongs to exactly one part.
    let Argument::Scalar(Scalar::I32(part)) = argument(product, "k_split") else { panic!() };
    assert!(part as u32 * product.grid()[0] >= 262_144 && part as u32 * (product.grid()[0] - 1) < 262_144);
}

#[test]
fn a_column_major_result_is_computed_as_its_transpose() {
    let [a, b, _] = layouts(300, 200, 100);
    let recipe = plan(&request([a, b, Layout::col_major(300, 200)]));
    let launch = recipe.launches.last().unwrap();
    assert_eq!((argument(launch, "M"), argument(launch, "N")), (Argument::i32(200), Argument::i32(300)));
    assert_eq!(argument(launch, "c_col"), Argument::i64(1));
}

#[test]
fn batches_beyond_the_grid_take_several_launches() {
    let mut r = request(layouts(8, 8, 8));
    r.batch = Batch { count: 100_000, a: 64, b: 64, c: 64 };
    let recipe = plan(&r);
    let batches: Vec<_> = recipe.launches.iter().map(|l| l.grid()[1]).collect();
    assert_eq!(batches, [65_535, 34_465]);
    assert_eq!(argument(&recipe.launches[1], "first_batch"), Argument::i32(65_535));
    r.batch.count = 0;
    assert!(plan(&r).launches.is_empty());
}

#[test]
fn strides_choose_how_operands_are_copied() {
    let sized = |rows, side, k, alignment, batch| {
        let layout = Layout::strided(rows, 100, side, k);
        Operand { layout, alignment, batch }.copy(F32, Encoding::Numbers)
    };
    let copy = |side, k, alignment, batch| sized(100, side, k, alignment, batch);
    use operand::Copy::*;
    assert_eq!(copy(1, 100, 256, 0), Vectors);
    // The last vector of 99 elements would reach beyond them.
    assert_eq!(sized(99, 1, 100, 256, 0), AlongSide);
    assert_eq!(copy(1, 101, 256, 0), AlongSide);
    assert_eq!(copy(1, 100, 4, 0), AlongSide);
    assert_eq!(copy(1, 100, 256, 1), AlongSide);
    assert_eq!(copy(-1, 100, 256, 0), AlongSide);
    assert_eq!(copy(100, 1, 256, 0), AlongK);
    assert_eq!(copy(100, -1, 256, 0), AlongK);
}

#[test]
fn a_choice_can_be_forced() {
    let mut r = request(layouts(512, 512, 512));
    r.tile = Some([64, 64, 32, 8, 8, 2]);
    r.splits = Some(3);
    let recipe = plan(&r);
    assert_eq!(detail(&recipe, "tile"), "64x64, 32 terms a step");
    assert_eq!(recipe.launches[recipe.launches.len() - 2].grid()[0], 8 * 8 * 3);
    r.tile = Some([1; 6]);
    let refusal = find("simt").unwrap().recipe(&r).unwrap_err();
    assert!(refusal.found.contains("another tile is asked for"), "{refusal}");
}

#[test]
fn shared_memory_is_respected() {
    let mut r = request(layouts(4096, 4096, 4096));
    const LIMIT: u32 = 40 << 10;
    r.gpu.limits.shared_memory_per_block_optin = LIMIT;
    let recipe = plan(&r);
    assert!(recipe.launches.iter().all(|l| l.dynamic_shared_memory() <= LIMIT));
    assert!(recipe.rejected.iter().any(|r| r.reason.contains("shared memory")), "{:?}", recipe.rejected);
}

#[test]
fn no_terms_still_write_c() {
    let recipe = plan(&request(layouts(64, 64, 0)));
    assert_eq!(recipe.launches.len(), 1);
    assert!(plan(&request(layouts(0, 64, 5))).launches.is_empty());
}

#[test]
fn sums_too_long_to_pack_are_taken_as_they_are() {
    let recipe = plan(&request(layouts(512, 512, 8 << 20)));
    assert_eq!(detail(&recipe, "packed first"), "nothing");
}

/// All bytes of workspace of a recipe.
fn workspace(recipe: &Recipe) -> u64 {
    recipe.workspaces.iter().sum()
}

#[test]
fn workspaces_stay_within_the_budget() {
    // Odd sizes, which are packed, and long sums, which are split.
    for [m, n, k] in [[4095, 4095, 4095], [64, 64, 262_144], [2500, 2500, 2500]] {
        let mut r = request(layouts(m, n, k));
        let free = workspace(&plan(&r));
        assert!(free > 0 && free <= Request::WORKSPACE, "{m}x{n}x{k}: {free}");
        for budget in [free - 1, free / 2, 1000, 0] {
            r.workspace = budget;
            assert!(workspace(&plan(&r)) <= budget, "{m}x{n}x{k}: {budget}");
        }
        assert_eq!(plan(&r).launches.len(), 1, "nothing packed, nothing split");
    }
    // Packed, A and B take more than 4 GiB, and less than the matrices.
    let large = selective(SemiringId::MinPlus, DType::F32, [65_536; 3]);
    let bytes = workspace(&plan(&large));
    assert!((Request::WORKSPACE..48 << 30).contains(&bytes), "{bytes}");
    let odd = request(layouts(65_535, 65_535, 65_535));
    assert_eq!(
        detail(&plan(&odd), "packed first"),
        detail(&plan(&request(layouts(4095, 4095, 4095))), "packed first")
    );
    let asked = Request { workspace: Request::WORKSPACE, ..large };
    assert!(workspace(&plan(&asked)) <= Request::WORKSPACE);
}

#[test]
fn parts_that_are_asked_for_have_a_limit_too() {
    let mut r = request(layouts(1 << 15, 1 << 15, 1 << 15));
    r.splits = Some(1000);
    let refusal = find("simt").unwrap().recipe(&r).unwrap_err();
    assert!(refusal.found.contains("bytes of workspace"), "{refusal}");
    // The number of parts, times their size, times the batch, is beyond 64 bits.
    let mut r = request(layouts(1 << 20, 1 << 20, 1 << 20));
    (r.splits, r.batch) = (Some(65_535), Batch { count: 1 << 30, a: 0, b: 0, c: 0 });
    assert!(find("simt").unwrap().recipe(&r).is_err());
}

#[test]
fn batches_that_no_kernel_counts_are_refused() {
    let mut r = request(layouts(8, 8, 8));
    for count in [1 << 31, 1 << 40, usize::MAX] {
        r.batch.count = count;
        let refusal = find("simt").unwrap().recipe(&r).unwrap_err();
        assert!(refusal.needs.contains("a batch of at most"), "{refusal}");
    }
}

#[test]
fn copies_of_operands_that_no_memory_holds_are_refused() {
    let huge = (1 << 31) - 2048;
    for name in ["register-tile", "shared-register-tile"] {
        let refuse = |r: &Request| find(name).unwrap().recipe(r).unwrap_err();
        let refusal = refuse(&request(layouts(huge, 64, huge)));
        assert!(refusal.needs.contains("small enough to copy"), "{refusal}");
        let mut r = request(layouts(64, 64, 64));
        r.workspace = 1000;
        assert!(refuse(&r).needs.contains("1000 bytes of workspace"));
    }
}

#[test]
fn the_plain_program_of_a_variant_takes_all_layouts() {
    for variant in SIMT.variants {
        let mut programs = Vec::new();
        for [m, n, k] in [[256, 256, 256], [1, 1, 1], [35, 33, 17], [100, 2, 5000], [3, 5, 0]] {
            for b in [Layout::row_major(k, n), Layout::col_major(k, n), Layout::strided(k, n, 0, 2)] {
                for c in [Layout::row_major(m, n), Layout::col_major(m, n)] {
                    let problem = Problem::new(Layout::col_major(m, k), b, c).unwrap();
                    let r = Request { form: Form::Plain, ..Request::of(problem, *variant) };
                    let recipe = plan(&r);
                    assert!(recipe.launches.len() == 1 && recipe.workspaces.is_empty());
                    programs.push(recipe.launches[0].program.clone());
                }
            }
        }
        assert!(programs.iter().all(|program| *program == programs[0]), "{variant}");
        assert_eq!(programs[0].name, format!("simt.{variant}.plain"));
        assert!(programs[0].shipped_ptx().is_some(), "{variant}");
    }
}

#[test]
fn the_plain_program_has_a_tile_of_its_own() {
    let mut r = request(layouts(256, 256, 256));
    (r.form, r.tile) = (Form::Plain, Some(simt_tiles(F32)[0]));
    let refusal = find("simt").unwrap().recipe(&r).unwrap_err();
    assert!(refusal.found.contains("another tile is asked for"), "{refusal}");
}

fn selective(semiring: SemiringId, dtype: DType, [m, n, k]: [usize; 3]) -> Request {
    let [a, b, c] = layouts(m, n, k);
    Request::new(Problem::new(a, b, c).unwrap(), semiring, dtype)
}

/// Launches of the product, those for some data alone first.
fn products(recipe: &Recipe) -> Vec<(&str, bool)> {
    let products = recipe.launches.iter().filter(|launch| launch.role == Role::Product);
    products.map(|launch| (launch.program.name.as_str(), launch.is_for_some)).collect()
}

#[test]
fn narrower_types_stand_before_that_of_all_data_where_they_pay() {
    use SemiringId::{MaxPlus, MinPlus, PlusTimes};
    let narrows = |request: &Request| {
        let recipe = plan(request);
        let told = recipe.details.iter().any(|(name, _)| *name == "narrowing");
        let scans = recipe.launches.iter().filter(|launch| launch.role == Role::Scan).count();
        assert_eq!(scans, usize::from(told));
        let last = products(&recipe).last().map(|(_, is_for_some)| *is_for_some);
        assert_eq!(last, Some(false), "the last one is right for all data");
        products(&recipe)
            .iter()
            .filter(|(name, _)| name.contains(".close.") || name.contains(".near."))
            .count()
    };
    for (semiring, dtype, n, expected) in [
        (MinPlus, DType::F32, 4096, 1),
        (MaxPlus, DType::I32, 4096, 1),
        (MinPlus, DType::I64, 4096, 2),
        (MaxPlus, DType::F64, 4096, 2),
        // The launches in vain would cost too much of a short product.
        (MinPlus, DType::F32, 512, 0),
        (MinPlus, DType::F32, 1000, 0),
        (MinPlus, DType::I16, 4096, 0),
        (MinPlus, DType::F16, 4096, 0),
        (PlusTimes, DType::I32, 4096, 0),
    ] {
        let request = selective(semiring, dtype, [n, n, n]);
        assert_eq!(narrows(&request), expected, "{semiring} on {dtype}, {n}");
        assert_eq!(narrows(&Request { narrow: Some(false), ..request }), 0);
        assert_eq!(narrows(&Request { workspace: 1000, ..request }), 0);
        assert_eq!(narrows(&Request { form: Form::Plain, ..request }), 0);
    }
    // Without instructions that add and select, 16 bits are no gain.
    let mut request = selective(MinPlus, DType::F32, [4096; 3]);
    (request.gpu.architecture, request.narrow) = (Architecture::of(ComputeCapability::new(8, 0)), Some(true));
    assert_eq!(narrows(&request), 0);
    assert_eq!(narrows(&Request { narrow: Some(true), ..selective(MinPlus, DType::F64, [40, 1, 7]) }), 2);
    assert_eq!(narrows(&Request { narrow: Some(true), ..selective(MinPlus, DType::F64, [40, 1, 0]) }), 0);
}

#[test]
fn candidates_of_which_one_computes_share_workspaces() {
    let request = selective(SemiringId::MinPlus, DType::F64, [4096; 3]);
    let (with, without) = (plan(&request), plan(&Request { narrow: Some(false), ..request }));
    let more = workspace(&with) - workspace(&without);
    assert!(more < workspace(&without), "{more} bytes more");
}

#[test]
fn operands_of_a_batch_are_packed_once_for_all_that_share_them() {
    let mut r = selective(SemiringId::MinPlus, DType::F16, [200, 100, 300]);
    r.batch = Batch { count: 50, a: 200 * 300, b: 0, c: 200 * 100 };
    let recipe = plan(&r);
    let [packing, product, ..] = &recipe.launches[..] else { panic!("packing and product") };
    assert_eq!(detail(&recipe, "packed first"), "A and B");
    assert_eq!(detail(&recipe, "arithmetic"), "two columns a word");
    let one = |side: &str| match (argument(packing, side), argument(packing, "K")) {
        (Argument::Scalar(Scalar::I32(side)), Argument::Scalar(Scalar::I32(k))) => {
            side as u64 * (k as u64).next_multiple_of(64)
        }
        other => panic!("{other:?}"),
    };
    let (a, b) = (one("pitch_a"), one("pitch_b"));
    assert_eq!(recipe.workspaces[..2], [50 * a * 4, b * 4]);
    for (launch, [to_a, to_b]) in
        [(packing, ["packed_a_batch", "packed_b_batch"]), (product, ["a_batch", "b_batch"])]
    {
        assert_eq!(argument(launch, to_a), Argument::i64(a as i64));
        assert_eq!(argument(launch, to_b), Argument::i64(0));
    }
    assert_eq!(packing.grid(), [2 * 132, 1, 1], "blocks stay");
    r.batch = Batch { count: 50, a: 0, b: 0, c: 200 * 100 };
    let tiles = (a + b) as u32 / (64 * 64);
    assert_eq!(plan(&r).launches[0].grid(), [tiles, 1, 1], "one A and one B");
}
