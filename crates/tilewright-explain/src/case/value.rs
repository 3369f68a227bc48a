//! Values of parameters that are no arrays: numbers, vectors, bytes.

use super::{tensor_map::is_tensor_map, types::CppType, variables::Declared};
use crate::array::{ElementType, Number, Scalar, scalar, split};
use tilewright_emulator::ptx_isa::Type;

/// A parameter of an entry, or a variable of its module.
pub struct Parameter {
    /// In the source where that is known, in PTX otherwise.
    pub name: String,
    /// In PTX, which also serves.
    pub ptx_name: String,
    /// Its type, or that of its bytes.
    pub ty: Type,
    /// All of its bytes: more than the type's for a struct.
    pub bytes: usize,
    /// Its type in the source, where that is known.
    pub cpp: Option<CppType>,
    /// How the source declares it, for a variable.
    pub declared: Option<Declared>,
}

impl Parameter {
    pub fn describe(&self) -> String {
        if let Some(declared) = &self.declared {
            return declared.to_string();
        }
        match &self.cpp {
            Some(CppType::Named(name)) if is_tensor_map(name) => {
                "a tensor map, as in tensormap(box=[64,64],swizzle=128):ARRAY".into()
            }
            Some(cpp @ CppType::Named(_)) => format!("{cpp} of {} bytes", self.bytes),
            Some(CppType::Element(element)) if element.lanes() > 1 => {
                let example: Vec<String> = (1..=element.lanes()).map(|number| number.to_string()).collect();
                format!("{element}, as in {}", example.join(","))
            }
            Some(cpp) => cpp.to_string(),
            None if self.bytes == self.ty.bytes() as usize => self.ty.name().to_owned(),
            None => format!("a struct of {} bytes", self.bytes),
        }
    }

    /// What its numbers are, where it is a number or a vector.
    fn element(&self) -> Option<ElementType> {
        match &self.cpp {
            Some(CppType::Element(element)) if element.size() == self.bytes => Some(*element),
            _ => None,
        }
    }

    /// The bytes of a number, or of a vector such as `{1,2,3,4}`; `None` for a text that is neither.
    pub fn number(&self, text: &str) -> Option<Result<Vec<u8>, String>> {
        if let Some(element) = self.element().filter(|element| element.lanes() > 1) {
            let braces = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            // Without them, a list of numbers and nothing else.
            let are_numbers = || split(text).into_iter().all(|part| scalar(part.trim()).is_some());
            let list = braces.or_else(|| are_numbers().then_some(text))?;
            return Some(vector(element, list));
        }
        let value = scalar(text)?;
        Some(match (self.element(), value) {
            // What PTX has no numbers of.
            (Some(element), value) if element.size() <= 2 => number(element.number(), value),
            (_, Scalar::Integer(integer)) => self.integer(integer),
            (_, Scalar::Real(real)) => self.real(real),
        })
    }

    pub fn integer(&self, value: i128) -> Result<Vec<u8>, String> {
        if self.ty.is_float() {
            return self.real(value as f64);
        }
        if self.bytes > 8 {
            return Err("a struct cannot be given as a number".into());
        }
        let bits = 8 * self.bytes as u32;
        // Signs are not always declared: what fits either way is taken.
        if bits == 0 || value < -(1 << (bits - 1)) || value >= 1 << bits {
            return Err("the number does not fit".into());
        }
        Ok(value.to_le_bytes()[..self.bytes].to_vec())
    }

    fn real(&self, value: f64) -> Result<Vec<u8>, String> {
        match (self.bytes, self.ty.is_float() || self.ty.name().starts_with('b')) {
            (4, true) if value.is_finite() && (value as f32).is_infinite() => {
                Err("the number does not fit".into())
            }
            (4, true) => Ok((value as f32).to_le_bytes().to_vec()),
            (8, true) => Ok(value.to_le_bytes().to_vec()),
            _ => Err("the parameter is no floating-point number".into()),
        }
    }
}

/// The bytes of a number of this type.
pub fn number(number: Number, value: Scalar) -> Result<Vec<u8>, String> {
    // As for parameters, what fits with another sign is taken.
    let fits_unsigned =
        |least: i128| matches!(value, Scalar::Integer(integer) if integer < 0 && integer >= least);
    let wraps = !number.is_float() && fits_unsigned(-(1 << (8 * number.size() - 1)));
    if !number.holds(value) && !wraps {
        return Err(format!("{value} cannot be represented as {}", number.name()));
    }
    let mut bytes = vec![0; number.size()];
    number.write(value, &mut bytes);
    Ok(bytes)
}

/// The bytes of the numbers of a list.
pub fn vector(element: ElementType, list: &str) -> Result<Vec<u8>, String> {
    let parts = split(list);
    if parts.len() != element.lanes() {
        return Err(format!("{} numbers are given, {element} has {}", parts.len(), element.lanes()));
    }
    let bytes = parts.into_iter().map(|part| {
        let value = scalar(part.trim()).ok_or_else(|| format!("'{}' is no number", part.trim()))?;
        number(element.number(), value)
    });
    Ok(bytes.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Digits of so many bytes that are 0.
pub fn hexadecimal_zeros(bytes: usize) -> String {
    "00".repeat(bytes)
}

/// The bytes that `bytes:00ff` stands for.
pub fn hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|_| pair.len() == 2)?;
        u8::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes.ok_or_else(|| "bytes are pairs of hexadecimal digits".into())
}
