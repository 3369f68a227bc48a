//! The memory side of matrix instructions.

use super::tiles::Tile;
use crate::alu;
use crate::check::Mode;
use crate::machine::{
    lanes::{addresses::placed, frame::Frame},
    state::{step::Step, undefined::Bits, warp::Warp},
    watch::{definedness::Decision, faults::Faults},
};
use crate::memory::{Addresses, lanes, read, write};
use crate::program::instruction::{MemorySite, Slot, Space, Transpose, Width};
use crate::ptx_isa::{Fragment, Major};

impl Step<'_, '_> {
    /// `ldmatrix` and `stmatrix`: lanes 8 i to 8 i + 7 hold the addresses of the rows of matrix i.
    pub fn move_matrices(&mut self, mode: Mode, index: u32) {
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.matrices[index as usize];
        let matrices = site.memory.values.len();
        let (addresses, space) = self.matrix_rows(&site.memory, matrices);
        let mut faults = Faults::default();
        for (matrix, slot) in site.memory.values.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let mut values = if mode == Mode::Read { [0; 32] } else { frame.row(slot) };
            let mut undefined = Undefinedness::of(mode, self.warp, frame, slot);
            for row in 0..8 {
                let lane = 8 * matrix + row;
                let at = addresses.at[lane];
                let whole = self.element(space, at, lane, 16, mode, &mut faults);
                let Some(whole) = whole else { continue };
                for column in 0..8 {
                    let (holder, half) = match site.transpose {
                        Transpose::No => (4 * row + column / 2, column % 2),
                        Transpose::Yes => (4 * column + row / 2, row % 2),
                    };
                    // SAFETY: 16 bytes were checked.
                    let cell = unsafe { whole.data.add(2 * column) };
                    if mode == Mode::Read {
                        values[holder] |= read(cell, 2) << (16 * half);
                        let bits = whole.undefined(2 * column as u32, 2);
                        undefined.add(holder, bits << (16 * half), whole.source);
                    } else {
                        write(cell, 2, values[holder] >> (16 * half));
                        let (bits, source) = undefined.part(holder, 16 * half as u32, 16);
                        self.store_undefined(space, at + 2 * column as u64, 2, bits, source);
                    }
                }
            }
            if mode == Mode::Read {
                frame.set_row(slot, &values, mask);
                self.warp.add_undefined(self.program(), frame, slot, &undefined.0, mask);
            }
        }
        self.report_faults(&faults, 16, mode);
    }

    /// Counts the rows of `matrices` 8 x 8 matrices: each is 8 lanes of 16 bytes, one wavefront if they do not conflict.
    fn matrix_rows(&mut self, site: &MemorySite, matrices: usize) -> (Addresses, Space) {
        let Self { frame, mask, .. } = *self;
        let (addresses, space) = placed(site, frame, mask);
        let named = u32::MAX >> (32 - 8 * matrices.min(4) as u32);
        let used = Addresses { at: addresses.at, mask: mask & named };
        let count = &mut self.worker.counts.accesses[site.counter as usize];
        // Rows of a matrix are not paired as the lanes of plain loads are: loads follow the rule of stores.
        let cost = tilewright_arch::memory::shared::store(&used.at, used.mask, 16);
        count.requests += 1;
        count.lanes += u64::from(used.mask.count_ones());
        count.bytes += 16 * u64::from(used.mask.count_ones());
        count.wavefronts += u64::from(cost.wavefronts);
        count.ideal_wavefronts += u64::from(cost.ideal);
        self.worker.counts.spaces[site.counter as usize] |= 1 << Space::Shared as u8;
        (addresses, space)
    }

    /// `mma.sync`, `wmma.mma`.
    pub fn mma(&self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.mmas[index as usize];
        let rows = |slots: &[Slot]| -> Vec<[u64; 32]> { slots.iter().map(|&slot| frame.row(slot)).collect() };
        let mut d = vec![[0; 32]; site.d.len()];
        let (a, b, c) = (rows(&site.a), rows(&site.b), rows(&site.c));
        alu::multiply(&site.op, self.launch().capability, [&a, &b, &c], &mut d);
        for (slot, values) in site.d.iter().zip(&d) {
            frame.set_row(*slot, values, mask);
        }
    }

    /// `wmma.load` and `wmma.store`: moves a fragment element by element. Which lane holds which is the machine's own choice; what the access costs is that of the
    /// hardware, see [`Tile`].
    pub fn move_fragment(&mut self, mode: Mode, index: u32) {
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.wmmas[index as usize];
        let (bases, space) = placed(&site.memory, frame, mask);
        let (rows, columns) = match site.fragment {
            Fragment::A => (site.op.m, site.op.k),
            Fragment::B => (site.op.k, site.op.n),
            Fragment::C => (site.op.m, site.op.n),
        };
        let bits = u64::from(site.ty.bits());
        let mut faults = Faults::default();
        let stride_of = |lane: usize| match (site.stride, site.major) {
            (Some(slot), _) => frame.lane(slot, lane),
            (None, Major::Row) => columns.into(),
            (None, Major::Col) => rows.into(),
        };
        let first = mask.trailing_zeros() as usize & 31;
        let tile = Tile::new(bases.at[first], (rows, columns), site.major, stride_of(first), bits);
        self.worker.count_tile(site, tile, mask, space, mode);
        let per_register =
            |width: Width| (if width == Width::Double { 64 } else { 32 } / bits).max(1) as usize;
        for (register, slot) in site.memory.values.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let elements = per_register(slot.width);
            let mut values = frame.row(slot);
            if mode == Mode::Read {
                values = [0; 32];
            }
            let mut undefined = Undefinedness::of(mode, self.warp, frame, slot);
            for element in 0..elements {
                let mut at = [0; 32];
                for (lane, at) in at.iter_mut().enumerate() {
                    let (row, column) =
                        alu::fragment_position(&site.op, site.fragment, lane, register, element);
                    let stride = stride_of(lane);
                    let index = match site.major {
                        Major::Row => (row as u64).wrapping_mul(stride).wrapping_add(column as u64),
                        Major::Col => (column as u64).wrapping_mul(stride).wrapping_add(row as u64),
                    };
                    *at = bases.at[lane].wrapping_add(index.wrapping_mul(bits) / 8);
                }
                let bytes = site.ty.bytes();
                for lane in lanes(mask) {
                    let cell = self.element(space, at[lane], lane, bytes, mode, &mut faults);
                    let Some(cell) = cell else { continue };
                    let shift = element as u64 * bits;
                    if mode == Mode::Read {
                        let ones = u64::MAX >> (64 - bits.min(64));
                        values[lane] |= (read(cell.data, bytes) & ones) << shift;
                        undefined.add(lane, (cell.undefined(0, bytes) & ones) << shift, cell.source);
                    } else {
                        write(cell.data, bytes, values[lane] >> shift);
                        let (lost, source) = undefined.part(lane, shift as u32, 8 * bytes);
                        self.store_undefined(space, at[lane], bytes, lost, source);
                    }
                }
            }
            if mode == Mode::Read {
                frame.set_row(slot, &values, mask);
                self.warp.add_undefined(self.program(), frame, slot, &undefined.0, mask);
            }
        }
        self.report_faults(&faults, site.ty.bytes(), mode);
    }

    /// A cell is stored with bits that have no value: they go with it to shared memory; in other memory somebody looks.
    fn store_undefined(&mut self, space: Space, at: u64, bytes: u32, bits: u64, source: u16) {
        if bits == 0 {
            return;
        }
        if space == Space::Shared {
            self.team.undefined.set(at, bytes, bits, source);
            return;
        }
        let mut lost = Bits::NONE;
        lost.add(0, bits, source);
        self.decide(&lost, 1, Decision::Global);
    }
}

/// The undefined bits of a fragment's register.
struct Undefinedness(Bits);

impl Undefinedness {
    /// What a store has of them; a load begins without any.
    fn of(mode: Mode, warp: &mut Warp, frame: Frame, slot: Slot) -> Self {
        let offset = frame.offset(&warp.registers);
        match &mut warp.undefined {
            Some(undefined) if mode != Mode::Read => Self(undefined.row(offset, slot)),
            _ => Self(Bits::NONE),
        }
    }

    fn add(&mut self, lane: usize, bits: u64, source: u16) {
        self.0.add(lane, bits, source);
    }

    /// So many bits of a lane's, and their source.
    fn part(&self, lane: usize, shift: u32, bits: u32) -> (u64, u16) {
        (self.0.bits[lane] >> shift & u64::MAX >> (64 - bits.min(64)), self.0.sources[lane])
    }
}
