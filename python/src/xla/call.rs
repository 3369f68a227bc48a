//! A call of XLA's: its arrays, its semiring, and what XLA lends for it.

use super::api::{
    self, Api, Buffer, Buffers, CallFrame, ErrorMessage, NewError, NewMemory, OldError, OldMemory, StreamOf,
};
use crate::{array::DANGLING, errors::keywords, gpu_work::Caller, semiring::Over};
use std::{
    ffi::{CStr, CString, c_int},
    mem::size_of,
    ptr::{NonNull, null, null_mut},
    slice::from_raw_parts,
};
use tilewright::{DType, Error, ErrorKind};

/// A call, as long as it lasts.
pub struct Call<'f> {
    frame: &'f CallFrame,
    api: &'f Api,
}

/// An array of a call, by rows without gaps.
pub struct Given<'f> {
    pub first: NonNull<u8>,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    _call: std::marker::PhantomData<&'f CallFrame>,
}

/// What a call computes, and with what.
pub struct Asked<'f> {
    pub over: Over,
    pub operands: [Given<'f>; 2],
    pub c: Given<'f>,
    /// The winning terms, where there is a second result.
    pub winners: Option<Given<'f>>,
}

impl<'f> Call<'f> {
    /// # Safety
    /// XLA made the frame, of version 0.1 at least, and its call lasts as long as this.
    pub unsafe fn new(frame: &'f CallFrame) -> Self {
        // SAFETY: the caller's promise.
        Self { frame, api: unsafe { &*frame.api } }
    }

    /// What is to be computed.
    ///
    /// # Errors
    /// `unsupported` for other operands, results, attributes and element types than those of a product.
    pub fn asked(&self) -> Result<Asked<'f>, Error> {
        let name = self.text("semiring").ok_or_else(|| refused("a call without a semiring", ""))?;
        let over = super::known(name)?;
        let [operands, results] = [&self.frame.operands, &self.frame.results].map(arrays);
        let operands = operands?.try_into().map_err(|_| refused("a call of others than two operands", ""))?;
        let mut results = results?.into_iter();
        match (results.next(), results.next(), results.next()) {
            (Some(c), winners, None) => Ok(Asked { over, operands, c, winners }),
            _ => Err(refused("a call of others than one or two results", "")),
        }
    }

    /// The text that an attribute is.
    fn text(&self, name: &str) -> Option<&'f str> {
        let attributes = &self.frame.attributes;
        (0..usize::try_from(attributes.count).ok()?).find_map(|i| {
            // SAFETY: XLA's tables have so many entries; that of a text is a span, as are names.
            unsafe {
                let is_text = *attributes.kinds.add(i) == api::STRING;
                (is_text && text(*attributes.names.add(i))? == name)
                    .then(|| text((*attributes.values.add(i)).cast()))?
            }
        })
    }

    /// The error as XLA's, with the text that exceptions of this package have.
    pub fn error(&self, error: &Error) -> *mut api::Error {
        let hint = error.kind().hint().map(|hint| hint.said(keywords)).filter(|hint| !hint.is_empty());
        let text = hint.map_or_else(|| error.to_string(), |hint| format!("{error}\nhint: {hint}"));
        self.failure(&text, status(error.code()))
    }

    /// An error of XLA's by its text, and by the number of its kind.
    pub fn failure(&self, text: &str, code: c_int) -> *mut api::Error {
        let message = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let mut new =
            NewError { size: size_of::<NewError>(), extension: null_mut(), message: message.as_ptr(), code };
        // SAFETY: XLA copies the text of an error that it makes.
        unsafe { (self.api.error_create)(&mut new) }
    }

    /// The driver's handle of the stream that the call's work belongs into.
    ///
    /// # Errors
    /// XLA's own.
    pub fn stream(&self) -> Result<usize, Error> {
        let mut of = StreamOf {
            size: size_of::<StreamOf>(),
            extension: null_mut(),
            context: self.frame.context,
            stream: null_mut(),
        };
        // SAFETY: the struct is as XLA has it.
        let error = unsafe { (self.api.stream_get)(&mut of) };
        self.check("asking for a stream", error)?;
        Ok(of.stream.addr())
    }

    /// What XLA says went wrong.
    fn check(&self, doing: &str, error: *mut api::Error) -> Result<(), Error> {
        if error.is_null() {
            return Ok(());
        }
        let mut message = ErrorMessage {
            size: size_of::<ErrorMessage>(),
            extension: null_mut(),
            error,
            message: null(),
            code: 0,
        };
        let mut old = OldError { size: size_of::<OldError>(), extension: null_mut(), error };
        // SAFETY: the error is XLA's, which keeps its text until it is destroyed, once.
        let text = unsafe {
            (self.api.error_message)(&mut message);
            let text = NonNull::new(message.message.cast_mut())
                .map(|text| CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned());
            (self.api.error_destroy)(&mut old);
            text.unwrap_or_default()
        };
        let (doing, name) = (format!("{doing} of XLA"), "XLA".into());
        Err(ErrorKind::Device { doing, name, number: 0, text, hint: "".into() }.into())
    }
}

