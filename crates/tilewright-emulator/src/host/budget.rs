//! What a launch takes of this process's memory, before any of it is taken.

use super::launch::Launch;
use crate::check::{GlobalShadow, SharedShadow};
use crate::machine::{BlockOrderPolicy, LaunchError, Races, bytes_per_lane};
use crate::memory::GlobalMemory;
use crate::program::{Function, Program, instruction::Space};

/// Most blocks that one worker keeps at a time.
const RESIDENT: u64 = 16;

impl GlobalMemory {
    /// How many blocks one worker may keep at a time, and the bytes that are taken then.
    ///
    /// # Errors
    /// [`LaunchError::MemoryLimit`] if there is not even room for one.
    pub(super) fn check_launch(
        &self,
        program: &Program,
        entry: &Function,
        launch: &Launch,
        shared: u64,
        granule_shift: u32,
    ) -> Result<(usize, u64), LaunchError> {
        let options = &launch.options;
        let workers = options.workers(launch.blocks()) as u64;
        let (least, most) = match options.order {
            BlockOrderPolicy::Cooperative => (launch.blocks(), launch.blocks()),
            _ => (1, RESIDENT),
        };
        let warps = launch.threads().div_ceil(32);
        let local = 32 * warps * bytes_per_lane(program.local_bytes_of(entry));
        // What is remembered of accesses to shared memory and, at first, to global memory.
        let (of_shared, tables) = match options.races {
            Races::Ignore => (0, 0),
            Races::Shared => (SharedShadow::size(shared, granule_shift), 0),
            Races::All | Races::Strict => (
                SharedShadow::size(shared, granule_shift),
                GlobalShadow::table_bytes(self.sizes(), granule_shift, workers as usize),
            ),
        };
        let block = local + warps * u64::from(program.frame_bytes) + shared + of_shared;
        let variables = self.allocated();
        let before = variables.saturating_add(tables);
        let bytes = before.saturating_add((workers * least).saturating_mul(block));
        if bytes > options.memory_limit {
            let of_blocks = |bytes: u64| (workers * least).saturating_mul(bytes);
            let parts = [
                (variables, self.largest_variable()),
                (tables, format!("{tables} of them to remember accesses to global memory, to find races")),
                (of_blocks(local), largest_local(entry, program)),
                (of_blocks(block - local), "most of it registers and shared memory of blocks".into()),
            ];
            let largest = parts.into_iter().max_by_key(|part| part.0).map_or(String::new(), |part| part.1);
            return Err(LaunchError::MemoryLimit { bytes, largest, limit: options.memory_limit });
        }
        // Half of what is left stays for what the launch takes while it runs.
        let room = (options.memory_limit - before) / 2 / (workers * block).max(1);
        let resident = room.clamp(least, most);
        Ok((resident as usize, before + workers * resident * block))
    }

    fn largest_variable(&self) -> String {
        let largest = self.largest();
        largest.map_or(String::new(), |region| format!("{} of them for `{}`", region.bytes, region.name))
    }
}

impl Program {
    /// What takes most of a block's shared memory.
    pub(super) fn largest_shared(&self, entry: &Function, dynamic: u32) -> String {
        let used = entry.shared.iter().map(|&index| &self.shared[index as usize]);
        let largest = used.max_by_key(|variable| variable.bytes).filter(|v| v.bytes > u64::from(dynamic));
        let (bytes, name) =
            largest.map_or((dynamic.into(), "dynamic shared memory"), |v| (v.bytes, v.name.as_str()));
        format!("{bytes} of them for `{name}`")
    }

    /// Whether a byte or half word can be accessed by itself.
    pub(super) fn has_narrow_accesses(&self) -> bool {
        let sites = &self.sites;
        let checked = |space: Space| matches!(space, Space::Shared | Space::Global | Space::Generic);
        let narrow = sites.memories.iter().chain(sites.atomics.iter().map(|site| &site.memory));
        narrow.into_iter().any(|site| site.bytes < 4 && checked(site.space))
            || sites.wmmas.iter().any(|site| site.memory.bytes < 4)
    }
}

/// Which local variable takes most of every thread.
fn largest_local(entry: &Function, program: &crate::program::Program) -> String {
    let largest = program.reached(entry).into_iter().flat_map(|function| &function.locals);
    largest.max_by_key(|local| local.bytes).map_or(String::new(), |local| {
        format!("{} of them for `{}` in local memory of each resident thread", local.bytes, local.name)
    })
}
