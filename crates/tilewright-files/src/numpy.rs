//! Arrays of NumPy as they are: every type of numbers, and any dimension. Matrices of the library are read by [`super::read_stack`].

use super::{
    Format, Spec,
    fault::{Fault, bad, excerpt},
    input::Contents,
    npy, npz, output,
    shape::in_words,
};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Write},
};
use tilewright_core::Error;

/// An array of a `.npy` file, or of a member of a `.npz` file.
///
/// ```
/// use tilewright_files::{NumpyArray, Spec, read_numpy, write_numpy};
/// # let directory = tempfile::tempdir().unwrap();
/// let spec = Spec::parse(directory.path().join("levels.npy"))?;
/// let levels = NumpyArray { code: "u1".into(), shape: vec![2, 1, 2], bytes: vec![0, 127, 128, 255] };
/// write_numpy(&spec, &levels)?;
/// assert_eq!(read_numpy(&spec)?, levels);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyArray {
    /// The type of the elements, without the order of their bytes: `f4`, `u1`, `c8`, `b1`. Raw bytes, `V2` for one, are what `ml_dtypes` stores bf16 as.
    pub code: String,
    /// The extents; none for a single number.
    pub shape: Vec<usize>,
    /// The elements, little-endian, the last index running fastest.
    pub bytes: Vec<u8>,
}

/// Reads an array of any type of numbers.
///
/// # Errors
/// As [`super::read`]; `bad-file` for a file of another format, and for elements that are no numbers.
pub fn read_numpy(spec: &Spec) -> Result<NumpyArray, Error> {
    let read = || {
        let file = File::open(spec.path())?;
        match spec.format() {
            Format::Npy => decode(Contents::of(file)?.bytes()),
            Format::Npz => decode(&npz::extract(BufReader::new(file), spec.member())?),
            other => Err(bad!("a {other} file is none of NumPy's")),
        }
    };
    read().map_err(|fault: Fault| fault.at(spec.path()))
}

/// Writes an array: the file is replaced as a whole or not at all; a named member of an archive takes its place beside the others.
///
/// # Errors
/// As [`super::write()`]; `bad-file` for a file of another format, and for another number of bytes than the shape says.
pub fn write_numpy(spec: &Spec, array: &NumpyArray) -> Result<(), Error> {
    let write = || {
        let (size, _) = sizes(&array.code)?;
        if count_bytes(&array.shape, size)? != array.bytes.len() {
            let shape = in_words(&array.shape);
            return Err(bad!("{} bytes are no array {shape} of {}", array.bytes.len(), array.code));
        }
        let encode = |out: &mut dyn Write| {
            npy::write_header(out, &array.code, &array.shape)?;
            Ok(out.write_all(&array.bytes)?)
        };
        let _lock = output::lock(spec)?;
        let old = output::old(spec)?;
        output::replace(spec.path(), |file| {
            let mut out = BufWriter::new(file);
            match spec.format() {
                Format::Npy => encode(&mut out)?,
                Format::Npz => {
                    let member =
                        npz::NewMember { name: spec.member(), bytes: array.bytes.len(), write: &encode };
                    let kept = old.as_ref().zip(spec.member());
                    let kept = kept.map(|(old, name)| npz::Kept::of(old.bytes(), name)).transpose()?;
                    npz::write_member(&mut out, &member, kept)?;
                }
                other => return Err(bad!("a {other} file is none of NumPy's")),
            }
            // Dropping the buffer would swallow the error of a full disk.
            Ok(out.flush()?)
        })
    };
    write().map_err(|fault: Fault| fault.at(spec.path()))
}

