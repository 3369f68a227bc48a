//! Operations on warp-wide rows: 32 lanes at a time, in pieces that fit the vector registers.
//!
//! A row is read whole before it is written, piece by piece, so that a result may replace a source of the same width.

/// Lanes of a piece.
const PIECE: usize = 16;

/// All lanes.
pub const FULL: u32 = u32::MAX;

#[inline(always)]
unsafe fn piece<T: Copy>(row: *const T, start: usize) -> [T; PIECE] {
    // SAFETY: a row has 32 lanes, and `start` is 0 or 16.
    unsafe { row.add(start).cast::<[T; PIECE]>().read_unaligned() }
}

/// `f` of every index. A plain loop: the closures inside `std::array::from_fn` and iterator adaptors stay calls in functions that have other
/// target features than the crate, and calls are what this must not have.
#[inline(always)]
fn each<R: Copy>(f: impl Fn(usize) -> R) -> [R; PIECE] {
    let mut results = [f(0); PIECE];
    let mut i = 0;
    while i < PIECE {
        results[i] = f(i);
        i += 1;
    }
    results
}

#[inline(always)]
unsafe fn put<T: Copy>(row: *mut T, start: usize, values: [T; PIECE], mask: u32) {
    // SAFETY: a row has 32 lanes, and `start` is 0 or 16.
    unsafe {
        if mask == FULL {
            row.add(start).cast::<[T; PIECE]>().write_unaligned(values);
        } else {
            let old = piece(row, start);
            let kept = each(|i| if mask >> (start + i) & 1 == 1 { values[i] } else { old[i] });
            row.add(start).cast::<[T; PIECE]>().write_unaligned(kept);
        }
    }
}

/// `r = f(a)` in the lanes of `mask`.
///
/// # Safety
/// The pointers must be rows of 32 values; equal or disjoint.
#[inline(always)]
pub unsafe fn map1<A: Copy, R: Copy>(r: *mut R, a: *const A, mask: u32, f: impl Fn(A) -> R) {
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        unsafe {
            let a = piece(a, start);
            put(r, start, each(|i| f(a[i])), mask);
        }
    }
}

/// `r = f(a, b)` in the lanes of `mask`.
///
/// # Safety
/// As for [`map1`].
#[inline(always)]
pub unsafe fn map2<A: Copy, B: Copy, R: Copy>(
    r: *mut R,
    a: *const A,
    b: *const B,
    mask: u32,
    f: impl Fn(A, B) -> R,
) {
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        unsafe {
            let (a, b) = (piece(a, start), piece(b, start));
            put(r, start, each(|i| f(a[i], b[i])), mask);
        }
    }
}

/// `r = f(a, b, c)` in the lanes of `mask`.
///
/// # Safety
/// As for [`map1`].
#[inline(always)]
pub unsafe fn map3<A: Copy, B: Copy, C: Copy, R: Copy>(
    r: *mut R,
    a: *const A,
    b: *const B,
    c: *const C,
    mask: u32,
    f: impl Fn(A, B, C) -> R,
) {
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        unsafe {
            let (a, b, c) = (piece(a, start), piece(b, start), piece(c, start));
            put(r, start, each(|i| f(a[i], b[i], c[i])), mask);
        }
    }
}

/// The lanes where `f(a, b)` holds.
///
/// # Safety
/// As for [`map1`].
#[inline(always)]
pub unsafe fn compare<A: Copy>(a: *const A, b: *const A, f: impl Fn(A, A) -> bool) -> u32 {
    let mut mask = 0;
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        let (a, b) = unsafe { (piece(a, start), piece(b, start)) };
        let mut bits = 0;
        for i in 0..PIECE {
            bits |= u32::from(f(a[i], b[i])) << i;
        }
        mask |= bits << start;
    }
    mask
}

/// `r = if pred { a } else { b }` in the lanes of `mask`.
///
/// # Safety
/// As for [`map1`].
#[inline(always)]
pub unsafe fn select<T: Copy>(r: *mut T, a: *const T, b: *const T, pred: u32, mask: u32) {
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        unsafe {
            let (a, b) = (piece(a, start), piece(b, start));
            let chosen = each(|i| if pred >> (start + i) & 1 == 1 { a[i] } else { b[i] });
            put(r, start, chosen, mask);
        }
    }
}

/// `r = value` in the lanes of `mask`.
///
/// # Safety
/// As for [`map1`].
#[inline(always)]
pub unsafe fn splat<T: Copy>(r: *mut T, value: T, mask: u32) {
    for start in [0, PIECE] {
        // SAFETY: the caller promises rows.
        unsafe { put(r, start, [value; PIECE], mask) };
    }
}
