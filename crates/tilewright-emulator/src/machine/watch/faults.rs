//! Accesses that no memory answers.

use super::neighbours;
use crate::check::{FindingKind, Mode, Severity, Side};
use crate::machine::state::{step::Step, worker::Worker};
use crate::program::{address, instruction::Space};

/// Where there is nothing.
const NOWHERE: &str = "no allocation";

/// Why a lane's access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The address was made from no object.
    NoObject { space: Space },
    /// It lies outside of the object that it was made from.
    Outside { space: Space, offset: i64, bytes: u64 },
    /// It is no multiple of the access size; so many bytes from the start of the object that it was made from.
    Misaligned { space: Space, offset: u64 },
    /// The block whose shared memory it is has exited.
    Exited,
    /// A store to what is read-only.
    ReadOnly { space: Space },
}

/// The faults of one warp instruction.
#[derive(Debug, Default)]
pub struct Faults {
    lanes: Vec<(usize, u64, Fault)>,
}

impl Faults {
    /// One lane's.
    pub fn add(&mut self, lane: usize, at: u64, fault: Fault) {
        self.lanes.push((lane, at, fault));
    }
}

/// In the order in which they are reported.
const KINDS: [FindingKind; 4] =
    [FindingKind::OutOfBounds, FindingKind::ExitedBlock, FindingKind::Misaligned, FindingKind::ReadOnly];

fn kind(fault: Fault) -> FindingKind {
    match fault {
        Fault::NoObject { .. } | Fault::Outside { .. } => FindingKind::OutOfBounds,
        Fault::Exited => FindingKind::ExitedBlock,
        Fault::Misaligned { .. } => FindingKind::Misaligned,
        Fault::ReadOnly { .. } => FindingKind::ReadOnly,
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        _ => "global",
    }
}

impl Worker<'_> {
    /// Reports the faults of an access of `bytes` per lane; `side` says who, without lanes.
    pub fn report_faults(&mut self, faults: &Faults, side: Side, bytes: u32, mode: Mode) {
        for kind_of in KINDS {
            let mut same = faults.lanes.iter().filter(|(_, _, fault)| kind(*fault) == kind_of);
            let Some(&(lane, at, fault)) = same.next() else { continue };
            let lanes = same.fold(1u32 << lane, |mask, (lane, _, _)| mask | 1 << lane);
            let object = self.object_name(at, fault);
            self.report(kind_of, Severity::Error, Side { lanes, ..side }, || {
                sentences(fault, at, bytes, mode.verb(), &object)
            });
        }
    }

    fn object_name(&self, at: u64, fault: Fault) -> String {
        let space = match fault {
            Fault::NoObject { space }
            | Fault::Outside { space, .. }
            | Fault::Misaligned { space, .. }
            | Fault::ReadOnly { space } => space,
            Fault::Exited => Space::Shared,
        };
        match space {
            Space::Shared => self.launch.shared.name(at - address::window(at)).to_string(),
            Space::Local => {
                let place = self.program.locals.find(at - address::window(at));
                place.map_or("local memory of the thread".into(), |place| place.variable.name.clone())
            }
            Space::Param => "the parameters".into(),
            _ => {
                let of_heap = || self.launch.heap.name(at);
                let name = self.launch.memory.name(at).map(str::to_owned).or_else(of_heap);
                name.unwrap_or_else(|| NOWHERE.into())
            }
        }
    }
}

impl Step<'_, '_> {
    /// Reports the faults of an access of `bytes` per lane.
    pub fn report_faults(&mut self, faults: &Faults, bytes: u32, mode: Mode) {
        let side = self.side(0);
        self.worker.report_faults(faults, side, bytes, mode);
    }
}

fn sentences(fault: Fault, at: u64, bytes: u32, verb: &str, object: &str) -> (String, String) {
    match fault {
        Fault::NoObject { space: Space::Global } if object != NOWHERE => (
            format!("{verb} {bytes} bytes of {object}"),
            "free memory behind the last use of it, when no other thread uses it any more".into(),
        ),
        Fault::Exited => neighbours::sentences(verb, object),
        Fault::NoObject { space } => (
            format!(
                "{verb} {bytes} bytes at {} address {at:#x}, where nothing is allocated",
                space_name(space)
            ),
            "check that the pointer is passed and the allocation is still alive".into(),
        ),
        Fault::Outside { offset, bytes: size, space } => {
            let place = if offset < 0 {
                format!("{} bytes before the start", offset.unsigned_abs())
            } else {
                format!("{} bytes behind the end", (offset as u64).saturating_sub(size))
            };
            (
                format!(
                    "{verb} {bytes} bytes {place} of `{object}` ({size} bytes of {} memory)",
                    space_name(space)
                ),
                outside(offset, bytes).into(),
            )
        }
        Fault::Misaligned { space, offset } => (
            format!(
                "{verb} {bytes} bytes at byte {offset} of `{object}` ({} memory, address {at:#x}), which is no multiple of {bytes}",
                space_name(space)
            ),
            format!("align the pointer and the index to {bytes} bytes, or use narrower accesses"),
        ),
        Fault::ReadOnly { space } => (
            format!(
                "{verb} {bytes} bytes of `{object}` in {} memory, which kernels may not write",
                space_name(space)
            ),
            "write to global memory".into(),
        ),
    }
}

/// An index as far before the start as only what has overflowed 32 bits gets: a product of two sizes, mostly.
const OVERFLOWN: i64 = -(1 << 26);

/// What to do about an access of `bytes` bytes at `offset` of an array that does not reach so far.
fn outside(offset: i64, bytes: u32) -> &'static str {
    let index = offset / i64::from(bytes.max(1));
    if (-(1 << 32)..OVERFLOWN).contains(&index) {
        "the index has overflowed its 32 bits, as a product of sizes does: compute it in 64 bits, as in (size_t)row * width + column"
    } else {
        "guard the access with the size of the array, or allocate enough"
    }
}
