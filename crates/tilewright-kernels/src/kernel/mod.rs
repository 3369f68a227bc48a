//! One kernel of the catalogue.

pub(crate) mod exhibit;
pub(crate) mod launch;
pub(crate) mod rung;

use crate::{
    estimate,
    program::{Program, Source},
    refusal::Refusal,
    request::Request,
    variant::Variant,
};
use core::fmt;
use exhibit::{Exhibit, Showing};
use launch::Recipe;
use rung::Rung;
use tilewright_core::Joining;

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

/// The kernels that multiply operands with scales.
const WITH_SCALES: [&str; 2] = ["wgmma", "mma"];

/// What a kernel's recipe is made from.
pub(crate) enum Make {
    /// A product by one launch, described by data.
    Rung(Rung),
    /// A product by launches that depend on it in other ways.
    Product(fn(&'static Kernel, &Request) -> Result<Recipe, Refusal>),
    /// An exhibit's parameters.
    Exhibit(&'static Exhibit),
    /// Best paths, which are no product: see [`crate::closure`] and [`crate::TreeRecipes`].
    Closure,
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

impl Kernel {
    /// The name of the entry that computes: the stem of the kernel's file.
    pub fn entry(&self) -> &'static str {
        self.file.trim_end_matches(".cu")
    }

    /// Its program with named integer constants. Exhibits know of no semiring.
    pub(crate) fn program(&self, variant: Variant, constants: &[(&str, u32)]) -> Program {
        let source = Source { file: self.file, text: self.source };
        match self.family {
            Family::Gallery => Program::of_elements(source, variant, constants),
            Family::Ladder | Family::Production => Program::of_numbers(source, variant, constants),
        }
    }

    /// How this kernel computes the requested product.
    ///
    /// # Errors
    /// A [`Refusal`] that names the precondition that is not met.
    pub fn recipe(&'static self, request: &Request) -> Result<Recipe, Refusal> {
        self.check(request.variant())?;
        if request.arg && self.family != Family::Production {
            let (needs, found) = ("no arg result".into(), "one is asked for".into());
            return Err(Refusal { kernel: self.name, needs, found, hint: "use simt".into() });
        }
        if request.own.is_some() && matches!(request.joining, Joining::Scale { .. }) {
            return Err(Refusal {
                kernel: self.name,
                needs: "a semiring with factors".into(),
                found: "a semiring of a user's has none".into(),
                hint: "leave out alpha and beta".into(),
            });
        }
        self.check_epilogue(request)?;
        self.check_scales(request)?;
        let estimated = |recipe: Recipe| match self.family {
            Family::Ladder => Recipe { seconds: estimate::of_ladder(self.name, request), ..recipe },
            Family::Production | Family::Gallery => recipe,
        };
        match &self.make {
            Make::Rung(rung) => rung.recipe(self, request).map(estimated),
            Make::Product(recipe) => recipe(self, request).map(estimated),
            Make::Exhibit(_) | Make::Closure => Err(Refusal {
                kernel: self.name,
                needs: "parameters of its own".into(),
                found: "a product is asked for".into(),
                hint: "kernels of the gallery are for `explain`".into(),
            }),
        }
    }

    /// Refuses a bias and an activation where the kernel has none.
    fn check_epilogue(&self, request: &Request) -> Result<(), Refusal> {
        let Variant { semiring, own, .. } = request.variant();
        let built_in = own.is_none().then_some(semiring);
        let is_defined = request.epilogue.check(built_in, "", request.variant().output()).is_ok();
        let (needs, hint) = match is_defined {
            true if request.epilogue.is_none() || self.family == Family::Production => return Ok(()),
            true => ("no bias and no activation", "use simt"),
            false => ("plus-times on floats for a bias or an activation", "leave both out"),
        };
        let found = format!("{} is asked for on {}", request.epilogue.name(), request.variant());
        Err(Refusal { kernel: self.name, needs: needs.into(), found, hint: hint.into() })
    }

    /// Refuses scales of operands where the kernel has none. Without terms they scale nothing.
    fn check_scales(&self, request: &Request) -> Result<(), Refusal> {
        let (Variant { semiring, own, dtype, .. }, scales) = (request.variant(), &request.scales);
        if scales.is_none() || request.problem.k() == 0 {
            return Ok(());
        }
        let is_defined = scales.check(own.is_none().then_some(semiring), "", dtype);
        let shapes = scales.of(&request.problem).map(drop);
        let (needs, found, hint) = match (is_defined, shapes) {
            (Err(_), _) => {
                ("plus-times on e4m3 or e5m2 for scales", request.variant().to_string(), "leave them out")
            }
            (_, Err(error)) => ("scales of one of four shapes", error.to_string(), "see `Granularity`"),
            _ if request.batch.count > 1 => (
                "one product where operands have scales",
                format!("{} products", request.batch.count),
                "compute one at a time",
            ),
            _ if WITH_SCALES.contains(&self.name) => return Ok(()),
            _ => ("operands without scales", format!("{} are asked for", scales.name()), "use wgmma or mma"),
        };
        Err(Refusal { kernel: self.name, needs: needs.into(), found, hint: hint.into() })
    }

    /// Whether it computes a semiring on a type: one of its [`Kernel::variants`], and one that a user brings if it computes all that there are.
    pub fn computes(&self, variant: Variant) -> bool {
        match variant.own {
            Some(own) => {
                self.variants == Variant::ALL && own.dtype() == variant.dtype && variant.result.is_none()
            }
            None => self.variants.contains(&variant),
        }
    }

    /// Refuses a variant that the kernel does not compute.
    pub(crate) fn check(&self, variant: Variant) -> Result<(), Refusal> {
        if self.computes(variant) {
            return Ok(());
        }
        let known = self.variants.iter().map(Variant::to_string).collect::<Vec<_>>().join(", ");
        Err(Refusal {
            kernel: self.name,
            needs: format!("one of {known}"),
            found: format!("{variant} is asked for"),
            hint: "choose another kernel, semiring or element type".into(),
        })
    }

    /// The exhibit that this kernel of the gallery is; `None` for kernels that compute products.
    pub fn exhibit(&self) -> Option<&'static Exhibit> {
        match self.make {
            Make::Exhibit(exhibit) => Some(exhibit),
            Make::Rung(_) | Make::Product(_) | Make::Closure => None,
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
            Make::Rung(_) | Make::Product(_) | Make::Closure => Err(Refusal {
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
