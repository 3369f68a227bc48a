//! Arguments from the command line, for the parameters of an entry.

use super::{Argument, check_repeated, unsupported};
use crate::array::Array;
use tilewright_core::Error;
use tilewright_emulator::ptx_isa::Type;

/// A parameter of an entry.
pub struct Parameter {
    /// In the source where that is known, in PTX otherwise.
    pub name: String,
    /// In PTX, which also serves.
    pub ptx_name: String,
    /// Its type, or that of its bytes.
    pub ty: Type,
    /// All of its bytes: more than the type's for a struct.
    pub bytes: usize,
}

/// Gives every parameter its argument; arrays are added to `arrays`.
pub fn bind(
    parameters: &[Parameter],
    arguments: &[(String, String)],
    load: &dyn Fn(&str) -> Result<Array, Error>,
    arrays: &mut Vec<Array>,
) -> Result<Vec<Argument>, Error> {
    let list =
        || parameters.iter().map(|p| format!("{} ({})", p.name, p.describe())).collect::<Vec<_>>().join(", ");
    let takes =
        || format!("the kernel takes {}", if parameters.is_empty() { "no arguments".into() } else { list() });
    let is_for = |index: usize, name: &str| {
        let p = &parameters[index];
        p.name == name || p.ptx_name == name || name.parse() == Ok(index)
    };
    for (name, _) in arguments {
        if !(0..parameters.len()).any(|index| is_for(index, name)) {
            return Err(unsupported(
                format!("the argument {name}"),
                "the kernel has no such parameter",
                takes(),
            ));
        }
    }
    // A parameter has up to three names.
    check_repeated(arguments, |name| {
        parameters.iter().enumerate().find(|&(index, _)| is_for(index, name)).map(|(_, p)| p.name.clone())
    })?;
    let mut bound = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let Some((_, text)) = arguments.iter().find(|(name, _)| is_for(index, name)) else {
            let hint = format!("give the argument {}; {}", parameter.name, takes());
            return Err(unsupported(
                "this launch",
                format!("the argument {} is missing", parameter.name),
                hint,
            ));
        };
        bound.push(match parameter.number(text) {
            Some(bytes) => Argument::Bytes(bytes?),
            None => {
                let array = Array::given(&parameter.name, text, load)?;
                if parameter.bytes != 8 || parameter.ty.is_float() {
                    return Err(parameter.wrong(text, "the parameter is no pointer"));
                }
                arrays.push(array);
                Argument::Pointer(arrays.len() - 1)
            }
        });
    }
    Ok(bound)
}

impl Parameter {
    fn describe(&self) -> String {
        if self.bytes == self.ty.bytes() as usize {
            self.ty.name().to_owned()
        } else {
            format!("a struct of {} bytes", self.bytes)
        }
    }

    /// The bytes of a number; `None` for a text that is none.
    fn number(&self, text: &str) -> Option<Result<Vec<u8>, Error>> {
        if let Ok(integer) = text.parse::<i128>() {
            return Some(self.integer(text, integer));
        }
        Some(self.real(text, text.parse().ok()?))
    }

    fn integer(&self, text: &str, value: i128) -> Result<Vec<u8>, Error> {
        if self.ty.is_float() {
            return self.real(text, value as f64);
        }
        let bits = 8 * self.bytes as u32;
        if self.bytes > 8 {
            return Err(self.wrong(text, "a struct cannot be given as a number"));
        }
        // Signs are not always declared: what fits either way is taken.
        if value < -(1 << (bits - 1)) || value >= 1 << bits {
            return Err(self.wrong(text, "the number does not fit"));
        }
        Ok(value.to_le_bytes()[..self.bytes].to_vec())
    }

    fn real(&self, text: &str, value: f64) -> Result<Vec<u8>, Error> {
        match (self.bytes, self.ty.is_float() || self.ty.name().starts_with('b')) {
            (4, true) if value.is_finite() && (value as f32).is_infinite() => {
                Err(self.wrong(text, "the number does not fit"))
            }
            (4, true) => Ok((value as f32).to_le_bytes().to_vec()),
            (8, true) => Ok(value.to_le_bytes().to_vec()),
            _ => Err(self.wrong(text, "the parameter is no floating-point number")),
        }
    }

    fn wrong(&self, text: &str, why: &str) -> Error {
        let hint = format!("{} is {}", self.name, self.describe());
        unsupported(format!("the argument {}={text}", self.name), why, hint)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parameter(name: &str, ty: &str) -> Parameter {
        let ty = Type::parse(ty).unwrap();
        Parameter { name: name.into(), ptx_name: format!("k_param_{name}"), ty, bytes: ty.bytes() as usize }
    }

    fn try_bind(arguments: &[(&str, &str)]) -> Result<(Vec<Argument>, Vec<Array>), String> {
        let parameters = [parameter("p", "u64"), parameter("n", "u32"), parameter("x", "f32")];
        let arguments: Vec<_> = arguments.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let mut arrays = Vec::new();
        let load = |name: &str| Err(unsupported(name.to_owned(), "no files here", ""));
        bind(&parameters, &arguments, &load, &mut arrays).map(|b| (b, arrays)).map_err(|e| e.to_string())
    }

    #[test]
    fn names_indices_and_types() {
        let (bound, arrays) = try_bind(&[("p", "f32[8]:ones"), ("k_param_n", "-1"), ("2", "3")]).unwrap();
        assert_eq!(bound[0], Argument::Pointer(0));
        assert_eq!((arrays[0].name.as_str(), arrays[0].columns()), ("p", 8));
        assert_eq!(bound[1], Argument::Bytes(vec![255; 4]));
        assert_eq!(bound[2], Argument::Bytes(3.0_f32.to_le_bytes().to_vec()));
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, word) in [
            (vec![("p", "f32[8]"), ("n", "1")], "x is missing"),
            (vec![("q", "1")], "no such parameter"),
            (vec![("p", "f32[8]"), ("n", "4294967296"), ("x", "1")], "does not fit"),
            (vec![("p", "f32[8]"), ("n", "1.5"), ("x", "1")], "no floating-point"),
            (vec![("p", "f32[8]"), ("n", "f32[8]"), ("x", "1")], "no pointer"),
            (vec![("p", "a.npy"), ("n", "1"), ("x", "1")], "no files here"),
            (vec![("p", "f32[8]"), ("n", "1"), ("n", "2"), ("x", "1")], "n is given already, as n=1"),
            (vec![("p", "f32[8]"), ("n", "1"), ("x", "1"), ("k_param_n", "2")], "n is given already, as n=1"),
            (vec![("p", "f32[8]"), ("n", "1"), ("x", "1"), ("2", "2")], "x is given already, as x=1"),
            (vec![("p", "f32[8]"), ("n", "1"), ("x", "1e39")], "does not fit"),
        ] {
            let error = try_bind(&arguments).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
