//! What the library has written of launches, kernel by kernel.

use serde::{Deserialize, Serialize};
use std::path::Path;
use tilewright::{Error, ErrorKind};

/// A line of the library's log.
#[derive(Deserialize)]
struct Launch {
    kernel: String,
    name: String,
    gpu: String,
    seconds: f64,
    code: Option<String>,
    error: Option<String>,
    counters: Option<Counters>,
    findings: Vec<Finding>,
}

/// Sums over the launches of a kernel.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Counters {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub flops: u64,
    pub barriers: u64,
    pub global_load: Global,
    pub global_store: Global,
    pub shared_load: Shared,
    pub shared_store: Shared,
}

/// Accesses to global memory.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Global {
    pub requests: u64,
    pub sectors: u64,
    pub bytes_requested: u64,
}

/// Accesses to shared memory.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Shared {
    pub requests: u64,
    pub wavefronts: u64,
    pub ideal_wavefronts: u64,
}

/// Something that a check has found.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: String,
    pub severity: String,
    pub message: String,
    /// CUDA line, where the PTX has it, PTX line, block and threads.
    pub at: String,
    pub with: Option<String>,
    pub fix: String,
    pub count: u64,
}

/// A kernel, and all of its launches on one GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kernel {
    /// The name in PTX.
    pub kernel: String,
    /// The name in the source.
    pub name: String,
    pub gpu: String,
    pub launches: u64,
    /// Those that did not start or did not end well.
    pub failed: u64,
    pub seconds: f64,
    pub counters: Counters,
    pub findings: Vec<Finding>,
    /// Why launches failed, each reason once.
    pub failures: Vec<String>,
}

impl Global {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.bytes_requested += other.bytes_requested;
    }

    /// Bytes asked for by bytes moved, in percent; none without accesses.
    pub fn efficiency(&self) -> Option<f64> {
        (self.sectors > 0).then(|| 100.0 * self.bytes_requested as f64 / (32 * self.sectors) as f64)
    }
}

impl Shared {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
    }

    /// Wavefronts that bank conflicts add.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }
}

impl Counters {
    fn add(&mut self, other: Self) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.flops += other.flops;
        self.barriers += other.barriers;
        self.global_load.add(other.global_load);
        self.global_store.add(other.global_store);
        self.shared_load.add(other.shared_load);
        self.shared_store.add(other.shared_store);
    }
}

impl Kernel {
    /// Findings that are errors, and failures for which there is none.
    pub fn errors(&self) -> u64 {
        let errors = self.findings.iter().filter(|finding| finding.severity == "error").count() as u64;
        if errors == 0 { self.failed } else { errors }
    }

    fn add(&mut self, launch: Launch) {
        self.launches += 1;
        self.seconds += launch.seconds;
        self.counters.add(launch.counters.unwrap_or_default());
        let code = launch.code.unwrap_or_default();
        if code != "CUDA_SUCCESS" {
            self.failed += 1;
            let reason = launch.error.map_or(code.clone(), |error| format!("{code}: {error}"));
            if !self.failures.contains(&reason) {
                self.failures.push(reason);
            }
        }
        for finding in launch.findings {
            let is_same = |known: &&mut Finding| {
                (&known.kind, &known.message, &known.at) == (&finding.kind, &finding.message, &finding.at)
            };
            match self.findings.iter_mut().find(is_same) {
                Some(known) => known.count += finding.count,
                None => self.findings.push(finding),
            }
        }
    }
}

/// The kernels of a log, in the order of their first launches. Without a log nothing was launched.
pub fn read(log: &Path) -> Result<Vec<Kernel>, Error> {
    match std::fs::read_to_string(log) {
        Ok(text) => Ok(by_kernel(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(ErrorKind::Io { path: log.to_owned(), source }.into()),
    }
}

fn by_kernel(text: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    // The last line may have been cut off with the program that wrote it.
    for launch in text.lines().filter_map(|line| serde_json::from_str::<Launch>(line).ok()) {
        let is_it = |known: &&mut Kernel| (&known.kernel, &known.gpu) == (&launch.kernel, &launch.gpu);
        if let Some(known) = kernels.iter_mut().find(is_it) {
            known.add(launch);
            continue;
        }
        let (kernel, name, gpu) = (launch.kernel.clone(), launch.name.clone(), launch.gpu.clone());
        let (counters, findings, failures) = Default::default();
        let mut new =
            Kernel { kernel, name, gpu, launches: 0, failed: 0, seconds: 0.0, counters, findings, failures };
        new.add(launch);
        kernels.push(new);
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kernel: &str, code: &str, finding: Option<&str>) -> String {
        let access = r#"{"requests":1,"sectors":4,"bytes_requested":128}"#;
        let shared = r#"{"requests":1,"wavefronts":3,"ideal_wavefronts":1}"#;
        let finding = finding.map_or(String::new(), |severity| {
            format!(
                r#"{{"kind":"race","severity":"{severity}","message":"m","at":"k.cu:3","with":null,"fix":"f","count":2}}"#
            )
        });
        format!(
            r#"{{"kernel":"{kernel}","name":"{kernel}","gpu":"H200 SXM","grid":[1,1,1],"block":[32,1,1],"dynamic_shared_memory":0,"seconds":0.5,"code":"{code}","error":null,
            "counters":{{"warp_instructions":10,"thread_instructions":320,"flops":2,"barriers":0,"global_load":{access},"global_store":{access},
            "shared_load":{shared},"shared_store":{shared}}},"findings":[{finding}]}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn launches_of_a_kernel_are_added_up() {
        let log = [
            line("a", "CUDA_SUCCESS", Some("note")),
            line("b", "CUDA_ERROR_LAUNCH_FAILED", Some("error")),
            line("a", "CUDA_SUCCESS", Some("note")),
            "{\"kernel\":\"a\",\"gp".to_owned(),
        ];
        let kernels = by_kernel(&log.join("\n"));
        let [a, b] = kernels.as_slice() else { panic!("{kernels:?}") };
        assert_eq!((a.launches, a.failed, a.seconds, a.counters.warp_instructions), (2, 0, 1.0, 20));
        assert_eq!((a.findings.len(), a.findings[0].count, a.errors()), (1, 4, 0));
        assert_eq!(
            (a.counters.global_load.efficiency(), a.counters.shared_load.conflicts()),
            (Some(100.0), 4)
        );
        assert_eq!((b.launches, b.failed, b.errors()), (1, 1, 1));
        assert_eq!(b.failures, ["CUDA_ERROR_LAUNCH_FAILED"]);
    }
}
