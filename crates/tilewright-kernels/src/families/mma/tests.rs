//! What the recipes say, without a GPU.

use super::*;
use crate::{catalogue::find, kernel::launch::Recipe, refusal::Refusal};
use tilewright_arch::Gpu;
use tilewright_core::{Layout, Math, Problem, SemiringId};

fn ask(gpu: &str, dtype: DType, n: usize) -> Result<Recipe, Refusal> {
    let l = Layout::row_major(n, n);
    let request = Request::new(Problem::new(l, l, l).unwrap(), SemiringId::PlusTimes, dtype);
    let gpu = Gpu::named(gpu).unwrap();
    find("mma").unwrap().recipe(&Request { gpu, math: Math::Tf32, ..request })
}

#[test]
fn every_gpu_since_turing_has_a_tile_that_fits() {
    for gpu in ["t4", "a100", "a6000", "rtx-4090", "h100", "rtx-5090"] {
        for dtype in [DType::F16, DType::I8, DType::U8, DType::Bf16, DType::F32] {
            let recipe = match ask(gpu, dtype, 4096) {
                Ok(recipe) => recipe,
                Err(refusal) => {
                    assert!(gpu == "t4" && refusal.needs.contains("8.0"), "{gpu} {dtype}: {refusal:?}");
                    continue;
                }
            };
            let launch = recipe.launches().last().unwrap();
            let limits = Gpu::named(gpu).unwrap();
            let blocks =
                limits.resident_blocks(launch.block()[0], 128, launch.dynamic_shared_memory()).unwrap_or(0);
            assert!(blocks > 0, "{gpu} {dtype}: {:?}", recipe.details());
            assert!(recipe.details()[0].1.starts_with("128x"), "{gpu} {dtype}: {:?}", recipe.details());
        }
    }
}

#[test]
fn small_products_take_small_tiles() {
    let recipe = ask("a6000", DType::F16, 256).unwrap();
    assert!(recipe.details()[0].1.starts_with("64x64"), "{:?}", recipe.details());
}

/// The pitch is in bytes, and what lies across by terms is turned but with 16 bits.
#[test]
fn operands_are_passed_as_lines() {
    let value = |recipe: &Recipe, name: &str| {
        let launch = recipe.launches().last().unwrap();
        launch.arguments().iter().find(|argument| argument.name == name).unwrap().value.clone()
    };
    let half = ask("a6000", DType::F16, 512).unwrap();
    assert_eq!((half.launches().len(), value(&half, "a_pitch")), (1, Argument::i64(1024)));
    assert!(half.launches()[0].program().name().ends_with(".k.mn"));
    let bytes = ask("a6000", DType::I8, 512).unwrap();
    assert_eq!((bytes.launches().len(), value(&bytes, "b_pitch")), (2, Argument::i64(512)));
    assert!(bytes.launches()[1].program().name().ends_with(".k.k"));
}
