//! NCCL's functions between emulated devices of one process, a thread for each: a broadcast is a copy by way of the host.
//!
//! As with the driver, work is done when it is put into a stream. So a broadcast waits for the root's, and ranks have to call theirs in one order.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::abi::{Address, Handle};
use crate::call::{Pointer, locked, put};
use crate::code::Code;
use crate::context::Context;
use crate::{copy, objects, stream};

/// The version whose functions these are: 2.18.1.
const VERSION: c_int = 21_801;
/// `ncclUint8`.
const BYTES: c_int = 1;

/// How a call ends: `ncclResult_t`.
type Result<T> = std::result::Result<T, Failure>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
enum Failure {
    Cuda = 1,
    Internal = 3,
    Argument = 4,
    Usage = 5,
    Remote = 6,
}

impl From<Code> for Failure {
    fn from(_: Code) -> Self {
        Self::Cuda
    }
}

fn guard(call: impl FnOnce() -> Result<()>) -> c_int {
    let code = |failure: Failure| failure as c_int;
    catch_unwind(AssertUnwindSafe(call))
        .map_or(code(Failure::Internal), |done| done.map_or_else(code, |()| 0))
}

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Id([u8; 128]);

/// What the ranks of a communicator share.
#[derive(Debug)]
struct Shared {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    has_joined: Vec<bool>,
    /// Ranks that send nothing more.
    has_left: Vec<bool>,
    /// What the roots of broadcasts have given that not all have taken, by the number of the call.
    given: HashMap<u64, (Arc<[u8]>, usize)>,
}

/// A rank of a communicator.
#[derive(Debug)]
struct Communicator {
    context: Arc<Context>,
    shared: Arc<Shared>,
    rank: usize,
    calls: AtomicU64,
    /// `ncclCommGetAsyncError`.
    error: AtomicI32,
}

