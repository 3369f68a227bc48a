//! What came out of a launch: its arrays, and whether they are what they should be.

use crate::{
    array::{Array, Comparison, Tolerance, Values, compare},
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

/// What came out of a launch. In JSON it has the keys `arrays`, `expected` and `not_compared`, as far as they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// The elements of arrays that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<Values>,
    /// Arrays beside the expected ones.
    #[serde(rename = "expected", skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    /// Arrays that were not compared: the launch had errors, or was ended before its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
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

    /// What a launch gave, beside what is expected. Arrays of one that failed hold nothing, and are not compared.
    ///
    /// # Errors
    /// As for [`Expected::check`].
    pub fn results(&self, explained: &Explained) -> Result<Results, Error> {
        if !explained.is_clean {
            let not_compared = self.arrays.iter().map(|array| array.name.clone()).collect();
            return Ok(Results { not_compared, ..Results::default() });
        }
        let found = |name: &str| Array::find(&explained.arrays, name);
        let values = self.values.iter().map(|name| found(name).map(Array::values));
        let comparisons = self.arrays.iter().map(|array| compare(found(&array.name)?, array, self.tolerance));
        Ok(Results {
            arrays: values.collect::<Result<_, _>>()?,
            comparisons: comparisons.collect::<Result<_, _>>()?,
            not_compared: Vec::new(),
        })
    }
}

impl Results {
    /// Arrays that are not as expected.
    pub fn wrong(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|comparison| !comparison.is_same())
    }
}
