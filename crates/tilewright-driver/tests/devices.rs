//! Several devices of one process: what tells them from each other, copies, events, failures of one, and NCCL.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use crate::rig::{Rig, allocate, entry, fill, function, is, launch, launch_in, load, ok, read, write};
use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};
use std::thread;
use tilewright_driver::{Code, Handle, api::*, nccl_function, types::Uuid};

fn four() -> [Rig; 4] {
    ["h200", "h200", "a100", "h200"].map(Rig::of)
}

#[test]
fn devices_are_told_apart_by_uuid_place_and_memory() {
    let rigs = four();
    let mut count = 0;
    ok(unsafe { cuDeviceGetCount(&mut count) });
    assert!(count >= 4);
    let (mut uuids, mut places) = (BTreeSet::new(), BTreeSet::new());
    for rig in &rigs {
        let (mut uuid, mut place) = (Uuid { bytes: [0; 16] }, [0 as c_char; 16]);
        ok(unsafe { cuDeviceGetUuid_v2(&mut uuid, rig.ordinal) });
        ok(unsafe { cuDeviceGetPCIBusId(place.as_mut_ptr(), 16, rig.ordinal) });
        let mut found = -1;
        ok(unsafe { cuDeviceGetByPCIBusId(&mut found, place.as_ptr()) });
        assert_eq!(found, rig.ordinal);
        uuids.insert(uuid.bytes);
        places.insert(place);
    }
    assert_eq!((uuids.len(), places.len()), (4, 4));
    // What one allocates is missing there alone.
    let free = |rig: &Rig| {
        rig.enter();
        let (mut free, mut total) = (0, 0);
        ok(unsafe { cuMemGetInfo_v2(&mut free, &mut total) });
        free
    };
    let before: Vec<_> = rigs.iter().map(free).collect();
    rigs[1].enter();
    allocate(1 << 20);
    let after: Vec<_> = rigs.iter().map(free).collect();
    assert_eq!(before[1] - after[1], 1 << 20);
    assert!([0, 2, 3].iter().all(|&other| before[other] == after[other]));
}

#[test]
fn the_context_of_a_thread_says_where_work_goes() {
    let (one, other) = (Rig::new(), Rig::new());
    let mut found = -1;
    for rig in [&one, &other, &one] {
        rig.enter();
        ok(unsafe { cuCtxGetDevice(&mut found) });
        assert_eq!(found, rig.ordinal);
    }
    // Another thread has none until it chooses one.
    let (context, ordinal) = (other.context, other.ordinal);
    thread::spawn(move || {
        let mut found = -1;
        is(unsafe { cuCtxGetDevice(&mut found) }, Code::INVALID_CONTEXT);
        ok(unsafe { cuCtxSetCurrent(context) });
        ok(unsafe { cuCtxGetDevice(&mut found) });
        assert_eq!(found, ordinal);
    })
    .join()
    .expect("it ends well");
    // A kernel is its context's, and a stream as well.
    one.enter();
    let module = function(load(&fill()), "fill");
    other.enter();
    let array = allocate(128);
    is(launch(module, 1, 32, &[array, 1]), Code::INVALID_CONTEXT);
}

#[test]
fn copies_between_devices_name_both_contexts() {
    let rigs = four();
    let arrays: Vec<u64> = rigs
        .iter()
        .map(|rig| {
            rig.enter();
            allocate(16)
        })
        .collect();
    rigs[0].enter();
    write(arrays[0], &[1, 2, 3, 4]);
    let copy = |to: usize, from: usize| unsafe {
        cuMemcpyPeerAsync(arrays[to], rigs[to].context, arrays[from], rigs[from].context, 16, 0)
    };
    // Round, by a thread whose context is one of both or neither.
    for (to, from) in [(1, 0), (2, 1), (3, 2)] {
        ok(copy(to, from));
    }
    rigs[3].enter();
    assert_eq!(read(arrays[3], 4), [1, 2, 3, 4]);
    ok(unsafe { cuMemcpyDtoD_v2(arrays[0] + 4, arrays[3], 8) });
    assert_eq!(read(arrays[0], 4), [1, 1, 2, 4]);
    // Contexts in the wrong order, none, and more than there is.
    let mixed = unsafe { cuMemcpyPeer(arrays[1], rigs[0].context, arrays[0], rigs[1].context, 16) };
    is(mixed, Code::INVALID_VALUE);
    is(unsafe { cuMemcpyPeer(arrays[1], 0, arrays[0], rigs[0].context, 16) }, Code::INVALID_CONTEXT);
    let long = unsafe { cuMemcpyPeer(arrays[1], rigs[1].context, arrays[0], rigs[0].context, 17) };
    is(long, Code::INVALID_VALUE);
}

#[test]
fn kernels_reach_the_memory_of_their_device_alone_and_the_driver_says_so() {
    let (one, other) = (Rig::new(), Rig::new());
    let mut can = 1;
    ok(unsafe { cuDeviceCanAccessPeer(&mut can, one.ordinal, other.ordinal) });
    assert_eq!(can, 0);
    is(unsafe { cuDeviceCanAccessPeer(&mut can, one.ordinal, 10_000) }, Code::INVALID_DEVICE);
    one.enter();
    is(unsafe { cuCtxEnablePeerAccess(other.context, 0) }, Code::PEER_ACCESS_UNSUPPORTED);
    is(unsafe { cuCtxEnablePeerAccess(other.context, 1) }, Code::INVALID_VALUE);
    is(unsafe { cuCtxEnablePeerAccess(one.context, 0) }, Code::INVALID_CONTEXT);
    is(unsafe { cuCtxDisablePeerAccess(other.context) }, Code::PEER_ACCESS_NOT_ENABLED);
    let theirs = allocate(128);
    other.enter();
    let fill = function(load(&fill()), "fill");
    ok(launch(fill, 1, 32, &[theirs, 1]));
    is(unsafe { cuCtxSynchronize() }, Code::ILLEGAL_ADDRESS);
}

