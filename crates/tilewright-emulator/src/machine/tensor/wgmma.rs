//! `wgmma.mma_async`: each warp of a warpgroup has 16 rows of D.

use super::descriptor::Descriptor;
use crate::alu::{
    self,
    tensor::{TensorProduct, Unit},
};
use crate::check::{Event, FindingKind, Mode, Severity, Side};
use crate::count::AccessCount;
use crate::machine::{
    lanes::frame::Frame,
    state::{in_flight::Piece, options::Races, step::Step, team::WARPS, undefined::Bits, worker::Worker},
    watch::faults::Faults,
};
use crate::memory::Addresses;
use crate::program::{
    address,
    instruction::{RegisterMisuse, Slot, Space, WgmmaFactor, WgmmaSite},
};
use crate::ptx_isa::{Fragment, Major, MatrixOp, Type};

/// Bytes of a line along k: that is what an instruction takes of every type.
const DEPTH: usize = 32;

/// An operand: its elements along k, line by line, and for each line where bits of it come from that have no value.
pub struct Operand {
    elements: Vec<u64>,
    undefined: Vec<u16>,
}

impl Step<'_, '_> {
    /// The rows of one warp. `b` is what another warp of the group has read for the same instruction and descriptor.
    pub fn wgmma(&mut self, b: &mut Option<(u32, u64, Operand)>) {
        let Self { frame, mask, pc, .. } = *self;
        let program = self.program();
        let index = program.code[pc as usize].aux;
        let site = &program.sites.wgmmas[index as usize];
        let op = &site.op;
        let first = mask.trailing_zeros() as usize & 31;
        let mut faults = Faults::default();
        let a = match &site.a {
            WgmmaFactor::Registers(slots) => from_registers(op, frame, slots),
            WgmmaFactor::Shared(slot) => {
                let descriptor = Descriptor::decode(frame.lane(*slot, first));
                let rows = 16 * (self.warp.index % WARPS as u32);
                let lines = (rows, op.m.into(), op.a);
                self.operand(&descriptor, (site, site.majors[0]), lines, &mut faults)
            }
        };
        let word = frame.lane(site.b, first);
        if b.as_ref().is_none_or(|(of, read, _)| (*of, *read) != (index, word)) {
            let lines = (0, op.n.into(), op.b);
            let descriptor = Descriptor::decode(word);
            let operand = self.operand(&descriptor, (site, site.majors[1]), lines, &mut faults);
            *b = Some((index, word, operand));
        }
        let Some((_, _, b)) = b else { return };
        let accumulates = frame.predicate(site.accumulates.0.place) ^ site.accumulates.1;
        let c = match accumulates >> first & 1 {
            1 => accumulators(op, frame, &site.c),
            _ => vec![0; usize::from(op.m) * usize::from(op.n)],
        };
        let [negates_a, negates_b] = site.negates;
        let product = TensorProduct::of(op, Unit::Warpgroup, self.launch().capability);
        let d = product.evaluate(
            &negated(&a.elements, op.a, negates_a),
            &negated(&b.elements, op.b, negates_b),
            &c,
        );
        if !site.misuses.is_empty() && self.launch().races != Races::Ignore {
            self.worker.report_registers(&site.misuses, self.side(mask));
        }
        self.deliver(site, &d, (&a.undefined, &b.undefined));
        self.report_faults(&faults, 16, Mode::Read);
    }

