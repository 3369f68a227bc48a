//! Asynchronous copies (`cp.async`): what was read is written to shared memory when its group is waited for.

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The lane.
    pub lane: u8,
    /// Bytes.
    pub bytes: u8,
    /// Shared address.
    pub to: u64,
    /// The data, read when the copy was issued.
    pub data: [u8; 16],
    /// The instruction.
    pub pc: u32,
}
