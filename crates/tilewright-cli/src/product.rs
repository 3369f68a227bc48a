//! One product over either kind of semiring.

use crate::{args::Meaning, failure::Failure};
use tilewright::{
    Activation, Backend, DType, DynMut, DynProduct, DynRef, Epilogue, Error, ExpressionProduct, Joining,
    Math, Options, Report, Scales, SemiringId, Value, Verification,
    plan::{Query, Results},
};

/// A product over a built-in semiring, or over one that is given by its text.
pub enum AnyProduct<'a> {
    BuiltIn(Box<DynProduct<'a>>),
    Own(ExpressionProduct<'a>),
}

/// Refuses an arithmetic that the semiring does not have on its elements, where their type is known.
pub fn check_math(math: Math, semiring: &Meaning, dtype: Option<DType>) -> Result<(), Failure> {
    let on_some = |id| DType::ALL.iter().any(|&dtype| math.is_for(id, dtype));
    let is_for = |id| dtype.map_or_else(|| on_some(id), |dtype| math.is_for(id, dtype));
    if semiring.built_in().map_or(math == Math::Full, is_for) {
        return Ok(());
    }
    let on = dtype.map(|dtype| format!(" on {dtype}")).unwrap_or_default();
    let what = format!("--math {math} with {}{on}", semiring.name());
    Err(Failure::usage(
        what,
        "plus-times alone has another arithmetic, tf32 on f32 and fast on floats of 8 bits: leave out --math",
    ))
}

/// Refuses a bias and an activation that the semiring does not have on its elements, where their type is known.
pub fn check_epilogue(
    semiring: &Meaning,
    (has_bias, activation): (bool, Activation),
    dtype: Option<DType>,
) -> Result<(), Failure> {
    let options = [("--bias", has_bias), ("--activation", activation != Activation::None)];
    let Some((option, _)) = options.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    if !semiring.is(SemiringId::PlusTimes) {
        let what = format!("{option} is not defined for {}", semiring.name());
        return Err(Failure::usage(what, "only plus-times on floats has it; leave it out"));
    }
    match dtype {
        Some(dtype) if !dtype.is_float() => {
            let what = format!("{option} is not defined for elements of type {dtype}");
            Err(Failure::usage(what, "multiply floats: --dtype f32"))
        }
        _ => Ok(()),
    }
}

/// Refuses scales of operands that the semiring does not have on its elements, where their type is known.
pub fn check_scales(semiring: &Meaning, given: Scales<()>, dtype: Option<DType>) -> Result<(), Failure> {
    let options = [("--scale-a", given.a), ("--scale-b", given.b)];
    let Some((option, _)) = options.into_iter().find(|(_, given)| given.is_some()) else { return Ok(()) };
    let of = match dtype {
        _ if !semiring.is(SemiringId::PlusTimes) => semiring.name().to_owned(),
        Some(dtype) if !dtype.is_float8() => format!("elements of type {dtype}"),
        _ => return Ok(()),
    };
    let what = format!("{option} is not defined for {of}");
    Err(Failure::usage(
        what,
        "only plus-times on e4m3 and e5m2 has scales: --dtype e4m3, or --alpha for one factor",
    ))
}

impl<'a> AnyProduct<'a> {
    /// Of A and B; with results of this type where one is asked for.
    pub fn new(
        semiring: &'a Meaning,
        (a, b): (DynRef<'a>, DynRef<'a>),
        joining: Joining<Value>,
        result: Option<DType>,
    ) -> Result<Self, Error> {
        let output = semiring.output_or(a.dtype(), result)?;
        Ok(match semiring {
            Meaning::BuiltIn(id) => {
                Self::BuiltIn(DynProduct::new(*id, a, b)?.giving(output)?.update(joining, None)?.into())
            }
            Meaning::Own(text) => {
                let product = ExpressionProduct::new(text, a, b)?;
                // A text has no factors.
                Self::Own(if joining.reads_c() { product.accumulate() } else { product })
            }
        })
    }

    /// Followed by a bias and an activation.
    pub fn epilogue(self, epilogue: Epilogue<DynRef<'a>>) -> Result<Self, Error> {
        match self {
            Self::BuiltIn(product) => Ok(Self::BuiltIn(product.epilogue(epilogue)?.into())),
            Self::Own(_) => {
                epilogue.check_absent("a semiring that is given by its text")?;
                Ok(self)
            }
        }
    }

    /// Of operands with scales.
    pub fn scales(self, scales: Scales<DynRef<'a>>) -> Result<Self, Error> {
        match self {
            Self::BuiltIn(product) => Ok(Self::BuiltIn(product.scales(scales)?.into())),
            Self::Own(_) => scales.check_absent("a semiring that is given by its text").map(|()| self),
        }
    }

    /// Computes the product into `c`.
    pub fn write_to(&self, c: DynMut<'_>, options: &Options<'a>) -> Result<Report, Error> {
        match self {
            Self::BuiltIn(product) => product.options(*options).write_to(c, None),
            Self::Own(product) => product.write_to(c, options),
        }
    }

    /// The same with another arithmetic.
    pub fn with_math(self, math: Math) -> Self {
        match self {
            Self::BuiltIn(product) => {
                Self::BuiltIn(product.options(Options { math, ..Options::default() }).into())
            }
            own @ Self::Own(_) => own,
        }
    }

    /// Compares a result with the definition.
    pub fn verify(&self, c: DynRef<'_>) -> Result<Verification, Error> {
        match self {
            Self::BuiltIn(product) => product.verify(c, None),
            Self::Own(product) => product.verify(c, None),
        }
    }

    /// What a plan needs to know.
    pub fn query(&self, results: Results) -> Result<Query, Error> {
        match self {
            Self::BuiltIn(product) => Ok(product.query()?.results(results)),
            Self::Own(product) => product.query(),
        }
    }

    /// The backend that would compute it, and why.
    pub fn backend(&self, options: &Options<'a>, results: Results) -> Result<(Backend, String), Error> {
        match self {
            Self::BuiltIn(product) => product.options(*options).backend(results),
            Self::Own(product) => product.backend(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_arithmetic_is_that_of_plus_times_on_some_types() {
        let (plus, min) = (Meaning::BuiltIn(SemiringId::PlusTimes), Meaning::BuiltIn(SemiringId::MinPlus));
        assert!(check_math(Math::Full, &min, Some(DType::F64)).is_ok());
        assert!(check_math(Math::Tf32, &plus, None).is_ok() && check_math(Math::Fast, &plus, None).is_ok());
        assert!(check_math(Math::Fast, &plus, Some(DType::E5m2)).is_ok());
        assert!(check_math(Math::Fast, &plus, Some(DType::F32)).is_err());
        assert!(check_math(Math::Tf32, &plus, Some(DType::F32)).is_ok());
        for (meaning, dtype) in [(&plus, Some(DType::F64)), (&min, Some(DType::F32)), (&min, None)] {
            assert!(check_math(Math::Tf32, meaning, dtype).is_err(), "{dtype:?}");
        }
    }
}
