//! Every program of the catalogue, for tests, for shipping and for warming caches.

use crate::{
    catalogue::kernels,
    families::{
        closure,
        dmma::{DMMA, dmma_tiles},
        mma::{MMA, mma_tiles},
        simt::simt_tiles,
        trees,
        wgmma::{WGMMA, wgmma_tiles},
    },
    kernel::{
        Family, Kernel,
        launch::{Launch, Role},
    },
    request::{Form, Request},
    variant::Variant,
};
use tilewright_arch::Gpu;
use tilewright_core::{DType, Granularity, Layout, Math, Problem, Scales, SemiringId};

/// [`programs_for`] the default GPU.
pub fn programs() -> Vec<Launch> {
    programs_for(Gpu::default())
}

/// One launch of every program that differs from the others by more than the direction of a comparison or the conversion of elements,
/// each program once: those of [`shipped_programs`], and every tile of `simt` in the variants that stand for all.
pub fn programs_for(gpu: Gpu) -> Vec<Launch> {
    let mut all = shipped_programs();
    for kernel in kernels().iter().filter(|k| k.family == Family::Production) {
        for &variant in kernel.variants {
            if variant.narrows_for_others() {
                let narrow = |r: &mut Request| (r.gpu, r.narrow) = (gpu, Some(true));
                extend(&mut all, product(kernel, variant, [256; 3], narrow));
            }
            // One row and one column of tiles: the long operand lies along the terms, and across.
            for size in THIN.into_iter().filter(|_| variant.stands_for_others()) {
                extend(&mut all, product(kernel, variant, size, |r| r.gpu = gpu));
            }
            for tile in simt_tiles(variant) {
                // Packed operands are computed in the words that suit the GPU.
                let packed =
                    |r: &mut Request| (r.gpu, r.tile, r.pack) = (gpu, Some(tile), Some([true, true]));
                let launches = product(kernel, variant, [256; 3], packed);
                if variant.has_words_for_others() {
                    extend(
                        &mut all,
                        launches.into_iter().filter(|launch| launch.role != Role::Join).collect(),
                    );
                }
                if !variant.stands_for_others() {
                    continue;
                }
                // With whole tiles, and with edges.
                for size in [[256; 3], [35, 33, 17]] {
                    let ask = |r: &mut Request| (r.gpu, r.tile) = (gpu, Some(tile));
                    extend(&mut all, product(kernel, variant, size, ask));
                }
            }
        }
    }
    extend(&mut all, tensor_core_programs(gpu));
    extend(&mut all, f64_tensor_core_programs(gpu));
    all
}

/// Every tile of `dmma`, all orders of operands, and a product that needs copies, parts, and a C that is written element by element.
fn f64_tensor_core_programs(gpu: Gpu) -> Vec<Launch> {
    let f64 = Variant::new(SemiringId::PlusTimes, DType::F64);
    let side = Layout::row_major(256, 256);
    let mut all = Vec::new();
    for (i, tile) in dmma_tiles().into_iter().enumerate() {
        let ask = |r: &mut Request| (r.gpu, r.tile, r.splits) = (gpu, Some(tile), Some(1));
        extend(&mut all, product(&DMMA, f64, [256; 3], ask));
        if i > 0 {
            continue;
        }
        // The largest stands for all.
        for (a, b) in [(side, side.t()), (side.t(), side), (side.t(), side.t())] {
            let ask = |r: &mut Request| {
                ask(r);
                r.problem = Problem::new(a, b, side).unwrap_or(r.problem);
            };
            extend(&mut all, product(&DMMA, f64, [256; 3], ask));
        }
        let parts = |r: &mut Request| (r.gpu, r.tile, r.splits) = (gpu, Some(tile), Some(2));
        extend(&mut all, product(&DMMA, f64, [35, 33, 97], parts));
    }
    all
}

/// Scales of A and of B: on complete sums, and on blocks of terms with one for 128 columns and with one for each.
const SCALED: [(Granularity, Granularity); 3] = [
    (Granularity::Row, Granularity::Row),
    (Granularity::RowBlock, Granularity::Block),
    (Granularity::RowBlock, Granularity::RowBlock),
];

/// What is asked for, with scales.
fn scaled(ask: impl Fn(&mut Request), of_a: Granularity, of_b: Granularity) -> impl Fn(&mut Request) {
    move |r: &mut Request| {
        ask(r);
        let (m, n, k) = (r.problem.m(), r.problem.n(), r.problem.k());
        let layout = |[rows, cols]: [usize; 2]| Layout::row_major(rows, cols);
        r.scales = Scales { a: Some(layout(of_a.shape(m, k))), b: Some(layout(of_b.shape(n, k)).t()) };
    }
}

