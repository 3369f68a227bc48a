//! Memory of resident threads: what the process takes from the allocator, while all threads of a grid are under way.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tilewright_emulator::{BlockOrderPolicy, Launch, LaunchOptions, Machine, Program, Races};

/// Counts the bytes that are taken.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as for this function.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The requirement.
const MOST_PER_THREAD: usize = 2048;

const SIDE: usize = 256;

/// Rows and columns of a block's tile, and its terms of a step.
struct Tiling {
    name: &'static str,
    ptx: &'static str,
    entry: &'static str,
    tile: usize,
    block: [u32; 3],
    /// At least so many terms that no block comes to its end in its first turn.
    terms: &'static [usize],
}

/// A thread for each element of C, and one for 8 of them.
const KERNELS: [Tiling; 2] = [
    Tiling {
        name: "shared-tile",
        ptx: include_str!("../../tilewright-kernels/ptx/shared-tile.plus-times.f32.ptx"),
        entry: "shared_tile",
        tile: 32,
        block: [32, 32, 1],
        terms: &[1024],
    },
    Tiling {
        name: "block-tile-1d",
        ptx: include_str!("../../tilewright-kernels/ptx/block-tile-1d.plus-times.f32.ptx"),
        entry: "block_tile_1d",
        tile: 64,
        block: [512, 1, 1],
        terms: &[256, 1024, 2048],
    },
];

/// Bytes per thread while all blocks of a product are resident, and threads.
fn bytes_per_resident_thread(tiling: &Tiling, terms: usize, races: Races) -> (usize, usize) {
    let mut machine = Machine::new(Program::new(tiling.ptx).unwrap());
    let a = machine.upload(&vec![1f32; SIDE * terms]).unwrap();
    let b = machine.upload(&vec![1f32; terms * SIDE]).unwrap();
    let c = machine.allocate(4 * (SIDE * SIDE) as u64).unwrap();
    let blocks = (SIDE / tiling.tile) as u32;
    let (side, k) = (SIDE as i32, terms as i32);
    let order = BlockOrderPolicy::Cooperative;
    let options = LaunchOptions { races, order, ..LaunchOptions::default() };
    let launch = Launch::new([blocks, blocks, 1], tiling.block)
        .arg(a)
        .arg(b)
        .arg(c)
        .arg(side)
        .arg(side)
        .arg(k)
        .arg(i64::from(k))
        .arg(i64::from(side))
        .arg(i64::from(side))
        .arg(1f32)
        .arg(0f32)
        .options(options);
    let threads = blocks * blocks * tiling.block.iter().product::<u32>();
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let report = machine.launch(tiling.entry, &launch).unwrap();
    let bytes = MOST.load(Relaxed) - before;
    assert!(report.is_clean(), "{:?} {:?}", report.findings, report.error);
    assert_eq!(machine.download::<f32>(c, 1).unwrap(), [k as f32]);
    let registers = machine.program().bytes_per_thread() as usize * threads as usize;
    assert!(bytes > registers, "{} threads are not resident all at once", tiling.name);
    (bytes / threads as usize, threads as usize)
}

/// One test, since everything that the process takes is counted.
#[test]
fn a_resident_thread_takes_less_than_two_kilobytes_with_all_checks() {
    for tiling in &KERNELS {
        let mut least = usize::MAX;
        for &terms in tiling.terms {
            let (bytes, threads) = bytes_per_resident_thread(tiling, terms, Races::All);
            let (without, _) = bytes_per_resident_thread(tiling, terms, Races::Shared);
            let what = format!("{without} without the shadow of global memory");
            eprintln!("{}, k = {terms}: {bytes} bytes for each of {threads} threads, {what}", tiling.name);
            assert!(bytes < MOST_PER_THREAD, "{}, k = {terms}: {bytes} bytes per thread", tiling.name);
            // The shadow grows with the data that are touched, and takes less than they do.
            least = least.min(bytes);
            let operands = 2 * 4 * SIDE * terms / threads;
            assert!(bytes < least + operands, "{}, k = {terms}: {bytes} bytes per thread", tiling.name);
        }
    }
}
