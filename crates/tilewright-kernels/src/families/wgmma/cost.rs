//! What a product costs with a tile: the model by which the family chooses, in cycles of an H200 at its highest clock.
//!
//! Blocks stay, and take tiles in turns. A step of 128 bytes of terms lasts as long as its products, or as its bytes take from the second-level cache.

use super::menu::{CONSUMERS, GROUP_M, Tile};
use crate::{
    demand::Demands,
    estimate,
    families::tensor_cores::{ROW_BYTES, Work, busiest_terms},
};
use tilewright_arch::{Instruction, Part, WARP_SIZE};

/// The part of their rate that the tensor cores keep up.
const SUSTAINED: f64 = 0.85;
/// After so many seconds of products the card is at its limit of power, and goes on at this part of its rate.
const COLD: f64 = 60e-6;
const WARM: f64 = 0.8;
/// Bytes from the second-level cache in a cycle: of a multiprocessor alone, and of one among all.
const ALONE: f64 = 54.0;
const AMONG_ALL: f64 = 45.0;
/// How many more a row of a box takes that lies across two lines of the cache.
const MISALIGNED: f64 = 1.5;
/// The part of this time in which memory waits.
const BESIDE_MEMORY: f64 = 0.22;
/// Cycles from the launch to the first product, and from the last to the end.
const AROUND: f64 = 3400.0;
/// Cycles more until the blocks of all clusters have met.
const MEETING: f64 = 3200.0;
/// Cycles in which a warp group writes its sums: at least, for two bytes of each column of 64 rows, and for a piece that it writes row by row.
const WRITE: f64 = 970.0;
const WRITE_COLUMN: f64 = 9.75;
const WRITE_BY_ROWS: f64 = 2140.0;
/// Cycles of a stage, besides instructions that add up sums, in which a warp group's tensor cores wait where sums are promoted: until its products are done, and until the next
/// are under way. From one time of an H200: 24.8 us with 64x128 in ping-pong at 2048.
const PROMOTING: f64 = 265.0;
/// Cycles by which a stage is longer for each scale that is copied into it. From two times of an H200, of a 128x192 tile at 8192 with 131 scales in each of 1344 stages: 1062 us, and
/// 900 without their copies.
const COPY_SCALE: f64 = 1.46;
/// In ping-pong one group writes while the other multiplies: the part of both together that a tile takes at least.
const IN_TURNS: f64 = 0.53;

/// Clusters that the tiles of all products take.
pub(super) fn clusters(work: &Work, tile: &Tile) -> u64 {
    let rows = work.m.div_ceil(tile.m).div_ceil(tile.cluster);
    u64::from(rows) * u64::from(work.n.div_ceil(tile.n)) * work.products as u64
}

/// Clusters that are on the GPU at a time.
pub(super) fn resident(work: &Work, tile: &Tile, parts: u32) -> u64 {
    let most = u64::from(work.gpu.multiprocessors / tile.cluster);
    (clusters(work, tile) * u64::from(parts)).min(most).max(1)
}

/// Rows of a box of A: a tile's, or fewer where A has fewer, since rows outside the tensor take time as well.
pub(super) fn box_rows(work: &Work, tile: &Tile) -> u32 {
    tile.m.min(work.m.next_multiple_of(8))
}

/// What the launch that multiplies asks of a multiprocessor: a tile is multiplied whole, also at the edges of C.
pub(super) fn demand(work: &Work, tile: &Tile, parts: u32, demands: &mut Demands) {
    let Tile { m, n, cluster, .. } = *tile;
    let at_a_time = u64::from(work.gpu.multiprocessors / cluster);
    let terms = busiest_terms(work, (clusters(work, tile), parts), work.element.terms(), at_a_time);
    let steps = terms / f64::from(work.element.terms());
    let [sums, lines] = [m * n, m / GROUP_M * (GROUP_M + n)].map(f64::from);
    let costs = *demands.costs();
    demands.at_least(Part::Tensor, terms * sums * work.element.at_peak(&costs));
    // Each instruction reads its 64 rows of A and all columns of B, 128 bytes of each in a step.
    demands.at_least(Part::L1Data, steps * lines * costs.wavefront);
    let adding = f64::from(work.adds_up()) * costs.instruction(Instruction::F32);
    demands.at_least(Part::Fma, steps * sums / f64::from(WARP_SIZE) * adding);
    demands.taken(work.taken(work.n.div_ceil(n), work.m.div_ceil(m).div_ceil(cluster)));
}

/// Seconds of the launch that multiplies.
pub(super) fn seconds(work: &Work, tile: &Tile, parts: u32) -> f64 {
    let resident = resident(work, tile, parts);
    let turns = (clusters(work, tile) * u64::from(parts)).div_ceil(resident) as f64;
    let busy = resident as f64 * f64::from(tile.cluster) / f64::from(work.gpu.multiprocessors);
    let taken = work.aligned.map(|aligned| if aligned { 1.0 } else { MISALIGNED });
    let [whole_a, b] = [0, 1].map(|i| taken[i] * f64::from(tile.stage_bytes()[i]));
    let a = whole_a * f64::from(box_rows(work, tile)) / f64::from(tile.m);
    let bytes = a + b / f64::from(tile.cluster);
    let terms = work.element.terms();
    let steps = f64::from(work.k.div_ceil(terms * parts));
    let multiplying = f64::from(tile.m * tile.n * terms) / work.element.rate(&work.gpu) / SUSTAINED;
    let reading = bytes / (AMONG_ALL / busy).min(ALONE);
    let scales = COPY_SCALE * f64::from(tile.scales(work.scaling.place()));
    let products = steps * (multiplying.max(promoting(work, tile, multiplying)).max(reading) + scales);
    let writing = writing(work, tile);
    let busy_cycles = match tile.ping_pong {
        true => turns * products.max(IN_TURNS * (products + writing)) + writing,
        false => turns * (products + writing),
    };
    let meeting = if tile.cluster > 1 { MEETING } else { 0.0 };
    let around = work.gpu.relative_clock() * (AROUND + meeting);
    let at_first = estimate::seconds(&work.gpu, busy_cycles + around);
    let computing = at_first + (at_first - COLD).max(0.0) * (1.0 / WARM - 1.0);
    let read = estimate::seconds(&work.gpu, turns * steps * reading);
    computing.max(work.moving() + BESIDE_MEMORY * read)
}

/// Cycles of a step where sums are promoted; 0 where they stay in the tensor cores. A warp of each group has a quarter of the multiprocessor, which issues one of its instructions
/// in a cycle: the `FADD`s or `FFMA`s of a stage are as many as its threads have sums. Groups that share a tile multiply in turns meanwhile; in ping-pong the tensor cores wait.
fn promoting(work: &Work, tile: &Tile, multiplying: f64) -> f64 {
    let adding = work.promoting() * f64::from(tile.sums());
    match adding {
        0.0 => 0.0,
        _ if tile.ping_pong => multiplying + adding + PROMOTING,
        _ => multiplying / f64::from(CONSUMERS) + adding + PROMOTING,
    }
}

/// Cycles in which a warp group writes its part of a tile.
fn writing(work: &Work, tile: &Tile) -> f64 {
    let columns = f64::from(tile.n * tile.waves() * work.result / 2);
    let of_a_piece = ROW_BYTES / work.result;
    let by_rows = match work.boxes {
        Some(_) => u32::from(!tile.n.is_multiple_of(of_a_piece)),
        None => tile.n.div_ceil(of_a_piece),
    };
    WRITE + WRITE_COLUMN * columns + WRITE_BY_ROWS * f64::from(by_rows * tile.waves())
}
