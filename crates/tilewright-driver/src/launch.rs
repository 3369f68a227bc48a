//! Launches: from the C interface to the emulator's machine, and what comes of them.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use tilewright_arch::{Blocks, GridLaunch, KernelResources};
use tilewright_emulator::{Argument, BlockOrderPolicy, Launch, LaunchError, Parameter, Report};

use crate::abi::{ATTRIBUTE_CLUSTER, ATTRIBUTE_COOPERATIVE, Handle, LaunchConfig};
use crate::call::{Call, take};
use crate::code::Code;
use crate::context::{Context, Sticks};
use crate::failure::{Failure, broken, code_of, refused};
use crate::module::Function;
use crate::watch::{self, Launched};
use crate::{objects, settings, stream};

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and its like.
const BUFFER_POINTER: usize = 1;
const BUFFER_BYTES: usize = 2;

/// A grid, and where it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub shape: GridLaunch,
    pub stream: Handle,
}

/// `cuLaunchKernel` and `cuLaunchCooperativeKernel`.
///
/// # Safety
/// Arguments must be what the C interface asks for.
pub(crate) unsafe fn launch(
    handle: Handle,
    extent: Extent,
    arguments: *const *const c_void,
    extra: *const *const c_void,
) -> Call {
    let context = stream::context(extent.stream)?;
    let function = objects::get::<Function>(handle)?;
    if !Arc::ptr_eq(&function.module.context, &context) {
        return Err(Code::INVALID_CONTEXT);
    }
    let parameters = function.module.program.parameters(&function.entry).unwrap_or_default();
    // SAFETY: the caller's promise.
    let arguments = unsafe {
        match (arguments.is_null(), extra.is_null()) {
            (false, true) => one_by_one(parameters, arguments)?,
            (true, false) => from_buffer(parameters, extra)?,
            (true, true) if parameters.is_empty() => Vec::new(),
            _ => return Err(Code::INVALID_VALUE),
        }
    };
    run(&context, &function, &extent, arguments)
}

/// `cuLaunchKernelEx`.
///
/// # Safety
/// As for [`launch`].
pub(crate) unsafe fn launch_ex(
    config: *const LaunchConfig,
    handle: Handle,
    arguments: *const *const c_void,
    extra: *const *const c_void,
) -> Call {
    // SAFETY: the caller's promise.
    let config = unsafe { take(config) }?;
    // SAFETY: as above.
    let Attributes { blocks, cluster } = unsafe { Attributes::of(&config)? };
    let LaunchConfig { grid, block, shared, stream, .. } = config;
    let shape = GridLaunch { dynamic_shared_memory: shared, blocks, cluster, ..GridLaunch::new(grid, block) };
    // SAFETY: the caller's promise.
    unsafe { launch(handle, Extent { shape, stream }, arguments, extra) }
}

/// What the attributes of a launch say.
pub(crate) struct Attributes {
    pub blocks: Blocks,
    pub cluster: Option<[u32; 3]>,
}

impl Attributes {
    /// Those of a configuration.
    ///
    /// # Safety
    /// It must have as many as it says.
    pub unsafe fn of(config: &LaunchConfig) -> Result<Self, Code> {
        let mut all = Self { blocks: Blocks::Independent, cluster: None };
        for index in 0..config.attribute_count as usize {
            // SAFETY: the caller's promise.
            let attribute = unsafe { take(config.attributes.wrapping_add(index)) }?;
            let words = attribute.value.words;
            match attribute.id {
                ATTRIBUTE_COOPERATIVE if words[0] != 0 => all.blocks = Blocks::Cooperative,
                ATTRIBUTE_CLUSTER => all.cluster = Some([words[0], words[1], words[2]]),
                // When a kernel may start, its priority, and what stays in the cache: nothing of that changes what it does.
                _ => {}
            }
        }
        Ok(all)
    }
}

/// Why a launch cannot be: what the program gets, and in words.
type Refusal = (Code, LaunchError);

/// Whether the device and the kernel take such blocks.
fn check(function: &Function, extent: &Extent) -> Result<(), Refusal> {
    let device = &function.module.context.device;
    let launch = GridLaunch { cluster_limit: function.cluster_limit(), ..extent.shape };
    let kernel = KernelResources {
        registers_per_thread: watch::registers().unwrap_or_else(|| function.least_registers()),
        ..function.resources()
    };
    launch.check(&device.gpu.limits, &kernel, Some(device.gpu.multiprocessors)).map_err(|refusal| {
        let why = format!("{refusal}; {}", refusal.remedy(&device.gpu.limits, &kernel));
        (code_of(&refusal), LaunchError::Refused { why })
    })
}

/// Arguments that lie apart. That there are enough of them cannot be seen.
unsafe fn one_by_one(
    parameters: &[Parameter],
    arguments: *const *const c_void,
) -> Result<Vec<Argument>, Code> {
    parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            // SAFETY: the caller's promise: there is one for each parameter.
            let at = unsafe { arguments.add(index).read_unaligned() };
            if at.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            // SAFETY: the caller's promise: it is as large as the parameter.
            Ok(Argument::bytes(unsafe { std::slice::from_raw_parts(at.cast(), parameter.bytes) }))
        })
        .collect()
}

