//! What matrix instructions of a warpgroup read until somebody waits for them.
//!
//! The emulator computes an instruction when the warpgroup has come to it; the hardware may read its operands until the group of
//! instructions is waited for. So they are looked at again then: what was written meanwhile may be what the hardware has read.

use crate::check::{Event, FindingKind, Mode, Severity, Strength};
use crate::machine::state::{in_flight::Piece, observer::EventKind, step::Step, team::WARPS};
use crate::memory::read;

impl Step<'_, '_> {
    /// A warp closes a group of instructions; the first of the four closes it for all.
    pub fn commit_products(&mut self) {
        self.warp.products += 1;
        if self.team.products_of(self.warp.index).close(self.warp.products) {
            self.worker.tell(EventKind::Multiplies, self.team, self.warp.index, None);
        }
    }

    /// A warp waits until at most `keep` groups are left. The first of the four that waits has waited for all: the instructions are theirs together.
    pub fn wait_products(&mut self, keep: u32) {
        let target = self.warp.products.saturating_sub(keep);
        while let Some(pieces) = self.team.products_of(self.warp.index).collect(target) {
            self.worker.tell(EventKind::Collects, self.team, self.warp.index, None);
            if pieces.is_empty() {
                continue;
            }
            self.finish_products(&pieces);
            let first = self.warp.index / WARPS as u32 * WARPS as u32;
            let end = (first + WARPS as u32).min(self.team.threads.div_ceil(32));
            self.team.order.group(&(first..end).collect::<Vec<_>>());
        }
    }

    fn finish_products(&mut self, pieces: &[Piece]) {
        for (index, piece) in pieces.iter().enumerate() {
            let (lane, at) = (index % 32, piece.at);
            let Some(offset) = self.worker.offset_of(at) else { continue };
            let copy = self.team.shadow.as_ref().and_then(|shadow| shadow.pending(offset, 16));
            if copy.is_none() && !self.has_changed(piece) {
                self.at(piece.pc).shadow_bytes(at, lane, 16, Mode::Read, Strength::Plain, false);
                continue;
            }
            let written = || self.team.shadow.as_ref().and_then(|shadow| shadow.writers(offset, 16).next());
            let by = copy.or_else(written);
            let side = self.team.side(self.warp.index, piece.pc, u32::MAX);
            let with = by.map(|by| self.team.earlier(by));
            let name = self.launch().shared.name(at).to_string();
            let (kind, naming) = (FindingKind::PendingProduct, self.worker.naming());
            self.worker.findings.report(naming, (kind, side.pc, with.and_then(|with| with.pc)), || Event {
                kind,
                severity: Severity::Error,
                at: side,
                with,
                message: format!("reads `{name}`, which is written before anybody has waited for this instruction"),
                fix: "wait with wgmma.wait_group before the tile is released, and release the tile that the waiting was for".into(),
                race: None,
            });
        }
    }

    /// Whether shared memory holds something else than when it was read.
    fn has_changed(&mut self, piece: &Piece) -> bool {
        let Some(object) = self.team.shared.object(&self.launch().shared, piece.at) else { return false };
        let offset = (piece.at - object.start) as usize;
        piece.data.iter().enumerate().any(|(byte, &data)| {
            // SAFETY: the piece was read there.
            read(unsafe { object.data.add(offset + byte) }, 1) as u8 != data
        })
    }
}
