//! Arguments from the command line, for the parameters of an entry and the variables of its module.

mod members;

use super::{
    Argument, Link, check_repeated, tensor_map,
    texture::{Reading, TextureOver},
    types::CppType,
    unsupported,
    value::{Parameter, hexadecimal},
    variables,
};
use crate::array::{
    Array, Number,
    expression::{evaluate, names},
    split,
};
use members::Fault;
use tilewright_core::{Error, ErrorKind, Hint, Setting};

/// Arguments that name each other go no deeper.
const DEEPEST: usize = 16;

/// What arguments are for.
pub struct Launched<'a> {
    /// The parameters of the entry.
    pub parameters: &'a [Parameter],
    /// Variables in global and constant memory.
    pub variables: &'a [Parameter],
    /// Texts that may define the structs of parameters.
    pub sources: &'a [&'a str],
    /// By name.
    pub arguments: &'a [(String, String)],
    /// Reads the file that an argument names.
    pub load: &'a dyn Fn(&str) -> Result<Array, Error>,
}

/// What a launch is given.
#[derive(Debug, Default)]
pub struct Bound {
    pub arguments: Vec<Argument>,
    /// Those in structs.
    pub textures: Vec<TextureOver>,
    pub surfaces: Vec<usize>,
    pub arrays: Vec<Array>,
    pub links: Vec<Link>,
    /// Name in PTX and bytes of variables.
    pub symbols: Vec<(String, Vec<u8>)>,
    /// Name in PTX of every variable, and its array.
    pub variables: Vec<(String, usize)>,
}

/// Gives every parameter its argument, and variables theirs.
pub fn bind(launched: &Launched<'_>) -> Result<Bound, Error> {
    let mut binder = Binder { launched, bound: Bound::default(), named: Vec::new(), textures: 0 };
    for (index, parameter) in launched.parameters.iter().enumerate() {
        let Some((_, text)) = launched.arguments.iter().find(|(name, _)| launched.is_for(index, name)) else {
            let hint =
                Hint::from("give it with ").set_to(Setting::Argument, format!("{}=VALUE", parameter.name));
            let why = format!("the argument {} is missing", parameter.name);
            return Err(unsupported("this launch", why, hint.also(launched.takes())));
        };
        let argument = binder.argument(parameter, text)?;
        binder.bound.arguments.push(argument);
    }
    for variable in launched.variables {
        if let Some((_, text)) = launched.arguments.iter().find(|(name, _)| launched.names(variable, name)) {
            let bytes = binder.variable(variable, text)?;
            binder.bound.symbols.push((variable.ptx_name.clone(), bytes));
        }
    }
    // Behind the arrays of arguments, whose places are known.
    for variable in launched.variables.iter().filter(|variable| variables::is_array(variable)) {
        let mut array = variables::array(variable);
        let given = binder.bound.symbols.iter().find(|(name, _)| *name == variable.ptx_name);
        if let Some((_, bytes)) = given {
            array.bytes[..bytes.len()].copy_from_slice(bytes);
        }
        binder.bound.variables.push((variable.ptx_name.clone(), binder.bound.arrays.len()));
        binder.bound.arrays.push(array);
    }
    Ok(binder.bound)
}

