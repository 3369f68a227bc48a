//! NumPy's `.npy`: a magic string, a version, a header that is a Python dictionary, and the elements.
//!
//! ```text
//! \x93NUMPY  major  minor  header length (2 bytes in version 1, 4 in versions 2 and 3)
//! {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   padded with spaces to a multiple of 64
//! ```

use super::{
    elements::{self, Endian, Raw, Stored, with_dtype},
    fault::{Fault, bad, excerpt},
    shape::{Found, Order, Rank},
};
use std::io::{ErrorKind::UnexpectedEof, Read, Write};
use tilewright_core::{DType, DynRef, Layout};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest that version 1 can have. Only structured types need more, and NumPy itself stops at 10,000.
const LONGEST_HEADER: u32 = u16::MAX as u32;

/// What the header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// The element type in NumPy's notation: `<f4`.
    pub descr: String,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
    /// Bytes of magic, version and header: where the elements start.
    pub end: usize,
}

impl Header {
    /// Reads the header and leaves `input` at the first element.
    pub fn read(input: &mut dyn Read) -> Result<Self, Fault> {
        let mut start = [0; 8];
        take(input, &mut start, "start")?;
        if &start[..6] != MAGIC {
            return Err(bad!(
                "not a .npy file: it starts with {}, not \\x93NUMPY",
                start[..6].escape_ascii()
            ));
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                take(input, &mut length, "header length")?;
                u32::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                take(input, &mut length, "header length")?;
                u32::from_le_bytes(length)
            }
            other => {
                return Err(bad!(".npy version {other}.{} is unknown; versions 1 to 3 are read", start[7]));
            }
        };
        if length > LONGEST_HEADER {
            return Err(bad!("a header of {length} bytes is beyond the {LONGEST_HEADER} that are read"));
        }
        let mut header = Vec::new();
        input.take(length.into()).read_to_end(&mut header)?;
        if header.len() < length as usize {
            return Err(bad!(
                "the file ends inside the header: {length} bytes promised, {} found",
                header.len()
            ));
        }
        // Versions 1 and 2 are Latin-1, version 3 is UTF-8. What we accept is ASCII, the same in both.
        let text = String::from_utf8_lossy(&header);
        let mut parsed = Parser { rest: &text, whole: text.len() }.dictionary()?;
        parsed.end = 8 + if start[6] == 1 { 2 } else { 4 } + header.len();
        Ok(parsed)
    }

    /// The array that follows the header.
    pub fn array(&self, rank: Rank) -> Result<Found, Fault> {
        let (stored, endian) = element_type(&self.descr)?;
        Found::new(stored, endian, &self.shape, if self.fortran_order { Order::F } else { Order::C }, rank)
    }
}

/// Checks that exactly the elements follow the header.
pub(super) fn check_length(raw: &Raw, found: usize) -> Result<(), Fault> {
    let Layout { rows, cols, .. } = raw.layout;
    match raw.bytes() {
        Some(needed) if needed == found => Ok(()),
        Some(needed) => {
            let what = if needed > found { "cut short" } else { "longer than its header says" };
            Err(bad!("the data is {what}: a {rows}x{cols} matrix takes {needed} bytes, {found} found"))
        }
        None => Err(bad!("a {rows}x{cols} matrix exceeds the address space")),
    }
}

fn take(input: &mut dyn Read, bytes: &mut [u8], what: &str) -> Result<(), Fault> {
    input.read_exact(bytes).map_err(|e| match e.kind() {
        UnexpectedEof => bad!("not a .npy file: it ends inside the {what}"),
        _ => e.into(),
    })
}

fn element_type(descr: &str) -> Result<(Stored, Endian), Fault> {
    let native = if cfg!(target_endian = "little") { Endian::Little } else { Endian::Big };
    let (endian, code) = match descr.as_bytes() {
        [b'<', ..] => (Some(Endian::Little), &descr[1..]),
        [b'>', ..] => (Some(Endian::Big), &descr[1..]),
        [b'=', ..] => (Some(native), &descr[1..]),
        [b'|', ..] => (None, &descr[1..]),
        _ => (Some(native), descr),
    };
    let stored = match code {
        // What ml_dtypes calls e5m2; e4m3 is but a byte.
        "f1" => Stored::E5m2,
        "f2" => Stored::F16,
        "f4" => Stored::F32,
        "f8" => Stored::F64,
        "i1" => Stored::I8,
        "i2" => Stored::I16,
        "i4" => Stored::I32,
        "i8" => Stored::I64,
        "u1" => Stored::U8,
        "u2" => Stored::U16,
        "u4" => Stored::U32,
        "u8" => Stored::U64,
        "b1" | "?" => Stored::Bool,
        _ => {
            let (kind, hint) = match code.chars().next() {
                Some('c') => ("complex numbers", "save the real and imaginary parts as two matrices"),
                Some('f') => ("a float of unusual width", "save it as float64"),
                Some('S' | 'U' | 'a') => ("text", "convert it to numbers first"),
                Some('O') => ("Python objects", "convert it to float64 first"),
                Some('M' | 'm') => ("dates or times", "convert it to int64 first"),
                Some('V') => (
                    "raw bytes",
                    "if it is bfloat16 or float8_e4m3fn, save it as .safetensors or convert it to float32",
                ),
                _ => ("unknown", "save it as float64"),
            };
            return Err(bad!("element type '{}' ({kind}) cannot be read", excerpt(descr)).hint(hint));
        }
    };
    match endian {
        Some(endian) => Ok((stored, endian)),
        None if stored.size() == 1 => Ok((stored, native)),
        None => Err(bad!("element type '{descr}' does not say its byte order")),
    }
}

