//! What add and multiply mean, where that is chosen at run time.

use super::SemiringId;
use crate::{
    dtype::DType,
    error::{Error, ErrorKind},
    expressions::{DTYPES, Expressions},
    value::{Extremes, Value},
};

/// A semiring at run time: a built-in one, or one of the user's, held by an `O`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning<O> {
    /// One that has a name.
    BuiltIn(SemiringId),
    /// One of the user's. It has no [`SemiringId`].
    Own(O),
}

impl<O> Meaning<O> {
    /// Which built-in semiring it is.
    pub const fn built_in(&self) -> Option<SemiringId> {
        match self {
            Self::BuiltIn(id) => Some(*id),
            Self::Own(_) => None,
        }
    }

    /// The user's semiring.
    pub const fn own(&self) -> Option<&O> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Own(own) => Some(own),
        }
    }

    /// What the extreme integers of its matrices mean.
    pub fn extremes(&self) -> Extremes {
        self.built_in().map_or(Extremes::Refuse, SemiringId::extremes)
    }

    /// Whether `id` is what it is.
    pub fn is(&self, id: SemiringId) -> bool {
        self.built_in() == Some(id)
    }
}

/// A semiring by its name or by its text.
impl<O: AsRef<Expressions>> Meaning<O> {
    /// The name, or the text.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(id) => id.name(),
            Self::Own(own) => own.as_ref().text(),
        }
    }

    /// The element types it can be defined on. What a text says may exclude some of them: see [`Expressions::check`].
    pub const fn dtypes(&self) -> &'static [DType] {
        match self {
            Self::BuiltIn(id) => id.dtypes(),
            Self::Own(_) => DTYPES,
        }
    }

    /// The element type of the result for operands of type `dtype`; that of a text is theirs.
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`; for a text as [`Expressions::check`].
    pub fn output(&self, dtype: DType) -> Result<DType, Error> {
        match self {
            Self::BuiltIn(id) => id.output(dtype),
            Self::Own(own) => own.as_ref().check(dtype).map(|()| dtype),
        }
    }

    /// The type of the results: the one that is asked for, otherwise that of [`output`](Self::output).
    ///
    /// # Errors
    /// As [`output`](Self::output); `unsupported` where there are no such results.
    pub fn output_or(&self, dtype: DType, asked: Option<DType>) -> Result<DType, Error> {
        let own = self.output(dtype)?;
        match (self, asked) {
            (Self::BuiltIn(id), asked) => id.output_or(dtype, asked),
            (Self::Own(_), Some(asked)) if asked != own => Err(ErrorKind::Unsupported {
                what: format!("results of type {asked} of {} on {dtype}", self.name()),
                why: String::new(),
                hint: format!("they are {own}").into(),
            }
            .into()),
            _ => Ok(own),
        }
    }

    /// The identity of ⊕.
    pub fn zero(&self) -> Value {
        match self {
            Self::BuiltIn(id) => id.zero(),
            Self::Own(own) => Value::Float(own.as_ref().zero()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_text_is_no_built_in_semiring_and_has_types_of_its_own() -> Result<(), Error> {
        let text: Expressions = "add=fmaxf(x,y); mul=fminf(x,y); zero=-inf".parse()?;
        let own = Meaning::Own(Arc::new(text));
        assert!(own.built_in().is_none() && !own.is(SemiringId::PlusTimes));
        assert_eq!((own.dtypes(), own.zero()), (DTYPES, Value::Float(f64::NEG_INFINITY)));
        assert_eq!((own.output(DType::F32)?, own.name()), (DType::F32, own.own().map_or("", |o| o.text())));
        assert_eq!(own.output(DType::I8).unwrap_err().code(), "unsupported");
        assert_eq!(own.output_or(DType::F32, Some(DType::F32))?, DType::F32);
        assert_eq!(
            own.output_or(DType::F32, Some(DType::F64)).unwrap_err().hint(),
            Some("they are f32".to_owned())
        );
        let built_in = Meaning::<Arc<Expressions>>::BuiltIn(SemiringId::PlusTimes);
        assert_eq!((built_in.output(DType::I8)?, built_in.name()), (DType::I32, "plus-times"));
        Ok(())
    }
}
