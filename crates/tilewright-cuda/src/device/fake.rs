//! A driver that does nothing but write down what it is asked for: the order of calls can be tested without a GPU.

use super::context::Context;
use super::driver::Driver;
use super::health::Health;
use super::info::DeviceInfo;
use super::stream::Stream;
use crate::ffi::driver::{self as ffi, Functions};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tilewright_arch::ComputeCapability;
use tilewright_toolchain::{
    DriverVersion,
    locate::{Location, Rule},
};

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static STREAM_CODE: std::cell::Cell<ffi::Code> = const { std::cell::Cell::new(0) };
}

fn call(name: &'static str) -> ffi::Code {
    CALLS.with_borrow_mut(|calls| calls.push(name));
    0
}

/// What this thread's drivers were asked for since the last time.
pub(crate) fn calls() -> Vec<&'static str> {
    CALLS.take()
}

/// What waiting for a stream returns in this thread from now on.
pub(crate) fn set_stream_code(code: ffi::Code) {
    STREAM_CODE.set(code);
}

unsafe extern "C" fn push(_: ffi::Context) -> ffi::Code {
    call("push")
}
unsafe extern "C" fn wait_for_context() -> ffi::Code {
    call("wait for the context")
}
unsafe extern "C" fn wait_for_stream(_: ffi::Stream) -> ffi::Code {
    call("wait for the stream");
    STREAM_CODE.get()
}
unsafe extern "C" fn unload(_: ffi::Module) -> ffi::Code {
    call("unload")
}
unsafe extern "C" fn release(_: ffi::Device) -> ffi::Code {
    call("release")
}
unsafe extern "C" fn destroy_stream(_: ffi::Stream) -> ffi::Code {
    call("destroy the stream")
}
/// Memory that nothing may touch: another place each time, aligned as the driver's.
unsafe extern "C" fn allocate(address: *mut ffi::Address, bytes: usize) -> ffi::Code {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 20);
    let next = NEXT.fetch_add((bytes as u64).next_multiple_of(512), Ordering::Relaxed);
    // SAFETY: the caller gives a place for the address.
    unsafe { address.write(next) };
    call("allocate")
}
unsafe extern "C" fn load(
    _: *mut ffi::Module,
    _: *const c_void,
    _: u32,
    _: *mut u32,
    _: *mut *mut c_void,
) -> ffi::Code {
    call("load")
}

