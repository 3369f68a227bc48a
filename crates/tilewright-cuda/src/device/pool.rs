//! Memory that was let go of and is taken again in the same stream: no call of the driver, which would take microseconds, or without pools wait for the device.

use crate::ffi::driver::Address;
use std::collections::BTreeMap;

/// As many bytes are kept at most.
const MOST: usize = 256 << 20;

/// Blocks that nobody holds, by their bytes. What was to be done with one is in the stream in front of all that will be.
#[derive(Debug, Default)]
pub(super) struct Kept {
    blocks: BTreeMap<usize, Vec<Address>>,
    bytes: usize,
}

impl Kept {
    /// The smallest block of so many bytes, and no more than twice as many.
    pub(super) fn take(&mut self, bytes: usize) -> Option<(Address, usize)> {
        let (&room, same) = self.blocks.range_mut(bytes..=bytes.saturating_mul(2)).next()?;
        let address = same.pop()?;
        if same.is_empty() {
            self.blocks.remove(&room);
        }
        self.bytes -= room;
        Some((address, room))
    }

    /// Keeps a block; false where that would be too much.
    pub(super) fn keep(&mut self, address: Address, room: usize) -> bool {
        let fits = self.bytes.checked_add(room).is_some_and(|bytes| bytes <= MOST);
        if fits {
            self.blocks.entry(room).or_default().push(address);
            self.bytes += room;
        }
        fits
    }

    /// All of them, to be freed.
    pub(super) fn take_all(&mut self) -> Vec<Address> {
        self.bytes = 0;
        std::mem::take(&mut self.blocks).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_about_the_same_size_is_taken_again() {
        let mut kept = Kept::default();
        assert_eq!(kept.take(1), None);
        assert!(kept.keep(0x100, 1000) && kept.keep(0x200, 1500) && kept.keep(0x300, 1000));
        assert_eq!(kept.take(1001), Some((0x200, 1500)));
        assert_eq!([kept.take(499), kept.take(2000)], [None, None], "too large, and too small");
        assert_eq!(
            [kept.take(500), kept.take(1000), kept.take(1000)],
            [Some((0x300, 1000)), Some((0x100, 1000)), None]
        );
        assert_eq!(kept.bytes, 0);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut kept = Kept::default();
        assert!(kept.keep(0x100, MOST - 8) && !kept.keep(0x200, 9) && kept.keep(0x200, 8));
        assert!(!kept.keep(0x300, usize::MAX));
        assert_eq!(kept.take_all(), [0x200, 0x100]);
        assert!(kept.keep(0x400, MOST));
    }
}
