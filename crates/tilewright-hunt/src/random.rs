//! Numbers that all of a problem follows from.

/// A small generator (splitmix64).
pub struct Random(u64);

impl Random {
    /// The generator of one problem of a hunt.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        random.bits();
        random
    }
    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 32) as usize % n
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// A number of the range, both ends included.
    pub fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }
    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
