//! What a launch takes of this process's memory, before any of it is taken.

use super::{launch::Launch, machine::Machine};
use crate::machine::{BlockOrderPolicy, LaunchError, bytes_per_lane};
use crate::program::Function;

/// Most blocks that one worker keeps at a time.
const RESIDENT: u64 = 16;

impl Machine {
    /// How many blocks one worker may keep at a time.
    ///
    /// # Errors
    /// [`LaunchError::MemoryLimit`] if there is not even room for one.
    pub(super) fn check_memory(
        &self,
        entry: &Function,
        launch: &Launch,
        shared: u64,
    ) -> Result<usize, LaunchError> {
        let options = &launch.options;
        let workers = options.workers(launch.blocks()) as u64;
        let (least, most) = match options.order {
            BlockOrderPolicy::Cooperative => (launch.blocks(), launch.blocks()),
            _ => (1, RESIDENT),
        };
        let warps = launch.threads().div_ceil(32);
        let local = 32 * warps * bytes_per_lane(self.program.local_bytes_of(entry));
        // With what is remembered of accesses to shared memory.
        let block = local + warps * u64::from(self.program.frame_bytes) + 8 * shared;
        let variables = self.memory.allocated();
        let bytes = variables.saturating_add((workers * least).saturating_mul(block));
        if bytes > options.memory_limit {
            let of_blocks = |bytes: u64| (workers * least).saturating_mul(bytes);
            let parts = [
                (variables, self.largest_variable()),
                (of_blocks(local), largest_local(entry, &self.program)),
                (of_blocks(block - local), "most of it registers and shared memory of blocks".into()),
            ];
            let largest = parts.into_iter().max_by_key(|part| part.0).map_or(String::new(), |part| part.1);
            return Err(LaunchError::MemoryLimit { bytes, largest, limit: options.memory_limit });
        }
        let room = (options.memory_limit - variables) / (workers * block).max(1);
        Ok(room.clamp(least, most) as usize)
    }

    fn largest_variable(&self) -> String {
        let largest = self.memory.largest();
        largest.map_or(String::new(), |region| format!("{} of them for `{}`", region.bytes, region.name))
    }

    /// What takes most of a block's shared memory.
    pub(super) fn largest_shared(&self, entry: &Function, dynamic: u32) -> String {
        let used = entry.shared.iter().map(|&index| &self.program.shared[index as usize]);
        let largest = used.max_by_key(|variable| variable.bytes).filter(|v| v.bytes > u64::from(dynamic));
        let (bytes, name) =
            largest.map_or((dynamic.into(), "dynamic shared memory"), |v| (v.bytes, v.name.as_str()));
        format!("{bytes} of them for `{name}`")
    }
}

/// Which local variable takes most of every thread.
fn largest_local(entry: &Function, program: &crate::program::Program) -> String {
    let largest = program.reached(entry).into_iter().flat_map(|function| &function.locals);
    largest.max_by_key(|local| local.bytes).map_or(String::new(), |local| {
        format!("{} of them for `{}` in local memory of each resident thread", local.bytes, local.name)
    })
}
