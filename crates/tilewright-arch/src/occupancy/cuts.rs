//! What to change: the smallest cut of each binding resource that makes room for another block.

use super::{ConfigurationError, KernelResources, LaunchConfig, Occupancy, Resource, vary::Vary};
use crate::Limits;

/// The smallest reduction of one quantity with which its resource allows more blocks than are resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The binding resource.
    pub resource: Resource,
    /// What is reduced: registers per thread, threads per block, bytes of shared memory per block, barriers.
    pub quantity: Vary,
    /// Its present value.
    pub from: u32,
    /// The largest smaller value with which the resource allows another block.
    pub to: u32,
    /// The occupancy with that value and everything else as it is.
    pub after: Occupancy,
}

impl Cut {
    /// Whether this cut alone makes room for another block; otherwise a second binding resource has to be cut too.
    pub const fn suffices(&self, before: &Occupancy) -> bool {
        self.after.blocks_per_sm > before.blocks_per_sm
    }
}

impl Occupancy {
    /// For each resource that binds, the smallest cut with which it allows more blocks, if there is one.
    ///
    /// The quantities are registers per thread, threads per block (for warps), static and dynamic shared memory of a block
    /// together, and barriers. The limit of resident blocks cannot be raised by a cut: blocks have to be larger to use
    /// the SM. Fewer threads per block also mean fewer warps in each, so compare [`Occupancy::ratio`] before and after.
    ///
    /// ```
    /// use tilewright_arch::*;
    ///
    /// let limits = Limits::of(ComputeCapability::new(8, 0))?;
    /// let kernel = KernelResources { registers_per_thread: 37, ..Default::default() };
    /// let cuts = Occupancy::cuts(limits, &kernel, &LaunchConfig::threads(1024))?;
    /// let cut = cuts[0];
    /// assert_eq!((cut.resource, cut.from, cut.to), (Resource::Registers, 37, 32));
    /// assert_eq!(cut.after.blocks_per_sm, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Occupancy::of`].
    pub fn cuts(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
    ) -> Result<Vec<Cut>, ConfigurationError> {
        let before = Occupancy::of(limits, kernel, launch)?;
        let mut cuts = Vec::new();
        for resource in before.binding().iter() {
            let Some(quantity) = Vary::of_resource(resource) else { continue };
            let from = quantity.value(kernel, launch);
            for to in quantity.values(limits).rev().filter(|&value| value < from) {
                let (kernel, launch) = quantity.set(to, kernel, launch);
                let Ok(after) = Occupancy::of(limits, &kernel, &launch) else { continue };
                if after.limits.get(resource).is_none_or(|limit| limit > before.blocks_per_sm) {
                    cuts.push(Cut { resource, quantity, from, to, after });
                    break;
                }
            }
        }
        Ok(cuts)
    }
}
