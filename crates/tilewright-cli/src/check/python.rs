//! Expected results by a Python expression, where there is Python with NumPy.

use super::{arrays, expression::Bindings};
use crate::explain::arrays as files;
use std::process::{Command, Stdio};
use tilewright::files::Spec;
use tilewright_explain::Array;

/// Why there is no result.
pub enum Trouble {
    /// There is no Python, or it has no NumPy.
    Missing(String),
    /// The expression fails.
    Wrong(String),
}

/// Ends with this code where NumPy is missing.
const NO_NUMPY: i32 = 77;

const PROGRAM: &str = "\
import sys
try:
    import numpy as np
except ImportError:
    sys.exit(77)
names = {'np': np}
directory, out, expression, *values = sys.argv[1:]
for value in values:
    kind, name, text = value.split('=', 2)
    if kind == 'array':
        names[name] = np.load(directory + '/' + text)
    else:
        try:
            names[name] = int(text)
        except ValueError:
            names[name] = text
result = np.asarray(eval(expression, names))
np.save(out, np.ascontiguousarray(result))
";

/// The value of an expression of arrays and of values of the matrix, by their names; `np` is NumPy.
pub fn evaluate(expression: &str, arrays: &[Array], bindings: &Bindings) -> Result<Array, Trouble> {
    let wrong = |error: std::io::Error| Trouble::Wrong(error.to_string());
    let directory = tempfile::tempdir().map_err(wrong)?;
    let out = directory.path().join("result.npy");
    let mut command = Command::new(std::env::var_os("TILEWRIGHT_PYTHON").unwrap_or_else(|| "python3".into()));
    command.arg("-c").arg(PROGRAM).arg(directory.path()).arg(&out).arg(expression);
    for (name, value) in bindings {
        command.arg(format!("value={name}={value}"));
    }
    for (index, array) in arrays.iter().enumerate() {
        let file = format!("{index}.npy");
        // What NumPy has no type for has no name in the expression.
        if Spec::parse(directory.path().join(&file)).and_then(|spec| files::write(&spec, array)).is_err() {
            continue;
        }
        command.arg(format!("array={}={file}", array.name));
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|_| Trouble::Missing("there is no python3".into()))?;
    if output.status.code() == Some(NO_NUMPY) {
        return Err(Trouble::Missing("Python has no NumPy".into()));
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Trouble::Wrong(said.lines().last().unwrap_or("Python ended with an error").to_owned()));
    }
    arrays::of_file("result", &out).map_err(|error| Trouble::Wrong(error.to_string()))
}
