//! Intel's MKL, and BLIS (AMD's AOCL has it too), which are looked for when the program runs.

use crate::{
    Result,
    case::{Case, Stored},
    contender::{Contender, InProcess},
    field::Field,
    matrices::{Operand, Operands},
};
use core::ffi::{CStr, c_char, c_int};
use libloading::Library;
use std::{env, path::PathBuf, sync::LazyLock};

/// The function for matrices of `T` in CBLAS, with indices of 32 bits.
pub type Gemm<T> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    T,
    *const T,
    c_int,
    *const T,
    c_int,
    T,
    *mut T,
    c_int,
);

// Of `cblas.h`.
const ROW_MAJOR: c_int = 101;
const PLAIN: c_int = 111;
const TRANSPOSED: c_int = 112;

/// A library that has been loaded.
pub struct Blas {
    name: &'static str,
    version: String,
    set_threads: SetThreads,
    sgemm: Gemm<f32>,
    dgemm: Gemm<f64>,
}

/// How a library is told the number of threads.
#[derive(Clone, Copy)]
enum SetThreads {
    Mkl(unsafe extern "C" fn(c_int)),
    Blis(unsafe extern "C" fn(isize)),
}

/// Where a library is looked for, and what opens it.
#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    /// Names a folder or a file.
    variable: &'static str,
    files: &'static [&'static str],
    open: fn(&'static str, &'static Library) -> Result<Blas>,
    hint: &'static str,
}

const ALL: [Known; 2] = [
    Known {
        name: "MKL",
        variable: "TILEWRIGHT_MKL_PATH",
        files: &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"],
        open: mkl,
        hint: "`pip install mkl`, and TILEWRIGHT_MKL_PATH names the folder with libmkl_rt.so",
    },
    Known {
        name: "BLIS",
        variable: "TILEWRIGHT_BLIS_PATH",
        files: &["libblis.so.4", "libblis-mt.so", "libblis.so"],
        open: blis,
        hint: "`apt-get install libblis4-pthread`, or TILEWRIGHT_BLIS_PATH names the folder with libblis.so",
    },
];

static FOUND: LazyLock<Vec<(&Known, Result<Blas, String>)>> =
    LazyLock::new(|| ALL.iter().map(|known| (known, known.find())).collect());

/// Name and version of each library, or why it is missing and what helps.
pub fn facts() -> impl Iterator<Item = (&'static str, String)> {
    FOUND.iter().map(|(known, found)| {
        let missing = |why: &String| format!("skipped: {why}; hint: {}", known.hint);
        (known.name, found.as_ref().map_or_else(missing, |blas| blas.version.clone()))
    })
}

/// The libraries that are there.
pub fn found() -> impl Iterator<Item = &'static Blas> {
    FOUND.iter().filter_map(|(_, found)| found.as_ref().ok())
}

impl Known {
    /// Loads the library from where the variable says, or else from the environment that is active or the loader's path.
    fn find(&self) -> Result<Blas, String> {
        let given = env::var_os(self.variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let paths: Vec<PathBuf> = match given {
            Some(path) if path.is_dir() => self.files.iter().map(|file| path.join(file)).collect(),
            Some(file) => vec![file],
            None => {
                let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os);
                let folders = prefixes.map(|prefix| PathBuf::from(prefix).join("lib"));
                let folders: Vec<_> = folders.chain([PathBuf::new()]).collect();
                folders.iter().flat_map(|folder| self.files.iter().map(|file| folder.join(file))).collect()
            }
        };
        // SAFETY: its initialisers are those of a BLAS, which have no preconditions.
        let library = paths.iter().find_map(|path| unsafe { Library::new(path) }.ok());
        let Some(library) = library else { return Err(format!("no {} was found", self.files[0])) };
        // Threads of its own may run in it until the process ends.
        (self.open)(self.name, Box::leak(Box::new(library))).map_err(|problem| problem.to_string())
    }
}

fn mkl(name: &'static str, library: &'static Library) -> Result<Blas> {
    // SAFETY: these are the types of `mkl_service.h`.
    unsafe {
        let version = library.get::<unsafe extern "C" fn(*mut c_char, c_int)>(b"MKL_Get_Version_String")?;
        let mut text = [0; 256];
        version(text.as_mut_ptr(), 255);
        let set_threads = SetThreads::Mkl(*library.get(b"MKL_Set_Num_Threads")?);
        // As many threads as it is told, and not fewer where it thinks so.
        library.get::<unsafe extern "C" fn(c_int)>(b"MKL_Set_Dynamic")?(0);
        Blas::new(name, CStr::from_ptr(text.as_ptr()), set_threads, library)
    }
}