impl objects::Kind for Communicator {
    fn owner(&self) -> Option<Handle> {
        Some(self.context.id)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Shared {
    fn new(size: usize) -> Arc<Self> {
        let state =
            State { has_joined: vec![false; size], has_left: vec![false; size], given: HashMap::new() };
        Arc::new(Self { size, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a rank join, and waits for all others.
    fn join(&self, rank: usize) -> Result<()> {
        let mut state = locked(&self.state);
        let joined = state.has_joined.get_mut(rank).ok_or(Failure::Argument)?;
        if std::mem::replace(joined, true) {
            return Err(Failure::Usage);
        }
        self.changed.notify_all();
        while !state.has_joined.iter().all(|&joined| joined) {
            state = self.wait(state);
        }
        Ok(())
    }

    fn give(&self, call: u64, bytes: Arc<[u8]>) {
        if self.size > 1 {
            locked(&self.state).given.insert(call, (bytes, self.size - 1));
            self.changed.notify_all();
        }
    }

    /// What the root has given; nothing where it has left.
    fn take(&self, call: u64, root: usize) -> Option<Arc<[u8]>> {
        let mut state = locked(&self.state);
        loop {
            if let Some((bytes, readers)) = state.given.get_mut(&call) {
                let bytes = Arc::clone(bytes);
                *readers -= 1;
                if *readers == 0 {
                    state.given.remove(&call);
                }
                return Some(bytes);
            }
            if state.has_left[root] {
                return None;
            }
            state = self.wait(state);
        }
    }
}

impl Communicator {
    fn leave(&self) {
        locked(&self.shared.state).has_left[self.rank] = true;
        self.shared.changed.notify_all();
    }

    fn broadcast(&self, from: Address, to: Address, bytes: usize, root: usize, order: Handle) -> Result<()> {
        let call = self.calls.fetch_add(1, SeqCst);
        let context = stream::context(order)?;
        if !Arc::ptr_eq(&context, &self.context) {
            return Err(Failure::Usage);
        }
        if self.rank == root {
            let mut sent = vec![0_u8; bytes];
            // SAFETY: there is room for so many bytes.
            unsafe { copy::to_host(sent.as_mut_ptr().cast(), from, bytes) }?;
            self.shared.give(call, sent.into());
            // SAFETY: memory that the driver knows has so many bytes.
            return if to == from { Ok(()) } else { Ok(unsafe { copy::on_device(to, from, bytes) }?) };
        }
        let Some(sent) = self.shared.take(call, root) else {
            // As on a network: the call has been made, and later it is told that it came to nothing.
            self.error.store(Failure::Remote as i32, SeqCst);
            return Ok(());
        };
        if sent.len() != bytes {
            return Err(Failure::Usage);
        }
        // SAFETY: there are so many bytes.
        Ok(unsafe { copy::to_device(to, sent.as_ptr().cast(), bytes) }?)
    }
}

static MEETINGS: LazyLock<Mutex<HashMap<Id, Arc<Shared>>>> = LazyLock::new(Mutex::default);

unsafe extern "C" fn version(out: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    guard(|| Ok(unsafe { put(out, VERSION) }?))
}

unsafe extern "C" fn unique_id(out: *mut Id) -> c_int {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut id = Id([0; 128]);
    id.0[..8].copy_from_slice(&NEXT.fetch_add(1, SeqCst).to_le_bytes());
    // SAFETY: the caller's promise.
    guard(|| Ok(unsafe { put(out, id) }?))
}

unsafe extern "C" fn join(out: *mut Handle, ranks: c_int, id: Id, rank: c_int) -> c_int {
    guard(|| {
        let context = Context::current()?;
        let number = |number: c_int| usize::try_from(number).map_err(|_| Failure::Argument);
        let (size, rank) = (number(ranks)?, number(rank)?);
        let shared = Arc::clone(locked(&MEETINGS).entry(id).or_insert_with(|| Shared::new(size)));
        if shared.size != size {
            return Err(Failure::Argument);
        }
        shared.join(rank)?;
        locked(&MEETINGS).remove(&id);
        let handle = objects::new_handle();
        let (calls, error) = Default::default();
        objects::insert(handle, Arc::new(Communicator { context, shared, rank, calls, error }));
        // SAFETY: the caller's promise.
        Ok(unsafe { put(out, handle) }?)
    })
}

/// Both ways to leave: no work is under way here.
unsafe extern "C" fn leave(handle: Handle) -> c_int {
    guard(|| {
        objects::remove::<Communicator>(handle)?.leave();
        Ok(())
    })
}

unsafe extern "C" fn asynchronous_error(handle: Handle, out: *mut c_int) -> c_int {
    guard(|| {
        let error = objects::get::<Communicator>(handle)?.error.load(SeqCst);
        // SAFETY: the caller's promise.
        Ok(unsafe { put(out, error) }?)
    })
}

unsafe extern "C" fn broadcast(
    from: Address,
    to: Address,
    count: usize,
    kind: c_int,
    root: c_int,
    handle: Handle,
    order: Handle,
) -> c_int {
    guard(|| {
        let communicator = objects::get::<Communicator>(handle)?;
        let root = usize::try_from(root).ok().filter(|&root| root < communicator.shared.size);
        let (Some(root), BYTES) = (root, kind) else { return Err(Failure::Argument) };
        let done = communicator.broadcast(from, to, count, root, order);
        // Nobody waits for a rank that has failed.
        done.inspect_err(|_| communicator.leave())
    })
}

unsafe extern "C" fn error_text(code: c_int) -> *const c_char {
    let text = match code {
        0 => c"no error",
        1 => c"unhandled cuda error",
        4 => c"invalid argument",
        5 => c"invalid usage",
        6 => c"remote process exited or there was a network error",
        _ => c"internal error",
    };
    text.as_ptr()
}

static FUNCTIONS: &[(&str, Pointer)] = &[
    ("ncclGetVersion", Pointer(version as *const c_void)),
    ("ncclGetUniqueId", Pointer(unique_id as *const c_void)),
    ("ncclCommInitRank", Pointer(join as *const c_void)),
    ("ncclCommDestroy", Pointer(leave as *const c_void)),
    ("ncclCommAbort", Pointer(leave as *const c_void)),
    ("ncclCommGetAsyncError", Pointer(asynchronous_error as *const c_void)),
    ("ncclBroadcast", Pointer(broadcast as *const c_void)),
    ("ncclGetErrorString", Pointer(error_text as *const c_void)),
];

/// The function of NCCL with this name, with the signature that NVIDIA's documentation gives it; `None` for those that Tilewright does not call.
///
/// ```
/// use tilewright_driver::nccl_function;
/// assert!(nccl_function("ncclBroadcast").is_some() && nccl_function("ncclAllGather").is_none());
/// ```
pub fn nccl_function(name: &str) -> Option<*const c_void> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, pointer)| pointer.0)
}