impl Launched<'_> {
    fn is_for(&self, index: usize, name: &str) -> bool {
        let p = &self.parameters[index];
        p.name == name || p.ptx_name == name || name.parse() == Ok(index)
    }

    /// Whether a name is that of a variable and of no parameter.
    fn names(&self, variable: &Parameter, name: &str) -> bool {
        let is_variable = variable.name == name || variable.ptx_name == name;
        is_variable && !(0..self.parameters.len()).any(|index| self.is_for(index, name))
    }

    fn takes(&self) -> String {
        let list = |all: &[Parameter]| {
            all.iter().map(|p| format!("{} ({})", p.name, p.describe())).collect::<Vec<_>>().join(", ")
        };
        let variables = match self.variables {
            [] => String::new(),
            all => format!("; its variables are {}", list(all)),
        };
        match self.parameters {
            [] => format!("the kernel takes no arguments{variables}"),
            all => format!("the kernel takes {}{variables}", list(all)),
        }
    }

    /// The parameters that have no argument.
    pub fn missing(&self) -> Vec<&str> {
        let is_given = |index: usize| self.arguments.iter().any(|(name, _)| self.is_for(index, name));
        let missing = (0..self.parameters.len()).filter(|&index| !is_given(index));
        missing.map(|index| self.parameters[index].name.as_str()).collect()
    }

    /// Refuses arguments that are for nothing, and two for one thing; the names of those that are passed over.
    pub fn check(&self, shares_arguments: bool) -> Result<Vec<String>, Error> {
        let mut passed = Vec::new();
        for (name, _) in self.arguments {
            let is_parameter = (0..self.parameters.len()).any(|index| self.is_for(index, name));
            let is_variable = self.variables.iter().any(|variable| self.names(variable, name));
            // A size or an array that another argument speaks of.
            let is_used = || {
                self.arguments
                    .iter()
                    .any(|(other, text)| other != name && names(text).any(|word| word == name))
            };
            if !is_parameter && !is_variable && !is_used() {
                if shares_arguments {
                    passed.push(name.clone());
                    continue;
                }
                let why = "the kernel has no such parameter";
                return Err(unsupported(format!("the argument {name}"), why, self.takes()));
            }
        }
        // A parameter has up to three names.
        check_repeated(self.arguments, |name| {
            let parameter = (0..self.parameters.len()).find(|&index| self.is_for(index, name));
            let variable = || self.variables.iter().find(|variable| self.names(variable, name));
            parameter.map(|index| &self.parameters[index]).or_else(variable).map(|p| p.name.clone())
        })?;
        Ok(passed)
    }

    /// The value of an argument that is a whole number or an expression of such.
    fn size(&self, name: &str, depth: usize) -> Option<i128> {
        let (_, text) = self.arguments.iter().find(|(other, _)| other == name).filter(|_| depth < DEEPEST)?;
        evaluate(text, &|name| self.size(name, depth + 1)).ok()
    }
}

struct Binder<'a> {
    launched: &'a Launched<'a>,
    bound: Bound,
    /// Arrays by the names of their arguments.
    named: Vec<(String, usize)>,
    /// How many there are; each has its number as its handle.
    textures: u64,
}

