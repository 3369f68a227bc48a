//! A user's semiring that panics, with something that panics once more when it is dropped, takes its product down and nothing
//! else: no thread uses operands that the caller has taken back.

use crate::common;
use std::{
    mem::forget,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use tilewright_core::*;
use tilewright_cpu::{Options, multiply, multiply_arg, multiply_batch};

/// What panics once more when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Threads that are computing terms now.
static COMPUTING: AtomicUsize = AtomicUsize::new(0);

/// Max-plus without the numbers that are zero: a term with one panics.
#[derive(Clone, Copy)]
struct Fragile;

impl Semiring for Fragile {
    type Elem = u32;
    type Acc = u32;
    type Out = u32;
    const NAME: &'static str = "fragile";
    const ZERO: u32 = 0;
    const ONE: u32 = 1;
    fn add(x: u32, y: u32) -> u32 {
        x.max(y)
    }
    fn mul_add(acc: u32, a: u32, b: u32) -> u32 {
        COMPUTING.fetch_add(1, SeqCst);
        let zero = a == 0 || b == 0;
        COMPUTING.fetch_sub(1, SeqCst);
        if zero {
            resume_unwind(Box::new(Bomb));
        }
        acc.max(a.wrapping_mul(b))
    }
    fn finish(acc: u32) -> u32 {
        acc
    }
    fn resume(out: u32) -> u32 {
        out
    }
    fn laws() -> Laws {
        Laws::SELECTIVE
    }
}

/// A bomb reaches the caller of `f`, and then nobody computes any more.
fn fails(f: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("a term panics");
    let computing = COMPUTING.load(SeqCst);
    let is_bomb = panic.is::<Bomb>();
    forget(panic);
    assert!(is_bomb);
    assert_eq!(computing, 0, "a thread computes for a caller that has left");
}

/// One after another, because they share a counter.
#[test]
fn panics_reach_the_caller_when_all_have_stopped() {
    panics_of_a_semiring();
    panics_of_a_callback();
}

fn panics_of_a_semiring() {
    let (m, n, k) = (160, 130, 140);
    let options = Options { threads: 4, ..Options::default() };
    // Every row of C has a term that panics; the last one of all does, or the first.
    for zero in [0, k - 1, k / 2] {
        let ones = vec![1; k * n];
        let mut a = vec![3; m * k];
        a.chunks_mut(k).for_each(|row| row[zero] = 0);
        let (a, b) = (common::rows(&a, m, k), common::rows(&ones, k, n));
        let replace = Update::<Fragile>::Replace;
        let (mut c, mut arg) = (vec![0; m * n], vec![0; m * n]);
        fails(|| _ = multiply(common::rows_mut(&mut c, m, n), a, b, &replace, &options));
        fails(|| {
            let (c, arg) = (common::rows_mut(&mut c, m, n), common::rows_mut(&mut arg, m, n));
            _ = multiply_arg(c, arg, a, b, &replace, &options);
        });
        // Few large products, and many small ones.
        fails(|| {
            let mut c = BatchMut::new(&mut c, Layout::row_major(m, n), 1, 0).unwrap();
            let (a, b) = (BatchRef::repeat(a, 1), BatchRef::repeat(b, 1));
            _ = multiply_batch(&mut c, a, b, &replace, &options);
        });
        let (count, size) = (500, 20);
        let mut c = vec![0; count * size * size];
        fails(|| {
            let small = Layout::row_major(size, size);
            let mut c = BatchMut::new(&mut c, small, count, (size * size) as isize).unwrap();
            let (a, b) = (vec![0; size * size], vec![1; size * size]);
            let [a, b] = [&a, &b].map(|x| BatchRef::repeat(common::rows(x, size, size), count));
            _ = multiply_batch(&mut c, a, b, &replace, &options);
        });
    }
    // The same threads go on.
    let (a, b) = (vec![2; m * k], vec![3; k * n]);
    let mut c = vec![0; m * n];
    let (a, b) = (common::rows(&a, m, k), common::rows(&b, k, n));
    multiply(common::rows_mut(&mut c, m, n), a, b, &Update::<Fragile>::Replace, &options).unwrap();
    assert!(c.iter().all(|&x| x == 6));
}

/// A progress callback that panics on every thread.
fn panics_of_a_callback() {
    let (m, n, k) = (600, 400, 300);
    let (a, b, mut c) = (vec![1.0f32; m * k], vec![1.0; k * n], vec![0.0; m * n]);
    let progress = |_| resume_unwind(Box::new(Bomb));
    let options = Options { threads: 4, progress: Some(&progress), ..Options::default() };
    let (a, b) = (common::rows(&a, m, k), common::rows(&b, k, n));
    fails(|| {
        let c = common::rows_mut(&mut c, m, n);
        _ = multiply::<PlusTimes<f32>>(c, a, b, &Update::Replace, &options);
    });
    fails(|| {
        let c = common::rows_mut(&mut c, m, n);
        _ = multiply::<MinPlus<f32>>(c, a, b, &Update::Replace, &options);
    });
}
