//! Instructions that are executed too rarely to be in the loop.

use crate::check::Mode;
use crate::machine::{
    blocks::{
        team::Team,
        warp::{Path, Warp},
        worker::Worker,
    },
    lanes::{frame::Frame, scalar, vector},
};
use crate::program::instruction::{Inst, Rare};

impl Worker<'_> {
    /// Executes what is too rare for the loop. Returns whether there is nothing to do until others have done something.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "an instruction has this many sides")]
    pub fn rare(
        &mut self,
        rare: Rare,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        inst: &Inst,
        mask: u32,
        path: &Path,
    ) -> bool {
        let sites = &self.program.sites;
        let index = inst.aux as usize;
        let pc = path.pc;
        match rare {
            Rare::Carry => {
                let mut carry = warp.carry;
                scalar::carry(&sites.carries[index], frame, mask, &mut carry);
                warp.carry = carry;
            }
            Rare::Pack => scalar::pack(&sites.packs[index], frame, mask),
            Rare::Unpack => scalar::unpack(&sites.packs[index], frame, mask),
            Rare::ReadRows => scalar::read_rows(&sites.rows[index], frame, mask),
            Rare::WriteRows => scalar::write_rows(&sites.rows[index], frame, mask),
            Rare::Atomic => self.atomic(warp, team, frame, inst.aux, mask, pc),
            Rare::CopyAsync => self.copy_async(warp, team, frame, inst.aux, mask, pc),
            Rare::CommitGroup => warp.copies.commit(mask),
            Rare::WaitGroup => self.wait_copies(warp, team, mask, inst.aux),
            Rare::LoadMatrix => self.move_matrices(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Rare::StoreMatrix => self.move_matrices(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Rare::Mma => self.mma(frame, inst.aux, mask),
            Rare::WmmaLoad => self.move_fragment(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Rare::WmmaStore => self.move_fragment(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Rare::Texture => self.texture(warp, team, frame, inst.aux, mask, pc),
            Rare::Fence => {
                team.order.fence(warp.index, mask);
                if inst.aux == 1 {
                    team.known.fenced = Some(team.order.now);
                }
            }
            Rare::ActiveMask => {
                // SAFETY: the destination is a row of 32-bit values.
                unsafe { vector::splat::<u32>(frame.target(inst.dst), mask, mask) }
            }
            Rare::IsSpace => self.is_space(inst.aux, frame, mask),
            Rare::Mbarrier => return self.mbarrier(warp, team, frame, inst.aux, mask, pc),
        }
        false
    }
}
