//! Bulk copies begin, and end.

use super::global_side::Moment;
use crate::alu::{self, Operation};
use crate::check::{Actor, FindingKind, Mode, Severity, Strength};
use crate::machine::{
    accesses::atomics,
    state::{
        step::Step,
        transfer::{Far, Transfer},
    },
    watch::{faults::Faults, progress::Progress},
};
use crate::program::instruction::{AtomicOp, Space};
use crate::ptx_isa::{Modifiers, Opcode, ScalarOp, Type};
use crate::tensor_map::{ElementType, Fill, TensorMap};

/// Bytes that are moved and swizzled together.
const PIECE: u32 = 16;

/// Eight bytes of what lies outside of a tensor: an H100 fills with these halves, whatever the floating-point type.
pub fn fill(map: &TensorMap) -> u64 {
    match map.fill {
        Fill::Zeros => 0,
        Fill::Nan => 0x7ff7_7ff7_7ff7_7ff7,
    }
}

/// The physical address of each piece of a copy in shared memory, which begins at `shared`.
fn pieces(transfer: &Transfer, shared: u64) -> impl Iterator<Item = u64> {
    transfer.rows.iter().flat_map(move |row| {
        let pieces = (0..row.bytes).step_by(PIECE as usize);
        pieces.map(move |piece| transfer.swizzle.place(shared + u64::from(row.shared + piece)))
    })
}

impl Step<'_, '_> {
    /// A copy begins: what it reads must be there, and what it writes must be free.
    pub fn begin_transfer(&mut self, transfer: &mut Transfer) {
        let shared = self.team.own(transfer.shared);
        self.worker.check_global_side(self.team, transfer, Moment::Issued);
        let lane = transfer.lane.into();
        if transfer.is_load {
            let actor = actor(transfer);
            for at in pieces(transfer, shared) {
                self.worker.check_overwritten(self.team, transfer.side(), at, PIECE);
                self.shadow_bytes(at, lane, PIECE, Mode::Write, Strength::Plain, false);
                self.worker.shadow_progress(self.team, actor, lane, at, PIECE, Progress::Issued);
            }
            if let (Far::Shared, Some(row)) = (transfer.far, transfer.rows.first()) {
                self.check_proxy(lane, self.team.own(row.global), row.bytes);
            }
            return;
        }
        let mut faults = Faults::default();
        transfer.before = self.shared_bytes(transfer, &mut faults);
        for at in pieces(transfer, shared) {
            self.check_proxy(lane, at, PIECE);
        }
        self.report_faults(&faults, PIECE, Mode::Read);
    }

    /// Moves the data, and tells the mbarrier.
    pub fn finish_transfer(&mut self, transfer: &mut Transfer) {
        let mut step = self.at(transfer.pc);
        let shared = step.team.own(transfer.shared);
        step.worker.check_global_side(step.team, transfer, Moment::Done);
        let mut faults = Faults::default();
        if transfer.is_load {
            step.bring(transfer, shared, &mut faults);
            if step.team.shadow.is_some() {
                step.worker.filled(step.team, transfer);
            }
        } else {
            step.take(transfer, &mut faults);
        }
        let mode = if transfer.is_load { Mode::Read } else { Mode::Write };
        step.worker.report_faults(&faults, transfer.side(), PIECE, mode);
        if let Some(barrier) = transfer.barrier {
            let bytes: u64 = transfer.rows.iter().map(|row| u64::from(row.bytes)).sum();
            step.complete_bytes(step.team.own(barrier), transfer, bytes);
        }
    }

