//! Contexts: what belongs together on a device and fails together, and which of them each thread uses.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use crate::abi::{Handle, Ordinal};
use crate::call::{Call, initialised, locked, put};
use crate::code::Code;
use crate::device::{self, Device};
use crate::failure::Failure;
use crate::objects;

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    pub id: Handle,
    pub device: Arc<Device>,
    kind: Kind,
    is_alive: AtomicBool,
    /// The failure after which every call fails.
    failure: Mutex<Option<Arc<Failure>>>,
    /// The last failure, that one or another.
    last_failure: Mutex<Option<Arc<Failure>>>,
    flags: AtomicI32,
    cache_config: AtomicI32,
    limits: Mutex<[usize; LIMITS]>,
    /// Whether a launch has been asked for since somebody waited last: on a GPU it could be running.
    is_busy: AtomicBool,
    waits: AtomicU64,
}

impl objects::Kind for Context {
    fn owner(&self) -> Option<Handle> {
        None
    }
}

/// Whether a failure is that of every later call, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sticks {
    Yes,
    No,
}

/// Whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Primary,
    Own,
}

/// `CUlimit`: stack, text that kernels print, their heap, depth and count of launches by kernels, grain of L2, persisting L2.
const LIMITS: usize = 7;
const DEFAULT_LIMITS: [usize; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

/// Whether there was ever a context.
static MADE: AtomicBool = AtomicBool::new(false);

/// Whether this process has ever had a context.
pub(crate) fn was_any_made() -> bool {
    MADE.load(SeqCst)
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    pub fn new(device: Arc<Device>, kind: Kind, flags: u32) -> Arc<Self> {
        MADE.store(true, SeqCst);
        let id = objects::new_handle();
        let context = Arc::new(Self {
            id,
            device,
            kind,
            is_alive: AtomicBool::new(true),
            failure: Mutex::default(),
            last_failure: Mutex::default(),
            flags: AtomicI32::new(flags.cast_signed()),
            cache_config: AtomicI32::new(0),
            limits: Mutex::new(DEFAULT_LIMITS),
            is_busy: AtomicBool::new(false),
            waits: AtomicU64::new(0),
        });
        objects::insert(id, context.clone());
        context
    }

    /// The context that this thread uses.
    ///
    /// # Errors
    /// Without one, for one that is gone, and the failure of one that has failed.
    pub fn current() -> Result<Arc<Self>, Code> {
        let context = Self::top()?;
        context.check()?;
        Ok(context)
    }

    /// The same, though it may have failed.
    pub fn top() -> Result<Arc<Self>, Code> {
        initialised()?;
        let context = with_stack(|stack| stack.last().cloned())?.ok_or(Code::INVALID_CONTEXT)?;
        if context.is_alive.load(SeqCst) { Ok(context) } else { Err(Code::CONTEXT_IS_DESTROYED) }
    }

    /// Whether calls can still succeed.
    ///
    /// # Errors
    /// The failure that it had.
    pub fn check(&self) -> Call {
        if !self.is_alive.load(SeqCst) {
            return Err(Code::CONTEXT_IS_DESTROYED);
        }
        locked(&self.failure).as_ref().map_or(Ok(()), |failure| Err(failure.code))
    }

    /// A launch was put into a stream. Its work is done at once, but a program on a GPU could not know that before it has waited.
    pub fn becomes_busy(&self) {
        self.is_busy.store(true, SeqCst);
    }

    /// What the program has called returns, on a GPU, when all launches have ended.
    pub fn wait(&self) {
        if self.is_busy.swap(false, SeqCst) {
            self.waits.fetch_add(1, SeqCst);
        }
    }

    /// Remembers a failure; after one that is sticky every call fails with the first of them.
    pub fn note(&self, failure: &Arc<Failure>, sticks: Sticks) {
        *locked(&self.last_failure) = Some(failure.clone());
        if sticks == Sticks::Yes {
            locked(&self.failure).get_or_insert_with(|| failure.clone());
        }
    }

    /// The failure that every call ends with, or else the last one.
    pub fn last_failure(&self) -> Option<Arc<Failure>> {
        let first = locked(&self.failure).clone();
        first.or_else(|| locked(&self.last_failure).clone())
    }

    /// `CUctx_flags` from here on.
    pub fn set_flags(&self, flags: c_uint) {
        self.flags.store(flags.cast_signed(), SeqCst);
    }

    pub fn destroy(&self) {
        self.is_alive.store(false, SeqCst);
        self.device.memory().free_all(self.id);
        objects::remove_all_of(self.id);
    }
}

/// How often this process has waited for launches in a context, by its handle: every launch counts as unfinished until a call that waits, as if all of them took
/// long. 0 for what is no context.
///
/// ```
/// assert_eq!(tilewright_driver::waits(0), 0);
/// ```
pub fn waits(context: Handle) -> u64 {
    objects::get::<Context>(context).map_or(0, |context| context.waits.load(SeqCst))
}

/// The last launch that failed in a context, such as the one that [`Code::ILLEGAL_ADDRESS`] is about.
pub fn failure(context: Handle) -> Option<Arc<Failure>> {
    objects::get::<Context>(context).ok()?.last_failure()
}

/// Removes a device with all that is on it. Its number may be given to another one.
pub fn remove_device(ordinal: usize) {
    let Some(device) = device::remove(ordinal) else { return };
    let contexts = objects::all::<Context>().into_iter().map(|(_, context)| context);
    contexts.filter(|context| Arc::ptr_eq(&context.device, &device)).for_each(|context| context.destroy());
}

fn push(context: Arc<Context>) -> Call {
    with_stack(|stack| stack.push(context))
}

/// What `use_it` makes of this thread's stack. A thread that ends may have none any more: destructors of a program's own objects still call.
fn with_stack<R>(use_it: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> Result<R, Code> {
    STACK.try_with(|stack| use_it(&mut stack.borrow_mut())).map_err(|_| Code::DEINITIALIZED)
}

/// `cuCtxCreate`.
pub(crate) unsafe fn create(out: *mut Handle, flags: c_uint, ordinal: Ordinal) -> Call {
    initialised()?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let context = Context::new(device::of(ordinal)?, Kind::Own, flags);
    // SAFETY: the caller's promise.
    unsafe { put(out, context.id) }?;
    push(context)?;
    Ok(())
}

/// `cuCtxDestroy`.
pub(crate) fn destroy(handle: Handle) -> Call {
    initialised()?;
    let context = objects::get::<Context>(handle).map_err(|_| Code::INVALID_CONTEXT)?;
    if context.kind == Kind::Primary {
        // It goes with the last claim to it.
        return Err(Code::INVALID_CONTEXT);
    }
    context.destroy();
    with_stack(|stack| drop(stack.pop_if(|top| top.id == handle)))
}

/// `cuCtxPushCurrent`.
pub(crate) fn push_current(handle: Handle) -> Call {
    initialised()?;
    push(objects::get::<Context>(handle).map_err(|_| Code::INVALID_CONTEXT)?)
}

/// `cuCtxPopCurrent`.
pub(crate) unsafe fn pop_current(out: *mut Handle) -> Call {
    initialised()?;
    let context = with_stack(Vec::pop)?.ok_or(Code::INVALID_CONTEXT)?;
    if !out.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(out, context.id) }?;
    }
    Ok(())
}