/// Every tile of `mma` on f16 and of `wgmma` on bf16, all orders of operands, the other types, and a product that needs copies and a C that is written row by row.
fn tensor_core_programs(gpu: Gpu) -> Vec<Launch> {
    let [f16, bf16, i8, u8, f32] = [DType::F16, DType::Bf16, DType::I8, DType::U8, DType::F32]
        .map(|dtype| Variant::new(SemiringId::PlusTimes, dtype));
    let e4m3 = Variant::new(SemiringId::PlusTimes, DType::E4m3);
    let float8 = [e4m3, Variant { dtype: DType::E5m2, ..e4m3 }]
        .into_iter()
        .flat_map(|v| [v, v.giving(DType::F16), v.giving(DType::Bf16)]);
    let sums = [f16, bf16].map(|variant| variant.giving(DType::F32));
    let side = Layout::row_major(256, 256);
    let mut all = Vec::new();
    for (i, tile) in mma_tiles().into_iter().enumerate() {
        // One tile stands for all types, and one for all orders of operands.
        let others =
            [f16, bf16, i8, u8, f32, sums[0], sums[1]].into_iter().filter(|&one| i == 0 || one == f16);
        for variant in others.chain(float8.clone().filter(|_| i == 1)) {
            let ask = |r: &mut Request| (r.gpu, r.tile, r.math) = (gpu, Some(tile), Math::Tf32);
            extend(&mut all, product(&MMA, variant, [256; 3], ask));
        }
        for (of_a, of_b) in SCALED.into_iter().filter(|_| i == 1) {
            let ask = |r: &mut Request| (r.gpu, r.tile) = (gpu, Some(tile));
            extend(&mut all, product(&MMA, e4m3, [256; 3], scaled(ask, of_a, of_b)));
        }
        for (a, b) in [(side, side.t()), (side.t(), side)].into_iter().filter(|_| i == 1) {
            let ask = |r: &mut Request| {
                (r.gpu, r.tile, r.splits) = (gpu, Some(tile), Some(2));
                r.problem = Problem::new(a, b, side).unwrap_or(r.problem);
            };
            extend(&mut all, product(&MMA, f16, [256; 3], ask));
        }
    }
    let tiles = wgmma_tiles().len();
    for (i, tile) in wgmma_tiles().into_iter().enumerate() {
        let ask = |r: &mut Request| (r.gpu, r.tile) = (gpu, Some(tile));
        extend(&mut all, product(&WGMMA, bf16, [256; 3], ask));
        // They take B by columns alone. Tiles with too many sums for a second set of registers refuse; the smallest of the others stands for all types.
        for variant in float8.clone().filter(|&one| i + 1 == tiles || one == e4m3) {
            let by_columns = |r: &mut Request| {
                ask(r);
                r.problem = Problem::new(side, side.t(), side).unwrap_or(r.problem);
            };
            extend(&mut all, product(&WGMMA, variant, [256; 3], by_columns));
        }
        for (of_a, of_b) in SCALED {
            extend(&mut all, product(&WGMMA, e4m3, [256; 3], scaled(ask, of_a, of_b)));
        }
        // Two schedules and clusters stand for all.
        for (a, b) in [(side, side.t()), (side.t(), side), (side.t(), side.t())].into_iter().filter(|_| i < 2)
        {
            let ask = |r: &mut Request| {
                ask(r);
                r.problem = Problem::new(a, b, side).unwrap_or(r.problem);
            };
            extend(&mut all, product(&WGMMA, bf16, [256; 3], ask));
        }
        if i < 2 {
            extend(&mut all, product(&WGMMA, f16, [256; 3], ask));
            extend(&mut all, product(&WGMMA, bf16, [35, 33, 17], ask));
            extend(&mut all, product(&WGMMA, sums[0], [256; 3], ask));
            extend(&mut all, product(&WGMMA, sums[1], [35, 33, 17], ask));
            // These take B by columns alone, and copy it.
            for variant in [i8, u8, f32] {
                let ask = |r: &mut Request| {
                    ask(r);
                    r.math = Math::Tf32;
                };
                extend(&mut all, product(&WGMMA, variant, [256; 3], ask));
            }
        }
    }
    all
}

/// Sizes for which `simt` has a program for few columns or rows on every GPU.
const THIN: [[usize; 3]; 2] = [[1 << 20, 16, 16], [16, 1 << 20, 20]];

