//! Linking at run time. A module from PTX needs none: one input is handed through, with the functions of `libcudadevrt.a` in it if that is another.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex};

use crate::abi::Handle;
use crate::call::{Call, locked, put, text};
use crate::code::Code;
use crate::context::Context;
use crate::image::{self, Refusal};
use crate::{devrt, objects, settings};

/// A link under way.
#[derive(Debug, Default)]
pub(crate) struct Link(Mutex<Inputs>);

impl objects::Kind for Link {
    fn owner(&self) -> Option<Handle> {
        None
    }
}

#[derive(Debug, Default)]
struct Inputs {
    modules: Vec<String>,
    has_library: bool,
    /// What came of them, with a zero byte at its end.
    whole: Vec<u8>,
}

/// `CUjitInputType`.
const CUBIN: c_int = 0;
const PTX: c_int = 1;
const FATBINARY: c_int = 2;
const LIBRARY: c_int = 4;

/// `cuLinkCreate`.
pub(crate) unsafe fn create(out: *mut Handle) -> Call {
    Context::current()?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let handle = objects::new_handle();
    objects::insert(handle, Arc::new(Link::default()));
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

fn add(link: &Link, context: &Context, kind: c_int, image: &[u8]) -> Call {
    if kind == LIBRARY && devrt::is_library(image) {
        locked(&link.0).has_library = true;
        return Ok(());
    }
    let read = match kind {
        CUBIN | PTX | FATBINARY => image::ptx_of_bytes(image, context.device.gpu.capability()),
        _ => Err(Refusal {
            code: Code::NOT_SUPPORTED,
            why: "only PTX and libcudadevrt.a can be linked".into(),
        }),
    };
    let ptx = read.map_err(|refusal| {
        settings::say(&refusal.why);
        refusal.code
    })?;
    locked(&link.0).modules.push(ptx.to_string());
    Ok(())
}

/// `cuLinkAddData`.
pub(crate) unsafe fn add_data(handle: Handle, kind: c_int, data: *const c_void, bytes: usize) -> Call {
    let context = Context::current()?;
    let link = objects::get::<Link>(handle)?;
    if data.is_null() || bytes > isize::MAX as usize {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    add(&link, &context, kind, unsafe { std::slice::from_raw_parts(data.cast(), bytes) })
}

/// `cuLinkAddFile`.
pub(crate) unsafe fn add_file(handle: Handle, kind: c_int, path: *const c_char) -> Call {
    let context = Context::current()?;
    let link = objects::get::<Link>(handle)?;
    // SAFETY: the caller's promise.
    let image = std::fs::read(unsafe { text(path) }?).map_err(|_| Code::FILE_NOT_FOUND)?;
    add(&link, &context, kind, &image)
}

/// `cuLinkComplete`: what comes out lives as long as the link.
pub(crate) unsafe fn complete(handle: Handle, out: *mut *const c_void, bytes: *mut usize) -> Call {
    Context::current()?;
    let link = objects::get::<Link>(handle)?;
    let mut inputs = locked(&link.0);
    let [only] = inputs.modules.as_slice() else {
        settings::say("modules of several inputs are not linked; give one module, or load each by itself");
        return Err(if inputs.modules.is_empty() { Code::INVALID_VALUE } else { Code::NOT_SUPPORTED });
    };
    let mut whole = if inputs.has_library { devrt::linked(only) } else { only.clone() }.into_bytes();
    whole.push(0);
    inputs.whole = whole;
    // SAFETY: the caller's promise.
    unsafe {
        put(out, inputs.whole.as_ptr().cast())?;
        if bytes.is_null() { Ok(()) } else { put(bytes, inputs.whole.len()) }
    }
}

/// `cuLinkDestroy`.
pub(crate) fn destroy(handle: Handle) -> Call {
    objects::remove::<Link>(handle).map(drop)
}
