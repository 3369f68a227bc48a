//! What `wmma.load` and `wmma.store` cost.
//!
//! PTX leaves open which lane holds which element. The assembler issues several instructions for one of PTX, on compute capability 8.0 and later
//! in the layout of `mma.sync`: `LDSM` for factors in shared memory, 8 rows of 16 bytes each; loads and stores of one element or of two
//! neighbours for sums, 8 x 8 of them each. In global memory they follow each other at once, so that every sector of the tile is moved once.

use tilewright_arch::memory::{
    self,
    global::{LINE_BYTES, SECTOR_BYTES},
};

use crate::check::Mode;
use crate::count::AccessCount;
use crate::machine::state::worker::Worker;
use crate::memory::Addresses;
use crate::program::instruction::{Space, WmmaSite};
use crate::ptx_isa::{Fragment, Major};

/// Rows of a matrix that is moved in one piece, and bytes of each.
const MATRIX_ROWS: u64 = 8;
const MATRIX_ROW_BYTES: u64 = 16;

/// A tile as it lies in memory: lines of elements side by side.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    pub start: u64,
    /// Lines: rows, or columns where these are contiguous.
    pub lines: u64,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Bytes from one line to the next.
    pub pitch: u64,
}

impl Tile {
    /// Of `rows` x `columns` elements of `bits` bits, `stride` elements apart.
    pub fn new(start: u64, (rows, columns): (u16, u16), major: Major, stride: u64, bits: u64) -> Self {
        let (lines, length) = match major {
            Major::Row => (rows, columns),
            Major::Col => (columns, rows),
        };
        Self {
            start,
            lines: lines.into(),
            line_bytes: u64::from(length) * bits / 8,
            pitch: stride.wrapping_mul(bits) / 8,
        }
    }

    fn bytes(&self) -> u64 {
        self.lines * self.line_bytes
    }

    fn line(&self, line: u64) -> u64 {
        self.start.wrapping_add(line.wrapping_mul(self.pitch))
    }

    /// A piece for each lane, one behind the other, and its bytes.
    fn pieces(&self) -> ([u64; 32], u32) {
        let piece = (self.bytes() / 32).max(1);
        let per_line = (self.line_bytes / piece).max(1);
        let at = |lane: usize| {
            let lane = lane as u64;
            self.line(lane / per_line).wrapping_add(lane % per_line * piece)
        };
        (std::array::from_fn(at), piece as u32)
    }

    /// Sectors and lines that hold it, and as few sectors as its bytes could have.
    fn sectors(&self) -> (u64, u64, u64) {
        let sector = u64::from(SECTOR_BYTES);
        let of_line = |line| {
            let start = self.line(line);
            start / sector..start.saturating_add(self.line_bytes).div_ceil(sector)
        };
        let mut sectors: Vec<u64> = (0..self.lines).flat_map(of_line).collect();
        sectors.sort_unstable();
        sectors.dedup();
        // Lines may overlap.
        let bytes = (self.lines - 1) * self.pitch.min(self.line_bytes) + self.line_bytes;
        let per_line = u64::from(LINE_BYTES / SECTOR_BYTES);
        let lines = sectors.chunk_by(|a, b| a / per_line == b / per_line).count() as u64;
        (sectors.len() as u64, lines, bytes.div_ceil(sector))
    }

    /// Wavefronts of a factor, and as few as there could be.
    fn wavefronts_of_factor(&self) -> (u64, u64) {
        let width = self.line_bytes.clamp(1, MATRIX_ROW_BYTES);
        let mut all = (0, 0);
        for first in (0..self.lines).step_by(MATRIX_ROWS as usize) {
            for column in (0..self.line_bytes).step_by(width as usize) {
                let rows = (self.lines - first).min(MATRIX_ROWS);
                let at = std::array::from_fn(|lane| {
                    self.line(first + lane as u64 % MATRIX_ROWS).wrapping_add(column)
                });
                // As for `ldmatrix`: loads follow the rule of stores.
                let cost = memory::shared::store(&at, (1 << rows) - 1, width as u32);
                all = (all.0 + u64::from(cost.wavefronts), all.1 + u64::from(cost.ideal));
            }
        }
        all
    }

    /// The same for sums of `element` bytes: a lane has two neighbours of a row of 8, four lanes the row.
    fn wavefronts_of_sums(&self, element: u64, major: Major, mode: Mode) -> (u64, u64) {
        let rule = if mode == Mode::Read { memory::shared::load } else { memory::shared::store };
        let (row_pitch, column_pitch, neighbours, width) = match major {
            Major::Row => (self.pitch, element, 1, 2 * element),
            Major::Col => (element, self.pitch, 2, element),
        };
        let elements = self.line_bytes / element.max(1);
        let (rows, columns) =
            if major == Major::Row { (self.lines, elements) } else { (elements, self.lines) };
        let mut all = (0, 0);
        for row in (0..rows).step_by(8) {
            for column in (0..columns).step_by(8) {
                for neighbour in 0..neighbours {
                    let at = std::array::from_fn(|lane| {
                        let (row, column) = (row + lane as u64 / 4, column + lane as u64 % 4 * 2 + neighbour);
                        let column = column.wrapping_mul(column_pitch);
                        self.start.wrapping_add(row.wrapping_mul(row_pitch)).wrapping_add(column)
                    });
                    let cost = rule(&at, u32::MAX, width as u32);
                    all = (all.0 + u64::from(cost.wavefronts), all.1 + u64::from(cost.ideal));
                }
            }
        }
        all
    }
}

impl Worker<'_> {
    /// Counts one execution, and tells the observer: a piece of the tile for each lane.
    pub fn count_tile(&mut self, site: &WmmaSite, tile: Tile, mask: u32, space: Space, mode: Mode) {
        let mut once = AccessCount {
            requests: 1,
            lanes: mask.count_ones().into(),
            bytes: tile.bytes(),
            ..AccessCount::default()
        };
        if space == Space::Shared {
            (once.wavefronts, once.ideal_wavefronts) = match site.fragment {
                Fragment::A | Fragment::B => tile.wavefronts_of_factor(),
                Fragment::C => tile.wavefronts_of_sums(site.ty.bytes().into(), site.major, mode),
            };
        } else {
            (once.sectors, once.lines, once.ideal_sectors) = tile.sectors();
            once.l1_wavefronts = once.lines;
        }
        self.counts.access(site.memory.counter, space, &once, 1);
        if self.launch.watch.observer.is_some() {
            let (at, bytes) = tile.pieces();
            let mut piece = site.memory.clone();
            (piece.bytes, piece.elements) = (bytes, 1);
            self.observe(&piece, &Addresses { at, mask }, space, mode);
        }
    }
}
