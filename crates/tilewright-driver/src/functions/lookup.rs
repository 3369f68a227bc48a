//! The functions that programs mean by a name, which depends on the version of CUDA that they know.

use std::ffi::{c_char, c_int, c_void};

use super::{function, implemented};
use crate::call::{Call, put, text};
use crate::code::Code;

/// Names whose later forms came with later versions: asked for with an earlier one, the form before it is meant.
const LATER: &[(&str, c_int)] = &[
    ("cuCtxCreate_v3", 11_040),
    ("cuCtxCreate_v4", 13_000),
    ("cuDeviceGetUuid_v2", 11_040),
    ("cuEventElapsedTime_v2", 12_080),
    ("cuGetProcAddress_v2", 12_000),
    ("cuMemAdvise_v2", 13_000),
    ("cuMemPrefetchAsync_v2", 13_000),
];

/// `CUdriverProcAddressQueryResult`: the function is not there at all.
const NOT_FOUND: c_int = 1;

/// The function that a program of a version of CUDA means by a name.
fn meant(name: &str, version: c_int) -> Option<*const c_void> {
    // Forms for streams of their own in each thread: here they are the same.
    let name = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds")).unwrap_or(name);
    let is_in = |name: &str| LATER.iter().all(|(later, since)| *later != name || *since <= version);
    let forms = (2..=4).rev().map(|form| format!("{name}_v{form}")).filter(|form| is_in(form));
    let forms: Vec<String> = forms.chain([name.to_owned()]).collect();
    // A later form that is not there does not take the place of one that is.
    forms.iter().find_map(|form| implemented(form)).or_else(|| forms.iter().find_map(|form| function(form)))
}

/// `cuGetProcAddress`.
pub(crate) unsafe fn address(
    name: *const c_char,
    out: *mut *const c_void,
    version: c_int,
    _flags: u64,
    status: *mut c_int,
) -> Call {
    // SAFETY: the caller's promise.
    let found = meant(unsafe { text(name) }?, version);
    if !status.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(status, if found.is_some() { 0 } else { NOT_FOUND }) }?;
    }
    // SAFETY: the caller's promise.
    unsafe { put(out, found.unwrap_or(std::ptr::null())) }?;
    found.map(drop).ok_or(Code::NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_form_of_the_version() {
        for (name, version, form) in [
            ("cuMemAlloc", 12_000, "cuMemAlloc_v2"),
            ("cuMemAlloc_v2", 12_000, "cuMemAlloc_v2"),
            ("cuCtxCreate", 11_000, "cuCtxCreate_v2"),
            ("cuCtxCreate", 12_000, "cuCtxCreate_v3"),
            ("cuCtxCreate", 13_000, "cuCtxCreate_v4"),
            ("cuMemAdvise", 12_080, "cuMemAdvise"),
            ("cuMemAdvise", 13_000, "cuMemAdvise_v2"),
            ("cuStreamSynchronize_ptsz", 12_000, "cuStreamSynchronize"),
            ("cuMemcpyHtoD_v2_ptds", 12_000, "cuMemcpyHtoD_v2"),
            ("cuCtxGetDevice", 13_000, "cuCtxGetDevice"),
            ("cuGraphExecUpdate", 13_000, "cuGraphExecUpdate_v2"),
        ] {
            assert!(meant(name, version).is_some(), "{name}");
            assert_eq!(meant(name, version), function(form), "{name} of {version}");
        }
        assert_eq!(meant("cuNothing", 13_000), None);
    }
}
