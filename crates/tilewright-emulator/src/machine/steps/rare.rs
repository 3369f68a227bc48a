//! Instructions that are executed too rarely to be in the loop.

use std::hash::{DefaultHasher, Hasher};

use crate::check::Mode;
use crate::machine::{
    lanes::{frame::Frame, scalar, vector},
    state::{
        team::Team,
        warp::{Path, Warp},
        worker::Worker,
    },
    tensor::in_flight::commit_products,
};
use crate::program::instruction::{Inst, Rare};

/// How a path goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With the next instruction.
    On,
    /// With the next instruction, and it has nothing to do until others have done something.
    Later,
    /// With the same instruction, when others have done something.
    Again,
    /// When the other warps of its warpgroup are there too.
    Meet,
    /// When all lanes of its warp are there.
    Together,
}

/// Whether all lanes of a warp execute an instruction together (`.sync.aligned`).
fn is_aligned(rare: Rare) -> bool {
    matches!(
        rare,
        Rare::LoadMatrix
            | Rare::StoreMatrix
            | Rare::Mma
            | Rare::WmmaLoad
            | Rare::WmmaStore
            | Rare::Wgmma
            | Rare::WgmmaFence
            | Rare::WgmmaCommit
            | Rare::WgmmaWait
            | Rare::SetRegisters
    )
}

impl Worker<'_> {
    /// Executes what is too rare for the loop. Returns how the path goes on.
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
    ) -> Next {
        let sites = &self.program.sites;
        let index = inst.aux as usize;
        let pc = path.pc;
        if path.mask != warp.live && !path.alone && is_aligned(rare) {
            return Next::Together;
        }
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
            Rare::Atomic => {
                if !self.atomic(warp, team, frame, inst.aux, mask, pc) {
                    return Next::Later;
                }
            }
            Rare::Poll => {
                self.access(Mode::Read, warp, team, frame, inst.aux, mask, pc);
                let values = sites.memories[index].values.iter().flatten();
                let mut found = DefaultHasher::new();
                for slot in values {
                    crate::memory::lanes(mask).for_each(|lane| found.write_u64(frame.lane(*slot, lane)));
                }
                let polled = (pc, mask, found.finish());
                if warp.polled.replace(polled) == Some(polled) {
                    return Next::Later;
                }
            }
            Rare::Sleep => return Next::Later,
            Rare::SetRegisters => warp.own_registers = Some((inst.aux, pc)),
            Rare::CopyAsync => self.copy_async(warp, team, frame, inst.aux, mask, pc),
            Rare::BulkLoad | Rare::BulkStore => self.bulk(warp, team, frame, inst.aux, mask, pc),
            Rare::Map => self.map(warp, team, frame, inst.aux, mask, pc),
            Rare::BulkCommit => warp.bulk.commit(mask),
            Rare::BulkWait => self.bulk_wait(warp, team, mask, inst.aux),
            Rare::CommitGroup => warp.copies.commit(mask),
            Rare::WaitGroup => self.wait_copies(warp, team, mask, inst.aux),
            Rare::LoadMatrix => self.move_matrices(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Rare::StoreMatrix => self.move_matrices(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Rare::Mma => self.mma(frame, inst.aux, mask),
            Rare::Wgmma => return Next::Meet,
            // Registers are written in the order of the program here.
            Rare::WgmmaFence => {}
            Rare::WgmmaCommit => commit_products(self, warp, team),
            Rare::WgmmaWait => self.wait_products(warp, team, inst.aux),
            Rare::WmmaLoad => self.move_fragment(Mode::Read, warp, team, frame, inst.aux, mask, pc),
            Rare::WmmaStore => self.move_fragment(Mode::Write, warp, team, frame, inst.aux, mask, pc),
            Rare::Texture => self.texture(warp, team, frame, inst.aux, mask, pc),
            Rare::SurfaceLoad | Rare::SurfaceStore => self.surface(warp, team, frame, inst.aux, mask, pc),
            Rare::ProxyFence => {
                team.order.fence(warp.index, mask);
                team.order.proxy_fence(warp.index, mask);
            }
            Rare::InitFence => {
                team.order.fence(warp.index, mask);
                team.order.init_fence(warp.index, mask);
            }
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
            Rare::IsSpace => self.is_space(inst.aux, team.rank, frame, mask),
            Rare::Mbarrier => {
                if self.mbarrier(warp, team, frame, inst.aux, mask, pc) {
                    return Next::Later;
                }
            }
            Rare::ClusterArrive => {
                let blocks = &self.launch.blocks;
                let number = team.number;
                let phase = team.arrive_at_cluster(mask.count_ones(), &mut |place, stamp, known| {
                    blocks.publish(place, number, stamp, known);
                });
                crate::memory::lanes(mask).for_each(|lane| warp.cluster_phases[lane] = phase);
            }
            Rare::ClusterWait => {
                let blocks = &self.launch.blocks;
                let phase = warp.cluster_phases[mask.trailing_zeros() as usize & 31];
                if !team.is_over_in_cluster(phase, &mut |place, known| blocks.learn(place, known)) {
                    return Next::Again;
                }
            }
        }
        Next::On
    }
}
