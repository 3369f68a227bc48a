//! The dot-separated opcode, split.

use crate::ptx_isa::{Modifier, Modifiers, Type};

/// `ld.global.v4.f32` in parts.
#[derive(Clone, Debug)]
pub struct Split<'a> {
    /// The whole.
    pub text: &'a str,
    /// `ld`.
    pub base: &'a str,
    /// Types in order.
    pub types: Vec<Type>,
    /// Everything else that is known.
    pub modifiers: Modifiers,
    /// The first part that is not.
    pub unknown: Option<&'a str>,
}

impl<'a> Split<'a> {
    /// Splits `text`.
    pub fn new(text: &'a str) -> Self {
        let mut parts = text.split('.');
        let mut split = Self {
            text,
            base: parts.next().unwrap_or_default(),
            types: Vec::new(),
            modifiers: Modifiers::default(),
            unknown: None,
        };
        for part in parts {
            if let Some(ty) = Type::parse(part) {
                split.types.push(ty);
            } else if let Some(modifier) = Modifier::parse(part) {
                split.modifiers.insert(modifier);
            } else {
                split.unknown = split.unknown.or(Some(part));
            }
        }
        split
    }

    /// Whether a modifier is there.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.has(modifier)
    }

    /// The type at `index`, or the last one written.
    pub fn ty(&self, index: usize) -> Option<Type> {
        self.types.get(index).or(self.types.last()).copied()
    }
}
