//! GPUs as data, and occupancy; `tilewright.gpu` makes Python's functions of these.

use crate::{
    errors::{exception, refuse},
    options::{self, item},
};
use pyo3::{prelude::*, types::PyDict};
use tilewright_arch::{
    BlockSize, Carveout, ComputeCapability, Device, DynamicSharedMemory, Gpu, KernelResources, LaunchConfig,
    Occupancy, Resource, SquareBlock,
};

/// A GPU by name, or any of a compute capability such as `8.6`; where none is named, the default.
pub fn find(py: Python<'_>, name: Option<&str>) -> PyResult<Gpu> {
    let Some(name) = name else { return Ok(Gpu::default()) };
    let found = match name.parse::<ComputeCapability>() {
        Ok(capability) => Gpu::of(capability).map_err(|error| error.to_string()),
        Err(_) => Gpu::named(name).map_err(|error| error.to_string()),
    };
    let hint = "tilewright.gpus() lists all; a compute capability is '8.6'";
    found.map_err(|error| exception(py, "unsupported", &error, Some(hint)))
}

/// As [`find`], where the name is a caller's.
fn chosen(name: &Bound<'_, PyAny>) -> PyResult<Gpu> {
    find(name.py(), options::read::<Option<String>>("gpu", name)?.as_deref())
}

/// What a kernel and its launch take.
struct Configuration {
    registers: u32,
    shared_memory: u32,
    dynamic_shared_memory: u32,
    barriers: u32,
    cluster_size: u32,
    carveout: Option<u32>,
}

impl Configuration {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            registers: item(given, "registers")?,
            shared_memory: item(given, "shared_memory")?,
            dynamic_shared_memory: item(given, "dynamic_shared_memory")?,
            barriers: item(given, "barriers")?,
            cluster_size: item(given, "cluster_size")?,
            carveout: item(given, "carveout")?,
        })
    }

    fn kernel(&self) -> KernelResources {
        KernelResources {
            registers_per_thread: self.registers,
            static_shared_memory: self.shared_memory,
            barriers: self.barriers,
            ..KernelResources::default()
        }
    }

    fn launch(&self, threads: u32) -> LaunchConfig {
        LaunchConfig {
            dynamic_shared_memory: self.dynamic_shared_memory,
            cluster_size: self.cluster_size,
            carveout: self.carveout.map_or(Carveout::Default, Carveout::Percent),
            ..LaunchConfig::threads(threads)
        }
    }
}

/// All GPUs that are known, as dictionaries.
#[pyfunction]
pub fn gpu_table(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |device: &Device| {
        let row = PyDict::new(py);
        row.set_item("name", device.name)?;
        row.set_item("chip", device.chip)?;
        row.set_item("class", device.class.name())?;
        row.set_item("compute_capability", device.compute_capability.to_string())?;
        row.set_item("multiprocessors", device.sms)?;
        row.set_item("boost_clock_mhz", device.boost_clock_mhz)?;
        row.set_item("memory_gb", device.memory_gb)?;
        row.set_item("memory_bandwidth", device.memory_bandwidth)?;
        row.set_item("l2_kib", device.l2_kib)?;
        Ok(row)
    };
    Device::all().map(row).collect()
}

/// The occupancy of a configuration, with the keys of `tilewright occupancy`.
#[pyfunction]
pub fn occupancy_of<'py>(
    py: Python<'py>,
    gpu: &Bound<'py, PyAny>,
    threads: &Bound<'py, PyAny>,
    configuration: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (gpu, configuration) = (chosen(gpu)?, Configuration::of(configuration)?);
    let threads = options::read("threads", threads)?;
    let (kernel, launch) = (configuration.kernel(), configuration.launch(threads));
    let refused = |error: String| exception(py, "unsupported", &error, Some("lower what exceeds the limit"));
    let found = Occupancy::of(&gpu.limits, &kernel, &launch).map_err(|error| refused(error.to_string()))?;
    // A configuration that cannot launch is an answer as well.
    let error = launch.check(&gpu.limits, &kernel).err().map(|error| error.to_string());
    let limits = PyDict::new(py);
    for resource in Resource::ALL {
        limits.set_item(resource.name(), found.limits.get(resource))?;
    }
    let row = PyDict::new(py);
    row.set_item("gpu", gpu.name)?;
    row.set_item("compute_capability", gpu.capability().to_string())?;
    row.set_item("threads_per_block", threads)?;
    row.set_item("blocks_per_sm", found.blocks_per_sm)?;
    row.set_item("warps_per_sm", found.warps_per_sm)?;
    row.set_item("max_warps_per_sm", found.max_warps_per_sm)?;
    row.set_item("occupancy", found.ratio())?;
    row.set_item("limits", limits)?;
    let names: Vec<&str> = found.limited_by.iter().map(Resource::name).collect();
    row.set_item("limited_by", names)?;
    row.set_item("registers_per_block", found.allocated.registers_per_block)?;
    row.set_item("shared_memory_per_block", found.allocated.shared_memory_per_block)?;
    row.set_item("error", error)?;
    Ok(row)
}

/// The block size with the most resident threads: threads, blocks that fill a multiprocessor, the smallest grid that fills the GPU, and the side
/// of the largest square block within.
#[pyfunction]
pub fn best_block_of<'py>(
    py: Python<'py>,
    gpu: &Bound<'py, PyAny>,
    shared_memory_per_thread: &Bound<'py, PyAny>,
    max_threads: &Bound<'py, PyAny>,
    configuration: &Bound<'py, PyAny>,
) -> PyResult<(u32, u32, Option<u32>, u32)> {
    let (gpu, configuration) = (chosen(gpu)?, Configuration::of(configuration)?);
    let shared_memory_per_thread =
        options::read("dynamic_shared_memory_per_thread", shared_memory_per_thread)?;
    let max_threads = options::read("max_threads", max_threads)?;
    let base = configuration.dynamic_shared_memory;
    let dynamic = DynamicSharedMemory::PerThread { base, per_thread: shared_memory_per_thread };
    let launch = configuration.launch(1);
    let best = BlockSize::best(&gpu.limits, &configuration.kernel(), &launch, dynamic, max_threads)
        .map_err(|error| exception(py, "unsupported", &error.to_string(), None))?;
    let Some(best) = best else {
        return refuse(
            py,
            "unsupported",
            "this kernel, which no block size can launch,",
            "lower its registers or shared memory",
        );
    };
    let grid = gpu.device().map(|device| best.min_grid_size(device.sms));
    let side = SquareBlock::within(best.threads).map_or(0, |square| square.side);
    Ok((best.threads, best.blocks_per_sm, grid, side))
}
