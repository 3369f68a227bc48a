//! Arrays in files. What comes through a pipe is read once, for both kernels of a comparison.

use crate::{args::Explain, failure::Failure, pipe};
use std::{cell::RefCell, collections::HashMap, path::Path};
use tilewright::{
    DType, DynRef, Error, ErrorKind, Layout,
    files::{self, Format, NumpyArray, ReadOptions, Spec, WriteOptions},
};
use tilewright_explain::{Array, ElementType, Number};

#[derive(Default)]
pub struct Arrays {
    from_pipes: RefCell<HashMap<String, Array>>,
}

impl Arrays {
    /// The array of a file, as a kernel sees it: row-major and packed.
    pub fn load(&self, name: &str) -> Result<Array, Error> {
        let known = self.from_pipes.borrow().get(name).cloned();
        if let Some(array) = known {
            return Ok(array);
        }
        let spec = Spec::parse(name)?;
        let from_pipe = pipe::is_pipe(spec.path());
        let array = read(&spec)?;
        if from_pipe {
            self.from_pipes.borrow_mut().insert(name.into(), array.clone());
        }
        Ok(array)
    }
}

/// The array of a file: of any type and dimension in NumPy's, a stack of matrices in others.
pub fn read(spec: &Spec) -> Result<Array, Error> {
    if matches!(spec.format(), Format::Npy | Format::Npz) {
        let NumpyArray { code, shape, bytes } = files::read_numpy(spec)?;
        let known = CODES.iter().find(|(known, _)| *known == code).map(|(_, element)| *element);
        let element = known.ok_or_else(|| bad(spec, format!("elements of type {code} are not known")))?;
        return Ok(Array { name: spec.to_string(), element, shape, bytes });
    }
    let stack = files::read_stack(spec, &ReadOptions::default())?;
    let array = Array::from_matrix(&spec.to_string(), stack.rows());
    Ok(Array { shape: stack.shape().into(), ..array })
}

/// Whether NumPy has the type of the elements and the file is one of its own.
fn is_numpy(spec: &Spec, array: &Array) -> bool {
    matches!(spec.format(), Format::Npy | Format::Npz)
        && ![Number::Bf16, Number::E4m3, Number::E5m2].map(Into::into).contains(&array.element)
}

/// The type as matrices have it.
fn dtype(spec: &Spec, array: &Array) -> Result<DType, Error> {
    array.element.dtype().ok_or_else(|| {
        let problem = format!("a {} file does not hold elements of type {}", spec.format(), array.element);
        ErrorKind::BadFile { path: spec.path().into(), problem, hint: Some("write .npy".into()) }.into()
    })
}

/// Refuses, before anything runs, what could not be written afterwards.
pub fn check_writable(spec: &Spec, array: &Array) -> Result<(), Error> {
    let dtype = if is_numpy(spec, array) { DType::F32 } else { dtype(spec, array)? };
    files::check_stack_writable(spec, dtype, array.shape.len())
}

/// Writes an array; what is there is replaced as a whole.
pub fn write(spec: &Spec, array: &Array) -> Result<(), Error> {
    if is_numpy(spec, array) {
        return files::write_numpy(spec, &numpy(array));
    }
    let dtype = dtype(spec, array)?;
    let layout = Layout::row_major(array.rows(), array.columns());
    let aligned = Aligned::of(&array.bytes);
    files::write_stack(
        spec,
        DynRef::new(aligned.bytes(), dtype, layout)?,
        &array.shape,
        &WriteOptions::default(),
    )
}

/// Bytes at an address that every type of element accepts.
struct Aligned(Vec<u64>, usize);

impl Aligned {
    fn of(bytes: &[u8]) -> Self {
        let word = |part: &[u8]| part.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Self(bytes.chunks(8).map(|part| u64::from_ne_bytes(word(part).to_le_bytes())).collect(), bytes.len())
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

/// NumPy's codes of the types of elements.
const CODES: [(&str, ElementType); 16] = [
    ("f2", ElementType::Number(Number::F16)),
    ("f4", ElementType::Number(Number::F32)),
    ("f8", ElementType::Number(Number::F64)),
    ("i1", ElementType::Number(Number::I8)),
    ("i2", ElementType::Number(Number::I16)),
    ("i4", ElementType::Number(Number::I32)),
    ("i8", ElementType::Number(Number::I64)),
    ("u1", ElementType::Number(Number::U8)),
    ("u2", ElementType::Number(Number::U16)),
    ("u4", ElementType::Number(Number::U32)),
    ("u8", ElementType::Number(Number::U64)),
    ("b1", ElementType::Number(Number::Bool)),
    ("?", ElementType::Number(Number::Bool)),
    ("V2", ElementType::Number(Number::Bf16)),
    ("c8", ElementType::Complex(Number::F32)),
    ("c16", ElementType::Complex(Number::F64)),
];

/// NumPy has no vectors: their components are a dimension more.
fn numpy(array: &Array) -> NumpyArray {
    let mut shape = array.shape.clone();
    let element = match array.element {
        ElementType::Vector(number, lanes) => {
            shape.push(lanes.into());
            number.into()
        }
        other => other,
    };
    let known = CODES.iter().find(|(_, known)| *known == element);
    let code = known.map_or(String::new(), |(code, _)| (*code).into());
    NumpyArray { code, shape, bytes: array.bytes.clone() }
}

fn bad(spec: &Spec, problem: String) -> Error {
    ErrorKind::BadFile { path: spec.path().into(), problem, hint: None }.into()
}

/// Refuses one pipe for two inputs.
pub fn check_pipes(args: &Explain) -> Result<(), Failure> {
    let given: Vec<&(String, String)> = args.arguments.iter().chain(&args.expected).collect();
    let specs: Vec<Option<Spec>> = given.iter().map(|(_, value)| Spec::parse(value).ok()).collect();
    let arrays = given.iter().zip(&specs);
    let arrays = arrays.map(|((name, _), spec)| (name.as_str(), spec.as_ref().map(Spec::path)));
    let kernels = [("the kernel", Some(args.kernel.as_path())), ("--compare", args.compare.as_deref())];
    let inputs: Vec<(&str, Option<&Path>)> = kernels.into_iter().chain(arrays).collect();
    pipe::check(&inputs)
}