/// Says of each attribute of the launch which it is.
unsafe extern "C" fn launch(
    config: *const ffi::LaunchConfig,
    _: ffi::Function,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> ffi::Code {
    // SAFETY: the caller gives a configuration.
    let config = unsafe { config.read() };
    for index in 0..config.numAttrs as usize {
        // SAFETY: there are so many.
        let attribute = unsafe { config.attrs.add(index).read() };
        call(match attribute.id as u32 {
            id if id == ffi::early_start().id as u32 => "early",
            id if id == ffi::cluster([1; 3]).id as u32 => "in clusters",
            _ => "otherwise",
        });
    }
    call("launch")
}

/// A map in which the numbers can be read. It refuses addresses that CUDA refuses.
unsafe extern "C" fn encode(
    map: *mut c_void,
    element: u32,
    rank: u32,
    address: *mut c_void,
    extents: *const u64,
    _: *const u64,
    _: *const u32,
    _: *const u32,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> ffi::Code {
    if !address.addr().is_multiple_of(16) || !map.addr().is_multiple_of(64) {
        return 1;
    }
    let mut bytes = [0_u8; 128];
    for (to, number) in bytes.iter_mut().zip([element, rank, swizzle, promotion, interleave, fill]) {
        *to = number as u8;
    }
    bytes[8..16].copy_from_slice(&address.addr().to_le_bytes());
    // SAFETY: a tensor has an extent.
    bytes[16..24].copy_from_slice(&unsafe { extents.read() }.to_le_bytes());
    // SAFETY: the caller gives a place for a map.
    unsafe { map.cast::<[u8; 128]>().write(bytes) };
    0
}

/// A context of such a driver.
pub(crate) fn context(health: Health) -> Arc<Context> {
    context_of(functions(), health)
}

fn functions() -> Functions {
    Functions {
        cuCtxPushCurrent_v2: push,
        cuCtxSynchronize: wait_for_context,
        cuStreamSynchronize: wait_for_stream,
        cuMemAlloc_v2: allocate,
        cuModuleUnload: unload,
        cuModuleLoadDataEx: load,
        cuDevicePrimaryCtxRelease_v2: release,
        cuStreamDestroy_v2: destroy_stream,
        cuLaunchKernelEx: launch,
        cuTensorMapEncodeTiled: Some(encode),
        ..Functions::stub()
    }
}

fn context_of(functions: Functions, health: Health) -> Arc<Context> {
    let location = Location { path: "fake".into(), rule: Rule::System };
    let driver = Driver::fake(
        Box::leak(Box::new(functions)),
        Box::leak(Box::new(location)),
        DriverVersion::new(13, 0),
    );
    Context::fake(driver, info(), ptr::null_mut(), health)
}

/// A stream in a context that can be used.
pub(crate) fn healthy() -> Arc<Stream> {
    stream(Health::new())
}

/// A stream of a driver that is too old for tensor maps.
pub(crate) fn without_tensor_maps() -> Arc<Stream> {
    let functions = Functions { cuTensorMapEncodeTiled: None, ..functions() };
    Stream::new(context_of(functions, Health::new())).expect("the fake driver refuses nothing")
}

/// A stream in such a context.
pub(crate) fn stream(health: Health) -> Arc<Stream> {
    Stream::new(context(health)).expect("the fake driver refuses nothing")
}

/// A device that says nothing of itself.
pub(crate) fn info() -> DeviceInfo {
    DeviceInfo {
        ordinal: 0,
        name: "a fake GPU".into(),
        pci_bus_id: String::new(),
        capability: ComputeCapability::new(9, 0),
        multiprocessors: 1,
        clock_hz: 0,
        memory: 0,
        memory_bytes_per_second: 0,
        l2_cache: 0,
        shared_memory_per_multiprocessor: 0,
        shared_memory_per_block: 0,
        shared_memory_per_block_opt_in: 0,
        reserved_shared_memory: 0,
        registers_per_multiprocessor: 0,
        threads_per_multiprocessor: 0,
        blocks_per_multiprocessor: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Module, Start};
    use std::sync::OnceLock;
    use tilewright_arch::GridLaunch;

    fn module(context: &Arc<Context>) -> Arc<Module> {
        // SAFETY: the fake driver does not look at the image.
        unsafe { Module::load(context, "test", b"image") }.expect("loaded")
    }

    #[test]
    fn a_launch_in_clusters_may_start_early() {
        let stream = healthy();
        let function = module(&stream.context).function("k").expect("the fake driver has all");
        let shape = GridLaunch { cluster: Some([2, 1, 1]), ..GridLaunch::new([4, 1, 1], [128, 1, 1]) };
        for (start, expected) in [
            (Start::Early, &["early", "in clusters", "launch"][..]),
            (Start::InOrder, &["in clusters", "launch"]),
        ] {
            calls();
            // SAFETY: the fake driver launches nothing.
            unsafe { function.launch(&stream, stream.handle(), &"k".into(), &shape, start, &mut []) }
                .expect("launched");
            assert_eq!(calls()[1..], *expected);
        }
    }

    #[test]
    fn a_module_is_unloaded_when_no_work_is_in_flight() {
        let context = context(Health::new());
        let module = module(&context);
        calls();
        drop(module);
        assert_eq!(calls(), ["push", "wait for the context", "unload"]);
    }

    #[test]
    fn after_an_illegal_address_the_driver_is_not_asked_again() {
        let stream = stream(Health::new());
        let module = module(&stream.context);
        stream.synchronize().expect("healthy");
        set_stream_code(700);
        assert_eq!(stream.synchronize().expect_err("an illegal address").code(), "device");
        set_stream_code(0);
        calls();
        let error = stream.synchronize().expect_err("broken");
        assert!(error.is_unavailable() && error.to_string().contains("waiting for the device"), "{error}");
        drop(module);
        assert_eq!(calls(), [""; 0]);
        drop(stream);
        assert_eq!(calls(), ["release"], "nothing but the claim to the context");
    }

    #[test]
    fn a_forked_process_leaves_the_driver_alone() {
        let own = context(Health::new());
        let module = module(&own);
        // As a child sees it that was forked when all was open.
        let parents = Health::of(std::process::id() + 1, OnceLock::new());
        let context = context(parents);
        calls();
        assert!(context.enter().err().expect("forked").is_unavailable());
        assert!(context.memory().expect_err("forked").to_string().contains("forked"));
        drop(context);
        assert_eq!(calls(), [""; 0]);
        drop((module, own));
    }
}
