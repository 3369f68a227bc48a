//! Descriptors of matrices in shared memory, as `wgmma` takes them.
//!
//! A matrix lies in pieces of 16 bytes. A *line* holds neighbours: a row of A or a column of B along k, or, of a transposed operand,
//! elements of one k. Eight lines make a pattern, in which the pieces may be swizzled: address bits 4 to 6 are XORed with bits 7 to 9.

use crate::ptx_isa::Major;

/// The lowest bits of an address that a descriptor holds.
pub const ADDRESS: u32 = (1 << 18) - 1;

/// Bytes of a piece.
const PIECE: u32 = 16;

/// Where a matrix lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The first piece.
    pub start: u32,
    /// The leading dimension's distance in bytes.
    pub leading: u32,
    /// The other distance in bytes.
    pub stride: u32,
    /// Rows of 128 bytes that the pattern begins after a multiple of its size.
    pub base: u32,
    /// Bytes of a swizzled line: 128, 64, 32, or 16 where nothing is swizzled.
    pub width: u32,
}

impl Descriptor {
    /// The fields of a descriptor's word.
    pub fn decode(word: u64) -> Self {
        let field = |shift: u32| (word >> shift & 0x3fff) as u32 * PIECE;
        Self {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (word >> 49 & 7) as u32,
            width: [16, 128, 64, 32][(word >> 62) as usize],
        }
    }

    /// Where piece `piece` of line `line` lies.
    pub fn piece(&self, major: Major, line: u32, piece: u32) -> u32 {
        let (block, row) = (line / 8, line % 8);
        let pieces = self.width / PIECE;
        let offset = match (major, self.width) {
            (Major::Row, 16) => block * self.stride + piece * self.leading + row * PIECE,
            (Major::Row, width) => block * self.stride + row * width + piece * PIECE,
            (Major::Col, 16) => piece * self.stride + block * self.leading + row * PIECE,
            (Major::Col, width) => {
                let (outer, inner) = (piece / pieces, piece % pieces);
                outer * self.leading + block * self.stride + row * width + inner * PIECE
            }
        };
        self.swizzled(self.start.wrapping_add(offset) & ADDRESS)
    }

    /// The physical address of a logical one.
    fn swizzled(&self, at: u32) -> u32 {
        let rows = at.wrapping_sub(128 * self.base) >> 7;
        let moved = rows & (self.width / PIECE - 1);
        at ^ (moved * PIECE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_where_the_hardware_reads_them() {
        // 128 bytes, rows of 8 pieces, atoms of 1024 bytes.
        let word = 0x40 | 1 << 16 | (1024 / 16) << 32 | 1 << 62;
        let wide = Descriptor::decode(word);
        assert_eq!(wide, Descriptor { start: 1024, leading: 16, stride: 1024, base: 0, width: 128 });
        assert_eq!(wide.piece(Major::Row, 0, 1), 1024 + 16);
        assert_eq!(wide.piece(Major::Row, 3, 1), 1024 + 3 * 128 + (1 ^ 3) * 16);
        assert_eq!(wide.piece(Major::Row, 9, 0), 2048 + 128 + 16);
        // Transposed: the ninth piece is in the next block of 64 elements.
        let word = (512 / 16) << 16 | (1024 / 16) << 32 | 1 << 62;
        let across = Descriptor::decode(word);
        assert_eq!(across.piece(Major::Col, 1, 8), 512 + 128 + (((512 + 128) >> 7) & 7) * 16);
        // No swizzle: cores of 8 lines of 16 bytes.
        let plain = Descriptor { start: 0, leading: 128, stride: 256, base: 0, width: 16 };
        assert_eq!(plain.piece(Major::Row, 9, 1), 256 + 128 + 16);
        assert_eq!(plain.piece(Major::Col, 9, 1), 128 + 256 + 16);
    }
}
