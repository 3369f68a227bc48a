//! How much memory products take, counted by the allocator of this program.

#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod common;

use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    sync::{
        Barrier, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tilewright_core::*;
use tilewright_cpu::{Options, multiply, multiply_arg, multiply_batch};

/// The system's allocator, counting bytes.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let live = LIVE.fetch_add(memory.size(), Relaxed) + memory.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(memory) }
    }
    unsafe fn dealloc(&self, block: *mut u8, memory: Memory) {
        LIVE.fetch_sub(memory.size(), Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(block, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tests run one after another, because all of the program's memory is counted.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that `f` needs at most beyond what there was before, and how many are left when it has ended.
fn taken(f: impl FnOnce()) -> (usize, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    f();
    (PEAK.load(Relaxed) - before, LIVE.load(Relaxed).saturating_sub(before))
}

const MIB: usize = 1 << 20;

/// A pool whose threads are all busy with something else is left with a few jobs, however many products there are.
#[test]
fn a_blocked_pool_is_left_with_few_jobs() {
    let _alone = alone();
    let size = 128;
    let (a, mut c) = (vec![1i32; size * size], vec![0; size * size]);
    let mut products = |count: usize| {
        let view = common::rows(&a, size, size);
        let options = Options { threads: 4, ..Options::default() };
        for _ in 0..count {
            let to = common::rows_mut(&mut c, size, size);
            multiply::<PlusTimes<i32>>(to, view, view, &Update::Replace, &options).unwrap();
        }
    };
    let threads = rayon::current_num_threads();
    let (begun, over) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    rayon::in_place_scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| {
                begun.wait();
                over.wait();
            });
        }
        begun.wait();
        products(10);
        let (_, left) = taken(|| products(1000));
        over.wait();
        assert!(left < 10_000, "{left} bytes for products that have ended");
    });
}

/// Sums that C cannot hold, of few terms: their buffer does not grow with C.
#[test]
fn buffered_sums_are_bounded() {
    let _alone = alone();
    let (m, n) = (2048, 16_384);
    let options = Options { threads: 1, ..Options::default() };
    let (a, b) = (vec![f16::ONE; m], vec![f16::ONE; n]);
    let (a, b) = (common::rows(&a, m, 1), common::rows(&b, 1, n));
    let mut c = vec![f16::ZERO; m * n];
    let (most, _) = taken(|| {
        let to = common::rows_mut(&mut c, m, n);
        multiply::<PlusTimes<f16>>(to, a, b, &Update::Replace, &options).unwrap();
    });
    assert!(c.iter().all(|&x| x == f16::ONE));
    assert!(most < 16 * MIB, "{most} bytes for {} of C", 2 * m * n);

    let (a, b) = (vec![1i16; m], vec![1i16; n]);
    let (a, b) = (common::rows(&a, m, 1), common::rows(&b, 1, n));
    let (mut c, mut arg) = (vec![0i16; m * n], vec![7; m * n]);
    let (most, _) = taken(|| {
        let (to, arg) = (common::rows_mut(&mut c, m, n), common::rows_mut(&mut arg, m, n));
        multiply_arg::<MinPlus<i16>>(to, arg, a, b, &Update::Replace, &options).unwrap();
    });
    assert!(c.iter().all(|&x| x == 2) && arg.iter().all(|&x| x == 0));
    assert!(most < 16 * MIB, "{most} bytes for {} of C and its winners", 6 * m * n);
}

/// A batch takes memory for its elements, and for what is computed at a time.
#[test]
fn batches_take_no_memory_for_each_matrix() {
    let _alone = alone();
    let count = 1_000_000;
    for (rows, threads) in [(0, 1), (0, 4), (1, 1), (1, 4)] {
        let layout = Layout::row_major(rows, rows);
        let a = vec![1i32; rows * rows];
        let a = BatchRef::repeat(common::rows(&a, rows, rows), count);
        let mut c = vec![0; count * rows * rows];
        let mut c = BatchMut::new(&mut c, layout, count, 1).unwrap();
        let options = Options { threads, ..Options::default() };
        let (most, _) = taken(|| {
            multiply_batch::<MinPlus<i32>>(&mut c, a, a, &Update::Replace, &options).unwrap();
        });
        assert!(most < MIB, "{most} bytes for matrices of {rows} rows on {threads} threads");
    }
}

/// A small product allocates nothing, once its thread has computed another.
#[test]
fn small_products_take_no_memory() {
    fn again<S: Semiring<Elem = f32, Out = f32>>(size: usize) {
        let options = Options { threads: 1, ..Options::default() };
        let (a, mut c) = (vec![1f32; size * size], vec![0f32; size * size]);
        let view = common::rows(&a, size, size);
        let mut product = || {
            let to = common::rows_mut(&mut c, size, size);
            multiply::<S>(to, view, view, &Update::Replace, &options).unwrap();
        };
        product();
        let (most, _) = taken(product);
        assert_eq!(most, 0, "{} of {size}", S::NAME);
    }
    let _alone = alone();
    for size in [1, 8, 13, 64] {
        again::<MaxPlus<f32>>(size);
        again::<MaxTimes<f32>>(size);
        again::<MinMax<f32>>(size);
        again::<PlusTimes<f32>>(size);
        again::<LogPlus<f32>>(size);
        again::<LogPlus<f32>>(2 * size);
    }
}