/// A strict parser for the one kind of Python literal that `.npy` headers are.
struct Parser<'a> {
    rest: &'a str,
    whole: usize,
}

impl Parser<'_> {
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, the keys in any order.
    fn dictionary(mut self) -> Result<Header, Fault> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.accept('}') {
            let key = self.string()?;
            self.expect(':')?;
            let repeated = match key.as_str() {
                "descr" => descr.replace(self.descr()?).is_some(),
                "fortran_order" => fortran_order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.tuple()?).is_some(),
                _ => return Err(bad!("the header has an unknown key '{}'", excerpt(&key))),
            };
            if repeated {
                return Err(bad!("the header has the key '{key}' twice"));
            }
            if !self.accept(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest.trim_ascii().is_empty() {
            return Err(self.unexpected("the end"));
        }
        let missing = |key| bad!("the header lacks the key '{key}'");
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            end: 0,
        })
    }

    fn descr(&mut self) -> Result<String, Fault> {
        self.rest = self.rest.trim_ascii_start();
        if self.rest.starts_with(['[', '(']) {
            let fields = field_names(self.rest);
            return Err(bad!("elements are records with the fields {} and cannot be read", excerpt(&fields))
                .hint("save one field as an array of its own"));
        }
        self.string()
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.rest = self.rest.trim_ascii_start();
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return Err(self.unexpected("a string"));
        };
        match self.rest[1..].split_once(quote) {
            Some((text, rest)) if !text.contains('\\') => {
                self.rest = rest;
                Ok(text.to_string())
            }
            _ => Err(self.unexpected("a plain string")),
        }
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        self.rest = self.rest.trim_ascii_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    /// `()`, `(3,)` or `(3, 4)`; Python 2 wrote `3L`.
    fn tuple(&mut self) -> Result<Vec<usize>, Fault> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            self.rest = self.rest.trim_ascii_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            if number.is_empty() {
                return Err(self.unexpected("a size"));
            }
            let size =
                number.parse().map_err(|_| bad!("the size {} exceeds the address space", excerpt(number)))?;
            sizes.push(size);
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn accept(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), Fault> {
        if self.accept(c) { Ok(()) } else { Err(self.unexpected(&format!("'{c}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let at = self.whole - self.rest.len();
        match self.rest.trim_ascii() {
            "" => bad!("the header ends where {wanted} should follow"),
            rest => bad!("byte {at} of the header: {wanted} expected, '{}' found", excerpt(rest)),
        }
    }
}

/// The names in `[('x', '<f4'), ('y', '<f8')]`: the first string of each pair of brackets.
fn field_names(descr: &str) -> String {
    let list = descr.split_once("'fortran_order'").map_or(descr, |(list, _)| list);
    let after_bracket = list.split('(').skip(1);
    let names = after_bracket.filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest[1..].split(quote).next()
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Refuses the element type that NumPy has no name for.
pub(super) fn check_dtype(dtype: DType) -> Result<(), Fault> {
    match dtype {
        other @ (DType::Bf16 | DType::E4m3 | DType::E5m2) => {
            Err(bad!("NumPy has no {other}, so .npy cannot hold it")
                .hint("write .safetensors, or convert to f32"))
        }
        _ => with_dtype!(dtype, _T => Ok(())),
    }
}

/// Writes version 1.0, little-endian, in row-major order. The rows of `m` are those of an array of this shape.
pub(super) fn write(out: &mut dyn Write, m: DynRef<'_>, shape: &[usize]) -> Result<(), Fault> {
    check_dtype(m.dtype())?;
    let kind = match m.dtype() {
        DType::Bool => 'b',
        DType::U8 => 'u',
        dtype if dtype.is_float() => 'f',
        _ => 'i',
    };
    write_header(out, &format!("{kind}{}", m.dtype().size()), shape)?;
    with_dtype!(m.dtype(), T => Ok(elements::write_rows(out, elements::typed::<T>(m))?))
}

/// Writes what stands before the elements; `code` is their type without the byte order, such as `f4`.
pub(super) fn write_header(out: &mut dyn Write, code: &str, shape: &[usize]) -> Result<(), Fault> {
    let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    // A tuple of one has a comma behind it.
    let comma = if shape.len() == 1 { "," } else { "" };
    let order = if code.ends_with('1') { '|' } else { '<' };
    let mut header =
        format!("{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    // The length field counts the padding and the newline that ends the header.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| bad!("the header exceeds 65535 bytes"))?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    Ok(out.write_all(header.as_bytes())?)
}
