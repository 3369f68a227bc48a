//! Loads of shared memory that nothing has written.

use super::decide::Decision;
use crate::check::Conflict;
use crate::machine::state::{
    source::{Source, What},
    step::Step,
    undefined::Bits,
};
use crate::memory::{Addresses, Object, lanes};
use crate::program::instruction::{AtomicOp, MemorySite, Op, Rare};

/// The bits of some bytes: bit `n` of `bytes` stands for the eight of byte `n`.
pub fn bits_of(bytes: u32) -> u64 {
    (0..8).filter(|byte| bytes >> byte & 1 == 1).fold(0, |bits, byte| bits | 0xff << (8 * byte))
}

impl Step<'_, '_> {
    /// Lanes load from `object` what nothing has written, as `conflicts` say: the bits in their registers have no value. What an atomic computes
    /// hangs on them at once, unless it exchanges.
    pub fn give_unwritten(
        &mut self,
        site: &MemorySite,
        addresses: &Addresses,
        object: &Object,
        conflicts: &[(u32, Conflict)],
    ) {
        let mut offsets = Box::new([0; 32]);
        let mut bytes = [0u32; 32];
        for &(lane, conflict) in conflicts {
            if let Conflict::Uninitialised { bytes: unwritten } = conflict {
                let lane = lane as usize;
                bytes[lane] = unwritten;
                let first = u64::from(unwritten.trailing_zeros() / site.bytes * site.bytes);
                offsets[lane] = addresses.at[lane] - object.start + first;
            }
        }
        let mask = lanes(u32::MAX).filter(|&lane| bytes[lane] != 0).fold(0u32, |mask, lane| mask | 1 << lane);
        if mask == 0 {
            return;
        }
        let name = self.launch().shared.name(addresses.at[mask.trailing_zeros() as usize]).to_string();
        let what = What::Memory { name, shared: true, array_bytes: object.bytes, bytes: site.bytes, offsets };
        let side = self.side(mask);
        let source = self.team.undefined.sources.number(Source { what, side });
        for element in 0..site.elements as usize {
            let mut bits = Bits::NONE;
            for lane in lanes(mask) {
                let part = bytes[lane] >> (element as u32 * site.bytes) & ((1 << site.bytes) - 1);
                bits.add(lane, bits_of(part), source);
            }
            if self.is_decided() {
                self.decide(&bits, mask, Decision::Atomic);
            } else if let Some(Some(slot)) = site.values.get(element) {
                self.warp.add_undefined(self.program(), self.frame, *slot, &bits, mask);
            }
        }
    }

    /// Whether an instruction computes with what it finds in memory.
    fn is_decided(&self) -> bool {
        let inst = &self.program().code[self.pc as usize];
        inst.op == Op::Rare(Rare::Atomic)
            && self.program().sites.atomics[inst.aux as usize].op != AtomicOp::Exch
    }
}
