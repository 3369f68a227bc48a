//! Whether a GPU takes a launch: what keeps it from running is a finding, and the first thing to say.

use crate::case::Launch;
use crate::model::{Finding, Severity};
use tilewright_arch::{Gpu, GridLaunch, KernelResources, LaunchConfig};
use tilewright_emulator::{EntryNeeds, FindingKind};

/// What occupancy and limits depend on: the kernel, the launch, and one of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    pub kernel: KernelResources,
    pub launch: GridLaunch,
}

impl LaunchShape {
    /// `needs` is what the PTX says, for what is not known of the machine code.
    pub fn new(launch: &Launch, needs: Option<EntryNeeds>, gpu: &Gpu) -> Self {
        let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let of_ptx = || KernelResources {
            static_shared_memory: needs.map_or(0, |needs| number(needs.shared_bytes)),
            max_threads_per_block: needs
                .and_then(|needs| needs.max_threads)
                .map_or(gpu.limits.max_threads_per_block, number),
            ..KernelResources::default()
        };
        Self { kernel: launch.resources.unwrap_or_else(of_ptx), launch: launch.shape }
    }

    pub fn block(&self) -> LaunchConfig {
        self.launch.configuration()
    }

    /// Why the launch cannot be on this GPU, if that is so.
    pub fn refusal(&self, launch: &Launch, gpu: &Gpu) -> Option<Finding> {
        let error =
            |kind, message: String, fix: String| Some(Finding::new(Severity::Error, kind, message, fix));
        let checked = self.launch.check(&gpu.limits, &self.kernel, gpu.device().map(|device| device.sms));
        let remedy = checked.err().map(|refusal| refusal.remedy(&gpu.limits, &self.kernel));
        if let Some(log) = &launch.assembler_refusal {
            let fix = remedy.unwrap_or_else(|| "mend what the assembler names, or choose another GPU".into());
            return error(FindingKind::DoesNotCompile, format!("for {}: {log}", gpu.name), fix);
        }
        let refusal = checked.err()?;
        error(FindingKind::CannotLaunch, format!("{} takes no such launch: {refusal}", gpu.name), remedy?)
    }
}
