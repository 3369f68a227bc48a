//! A complete command for a kernel of which too little was said, to paste and change.

use super::{
    Request,
    structs::fields,
    tensor_map::{BYTES, is_tensor_map},
    types::CppType,
    value::{Parameter, hexadecimal_zeros},
};
use crate::array::Number;
use std::path::Path;
use tilewright_arch::Blocks;

/// What a size is where a kernel has one of them, and where it has several.
const LENGTH: u32 = 1024;
const SIDE: u32 = 64;
/// Threads of a block along x, and along both axes where the kernel has two.
const THREADS: u32 = 256;
const SQUARE: u32 = 16;
/// Sizes whose product is taken for the elements of an array.
const MOST_SIZES: usize = 3;

/// A tensor map over a matrix of two tiles by four, for `wgmma`.
const TENSOR_MAP: &str = "tensormap(box=[64,64],swizzle=128):bf16[128,256]:random";

/// What is known of the launch.
pub struct Known<'a> {
    pub path: &'a Path,
    pub parameters: &'a [Parameter],
    pub sources: &'a [&'a str],
    /// The text of the kernel in PTX.
    pub ptx: &'a str,
    /// Threads that the kernel was compiled for.
    pub block: Option<[u32; 3]>,
    pub request: &'a Request<'a>,
}

impl Known<'_> {
    /// `tilewright explain FILE --grid ... --block ... --arg ...`, with a guess for whatever is not given.
    pub fn command(&self) -> String {
        let sizes: Vec<&str> =
            self.parameters.iter().filter(|p| is_size(p)).map(|p| p.name.as_str()).collect();
        let is_plane = self.ptx.contains("%tid.y");
        let extent = |extent: [u32; 3]| match extent {
            [x, 1, 1] => x.to_string(),
            [x, y, 1] => format!("{x},{y}"),
            [x, y, z] => format!("{x},{y},{z}"),
        };
        let block = self.request.block.or(self.block);
        let guessed = block.unwrap_or(if is_plane { [SQUARE, SQUARE, 1] } else { [THREADS, 1, 1] });
        let side = if sizes.len() > 1 { SIDE } else { LENGTH };
        let across = |threads: u32| side.div_ceil(threads.max(1));
        let grid = self.request.grid.unwrap_or(match self.ptx {
            ptx if !ptx.contains("%ctaid") => [1; 3],
            _ if is_plane => [across(guessed[0]), across(guessed[1]), 1],
            _ => [across(guessed[0]), 1, 1],
        });
        let mut words = vec!["tilewright explain".to_owned(), quoted(&self.path.display().to_string())];
        words.extend(self.request.entry.iter().map(|entry| format!("--entry {}", quoted(entry))));
        words.push(format!("--grid {} --block {}", extent(grid), extent(guessed)));
        if self.request.blocks == Blocks::Cooperative || self.ptx.contains("%envreg2") {
            words.push("--cooperative".into());
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            let is_for = |name: &str| {
                name == parameter.name || name == parameter.ptx_name || name.parse() == Ok(index)
            };
            let given = self.request.arguments.iter().find(|(name, _)| is_for(name));
            let text = given.map_or_else(|| self.guess(parameter, &sizes, side), |(_, text)| text.clone());
            words.push(format!("--arg {}", quoted(&format!("{}={text}", parameter.name))));
        }
        let is_used = |name: &String| self.parameters.iter().all(|p| p.name != *name && p.ptx_name != *name);
        let others =
            self.request.arguments.iter().filter(|(name, _)| is_used(name) && name.parse::<usize>().is_err());
        words.extend(others.map(|(name, text)| format!("--arg {}", quoted(&format!("{name}={text}")))));
        words.join(" ")
    }

    fn guess(&self, parameter: &Parameter, sizes: &[&str], side: u32) -> String {
        match &parameter.cpp {
            Some(cpp) => self.guess_of(cpp, parameter.bytes, sizes, side),
            None if parameter.ty.is_float() => "1".into(),
            None if parameter.bytes == 8 => format!("f32[{}]:random", extent_of(sizes)),
            None if parameter.bytes < 8 => side.to_string(),
            None => format!("bytes:{}", hexadecimal_zeros(parameter.bytes)),
        }
    }

    fn guess_of(&self, cpp: &CppType, bytes: usize, sizes: &[&str], side: u32) -> String {
        match cpp {
            CppType::Named(name) if is_tensor_map(name) && bytes == BYTES => TENSOR_MAP.into(),
            CppType::Pointer(inner) => match &**inner {
                CppType::Element(element) => format!("{element}[{}]:random", extent_of(sizes)),
                CppType::Pointer(_) => format!("[{}]", self.guess_of(inner, 8, sizes, side)),
                CppType::Named(name) if is_tensor_map(name) => TENSOR_MAP.into(),
                CppType::Named(_) => format!("u8[{LENGTH}]"),
            },
            CppType::Element(element) if element.lanes() > 1 => {
                (1..=element.lanes()).map(|lane| lane.to_string()).collect::<Vec<_>>().join(",")
            }
            CppType::Element(element) if element.number() == Number::Bool => "true".into(),
            CppType::Element(element) if element.number().is_float() => "1".into(),
            CppType::Element(_) => side.to_string(),
            CppType::Named(name) => match fields(self.sources, name).filter(|(_, size)| *size == bytes) {
                Some((members, _)) => {
                    let member = |field: &super::structs::Field| {
                        let one = self.guess_of(&field.ty, field.size, &[], side);
                        let is_list = one.contains(',') && !one.contains('[') && !one.starts_with('{');
                        let one = if is_list { format!("{{{one}}}") } else { one };
                        let all = match field.count {
                            1 => one,
                            count => format!("{{{}}}", vec![one; count].join(",")),
                        };
                        format!("{}={all}", field.name)
                    };
                    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
                }
                None => format!("bytes:{}", hexadecimal_zeros(bytes)),
            },
        }
    }
}

/// Whether a parameter is a whole number.
fn is_size(parameter: &Parameter) -> bool {
    match &parameter.cpp {
        Some(CppType::Element(element)) => {
            let number = element.number();
            element.lanes() == 1 && !number.is_float() && number != Number::Bool
        }
        Some(_) => false,
        None => !parameter.ty.is_float() && parameter.bytes == 4,
    }
}

/// The elements of an array, by the sizes that the kernel is given.
fn extent_of(sizes: &[&str]) -> String {
    match sizes {
        [] => LENGTH.to_string(),
        [one] => (*one).to_owned(),
        [one, other] => format!("{one}*{other}"),
        more => {
            let largest = format!("max({})", more[..MOST_SIZES.min(more.len())].join(","));
            format!("{largest}*{largest}")
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ",.:=-_/+".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