fn blis(name: &'static str, library: &'static Library) -> Result<Blas> {
    // SAFETY: these are the types of `blis.h`.
    unsafe {
        let version = library.get::<unsafe extern "C" fn() -> *const c_char>(b"bli_info_get_version_str")?;
        let set_threads = SetThreads::Blis(*library.get(b"bli_thread_set_num_threads")?);
        Blas::new(name, CStr::from_ptr(version()), set_threads, library)
    }
}

impl Blas {
    /// # Safety
    /// It must be a library whose CBLAS has indices of 32 bits.
    unsafe fn new(
        name: &'static str,
        version: &CStr,
        set_threads: SetThreads,
        library: &'static Library,
    ) -> Result<Self> {
        // SAFETY: these are the types of `cblas.h`.
        let (sgemm, dgemm) = unsafe { (*library.get(b"cblas_sgemm")?, *library.get(b"cblas_dgemm")?) };
        let version = version.to_string_lossy().trim().to_owned();
        Ok(Self { name, version, set_threads, sgemm, dgemm })
    }

    /// The product of a case on so many threads.
    ///
    /// # Errors
    /// When a side does not fit 32 bits.
    pub fn contender<'a, T: Field>(
        &'static self,
        gemm: Gemm<T>,
        [zero, one]: [T; 2],
        case: &Case,
        x: &'a Operands<T>,
        threads: usize,
    ) -> Result<Box<dyn Contender + 'a>> {
        let [m, n, k] = [case.m, case.n, case.k].map(c_int::try_from);
        let (m, n, k, threads) = (m?, n?, k?, c_int::try_from(threads)?);
        let (lda, ldb) = (c_int::try_from(x.a.leading())?, c_int::try_from(x.b.leading())?);
        let order = |operand: &Operand<T>| match operand.stored {
            Stored::Plain => PLAIN,
            Stored::Transposed => TRANSPOSED,
        };
        let (a, b) = (order(&x.a), order(&x.b));
        let multiply = move |c: &mut [T]| {
            // SAFETY: shapes and leading dimensions are those of the operands and of C, which is row-major.
            unsafe {
                match self.set_threads {
                    SetThreads::Mkl(set) => set(threads),
                    SetThreads::Blis(set) => set(threads as isize),
                }
                let (pa, pb) = (x.a.ptr(), x.b.ptr());
                gemm(ROW_MAJOR, a, b, m, n, k, one, pa, lda, pb, ldb, zero, c.as_mut_ptr(), n);
            }
            Ok(())
        };
        Ok(Box::new(InProcess::new(self.name, case.m * case.n, multiply)))
    }

    /// Of f32.
    pub fn sgemm(&self) -> Gemm<f32> {
        self.sgemm
    }

    /// Of f64.
    pub fn dgemm(&self) -> Gemm<f64> {
        self.dgemm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{case::Group, libraries::with_contenders};

    #[test]
    fn a_missing_library_is_an_error_with_its_name() {
        let nowhere = Known { files: &["libno-such-blas.so"], variable: "TILEWRIGHT_NO_SUCH_PATH", ..ALL[0] };
        let problem = nowhere.find().err().unwrap();
        assert_eq!(problem, "no libno-such-blas.so was found");
    }

    /// A library without these functions, as that of C.
    #[test]
    fn another_library_is_refused() {
        let other = Known { files: &["libc.so.6"], variable: "TILEWRIGHT_NO_SUCH_PATH", ..ALL[1] };
        assert!(other.find().is_err());
    }

    /// Whatever is installed here computes what Tilewright does, transposes included.
    #[test]
    fn libraries_agree() {
        for (name, fact) in facts() {
            println!("{name}: {fact}");
        }
        for group in [Group::PlusTimesF32, Group::PlusTimesF64] {
            for case in Case::all(group).filter(|case| case.m * case.n * case.k <= 1 << 24) {
                for threads in [1, 2] {
                    with_contenders(&case, threads, None, |contenders, check| {
                        let names: Vec<_> = contenders.iter().map(|c| c.name().to_owned()).collect();
                        assert!(found().all(|blas| names.iter().any(|name| name == blas.name)), "{names:?}");
                        contenders.into_iter().try_for_each(|mut contender| {
                            contender.run(1)?;
                            let result = contender.result()?;
                            check(contender.name(), &result)
                        })
                    })
                    .unwrap();
                }
            }
        }
    }
}
