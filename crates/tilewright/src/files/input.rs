//! Reading: where the bytes come from, and matrices that stay where they lie.

use super::{
    Format, ReadOptions, Spec, csv,
    elements::{self, Raw},
    fault::Fault,
    mtx, npy, npz, safetensors,
};
use crate::{DType, DynMatrix, DynRef, Error, Layout};
use memmap2::Mmap;
use std::{
    fs::File,
    io::{BufReader, Cursor, Read},
    ops::Range,
};

/// Smaller files are read: a map costs more than a copy of them.
const SMALLEST_MAP: u64 = 1 << 20;

/// A matrix that was read from a file.
///
/// It owns its elements, or maps the file into memory and uses them in place. Changing a file while it is
/// mapped changes the matrix, and shortening it may end the process, so nothing should write into a file that
/// is being read; the writers of this module replace files instead.
#[derive(Debug)]
pub struct Input(Storage);

#[derive(Debug)]
enum Storage {
    Owned(DynMatrix),
    Mapped { map: Mmap, data: Range<usize>, dtype: DType, layout: Layout },
}

impl Input {
    /// A view to read.
    pub fn as_ref(&self) -> DynRef<'_> {
        match &self.0 {
            Storage::Owned(m) => m.as_ref(),
            Storage::Mapped { map, data, dtype, layout } => {
                elements::view(&map[data.clone()], *dtype, *layout)
            }
        }
    }
    /// Shape and strides.
    pub fn layout(&self) -> Layout {
        self.as_ref().layout()
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.as_ref().dtype()
    }
    /// True when the elements are used where they lie in the file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Storage::Mapped { .. })
    }

    /// The matrix itself, copied out of the file when it is mapped.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn into_matrix(self) -> Result<DynMatrix, Error> {
        match self.0 {
            Storage::Owned(m) => Ok(m),
            Storage::Mapped { .. } => self.as_ref().convert(self.dtype(), crate::Extremes::Refuse),
        }
    }
}

impl From<DynMatrix> for Input {
    fn from(matrix: DynMatrix) -> Self {
        Self(Storage::Owned(matrix))
    }
}

/// Reads one matrix from a file.
///
/// The elements of a large `.npy` or `.safetensors` file are used in place when they are aligned, in this
/// processor's byte order and of the wanted type; see [`Input`].
///
/// # Errors
/// `io` when the file cannot be read; `bad-file` when its contents are not a matrix of its format, naming
/// what is wrong and where; `out-of-memory`.
pub fn read(spec: &Spec, options: &ReadOptions) -> Result<Input, Error> {
    open(spec, options).map_err(|fault| fault.at(spec.path()))
}

fn open(spec: &Spec, options: &ReadOptions) -> Result<Input, Fault> {
    let file = File::open(spec.path())?;
    let matrix = match spec.format() {
        Format::Npz => npz::read(BufReader::new(file), spec.member())?,
        Format::Csv => csv::read(&mut BufReader::new(file), options)?,
        Format::Mtx => mtx::read(&mut BufReader::new(file), options)?,
        Format::Npy | Format::Safetensors => match Contents::of(file)? {
            Contents::Mapped(map) => return use_in_place(map, spec, options),
            Contents::Read(bytes) => binary(&bytes, spec)?,
        },
    };
    Ok(Input(Storage::Owned(convert(matrix, options)?)))
}

/// All bytes of a file.
pub(super) enum Contents {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Contents {
    pub fn of(mut file: File) -> Result<Self, Fault> {
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() >= SMALLEST_MAP {
            // SAFETY: the map is only read, as bytes and as numbers, of which any bits are valid, so another
            // process that writes to the file can change values and nothing else. See `Input`.
            return Ok(Self::Mapped(unsafe { Mmap::map(&file)? }));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Self::Read(bytes))
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

fn use_in_place(map: Mmap, spec: &Spec, options: &ReadOptions) -> Result<Input, Fault> {
    let (raw, data) = locate(&map, spec)?;
    let wanted = |dtype: &DType| options.dtype.is_none_or(|wanted| wanted == *dtype);
    match raw.in_place(&map[data.clone()]).filter(wanted) {
        Some(dtype) => Ok(Input(Storage::Mapped { map, data, dtype, layout: raw.layout })),
        None => Ok(Input(Storage::Owned(convert(raw.decode(&mut &map[data])?, options)?))),
    }
}

/// Reads one matrix from the bytes of a file; `spec` tells the format, the member, and the name for errors.
///
/// ```
/// use tilewright::files::{ReadOptions, Spec, read_bytes};
/// let spec: Spec = "upload.csv".parse()?;
/// let m = read_bytes(&spec, b"1,2\n3,4\n", &ReadOptions::default())?;
/// assert_eq!(m.as_ref().get(1, 0), Some(tilewright::Value::Int(3)));
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(spec: &Spec, bytes: &[u8], options: &ReadOptions) -> Result<DynMatrix, Error> {
    let matrix = match spec.format() {
        Format::Npz => npz::read(Cursor::new(bytes), spec.member()),
        Format::Csv => csv::read(&mut &*bytes, options),
        Format::Mtx => mtx::read(&mut &*bytes, options),
        Format::Npy | Format::Safetensors => binary(bytes, spec),
    };
    matrix.and_then(|m| convert(m, options)).map_err(|fault| fault.at(spec.path()))
}

fn binary(bytes: &[u8], spec: &Spec) -> Result<DynMatrix, Fault> {
    let (raw, data) = locate(bytes, spec)?;
    raw.decode(&mut &bytes[data])
}

/// The matrix of a binary file and where its elements lie.
fn locate(bytes: &[u8], spec: &Spec) -> Result<(Raw, Range<usize>), Fault> {
    if spec.format() == Format::Safetensors {
        return safetensors::locate(bytes, spec.member());
    }
    let header = npy::Header::read(&mut &*bytes)?;
    let raw = header.matrix()?;
    npy::check_length(&raw, bytes.len() - header.end)?;
    Ok((raw, header.end..bytes.len()))
}

fn convert(matrix: DynMatrix, options: &ReadOptions) -> Result<DynMatrix, Fault> {
    match options.dtype {
        Some(dtype) if dtype != matrix.dtype() => Ok(matrix.as_ref().convert(dtype, options.extremes)?),
        _ => Ok(matrix),
    }
}