/// Settings of exhibits that `docs/course` compares with the defaults: kernel, parameter, value.
const SETTINGS: [(&str, &str, u32); 8] = [
    ("copy-offset", "offset", 8),
    ("copy-strided", "stride", 8),
    ("pitched-rows", "pitch", 33),
    ("shared-stride", "stride", 32),
    ("shared-stride", "stride", 33),
    ("local-array", "slots", 4),
    ("atomics-global", "bins", 1),
    ("atomics-shared", "bins", 1),
];

/// One launch of every program whose PTX comes with the catalogue, for machines without a compiler: [`readable_programs`] and
/// [`archived_programs`].
pub fn shipped_programs() -> Vec<Launch> {
    let mut all = readable_programs();
    extend(&mut all, archived_programs());
    all
}

/// The programs of ladder and gallery whose PTX is there to be read, in the folder `ptx`: each kernel's first variant. Exhibits appear
/// with their parameters' defaults and with a few other values.
pub fn readable_programs() -> Vec<Launch> {
    let mut all = Vec::new();
    for kernel in kernels() {
        if kernel.exhibit().is_some() {
            let others = SETTINGS.iter().filter(|(name, ..)| *name == kernel.name);
            let others = others.map(|&(_, parameter, value)| vec![(parameter, value)]);
            for chosen in [Vec::new()].into_iter().chain(others) {
                extend(&mut all, kernel.show(&chosen).map(|s| s.recipe.launches).unwrap_or_default());
            }
        }
        let launches = ladder(kernel, kernel.variants[0]);
        // What copies operands for them is no step of the ladder.
        extend(&mut all, launches.into_iter().filter(|launch| launch.role == Role::Product).collect());
    }
    all
}

/// The programs whose PTX is compressed, in the crate `tilewright-ptx`: all others of the ladder, the plain ones of every variant of the
/// production kernels, with workspaces and without, and those that close blocks of best paths and find their stops.
pub fn archived_programs() -> Vec<Launch> {
    let mut all = Vec::new();
    for kernel in kernels() {
        for &variant in kernel.variants {
            extend(&mut all, ladder(kernel, variant));
            if kernel.family == Family::Production {
                extend(&mut all, product(kernel, variant, [256; 3], |r| r.form = Form::Plain));
                extend(
                    &mut all,
                    product(kernel, variant, [256; 3], |r| (r.form, r.workspace) = (Form::Plain, 0)),
                );
            }
        }
    }
    extend(&mut all, closure::launches());
    extend(&mut all, trees::launches());
    let readable = readable_programs();
    all.retain(|launch| readable.iter().all(|other| other.program != launch.program));
    all
}

/// The launches of a step of the ladder; none for other kernels.
fn ladder(kernel: &'static Kernel, variant: Variant) -> Vec<Launch> {
    // Multiples of every tile, and sizes for kernels of one block.
    let sizes = [[256; 3], [16; 3]].into_iter().filter(|_| kernel.family == Family::Ladder);
    sizes.flat_map(|size| product(kernel, variant, size, |_| ())).collect()
}

