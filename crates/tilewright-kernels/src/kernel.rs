//! One kernel of the catalogue.

use crate::{
    gallery::{Exhibit, Showing},
    ladder::Rung,
    launch::Recipe,
    refusal::Refusal,
    request::Request,
};
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
    pub(crate) make: Make,
}

/// What a kernel's recipe is made from.
pub(crate) enum Make {
    /// A product by one launch, described by data.
    Rung(Rung),
    /// A product by launches that depend on it in other ways.
    Product(fn(&'static Kernel, &Request) -> Result<Recipe, Refusal>),
    /// An exhibit's parameters.
    Exhibit(&'static Exhibit),
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
        match &self.make {
            Make::Rung(rung) => rung.recipe(self, request),
            Make::Product(recipe) => recipe(self, request),
            Make::Exhibit(_) => Err(Refusal {
                kernel: self.name,
                needs: "parameters of its own".into(),
                found: "a product is asked for".into(),
                hint: "kernels of the gallery are for `explain`".into(),
            }),
        }
    }

    /// The exhibit that this kernel of the gallery is; `None` for kernels that compute products.
    pub fn exhibit(&self) -> Option<&'static Exhibit> {
        match self.make {
            Make::Exhibit(exhibit) => Some(exhibit),
            Make::Rung(_) | Make::Product(_) => None,
        }
    }

    /// A launch of a kernel of the gallery, with some of its parameters chosen by name.
    ///
    /// ```
    /// let showing = tilewright_kernels::find("copy-offset")?.show(&[("n", 100), ("offset", 3)])?;
    /// assert_eq!((showing.input(), showing.output()), (103, 100));
    /// let input: Vec<f32> = (0..103).map(|i| i as f32).collect();
    /// assert_eq!(showing.expected(&input)[0], 3.0);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A [`Refusal`] for a parameter that is unknown or out of range, or for a kernel that computes products.
    pub fn show(&'static self, chosen: &[(&str, u32)]) -> Result<Showing, Refusal> {
        match self.make {
            Make::Exhibit(exhibit) => exhibit.show(self, chosen),
            Make::Rung(_) | Make::Product(_) => Err(Refusal {
                kernel: self.name,
                needs: "a product".into(),
                found: "parameters are given".into(),
                hint: "ask for its recipe".into(),
            }),
        }
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
