//! Element types, as the buffer protocol, DLPack and the libraries of arrays call them.

use crate::errors::exception;
use dlpark::ffi::DLDataType;
use pyo3::prelude::*;
use std::ffi::CStr;
use tilewright::DType;

/// The type that a format of the buffer protocol stands for; `None` for others than ours, and for another byte order.
pub fn of_format(format: &CStr, size: usize) -> Option<DType> {
    let code = match format.to_bytes() {
        [code] | [b'@' | b'=', code] => *code,
        [b'<', code] if cfg!(target_endian = "little") => *code,
        _ => return None,
    };
    match (code, size) {
        (b'e', 2) => Some(DType::F16),
        (b'f', 4) => Some(DType::F32),
        (b'd', 8) => Some(DType::F64),
        (b'?', 1) => Some(DType::Bool),
        (b'B', 1) => Some(DType::U8),
        // The size of a long differs from system to system, and ctypes gives that of C whatever the order it names.
        (b'b', 1) | (b'h', 2) | (b'i', 4) | (b'l', 4 | 8) | (b'q' | b'n', 8) => signed(size),
        _ => None,
    }
}

/// The type that a `typestr` of NumPy's array interface stands for.
pub fn of_typestr(typestr: &str) -> Option<DType> {
    let (order, described) = typestr.split_at_checked(1)?;
    let is_ours = order == "|" || order == if cfg!(target_endian = "little") { "<" } else { ">" };
    match described {
        _ if !is_ours => None,
        "f2" => Some(DType::F16),
        "f4" => Some(DType::F32),
        "f8" => Some(DType::F64),
        "b1" => Some(DType::Bool),
        "u1" => Some(DType::U8),
        _ => signed(described.strip_prefix('i')?.parse().ok()?),
    }
}

/// The type that DLPack describes.
pub fn of_dlpack(described: DLDataType) -> Option<DType> {
    use dlpark::ffi::DLDataTypeCode as Code;
    match (described.code, described.bits, described.lanes) {
        (Code::FLOAT, 16, 1) => Some(DType::F16),
        (Code::BFLOAT, 16, 1) => Some(DType::Bf16),
        (Code::FLOAT8_E4M3FN, 8, 1) => Some(DType::E4m3),
        (Code::FLOAT8_E5M2, 8, 1) => Some(DType::E5m2),
        (Code::FLOAT, 32, 1) => Some(DType::F32),
        (Code::FLOAT, 64, 1) => Some(DType::F64),
        (Code::BOOL, 8, 1) => Some(DType::Bool),
        (Code::UINT, 8, 1) => Some(DType::U8),
        (Code::INT, bits, 1) => signed(usize::from(bits / 8)),
        _ => None,
    }
}

fn signed(size: usize) -> Option<DType> {
    match size {
        1 => Some(DType::I8),
        2 => Some(DType::I16),
        4 => Some(DType::I32),
        8 => Some(DType::I64),
        _ => None,
    }
}

/// What NumPy, ml_dtypes and torch call it.
pub fn python_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "float16",
        DType::Bf16 => "bfloat16",
        DType::E4m3 => "float8_e4m3fn",
        DType::E5m2 => "float8_e5m2",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::Bool => "bool",
        // The enumeration may grow; a name of the library is better than none.
        other => other.name(),
    }
}

/// The type that the caller names, which is one of these.
pub fn only(named: &Bound<'_, PyAny>, known: &[DType]) -> PyResult<Vec<DType>> {
    let asked = name(named)?;
    let found = known.iter().copied().find(|&known| python_name(known) == asked);
    found.map(|found| vec![found]).ok_or_else(|| {
        let names = known.iter().map(|&known| python_name(known)).collect::<Vec<_>>().join(" or ");
        let message = format!("dtype is {asked}, and the result has {names}");
        exception(named.py(), "dtype-mismatch", &message, Some("convert the result"))
    })
}

/// The name of a type that a caller gives: as text, or as NumPy or torch have it.
fn name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let named = ["name", "__name__"].into_iter().find_map(|attribute| given.getattr(attribute).ok());
    let text = named.as_ref().unwrap_or(given).str()?.to_string();
    Ok(text.rsplit('.').next().unwrap_or_default().to_owned())
}

/// The format of Python's `memoryview`; there is none for bfloat16 and floats of 8 bits.
pub fn memoryview_format(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F16 => "e",
        DType::F32 => "f",
        DType::F64 => "d",
        DType::I8 => "b",
        DType::I16 => "h",
        DType::I32 => "i",
        DType::I64 => "q",
        DType::U8 => "B",
        DType::Bool => "?",
        _ => return None,
    })
}

/// The exception for elements of another type.
pub fn refused(py: Python<'_>, what: &str, found: &str, hint: Option<&str>) -> PyErr {
    let message = format!("{what} has elements of {found}, which no product takes");
    let known = || DType::ALL.iter().map(|&dtype| python_name(dtype)).collect::<Vec<_>>().join(", ");
    let hint = hint.map_or_else(|| format!("element types are {}", known()), str::to_owned);
    exception(py, "dtype-mismatch", &message, Some(&hint))
}

/// The same for a format of the buffer protocol.
pub fn refused_format(py: Python<'_>, what: &str, format: &CStr) -> PyErr {
    let hint = match format.to_bytes() {
        b"c" => Some("say what the bytes are: memoryview(a).cast('d')"),
        [b'>' | b'!', ..] if cfg!(target_endian = "little") => {
            Some("turn their bytes round: by NumPy, a.astype(a.dtype.newbyteorder('='))")
        }
        _ => None,
    };
    refused(py, what, &format!("the format '{}'", format.to_string_lossy()), hint)
}
