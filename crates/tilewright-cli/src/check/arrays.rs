//! Arrays of files and texts, seen from the manifest.

use crate::explain::arrays;
use std::path::Path;
use tilewright::{Error, files::Spec};
use tilewright_explain::Array;

/// The array that a text describes, or that of the file that it names, seen from `directory`.
pub fn described(name: &str, text: &str, directory: &Path) -> Result<Array, Error> {
    Array::given(name, text, &|text| of_file(name, &directory.join(text)))
}

/// The array of a file.
pub fn of_file(name: &str, path: &Path) -> Result<Array, Error> {
    Ok(Array { name: name.into(), ..arrays::read(&Spec::parse(path)?)? })
}
