//! Instructions that are executed too rarely to be in the loop.

use super::{
    frame::Frame,
    scalar,
    team::Team,
    vector,
    warp::{Path, Warp},
    worker::Worker,
};
use crate::check::Mode;
use crate::program::instruction::{Inst, Op};

impl Worker<'_> {
    /// Executes what the loop does not know.
    #[inline(never)]
    pub fn rare(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        inst: &Inst,
        mask: u32,
        path: &Path,
    ) {
        let sites = &self.program.sites;
        let index = inst.aux as usize;
        let pc = path.pc;
        match inst.op {
            Op::Carry => {
                let mut carry = warp.carry;
                scalar::carry(&sites.carries[index], frame, mask, &mut carry);
                warp.carry = carry;
            }
            Op::Pack => scalar::pack(&sites.packs[index], frame, mask),
            Op::Unpack => scalar::unpack(&sites.packs[index], frame, mask),
            Op::ReadRows => scalar::read_rows(&sites.rows[index], frame, mask),
            Op::WriteRows => scalar::write_rows(&sites.rows[index], frame, mask),
            Op::Atomic => self.atomic(warp, team, frame, inst.aux, mask, pc),
            Op::CopyAsync => self.copy_async(warp, team, frame, inst.aux, mask, pc),
            Op::CommitGroup => warp.copies.commit(mask),
            Op::WaitGroup => self.wait_copies(warp, team, mask, inst.aux),
            Op::LoadMatrix => self.move_matrices(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Op::StoreMatrix => self.move_matrices(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Op::Mma => self.mma(frame, inst.aux, mask),
            Op::WmmaLoad => self.move_fragment(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Op::WmmaStore => self.move_fragment(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Op::Texture => self.texture(warp, team, frame, inst.aux, mask, pc),
            Op::Fence => {
                team.order.fence(warp.index, mask);
                if inst.aux == 1 {
                    team.known.fenced = Some(team.order.now);
                }
            }
            Op::ActiveMask => {
                // SAFETY: the destination is a row of 32-bit values.
                unsafe { vector::splat::<u32>(frame.target(inst.dst), mask, mask) }
            }
            Op::IsSpace => self.is_space(inst.aux, frame, mask),
            // Everything else is in the loop.
            _ => {}
        }
    }
}
