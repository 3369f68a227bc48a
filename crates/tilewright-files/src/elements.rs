//! Elements as binary files hold them, and matrices made of them.

use super::fault::{Fault, bad};
use std::{
    io::{self, Read, Write},
    ptr::NonNull,
};
use tilewright_core::{
    DType, DynMatrix, DynRef, E4m3, E5m2, Element, ErrorKind, Layout, MatRef, Matrix, bf16, f16,
};

/// Runs `$body` with `$t` naming the element type that `$dtype` stands for.
macro_rules! with_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        tilewright_core::for_each_dtype!(with_dtype!(@ $dtype, $t, $body;))
    };
    (@ $dtype:expr, $t:ident, $body:expr; $($variant:ident $type:ty, $name:literal, $doc:literal;)*) => {
        match $dtype {
            $(tilewright_core::DType::$variant => {
                type $t = $type;
                $body
            })*
            // `DType` may grow; a type that files do not know yet is refused.
            other => Err($crate::elements::unknown(other).into()),
        }
    };
}
pub(super) use with_dtype;

pub(super) fn unknown(dtype: DType) -> tilewright_core::Error {
    ErrorKind::Unsupported { what: format!("{dtype} in files"), why: String::new(), hint: "".into() }.into()
}

/// An element type on disk: more than [`DType`] has, since files may hold wider unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // The names are those of `DType`; U is unsigned.
pub enum Stored {
    F16,
    Bf16,
    E4m3,
    E5m2,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl Stored {
    /// The lower-case name: `f32`, `u8`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            other => other.read_as().name(),
        }
    }

    /// The element type that is read: for wider unsigned integers than u8 the next wider signed type, i64 for the widest.
    pub const fn read_as(self) -> DType {
        match self {
            Self::F16 => DType::F16,
            Self::Bf16 => DType::Bf16,
            Self::E4m3 => DType::E4m3,
            Self::E5m2 => DType::E5m2,
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
            Self::I8 => DType::I8,
            Self::I16 => DType::I16,
            Self::I32 | Self::U16 => DType::I32,
            Self::I64 | Self::U32 | Self::U64 => DType::I64,
            Self::U8 => DType::U8,
            Self::Bool => DType::Bool,
        }
    }

    /// Whether there is no such element type, so that a wider one is read.
    pub const fn is_widened(self) -> bool {
        matches!(self, Self::U16 | Self::U32 | Self::U64)
    }

    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::E4m3 | Self::E5m2 | Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

/// The order of the bytes of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// A matrix as a file describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub stored: Stored,
    pub endian: Endian,
    /// Row-major or column-major, without gaps.
    pub layout: Layout,
}

impl Raw {
    /// Bytes of all elements, or `None` when that exceeds the address space.
    pub fn bytes(&self) -> Option<usize> {
        let bytes = self.layout.len()?.checked_mul(self.stored.size())?;
        isize::try_from(bytes).is_ok().then_some(bytes)
    }

    /// Reads the elements, as what [`Stored::read_as`] says.
    ///
    /// The caller has compared [`Raw::bytes`] with what `source` can hold, so that the memory taken here is
    /// in proportion to the file.
    pub fn decode(&self, source: &mut dyn Read) -> Result<DynMatrix, Fault> {
        match self.stored {
            Stored::F16 => self.each(source, |b| Some(f16::from_le_bytes(b))),
            Stored::Bf16 => self.each(source, |b| Some(bf16::from_le_bytes(b))),
            Stored::E4m3 => self.each(source, |b| Some(E4m3::from_le_bytes(b))),
            Stored::E5m2 => self.each(source, |b| Some(E5m2::from_le_bytes(b))),
            Stored::F32 => self.each(source, |b| Some(f32::from_le_bytes(b))),
            Stored::F64 => self.each(source, |b| Some(f64::from_le_bytes(b))),
            Stored::I8 => self.each(source, |b| Some(i8::from_le_bytes(b))),
            Stored::I16 => self.each(source, |b| Some(i16::from_le_bytes(b))),
            Stored::I32 => self.each(source, |b| Some(i32::from_le_bytes(b))),
            Stored::I64 => self.each(source, |b| Some(i64::from_le_bytes(b))),
            Stored::U8 => self.each(source, |b| Some(u8::from_le_bytes(b))),
            Stored::U16 => self.each(source, |b| Some(i32::from(u16::from_le_bytes(b)))),
            Stored::U32 => self.each(source, |b| Some(i64::from(u32::from_le_bytes(b)))),
            Stored::U64 => self.each(source, |b| i64::try_from(u64::from_le_bytes(b)).ok()),
            // Any other byte would be no valid `bool` at all.
            Stored::Bool => self.each(source, |b: [u8; 1]| (b[0] <= 1).then_some(b[0] == 1)),
        }
    }

    /// Reads elements of `N` bytes in memory order; `convert` takes them in little-endian order.
    fn each<const N: usize, T: Element>(
        &self,
        source: &mut dyn Read,
        convert: impl Fn([u8; N]) -> Option<T>,
    ) -> Result<DynMatrix, Fault>
    where
        DynMatrix: From<Matrix<T>>,
    {
        let count = self.layout.len().ok_or_else(|| bad!("the shape exceeds the address space"))?;
        let mut data = reserve::<T>(count)?;
        let mut buffer = [0; 1 << 15];
        while data.len() < count {
            let taken = (buffer.len() / N).min(count - data.len());
            let bytes = &mut buffer[..taken * N];
            source.read_exact(bytes)?;
            let elements = bytes.as_chunks_mut::<N>().0;
            if self.endian == Endian::Big {
                elements.iter_mut().for_each(|e| e.reverse());
            }
            let mut fine = true;
            let first = data.len();
            data.extend(elements.iter().map(|&e| {
                let value = convert(e);
                fine &= value.is_some();
                value.unwrap_or(T::DEFAULT)
            }));
            if !fine && let Some(at) = elements.iter().position(|&e| convert(e).is_none()) {
                return Err(self.refuse(first + at, &elements[at], T::DTYPE));
            }
        }
        Ok(Matrix::from_vec(data, self.layout)?.into())
    }

