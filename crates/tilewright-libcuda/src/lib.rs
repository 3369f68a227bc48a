//! `libcuda.so.1`: the functions of `tilewright-driver` under their C names.
//!
//! The environment says what is imitated; see `tilewright_driver::Settings::from_environment`. `tilewright run` sets it up for a program.
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    missing_docs,
    reason = "the names and the rules are those of CUDA"
)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use tilewright_driver::types::*;
use tilewright_driver::{Messages, Settings, api, configure, missing_api};

macro_rules! export {
    ($($name:ident($($argument:ident: $type:ty),*) = $call:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { api::$name($($argument),*) }
        }
    )*};
}

tilewright_driver::for_each_function! { export }

macro_rules! export_missing {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> c_int {
            // SAFETY: it takes nothing.
            unsafe { missing_api::$name() }
        }
    )*};
}

tilewright_driver::for_each_missing_function! { export_missing }

/// Tells this library from NVIDIA's.
#[unsafe(no_mangle)]
pub extern "C" fn tilewright_emulated_driver() -> c_int {
    1
}

/// Reads the environment when the library is loaded. Without sense in it there is no device.
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux has programs that look for this library")
)]
extern "C" fn set_up() {
    match Settings::from_environment() {
        Ok(settings) => configure(settings),
        Err(error) => {
            eprintln!("tilewright: {error}");
            let mut none = Settings::default();
            none.messages = Messages::Streams;
            configure(none);
        }
    }
}

#[used]
#[cfg(target_os = "linux")]
// SAFETY: the loader calls the functions in this section, which take nothing that is looked at.
#[unsafe(link_section = ".init_array")]
static SET_UP: extern "C" fn() = set_up;

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "as above"))]
extern "C" fn end() {
    tilewright_driver::say_farewell();
}

#[used]
#[cfg(target_os = "linux")]
// SAFETY: as above, when the process ends.
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;