    /// Reads `count` lines of elements from line `first` on; of a transposed operand these lie across the lines in memory.
    fn operand(
        &mut self,
        descriptor: &Descriptor,
        (site, major): (&WgmmaSite, Major),
        (first, count, ty): (u32, usize, Type),
        faults: &mut Faults,
    ) -> Operand {
        if self.team.shadow.is_some() {
            let at = self.launch().shared.address(descriptor.start).unwrap_or_default();
            self.worker.check_descriptor(self.team, descriptor, at, self.side(u32::MAX));
        }
        let mut bytes = vec![0u8; count * DEPTH];
        let mut undefined = vec![0; count];
        // What is looked at again when the instruction is waited for.
        let (mut seen, is_watched) = (Vec::new(), self.team.shadow.is_some());
        let mut places = Vec::new();
        let element = (ty.bits() as usize / 8).max(1);
        let (lines, pieces) = match major {
            Major::Row => (count, DEPTH / 16),
            Major::Col => (DEPTH / element, count * element / 16),
        };
        for line in 0..lines {
            for piece in 0..pieces {
                let (at_line, at_piece) = match major {
                    Major::Row => (first + line as u32, piece as u32),
                    Major::Col => (line as u32, first * element as u32 / 16 + piece as u32),
                };
                let low = descriptor.piece(major, at_line, at_piece);
                let at = self.launch().shared.address(low).unwrap_or(address::of_shared(0) + u64::from(low));
                places.push((piece, line, at));
                let lane = (line * pieces + piece) % 32;
                let cell = self.element(Space::Shared, at, lane, 16, Mode::Read, faults);
                let Some(cell) = cell else { continue };
                self.check_proxy(lane, at, 16);
                // SAFETY: 16 bytes were checked.
                let data = unsafe { cell.data.cast::<[u8; 16]>().read_unaligned() };
                if is_watched {
                    seen.push(Piece { at, data, pc: self.pc });
                }
                let lost = cell.undefined(0, 8) != 0 || cell.undefined(8, 8) != 0;
                match major {
                    Major::Row => {
                        bytes[line * DEPTH + 16 * piece..][..16].copy_from_slice(&data);
                        undefined[line] = if lost { cell.source } else { undefined[line] };
                    }
                    Major::Col => {
                        for (index, data) in data.chunks_exact(element).enumerate() {
                            let across = piece * 16 / element + index;
                            bytes[across * DEPTH + line * element..][..element].copy_from_slice(data);
                            undefined[across] = if lost { cell.source } else { undefined[across] };
                        }
                    }
                }
            }
        }
        self.worker.count_cores(site.counter, places);
        self.team.products_of(self.warp.index).issue(seen);
        Operand { elements: elements(&bytes, ty), undefined }
    }

    /// Writes D, and says what of it has no value.
    fn deliver(&mut self, site: &WgmmaSite, d: &[u64], (rows, columns): (&[u16], &[u16])) {
        let Self { frame, mask, .. } = *self;
        let bits = u64::from(site.op.d.bits());
        let is_defined = rows.iter().chain(columns).all(|&source| source == 0);
        let mut values = vec![[0; 32]; site.d.len()];
        let mut undefined = vec![Bits::NONE; if is_defined { 0 } else { site.d.len() }];
        each_accumulator(&site.op, site.d.len(), |register, lane, element, row, column| {
            let shift = bits * element as u64;
            values[register][lane] |= d[row * usize::from(site.op.n) + column] << shift;
            let source = rows.get(row).map_or(0, |&source| source).max(columns[column]);
            if source != 0 {
                undefined[register].add(lane, (u64::MAX >> (64 - bits)) << shift, source);
            }
        });
        for (register, &slot) in site.d.iter().enumerate() {
            frame.set_row(slot, &values[register], mask);
            if let Some(undefined) = undefined.get(register) {
                self.warp.add_undefined(self.program(), frame, slot, undefined, mask);
            }
        }
    }
}

