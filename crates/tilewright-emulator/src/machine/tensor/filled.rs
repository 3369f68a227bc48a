//! What bulk copies have brought to shared memory, and whether descriptors of matrices read it as it lies.

use super::descriptor::Descriptor;
use crate::check::{Event, FindingKind, Severity, Side};
use crate::machine::state::{team::Team, tile::Tile, transfer::Transfer, worker::Worker};

/// Bytes of a piece.
const PIECE: u32 = 16;

/// One of so many pieces is worth a word, if nobody reads it.
const WORTH_SAYING: usize = 8;

impl Worker<'_> {
    /// A copy has come: what lay there is gone.
    pub fn filled(&mut self, team: &mut Team, transfer: &Transfer) {
        let start = team.own(transfer.shared);
        let end = start + transfer.rows.iter().map(|row| u64::from(row.bytes)).sum::<u64>();
        let is_gone = |tile: &mut Tile| tile.start < end && start < tile.end;
        let gone: Vec<_> = team.tiles.extract_if(.., is_gone).collect();
        gone.iter().for_each(|tile| self.check_read(team, tile));
        if transfer.element.is_some() {
            let pieces = transfer.rows.iter().flat_map(|row| {
                let inside = (0..row.bytes)
                    .step_by(PIECE as usize)
                    .filter(|&at| at < row.end && row.first < at + PIECE);
                inside.map(|at| transfer.swizzle.place(start + u64::from(row.shared + at)))
            });
            let (width, stamp, inside) = (transfer.swizzle.width(), team.order.now, pieces.collect());
            team.tiles.push(Tile { start, end, width, stamp, inside, side: transfer.side() });
        }
    }

    /// A block exits: nobody reads its tiles any more.
    pub fn check_tiles(&mut self, team: &mut Team) {
        // What other blocks read is not followed.
        let is_touched = team.cluster.touches.borrow().iter().any(|touch| touch.rank == team.rank);
        for tile in std::mem::take(&mut team.tiles).iter().filter(|_| !is_touched) {
            self.check_read(team, tile);
        }
    }

    /// Reports a tile of which nobody has read a good part.
    fn check_read(&mut self, team: &Team, tile: &Tile) {
        let Some(shadow) = &team.shadow else { return };
        let is_unread = |at: &&u64| {
            self.offset_of(**at).is_some_and(|offset| !shadow.is_read_since(tile.stamp, offset, PIECE))
        };
        let (all, unread) = (tile.inside.len(), tile.inside.iter().filter(is_unread).count());
        if unread * WORTH_SAYING < all || unread == 0 {
            return;
        }
        let name = self.launch.shared.name(tile.start).to_owned();
        self.report(FindingKind::UnreadCopy, Severity::Note, tile.side, || {
            (
                format!("copies {} bytes to `{name}`, of which nobody reads {}", 16 * all, 16 * unread),
                "make the box of the tensor map smaller, or copy nothing that is not needed".into(),
            )
        });
    }

    /// Reports a descriptor whose pattern is not that of the tile at `at`, or begins where PTX does not promise anything.
    pub fn check_descriptor(&mut self, team: &Team, descriptor: &Descriptor, at: u64, side: Side) {
        let (kind, naming) = (FindingKind::InvalidDescriptor, self.naming());
        let tile = team.tiles.iter().find(|tile| (tile.start..tile.end).contains(&at));
        let name = self.launch.shared.name(at);
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