/// The launches for a row-major product; none where the kernel refuses it.
fn product(
    kernel: &'static Kernel,
    variant: Variant,
    [m, n, k]: [usize; 3],
    ask: impl FnOnce(&mut Request),
) -> Vec<Launch> {
    let (a, b, c) = (Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
    let Ok(problem) = Problem::new(a, b, c) else { return Vec::new() };
    let mut request = Request::of(problem, variant);
    ask(&mut request);
    kernel.recipe(&request).map(|r| r.launches).unwrap_or_default()
}

fn extend(all: &mut Vec<Launch>, launches: Vec<Launch>) {
    for launch in launches {
        if all.iter().all(|other| other.program != launch.program) {
            all.push(launch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;
    use std::collections::HashSet;

    #[test]
    fn every_kernel_and_variant_has_a_program_with_a_name_of_its_own() {
        let all = programs();
        let names: HashSet<_> = all.iter().map(|l| l.program.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for kernel in kernels() {
            for variant in kernel.variants {
                let (stem, variant) = (kernel.entry().replace('_', "-"), variant.to_string());
                assert!(
                    names.iter().any(|n| n.starts_with(&stem) && n.contains(&variant)),
                    "{stem} {variant}"
                );
            }
        }
    }

    #[test]
    fn products_of_few_columns_or_rows_have_a_program() {
        let names: Vec<_> = programs().into_iter().map(|launch| launch.program.name).collect();
        for variant in Variant::ALL.iter().filter(|variant| variant.stands_for_others()) {
            for suffix in ["16x16.11", "16x32.00"] {
                assert!(names.contains(&format!("thin.{variant}.{suffix}")), "{variant} {suffix}");
            }
        }
    }

    #[test]
    fn the_settings_of_the_course_are_shipped() {
        for (name, parameter, value) in SETTINGS {
            let showing = crate::find(name).expect("a kernel").show(&[(parameter, value)]).expect("accepted");
            let program = &showing.recipe.launches[0].program;
            assert_eq!(program.name, format!("{name}.plus-times.f32.{parameter}-{value}"));
            assert!(program.shipped_ptx().is_some(), "{}", program.name);
        }
    }

    #[test]
    fn shipped_ptx_is_that_of_the_sources() {
        for launch in shipped_programs() {
            let program = &launch.program;
            assert!(
                program.shipped_ptx().is_some(),
                "{} has no PTX, or an old one: see CONTRIBUTING.md",
                program.name
            );
        }
    }

    #[test]
    fn every_variant_of_ladder_and_production_comes_with_ptx_of_every_launch() {
        // What not every GPU executes is no PTX for all.
        let is_of_some = |kernel: &Kernel| ["wgmma", "mma", "dmma"].contains(&kernel.name);
        let is_for_all = |kernel: &&Kernel| kernel.exhibit().is_none() && !is_of_some(kernel);
        let multiply = kernels().iter().filter(is_for_all);
        for (kernel, &variant) in multiply.flat_map(|kernel| kernel.variants.iter().map(move |v| (kernel, v)))
        {
            let launches =
                [[256; 3], [16; 3]].map(|size| product(kernel, variant, size, |r| r.form = Form::Plain));
            assert!(launches.iter().any(|launches| !launches.is_empty()), "{} {variant}", kernel.name);
            for launch in launches.iter().flatten() {
                assert!(launch.program.shipped_ptx().is_some(), "{} {variant}", launch.program.name);
            }
        }
    }

    #[test]
    fn readable_ptx_is_short() {
        let programs = readable_programs();
        let ptx = programs.iter().filter_map(|launch| launch.program.shipped_ptx());
        assert!(ptx.map(|ptx| ptx.lines().count()).sum::<usize>() < 15_000);
    }

    #[test]
    fn shipped_ptx_states_the_lowest_version_that_suffices() {
        for launch in shipped_programs() {
            let program = &launch.program;
            let ptx = program.shipped_ptx().expect("shipped");
            let line = |start| ptx.lines().find_map(|line| line.strip_prefix(start)).expect("a directive");
            assert_eq!(line(".version "), Program::SHIPPED_PTX_VERSION, "{}", program.name);
            let target = line(".target ").split(',').next().and_then(|target| target.parse().ok());
            assert_eq!(target, Some(Program::SHIPPED_ARCHITECTURE), "{}", program.name);
        }
    }

    #[test]
    fn arguments_have_the_types_of_the_parameters() {
        use crate::{argument::Argument as V, scalar::Scalar};
        for launch in shipped_programs() {
            let ptx = launch.program.shipped_ptx().expect("shipped");
            // Those of its entry; a program may have several.
            let entry = ptx.split(&format!(".entry {}(", launch.entry)).nth(1).expect("its entry");
            let list = entry.split(')').next().expect("a parameter list");
            let parameters: Vec<_> =
                list.lines().filter_map(|l| l.trim().strip_prefix(".param .")?.split(' ').next()).collect();
            let arguments: Vec<_> = launch
                .arguments
                .iter()
                .map(|a| match a.value {
                    V::Pointer(_) | V::Texture(_) | V::Scalar(Scalar::I64(_)) => "u64",
                    V::Scalar(Scalar::I32(_)) => "u32",
                    V::Scalar(Scalar::F32(_)) => "f32",
                    V::Scalar(Scalar::F64(_)) => "f64",
                    V::Bytes { .. } | V::TensorMap(_) | V::Tensor(_) => "align",
                })
                .collect();
            assert_eq!(parameters, arguments, "{}", launch.program.name);
        }
    }

    #[test]
    fn sources_name_their_entries_and_parameters() {
        for launch in programs() {
            let source = launch.program.source;
            let at = source.find(&format!("{}(", launch.entry)).expect("the entry is in the file");
            let list = &source[at..at + source[at..].find(')').expect("a parameter list")];
            let list = &list[list.find('(').expect("checked") + 1..];
            let names: Vec<_> =
                list.split(',').filter_map(|p| p.split([' ', '*', '\n']).next_back()).collect();
            let given: Vec<_> = launch.arguments.iter().map(|a| a.name).collect();
            assert_eq!(names, given, "{}", launch.program.name);
        }
    }
}
