//! Surfaces over emulated arrays.

use crate::program::instruction::Outside;

/// Device memory that surface instructions read and write: rows of elements, the first index the fastest.
///
/// Bounds are checked; races between surface accesses are not looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The address of the first element.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Width, height and depth (or layers) in elements; 1 where there is none.
    pub extent: [usize; 3],
    /// Bytes of an element.
    pub element: usize,
}

/// Where an access goes.
pub enum Goes {
    To(u64),
    Nowhere,
    Outside,
    Misaligned,
}

impl Surface {
    /// The address of `bytes` bytes at coordinates of which the first counts bytes; none outside.
    fn place(&self, at: [i64; 3], bytes: u32) -> Option<u64> {
        let [x, y, z] = at;
        let row = i64::try_from(self.extent[0] * self.element).ok()?;
        let inside = (0..=row - i64::from(bytes)).contains(&x)
            && (0..self.extent[1] as i64).contains(&y)
            && (0..self.extent[2] as i64).contains(&z);
        let rows = z as u64 * self.extent[1] as u64 + y as u64;
        inside.then(|| self.address.wrapping_add(rows.wrapping_mul(self.pitch)).wrapping_add(x as u64))
    }

    /// The nearest coordinates that are inside.
    fn clamped(&self, at: [i64; 3], bytes: u32) -> [i64; 3] {
        let row = (self.extent[0] * self.element) as i64;
        let last = [row - i64::from(bytes), self.extent[1] as i64 - 1, self.extent[2] as i64 - 1];
        std::array::from_fn(|axis| at[axis].clamp(0, last[axis].max(0)))
    }

    /// Where an access of `bytes` bytes goes, by what the instruction does outside.
    pub fn goes(&self, at: [i64; 3], bytes: u32, outside: Outside) -> Goes {
        if at[0].rem_euclid(i64::from(bytes)) != 0 {
            return Goes::Misaligned;
        }
        let at = if outside == Outside::Clamp { self.clamped(at, bytes) } else { at };
        match self.place(at, bytes) {
            Some(address) => Goes::To(address),
            None if outside == Outside::Zero => Goes::Nowhere,
            None => Goes::Outside,
        }
    }
}
