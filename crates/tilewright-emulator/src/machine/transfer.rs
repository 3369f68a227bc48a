//! Asynchronous copies and the memory side of matrix instructions.

use super::{
    access::{gather, resolve},
    checked::{read, write},
    copies::Copy,
    faults::Faults,
    frame::Frame,
    team::Team,
    warp::Warp,
    worker::Worker,
};
use crate::alu;
use crate::check::{Access, Actor, Conflict, FindingKind, Mode, Severity, Strength};
use crate::isa::Major;
use crate::memory::{Addresses, lanes};
use crate::program::instruction::{MemorySite, Space, Transpose, Width};

impl Worker<'_> {
    /// `cp.async`: data are read now and arrive when their group is waited for.
    pub fn copy_async(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.copies[index as usize];
        let bytes = site.to.bytes;
        let mut reads = 0u32;
        let mut lengths = [bytes; 32];
        for lane in lanes(mask) {
            let ignored =
                site.ignore.is_some_and(|(slot, flip)| frame.lane(slot, lane) ^ u64::from(flip & 1) == 1);
            let length = match site.source_bytes {
                Some(slot) => (frame.lane(slot, lane) as u32).min(bytes),
                None => bytes,
            };
            lengths[lane] = if ignored { 0 } else { length };
            reads |= u32::from(lengths[lane] > 0) << lane;
        }
        let to = gather(&site.to, frame, mask);
        self.count(&site.to, &to, Space::Shared, Mode::Write);
        let from = gather(&site.from, frame, if reads == 0 { mask } else { reads });
        if reads != 0 {
            self.count(&site.from, &from, Space::Global, Mode::Read);
        }
        let (mut read_faults, mut write_faults) = (Faults::default(), Faults::default());
        for lane in lanes(mask) {
            let mut data = [0; 16];
            let length = lengths[lane];
            if length > 0 {
                match self.lane_data(
                    Space::Global,
                    warp,
                    team,
                    from.at[lane],
                    lane,
                    length,
                    bytes,
                    Mode::Read,
                ) {
                    Ok(source) => {
                        for (byte, to) in data.iter_mut().take(length as usize).enumerate() {
                            // SAFETY: `lane_data` has checked `length` bytes.
                            *to = read(unsafe { source.add(byte) }, 1) as u8;
                        }
                    }
                    Err(fault) => read_faults.add(lane, from.at[lane], fault),
                }
            }
            match self.lane_data(Space::Shared, warp, team, to.at[lane], lane, bytes, bytes, Mode::Write) {
                Ok(_) => warp.copies.issue(Copy {
                    lane: lane as u8,
                    bytes: bytes as u8,
                    to: to.at[lane],
                    data,
                    pc,
                }),
                Err(fault) => write_faults.add(lane, to.at[lane], fault),
            }
        }
        self.report_faults(&read_faults, self.side(warp, team, pc, 0), bytes, Mode::Read);
        self.report_faults(&write_faults, self.side(warp, team, pc, 0), bytes, Mode::Write);
    }

    /// `cp.async.wait_group`, `cp.async.wait_all`.
    pub fn wait_copies(&mut self, warp: &mut Warp, team: &mut Team, mask: u32, keep: u32) {
        let keep = (keep != u32::MAX).then_some(keep);
        for copy in warp.copies.wait(mask, keep) {
            let lane = usize::from(copy.lane);
            let bytes = u32::from(copy.bytes);
            let data = self.lane_data(Space::Shared, warp, team, copy.to, lane, bytes, bytes, Mode::Write);
            let Ok(data) = data else { continue };
            for (byte, &value) in copy.data.iter().take(bytes as usize).enumerate() {
                // SAFETY: `lane_data` has checked the bytes.
                write(unsafe { data.add(byte) }, 1, value.into());
            }
            self.shadow_bytes(warp, team, copy.to, lane, bytes, Mode::Write, copy.pc);
        }
    }

    /// Tells the shadow of shared memory about one lane's access.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn shadow_bytes(
        &mut self,
        warp: &Warp,
        team: &mut Team,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        pc: u32,
    ) {
        let Some(object) = team.shared.object(&self.launch.shared, at) else { return };
        let start = object.data as usize - team.shared.data() as usize;
        let Some(mut shadow) = team.shadow.take() else { return };
        let offset = (at - object.start) as u32 + start as u32;
        let actor = Actor { warp: warp.index, pc, strength: Strength::Plain };
        let mut found = None;
        let access = Access { actor, mode, offsets: &[offset; 32], bytes, mask: 1 << lane };
        shadow.access(&team.order, &access, &mut |_, conflict| found = Some(conflict));
        team.shadow = Some(shadow);
        let side = self.side(warp, team, pc, 1 << lane);
        let name = self.launch.shared.name(at).to_string();
        match found {
            None => {}
            Some(Conflict::Uninitialised) => {
                self.report(FindingKind::UninitialisedShared, Severity::Error, side, || {
                    (
                        format!("reads `{name}`, which no thread has written"),
                        "wait for the copy, then synchronise".into(),
                    )
                })
            }
            Some(Conflict::Race { earlier, .. }) => {
                let kind = if earlier.warp() == warp.index {
                    FindingKind::WarpRace
                } else {
                    FindingKind::SharedRace
                };
                let with = crate::check::Side {
                    pc: earlier.pc(),
                    block: team.number,
                    warp: earlier.warp(),
                    lanes: earlier.lanes,
                };
                let naming = self.naming();
                self.findings.report(naming, (kind, Some(pc), earlier.pc()), || crate::check::Event {
                    kind,
                    severity: Severity::Error,
                    at: side,
                    with: Some(with),
                    message: format!("accesses `{name}` without a barrier since another thread's access"),
                    fix: "wait for the copy with cp.async.wait_group, then call __syncthreads()".into(),
                });
            }
        }
    }

    /// Checks one lane's rows or elements and tells the shadow; `None` after a fault.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn element(
        &mut self,
        space: Space,
        warp: &mut Warp,
        team: &mut Team,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        faults: &mut Faults,
        pc: u32,
    ) -> Option<*mut u8> {
        match self.lane_data(space, warp, team, at, lane, bytes, bytes, mode) {
            Ok(data) => {
                if space == Space::Shared && team.shadow.is_some() {
                    self.shadow_bytes(warp, team, at, lane, bytes, mode, pc);
                }
                Some(data)
            }
            Err(fault) => {
                faults.add(lane, at, fault);
                None
            }
        }
    }

    /// `ldmatrix`: lanes 8 i to 8 i + 7 hold the addresses of the rows of matrix i.
    pub fn load_matrix(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.matrices[index as usize];
        let matrices = site.memory.values.len();
        let (addresses, space) = self.matrix_rows(&site.memory, frame, mask, matrices);
        let mut faults = Faults::default();
        for (matrix, slot) in site.memory.values.iter().enumerate() {
            let mut rows = [[0u16; 8]; 8];
            for (row, values) in rows.iter_mut().enumerate() {
                let lane = 8 * matrix + row;
                let data = self.element(
                    space,
                    warp,
                    team,
                    addresses.at[lane],
                    lane,
                    16,
                    Mode::Read,
                    &mut faults,
                    pc,
                );
                let Some(data) = data else { continue };
                for (column, value) in values.iter_mut().enumerate() {
                    // SAFETY: 16 bytes were checked.
                    *value = read(unsafe { data.add(2 * column) }, 2) as u16;
                }
            }
            let Some(slot) = *slot else { continue };
            let values: [u64; 32] = std::array::from_fn(|lane| {
                let pair = |i: usize| match site.transpose {
                    Transpose::No => rows[lane / 4][2 * (lane % 4) + i],
                    Transpose::Yes => rows[2 * (lane % 4) + i][lane / 4],
                };
                u64::from(pair(0)) | u64::from(pair(1)) << 16
            });
            frame.set_row(slot, &values, mask);
        }
        self.report_faults(&faults, self.side(warp, team, pc, 0), 16, Mode::Read);
    }

    /// `stmatrix`.
    pub fn store_matrix(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.matrices[index as usize];
        let matrices = site.memory.values.len();
        let (addresses, space) = self.matrix_rows(&site.memory, frame, mask, matrices);
        let mut faults = Faults::default();
        for (matrix, slot) in site.memory.values.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let values = frame.row(slot);
            for row in 0..8 {
                let lane = 8 * matrix + row;
                let data = self.element(
                    space,
                    warp,
                    team,
                    addresses.at[lane],
                    lane,
                    16,
                    Mode::Write,
                    &mut faults,
                    pc,
                );
                let Some(data) = data else { continue };
                for column in 0..8 {
                    let (holder, half) = match site.transpose {
                        Transpose::No => (4 * row + column / 2, column % 2),
                        Transpose::Yes => (4 * column + row / 2, row % 2),
                    };
                    // SAFETY: 16 bytes were checked.
                    write(unsafe { data.add(2 * column) }, 2, values[holder] >> (16 * half));
                }
            }
        }
        self.report_faults(&faults, self.side(warp, team, pc, 0), 16, Mode::Write);
    }

    /// Counts the rows of `matrices` 8 x 8 matrices: each is 8 lanes of 16 bytes, one wavefront if they do not conflict.
    fn matrix_rows(
        &mut self,
        site: &MemorySite,
        frame: Frame,
        mask: u32,
        matrices: usize,
    ) -> (Addresses, Space) {
        let mut addresses = gather(site, frame, mask);
        let space = resolve(site.space, &mut addresses);
        let named = u32::MAX >> (32 - 8 * matrices.min(4) as u32);
        let used = Addresses { at: addresses.at, mask: mask & named };
        let count = &mut self.counts.accesses[site.counter as usize];
        // Rows of a matrix are not paired as the lanes of plain loads are: loads follow the rule of stores.
        let cost = tilewright_arch::memory::shared::store(&used.at, used.mask, 16);
        count.requests += 1;
        count.lanes += u64::from(used.mask.count_ones());
        count.bytes += 16 * u64::from(used.mask.count_ones());
        count.wavefronts += u64::from(cost.wavefronts);
        count.ideal_wavefronts += u64::from(cost.ideal);
        self.counts.spaces[site.counter as usize] |= 1 << Space::Shared as u8;
        (addresses, space)
    }

    /// `mma.sync`, `wmma.mma`.
    pub fn mma(&self, frame: Frame, index: u32, mask: u32) {
        let site = &self.program.sites.mmas[index as usize];
        let rows = |slots: &[crate::program::instruction::Slot]| -> Vec<[u64; 32]> {
            slots.iter().map(|&slot| frame.row(slot)).collect()
        };
        let mut d = vec![[0; 32]; site.d.len()];
        (site.eval)(&site.op, &rows(&site.a), &rows(&site.b), &rows(&site.c), &mut d);
        for (slot, values) in site.d.iter().zip(&d) {
            frame.set_row(*slot, values, mask);
        }
    }

    /// `wmma.load`.
    pub fn wmma_load(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        self.wmma(warp, team, frame, index, mask, pc, Mode::Read);
    }

    /// `wmma.store`.
    pub fn wmma_store(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        self.wmma(warp, team, frame, index, mask, pc, Mode::Write);
    }

    /// Moves a fragment element by element; the layout over lanes is the machine's own, so that requests and sectors are counted per
    /// register and lane as a compiler would issue them, and cannot be compared with hardware one to one.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn wmma(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
        mode: Mode,
    ) {
        let site = &self.program.sites.wmmas[index as usize];
        let mut bases = gather(&site.memory, frame, mask);
        let space = resolve(site.memory.space, &mut bases);
        let (rows, columns) = match site.fragment {
            crate::isa::Fragment::A => (site.op.m, site.op.k),
            crate::isa::Fragment::B => (site.op.k, site.op.n),
            crate::isa::Fragment::C => (site.op.m, site.op.n),
        };
        let bits = u64::from(site.ty.bits());
        let mut faults = Faults::default();
        let mut sub = site.memory.clone();
        let per_register =
            |width: Width| (if width == Width::Double { 64 } else { 32 } / bits).max(1) as usize;
        for (register, slot) in site.memory.values.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let elements = per_register(slot.width);
            let mut values = frame.row(slot);
            if mode == Mode::Read {
                values = [0; 32];
            }
            for element in 0..elements {
                let mut at = [0; 32];
                for (lane, at) in at.iter_mut().enumerate() {
                    let (row, column) =
                        alu::fragment_position(&site.op, site.fragment, lane, register, element);
                    let stride = match (site.stride, site.major) {
                        (Some(slot), _) => frame.lane(slot, lane),
                        (None, Major::Row) => columns.into(),
                        (None, Major::Col) => rows.into(),
                    };
                    let index = match site.major {
                        Major::Row => row as u64 * stride + column as u64,
                        Major::Col => column as u64 * stride + row as u64,
                    };
                    *at = bases.at[lane].wrapping_add(index * bits / 8);
                }
                let addresses = Addresses { at, mask };
                sub.bytes = site.ty.bytes();
                sub.elements = 1;
                self.count(&sub, &addresses, space, mode);
                for lane in lanes(mask) {
                    let bytes = sub.bytes;
                    let data = self.element(space, warp, team, at[lane], lane, bytes, mode, &mut faults, pc);
                    let Some(data) = data else { continue };
                    let shift = element as u64 * bits;
                    if mode == Mode::Read {
                        let ones = u64::MAX >> (64 - bits.min(64));
                        values[lane] |= (read(data, bytes) & ones) << shift;
                    } else {
                        write(data, bytes, values[lane] >> shift);
                    }
                }
            }
            if mode == Mode::Read {
                frame.set_row(slot, &values, mask);
            }
        }
        self.report_faults(&faults, self.side(warp, team, pc, 0), site.ty.bytes(), mode);
    }
}
