//! JSON on stdout.

use crate::failure::Failure;
use serde::Serialize;
use std::io::Write;

/// Prints one document.
pub fn print(document: &impl Serialize) -> Result<(), Failure> {
    let mut json = serde_json::to_string_pretty(document).map_err(std::io::Error::from)?;
    json.push('\n');
    Ok(std::io::stdout().lock().write_all(json.as_bytes())?)
}
