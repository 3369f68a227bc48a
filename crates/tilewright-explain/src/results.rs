//! What came out of a launch: its arrays, and whether they are what they should be.

use crate::{
    array::{Array, Comparison, Tolerance, Values, compare},
    case::unsupported,
    execute::Explained,
};
use serde::Serialize;
use tilewright_core::Error;

/// What is expected of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// What arrays should hold after the launch, by their names.
    pub arrays: Vec<Array>,
    /// How far an element may be from it.
    pub tolerance: Tolerance,
    /// Arrays whose elements are wanted.
    pub values: Vec<String>,
}

/// What came out of a launch. In JSON it has the keys `arrays` and `expected`, as far as they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// The elements of arrays that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<Values>,
    /// Arrays beside the expected ones.
    #[serde(rename = "expected", skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
}

impl Expected {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty() && self.values.is_empty()
    }

    /// Refuses, before anything runs, names that are none of `arrays` and arrays of other sizes.
    ///
    /// # Errors
    /// `unsupported` with the names that there are, or both sizes.
    pub fn check(&self, arrays: &[Array]) -> Result<(), Error> {
        for array in &self.arrays {
            compare(Array::find(arrays, &array.name)?, array, self.tolerance)?;
        }
        self.values.iter().try_for_each(|name| Array::find(arrays, name).map(drop))
    }

    /// What a launch gave, beside what is expected.
    ///
    /// # Errors
    /// As for [`Expected::check`]; `unsupported` where the launch failed, since its arrays hold nothing then.
    pub fn results(&self, explained: &Explained) -> Result<Results, Error> {
        let found = |name: &str| {
            let array = Array::find(&explained.arrays, name)?;
            if explained.is_clean {
                return Ok(array);
            }
            let what = format!("the array {name} after the launch");
            Err(unsupported(what, "the launch had errors", "mend what was found first"))
        };
        let values = self.values.iter().map(|name| found(name).map(Array::values));
        let comparisons = self.arrays.iter().map(|array| compare(found(&array.name)?, array, self.tolerance));
        Ok(Results {
            arrays: values.collect::<Result<_, _>>()?,
            comparisons: comparisons.collect::<Result<_, _>>()?,
        })
    }
}

impl Results {
    /// Whether every array is as expected.
    pub fn are_as_expected(&self) -> bool {
        self.comparisons.iter().all(Comparison::is_same)
    }
}
