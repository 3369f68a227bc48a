//! Booleans to bits, and back.

use crate::lanes::Lanes;
use tilewright_core::Layout;

/// Booleans in memory, each a byte of 0 or 1. Strides are in bytes.
#[derive(Clone, Copy)]
pub struct Booleans {
    pub first: *const u8,
    pub row: isize,
    pub col: isize,
}

/// Columns of a word.
pub const WORD: usize = 32;

impl Booleans {
    /// The elements of a matrix. Those that are written are reached by a pointer that may write.
    pub fn of(first: *const bool, layout: Layout) -> Self {
        Self { first: first.cast(), row: layout.row_stride, col: layout.col_stride }
    }

    /// Those from `(i, j)` on.
    ///
    /// # Safety
    /// The element must exist.
    pub unsafe fn from(self, i: usize, j: usize) -> Self {
        // SAFETY: as the caller guarantees.
        let first = unsafe { self.first.offset(i as isize * self.row + j as isize * self.col) };
        Self { first, ..self }
    }
}

/// Packs `rows x cols` booleans: 32 columns of row `i`, the first one lowest, to `to + i * row + w * word` for word `w`. Bits beyond the last column are 0.
///
/// # Safety
/// The elements must exist, the words be writable, and the instruction set of `V` be available.
#[inline(always)]
pub unsafe fn pack<V: Lanes<T = u8>>(
    from: Booleans,
    (rows, cols): (usize, usize),
    to: *mut u32,
    (row, word): (usize, usize),
) {
    // SAFETY: elements and words are those that the caller names.
    unsafe {
        if from.col == 1 {
            for i in 0..rows {
                for w in 0..cols.div_ceil(WORD) {
                    let here = from.from(i, w * WORD).first;
                    to.add(i * row + w * word).write(along::<V>(here, WORD.min(cols - w * WORD)));
                }
            }
            return;
        }
        for w in 0..cols.div_ceil(WORD) {
            let width = WORD.min(cols - w * WORD);
            let (from, to) = (from.from(0, w * WORD), to.add(w * word));
            let side_by_side = if from.row == 1 { rows / WORD * WORD } else { 0 };
            for i in (0..side_by_side).step_by(WORD) {
                let words = across(from.from(i, 0), width);
                for (l, word) in words.into_iter().enumerate() {
                    to.add((i + l) * row).write(word);
                }
            }
            for i in side_by_side..rows {
                let mut bits = 0;
                for j in 0..width {
                    bits |= u32::from(*from.from(i, j).first) << j;
                }
                to.add(i * row).write(bits);
            }
        }
    }
}

/// A word of booleans that lie side by side.
#[inline(always)]
unsafe fn along<V: Lanes<T = u8>>(from: *const u8, count: usize) -> u32 {
    const { assert!(V::LEN <= WORD) };
    let mut last = [0; WORD];
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut from = from;
        if count < WORD {
            from.copy_to_nonoverlapping(last.as_mut_ptr(), count);
            from = last.as_ptr();
        }
        let (one, mut bits) = (V::splat(1), 0);
        for i in (0..WORD).step_by(V::LEN) {
            bits |= (V::load(from.add(i)).equal(one) as u32) << i;
        }
        bits
    }
}

/// The words of 32 rows that lie side by side.
#[inline(always)]
unsafe fn across(from: Booleans, width: usize) -> [u32; WORD] {
    let mut bytes = [[0_u8; WORD]; 4];
    for j in (0..width).rev() {
        for (l, byte) in bytes[j / 8].iter_mut().enumerate() {
            // SAFETY: as the caller guarantees.
            *byte = *byte << 1 | unsafe { *from.from(0, j).first.add(l) };
        }
    }
    let mut words = [0; WORD];
    for l in 0..WORD {
        words[l] = u32::from_le_bytes([bytes[0][l], bytes[1][l], bytes[2][l], bytes[3][l]]);
    }
    words
}

/// The booleans of the bits of a byte.
static SPREAD: [[u8; 8]; 256] = {
    let (mut all, mut byte) = ([[0; 8]; 256], 0);
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            all[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// Writes the booleans of `count` bits of words, `col` bytes apart.
///
/// # Safety
/// The words must be readable from `from` on, and the booleans writable.
#[inline(always)]
pub unsafe fn unpack(from: *const u32, count: usize, to: *mut u8, col: isize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let whole = if col == 1 { count / WORD } else { 0 };
        for w in 0..whole {
            let to = to.add(w * WORD).cast::<[u8; 8]>();
            for (i, byte) in (*from.add(w)).to_le_bytes().into_iter().enumerate() {
                to.add(i).write_unaligned(SPREAD[usize::from(byte)]);
            }
        }
        for j in whole * WORD..count {
            let bit = *from.add(j / WORD) >> (j % WORD) & 1;
            to.offset(j as isize * col).write(bit as u8);
        }
    }
}
