//! The CUDA libraries as tables of functions. Nothing else in this crate mentions cudarc.
//!
//! cudarc's bindings are generated from NVIDIA's headers; types, structures and constants are taken from them. Its loading is
//! not: it panics when a library or one function is missing, it cannot be pointed at a file, and it returns codes as Rust enums,
//! which is undefined behaviour as soon as a newer library returns a code that the bindings do not know. Here every function is
//! looked up once, a missing one is an error that names it, and codes are plain integers.

pub(crate) mod cublas;
pub(crate) mod cublaslt;
pub(crate) mod driver;
pub(crate) mod nvrtc;

use libloading::Library;

/// What a table lacks: the name of the first function that its library does not have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingFunction(pub(crate) &'static str);

/// Declares a table of C functions, looked up by their names.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident: fn($($argument:ty),*) -> $result:ty;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case)] // The names of the library.
        pub(crate) struct $table { $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl $table {
            /// # Safety
            /// `library` must be the one that this table describes, and stay loaded as long as the table is used.
            pub(crate) unsafe fn load(library: &libloading::Library) -> Result<Self, super::MissingFunction> {
                Ok(Self {
                    // SAFETY: a function of this name has this signature in that library.
                    $($name: unsafe { super::function(library, stringify!($name)) }?,)*
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
                }
            }
        }
    };
}
pub(crate) use functions;

/// # Safety
/// `F` must be a function pointer type with the signature of `name` in `library`.
unsafe fn function<F: Copy>(library: &Library, name: &'static str) -> Result<F, MissingFunction> {
    // SAFETY: the caller states the type.
    unsafe { library.get::<F>(name) }.map(|symbol| *symbol).map_err(|_| MissingFunction(name))
}
