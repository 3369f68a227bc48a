//! Instructions that the emulator knows by name alone: what they belong to is said where they are refused.

/// The beginning of an opcode, and what it belongs to; the first row that fits counts.
const PLANNED: &[(&str, &str)] = &[
    ("wgmma.", "matrix instructions of warpgroups (`wgmma`) are"),
    ("tcgen05.", "fifth-generation tensor cores (`tcgen05`) are"),
    ("cp.async.bulk.tensor", "tensor copies of the Tensor Memory Accelerator (TMA) are"),
    ("cp.reduce.async.bulk", "bulk reductions of the Tensor Memory Accelerator (TMA) are"),
    ("cp.async.bulk", "bulk copies of the Tensor Memory Accelerator (TMA) are"),
    ("tensormap.", "descriptors of the Tensor Memory Accelerator (TMA) are"),
    ("fence.proxy.tensormap", "descriptors of the Tensor Memory Accelerator (TMA) are"),
    ("sured.", "reductions on surfaces (`sured`) are"),
    ("sust.p.", "formatted stores to surfaces (`sust.p`) are"),
    ("st.bulk", "bulk stores are"),
    ("multimem.", "memory of several GPUs at one address (`multimem`) is"),
    ("clusterlaunchcontrol.", "requests for the work of other clusters (`clusterlaunchcontrol`) are"),
];

/// What is not there yet for this opcode, with its verb.
pub fn find(opcode: &str) -> Option<&'static str> {
    PLANNED.iter().find(|row| opcode.starts_with(row.0)).map(|row| row.1)
}
