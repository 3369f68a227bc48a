//! What handles stand for. A handle is a number that is never given out twice, so that one of something that is gone is found out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};

use crate::abi::Handle;
use crate::code::Code;
use crate::context::Context;
use crate::device::locked;
use crate::event::Event;
use crate::link::Link;
use crate::module::{Function, Module};
use crate::pool::Pool;
use crate::stream::Stream;

/// What a handle may stand for.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Context(Arc<Context>),
    Module(Arc<Module>),
    Function(Arc<Function>),
    Stream(Arc<Stream>),
    Event(Arc<Event>),
    Link(Arc<Link>),
    Pool(Arc<Pool>),
}

impl Object {
    /// The context that it belongs to, if it ends with one.
    fn context(&self) -> Option<Handle> {
        match self {
            Self::Context(_) | Self::Link(_) | Self::Pool(_) => None,
            Self::Module(module) => Some(module.context.id),
            Self::Function(function) => Some(function.module.context.id),
            Self::Stream(stream) => Some(stream.context.id),
            Self::Event(event) => Some(event.context.id),
        }
    }
}

/// A kind of object.
pub(crate) trait Kind: Sized {
    fn of(object: &Object) -> Option<&Arc<Self>>;
    fn object(this: Arc<Self>) -> Object;
}

macro_rules! kinds {
    ($($kind:ident)*) => {$(
        impl Kind for $kind {
            fn of(object: &Object) -> Option<&Arc<Self>> {
                match object {
                    Object::$kind(found) => Some(found),
                    _ => None,
                }
            }

            fn object(this: Arc<Self>) -> Object {
                Object::$kind(this)
            }
        }
    )*};
}

kinds! { Context Module Function Stream Event Link Pool }

static OBJECTS: LazyLock<Mutex<HashMap<Handle, Object>>> = LazyLock::new(Mutex::default);

/// A handle that was never given out: aligned as a pointer would be, and none of the numbers that CUDA has given a meaning.
pub(crate) fn new_handle() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(0x7157_0000);
    NEXT.fetch_add(16, Relaxed)
}

/// Makes `handle` stand for something.
pub(crate) fn insert<T: Kind>(handle: Handle, object: Arc<T>) {
    locked(&OBJECTS).insert(handle, T::object(object));
}

/// What a handle stands for.
///
/// # Errors
/// [`Code::INVALID_HANDLE`] for what is gone, was never there, or is something else.
pub(crate) fn get<T: Kind>(handle: Handle) -> Result<Arc<T>, Code> {
    locked(&OBJECTS).get(&handle).and_then(T::of).cloned().ok_or(Code::INVALID_HANDLE)
}

/// Forgets what a handle stands for.
///
/// # Errors
/// As [`get`].
pub(crate) fn remove<T: Kind>(handle: Handle) -> Result<Arc<T>, Code> {
    let mut objects = locked(&OBJECTS);
    let found = objects.get(&handle).and_then(T::of).cloned().ok_or(Code::INVALID_HANDLE)?;
    objects.remove(&handle);
    Ok(found)
}

/// Forgets the functions of a module.
pub(crate) fn remove_functions(handles: impl Iterator<Item = Handle>) {
    let mut objects = locked(&OBJECTS);
    handles.for_each(|handle| {
        objects.remove(&handle);
    });
}

/// Forgets a context and all that belongs to it.
pub(crate) fn remove_context(context: &Context) {
    locked(&OBJECTS).retain(|&handle, object| handle != context.id && object.context() != Some(context.id));
}

/// The contexts that there are.
pub(crate) fn contexts() -> Vec<Arc<Context>> {
    locked(&OBJECTS).values().filter_map(Context::of).cloned().collect()
}

/// The handle of a module.
pub(crate) fn module_handle(module: &Arc<Module>) -> Option<Handle> {
    let is_it = |object: &Object| matches!(object, Object::Module(other) if Arc::ptr_eq(other, module));
    locked(&OBJECTS).iter().find(|(_, object)| is_it(object)).map(|(&handle, _)| handle)
}

/// The first pool of a device.
pub(crate) fn pool_of(ordinal: crate::abi::Ordinal) -> Option<Handle> {
    let objects = locked(&OBJECTS);
    let of_device =
        objects.iter().filter(|(_, object)| Pool::of(object).is_some_and(|pool| pool.is_of(ordinal)));
    of_device.map(|(&handle, _)| handle).min()
}