#[test]
fn a_stream_waits_for_an_event_of_another_device() {
    let (one, other) = (Rig::new(), Rig::new());
    one.enter();
    let (mut first, mut event) = (0, 0);
    ok(unsafe { cuStreamCreate(&mut first, 1) });
    ok(unsafe { cuEventCreate(&mut event, 2) });
    let array = allocate(128);
    ok(launch_in(first, function(load(&fill()), "fill"), 1, 32, &[array, 5]));
    ok(unsafe { cuEventRecord(event, first) });
    other.enter();
    let mut second = 0;
    ok(unsafe { cuStreamCreate(&mut second, 1) });
    ok(unsafe { cuStreamWaitEvent(second, event, 0) });
    let target = allocate(128);
    ok(unsafe { cuMemcpyPeerAsync(target, other.context, array, one.context, 128, second) });
    ok(unsafe { cuStreamSynchronize(second) });
    assert_eq!(read(target, 32), [5; 32]);
    // An event is recorded in streams of its own device alone.
    is(unsafe { cuEventRecord(event, second) }, Code::INVALID_HANDLE);
}

#[test]
fn a_device_that_fails_leaves_the_others_alone() {
    let (broken, well) = (Rig::new(), Rig::new());
    broken.enter();
    let lost = allocate(16);
    let stray = entry("stray", "", "mov.u64 %rd1, 64; ld.global.u32 %r1, [%rd1];");
    ok(launch(function(load(&stray), "stray"), 1, 1, &[]));
    is(unsafe { cuCtxSynchronize() }, Code::ILLEGAL_ADDRESS);
    well.enter();
    let array = allocate(128);
    ok(launch(function(load(&fill()), "fill"), 1, 32, &[array, 3]));
    assert_eq!(read(array, 1), [3]);
    is(unsafe { cuMemcpyPeer(array, well.context, lost, broken.context, 16) }, Code::ILLEGAL_ADDRESS);
    ok(unsafe { cuCtxSynchronize() });
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Id([u8; 128]);

type Broadcast = unsafe extern "C" fn(u64, u64, usize, c_int, c_int, Handle, Handle) -> c_int;

/// NCCL's functions, as a program finds them.
struct Nccl {
    id: unsafe extern "C" fn(*mut Id) -> c_int,
    join: unsafe extern "C" fn(*mut Handle, c_int, Id, c_int) -> c_int,
    leave: unsafe extern "C" fn(Handle) -> c_int,
    error: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    broadcast: Broadcast,
}

impl Nccl {
    fn new() -> Self {
        unsafe fn find<F>(name: &str) -> F {
            let found: *const c_void = nccl_function(name).expect("known");
            unsafe { std::mem::transmute_copy(&found) }
        }
        unsafe {
            Self {
                id: find("ncclGetUniqueId"),
                join: find("ncclCommInitRank"),
                leave: find("ncclCommAbort"),
                error: find("ncclCommGetAsyncError"),
                broadcast: find("ncclBroadcast"),
            }
        }
    }
}

#[test]
fn nccl_sends_the_bytes_of_the_root_to_all() {
    let (rigs, nccl) = (four(), Nccl::new());
    let mut id = Id([0; 128]);
    assert_eq!(unsafe { (nccl.id)(&mut id) }, 0);
    thread::scope(|scope| {
        for (rank, rig) in rigs.iter().enumerate() {
            let nccl = &nccl;
            scope.spawn(move || {
                rig.enter();
                let (mut communicator, array) = (0, allocate(16));
                assert_eq!(unsafe { (nccl.join)(&mut communicator, 4, id, rank as c_int) }, 0);
                for root in [2, 0, 3, 1_u32] {
                    write(array, &[rank as u32, 7, 8, 9]);
                    let sent =
                        unsafe { (nccl.broadcast)(array, array, 8, 1, root as c_int, communicator, 0) };
                    assert_eq!(sent, 0);
                    assert_eq!(read(array, 4), [root, 7, 8, 9]);
                }
                assert_eq!(unsafe { (nccl.broadcast)(array, array, 8, 1, 4, communicator, 0) }, 4);
                assert_eq!(unsafe { (nccl.leave)(communicator) }, 0);
                assert_ne!(unsafe { (nccl.leave)(communicator) }, 0);
            });
        }
    });
}

#[test]
fn a_rank_of_nccl_that_leaves_is_an_error_that_is_told_later() {
    let (rigs, nccl) = ([Rig::new(), Rig::new()], Nccl::new());
    let mut id = Id([0; 128]);
    assert_eq!(unsafe { (nccl.id)(&mut id) }, 0);
    thread::scope(|scope| {
        for (rank, rig) in rigs.iter().enumerate() {
            let nccl = &nccl;
            scope.spawn(move || {
                rig.enter();
                let (mut communicator, array, mut error) = (0, allocate(16), -1);
                assert_eq!(unsafe { (nccl.join)(&mut communicator, 2, id, rank as c_int) }, 0);
                if rank == 1 {
                    // Memory that is not there: the rank fails, and nobody waits for it.
                    assert_eq!(unsafe { (nccl.broadcast)(64, 64, 8, 1, 1, communicator, 0) }, 1);
                    return;
                }
                assert_eq!(unsafe { (nccl.broadcast)(array, array, 8, 1, 1, communicator, 0) }, 0);
                assert_eq!(unsafe { (nccl.error)(communicator, &mut error) }, 0);
                assert_eq!(error, 6);
            });
        }
    });
}
