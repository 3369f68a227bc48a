//! What the programs of the catalogue take of a multiprocessor, as recorded from the pinned compiler.

use crate::Program;
use tilewright_arch::ComputeCapability;

/// Lines of program, key, architecture, registers, local memory, static shared memory, barriers.
const TABLE: &str = include_str!("../resources.csv");

/// What a program's entry takes. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread.
    pub local_memory: u32,
    /// Static shared memory of a block.
    pub static_shared_memory: u32,
    /// Named barriers.
    pub barriers: u32,
}

impl Program {
    /// What the entry takes when NVRTC 13.0 compiles it for a device of this compute capability; `None` for
    /// programs and capabilities that are not in the table. Instructions of that device alone, of `sm_90a`
    /// for instance, change nothing of it.
    ///
    /// ```
    /// use tilewright_arch::ComputeCapability;
    /// let launches = tilewright_kernels::shipped_programs();
    /// let program = launches.iter().find(|launch| launch.program().name() == "naive.plus-times.f32").unwrap().program();
    /// assert_eq!(program.recorded(ComputeCapability::new(9, 0)).unwrap().registers, 32);
    /// assert_eq!(program.recorded(ComputeCapability::new(1, 0)), None);
    /// ```
    pub fn recorded(&self, capability: ComputeCapability) -> Option<Recorded> {
        let mut rows = TABLE
            .lines()
            .filter_map(|line| line.strip_prefix(self.name.as_str())?.strip_prefix(','))
            .peekable();
        // The name does not tell the code.
        rows.peek()?;
        let start = format!("{:016x},sm_{},", self.key(), capability.number());
        let row = rows.find_map(|row| row.strip_prefix(&start))?;
        let mut numbers = row.split(',').map(|cell| cell.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Recorded {
            registers: next()?,
            local_memory: next()?,
            static_shared_memory: next()?,
            barriers: next()?,
        })
    }
}
