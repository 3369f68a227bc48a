//! What of CUDA this machine has: driver, devices, libraries, tools, cache; where each was found, and what to install.

use crate::hints;
use serde::Serialize;
use tilewright::{
    Error,
    cuda::{
        CubinCache, Cublas, CublasLt, DeviceInfo, Driver, Engine, Location, Nvdisasm, Nvrtc, OperandReuse,
        Ptxas,
    },
};

/// The part of the JSON object of `doctor` that is about GPUs.
#[derive(Serialize)]
pub struct Cuda {
    components: Vec<Found>,
    devices: Vec<Device>,
    cache: Option<Cache>,
    operand_reuse: Reuse,
}

/// A library or tool.
#[derive(Serialize)]
struct Found {
    name: &'static str,
    available: bool,
    version: Option<String>,
    path: Option<String>,
    /// The rule by which it was found.
    rule: Option<String>,
    why_not: Option<String>,
    /// What to install or set.
    hint: Option<String>,
}

#[derive(Serialize)]
struct Device {
    ordinal: usize,
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    clock_hz: u64,
    memory_bytes: u64,
    l2_cache_bytes: u64,
}

#[derive(Serialize)]
struct Reuse {
    enabled: bool,
    compilers: &'static [&'static str],
    architecture: &'static str,
    /// Whether the first device gives the same bits; null where the code for it is not changed at all.
    same_bits: Option<bool>,
}

#[derive(Serialize)]
struct Cache {
    directory: String,
    entries: u64,
    bytes: u64,
    capacity_bytes: u64,
    /// Why the directory is not used, where it is not.
    refused: Option<String>,
}

impl Cuda {
    pub fn gather() -> Self {
        let devices = DeviceInfo::all().unwrap_or_default();
        // The one that the engine takes for the first GPU; without a GPU, the first there is.
        let nvrtc = match (Driver::find(), devices.first()) {
            (Ok(driver), Some(device)) => Nvrtc::for_device(driver.version(), device.capability),
            _ => Nvrtc::find(),
        };
        let nvrtc = nvrtc.map(|nvrtc| (nvrtc.location().clone(), Some(nvrtc.version().to_string())));
        let driver = Driver::find()
            .map(|driver| (driver.location().clone(), Some(format!("CUDA {}", driver.version()))));
        let operand_reuse = Reuse::gather(&devices);
        Self {
            components: vec![
                found("driver", driver),
                found("nvrtc", nvrtc),
                found("cublas", Cublas::locate().map(|location| (location, None))),
                found("cublaslt", CublasLt::locate().map(|location| (location, None))),
                found("ptxas", Ptxas::find().map(|tool| (tool.location().clone(), None))),
                found("nvdisasm", Nvdisasm::find().map(|tool| (tool.location().clone(), None))),
            ],
            devices: devices.into_iter().map(device).collect(),
            cache: CubinCache::of_user().map(|cache| {
                let info = cache.info();
                Cache {
                    directory: info.directory.display().to_string(),
                    entries: info.entries,
                    bytes: info.bytes,
                    capacity_bytes: info.capacity,
                    refused: info.refused,
                }
            }),
            operand_reuse,
        }
    }

    /// Names and texts of the table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows: Vec<_> = self.components.iter().map(|one| (one.name, one.describe())).collect();
        rows.extend(self.devices.iter().map(|one| ("gpu", one.describe())));
        let cache = self.cache.as_ref().map_or("none".into(), |cache| {
            let directory = &cache.directory;
            match &cache.refused {
                Some(why) => format!("{directory}: not used, {why}; remove it, and a private one is made"),
                None => format!("{directory}: {} kernels, {:.1} MB", cache.entries, cache.bytes as f64 / 1e6),
            }
        });
        rows.push(("cache", cache));
        rows.push(("machine code", self.operand_reuse.describe()));
        rows
    }
}

impl Reuse {
    fn gather(devices: &[DeviceInfo]) -> Self {
        let OperandReuse { enabled, compilers, architecture } = OperandReuse::current();
        let sm = |device: &DeviceInfo| format!("sm_{}", device.capability.number());
        let is_for = |device: &DeviceInfo| enabled && sm(device) == architecture;
        let first = devices.first().filter(|device| is_for(device));
        let engine = first.and_then(|device| Engine::open(device.ordinal).ok());
        Self { enabled, compilers, architecture, same_bits: engine.map(|engine| engine.reuses_operands()) }
    }

    fn describe(&self) -> String {
        if !self.enabled {
            return "as compiled (TILEWRIGHT_NO_REUSE)".into();
        }
        let here = match self.same_bits {
            None => "",
            Some(true) => "; the same bits on this GPU",
            Some(false) => "; not on this GPU, where it is not known to give the same bits",
        };
        let of = self.compilers.join(", ");
        format!("operands of f64 multiply-adds are reused in code for {} by {of}{here}", self.architecture)
    }
}

fn found(name: &'static str, what: Result<(Location, Option<String>), Error>) -> Found {
    let absent =
        Found { name, available: false, version: None, path: None, rule: None, why_not: None, hint: None };
    match what {
        Ok((location, version)) => Found {
            available: true,
            version,
            path: Some(location.path.display().to_string()),
            rule: Some(location.rule.to_string()),
            ..absent
        },
        Err(error) => Found { why_not: Some(error.to_string()), hint: hints::of(&error), ..absent },
    }
}

impl Found {
    fn describe(&self) -> String {
        match (&self.path, &self.rule, &self.why_not) {
            (Some(path), Some(rule), _) => {
                let version = self.version.as_ref().map(|version| format!("{version}, ")).unwrap_or_default();
                format!("{version}{path} ({rule})")
            }
            (_, _, why) => {
                let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                format!("{}{hint}", why.as_deref().unwrap_or("not found"))
            }
        }
    }
}

fn device(info: DeviceInfo) -> Device {
    Device {
        ordinal: info.ordinal,
        compute_capability: info.capability.to_string(),
        multiprocessors: info.multiprocessors,
        clock_hz: info.clock_hz,
        memory_bytes: info.memory,
        l2_cache_bytes: info.l2_cache,
        name: info.name,
    }
}

impl Device {
    fn describe(&self) -> String {
        format!(
            "{}: {}, compute capability {}, {} multiprocessors at {} MHz, {:.1} GB",
            self.ordinal,
            self.name,
            self.compute_capability,
            self.multiprocessors,
            self.clock_hz / 1_000_000,
            self.memory_bytes as f64 / 1e9
        )
    }
}
