//! What all functions share: how they end, and that no panic leaves them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::Code;

/// How a call ends.
pub(crate) type Call = Result<(), Code>;

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// What a lock protects, whoever panicked while holding it: what is behind these locks is whole between any two statements.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The address of a function.
#[derive(Clone, Copy)]
pub(crate) struct Pointer(pub *const c_void);

// SAFETY: code may be called from any thread.
unsafe impl Sync for Pointer {}
// SAFETY: as above.
unsafe impl Send for Pointer {}

/// Runs a call: the only way into this crate from C. A panic is a fault of this crate; it becomes the unknown error.
pub(crate) fn guard(call: impl FnOnce() -> Call) -> c_int {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Code::SUCCESS.0,
        Ok(Err(code)) => code.0,
        Err(_) => Code::UNKNOWN.0,
    }
}

/// Whether `cuInit` was called.
///
/// # Errors
/// [`Code::NOT_INITIALIZED`].
pub(crate) fn initialised() -> Call {
    if INITIALISED.load(SeqCst) { Ok(()) } else { Err(Code::NOT_INITIALIZED) }
}

/// Lets calls begin.
pub(crate) fn initialise() {
    INITIALISED.store(true, SeqCst);
}

/// Writes a result.
///
/// # Safety
/// Unless null, `out` must be valid for a write.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Call {
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise. What comes from C may be misaligned.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Reads what a program passes by address.
///
/// # Safety
/// Unless null, `at` must be valid for a read.
pub(crate) unsafe fn take<T: Copy>(at: *const T) -> Result<T, Code> {
    if at.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise.
    Ok(unsafe { at.read_unaligned() })
}

/// A name that a program passes.
///
/// # Safety
/// Unless null, `name` must end with a zero byte.
pub(crate) unsafe fn text<'a>(name: *const c_char) -> Result<&'a str, Code> {
    if name.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Code::INVALID_VALUE)
}

/// Writes a text of at most `room` bytes, the zero at its end included; what is longer is cut.
///
/// # Safety
/// Unless null, `out` must be valid for writes of `room` bytes.
pub(crate) unsafe fn put_text(out: *mut c_char, room: c_int, text: &str) -> Call {
    let room = usize::try_from(room).ok().filter(|&room| room > 0).ok_or(Code::INVALID_VALUE)?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let length = text.len().min(room - 1);
    // SAFETY: there is room for the text and its end.
    unsafe {
        out.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
        out.add(length).write(0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let code = guard(|| panic!("a fault"));
        std::panic::set_hook(hook);
        assert_eq!(code, Code::UNKNOWN.0);
    }

    #[test]
    fn texts_are_cut_to_the_room_there_is() {
        let mut room = [7 as c_char; 5];
        // SAFETY: there is room for five bytes.
        unsafe { put_text(room.as_mut_ptr(), 5, "Tilewright") }.expect("room");
        assert_eq!(room.map(|byte| byte as u8), *b"Tile\0");
        // SAFETY: as above.
        assert_eq!(unsafe { put_text(room.as_mut_ptr(), 0, "T") }, Err(Code::INVALID_VALUE));
    }
}
