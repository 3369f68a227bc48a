//! Reads of local and constant memory that nothing has written.

use crate::check::{FindingKind, Severity, Side};
use crate::machine::blocks::{
    warp::Warp,
    worker::{Worker, window},
};
use crate::program::{address, instruction::Space};

/// The lanes of an access that read what nothing has written, and where the first of them does.
#[derive(Debug, Default)]
pub struct Unwritten {
    local: Option<(u64, u32)>,
    constant: Option<(u64, u32)>,
}

fn add(found: &mut Option<(u64, u32)>, at: u64, lanes: u32) {
    found.get_or_insert((at, 0)).1 |= lanes;
}

impl Worker<'_> {
    /// Whether `at` lies in constant memory that has no initial values and that the host has not written.
    pub fn is_unfilled(&self, at: u64) -> bool {
        self.launch.memory.region(at).is_some_and(|region| region.is_unfilled())
    }

    /// A lane reads an element of `bytes` bytes at `data`; the address of its access is `at`.
    ///
    /// Compilers copy structures with the bytes between their members. So an element counts as written if a part of it is, and single
    /// bytes and half words, in which they copy too, if a part of the eight bytes around them is.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn note_unwritten(
        &self,
        unwritten: &mut Unwritten,
        space: Space,
        warp: &Warp,
        lane: usize,
        at: u64,
        data: *const u8,
        bytes: u32,
    ) {
        let is_local =
            space == Space::Local || space == Space::Generic && window(at) == address::LOCAL_WINDOW;
        if is_local {
            // Variables begin at multiples of eight.
            let (data, bytes) =
                if bytes < 4 { (data.wrapping_sub(data as usize % 8), 8) } else { (data, bytes) };
            if warp.local.is_unwritten(lane, data, bytes) {
                add(&mut unwritten.local, at - window(at), 1 << lane);
            }
        } else if space != Space::Shared && self.is_unfilled(at) {
            add(&mut unwritten.constant, at, 1 << lane);
        }
    }

    /// Reports them; `side` says who, without lanes.
    pub fn report_unwritten(&mut self, unwritten: &Unwritten, side: Side) {
        if let Some((at, lanes)) = unwritten.local {
            let place = self.program.locals.find(at);
            let (name, start) =
                place.map_or(("local memory", at), |place| (place.variable.name.as_str(), place.start));
            let offset = at - start;
            self.report(FindingKind::UninitialisedLocal, Severity::Error, Side { lanes, ..side }, || {
                (
                    format!(
                        "reads byte {offset} of `{name}` (local memory), which the thread has not written"
                    ),
                    "give the array's elements values before they are read, such as with `= {}`".into(),
                )
            });
        }
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
