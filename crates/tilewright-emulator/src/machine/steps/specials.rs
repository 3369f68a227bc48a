//! Special registers.

use crate::machine::{
    lanes::{frame::Frame, vector},
    state::{team::Team, warp::Warp, worker::Worker},
};
use crate::program::instruction::{Inst, Special};

impl Worker<'_> {
    /// `mov` from a special register.
    #[inline(never)]
    pub fn read_special(
        &self,
        special: Special,
        warp: &Warp,
        team: &Team,
        frame: Frame,
        inst: &Inst,
        mask: u32,
    ) {
        let dst = inst.dst;
        if let Some(value) = uniform(special, warp, team, self) {
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
        let [x, y, _] = self.launch.block;
        let values: [u32; 32] = std::array::from_fn(|lane| {
            let thread = warp.index * 32 + lane as u32;
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
}

/// The value of a special register that is the same for all lanes, or `None`.
fn uniform(special: Special, warp: &Warp, team: &Team, worker: &Worker<'_>) -> Option<u64> {
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
