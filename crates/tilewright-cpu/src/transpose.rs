//! Small transpositions in registers (x86-64), for packing along the wrong stride.

use core::arch::x86_64::*;

/// Columns 0 to 3 of four lines in the low halves, columns 4 to 7 in the high halves.
///
/// # Safety
/// On a processor with AVX2.
#[inline(always)]
unsafe fn four_columns(r: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        let (a, b) = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
        [
            _mm256_shuffle_ps::<0x44>(a, c),
            _mm256_shuffle_ps::<0xee>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d),
            _mm256_shuffle_ps::<0xee>(b, d),
        ]
    }
}

/// `to[p * padded + i] = from[i * line + p]` for 8 lines of 8 four-byte elements.
///
/// # Safety
/// The elements must be readable and writable, on a processor with AVX2.
#[inline(always)]
unsafe fn eight_by_eight(from: *const f32, line: isize, to: *mut f32, padded: usize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut r = [_mm256_setzero_ps(); 8];
        for (i, r) in r.iter_mut().enumerate() {
            *r = _mm256_loadu_ps(from.offset(i as isize * line));
        }
        let (upper, lower) = (four_columns([r[0], r[1], r[2], r[3]]), four_columns([r[4], r[5], r[6], r[7]]));
        for p in 0..4 {
            let low = _mm256_permute2f128_ps::<0x20>(upper[p], lower[p]);
            let high = _mm256_permute2f128_ps::<0x31>(upper[p], lower[p]);
            _mm256_storeu_ps(to.add(p * padded), low);
            _mm256_storeu_ps(to.add((p + 4) * padded), high);
        }
    }
}

/// `to[p * padded + i] = from[i * line + p]` for 4 lines of 4 eight-byte elements.
///
/// # Safety
/// As [`eight_by_eight`].
#[inline(always)]
unsafe fn four_by_four(from: *const f64, line: isize, to: *mut f64, padded: usize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut r = [_mm256_setzero_pd(); 4];
        for (i, r) in r.iter_mut().enumerate() {
            *r = _mm256_loadu_pd(from.offset(i as isize * line));
        }
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(a, c));
        _mm256_storeu_pd(to.add(padded), _mm256_permute2f128_pd::<0x20>(b, d));
        _mm256_storeu_pd(to.add(2 * padded), _mm256_permute2f128_pd::<0x31>(a, c));
        _mm256_storeu_pd(to.add(3 * padded), _mm256_permute2f128_pd::<0x31>(b, d));
    }
}

/// Moves elements of `SIZE` bytes: `to[p * padded + i] = from[i * line + p]` for whole squares of terms.
/// Returns how many terms were moved: 0 when there is no transposition for this size or width.
///
/// # Safety
/// As [`crate::pack::PackFn`], with both element types `size` bytes long, on a processor with AVX2.
#[inline(always)]
pub unsafe fn squares(
    size: usize,
    from: *const u8,
    line: isize,
    width: usize,
    k: usize,
    to: *mut u8,
    padded: usize,
) -> usize {
    let side = match size {
        4 => 8,
        8 => 4,
        _ => return 0,
    };
    if width < side {
        return 0;
    }
    let terms = k / side * side;
    for p in (0..terms).step_by(side) {
        for i in (0..width).step_by(side) {
            // The last square overlaps its neighbour and writes the same values again.
            let i = i.min(width - side);
            // SAFETY: the square lies inside the strip.
            unsafe {
                if size == 4 {
                    eight_by_eight(
                        from.cast::<f32>().offset(i as isize * line).add(p),
                        line,
                        to.cast::<f32>().add(p * padded + i),
                        padded,
                    );
                } else {
                    four_by_four(
                        from.cast::<f64>().offset(i as isize * line).add(p),
                        line,
                        to.cast::<f64>().add(p * padded + i),
                        padded,
                    );
                }
            }
        }
    }
    terms
}
