//! The functions of MPI that are used, by their signatures in MPI 3.

use core::{
    ffi::{c_char, c_int, c_void},
    fmt::Debug,
};
use libloading::Library;

/// What a communicator, a type or a request is named by: an integer or a pointer.
pub(super) trait Handle: Copy + Debug + PartialEq + 'static {
    /// A place for a handle that a function writes.
    const NONE: Self;
    /// What another user of the same library calls by this number.
    fn of(number: usize) -> Self;
}

impl Handle for c_int {
    const NONE: Self = 0;
    /// Communicators that are made have the sign bit, which may have been extended.
    fn of(number: usize) -> Self {
        number as Self
    }
}

impl Handle for *mut c_void {
    const NONE: Self = core::ptr::null_mut();
    fn of(number: usize) -> Self {
        core::ptr::with_exposed_provenance_mut(number)
    }
}

/// More than any implementation's `MPI_Status`, which nothing looks at.
pub(super) type Status = [u64; 16];

macro_rules! functions {
    ($($field:ident $name:literal ($($argument:ty),*);)*) => {
        /// Addresses of functions; each gives 0 or a code.
        #[derive(Debug)]
        pub(super) struct Functions<H: Handle> {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<H: Handle> Functions<H> {
            /// Looks all of them up, or gives the name of one that is not there.
            pub fn load(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the names are MPI's, whose standard gives these signatures for handles of this form.
                    $($field: *unsafe { library.get($name) }.map_err(|_| $name)?,)*
                })
            }
        }
    };
}

functions! {
    init_thread "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    initialized "MPI_Initialized" (*mut c_int);
    finalize "MPI_Finalize" ();
    finalized "MPI_Finalized" (*mut c_int);
    abort "MPI_Abort" (H, c_int);
    comm_rank "MPI_Comm_rank" (H, *mut c_int);
    comm_size "MPI_Comm_size" (H, *mut c_int);
    comm_split "MPI_Comm_split" (H, c_int, c_int, *mut H);
    comm_free "MPI_Comm_free" (*mut H);
    set_error_handler "MPI_Comm_set_errhandler" (H, H);
    broadcast "MPI_Ibcast" (*mut c_void, c_int, H, c_int, H, *mut H);
    wait "MPI_Wait" (*mut H, *mut Status);
    gather_all "MPI_Allgather" (*const c_void, c_int, H, *mut c_void, c_int, H, H);
    version "MPI_Get_library_version" (*mut c_char, *mut c_int);
    error_string "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
}

impl<H: Handle> Functions<H> {
    /// What the library says of itself, which may be asked before MPI is started.
    pub fn version_text(&self) -> String {
        // The longest known is 8192 bytes.
        let (mut text, mut len) = (vec![0_u8; 1 << 14], 0);
        // SAFETY: MPI writes at most MPI_MAX_LIBRARY_VERSION_STRING bytes.
        let code = unsafe { (self.version)(text.as_mut_ptr().cast::<c_char>(), &raw mut len) };
        text.truncate(if code == 0 { usize::try_from(len).unwrap_or(0) } else { 0 });
        String::from_utf8_lossy(&text).into_owned()
    }
}
