//! Reads of local and constant memory that nothing has written. What comes from local memory has no value; constant memory is zero.

use crate::check::{FindingKind, Severity, Side};
use crate::machine::{
    lanes::frame::Frame,
    state::{
        source::{Source, What},
        team::Team,
        undefined::Bits,
        warp::Warp,
        worker::Worker,
    },
};
use crate::program::{
    address,
    instruction::{Slot, Space},
};

/// The lanes of an access that read constant memory which nobody has filled, and where the first of them does.
#[derive(Debug, Default)]
pub struct Unwritten {
    constant: Option<(u64, u32)>,
}

impl Worker<'_> {
    /// Whether `at` lies in constant memory that has no initial values and that the host has not written.
    pub fn is_unfilled(&self, at: u64) -> bool {
        self.launch.memory.region(at).is_some_and(|region| region.is_unfilled())
    }

    /// A lane reads an element of `bytes` bytes at `data` into `slot`; the address of its access is `at`.
    ///
    /// Compilers copy structures with the bytes between their members. So an element counts as written if a part of it is, and single
    /// bytes and half words, in which they copy too, if a part of the eight bytes around them is.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn note_unwritten(
        &self,
        unwritten: &mut Unwritten,
        space: Space,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        slot: Slot,
        lane: usize,
        at: u64,
        data: *const u8,
        bytes: u32,
        pc: u32,
    ) {
        let is_local =
            space == Space::Local || space == Space::Generic && address::window(at) == address::LOCAL_WINDOW;
        if is_local {
            // Variables begin at multiples of eight.
            let (data, around) =
                if bytes < 4 { (data.wrapping_sub(data as usize % 8), 8) } else { (data, bytes) };
            if warp.local.is_unwritten(lane, data, around) {
                let source = team.undefined.sources.number(self.local_source(warp, team, lane, at, pc));
                let mut bits = Bits::NONE;
                bits.add(lane, u64::MAX >> (64 - 8 * bytes.min(8)), source);
                warp.add_undefined(self.program, frame, slot, &bits, 1 << lane);
            }
        } else if space != Space::Shared && self.is_unfilled(at) {
            unwritten.constant.get_or_insert((at, 0)).1 |= 1 << lane;
        }
    }

    fn local_source(&self, warp: &Warp, team: &Team, lane: usize, at: u64, pc: u32) -> Source {
        let at = at - address::window(at);
        let place = self.program.locals.find(at);
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
        Source { what, side: self.side(warp, team, pc, 1 << lane) }
    }

    /// Reports them; `side` says who, without lanes.
    pub fn report_unwritten(&mut self, unwritten: &Unwritten, side: Side) {
        if let Some((at, lanes)) = unwritten.constant {
            self.report_unfilled(at, Side { lanes, ..side });
        }
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
