//! One kernel of the catalogue.

use crate::{
    estimate,
    gallery::{Exhibit, Showing},
    ladder::Rung,
    launch::Recipe,
    refusal::Refusal,
    request::Request,
    user_semiring::UserSemiring,
};
use core::fmt;
use tilewright_core::{DType, Joining, SemiringId};

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

/// A semiring on an element type, and which results it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The semiring.
    pub semiring: SemiringId,
    /// The element type of A and B.
    pub dtype: DType,
    /// A semiring of the user's, which takes the place of `semiring`.
    pub own: Option<UserSemiring>,
    /// The element type of C, where it is not the one that the semiring has by itself: see [`Variant::giving`].
    pub result: Option<DType>,
}

impl Variant {
    /// Every semiring that `simt` computes, on every element type that it is defined on, with all types of results. Log-plus is not among them: its kernel has `simt` compute
    /// plus-times between passes of its own.
    pub const ALL: &[Self] = &{
        let mut all = [Self::new(SemiringId::PlusTimes, DType::F32); COUNT];
        let (mut count, mut i) = (0, 0);
        while i < SemiringId::ALL.len() {
            let (semiring, mut j) = (SemiringId::ALL[i], 0);
            while j < computed(semiring).len() {
                let own = Self::new(semiring, computed(semiring)[j]);
                all[count] = own;
                count += 1;
                j += 1;
                let (others, mut other) = (semiring.other_outputs(own.dtype), 0);
                while other < others.len() {
                    all[count] = Self { result: Some(others[other]), ..own };
                    count += 1;
                    other += 1;
                }
            }
            i += 1;
        }
        all
    };

    /// The pair.
    pub const fn new(semiring: SemiringId, dtype: DType) -> Self {
        Self { semiring, dtype, own: None, result: None }
    }

    /// The same with results of type `output`.
    pub fn giving(self, output: DType) -> Self {
        let own = Self { result: None, ..self };
        Self { result: (output != own.output()).then_some(output), ..self }
    }

    /// The type that sums are computed in: f32 for floats of 16 and 32 bits, i32 for booleans and integers of up to 32.
    ///
    /// Selective semirings on f16 and bf16 have the bits of the reference nevertheless, which rounds every term: rounding keeps the
    /// order of terms, and rounding a sum to f32 beforehand changes nothing, since f32 has more than twice as many digits.
    pub const fn accumulator(self) -> DType {
        match self.dtype {
            DType::F64 | DType::I64 => self.dtype,
            dtype if dtype.is_float() => DType::F32,
            _ => DType::I32,
        }
    }

    /// The type of the elements of C; that of A and B where the semiring is not defined on it.
    pub fn output(self) -> DType {
        self.semiring.output_or(self.dtype, self.result).unwrap_or(self.dtype)
    }

    /// Whether the loops of other variants are those of this one: with `max` in place of `min` or the other way round, and on elements
    /// that are converted to its type.
    pub(crate) fn stands_for_others(self) -> bool {
        use SemiringId::{MaxMin, MaxTimes, MinPlus, OrAnd, PlusTimes};
        matches!(self.semiring, PlusTimes | MinPlus | MaxTimes | MaxMin | OrAnd)
            && (self.dtype == self.accumulator() || self.semiring == OrAnd)
    }

    /// Whether other variants are computed in the same words, but for the direction of a comparison.
    pub(crate) fn has_words_for_others(self) -> bool {
        use SemiringId::{MaxMin, MaxTimes, MinPlus, OrAnd};
        match self.semiring {
            MinPlus | MaxTimes => !matches!(self.dtype, DType::F64 | DType::I64),
            MaxMin => matches!(self.dtype, DType::F32 | DType::I32),
            OrAnd => true,
            _ => false,
        }
    }

    /// Whether other variants are narrowed in the same words, but for the conversion of elements.
    pub(crate) fn narrows_for_others(self) -> bool {
        self.semiring == SemiringId::MinPlus && self.dtype.is_float() && self.dtype == self.accumulator()
    }

    /// Whether elements are sums as they are: they have the type, and none of them stands for "absent".
    pub(crate) fn is_computed_as_it_is(self) -> bool {
        let has_absent = self.semiring.has_absent_integers() && !self.dtype.is_float();
        self.dtype == self.accumulator() && !has_absent
    }
}

/// The element types on which `simt` computes a semiring.
const fn computed(semiring: SemiringId) -> &'static [DType] {
    if matches!(semiring, SemiringId::LogPlus) { &[] } else { semiring.dtypes() }
}

/// How many variants there are.
const COUNT: usize = {
    let (mut count, mut i) = (0, 0);
    while i < SemiringId::ALL.len() {
        let (semiring, mut j) = (SemiringId::ALL[i], 0);
        while j < computed(semiring).len() {
            count += 1 + semiring.other_outputs(computed(semiring)[j]).len();
            j += 1;
        }
        i += 1;
    }
    count
};

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.own {
            Some(own) => write!(f, "{}.{}", own.name(), self.dtype)?,
            None => write!(f, "{}.{}", self.semiring, self.dtype)?,
        }
        self.result.map_or(Ok(()), |result| write!(f, "-{result}"))
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
        let estimated = |recipe: Recipe| match self.family {
            Family::Ladder => Recipe { seconds: estimate::of_ladder(self, request), ..recipe },
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
