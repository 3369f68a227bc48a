//! What a host says about a launch.

use super::arguments::Argument;
use crate::machine::{LaunchError, LaunchOptions, Surface, Texture};

/// Threads of a block on any device.
const THREADS: u64 = 1024;

/// Blocks of a cluster on any device.
const CLUSTER: u64 = 16;

/// Grid, block, dynamic shared memory and arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster, which reach each other's shared memory; `None`: what the kernel was compiled for, or one.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// Surfaces by their handles, which are any numbers that the kernel is given, or addresses of `.surfref` variables.
    pub surfaces: Vec<(u64, Surface)>,
    /// Textures of this launch beside those of the machine, by their handles in the same way.
    pub textures: Vec<(u64, Texture)>,
    /// Checks, order and limits.
    pub options: LaunchOptions,
}

impl Launch {
    /// A launch of `grid` blocks of `block` threads with all checks and no arguments.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        let (arguments, surfaces, textures, options) = Default::default();
        Self { grid, block, cluster: None, dynamic_shared: 0, arguments, surfaces, textures, options }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<Argument>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a surface; the kernel knows it by `handle`.
    #[must_use]
    pub fn surface(mut self, handle: u64, surface: Surface) -> Self {
        self.surfaces.push((handle, surface));
        self
    }

    /// Adds a texture; the kernel knows it by `handle`.
    #[must_use]
    pub fn texture(mut self, handle: u64, texture: Texture) -> Self {
        self.textures.push((handle, texture));
        self
    }

    /// Sets the blocks of a cluster along x, y and z.
    #[must_use]
    pub fn cluster(mut self, cluster: [u32; 3]) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Sets the dynamic shared memory in bytes.
    #[must_use]
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// Sets checks, order and limits.
    #[must_use]
    pub fn options(mut self, options: LaunchOptions) -> Self {
        self.options = options;
        self
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |all: u64, &extent| all.saturating_mul(extent.into()))
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u64 {
        self.block.iter().fold(1, |all: u64, &extent| all.saturating_mul(extent.into()))
    }

    /// The blocks of a cluster, for a kernel that was compiled for `required`.
    pub(super) fn clusters(&self, required: Option<[u32; 3]>) -> Result<[u32; 3], LaunchError> {
        let cluster = self.cluster.or(required).unwrap_or([1; 3]);
        let wrong = |why: String| Err(LaunchError::Extent { what: "cluster", extent: cluster, why });
        let blocks = cluster.iter().fold(1u64, |all, &extent| all.saturating_mul(extent.into()));
        if !(1..=CLUSTER).contains(&blocks) {
            return wrong(format!("a cluster has 1 to {CLUSTER} blocks"));
        }
        if let Some(required) = required.filter(|&required| required != cluster) {
            return wrong(format!("the kernel was compiled for clusters of {required:?} blocks"));
        }
        if self.grid.iter().zip(&cluster).any(|(grid, cluster)| !grid.is_multiple_of(*cluster)) {
            return wrong(format!("the grid {:?} is no multiple of it", self.grid));
        }
        Ok(cluster)
    }

    /// Refuses extents that no device takes, or that the kernel was not compiled for.
    pub(super) fn check_extents(
        &self,
        required: Option<[u64; 3]>,
        maximum: Option<u64>,
    ) -> Result<(), LaunchError> {
        let wrong = |what, extent, why: String| Err(LaunchError::Extent { what, extent, why });
        let threads = self.threads();
        if self.grid.contains(&0) || self.grid[1] > 65535 || self.grid[2] > 65535 {
            return wrong("grid", self.grid, "extents go from 1 to 2^31 - 1, 65535 and 65535".into());
        }
        if self.blocks() >= u64::from(u32::MAX) {
            return wrong("grid", self.grid, "the emulator takes fewer than 2^32 - 1 blocks".into());
        }
        if threads == 0 || threads > THREADS || self.block[2] > 64 {
            return wrong(
                "block",
                self.block,
                format!("a block has 1 to {THREADS} threads, at most 64 along z"),
            );
        }
        if let Some(required) = required
            && required != self.block.map(u64::from)
        {
            return wrong("block", self.block, format!("the kernel was compiled for {required:?} threads"));
        }
        if let Some(maximum) = maximum.filter(|&maximum| threads > maximum) {
            return wrong(
                "block",
                self.block,
                format!("the kernel was compiled for at most {maximum} threads"),
            );
        }
        Ok(())
    }
}
