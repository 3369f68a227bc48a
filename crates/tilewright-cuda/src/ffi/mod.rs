//! The CUDA libraries as tables of functions. Nothing else in this crate mentions cudarc.
//!
//! cudarc's bindings are generated from NVIDIA's headers; types, structures and constants of driver and compiler are taken from them. Its loading is
//! not: it panics when a library or one function is missing, it cannot be pointed at a file, and it returns codes as Rust enums,
//! which is undefined behaviour as soon as a newer library returns a code that the bindings do not know. Here every function is
//! looked up once, a missing one is an error that names it unless it is optional, and codes are plain integers.

#[cfg(feature = "cublas")]
pub(crate) mod cublas;
#[cfg(feature = "cublas")]
pub(crate) mod cublaslt;
pub(crate) mod driver;
pub(crate) mod nvrtc;

use libloading::Library;
use std::ffi::c_void;

/// What a table lacks: the name of the first function that its library does not have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingFunction(pub(crate) &'static str);

/// Declares a table of C functions, looked up by their names. Those that a library may lack are optional.
macro_rules! functions {
    (
        $(#[$doc:meta])* $table:ident { $($name:ident: fn($($argument:ty),*) -> $result:ty;)* }
        $(optional { $($may:ident: fn($($of:ty),*) -> $gives:ty;)* })?
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case)] // The names of the library.
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            $($(pub(crate) $may: Option<unsafe extern "C" fn($($of),*) -> $gives>,)*)?
        }

        impl $table {
            /// # Safety
            /// `library` must be the one that this table describes, and stay loaded as long as the table is used.
            pub(crate) unsafe fn load(library: &libloading::Library) -> Result<Self, super::MissingFunction> {
                // SAFETY: the caller's promise.
                unsafe { Self::find(&|name| super::symbol(library, name)) }
            }

            /// # Safety
            /// What `find` finds must be functions of these names, and stay as long as the table is used.
            pub(crate) unsafe fn find(find: super::Find<'_>) -> Result<Self, super::MissingFunction> {
                Ok(Self {
                    // SAFETY: a function of this name has this signature.
                    $($name: unsafe { super::function(find, stringify!($name)) }?,)*
                    // SAFETY: as above.
                    $($($may: unsafe { super::function(find, stringify!($may)) }.ok(),)*)?
                })
            }

            /// Functions that do nothing and return zero, to be replaced by those of a test.
            #[cfg(test)]
            #[allow(dead_code)] // Not every library is imitated.
            pub(crate) fn stub() -> Self {
                Self {
                    $($name: {
                        unsafe extern "C" fn stub($(_: $argument),*) -> $result {
                            // SAFETY: results are integers and pointers.
                            unsafe { std::mem::zeroed() }
                        }
                        stub
                    },)*
                    $($($may: None,)*)?
                }
            }
        }
    };
}
pub(crate) use functions;

/// Finds the address of a function by its name.
pub(crate) type Find<'a> = &'a dyn Fn(&'static str) -> Option<*const c_void>;

/// The address of a name in a library.
pub(crate) fn symbol(library: &Library, name: &str) -> Option<*const c_void> {
    // SAFETY: an address is all that is asked for.
    unsafe { library.get::<unsafe extern "C" fn()>(name) }.ok().map(|symbol| *symbol as *const c_void)
}

/// # Safety
/// `F` must be a function pointer type with the signature of what is found.
unsafe fn function<F: Copy>(find: Find<'_>, name: &'static str) -> Result<F, MissingFunction> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let address = find(name).filter(|address| !address.is_null()).ok_or(MissingFunction(name))?;
    // SAFETY: the caller states the type.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}