impl Worker<'_> {
    /// Counts the reads of an operand, whose places are piece, line and address: matrices of 8 lines of 16 bytes, four in a request, each a
    /// wavefront where its lines lie in different banks.
    fn count_cores(&mut self, counter: u32, mut places: Vec<(usize, usize, u64)>) {
        // Neighbours are the lines of one piece.
        places.sort_unstable();
        for request in places.chunks(32) {
            let at = std::array::from_fn(|lane| request.get(lane).unwrap_or(&request[0]).2);
            let mask = u32::MAX >> (32 - request.len() as u32);
            let cost = tilewright_arch::memory::shared::store(&at, mask, 16);
            let once = AccessCount {
                requests: 1,
                lanes: request.len() as u64,
                bytes: 16 * request.len() as u64,
                wavefronts: cost.wavefronts.into(),
                ideal_wavefronts: cost.ideal.into(),
                ..AccessCount::default()
            };
            self.counts.access(counter, Space::Shared, &once, 1);
            self.observe_counted(counter, 16, &Addresses { at, mask }, Space::Shared, Mode::Read);
        }
    }

    /// Says what the code does wrong with the registers of an instruction.
    fn report_registers(&mut self, misuses: &[(RegisterMisuse, Option<u32>)], at: Side) {
        let kind = FindingKind::ProductRegisters;
        for &(misuse, with) in misuses {
            let (message, fix) = match (misuse, with) {
                (RegisterMisuse::Touched, _) => (
                    "has its registers used before it is waited for; where ptxas sees that, it waits at once, and nothing overlaps",
                    "put wgmma.commit_group and wgmma.wait_group between the instruction and the first use of its registers",
                ),
                (RegisterMisuse::Unfenced, Some(_)) => (
                    "uses registers that were written, and nothing orders it behind that",
                    "execute wgmma.fence between the last write to a register of A or D and the first wgmma that uses it",
                ),
                (RegisterMisuse::Unfenced, None) => (
                    "is the first of its kind, and no wgmma.fence comes before it",
                    "execute wgmma.fence in all warps of the group before the first wgmma",
                ),
            };
            let naming = self.naming();
            self.findings.report(naming, (kind, at.pc, with), || Event {
                kind,
                severity: Severity::Error,
                at,
                with: with.map(|pc| Side { pc: Some(pc), ..at }),
                message: message.into(),
                fix: fix.into(),
                race: None,
            });
        }
    }
}

/// Elements that lie one after the other, in lines along k.
fn elements(bytes: &[u8], ty: Type) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    match ty.bits() {
        1 => bytes.iter().flat_map(|&byte| (0..8).map(move |bit| u64::from(byte >> bit & 1))).collect(),
        bits => bytes.chunks_exact(bits as usize / 8).map(word).collect(),
    }
}

/// A of a warp, from the fragment that `mma.sync` has too.
fn from_registers(op: &MatrixOp, frame: Frame, slots: &[Slot]) -> Operand {
    let k = usize::from(op.k);
    let bits = op.a.bits();
    let mut elements = vec![0; usize::from(op.m) * k];
    for (register, &slot) in slots.iter().enumerate() {
        for (lane, word) in frame.row(slot).into_iter().enumerate() {
            for element in 0..(32 / bits) as usize {
                let (row, column) = alu::fragment_position(op, Fragment::A, lane, register, element);
                elements[row * k + column] = word >> (bits * element as u32) & u64::MAX >> (64 - bits);
            }
        }
    }
    Operand { elements, undefined: Vec::new() }
}

/// D before the instruction, row by row.
fn accumulators(op: &MatrixOp, frame: Frame, slots: &[Slot]) -> Vec<u64> {
    let bits = op.c.bits();
    let words: Vec<_> = slots.iter().map(|&slot| frame.row(slot)).collect();
    let mut elements = vec![0; usize::from(op.m) * usize::from(op.n)];
    each_accumulator(op, slots.len(), |register, lane, element, row, column| {
        let word = words[register][lane] >> (bits * element as u32);
        elements[row * usize::from(op.n) + column] = word & u64::MAX >> (64 - bits);
    });
    elements
}

/// Register, lane, element of the register, row and column of everything that a warp has of D: the fragments of 8 columns each.
fn each_accumulator(op: &MatrixOp, registers: usize, mut see: impl FnMut(usize, usize, usize, usize, usize)) {
    let block = MatrixOp { n: 8, ..*op };
    let of_block = alu::fragment_registers(&block, Fragment::C).unwrap_or(1);
    let per_register = (32 / op.d.bits()) as usize;
    for inner in 0..of_block {
        for lane in 0..32 {
            for element in 0..per_register {
                let (row, column) = alu::fragment_position(&block, Fragment::C, lane, inner, element);
                for first in (0..registers).step_by(of_block) {
                    see(first + inner, lane, element, row, first / of_block * 8 + column);
                }
            }
        }
    }
}

/// Elements with other signs, if they are to be negated.
fn negated(elements: &[u64], ty: Type, negates: bool) -> Vec<u64> {
    let sign = if negates { 1 << (ty.bits() - 1) } else { 0 };
    elements.iter().map(|element| element ^ sign).collect()
}
