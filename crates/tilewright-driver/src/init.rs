//! The driver itself, its errors, and what devices say of themselves.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::abi::{Ordinal, Uuid};
use crate::call::{self, Call, initialised, locked, put, put_text, text};
use crate::code::Code;
use crate::device::{self, add_device};
use crate::{context, settings};

/// The version of CUDA whose interface this is.
const VERSION: c_int = 13_000;

/// `cuInit`.
pub(crate) fn initialise(flags: c_uint) -> Call {
    static ONCE: Mutex<()> = Mutex::new(());
    if flags != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let _one_at_a_time = locked(&ONCE);
    if device::count() == 0 {
        for gpu in settings::read(|settings| settings.gpus.clone()) {
            add_device(gpu).map_err(|error| {
                settings::say(&error.to_string());
                Code::INVALID_DEVICE
            })?;
        }
    }
    if device::count() == 0 {
        return Err(Code::NO_DEVICE);
    }
    call::initialise();
    Ok(())
}

/// `cuDriverGetVersion`.
pub(crate) unsafe fn version(out: *mut c_int) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put(out, VERSION) }
}

unsafe fn put_error(text: Option<&'static CStr>, out: *mut *const c_char) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put(out, text.map_or(std::ptr::null(), CStr::as_ptr)) }?;
    text.map(drop).ok_or(Code::INVALID_VALUE)
}

/// `cuGetErrorName`.
pub(crate) unsafe fn error_name(code: c_int, out: *mut *const c_char) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put_error(Code(code).name(), out) }
}

/// `cuGetErrorString`.
pub(crate) unsafe fn error_text(code: c_int, out: *mut *const c_char) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put_error(Code(code).text(), out) }
}

/// Whether a program has asked for tables that nothing documents.
static ASKED_FOR_TABLES: AtomicBool = AtomicBool::new(false);

/// `cuGetExportTable`: NVIDIA's runtime library asks for tables that nothing documents, and checks by one of them whose driver this is. NVIDIA's compiler asks, too, and goes
/// on without.
pub(crate) unsafe fn export_table(out: *mut *const c_void) -> Call {
    ASKED_FOR_TABLES.store(true, SeqCst);
    // SAFETY: the caller's promise.
    unsafe { put(out, std::ptr::null()) }?;
    Err(Code::NOT_SUPPORTED)
}

/// Says at the end of a program why it has not come far, if it is one of those that cannot be run. The library calls it when it is unloaded.
#[doc(hidden)]
pub fn say_farewell() {
    if ASKED_FOR_TABLES.load(SeqCst) && !context::was_any_made() {
        settings::say(
            "this program uses NVIDIA's runtime library (libcudart), which works with NVIDIA's driver alone: it asked for tables that nothing documents, and gave up. \
             Programs that call the driver's functions (cu...) by themselves can be run",
        );
    }
}

/// `cuDeviceGetCount`.
pub(crate) unsafe fn device_count(out: *mut c_int) -> Call {
    initialised()?;
    // SAFETY: the caller's promise.
    unsafe { put(out, device::count() as c_int) }
}

/// `cuDeviceGet`.
pub(crate) unsafe fn device(out: *mut Ordinal, ordinal: c_int) -> Call {
    initialised()?;
    device::of(ordinal)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, ordinal) }
}

/// `cuDeviceGetName`.
pub(crate) unsafe fn device_name(out: *mut c_char, room: c_int, ordinal: Ordinal) -> Call {
    initialised()?;
    let name = format!("{} (Tilewright emulator)", device::of(ordinal)?.gpu.name);
    // SAFETY: the caller's promise.
    unsafe { put_text(out, room, &name) }
}

/// `cuDeviceGetAttribute`.
pub(crate) unsafe fn device_attribute(out: *mut c_int, which: c_int, ordinal: Ordinal) -> Call {
    initialised()?;
    let value = device::of(ordinal)?.attribute(which).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, value) }
}

/// `cuDeviceGetPCIBusId`.
pub(crate) unsafe fn bus_id(out: *mut c_char, room: c_int, ordinal: Ordinal) -> Call {
    initialised()?;
    let name = device::of(ordinal)?.bus_id();
    // SAFETY: the caller's promise.
    unsafe { put_text(out, room, &name) }
}

/// `cuDeviceGetByPCIBusId`.
pub(crate) unsafe fn by_bus_id(out: *mut Ordinal, name: *const c_char) -> Call {
    initialised()?;
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) }?;
    let is_it =
        |ordinal: &c_int| device::of(*ordinal).is_ok_and(|device| device.bus_id().eq_ignore_ascii_case(name));
    let found = (0..device::count() as c_int).find(is_it).ok_or(Code::INVALID_DEVICE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, found) }
}

/// `cuDeviceTotalMem`.
pub(crate) unsafe fn total_memory(out: *mut usize, ordinal: Ordinal) -> Call {
    initialised()?;
    let bytes = device::of(ordinal)?.gpu.memory_bytes;
    // SAFETY: the caller's promise.
    unsafe { put(out, bytes as usize) }
}

/// `cuDeviceGetUuid`.
pub(crate) unsafe fn uuid(out: *mut Uuid, ordinal: Ordinal) -> Call {
    initialised()?;
    let bytes = device::of(ordinal)?.uuid();
    // SAFETY: the caller's promise.
    unsafe { put(out, Uuid { bytes }) }
}

/// `cuDeviceComputeCapability`.
pub(crate) unsafe fn capability(major: *mut c_int, minor: *mut c_int, ordinal: Ordinal) -> Call {
    initialised()?;
    let capability = device::of(ordinal)?.gpu.capability();
    // SAFETY: the caller's promise.
    unsafe {
        put(major, capability.major().into())?;
        put(minor, capability.minor().into())
    }
}
