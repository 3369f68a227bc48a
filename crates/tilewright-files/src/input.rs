//! Reading: where the bytes come from, and matrices that stay where they lie.

use super::{
    Format, ReadOptions, Spec, Stack, Stored, csv,
    elements::{self, reserve},
    fault::Fault,
    mtx, npy, npz, safetensors,
    shape::{Found, Rank},
};
use memmap2::Mmap;
use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Read},
    ops::Range,
};
use tilewright_core::{DType, DynMatrix, DynRef, Error, Layout};

/// Smaller files are read: a map costs more than a copy of them.
const SMALLEST_MAP: u64 = 1 << 20;

/// A matrix that was read from a file.
///
/// It owns its elements, or maps the file into memory and uses them in place. Changing a file while it is
/// mapped changes the matrix, and shortening it may end the process, so nothing should write into a file that
/// is being read; the writers of this module replace files instead.
#[derive(Debug)]
pub struct Input {
    storage: Storage,
    empty: usize,
}

#[derive(Debug)]
enum Storage {
    Owned(DynMatrix),
    Mapped { map: Mmap, data: Range<usize>, dtype: DType, layout: Layout },
}

impl Input {
    /// A view to read.
    pub fn as_ref(&self) -> DynRef<'_> {
        match &self.storage {
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
        matches!(self.storage, Storage::Mapped { .. })
    }

    /// A matrix of text, and how many cells were empty.
    pub(super) fn of_text((matrix, empty): (DynMatrix, usize)) -> Self {
        Self { storage: Storage::Owned(matrix), empty }
    }

    /// How many cells of text were empty, and stand for what is absent; see [`ReadOptions::empty_is_absent`].
    pub fn empty_cells(&self) -> usize {
        self.empty
    }

    /// The matrix itself, copied out of the file when it is mapped.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn into_matrix(self) -> Result<DynMatrix, Error> {
        match self.storage {
            Storage::Owned(m) => Ok(m),
            Storage::Mapped { .. } => self.as_ref().convert(self.dtype(), tilewright_core::Extremes::Refuse),
        }
    }
}

