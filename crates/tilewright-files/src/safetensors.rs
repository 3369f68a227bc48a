//! `.safetensors`: the length of a JSON header, the header, then the tensors, little-endian.

use super::{
    elements::{self, Endian, Stored, with_dtype},
    fault::{Fault, bad, excerpt},
    shape::{Found, Order, Rank, in_words},
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{cmp::Reverse, collections::BTreeMap, io::Write, ops::Range};
use tilewright_core::{DType, DynRef};

/// The name of the tensor that is written when none is given.
const DEFAULT_NAME: &str = "matrix";
/// What the header calls its own entry.
const METADATA: &str = "__metadata__";

/// Finds the named tensor, or the only matrix, and the bytes of its elements.
pub(super) fn locate(bytes: &[u8], member: Option<&str>, rank: Rank) -> Result<(Found, Range<usize>), Fault> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| bad!("not a .safetensors file: {e}"))?;
    let (name, tensor) = match member {
        Some(name) => match file.tensor(name) {
            Ok(tensor) => (name.to_string(), tensor),
            Err(_) => return Err(bad!("there is no tensor '{}'", excerpt(name)).hint(listing(&file))),
        },
        None => only_array(&file, rank)?,
    };
    let found =
        describe(&tensor, rank).map_err(|fault| fault.within(&format!("tensor '{}'", excerpt(&name))))?;
    // The data is a part of `bytes`; its place there is what can be kept beside a memory map.
    let start = tensor.data().as_ptr().addr() - bytes.as_ptr().addr();
    Ok((found, start..start + tensor.data().len()))
}

fn describe(tensor: &TensorView<'_>, rank: Rank) -> Result<Found, Fault> {
    let stored = match tensor.dtype() {
        Dtype::BOOL => Stored::Bool,
        Dtype::F16 => Stored::F16,
        Dtype::BF16 => Stored::Bf16,
        Dtype::F8_E4M3 => Stored::E4m3,
        Dtype::F8_E5M2 => Stored::E5m2,
        Dtype::F32 => Stored::F32,
        Dtype::F64 => Stored::F64,
        Dtype::I8 => Stored::I8,
        Dtype::I16 => Stored::I16,
        Dtype::I32 => Stored::I32,
        Dtype::I64 => Stored::I64,
        Dtype::U8 => Stored::U8,
        Dtype::U16 => Stored::U16,
        Dtype::U32 => Stored::U32,
        Dtype::U64 => Stored::U64,
        other => {
            return Err(
                bad!("element type {other} cannot be read").hint("convert the tensor to F16, BF16 or F32")
            );
        }
    };
    Found::new(stored, Endian::Little, tensor.shape(), Order::C, rank)
}

/// The only matrix, or the only array that is taken where there is no matrix.
fn only_array<'a>(file: &SafeTensors<'a>, rank: Rank) -> Result<(String, TensorView<'a>), Fault> {
    let of = |rank: Rank| file.tensors().into_iter().filter(move |(_, t)| rank.takes(t.shape().len()));
    let mut arrays: Vec<_> = of(Rank::Matrix).collect();
    if arrays.is_empty() {
        arrays = of(rank).collect();
    }
    match (arrays.pop(), arrays.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(bad!("the file holds no matrix").hint(listing(file))),
        (Some(_), false) => {
            Err(bad!("the file holds several matrices")
                .hint(format!("name one as FILE:NAME; {}", listing(file))))
        }
    }
}

fn listing(file: &SafeTensors<'_>) -> String {
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    super::listing(tensors.iter().map(|(name, tensor)| {
        let shape = tensor.shape().iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        format!("{} ({shape} {})", excerpt(name), tensor.dtype())
    }))
}

/// What stays of a file when one of its tensors is written anew.
#[derive(Default)]
pub(super) struct Kept<'a> {
    metadata: BTreeMap<String, String>,
    tensors: Vec<Entry<'a>>,
}

/// A tensor to write.
struct Entry<'a> {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: usize,
    /// Its bytes, or `None` for the matrix.
    data: Option<&'a [u8]>,
}

