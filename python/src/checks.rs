//! What `tilewright.matmul` refuses about its arrays and options.

use crate::{
    array::Array,
    dtype::python_name,
    errors::{OrRaise, refuse},
    semiring::Over,
};
use pyo3::prelude::*;
use tilewright::{
    DType, Epilogue, Math, Scales,
    stack::{Shapes, is_without_overlap},
};

/// Refuses an arithmetic that the semiring does not have on these elements.
pub fn check_math(py: Python<'_>, over: &Over, math: Math, dtype: DType) -> PyResult<()> {
    let is_for_it = match over {
        Over::BuiltIn(id) => math.is_for(*id, dtype),
        Over::Text(_) | Over::Functions(_) => math == Math::Full,
    };
    if is_for_it {
        return Ok(());
    }
    let what = format!("the arithmetic {math} on {dtype} and this semiring");
    refuse(
        py,
        "unsupported",
        &what,
        "leave out `math`: plus-times alone has others, tf32 on float32 and fast on floats of 8 bits",
    )
}

/// Refuses a bias and an activation that the semiring does not have on these elements.
pub fn check_epilogue(py: Python<'_>, over: &Over, asked: Epilogue<()>, output: DType) -> PyResult<()> {
    match over {
        Over::BuiltIn(id) => asked.check(Some(*id), id.name(), output).or_raise(py),
        Over::Text(_) | Over::Functions(_) => {
            asked.check(None, "a semiring of your own", output).or_raise(py)
        }
    }
}

/// Refuses a bias that is no vector with an element for each column of the result, of its type.
pub fn check_bias(py: Python<'_>, bias: &Array, shapes: &Shapes, output: DType) -> PyResult<()> {
    if bias.dtype != output {
        let (found, expected) = (python_name(bias.dtype), python_name(output));
        let message = format!("bias has element type {found}, but the result has {expected}");
        return refuse(py, "dtype-mismatch", &message, "give a vector of that type");
    }
    if bias.shape != [shapes.n] {
        let message = format!("bias has shape {:?}, but the result has {} columns", bias.shape, shapes.n);
        return refuse(py, "result-mismatch", &message, "give a vector with an element for each column");
    }
    Ok(())
}

/// Refuses scales of operands where there are none: outside of plus-times on floats of 8 bits, and beside winning terms.
pub fn check_scales(py: Python<'_>, over: &Over, asked: Scales<()>, dtype: DType, arg: bool) -> PyResult<()> {
    let checked = match over {
        Over::BuiltIn(id) => asked.check(Some(*id), id.name(), dtype),
        Over::Text(_) | Over::Functions(_) => asked.check(None, "a semiring of your own", dtype),
    };
    let beside = if arg { asked.check_absent("an arg result") } else { Ok(()) };
    checked.and(beside).or_raise(py)
}

/// A scale is a float32 number, or a matrix of them.
pub fn check_scale(py: Python<'_>, what: &str, scale: &Array) -> PyResult<()> {
    if scale.dtype != DType::F32 {
        let message = format!("{what} has element type {}, but scales are float32", python_name(scale.dtype));
        return refuse(py, "dtype-mismatch", &message, "convert it: astype('float32')");
    }
    let is_number = scale.shape.iter().all(|&extent| extent == 1);
    if scale.shape.len() != 2 && !is_number {
        let message = format!("{what} has shape {:?}, but scales are a number or a matrix", scale.shape);
        return refuse(
            py,
            "result-mismatch",
            &message,
            "give one for each row as a matrix of one column: scale[:, None]",
        );
    }
    Ok(())
}

/// Refuses an array that the result cannot be written to.
pub fn check_target(py: Python<'_>, out: &Array, shapes: &Shapes, outputs: &[DType]) -> PyResult<()> {
    if out.is_read_only {
        return refuse(py, "read-only", "out is read-only", "give an array that can be written to");
    }
    if !outputs.contains(&out.dtype) {
        let (found, expected) = (python_name(out.dtype), python_name(outputs[0]));
        let message = format!("out has element type {found}, but the result has {expected}");
        return refuse(py, "dtype-mismatch", &message, "give an array of that type");
    }
    if out.shape != shapes.result {
        let message = format!("out has shape {:?}, but the result has {:?}", out.shape, shapes.result);
        return refuse(py, "result-mismatch", &message, "give an array of that shape");
    }
    if !is_without_overlap(&out.shape, &out.strides) {
        let message = format!(
            "out with strides {:?} cannot be written: two indices may address one element",
            out.strides
        );
        return refuse(
            py,
            "aliased",
            &message,
            "give an array whose strides are not zero and do not overlap",
        );
    }
    Ok(())
}

/// Whether two arrays may have memory in common.
pub fn overlaps(operand: &Array, out: &Array) -> bool {
    match (span(operand), span(out)) {
        (Some((low, high)), Some((first, last))) => low <= last && first <= high,
        _ => false,
    }
}

/// The addresses from the first to the last byte that an array reaches; `None` where it has no element.
fn span(array: &Array) -> Option<(usize, usize)> {
    if array.shape.contains(&0) {
        return None;
    }
    let (at, size) = (array.first.as_ptr().addr(), array.dtype.size());
    let reach = |sign: isize| -> usize {
        let each = array.shape.iter().zip(&array.strides).filter(|&(_, &stride)| stride.signum() == sign);
        each.map(|(&extent, &stride)| (extent - 1) * stride.unsigned_abs() * size).sum()
    };
    Some((at - reach(-1), at + reach(1) + size - 1))
}