impl Binder<'_> {
    fn argument(&mut self, parameter: &Parameter, text: &str) -> Result<Argument, Error> {
        let wrong = |why: String| wrong(parameter, text, why);
        if let Some(bytes) = parameter.number(text) {
            return Ok(Argument::bytes(bytes.map_err(wrong)?));
        }
        if let Some(bytes) = raw_bytes(text)? {
            let bytes = bytes.map_err(wrong)?;
            return match bytes.len() == parameter.bytes {
                true => Ok(Argument::bytes(bytes)),
                false => Err(wrong(format!("{} bytes are given, it has {}", bytes.len(), parameter.bytes))),
            };
        }
        if let Some(list) = in_braces(text) {
            return self.structure(parameter, list).map_err(|why| match why {
                Fault::Here(why) => wrong(why),
                Fault::Deeper(error) => error,
            });
        }
        let could_point = parameter.bytes == 8 && !parameter.ty.is_float();
        if let Some(reading) = Reading::of(text) {
            if !could_point || matches!(parameter.cpp, Some(CppType::Pointer(_))) {
                return Err(wrong("a texture is a parameter of type cudaTextureObject_t".into()));
            }
            let (reading, array) = reading.map_err(wrong)?;
            return self.texture(&parameter.name, reading, array)?.map(Argument::Texture).map_err(wrong);
        }
        if let Some(array) = text.strip_prefix("surface:") {
            let index = self.array(&parameter.name, array, None, 0)?;
            let array = &self.bound.arrays[index];
            return match could_point && (1..=3).contains(&array.shape.len()) && !array.bytes.is_empty() {
                true => {
                    self.bound.surfaces.push(index);
                    Ok(Argument::Pointer(index))
                }
                false => Err(wrong(
                    "a surface is a parameter of 8 bytes, over an array of one to three dimensions".into(),
                )),
            };
        }
        if let Some(map) = tensor_map::of(text) {
            let (map, array) = self.tensor_map(&parameter.name, map)?.map_err(wrong)?;
            return match parameter.bytes {
                tensor_map::BYTES => {
                    Ok(Argument::Bytes { bytes: map, pointers: vec![(tensor_map::ADDRESS, array)] })
                }
                _ if could_point => Ok(Argument::Pointer(self.in_memory(&parameter.name, map, array))),
                bytes => Err(wrong(format!("a tensor map has {} bytes, it has {bytes}", tensor_map::BYTES))),
            };
        }
        let pointee = match &parameter.cpp {
            Some(CppType::Pointer(inner)) => Some(&**inner),
            _ => None,
        };
        // A name of an array is no size.
        let size = if pointee.is_some() { None } else { self.expression(text).map_err(wrong)? };
        if let Some(value) = size {
            return parameter.integer(value).map(Argument::bytes).map_err(wrong);
        }
        let is_number = matches!(parameter.cpp, Some(CppType::Element(_))) && !self.is_array(text);
        if is_number && Array::parse(&parameter.name, text).is_none() {
            return Err(wrong("it is neither a number nor an expression of the other arguments".into()));
        }
        let index = self.array(&parameter.name, text, pointee, 0)?;
        if !could_point {
            return Err(wrong("the parameter is no pointer".into()));
        }
        Ok(Argument::Pointer(index))
    }

    /// A texture over the array that a text describes, or why there is none.
    fn texture(
        &mut self,
        name: &str,
        reading: Reading,
        text: &str,
    ) -> Result<Result<TextureOver, String>, Error> {
        let index = self.array(name, text, None, 0)?;
        self.textures += 1;
        Ok(reading.over(&self.bound.arrays[index], self.textures, index))
    }

    /// The bytes of a tensor map and the place of its array, or why there is none.
    fn tensor_map(
        &mut self,
        name: &str,
        (words, array): (&str, &str),
    ) -> Result<Result<(Vec<u8>, usize), String>, Error> {
        let array = self.array(name, array, None, 0)?;
        let known = |name: &str| self.launched.size(name, 0);
        let map = tensor_map::over(words, &self.bound.arrays[array], &known);
        Ok(map.map(|map| (map.encode().to_vec(), array)))
    }

    /// The place of an array that is a tensor map.
    fn in_memory(&mut self, name: &str, map: Vec<u8>, target: usize) -> usize {
        let array = self.bound.arrays.len();
        let zeros = Array::zeros(&format!("{name} (map)"), Number::U8, &[map.len()]);
        self.bound.arrays.push(Array { bytes: map, ..zeros });
        self.bound.links.push(Link { array, offset: tensor_map::ADDRESS, target });
        array
    }

    /// The value of an expression of whole numbers; `None` for a text that is none. One whose names are known and which has no value is a mistake.
    fn expression(&self, text: &str) -> Result<Option<i128>, String> {
        let known = |name: &str| self.launched.size(name, 0);
        match evaluate(text, &known) {
            Ok(value) => Ok(Some(value)),
            Err(why) => {
                let is_meant = names(text).next().is_some()
                    && names(text).all(|name| known(name).is_some())
                    && !text.contains('.');
                if is_meant { Err(why) } else { Ok(None) }
            }
        }
    }

    /// Whether a text is the name of another argument that is no size.
    fn is_array(&self, text: &str) -> bool {
        self.launched.arguments.iter().any(|(name, _)| name == text)
    }

    /// The place of the array that a text describes, that a file holds, or that another argument is; or of a list of addresses, `[a, f32[4]:ones]`.
    fn array(
        &mut self,
        name: &str,
        text: &str,
        pointee: Option<&CppType>,
        depth: usize,
    ) -> Result<usize, Error> {
        let wrong = |why: String, hint: &str| unsupported(format!("the argument {name}={text}"), why, hint);
        if depth > DEEPEST {
            return Err(wrong("arrays that name each other go too deep".into(), ""));
        }
        let other = self.launched.arguments.iter().find(|(other, _)| other == text && other != name);
        if let Some((other, text)) = other {
            let index =
                match self.launched.parameters.iter().find(|p| p.name == *other || p.ptx_name == *other) {
                    Some(parameter) => self.array(&parameter.name.clone(), text, pointee, depth + 1)?,
                    None => self.array(other, text, pointee, depth + 1)?,
                };
            return self.checked(index, text, pointee);
        }
        if let Some((_, index)) = self.named.iter().find(|(known, _)| known == name) {
            return Ok(*index);
        }
        if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return self.addresses(name, list, pointee, depth);
        }
        let array = match Array::parse_with(name, text, &|name| self.launched.size(name, 0)) {
            Some(array) => array?,
            None => {
                let array = Array { name: name.into(), ..(self.launched.load)(text)? };
                match pointee {
                    // Text remembers no type.
                    Some(CppType::Element(element)) if is_text(text) && element.lanes() == 1 => {
                        array.converted(element.number()).map_err(|why| wrong(why, ""))?
                    }
                    _ => array,
                }
            }
        };
        self.bound.arrays.push(array);
        let index = self.bound.arrays.len() - 1;
        self.named.push((name.into(), index));
        self.checked(index, text, pointee)
    }

    /// Refuses an array whose elements are not what a pointer points to.
    fn checked(&self, index: usize, text: &str, pointee: Option<&CppType>) -> Result<usize, Error> {
        let array = &self.bound.arrays[index];
        let Some(pointee) = pointee.filter(|pointee| !fits(array, pointee)) else { return Ok(index) };
        Err(unsupported(
            format!("the argument {}={text}", array.name),
            format!("its elements are {}, and the kernel's pointer is {pointee}*", array.element),
            format!("give elements of type {pointee}"),
        ))
    }

    fn addresses(
        &mut self,
        name: &str,
        list: &str,
        pointee: Option<&CppType>,
        depth: usize,
    ) -> Result<usize, Error> {
        let inner = match pointee {
            Some(CppType::Pointer(inner)) => Some(&**inner),
            _ => None,
        };
        let parts: Vec<&str> = split(list).into_iter().map(str::trim).collect();
        self.bound.arrays.push(Array::zeros(name, Number::U64, &[parts.len()]));
        let array = self.bound.arrays.len() - 1;
        self.named.push((name.into(), array));
        for (place, part) in parts.into_iter().enumerate() {
            let target = self.array(&format!("{name}[{place}]"), part, inner, depth + 1)?;
            self.bound.links.push(Link { array, offset: 8 * place, target });
        }
        Ok(array)
    }

    /// The bytes of a variable: all, or the first.
    fn variable(&mut self, variable: &Parameter, text: &str) -> Result<Vec<u8>, Error> {
        let wrong = |why: String| wrong(variable, text, why);
        if let Some(bytes) = variable.number(text) {
            return bytes.map_err(wrong);
        }
        let bytes = match raw_bytes(text)? {
            Some(bytes) => bytes.map_err(wrong)?,
            None => match self.expression(text).map_err(wrong)? {
                Some(value) => variable.integer(value).map_err(wrong)?,
                None => {
                    let array = Array::parse_with(&variable.name, text, &|name| self.launched.size(name, 0));
                    let array = array.unwrap_or_else(|| (self.launched.load)(text))?;
                    let element = variable.declared.as_ref().map(|declared| declared.element);
                    if let Some(element) = element.filter(|element| *element != array.element) {
                        let why =
                            format!("its elements are {}, and the variable has {element}", array.element);
                        return Err(wrong(why));
                    }
                    array.bytes
                }
            },
        };
        if bytes.len() > variable.bytes {
            return Err(wrong(format!("{} bytes are given, it has {}", bytes.len(), variable.bytes)));
        }
        Ok(bytes)
    }
}