/// Arguments in one piece of memory.
unsafe fn from_buffer(parameters: &[Parameter], extra: *const *const c_void) -> Result<Vec<Argument>, Code> {
    let (mut buffer, mut bytes) = (std::ptr::null::<u8>(), None);
    for pair in 0..4 {
        // SAFETY: the caller's promise: pairs of a name and a value, and null at the end.
        let (name, value) = unsafe {
            match extra.add(2 * pair).read_unaligned().addr() {
                0 => break,
                name => (name, extra.add(2 * pair + 1).read_unaligned()),
            }
        };
        match name {
            BUFFER_POINTER => buffer = value.cast(),
            // SAFETY: the caller's promise: the address of a size.
            BUFFER_BYTES => bytes = Some(unsafe { take(value.cast::<usize>()) }?),
            _ => return Err(Code::INVALID_VALUE),
        }
    }
    let end = parameters.last().map_or(0, |parameter| parameter.offset + parameter.bytes);
    let bytes = bytes.filter(|&bytes| bytes >= end && !buffer.is_null()).ok_or(Code::INVALID_VALUE)?;
    // What is behind the last argument may only fill up to its alignment.
    if bytes > end.next_multiple_of(16) {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise: so many bytes.
    let buffer: &[u8] = unsafe { std::slice::from_raw_parts(buffer, bytes) };
    Ok(parameters.iter().map(|p| Argument::bytes(&buffer[p.offset..p.offset + p.bytes])).collect())
}

/// Executes a launch, if it can be. A failure of the kernel is told by the calls behind it.
fn run(context: &Arc<Context>, function: &Function, extent: &Extent, arguments: Vec<Argument>) -> Call {
    let began = Instant::now();
    let (outcome, refusal) = match check(function, extent) {
        Ok(()) => {
            context.becomes_busy();
            (execute(context, function, extent, arguments), None)
        }
        Err((code, error)) => (Err(error), Some(code)),
    };
    let seconds = began.elapsed().as_secs_f64();
    let failed = failure(&function.entry, &outcome, refusal);
    watch::tell(&Launched {
        kernel: &function.entry,
        gpu: context.device.gpu.name,
        grid: extent.shape.grid,
        block: extent.shape.block,
        dynamic_shared: extent.shape.dynamic_shared_memory,
        seconds,
        outcome: &outcome,
        code: failed.as_ref().map_or(Code::SUCCESS, |(failure, _)| failure.code),
    });
    let Some((failure, sticks)) = failed else { return Ok(()) };
    let failure = Arc::new(failure);
    settings::say(&failure.to_string());
    context.note(&failure, sticks);
    match sticks {
        Sticks::Yes => Ok(()),
        Sticks::No => Err(failure.code),
    }
}

fn execute(
    context: &Context,
    function: &Function,
    extent: &Extent,
    arguments: Vec<Argument>,
) -> Result<Report, LaunchError> {
    let device = &context.device;
    let mut launch = Launch { arguments, ..Launch::new(extent.shape.grid, extent.shape.block) };
    launch.dynamic_shared = extent.shape.dynamic_shared_memory;
    launch.cluster = extent.shape.cluster;
    launch.surfaces = watch::surfaces();
    launch.textures = watch::textures();
    launch.options = watch::options();
    launch.options.multiprocessors = device.gpu.multiprocessors;
    launch.options.capability = device.gpu.capability();
    if extent.shape.blocks == Blocks::Cooperative {
        launch.options.order = BlockOrderPolicy::Cooperative;
    }
    let mut memory = device.memory();
    // What the program has allocated is not the launch's.
    let own = memory.emulated.allocated();
    launch.options.memory_limit = launch.options.memory_limit.saturating_add(own);
    watch::watched(&function.entry, |watch| {
        memory.emulated.launch(&function.module.program, &function.entry, &launch, watch)
    })
}

/// What a launch failed with, if it did; `refusal` is the code of one that was not executed.
fn failure(
    kernel: &str,
    outcome: &Result<Report, LaunchError>,
    refusal: Option<Code>,
) -> Option<(Failure, Sticks)> {
    let kernel = kernel.to_owned();
    let report = match outcome {
        Ok(report) => report,
        Err(error) => {
            let code = refusal.or_else(|| refused(error)).unwrap_or(Code::LAUNCH_FAILED);
            let (error, findings) = (Some(error.clone()), Vec::new());
            return Some((Failure { code, kernel, error, findings }, Sticks::No));
        }
    };
    let not_its_fault = report.error.as_ref().and_then(refused);
    let (code, sticks) = match not_its_fault {
        Some(code) => (code, Sticks::No),
        None => (broken(report)?, Sticks::Yes),
    };
    let (error, findings) = (report.error.clone(), report.findings.clone());
    Some((Failure { code, kernel, error, findings }, sticks))
}
