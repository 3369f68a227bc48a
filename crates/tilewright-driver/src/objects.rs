//! What handles stand for. A handle is a number that is never given out twice, so that one of something that is gone is found out.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};

use crate::abi::Handle;
use crate::call::locked;
use crate::code::Code;

/// What a handle may stand for.
pub(crate) trait Kind: Any + Send + Sync {
    /// The context that it ends with, if it belongs to one.
    fn owner(&self) -> Option<Handle>;
}

struct Object {
    it: Arc<dyn Any + Send + Sync>,
    owner: Option<Handle>,
}

impl Object {
    fn get<T: Kind>(&self) -> Option<Arc<T>> {
        self.it.clone().downcast().ok()
    }
}

static OBJECTS: LazyLock<Mutex<HashMap<Handle, Object>>> = LazyLock::new(Mutex::default);

/// A handle that was never given out: aligned as a pointer would be, and none of the numbers that CUDA has given a meaning.
pub(crate) fn new_handle() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(0x7157_0000);
    NEXT.fetch_add(16, Relaxed)
}

/// Makes `handle` stand for something.
pub(crate) fn insert<T: Kind>(handle: Handle, object: Arc<T>) {
    let owner = object.owner();
    locked(&OBJECTS).insert(handle, Object { it: object, owner });
}

/// What a handle stands for.
///
/// # Errors
/// [`Code::INVALID_HANDLE`] for what is gone, was never there, or is something else.
pub(crate) fn get<T: Kind>(handle: Handle) -> Result<Arc<T>, Code> {
    locked(&OBJECTS).get(&handle).and_then(Object::get).ok_or(Code::INVALID_HANDLE)
}

/// Forgets what a handle stands for.
///
/// # Errors
/// As [`get`].
pub(crate) fn remove<T: Kind>(handle: Handle) -> Result<Arc<T>, Code> {
    let mut objects = locked(&OBJECTS);
    let found = objects.get(&handle).and_then(Object::get).ok_or(Code::INVALID_HANDLE)?;
    objects.remove(&handle);
    Ok(found)
}

/// Forgets what these handles stand for, whatever that is.
pub(crate) fn remove_each(handles: impl Iterator<Item = Handle>) {
    let mut objects = locked(&OBJECTS);
    handles.for_each(|handle| {
        objects.remove(&handle);
    });
}

/// Forgets a context and all that belongs to it.
pub(crate) fn remove_all_of(context: Handle) {
    locked(&OBJECTS).retain(|&handle, object| handle != context && object.owner != Some(context));
}

/// All that there are of a kind, with their handles.
pub(crate) fn all<T: Kind>() -> Vec<(Handle, Arc<T>)> {
    locked(&OBJECTS).iter().filter_map(|(&handle, object)| Some((handle, object.get()?))).collect()
}