    fn bring(&mut self, transfer: &Transfer, shared: u64, faults: &mut Faults) {
        let lane = usize::from(transfer.lane);
        let combine = Combine::of(transfer);
        let is_own = transfer.block == self.team.number;
        let done = if is_own { Progress::Done } else { Progress::DoneElsewhere };
        for row in &transfer.rows {
            let mut bytes = vec![0; row.bytes as usize];
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = transfer.fill.to_le_bytes()[at % 8];
            }
            let inside = row.end - row.first;
            if inside > 0 {
                let space = if transfer.far == Far::Shared { Space::Shared } else { Space::Global };
                match self.lane_data(space, row.global, lane, inside, 1, Mode::Read) {
                    // SAFETY: `lane_data` has checked the bytes.
                    Ok(data) => read_bytes(data, &mut bytes[row.first as usize..row.end as usize]),
                    Err(fault) => faults.add(lane, row.global, fault),
                }
            }
            let (first, end) = (row.first as usize, row.end as usize);
            round(&mut bytes[first..end], transfer.element);
            for (index, piece) in bytes.chunks_exact(PIECE as usize).enumerate() {
                let at = transfer.swizzle.place(shared + u64::from(row.shared) + 16 * index as u64);
                match self.lane_data(Space::Shared, at, lane, PIECE, PIECE, Mode::Write) {
                    Ok(data) => combine.write(data, piece),
                    Err(fault) => faults.add(lane, at, fault),
                }
                self.worker.shadow_progress(self.team, actor(transfer), lane, at, PIECE, done);
            }
        }
    }

    fn take(&mut self, transfer: &Transfer, faults: &mut Faults) {
        let lane = usize::from(transfer.lane);
        let combine = Combine::of(transfer);
        let bytes = self.shared_bytes(transfer, faults);
        if bytes != transfer.before {
            self.report(FindingKind::PendingCopy, Severity::Error, 1 << lane, || {
                (
                    "shared memory that this bulk copy reads was written before it was waited for".into(),
                    "let the thread that issues it wait with cp.async.bulk.wait_group.read, and put a barrier \
                     between that and the next store there"
                        .into(),
                )
            });
        }
        let mut from = 0;
        for row in &transfer.rows {
            let part = &bytes[from + row.first as usize..from + row.end as usize];
            from += row.bytes as usize;
            if part.is_empty() {
                continue;
            }
            match self.lane_data(Space::Global, row.global, lane, part.len() as u32, 1, Mode::Write) {
                Ok(data) => combine.write(data, part),
                Err(fault) => faults.add(lane, row.global, fault),
            }
        }
    }

    /// What a store reads, row by row without the swizzle.
    fn shared_bytes(&mut self, transfer: &Transfer, faults: &mut Faults) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in pieces(transfer, self.team.own(transfer.shared)) {
            let cell = self.element(Space::Shared, at, transfer.lane.into(), PIECE, Mode::Read, faults);
            // SAFETY: 16 bytes were checked.
            let piece = cell.map_or([0; 16], |cell| unsafe { cell.data.cast::<[u8; 16]>().read_unaligned() });
            bytes.extend_from_slice(&piece);
        }
        bytes
    }
}

fn actor(transfer: &Transfer) -> Actor {
    Actor { warp: transfer.warp, pc: transfer.pc, strength: Strength::Plain }
}

fn read_bytes(data: *mut u8, to: &mut [u8]) {
    for (at, to) in to.iter_mut().enumerate() {
        // SAFETY: the caller has checked the bytes.
        *to = crate::memory::read(unsafe { data.add(at) }, 1) as u8;
    }
}

/// What is loaded as tf32 is rounded to nearest even, and a NaN is made one of ours. Subnormal numbers stay in every type, as on an H100.
fn round(bytes: &mut [u8], element: Option<ElementType>) {
    if !matches!(element, Some(ElementType::Tf32 | ElementType::Tf32Ftz)) {
        return;
    }
    const DROPPED: u32 = 13;
    for word in bytes.chunks_exact_mut(4) {
        let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let odd = bits >> DROPPED & 1;
        let rounded = match f32::from_bits(bits).is_nan() {
            true => 0x7fff_ffff,
            // A carry goes on into the exponent, up to infinity.
            false => bits + (1 << (DROPPED - 1)) - 1 + odd,
        };
        word.copy_from_slice(&(rounded >> DROPPED << DROPPED).to_le_bytes());
    }
}

/// How what comes joins what is there.
enum Combine {
    Replace,
    Integer { op: AtomicOp, ty: Type },
    Float { eval: Operation, bytes: usize },
}

impl Combine {
    fn of(transfer: &Transfer) -> Self {
        let Some((op, Some(ty))) = transfer.reduction else { return Self::Replace };
        if !ty.is_float() {
            return Self::Integer { op, ty };
        }
        let opcode = match op {
            AtomicOp::Min => Opcode::Min,
            AtomicOp::Max => Opcode::Max,
            _ => Opcode::Add,
        };
        match alu::prepare(&ScalarOp::of_two(opcode, ty, Modifiers::default())) {
            Some(eval) => Self::Float { eval, bytes: ty.bytes() as usize },
            None => Self::Replace,
        }
    }

    /// Brings `bytes` to `data`, where the caller has checked that there is room.
    fn write(&self, data: *mut u8, bytes: &[u8]) {
        let size = match self {
            Self::Replace => 1,
            Self::Integer { ty, .. } => ty.bytes() as usize,
            Self::Float { bytes, .. } => *bytes,
        };
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        for (index, element) in bytes.chunks_exact(size).enumerate() {
            // SAFETY: the element lies inside of what the caller has checked.
            let cell = unsafe { data.add(index * size) };
            let new = |old: u64| match self {
                Self::Replace => element[0].into(),
                Self::Integer { op, ty } => {
                    atomics::integer(*op, old, word(element), 0, ty.bits(), ty.is_signed())
                }
                Self::Float { eval, .. } => eval.lane([old, word(element), 0, 0, 0]),
            };
            match size {
                1 => crate::memory::write(cell, 1, new(0)),
                // SAFETY: as above; copies begin at multiples of 16, and elements at multiples of their size.
                _ => drop(unsafe { atomics::exchange(cell, size as u32, new) }),
            }
        }
    }
}
