//! The short way through the shadows finds what the long way finds.

use proptest::prelude::*;

use super::{
    Access, Actor, BlockOrder, GlobalAccess, GlobalShadow, GlobalView, Known, Mode, Order, Present,
    SharedShadow, Strength,
};
use crate::memory::Footprint;

/// Granules of the memory.
const SIZE: usize = 96;

/// One warp's access to words, or a synchronisation before it.
#[derive(Clone, Debug)]
struct Step {
    barrier: bool,
    warp_barrier: bool,
    block: u32,
    warp: u32,
    pc: u32,
    mode: Mode,
    strength: Strength,
    words: [u32; 32],
    /// Words of a lane.
    width: u32,
    mask: u32,
}

fn words() -> impl Strategy<Value = [u32; 32]> {
    let regular = (0..4u32, 0..40u32, prop_oneof![Just(32u32), Just(16), Just(1), Just(5)]);
    let regular = regular.prop_map(|(stride, base, period)| {
        std::array::from_fn(|lane| (base + stride * (lane as u32 % period)) % SIZE as u32)
    });
    prop_oneof![3 => regular, 1 => proptest::array::uniform32(0..SIZE as u32)]
}

fn step() -> impl Strategy<Value = Step> {
    let times = (proptest::bool::weighted(0.3), proptest::bool::weighted(0.1));
    let who = (0..2u32, 0..3u32, 0..3u32);
    let mode = prop_oneof![
        5 => Just((Mode::Read, Strength::Plain)),
        3 => Just((Mode::Write, Strength::Plain)),
        1 => Just((Mode::Update, Strength::Atomic)),
    ];
    let mask = prop_oneof![Just(u32::MAX), Just(0xffff), any::<u32>().prop_map(|mask| mask | 1)];
    (times, who, mode, words(), 0..2u32, mask).prop_map(
        |((barrier, warp_barrier), (block, warp, pc), (mode, strength), words, shift, mask)| {
            let width = 1 << shift;
            let words = words.map(|word| word / width * width);
            Step { barrier, warp_barrier, block, warp, pc, mode, strength, words, width, mask }
        },
    )
}

/// The step's first address, its footprint, and its offsets as the machine passes them.
fn shape(step: &Step) -> (u32, Footprint, [u32; 32]) {
    let first = 4 * step.words[step.mask.trailing_zeros() as usize];
    let active = |lane: usize| step.mask >> lane & 1 == 1;
    let offsets = std::array::from_fn(|lane| if active(lane) { 4 * step.words[lane] } else { first });
    let relative = offsets.map(|offset| u64::from(offset).wrapping_sub(first.into()));
    (first, Footprint::new(&relative, step.mask, 4 * step.width, 2), offsets)
}

fn synchronise(step: &Step, order: &mut Order) {
    if step.barrier {
        order.all();
    }
    if step.warp_barrier {
        order.whole_warp(step.warp);
    }
}

proptest! {
    #[test]
    fn of_shared_memory(steps in proptest::collection::vec(step(), 1..40)) {
        let mut order = Order::new(3);
        let [mut short, mut long] = [(); 2].map(|()| SharedShadow::new(4 * SIZE as u32, 2));
        for step in &steps {
            synchronise(step, &mut order);
            let (first, footprint, offsets) = shape(step);
            let actor = Actor { warp: step.warp, pc: step.pc, strength: step.strength };
            let bytes = 4 * step.width;
            let access = Access { actor, mode: step.mode, offsets: &offsets, bytes, mask: step.mask };
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            let plain = step.mode != Mode::Update;
            if !(plain && short.is_quiet(&order, actor, step.mode, &footprint, first)) {
                short.access(&order, &access, &mut |lane, conflict| found.push((lane, conflict)));
            }
            long.access(&order, &access, &mut |lane, conflict| expected.push((lane, conflict)));
            prop_assert_eq!(found, expected, "{:?}", step);
        }
    }

    #[test]
    fn of_global_memory(steps in proptest::collection::vec(step(), 1..40)) {
        let mut orders = [Order::new(3), Order::new(3)];
        let (known, blocks) = (Known::default(), BlockOrder::default());
        let shadows = [1, 2].map(|workers| {
            let budget = std::sync::Arc::new(crate::memory::Budget::new(u64::MAX, 0));
            GlobalShadow::new([0, 4 * SIZE as u64].into_iter(), 2, workers, budget)
        });
        let [mut short, mut long] = shadows.each_ref().map(GlobalShadow::view);
        for step in &steps {
            let order = &mut orders[step.block as usize];
            synchronise(step, order);
            let (first, footprint, offsets) = shape(step);
            let offsets = offsets.map(u64::from);
            let actor = Actor { warp: step.warp, pc: step.pc, strength: step.strength };
            let present = Present { block: step.block, order, known: &known, blocks: &blocks };
            let access = GlobalAccess { present, actor, mode: step.mode, region: 1 };
            let look = |shadow: &mut GlobalView<'_>| {
                let mut found = Vec::new();
                let bytes = 4 * step.width;
                shadow.access(access, &offsets, bytes, step.mask, &mut |lane, conflict| {
                    found.push((lane, format!("{conflict:?}")));
                });
                found
            };
            let plain = step.mode != Mode::Update;
            let quiet = plain && short.is_quiet(access, &footprint, first.into());
            let found = if quiet { Vec::new() } else { look(&mut short) };
            prop_assert_eq!(found, look(&mut long), "{:?}", step);
        }
    }
}
