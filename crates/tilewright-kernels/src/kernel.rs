//! One kernel of the catalogue.

use crate::{launch::Recipe, refusal::Refusal, request::Request};
use core::fmt;
use tilewright_core::{DType, SemiringId};

/// A kernel: its source, what it is good for, and how to launch it.
pub struct Kernel {
    /// The name on the command line.
    pub name: &'static str,
    /// Where it belongs.
    pub family: Family,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What can be learned from it.
    pub teaches: &'static str,
    /// The name of its file.
    pub file: &'static str,
    /// The text of its file.
    pub source: &'static str,
    /// The semirings and element types it is compiled for.
    pub variants: &'static [Variant],
    pub(crate) recipe: fn(&'static Kernel, &Request) -> Result<Recipe, Refusal>,
}

/// The part of the catalogue a kernel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A step from the naive product to the production kernel.
    Ladder,
    /// A few lines that show one property of the hardware.
    Gallery,
    /// What products are computed with.
    Production,
}

impl Family {
    /// The lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::Gallery => "gallery",
            Self::Production => "production",
        }
    }
}

/// A semiring on an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The semiring.
    pub semiring: SemiringId,
    /// The element type of A and B.
    pub dtype: DType,
}

impl Variant {
    /// The pair.
    pub const fn new(semiring: SemiringId, dtype: DType) -> Self {
        Self { semiring, dtype }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.semiring, self.dtype)
    }
}

impl Kernel {
    /// The name of the entry that computes: the stem of the kernel's file.
    pub fn entry(&self) -> &'static str {
        self.file.trim_end_matches(".cu")
    }

    /// How this kernel computes the requested product.
    ///
    /// # Errors
    /// A [`Refusal`] that names the precondition that is not met.
    pub fn recipe(&'static self, request: &Request) -> Result<Recipe, Refusal> {
        if !self.variants.contains(&request.variant()) {
            let known = self.variants.iter().map(Variant::to_string).collect::<Vec<_>>().join(", ");
            return Err(Refusal {
                kernel: self.name,
                needs: format!("one of {known}"),
                found: format!("{} is asked for", request.variant()),
                hint: "choose another kernel, semiring or element type".into(),
            });
        }
        (self.recipe)(self, request)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