fn decode(file: &[u8]) -> Result<NumpyArray, Fault> {
    let header = npy::Header::read(&mut &*file)?;
    let (order, code) = match header.descr.split_at_checked(1) {
        Some((order @ ("<" | ">" | "=" | "|"), code)) => (order, code),
        _ => ("=", header.descr.as_str()),
    };
    let (size, part) = sizes(code)?;
    let (wanted, elements) = (count_bytes(&header.shape, size)?, &file[header.end..]);
    if wanted != elements.len() {
        let what = if wanted > elements.len() { "cut short" } else { "longer than its header says" };
        return Err(bad!("the data is {what}: the array takes {wanted} bytes, {} found", elements.len()));
    }
    let mut bytes =
        if header.fortran_order { reordered(elements, &header.shape, size) } else { elements.to_vec() };
    if order == ">" || (order == "=" && cfg!(target_endian = "big")) {
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    Ok(NumpyArray { code: code.into(), shape: header.shape, bytes })
}

/// Bytes of an element, and of each number in it.
fn sizes(code: &str) -> Result<(usize, usize), Fault> {
    match code {
        "b1" | "?" | "i1" | "u1" => Ok((1, 1)),
        "f2" | "i2" | "u2" | "V2" => Ok((2, 2)),
        "f4" | "i4" | "u4" => Ok((4, 4)),
        "f8" | "i8" | "u8" => Ok((8, 8)),
        "c8" => Ok((8, 4)),
        "c16" => Ok((16, 8)),
        _ => Err(bad!("elements of type '{}' are no numbers that are known", excerpt(code))
            .hint("save them as float32 or as an integer type")),
    }
}

fn count_bytes(shape: &[usize], size: usize) -> Result<usize, Fault> {
    let bytes = shape.iter().try_fold(size, |all, &extent| all.checked_mul(extent));
    bytes.ok_or_else(|| bad!("an array of {} elements exceeds the address space", in_words(shape)))
}

/// From an order in which the first index runs fastest to one in which the last does.
fn reordered(elements: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(elements.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..elements.len() / size {
        let at = index.iter().zip(shape).rev().fold(0, |at, (&i, &extent)| at * extent + i);
        out.extend_from_slice(&elements[at * size..][..size]);
        for (i, &extent) in index.iter_mut().zip(shape).rev() {
            *i = (*i + 1) % extent;
            if *i > 0 {
                break;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
    }

    #[test]
    fn either_order_of_bytes_and_of_indices() {
        let array = decode(&file(">u2", "False", "(2,)", &[1, 2, 3, 4])).unwrap();
        assert_eq!((array.code.as_str(), array.bytes.as_slice()), ("u2", &[2, 1, 4, 3][..]));
        let swapped = decode(&file(">c8", "False", "()", &[1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
        assert_eq!((swapped.shape.len(), swapped.bytes.as_slice()), (0, &[4, 3, 2, 1, 8, 7, 6, 5][..]));
        let elements: Vec<u8> = (0..12).collect();
        let array = decode(&file("|i1", "True", "(2, 3, 2)", &elements)).unwrap();
        assert_eq!(array.bytes, [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
    }

    #[test]
    fn faults_are_named() {
        for (file, words) in [
            (file("<U3", "False", "(1,)", &[0; 12]), "'U3' are no numbers"),
            (file("<f4", "False", "(2,)", &[0; 4]), "cut short"),
            (file("<f4", "False", "(0,)", &[0; 4]), "longer than"),
            (file("<f8", "False", "(99999999999, 99999999999)", &[]), "address space"),
            (b"text".to_vec(), "not a .npy file"),
        ] {
            let error = format!("{:?}", decode(&file).unwrap_err());
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn members_of_archives_stay() {
        let directory = tempfile::tempdir().unwrap();
        let spec = |name: &str| Spec::parse(directory.path().join(name)).unwrap();
        let one = NumpyArray { code: "u4".into(), shape: vec![2], bytes: (0..8).collect() };
        let other = NumpyArray { code: "c16".into(), shape: vec![1, 1, 1], bytes: vec![7; 16] };
        write_numpy(&spec("a.npz:one"), &one).unwrap();
        write_numpy(&spec("a.npz:other"), &other).unwrap();
        assert_eq!(read_numpy(&spec("a.npz:one")).unwrap(), one);
        assert_eq!(read_numpy(&spec("a.npz:other")).unwrap(), other);
        assert!(read_numpy(&spec("a.npz")).unwrap_err().hint().unwrap().contains("FILE:NAME"));
        assert!(write_numpy(&spec("a.csv"), &one).unwrap_err().to_string().contains("NumPy"));
        let short = NumpyArray { shape: vec![3], ..one };
        assert!(write_numpy(&spec("b.npy"), &short).unwrap_err().to_string().contains("8 bytes"));
        assert!(!directory.path().join("b.npy").exists());
    }
}
