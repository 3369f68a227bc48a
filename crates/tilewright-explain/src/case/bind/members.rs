//! Structs as arguments: their members, in order or by name, and structs in them.

use super::{Binder, in_braces};
use crate::{
    array::{expression::evaluate, scalar, split},
    case::{
        Argument,
        structs::{Field, fields},
        tensor_map,
        texture::Reading,
        types::CppType,
        value::{Parameter, number, vector},
    },
};
use tilewright_core::Error;

impl Binder<'_> {
    /// The members of a struct, in order or by name.
    pub(super) fn structure(&mut self, parameter: &Parameter, list: &str) -> Result<Argument, Fault> {
        let members = match &parameter.cpp {
            Some(CppType::Named(name)) => {
                let known = fields(self.launched.sources, name);
                known.filter(|(_, size)| *size == parameter.bytes).map(|(members, _)| members)
            }
            _ => None,
        };
        let unknown = "its members are not known from the source: give bytes:HEX, or a .bin file";
        let members = members.ok_or_else(|| Fault::Here(unknown.into()))?;
        let mut filled = Filled { bytes: vec![0; parameter.bytes], pointers: Vec::new() };
        self.members((&parameter.name, 0), &members, list, &mut filled)?;
        let Filled { bytes, pointers } = filled;
        Ok(Argument::Bytes { bytes, pointers })
    }

    /// Gives the members of a struct, which is called `name` and begins at `start`, their values.
    fn members(
        &mut self,
        (name, start): (&str, usize),
        members: &[Field],
        list: &str,
        filled: &mut Filled,
    ) -> Result<(), Fault> {
        let values = assigned(members, &split(list))?;
        for (member, text) in members.iter().zip(values) {
            let (place, offset) = (format!("{name}.{}", member.name), start + member.offset);
            if let CppType::Pointer(inner) = &member.ty
                && member.count == 1
            {
                let index = self.array(&place, text, Some(inner), 0)?;
                filled.pointers.push((offset, index));
            } else if let Some(reading) = Reading::of(text).filter(|_| member.ty.is_handle()) {
                let (reading, array) = reading?;
                let texture = self.texture(&place, reading, array)??;
                filled.put(offset, &texture.handle.to_le_bytes());
                self.bound.textures.push(texture);
            } else if let Some(map) = tensor_map::of(text).filter(|_| member.size == tensor_map::BYTES) {
                let (map, array) = self.tensor_map(&place, map)??;
                filled.put(offset, &map);
                filled.pointers.push((offset + tensor_map::ADDRESS, array));
            } else if let CppType::Named(_) = member.ty {
                self.structs((&place, offset), member, text, filled)?;
            } else {
                let value = self.member(member, text).map_err(|why| format!("{}: {why}", member.name))?;
                filled.put(offset, &value);
            }
        }
        Ok(())
    }

    /// A member that is a struct, or an array of such.
    fn structs(
        &mut self,
        (place, offset): (&str, usize),
        member: &Field,
        text: &str,
        filled: &mut Filled,
    ) -> Result<(), Fault> {
        let wrong = || format!("{}: {} is a list of its members in braces", member.name, member.ty);
        let list = in_braces(text).ok_or_else(wrong)?;
        if member.count == 1 {
            return self.members((place, offset), &member.members, list, filled);
        }
        let parts = split(list);
        if parts.len() != member.count {
            let why = format!("{}: {} structs are given, it has {}", member.name, parts.len(), member.count);
            return Err(why.into());
        }
        for (index, part) in parts.into_iter().enumerate() {
            let list = in_braces(part.trim()).ok_or_else(wrong)?;
            let (place, offset) = (format!("{place}[{index}]"), offset + index * member.size);
            self.members((&place, offset), &member.members, list, filled)?;
        }
        Ok(())
    }

    /// The bytes of a member; a list for an array or a vector, a number for all elements of an array.
    fn member(&self, member: &Field, text: &str) -> Result<Vec<u8>, String> {
        let CppType::Element(element) = member.ty else { return Err("its type is not known".into()) };
        let one = |text: &str| match in_braces(text) {
            Some(list) => vector(element, list),
            None if element.lanes() > 1 => Err(format!("{element} is a list, as in {{1,2}}")),
            None => {
                let known = |name: &str| self.launched.size(name, 0);
                let value = scalar(text).map(Ok);
                let value =
                    value.unwrap_or_else(|| evaluate(text, &known).map(crate::array::Scalar::Integer))?;
                number(element.number(), value)
            }
        };
        if member.count == 1 {
            return one(text);
        }
        let parts = match in_braces(text) {
            Some(list) => split(list).into_iter().map(str::trim).collect(),
            None => vec![text; member.count],
        };
        if parts.len() != member.count {
            return Err(format!("{} elements are given, it has {}", parts.len(), member.count));
        }
        Ok(parts.into_iter().map(one).collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// What is known of a struct.
struct Filled {
    bytes: Vec<u8>,
    pointers: Vec<(usize, usize)>,
}

impl Filled {
    fn put(&mut self, offset: usize, value: &[u8]) {
        self.bytes[offset..][..value.len()].copy_from_slice(value);
    }
}

/// What is wrong with a struct, or with an array that it points to.
pub(super) enum Fault {
    Here(String),
    Deeper(Error),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Here(why)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Deeper(error)
    }
}

/// The text of each member: `{1, 2}` in order, `{b=2, a=1}` by name.
fn assigned<'a>(members: &[Field], parts: &[&'a str]) -> Result<Vec<&'a str>, String> {
    let has = || members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>().join(", ");
    if parts.len() != members.len() {
        return Err(format!("{} members are given, it has {}", parts.len(), has()));
    }
    let named: Option<Vec<(&str, &str)>> = parts
        .iter()
        .map(|part| part.split_once('=').map(|(name, text)| (name.trim(), text.trim())))
        .collect();
    let Some(named) = named else { return Ok(parts.iter().map(|part| part.trim()).collect()) };
    let of = |member: &Field| {
        let found = named.iter().find(|(name, _)| *name == member.name);
        found
            .map(|(_, text)| *text)
            .ok_or_else(|| format!("the member {} is missing; it has {}", member.name, has()))
    };
    members.iter().map(of).collect()
}