/// `cuCtxSetCurrent`: replaces the top; null takes it away.
pub(crate) fn set_current(handle: Handle) -> Call {
    initialised()?;
    let context = match handle {
        0 => None,
        handle => Some(objects::get::<Context>(handle).map_err(|_| Code::INVALID_CONTEXT)?),
    };
    with_stack(|stack| {
        stack.pop();
        stack.extend(context);
    })
}

/// `cuCtxGetCurrent`: null where there is none.
pub(crate) unsafe fn get_current(out: *mut Handle) -> Call {
    initialised()?;
    let id = with_stack(|stack| stack.last().map_or(0, |context| context.id))?;
    // SAFETY: the caller's promise.
    unsafe { put(out, id) }
}

/// `cuCtxGetDevice`.
pub(crate) unsafe fn get_device(out: *mut Ordinal) -> Call {
    let context = Context::top()?;
    // SAFETY: the caller's promise.
    unsafe { put(out, context.device.ordinal.into()) }
}

/// `cuCtxGetId`.
pub(crate) unsafe fn get_id(handle: Handle, out: *mut u64) -> Call {
    let context = match handle {
        0 => Context::top()?,
        handle => objects::get(handle).map_err(|_| Code::INVALID_CONTEXT)?,
    };
    // SAFETY: the caller's promise.
    unsafe { put(out, context.id as u64) }
}