    /// Names the element at `position` in memory, whose little-endian `bytes` are no valid `dtype`.
    fn refuse(&self, position: usize, bytes: &[u8], dtype: DType) -> Fault {
        let Layout { rows, cols, col_stride, .. } = self.layout;
        let (row, col) = if col_stride == 1 {
            (position / cols, position % cols)
        } else {
            (position % rows, position / rows)
        };
        let value = bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b));
        let fault = bad!("element [{row}, {col}] = {value} cannot be represented as {dtype}");
        match self.stored {
            Stored::Bool => fault.hint("a boolean is a byte that is 0 or 1"),
            _ => fault.hint("unsigned 64-bit integers are read as i64; save the matrix as float64"),
        }
    }

    /// The element type when the bytes can be used where they lie: native order, aligned, and any pattern
    /// of bits a valid element.
    ///
    /// Booleans are left out: a byte that another process changes later must not become an invalid `bool`.
    pub fn in_place(&self, bytes: &[u8]) -> Option<DType> {
        let native = if cfg!(target_endian = "little") { Endian::Little } else { Endian::Big };
        if self.stored.is_widened() || self.stored == Stored::Bool {
            return None;
        }
        let dtype = self.stored.read_as();
        let size = self.stored.size();
        let aligned = bytes.as_ptr().addr().is_multiple_of(size) && self.bytes() == Some(bytes.len());
        (aligned && (self.endian == native || size == 1)).then_some(dtype)
    }
}

/// The bytes as a matrix of `dtype`, which [`Raw::in_place`] gave for these bytes and this layout.
pub(super) fn view(bytes: &[u8], dtype: DType, layout: Layout) -> DynRef<'_> {
    DynRef::new(bytes, dtype, layout)
        .unwrap_or_else(|_| unreachable!("`in_place` checked type, alignment and length"))
}

/// An empty vector with room for `count` elements.
pub(super) fn reserve<T>(count: usize) -> Result<Vec<T>, Fault> {
    let mut data = Vec::new();
    match data.try_reserve_exact(count) {
        Ok(()) => Ok(data),
        Err(_) => {
            let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
            Err(Fault::Other(ErrorKind::OutOfMemory { what: "a matrix", bytes }.into()))
        }
    }
}

/// Appends, with an error instead of an abort when memory runs out.
pub(super) fn push<T>(data: &mut Vec<T>, value: T) -> Result<(), Fault> {
    if data.len() == data.capacity() && data.try_reserve(1).is_err() {
        let bytes = (data.len() as u64).saturating_mul(2 * size_of::<T>() as u64);
        return Err(Fault::Other(ErrorKind::OutOfMemory { what: "a matrix", bytes }.into()));
    }
    data.push(value);
    Ok(())
}

/// An element that a binary file can hold.
pub(super) trait Binary: Element + bytemuck::NoUninit {
    /// Appends the bytes in little-endian order.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! binary {
    ($($t:ty),*) => {$(
        impl Binary for $t {
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
binary!(f16, bf16, E4m3, E5m2, f32, f64, i8, i16, i32, i64, u8);

impl Binary for bool {
    fn put(self, out: &mut Vec<u8>) {
        out.push(self.into());
    }
}

/// Writes the elements row by row in little-endian order, whatever the strides.
pub(super) fn write_rows<T: Binary>(out: &mut dyn Write, m: MatRef<'_, T>) -> io::Result<()> {
    if m.layout().is_empty() {
        return Ok(());
    }
    let mut buffer = Vec::new();
    for i in 0..m.rows() {
        if cfg!(target_endian = "little")
            && let Some(row) = row_slice(m, i)
        {
            out.write_all(bytemuck::cast_slice(row))?;
            continue;
        }
        for j in 0..m.cols() {
            // SAFETY: the indices run inside the matrix.
            unsafe { m.get_unchecked(i, j) }.put(&mut buffer);
            if buffer.len() >= 1 << 15 {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
        out.write_all(&buffer)?;
        buffer.clear();
    }
    Ok(())
}

/// Row `i` as a slice, when its elements lie side by side.
fn row_slice<T>(m: MatRef<'_, T>, i: usize) -> Option<&[T]> {
    if m.layout().col_stride != 1 || m.layout().is_empty() || i >= m.rows() {
        return None;
    }
    let start = m.layout().offset(i, 0);
    // SAFETY: row `i` exists and its `cols` elements, one apart, are elements of the matrix.
    unsafe {
        let first = NonNull::new(m.as_ptr().offset(start).cast_mut())?;
        Some(std::slice::from_raw_parts(first.as_ptr(), m.cols()))
    }
}

/// The typed view of a matrix whose element type was just matched.
pub(super) fn typed<T: Element>(m: DynRef<'_>) -> MatRef<'_, T> {
    m.typed().unwrap_or_else(|| unreachable!("called with the matrix's own element type"))
}
