//! How many questions the pure functions answer per second on one core, without allocating.
//!
//! Run with `cargo run --release -p tilewright-arch --example throughput`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tilewright_arch::memory::{LaneAddresses, global, shared};
use tilewright_arch::{KernelResources, LaunchConfig, Limits, Occupancy};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` is from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn measure(what: &str, queries: u32, mut query: impl FnMut(u32) -> u32) {
    let allocations = ALLOCATIONS.load(Ordering::Relaxed);
    let start = Instant::now();
    let sum = (0..queries).fold(0u32, |sum, index| sum.wrapping_add(query(black_box(index))));
    let seconds = start.elapsed().as_secs_f64();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let (rate, time) = (f64::from(queries) / seconds / 1e6, seconds / f64::from(queries) * 1e9);
    println!("{what:<42} {rate:>7.1} M/s {time:>7.1} ns each, {allocations} allocations (sum {sum})");
}

fn main() {
    const QUERIES: u32 = 5_000_000;

    measure("occupancy, every capability", QUERIES, |index| {
        let limits = &Limits::ALL[index as usize % Limits::ALL.len()];
        let kernel = KernelResources {
            registers_per_thread: 16 + index % 200,
            static_shared_memory: index % 49_152,
            ..KernelResources::default()
        };
        let occupancy = Occupancy::of(limits, &kernel, &LaunchConfig::threads(1 + index % 1024));
        occupancy.map_or(0, |occupancy| occupancy.blocks_per_sm)
    });

    let stride =
        |bytes: u64| -> LaneAddresses { std::array::from_fn(|lane| 0x7f00_0000 + bytes * lane as u64) };
    let scattered: LaneAddresses = std::array::from_fn(|lane| 0x7f00_0000 + 4 * (lane as u64 * 7919 % 4096));
    let tile: LaneAddresses = std::array::from_fn(|lane| 4 * (lane as u64 % 8) + 512 * (lane as u64 / 8));
    for (pattern, addresses) in [
        ("unit stride", stride(4)),
        ("broadcast", stride(0)),
        ("stride of 32 words", stride(128)),
        ("8 x 4 tile", tile),
        ("scattered", scattered),
    ] {
        let addresses = black_box(addresses);
        measure(&format!("sectors, {pattern}"), QUERIES, |_| global::sectors(&addresses, u32::MAX, 4));
        measure(&format!("shared load, {pattern}"), QUERIES, |_| {
            shared::load(&addresses, u32::MAX, 4).wavefronts
        });
    }
    let vectors = black_box(stride(16));
    measure("shared load of 16 bytes, unit stride", QUERIES, |_| {
        shared::load(&vectors, u32::MAX, 16).wavefronts
    });
}