fn in_braces(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

/// `bytes:00ff`, or the bytes of a .bin file; `None` for another text.
fn raw_bytes(text: &str) -> Result<Option<Result<Vec<u8>, String>>, Error> {
    if let Some(digits) = text.strip_prefix("bytes:") {
        return Ok(Some(hexadecimal(digits)));
    }
    if !text.ends_with(".bin") {
        return Ok(None);
    }
    let read =
        std::fs::read(text).map_err(|source| Error::from(ErrorKind::Io { path: text.into(), source }))?;
    Ok(Some(Ok(read)))
}

/// Whether a name is that of a file of text.
fn is_text(name: &str) -> bool {
    let extension = std::path::Path::new(name).extension();
    extension.is_some_and(|extension| {
        extension.eq_ignore_ascii_case("csv") || extension.eq_ignore_ascii_case("mtx")
    })
}

/// Whether a pointer to this type may point to an array: its numbers are of the same type, or are integers of the same width, or bytes, or addresses.
fn fits(array: &Array, pointee: &CppType) -> bool {
    let found = array.element.number();
    match pointee {
        CppType::Element(element) => {
            let wanted = element.number();
            let are_integers = !wanted.is_float() && !found.is_float();
            let are_bits = wanted == Number::U16 && found.size() == 2;
            let whole = array.bytes.len().is_multiple_of(element.size());
            wanted.size() == 1
                || (whole && (wanted == found || wanted.size() == found.size() && are_integers || are_bits))
        }
        CppType::Pointer(_) => array.element.size() == 8 && !found.is_float(),
        CppType::Named(_) => true,
    }
}

fn wrong(parameter: &Parameter, text: &str, why: String) -> Error {
    let hint = format!("{} is {}", parameter.name, parameter.describe());
    unsupported(format!("the argument {}={text}", parameter.name), why, hint)
}

#[cfg(test)]
mod tests;