impl<'a> Kept<'a> {
    /// All of the file but the tensor `member`, in the order of the file.
    pub fn of(bytes: &'a [u8], member: &str) -> Result<Self, Fault> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| {
            bad!("the file is there, and its other tensors cannot be kept: not a .safetensors file: {e}")
                .hint("remove it, or leave out the name to replace it")
        })?;
        // The data ends with the file.
        let data = &bytes[bytes.len() - header.data_len()..];
        let names = header.offset_keys().into_iter().filter(|name| name != member);
        let tensors = names.filter_map(|name| {
            let info = header.info(&name)?;
            let data = &data[info.data_offsets.0..info.data_offsets.1];
            let (dtype, shape) = (info.dtype, info.shape.clone());
            Some(Entry { name, dtype, shape, bytes: data.len(), data: Some(data) })
        });
        let tensors = tensors.collect();
        Ok(Self { metadata: header.metadata().iter().flatten().map(owned).collect(), tensors })
    }
}

fn owned((key, value): (&String, &String)) -> (String, String) {
    (key.clone(), value.clone())
}

/// Writes a tensor beside those that are kept, all of them aligned so that readers can map them.
pub(super) fn write(
    out: &mut dyn Write,
    m: DynRef<'_>,
    shape: &[usize],
    member: Option<&str>,
    kept: Kept<'_>,
) -> Result<(), Fault> {
    let Kept { metadata, tensors: mut entries } = kept;
    entries.push(entry(m, shape, member.unwrap_or(DEFAULT_NAME))?);
    // The widest elements first: each tensor then begins at a multiple of its element's size.
    entries.sort_by_key(|entry| Reverse(entry.dtype.bitsize()));
    let mut header = header(&metadata, &entries);
    let padded = (8 + header.len()).next_multiple_of(64) - 8;
    header.extend(std::iter::repeat_n(' ', padded - header.len()));
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for entry in &entries {
        match entry.data {
            Some(data) => out.write_all(data)?,
            None => {
                with_dtype!(m.dtype(), T => Ok::<_, Fault>(elements::write_rows(out, elements::typed::<T>(m))?))?
            }
        }
    }
    Ok(())
}

fn entry(m: DynRef<'_>, shape: &[usize], name: &str) -> Result<Entry<'static>, Fault> {
    if name == METADATA {
        return Err(bad!("a tensor cannot be called {name}").hint("the format uses that name for itself"));
    }
    let dtype = match m.dtype() {
        DType::F16 => Dtype::F16,
        DType::Bf16 => Dtype::BF16,
        DType::E4m3 => Dtype::F8_E4M3,
        DType::E5m2 => Dtype::F8_E5M2,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U8 => Dtype::U8,
        DType::Bool => Dtype::BOOL,
        other => return Err(elements::unknown(other).into()),
    };
    let bytes = m.layout().len().and_then(|len| len.checked_mul(m.dtype().size()));
    let bytes = bytes.ok_or_else(|| bad!("{} elements exceed the address space", in_words(shape)))?;
    Ok(Entry { name: name.into(), dtype, shape: shape.to_vec(), bytes, data: None })
}

/// The JSON header of these tensors, in this order.
fn header(metadata: &BTreeMap<String, String>, entries: &[Entry<'_>]) -> String {
    let mut parts = Vec::new();
    if !metadata.is_empty() {
        let pairs = metadata.iter().map(|(k, v)| format!("\"{}\":\"{}\"", json_string(k), json_string(v)));
        parts.push(format!("\"{METADATA}\":{{{}}}", pairs.collect::<Vec<_>>().join(",")));
    }
    let mut start = 0;
    for Entry { name, dtype, shape, bytes, .. } in entries {
        let end = start + bytes;
        let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        parts.push(format!(
            "\"{}\":{{\"dtype\":\"{dtype}\",\"shape\":[{shape}],\"data_offsets\":[{start},{end}]}}",
            json_string(name)
        ));
        start = end;
    }
    format!("{{{}}}", parts.join(","))
}

fn json_string(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if c < ' ' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}
