//! What bulk copies have brought to shared memory, and whether descriptors of matrices read it as it lies.

use super::{bulk::own, descriptor::Descriptor, transfer::Transfer};
use crate::check::{Event, FindingKind, Severity, Side};
use crate::machine::blocks::{team::Team, worker::Worker};

/// A tile that a copy of a tensor has filled.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Addresses.
    start: u64,
    end: u64,
    /// Bytes of a swizzled line, 16 without a swizzle.
    width: u32,
    side: Side,
}

impl Team {
    /// A copy has come.
    pub fn filled(&mut self, transfer: &Transfer) {
        let start = own(transfer.shared, self);
        let end = start + transfer.rows.iter().map(|row| u64::from(row.bytes)).sum::<u64>();
        self.tiles.retain(|tile| tile.end <= start || end <= tile.start);
        if transfer.element.is_some() {
            let side = Side {
                pc: Some(transfer.pc),
                block: transfer.block,
                warp: transfer.warp,
                lanes: 1 << transfer.lane,
            };
            self.tiles.push(Tile { start, end, width: transfer.swizzle.width(), side });
        }
    }
}

impl Worker<'_> {
    /// Reports a descriptor whose pattern is not that of the tile at `at`, or begins where PTX does not promise anything.
    pub fn check_descriptor(&mut self, team: &Team, descriptor: &Descriptor, at: u64, side: Side) {
        let (kind, naming) = (FindingKind::InvalidDescriptor, self.naming());
        let tile = team.tiles.iter().find(|tile| (tile.start..tile.end).contains(&at));
        let name = self.launch.shared.name(at).to_owned();
        if let Some(tile) = tile.filter(|tile| tile.width != descriptor.width) {
            self.findings.report(naming, (kind, side.pc, tile.side.pc), || Event {
                kind,
                severity: Severity::Error,
                at: side,
                with: Some(tile.side),
                message: format!("reads `{name}` as {}, and the copy that filled it left it {}", swizzled(descriptor.width), swizzled(tile.width)),
                fix: "give the descriptor the swizzle of the tensor map: bits 62 and 63 are 1 for 128 bytes, 2 for 64, 3 for 32, 0 for none".into(),
                race: None,
            });
            return;
        }
        // A step along k lies within the lines.
        let pattern = 8 * descriptor.width;
        let shift = descriptor.start & (pattern - 1) & !(descriptor.width - 1);
        if descriptor.width == 16 || (shift == 0 && descriptor.base == 0) {
            return;
        }
        // Copies swizzle by the address, and so does the hardware unless a base offset says otherwise.
        let (severity, message) = match (descriptor.base, tile) {
            (0, _) => (
                // What copies have swizzled is found all the same.
                if tile.is_some() { Severity::Note } else { Severity::Warning },
                format!(
                    "reads `{name}` from a pattern that begins {shift} bytes behind a multiple of {pattern}, without a base offset"
                ),
            ),
            (base, Some(_)) => (
                Severity::Error,
                format!(
                    "reads `{name}` with the base offset {base}, and the copy that filled it swizzled without one"
                ),
            ),
            (_, None) => return,
        };
        self.findings.report(naming, (kind, side.pc, None), || Event {
            kind,
            severity,
            at: side,
            with: None,
            message,
            fix: format!("let every tile begin at a multiple of {pattern} bytes of shared memory, and leave the base offset 0"),
            race: None,
        });
    }
}

fn swizzled(width: u32) -> String {
    if width == 16 { "not swizzled".into() } else { format!("swizzled by {width} bytes") }
}
