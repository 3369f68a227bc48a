//! Local memory of the lanes of a warp, and which of its bytes have been written.

use crate::memory::{Budget, Object, Use};
use crate::program::{LOCAL_LIMIT, LocalPlace, Program};

/// The local memory of a warp: none until it is touched.
#[derive(Debug, Default)]
pub struct LocalMemory {
    /// Lane by lane.
    words: Vec<u64>,
    /// A bit for each byte, lane by lane.
    written: Vec<u64>,
    /// Bytes of a lane: a multiple of 64.
    bytes: usize,
}

/// Bytes that the local memory of a lane takes, what is remembered of it included.
pub fn bytes_per_lane(local_bytes: u32) -> u64 {
    let bytes = u64::from(local_bytes).next_multiple_of(64);
    bytes + bytes / 8
}

impl LocalMemory {
    /// A variable of a lane.
    pub fn object(
        &mut self,
        program: &Program,
        lane: usize,
        place: &LocalPlace<'_>,
        budget: &Budget,
    ) -> Object {
        let level = program.locals.bytes() as usize;
        // Whole levels.
        let needed = (place.offset as usize + place.variable.bytes as usize).next_multiple_of(level.max(1));
        if self.bytes < needed {
            let before = self.deep_bytes(program);
            // Doubled, so that deep recursion does not copy them again and again.
            let doubled = (2 * self.bytes).min(LOCAL_LIMIT as usize);
            self.reserve(needed.max(doubled).next_multiple_of(64));
            // What is refused is taken all the same: the launch ends soon.
            budget.take(Use::Calls, self.deep_bytes(program) - before);
        }
        let first = self.words[lane * (self.bytes / 8)..].as_mut_ptr().cast::<u8>();
        // SAFETY: `reserve` has made room for the whole variable.
        let data = unsafe { first.add(place.offset as usize) };
        Object { start: place.start, bytes: place.variable.bytes.into(), data, writable: true }
    }

    /// Bytes of all levels of recursion behind the first.
    pub fn deep_bytes(&self, program: &Program) -> u64 {
        let all = bytes_per_lane(self.bytes as u32);
        32 * all.saturating_sub(bytes_per_lane(program.locals.bytes()))
    }

    fn reserve(&mut self, bytes: usize) {
        let grow = |old: &[u64], unit: usize| {
            let (old_row, new_row) = (self.bytes / unit, bytes / unit);
            let mut grown = vec![0; 32 * new_row];
            for lane in 0..32 {
                grown[lane * new_row..][..old_row].copy_from_slice(&old[lane * old_row..][..old_row]);
            }
            grown
        };
        (self.words, self.written) = (grow(&self.words, 8), grow(&self.written, 64));
        self.bytes = bytes;
    }

    /// The bits of the bytes of an access: words of `written` and masks.
    fn bits(&self, lane: usize, data: *const u8, bytes: u32) -> [(usize, u64); 2] {
        let offset = data as usize - self.words[lane * (self.bytes / 8)..].as_ptr() as usize;
        let mask = u128::MAX >> (128 - bytes.clamp(1, 64)) << (offset % 64);
        let word = lane * (self.bytes / 64) + offset / 64;
        [(word, mask as u64), (word + 1, (mask >> 64) as u64)]
    }

    /// The lane writes at `data`, which [`Self::object`] has led to.
    pub fn write(&mut self, lane: usize, data: *const u8, bytes: u32) {
        for (word, mask) in self.bits(lane, data, bytes) {
            if let Some(written) = self.written.get_mut(word) {
                *written |= mask;
            }
        }
    }

    /// Whether nothing has written any of these bytes.
    pub fn is_unwritten(&self, lane: usize, data: *const u8, bytes: u32) -> bool {
        let written = |word: usize| self.written.get(word).copied().unwrap_or(0);
        self.bits(lane, data, bytes).into_iter().all(|(word, mask)| written(word) & mask == 0)
    }
}
