//! What the programs of the catalogue take of a multiprocessor, as recorded from the pinned compiler.

use crate::Program;

/// Lines of program, architecture, registers, local memory, static shared memory, barriers.
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
    /// What the entry takes when NVRTC 13.0 compiles it for an architecture such as `sm_90`; `None` for programs and
    /// architectures that are not in the table.
    ///
    /// ```
    /// let launches = tilewright_kernels::shipped_programs();
    /// let program = launches.iter().find(|launch| launch.program().name() == "naive.plus-times.f32").unwrap().program();
    /// assert_eq!(program.recorded("sm_90").unwrap().registers, 32);
    /// assert_eq!(program.recorded("sm_10"), None);
    /// ```
    pub fn recorded(&self, architecture: &str) -> Option<Recorded> {
        // The name does not tell the constants; the shipped PTX belongs to this very text.
        self.shipped_ptx()?;
        let row = TABLE.lines().find_map(|line| {
            let rest = line.strip_prefix(self.name.as_str())?.strip_prefix(',')?;
            rest.strip_prefix(architecture)?.strip_prefix(',')
        })?;
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