impl From<DynMatrix> for Input {
    fn from(matrix: DynMatrix) -> Self {
        Self { storage: Storage::Owned(matrix), empty: 0 }
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
    Ok(open(spec, options, Rank::Matrix).map_err(|fault| fault.at(spec.path()))?.0)
}

/// Reads an array of one or more dimensions from a file: a vector, a matrix or a stack of matrices.
///
/// # Errors
/// As [`read`].
pub fn read_stack(spec: &Spec, options: &ReadOptions) -> Result<Stack, Error> {
    let read = open(spec, options, Rank::Any).map_err(|fault| fault.at(spec.path()))?;
    Ok(Stack::new(read.0, read.1, read.2))
}

/// The rows, the shape, and the type in the file.
type Opened = (Input, Vec<usize>, Option<Stored>);

fn open(spec: &Spec, options: &ReadOptions, rank: Rank) -> Result<Opened, Fault> {
    let file = File::open(spec.path())?;
    let decoded = match spec.format() {
        Format::Npz => npz::read(BufReader::new(file), spec.member(), rank)?,
        Format::Csv => return csv_file(&mut BufReader::new(file), options),
        Format::Mtx => text(mtx::read(&mut BufReader::new(file), options)?),
        Format::Npy | Format::Safetensors => match Contents::of(file)? {
            Contents::Mapped(map) => return use_in_place(map, spec, options, rank),
            Contents::Read(bytes) => binary(&bytes, spec, rank)?,
        },
    };
    finish(decoded, options)
}

fn csv_file(input: &mut dyn BufRead, options: &ReadOptions) -> Result<Opened, Fault> {
    let (matrix, empty) = csv::read(input, options)?;
    let (input, shape, stored) = finish(text(matrix), options)?;
    Ok((Input { empty, ..input }, shape, stored))
}

/// What a decoder gives: the rows, the shape, and the type in the file.
pub(super) type Decoded = (DynMatrix, Vec<usize>, Option<Stored>);

fn text(m: DynMatrix) -> Decoded {
    let shape = vec![m.layout().rows, m.layout().cols];
    (m, shape, None)
}

/// A matrix that was read from text, with so many empty cells.
pub(super) fn text_stack(read: (DynMatrix, usize)) -> Stack {
    let shape = vec![read.0.layout().rows, read.0.layout().cols];
    Stack::new(Input::of_text(read), shape, None)
}

fn finish((m, shape, stored): Decoded, options: &ReadOptions) -> Result<Opened, Fault> {
    Ok((convert(m, options)?.into(), shape, stored))
}

/// All bytes of a file.
pub(super) enum Contents {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Contents {
    pub fn of(mut file: File) -> Result<Self, Fault> {
        let metadata = file.metadata()?;
        let is_large = metadata.is_file() && metadata.len() >= SMALLEST_MAP;
        // SAFETY: the map is only read, as bytes and as numbers, of which any bits are valid, so another
        // process that writes to the file can change values and nothing else. See `Input`.
        if is_large && let Ok(map) = unsafe { Mmap::map(&file) } {
            return Ok(Self::Mapped(map));
        }
        // Where a file cannot be mapped, there may be room to read it.
        let expected = if metadata.is_file() { metadata.len() } else { 0 };
        let mut bytes = reserve(usize::try_from(expected).unwrap_or(usize::MAX))?;
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

fn use_in_place(map: Mmap, spec: &Spec, options: &ReadOptions, rank: Rank) -> Result<Opened, Fault> {
    let (found, data) = locate(&map, spec, rank)?;
    let (raw, stored) = (found.raw, found.raw.stored);
    let wanted = |dtype: &DType| options.dtype.is_none_or(|wanted| wanted == *dtype);
    match raw.in_place(&map[data.clone()]).filter(wanted).filter(|_| found.is_arranged()) {
        Some(dtype) => {
            let storage = Storage::Mapped { map, data, dtype, layout: raw.layout };
            let input = Input { storage, empty: 0 };
            Ok((input, found.shape, Some(stored)))
        }
        None => {
            let rows = found.arrange(raw.decode(&mut &map[data])?)?;
            finish((rows, found.shape, Some(stored)), options)
        }
    }
}

/// Reads one matrix from the bytes of a file; `spec` tells the format, the member, and the name for errors.
///
/// ```
/// use tilewright_files::{ReadOptions, Spec, read_bytes};
/// let spec: Spec = "upload.csv".parse()?;
/// let m = read_bytes(&spec, b"1,2\n3,4\n", &ReadOptions::default())?;
/// assert_eq!(m.as_ref().get(1, 0), Some(tilewright_core::Value::Int(3)));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(spec: &Spec, bytes: &[u8], options: &ReadOptions) -> Result<DynMatrix, Error> {
    let read = || convert(decode(spec, bytes, options, Rank::Matrix)?.0, options);
    read().map_err(|fault| fault.at(spec.path()))
}

/// As [`read_stack`], from the bytes of a file; see [`read_bytes`].
///
/// # Errors
/// As [`read`].
pub fn read_stack_bytes(spec: &Spec, bytes: &[u8], options: &ReadOptions) -> Result<Stack, Error> {
    let read = || match spec.format() {
        Format::Csv => csv_file(&mut &*bytes, options),
        _ => finish(decode(spec, bytes, options, Rank::Any)?, options),
    };
    let (rows, shape, stored) = read().map_err(|fault| fault.at(spec.path()))?;
    Ok(Stack::new(rows, shape, stored))
}

fn decode(spec: &Spec, bytes: &[u8], options: &ReadOptions, rank: Rank) -> Result<Decoded, Fault> {
    match spec.format() {
        Format::Npz => npz::read(Cursor::new(bytes), spec.member(), rank),
        Format::Csv => csv::read(&mut &*bytes, options).map(|read| text(read.0)),
        Format::Mtx => mtx::read(&mut &*bytes, options).map(text),
        Format::Npy | Format::Safetensors => binary(bytes, spec, rank),
    }
}

fn binary(bytes: &[u8], spec: &Spec, rank: Rank) -> Result<Decoded, Fault> {
    let (found, data) = locate(bytes, spec, rank)?;
    let rows = found.arrange(found.raw.decode(&mut &bytes[data])?)?;
    Ok((rows, found.shape, Some(found.raw.stored)))
}

/// The array of a binary file and where its elements lie.
fn locate(bytes: &[u8], spec: &Spec, rank: Rank) -> Result<(Found, Range<usize>), Fault> {
    if spec.format() == Format::Safetensors {
        return safetensors::locate(bytes, spec.member(), rank);
    }
    let header = npy::Header::read(&mut &*bytes)?;
    let found = header.array(rank)?;
    npy::check_length(&found.raw, bytes.len() - header.end)?;
    Ok((found, header.end..bytes.len()))
}

fn convert(matrix: DynMatrix, options: &ReadOptions) -> Result<DynMatrix, Fault> {
    match options.dtype {
        Some(dtype) if dtype != matrix.dtype() => Ok(matrix.as_ref().convert(dtype, options.extremes)?),
        _ => Ok(matrix),
    }
}
