//! What makes a configuration that cannot launch launch.

use super::setting::Setting;
use crate::args::Parameter;
use tilewright_arch::{ConfigurationError, WARP_SIZE};

/// The change to make, with its number.
pub fn remedy(setting: &Setting, error: &ConfigurationError) -> String {
    use ConfigurationError as E;
    match *error {
        E::NoThreads => "give the block a thread".into(),
        E::ThreadsPerBlock { limit, .. } => format!("use at most {limit} threads per block"),
        E::LaunchBounds { limit, .. } => {
            format!("use at most {limit} threads per block, or compile the kernel for more")
        }
        E::RegistersPerThread { limit, .. } => {
            format!("compile the kernel with at most {limit} registers per thread")
        }
        E::RegistersPerBlock { .. } | E::PartitionedCaching { .. } => registers_or_threads(setting),
        E::StaticSharedMemory { limit, .. } => {
            format!(
                "declare at most {limit} bytes, and take the rest as dynamic shared memory: --dynamic-smem"
            )
        }
        E::SharedMemory { limit, .. } | E::DynamicSharedMemory { limit, .. } => {
            format!("use at most {limit} bytes")
        }
        E::Barriers { limit, .. } => format!("use at most {limit} barriers"),
        E::ClusterSize { limit: 1, .. } => "leave out --cluster, or choose a later GPU".into(),
        E::ClusterSize { limit, .. } => format!("use at most {limit} blocks per cluster"),
        E::Carveout { .. } => "give a percentage from 0 to 100".into(),
    }
}

/// Registers are freed by either.
fn registers_or_threads(setting: &Setting) -> String {
    let threads = setting.launch().threads_per_block;
    let launches = |parameter, value: &u32| setting.with(parameter, *value).check().is_ok();
    let fewer_registers = (1..setting.kernel.registers_per_thread).rev();
    let fewer_threads = (1..threads.div_ceil(WARP_SIZE)).rev().map(|warps| warps * WARP_SIZE);
    let registers = fewer_registers.into_iter().find(|value| launches(Parameter::Registers, value));
    let threads_found = fewer_threads.into_iter().find(|value| launches(Parameter::Threads, value));
    match (registers, threads_found) {
        (Some(r), Some(t)) => {
            format!("use at most {r} registers per thread, or at most {t} threads per block")
        }
        (Some(r), None) => format!("use at most {r} registers per thread"),
        (None, Some(t)) => format!("use at most {t} threads per block"),
        (None, None) => String::new(),
    }
}
