//! Instructions that are executed too rarely to be in the loop.

use std::hash::{DefaultHasher, Hasher};

use crate::check::{FindingKind, Mode, Severity};
use crate::machine::{
    lanes::{scalar, vector},
    state::{options::LaunchError, step::Step, warp::Path},
};
use crate::program::instruction::{Inst, Op, Rare};

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

impl Step<'_, '_> {
    /// Executes what is too rare for the loop. Returns how the path goes on.
    #[inline(never)]
    pub fn rare(&mut self, rare: Rare, inst: &Inst, path: &Path) -> Next {
        let Self { frame, mask, pc, .. } = *self;
        let (program, index) = (self.program(), inst.aux as usize);
        let sites = &program.sites;
        if path.mask != self.warp.live && !path.alone && is_aligned(rare) {
            return Next::Together;
        }
        match rare {
            Rare::Carry => {
                let mut carry = self.warp.carry;
                scalar::carry(&sites.carries[index], frame, mask, &mut carry);
                self.warp.carry = carry;
            }
            Rare::Pack => scalar::pack(&sites.packs[index], frame, mask),
            Rare::Unpack => scalar::unpack(&sites.packs[index], frame, mask),
            Rare::ReadRows => scalar::read_rows(&sites.rows[index], frame, mask),
            Rare::WriteRows => scalar::write_rows(&sites.rows[index], frame, mask),
            Rare::Atomic => {
                if !self.atomic(inst.aux) {
                    return Next::Later;
                }
            }
            Rare::Poll => {
                self.lend().access(Mode::Read, inst.aux);
                let values = sites.memories[index].values.iter().flatten();
                let mut found = DefaultHasher::new();
                for slot in values {
                    crate::memory::lanes(mask).for_each(|lane| found.write_u64(frame.lane(*slot, lane)));
                }
                let polled = (pc, mask, found.finish());
                if self.warp.polled.replace(polled) == Some(polled) {
                    return Next::Later;
                }
            }
            Rare::Sleep => return Next::Later,
            Rare::SetRegisters => self.warp.own_registers = Some((inst.aux, pc)),
            Rare::CopyAsync => self.copy_async(inst.aux),
            Rare::BulkLoad | Rare::BulkStore => self.bulk(inst.aux),
            Rare::Map => self.map(inst.aux),
            Rare::BulkCommit => self.warp.bulk.commit(mask),
            Rare::BulkWait => self.bulk_wait(inst.aux),
            Rare::CommitGroup => self.warp.copies.commit(mask),
            Rare::WaitGroup => self.wait_copies(inst.aux),
            Rare::LoadMatrix => self.move_matrices(Mode::Read, inst.aux),
            Rare::StoreMatrix => self.move_matrices(Mode::Write, inst.aux),
            Rare::Mma => self.mma(inst.aux),
            Rare::Wgmma => return Next::Meet,
            // Registers are written in the order of the program here.
            Rare::WgmmaFence => {}
            Rare::WgmmaCommit => self.commit_products(),
            Rare::WgmmaWait => self.wait_products(inst.aux),
            Rare::WmmaLoad => self.move_fragment(Mode::Read, inst.aux),
            Rare::WmmaStore => self.move_fragment(Mode::Write, inst.aux),
            Rare::Texture => self.texture(inst.aux),
            Rare::SurfaceLoad | Rare::SurfaceStore => self.surface(inst.aux),
            Rare::ProxyFence => {
                self.team.order.fence(self.warp.index, mask);
                self.team.order.proxy_fence(self.warp.index, mask);
            }
            Rare::InitFence => {
                self.team.order.fence(self.warp.index, mask);
                self.team.order.init_fence(self.warp.index, mask);
            }
            Rare::Fence => {
                self.team.order.fence(self.warp.index, mask);
                if inst.aux == 1 {
                    self.team.known.fenced = Some(self.team.order.now);
                }
            }
            Rare::ActiveMask => {
                // SAFETY: the destination is a row of 32-bit values.
                unsafe { vector::splat::<u32>(frame.target(inst.dst), mask, mask) }
            }
            Rare::IsSpace => self.is_space(inst.aux),
            Rare::Mbarrier => {
                if self.mbarrier(inst.aux) {
                    return Next::Later;
                }
            }
            Rare::ClusterArrive => {
                let blocks = &self.launch().blocks;
                let number = self.team.number;
                let phase = self.team.arrive_at_cluster(mask.count_ones(), &mut |place, stamp, known| {
                    blocks.publish(place, number, stamp, known);
                });
                crate::memory::lanes(mask).for_each(|lane| self.warp.cluster_phases[lane] = phase);
            }
            Rare::ClusterWait => {
                let blocks = &self.launch().blocks;
                let phase = self.warp.cluster_phases[mask.trailing_zeros() as usize & 31];
                if !self.team.is_over_in_cluster(phase, &mut |place, known| blocks.learn(place, known)) {
                    return Next::Again;
                }
            }
        }
        Next::On
    }

    /// An instruction ends the launch: `trap`, or one that is not supported.
    pub fn refuse(&mut self, inst: &Inst) {
        let Self { mask, pc, .. } = *self;
        let line = self.program().origins[pc as usize].ptx_line;
        if inst.op == Op::Trap {
            let wants_grid = self.launch().grid_workspace == 0 && self.program().meets_as_grid(pc);
            self.report(FindingKind::Trap, Severity::Error, mask, || match wants_grid {
                true => (
                    "the kernel waits for the whole grid (`grid.sync()`), and its launch is not cooperative".into(),
                    "make it a cooperative launch, as `cudaLaunchCooperativeKernel` is, whose blocks are all on the GPU at once".into(),
                ),
                false => (
                    "the kernel executed `trap`".into(),
                    "look for the check in the kernel that calls `__trap()`".into(),
                ),
            });
            self.worker.error = Some(LaunchError::Trap { line });
            return;
        }
        let opcode = self.program().opcodes[pc as usize];
        self.worker.error = Some(LaunchError::Unsupported {
            opcode: self.program().names[opcode as usize].clone(),
            line,
            reason: self.program().sites.refusals[inst.aux as usize].clone(),
        });
    }
}
