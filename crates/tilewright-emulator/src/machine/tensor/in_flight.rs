//! What matrix instructions of a warpgroup read until somebody waits for them.
//!
//! The emulator computes an instruction when the warpgroup has come to it; the hardware may read its operands until the group of
//! instructions is waited for. So they are looked at again then: what was written meanwhile may be what the hardware has read.

use crate::check::{Event, FindingKind, Mode, Severity, Side, Strength};
use crate::machine::state::{
    in_flight::{InFlight, Piece},
    observer::EventKind,
    team::{Team, WARPS},
    warp::Warp,
    worker::Worker,
};
use crate::memory::read;

/// The operands of a warp's group.
pub fn of_warp<'a>(team: &'a mut Team, warp: &Warp) -> &'a mut InFlight {
    let group = warp.index as usize / WARPS;
    if team.products.len() <= group {
        team.products.resize_with(group + 1, InFlight::default);
    }
    &mut team.products[group]
}

/// A warp closes a group of instructions; the first of the four closes it for all.
pub fn commit_products(worker: &Worker<'_>, warp: &mut Warp, team: &mut Team) {
    warp.products += 1;
    let number = warp.products;
    if of_warp(team, warp).close(number) {
        worker.tell(EventKind::Multiplies, team, warp.index, None);
    }
}

impl Worker<'_> {
    /// A warp waits until at most `keep` groups are left. The first of the four that waits has waited for all: the instructions are theirs together.
    pub fn wait_products(&mut self, warp: &mut Warp, team: &mut Team, keep: u32) {
        let target = warp.products.saturating_sub(keep);
        while let Some(pieces) = of_warp(team, warp).collect(target) {
            self.tell(EventKind::Collects, team, warp.index, None);
            if pieces.is_empty() {
                continue;
            }
            self.finish_products(warp, team, &pieces);
            let first = warp.index / WARPS as u32 * WARPS as u32;
            let end = (first + WARPS as u32).min(team.threads.div_ceil(32));
            team.order.group(&(first..end).collect::<Vec<_>>());
        }
    }

    fn finish_products(&mut self, warp: &mut Warp, team: &mut Team, pieces: &[Piece]) {
        for (index, piece) in pieces.iter().enumerate() {
            let (lane, at) = (index % 32, piece.at);
            let Some(offset) = self.offset_of(at) else { continue };
            let copy = team.shadow.as_ref().and_then(|shadow| shadow.pending(offset, 16));
            if copy.is_none() && !self.has_changed(team, piece) {
                self.shadow_bytes(warp, team, at, lane, 16, Mode::Read, Strength::Plain, false, piece.pc);
                continue;
            }
            let written = || team.shadow.as_ref().and_then(|shadow| shadow.writers(offset, 16).next());
            let by = copy.or_else(written);
            let side = self.side(warp, team, piece.pc, u32::MAX);
            let with =
                by.map(|by| Side { pc: by.pc(), block: team.number, warp: by.warp(), lanes: by.lanes });
            let name = self.launch.shared.name(at).to_string();
            let (kind, naming) = (FindingKind::PendingProduct, self.naming());
            self.findings.report(naming, (kind, side.pc, with.and_then(|with| with.pc)), || Event {
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
    fn has_changed(&self, team: &mut Team, piece: &Piece) -> bool {
        let Some(object) = team.shared.object(&self.launch.shared, piece.at) else { return false };
        let offset = (piece.at - object.start) as usize;
        piece.data.iter().enumerate().any(|(byte, &data)| {
            // SAFETY: the piece was read there.
            read(unsafe { object.data.add(offset + byte) }, 1) as u8 != data
        })
    }
}