/// What workspaces of kernels begin at a multiple of, in bytes.
const ALIGNMENT: usize = 256;
/// XLA refuses to be asked for more.
const MOST_ALIGNMENT: usize = 16;

/// Memory that XLA lends until this is dropped.
pub struct Scratch<'c> {
    call: &'c Call<'c>,
    bytes: usize,
    data: *mut std::ffi::c_void,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let mut old = OldMemory {
            size: size_of::<OldMemory>(),
            extension: null_mut(),
            context: self.call.frame.context,
            bytes: self.bytes,
            data: self.data,
        };
        // SAFETY: the memory came from this call, and is given back once.
        let error = unsafe { (self.call.api.memory_free)(&mut old) };
        // What cannot be given back is XLA's to report.
        let _ = self.call.check("giving back memory", error);
    }
}

/// XLA's threads hold nothing, and its memory is lent to one call.
impl<'c> Caller for &'c Call<'c> {
    type Failure = Error;
    type Memory = Scratch<'c>;

    fn away<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        work()
    }

    fn memory(&self, bytes: usize) -> Result<Option<(Scratch<'c>, u64)>, Error> {
        let mut new = NewMemory {
            size: size_of::<NewMemory>(),
            extension: null_mut(),
            context: self.frame.context,
            bytes: bytes.saturating_add(ALIGNMENT),
            alignment: MOST_ALIGNMENT,
            data: null_mut(),
        };
        // SAFETY: the struct is as XLA has it.
        let error = unsafe { (self.api.memory_allocate)(&mut new) };
        self.check("asking for memory", error)?;
        if new.data.is_null() {
            return Err(ErrorKind::OutOfMemory { what: "a workspace", bytes: bytes as u64 }.into());
        }
        let address = new.data.addr().next_multiple_of(ALIGNMENT) as u64;
        Ok(Some((Scratch { call: self, bytes: new.bytes, data: new.data }, address)))
    }
}

/// The arrays of a call, in order.
fn arrays<'f>(table: &'f Buffers) -> Result<Vec<Given<'f>>, Error> {
    let count = usize::try_from(table.count).unwrap_or(0);
    // SAFETY: XLA's table has so many entries, which are buffers: it has no other operands and results.
    (0..count).map(|i| given(unsafe { &**table.buffers.add(i) })).collect()
}

fn given<'f>(buffer: &'f Buffer) -> Result<Given<'f>, Error> {
    let rank = usize::try_from(buffer.rank).unwrap_or(0);
    // SAFETY: a buffer has an extent for each of its dimensions.
    let dims = if rank == 0 { &[][..] } else { unsafe { from_raw_parts(buffer.dims, rank) } };
    let shape: Vec<usize> = dims.iter().map(|&extent| usize::try_from(extent).unwrap_or(0)).collect();
    let dtype = dtype(buffer.dtype).ok_or_else(|| {
        refused(&format!("the element type {} of XLA", buffer.dtype), "convert the operands")
    })?;
    let mut strides = vec![1; rank];
    for d in (1..rank).rev() {
        strides[d - 1] = strides[d] * shape[d].max(1) as isize;
    }
    let first = NonNull::new(buffer.data.cast::<u8>()).filter(|_| !shape.contains(&0)).unwrap_or(DANGLING);
    if !first.addr().get().is_multiple_of(dtype.size()) {
        return Err(refused(
            "an array at an address that is no multiple of its elements' size",
            "give a copy of it",
        ));
    }
    Ok(Given { first, dtype, shape, strides, _call: std::marker::PhantomData })
}

/// # Safety
/// The span is XLA's, of memory that lasts.
unsafe fn text<'f>(span: *const api::Span) -> Option<&'f str> {
    // SAFETY: the caller's promise; a span of no bytes may have no address.
    unsafe {
        let span = span.as_ref()?;
        let first = NonNull::new(span.first.cast_mut().cast::<u8>())?;
        str::from_utf8(from_raw_parts(first.as_ptr(), span.length)).ok()
    }
}

fn refused(what: &str, hint: &str) -> Error {
    ErrorKind::Unsupported { what: what.into(), why: String::new(), hint: hint.into() }.into()
}

/// The type that XLA's number stands for.
fn dtype(number: c_int) -> Option<DType> {
    Some(match number {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        16 => DType::Bf16,
        19 => DType::E5m2,
        20 => DType::E4m3,
        _ => return None,
    })
}

/// XLA's kind of an error, by the library's code.
fn status(code: &str) -> c_int {
    const INVALID_ARGUMENT: c_int = 3;
    const RESOURCE_EXHAUSTED: c_int = 8;
    const UNIMPLEMENTED: c_int = 12;
    const INTERNAL: c_int = 13;
    const UNAVAILABLE: c_int = 14;
    match code {
        "unsupported" => UNIMPLEMENTED,
        "unavailable" => UNAVAILABLE,
        "out-of-memory" | "device-memory" => RESOURCE_EXHAUSTED,
        "device" | "compilation" | "emulation" => INTERNAL,
        _ => INVALID_ARGUMENT,
    }
}