/// `cuCtxGetApiVersion`.
pub(crate) unsafe fn get_api_version(_handle: Handle, out: *mut c_uint) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put(out, 3020) }
}

/// `cuCtxGetFlags`.
pub(crate) unsafe fn get_flags(out: *mut c_uint) -> Call {
    let flags = Context::top()?.flags.load(SeqCst).cast_unsigned();
    // SAFETY: the caller's promise.
    unsafe { put(out, flags) }
}

/// `cuCtxSetFlags`.
pub(crate) fn set_flags(flags: c_uint) -> Call {
    Context::top()?.flags.store(flags.cast_signed(), SeqCst);
    Ok(())
}

/// `cuCtxSynchronize`: all work has been done when it was asked for; what it failed with is told here.
pub(crate) fn synchronize() -> Call {
    Context::current().map(|context| context.wait())
}

/// `cuCtxGetLimit`.
pub(crate) unsafe fn get_limit(out: *mut usize, which: c_int) -> Call {
    let context = Context::top()?;
    let index = usize::try_from(which).map_err(|_| Code::INVALID_VALUE)?;
    let limit = locked(&context.limits).get(index).copied().ok_or(Code::UNSUPPORTED_LIMIT)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, limit) }
}

/// `cuCtxSetLimit`. The emulator has limits of its own; these are kept to be read back.
pub(crate) fn set_limit(which: c_int, value: usize) -> Call {
    let context = Context::top()?;
    let index = usize::try_from(which).map_err(|_| Code::INVALID_VALUE)?;
    *locked(&context.limits).get_mut(index).ok_or(Code::UNSUPPORTED_LIMIT)? = value;
    Ok(())
}

/// `cuCtxGetCacheConfig`.
pub(crate) unsafe fn get_cache_config(out: *mut c_int) -> Call {
    let config = Context::top()?.cache_config.load(SeqCst);
    // SAFETY: the caller's promise.
    unsafe { put(out, config) }
}

/// `cuCtxSetCacheConfig`.
pub(crate) fn set_cache_config(config: c_int) -> Call {
    if !(0..=3).contains(&config) {
        return Err(Code::INVALID_VALUE);
    }
    Context::top()?.cache_config.store(config, SeqCst);
    Ok(())
}

/// `cuCtxGetSharedMemConfig`: banks have four bytes.
pub(crate) unsafe fn get_shared_config(out: *mut c_int) -> Call {
    Context::top()?;
    // SAFETY: the caller's promise.
    unsafe { put(out, 1) }
}

/// `cuCtxGetStreamPriorityRange`: streams have no priorities.
pub(crate) unsafe fn get_priority_range(least: *mut c_int, greatest: *mut c_int) -> Call {
    Context::top()?;
    for out in [least, greatest] {
        if !out.is_null() {
            // SAFETY: the caller's promise.
            unsafe { put(out, 0) }?;
        }
    }
    Ok(())
}

/// What needs a context and does nothing here.
pub(crate) fn nothing() -> Call {
    Context::top().map(drop)
}
