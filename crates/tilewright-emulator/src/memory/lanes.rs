//! The addresses of one warp instruction.

use tilewright_arch::memory::LaneAddresses;

/// The address of each lane. Lanes that sit out have the address of the first active lane, so that loops need no mask.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// One address per lane.
    pub at: LaneAddresses,
    /// Active lanes.
    pub mask: u32,
}

impl Addresses {
    /// Every lane's address minus the first's.
    pub fn relative(&self) -> [u64; 32] {
        each_lane(&self.at, |at| at.wrapping_sub(self.at[0]))
    }
}

/// `f` of every lane. A plain loop, so that it inlines into functions of other target features.
#[inline(always)]
pub fn each_lane<T: Copy, R: Copy>(values: &[T; 32], f: impl Fn(T) -> R) -> [R; 32] {
    let mut results = [f(values[0]); 32];
    let mut lane = 0;
    while lane < 32 {
        results[lane] = f(values[lane]);
        lane += 1;
    }
    results
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
