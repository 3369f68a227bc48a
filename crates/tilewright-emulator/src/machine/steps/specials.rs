//! Special registers.

use crate::machine::{lanes::vector, state::step::Step};
use crate::program::{
    address,
    instruction::{Inst, Space, Special},
};

impl Step<'_, '_> {
    /// `mov` from a special register.
    #[inline(never)]
    pub fn read_special(&self, special: Special, inst: &Inst) {
        let Self { frame, mask, .. } = *self;
        let dst = inst.dst;
        if let Some(value) = uniform(special, self) {
            // SAFETY: the destination is a row of the width that the register has.
            unsafe {
                if inst.aux == 1 {
                    vector::splat::<u64>(frame.target(dst), value, mask);
                } else {
                    vector::splat::<u32>(frame.target(dst), value as u32, mask);
                }
            }
            return;
        }
        let [x, y, _] = self.launch().block;
        let values: [u32; 32] = std::array::from_fn(|lane| {
            let thread = self.warp.index * 32 + lane as u32;
            let bit = 1u32 << lane;
            match special {
                Special::Tid(0) => thread % x,
                Special::Tid(1) => thread / x % y,
                Special::Tid(_) => thread / x / y,
                Special::LanemaskEq => bit,
                Special::LanemaskLt => bit - 1,
                Special::LanemaskLe => bit | (bit - 1),
                Special::LanemaskGt => !(bit | (bit - 1)),
                Special::LanemaskGe => !(bit - 1),
                _ => lane as u32,
            }
        });
        // SAFETY: the destination is a row of 32-bit values.
        unsafe { vector::map1(frame.target::<u32>(dst), values.as_ptr(), mask, |value| value) }
    }

    /// `isspacep`.
    pub fn is_space(&self, index: u32) {
        let (frame, rank) = (self.frame, self.team.rank);
        let site = &self.program().sites.spaces[index as usize];
        let addresses = frame.row(site.address);
        let mut answer = 0;
        for (lane, &at) in addresses.iter().enumerate() {
            let memory = self.launch().memory;
            let is = match site.space {
                Space::Shared if site.of_cluster => address::window(at) == address::SHARED_WINDOW,
                Space::Shared => {
                    address::window(at) == address::SHARED_WINDOW
                        && address::rank_of(at).is_none_or(|of| of == rank)
                }
                Space::Local => address::window(at) == address::LOCAL_WINDOW,
                Space::Param => address::window(at) == address::PARAM_WINDOW,
                Space::Const => memory.region(at).is_some() && !memory.is_global(at),
                _ => memory.is_global(at),
            };
            answer |= u32::from(is) << lane;
        }
        frame.set_predicate(site.dst.place, answer, self.mask);
    }
}

/// The value of a special register that is the same for all lanes, or `None`.
fn uniform(special: Special, step: &Step<'_, '_>) -> Option<u64> {
    let Step { worker, warp, team, .. } = step;
    let launch = worker.launch;
    Some(match special {
        Special::Ntid(axis) => launch.block[axis as usize].into(),
        Special::Ctaid(axis) => team.index[axis as usize].into(),
        Special::Nctaid(axis) => launch.grid[axis as usize].into(),
        Special::Warpid => warp.index.into(),
        Special::Nwarpid => 64,
        Special::Smid => team.number.rem_euclid(launch.multiprocessors.max(1)).into(),
        Special::Nsmid => launch.multiprocessors.into(),
        Special::Gridid => 1,
        // Time is counted in instructions of the worker.
        Special::Clock => worker.steps as u64,
        Special::ClockHigh => worker.steps as u64 >> 32,
        Special::DynamicSmemSize => launch.dynamic_shared.into(),
        Special::TotalSmemSize => launch.shared.bytes.into(),
        Special::ClusterId(axis) => (team.index[axis as usize] / launch.cluster[axis as usize]).into(),
        Special::ClusterCount(axis) => (launch.grid[axis as usize] / launch.cluster[axis as usize]).into(),
        Special::ClusterCtaid(axis) => (team.index[axis as usize] % launch.cluster[axis as usize]).into(),
        Special::ClusterNctaid(axis) => launch.cluster[axis as usize].into(),
        Special::ClusterCtarank => team.rank.into(),
        Special::ClusterNctarank => team.cluster.size().into(),
        Special::IsExplicitCluster => launch.explicit_cluster.into(),
        Special::GridWorkspace => launch.grid_workspace,
        Special::GridWorkspaceHigh => launch.grid_workspace >> 32,
        _ => return None,
    })
}
