//! Semirings by their text, with what kernels compute for them.

use std::{ops::Deref, str::FromStr, sync::OnceLock};
use tilewright::{
    DType, Error,
    expressions::{DTYPES, Expressions},
    kernels::UserSemiring,
};

/// Expressions of C. What kernels compute for them is made once for each element type.
pub struct Text {
    expressions: Expressions,
    own: [OnceLock<UserSemiring>; DTYPES.len()],
}

impl Text {
    /// What kernels compute on elements of a type.
    ///
    /// # Errors
    /// `unsupported` where the text breaks a law of semirings on this type, or has no such numbers.
    pub fn own(&self, dtype: DType) -> Result<UserSemiring, Error> {
        let kept = DTYPES.iter().position(|&known| known == dtype).map(|at| &self.own[at]);
        if let Some(own) = kept.and_then(OnceLock::get) {
            return Ok(*own);
        }
        let own = UserSemiring::of_expressions(&self.expressions, dtype)?;
        Ok(kept.map_or(own, |kept| *kept.get_or_init(|| own)))
    }
}

impl FromStr for Text {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self { expressions: text.parse()?, own: Default::default() })
    }
}

impl Deref for Text {
    type Target = Expressions;

    fn deref(&self) -> &Expressions {
        &self.expressions
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.expressions == other.expressions
    }
}
