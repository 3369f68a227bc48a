//! Reads of local and constant memory that nothing has written. What comes from local memory has no value; constant memory is zero.

use crate::check::{FindingKind, Severity, Side};
use crate::machine::state::{
    source::{Source, What},
    step::Step,
    undefined::Bits,
    worker::Worker,
};
use crate::program::{
    address,
    instruction::{Slot, Space},
};

impl Step<'_, '_> {
    /// A lane reads an element of `bytes` bytes at `data` into `slot`; the address of its access is `at`. Returns whether it is constant
    /// memory that nobody has filled.
    ///
    /// Compilers copy structures with the bytes between their members. So an element counts as written if a part of it is, and single
    /// bytes and half words, in which they copy too, if a part of the eight bytes around them is.
    pub fn note_unwritten(
        &mut self,
        space: Space,
        slot: Slot,
        lane: usize,
        at: u64,
        data: *const u8,
        bytes: u32,
    ) -> bool {
        let is_local =
            space == Space::Local || space == Space::Generic && address::window(at) == address::LOCAL_WINDOW;
        if is_local {
            // Variables begin at multiples of eight.
            let (data, around) =
                if bytes < 4 { (data.wrapping_sub(data as usize % 8), 8) } else { (data, bytes) };
            if self.warp.local.is_unwritten(lane, data, around) {
                let source = self.team.undefined.sources.number(self.local_source(lane, at));
                let mut bits = Bits::NONE;
                bits.add(lane, u64::MAX >> (64 - 8 * bytes.min(8)), source);
                self.warp.add_undefined(self.program(), self.frame, slot, &bits, 1 << lane);
            }
        }
        !is_local && space != Space::Shared && self.worker.is_unfilled(at)
    }

    fn local_source(&self, lane: usize, at: u64) -> Source {
        let at = at - address::window(at);
        let place = self.program().locals.find(at);
        let (name, start, array_bytes) = place.map_or(("local memory", at, 0), |place| {
            (place.variable.name.as_str(), place.start, place.variable.bytes.into())
        });
        let what = What::Memory {
            name: name.into(),
            shared: false,
            array_bytes,
            bytes: 1,
            offsets: Box::new([at - start; 32]),
        };
        Source { what, side: self.side(1 << lane) }
    }
}

impl Worker<'_> {
    /// Whether `at` lies in constant memory that has no initial values and that the host has not written.
    pub fn is_unfilled(&self, at: u64) -> bool {
        self.launch.memory.region(at).is_some_and(|region| region.is_unfilled())
    }

    /// Reports a read of constant memory that nobody has filled.
    pub fn report_unfilled(&mut self, at: u64, side: Side) {
        let name = self.launch.memory.name(at).unwrap_or_default().to_owned();
        // What is declared as zero has no values in PTX either.
        self.report(FindingKind::UninitialisedConstant, Severity::Warning, side, || {
            (
                format!(
                    "reads `{name}` in constant memory, which has no initial values and was not written before the launch: it is zero"
                ),
                "copy its values with cudaMemcpyToSymbol before the launch, or give it initial values".into(),
            )
        });
    }
}
