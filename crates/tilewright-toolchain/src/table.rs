//! A library as a table of functions: each is looked up once, a missing one is an error that names it unless it is optional, and codes are plain
//! integers. Enums of codes would be undefined behaviour as soon as a newer library returns one that they do not know.

pub use libloading::Library;
use std::ffi::c_void;

/// What a table lacks: the name of the first function that its library does not have.
#[derive(Debug, Clone, Copy)]
pub struct MissingFunction(pub &'static str);

/// Declares a table of C functions, looked up by their names. Those that a library may lack are optional.
#[macro_export]
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
            pub(crate) unsafe fn load(library: &$crate::table::Library) -> Result<Self, $crate::table::MissingFunction> {
                // SAFETY: the caller's promise.
                unsafe { Self::find(&|name| $crate::table::symbol(library, name)) }
            }

            /// # Safety
            /// What `find` finds must be functions of these names, and stay as long as the table is used.
            pub(crate) unsafe fn find(find: $crate::table::Find<'_>) -> Result<Self, $crate::table::MissingFunction> {
                Ok(Self {
                    // SAFETY: a function of this name has this signature.
                    $($name: unsafe { $crate::table::function(find, stringify!($name)) }?,)*
                    // SAFETY: as above.
                    $($($may: unsafe { $crate::table::function(find, stringify!($may)) }.ok(),)*)?
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

/// Finds the address of a function by its name.
pub type Find<'a> = &'a dyn Fn(&'static str) -> Option<*const c_void>;

/// The address of a name in a library.
pub fn symbol(library: &Library, name: &str) -> Option<*const c_void> {
    // SAFETY: an address is all that is asked for.
    unsafe { library.get::<unsafe extern "C" fn()>(name) }.ok().map(|symbol| *symbol as *const c_void)
}

/// The function that `find` finds.
///
/// # Errors
/// The name, where nothing is found.
///
/// # Safety
/// `F` must be a function pointer type with the signature of what is found.
pub unsafe fn function<F: Copy>(find: Find<'_>, name: &'static str) -> Result<F, MissingFunction> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let address = find(name).filter(|address| !address.is_null()).ok_or(MissingFunction(name))?;
    // SAFETY: the caller states the type.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}
