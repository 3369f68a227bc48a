//! Accesses of one lane by instructions that are not plain loads and stores.

use crate::check::{
    Access, Conflict, Entry, Event, FindingKind, INITIALISE_ONCE, Mode, Setting, Severity, Side, Strength,
    fix,
};
use crate::machine::{
    state::{
        source::{Source, What},
        step::Step,
    },
    watch::{definedness::bits_of, faults::Faults},
};
use crate::program::{address, instruction::Space};

/// One lane's rows or elements: up to 16 bytes of memory.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// They.
    pub data: *mut u8,
    /// Their bits that have no value, of eight bytes each.
    bits: [u64; 2],
    /// Where those come from.
    pub source: u16,
}

impl Cell {
    /// The undefined bits of `bytes` bytes, `at` bytes behind the first.
    pub fn undefined(&self, at: u32, bytes: u32) -> u64 {
        self.bits[at as usize / 8] >> (8 * (at % 8)) & u64::MAX >> (64 - 8 * bytes)
    }
}

impl Step<'_, '_> {
    /// Tells the shadow of shared memory about one lane's access, and whether it is known to leave the bytes as they are. Returns which of
    /// them nothing has written.
    pub fn shadow_bytes(
        &mut self,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        strength: Strength,
        is_same: bool,
    ) -> u32 {
        let pc = self.pc;
        if address::rank_of(at).is_some() {
            // It may be that of another block.
            return 0;
        }
        if mode == Mode::Write && !self.team.undefined.is_none() {
            (0..bytes)
                .step_by(8)
                .for_each(|byte| self.team.undefined.set(at + u64::from(byte), 8.min(bytes - byte), 0, 0));
        }
        let Some(object) = self.team.shared.object(&self.launch().shared, at) else { return 0 };
        let start = object.data as usize - self.team.shared.data() as usize;
        let Some(mut shadow) = self.team.shadow.take() else { return 0 };
        let offset = (at - object.start) as u32 + start as u32;
        let actor = self.actor(strength);
        let mut found = None;
        let access = Access { actor, mode, offsets: &[offset; 32], bytes, mask: 1 << lane };
        shadow.access(&self.team.order, &access, &mut |_, conflict| found = Some(conflict));
        self.team.shadow = Some(shadow);
        let side = self.side(1 << lane);
        let name = self.launch().shared.name(at).to_string();
        match found {
            None => {}
            Some(Conflict::Uninitialised { bytes }) if strength == Strength::Plain => return bytes,
            Some(Conflict::Uninitialised { .. }) => {
                self.report(FindingKind::UninitialisedShared, Severity::Error, 1 << lane, || {
                    (
                        format!("reads `{name}`, which no thread has written"),
                        "write it first, and put a barrier between the store and the load".into(),
                    )
                })
            }
            Some(Conflict::Pending { copy }) => self.report_pending(copy, side, at, &name, mode),
            Some(Conflict::Race { earlier, .. }) => {
                let kind = if earlier.warp() == self.warp.index {
                    FindingKind::WarpRace
                } else {
                    FindingKind::SharedRace
                };
                let with = self.team.earlier(earlier);
                // Lanes that initialise an mbarrier together, with one count, make the same of it.
                let is_repeated = earlier.pc() == Some(pc) && mode == Mode::Write && is_same;
                let setting = if is_repeated { Setting::Benign } else { Setting::Data };
                let naming = self.worker.naming();
                self.worker.findings.report(naming, (kind, Some(pc), earlier.pc()), || Event {
                    kind,
                    severity: if is_repeated { Severity::Note } else { Severity::Error },
                    at: side,
                    with: Some(with),
                    message: format!("accesses `{name}` without a barrier since another thread's access"),
                    fix: if is_repeated { INITIALISE_ONCE.into() } else { fix(kind, mode, setting) },
                    race: Some((mode, setting)),
                });
            }
        }
        0
    }

    /// Reports an access of what an asynchronous copy is on its way to.
    pub fn report_pending(&mut self, copy: Entry, at: Side, address: u64, name: &str, mode: Mode) {
        let with = Side { pc: copy.pc(), warp: copy.warp(), lanes: copy.lanes, ..at };
        let kind = FindingKind::PendingCopy;
        let bulk = self.worker.pending_bulk(self.team, copy, (at.warp, address), name, mode);
        let naming = self.worker.naming();
        self.worker.findings.report(naming, (kind, at.pc, with.pc), || {
            let (message, fix) = bulk.unwrap_or_else(|| {
                let verb = mode.verb();
                (
                    format!("{verb} `{name}` where an asynchronous copy may still arrive: the thread that copies has not waited for it"),
                    "let the thread that copies wait first, with cp.async.wait_all, or with cp.async.commit_group and a \
                     cp.async.wait_group that leaves fewer groups open; threads that it does not copy for need a barrier behind that"
                        .into(),
                )
            });
            Event { kind, severity: Severity::Error, at, with: Some(with), message, fix, race: None }
        });
    }

    /// Checks one lane's rows or elements and tells the shadow; `None` after a fault.
    pub fn element(
        &mut self,
        space: Space,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        faults: &mut Faults,
    ) -> Option<Cell> {
        match self.lane_data(space, at, lane, bytes, bytes, mode) {
            Ok(data) => {
                let mut cell = Cell { data, bits: [0; 2], source: 0 };
                if space == Space::Shared && self.team.shadow.is_some() {
                    let unwritten = self.shadow_bytes(at, lane, bytes, mode, Strength::Plain, false);
                    self.note_undefined(&mut cell, unwritten, at, lane, bytes);
                }
                Some(cell)
            }
            Err(fault) => {
                faults.add(lane, at, fault);
                None
            }
        }
    }

    /// Says what of a cell has no value: `unwritten` bytes, and what was stored so.
    fn note_undefined(&mut self, cell: &mut Cell, unwritten: u32, at: u64, lane: usize, bytes: u32) {
        for (half, bits) in cell.bits.iter_mut().enumerate().take(bytes.div_ceil(8) as usize) {
            let first = 8 * half as u32;
            let (stored, source) = self.team.undefined.at(at + u64::from(first), 8.min(bytes - first));
            *bits = stored | bits_of(unwritten >> first);
            cell.source = cell.source.max(source);
        }
        let Some(object) = self.team.shared.object(&self.launch().shared, at).filter(|_| unwritten != 0)
        else {
            return;
        };
        let offset = at - object.start + u64::from(unwritten.trailing_zeros());
        // The rows of matrices have elements of two bytes.
        let what = What::Memory {
            name: self.launch().shared.name(at).to_string(),
            shared: true,
            array_bytes: object.bytes,
            bytes: if bytes == 16 { 2 } else { bytes },
            offsets: Box::new([offset; 32]),
        };
        cell.source = self.team.undefined.sources.number(Source { what, side: self.side(1 << lane) });
    }
}
