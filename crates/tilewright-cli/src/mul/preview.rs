//! A corner of the result, for the eye.

use crate::{failure::Failure, terminal};
use std::io::Write;
use tilewright::{
    DType, DynRef, Extremes, Value,
    files::{Labels, Names},
    visible,
};

/// Rows and columns shown at most.
const CORNER: usize = 8;

/// Prints it under the names of columns, and behind those of rows.
pub fn print(c: DynRef<'_>, extremes: Extremes, names: Option<&Names>) -> Result<(), Failure> {
    Ok(terminal::stdout().write_all(render(c, extremes, names).as_bytes())?)
}

/// The corner with aligned columns, and dots where the matrix goes on.
fn render(c: DynRef<'_>, extremes: Extremes, names: Option<&Names>) -> String {
    let (rows, cols) = (c.layout().rows, c.layout().cols);
    let shown = |i, j| c.get(i, j).map_or_else(String::new, |v| number(v, c.dtype(), extremes));
    let mut lines: Vec<Vec<String>> = (0..rows.min(CORNER))
        .map(|i| {
            let mut line: Vec<String> = (0..cols.min(CORNER)).map(|j| shown(i, j)).collect();
            line.extend((cols > CORNER).then(|| "...".into()));
            line
        })
        .collect();
    if rows > CORNER {
        lines.push(vec!["...".into(); lines.first().map_or(0, Vec::len)]);
    }
    if let (Some(names), false) = (names, lines.is_empty()) {
        name(&mut lines, names);
    }
    let width = |j: usize| lines.iter().map(|line| line[j].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).map(width).collect();
    let mut text = String::from("\n");
    for line in &lines {
        for (cell, width) in line.iter().zip(&widths) {
            text += &format!("  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// Puts the names of rows and columns around the corner.
fn name(lines: &mut Vec<Vec<String>>, names: &Names) {
    let shown =
        |labels: &Labels, number: usize| visible(labels.name(number).unwrap_or_default()).into_owned();
    let columns = lines[0].len();
    for (i, line) in lines.iter_mut().enumerate() {
        line.insert(0, if i < CORNER { shown(&names.rows, i) } else { String::new() });
    }
    let head = (0..columns).map(|j| if j < CORNER { shown(&names.columns, j) } else { String::new() });
    lines.insert(0, std::iter::once(String::new()).chain(head).collect());
}

/// Up to six digits; an integer that stands for "absent" is shown as the infinity it is.
fn number(value: Value, dtype: DType, extremes: Extremes) -> String {
    match extremes.meaning(dtype, value) {
        Value::Bool(x) => u8::from(x).to_string(),
        Value::Float(x) if x != 0.0 && x.is_finite() && !(1e-4..1e6).contains(&x.abs()) => format!("{x:.3e}"),
        Value::Float(x) => {
            let digits = 5 - (x.abs().max(1.0).log10() as i32).clamp(0, 5);
            let text = format!("{x:.*}", digits as usize);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::{DynMatrix, Matrix};

    #[test]
    fn small_matrices_are_shown_whole_and_large_ones_by_a_corner() {
        let m: DynMatrix =
            Matrix::from_fn(2, 2, |i, j| if i == j { f32::INFINITY } else { 0.25 }).unwrap().into();
        assert_eq!(render(m.as_ref(), Extremes::Absent, None), "\n   inf  0.25\n  0.25   inf\n");
        let m: DynMatrix = Matrix::filled(20, 30, 7i32).unwrap().into();
        let text = render(m.as_ref(), Extremes::Refuse, None);
        assert_eq!(text.lines().count(), 1 + CORNER + 1);
        assert!(text.lines().nth(1).unwrap().ends_with("7  ..."), "{text}");
        let m: DynMatrix = Matrix::filled(0, 3, 7i32).unwrap().into();
        assert_eq!(render(m.as_ref(), Extremes::Refuse, None), "\n");
    }

    #[test]
    fn names_stand_around_the_corner() {
        let labels = |n: usize| Labels::new((0..n).map(|i| format!("n{i}"))).unwrap();
        let of = |rows: usize, cols: usize| {
            let m: DynMatrix = Matrix::filled(rows, cols, 7i32).unwrap().into();
            let names = Names { rows: labels(rows), columns: labels(cols) };
            render(m.as_ref(), Extremes::Refuse, Some(&names))
        };
        assert_eq!(of(1, 2), "\n      n0  n1\n  n0   7   7\n");
        let large = of(20, 30);
        assert_eq!(large.lines().count(), 1 + 1 + CORNER + 1);
        assert!(large.contains("n7") && !large.contains("n8"), "{large}");
    }

    #[test]
    fn numbers_are_short() {
        let show = |x: f64| number(Value::Float(x), DType::F64, Extremes::Refuse);
        let shown = [0.0, -1.5, 1.0 / 3.0, 123456.7, 1e-9, 2.5e12, f64::NAN, f64::NEG_INFINITY].map(show);
        assert_eq!(shown, ["0", "-1.5", "0.33333", "123457", "1.000e-9", "2.500e12", "NaN", "-inf"]);
        let int = |x: i64, s| number(Value::Int(x), DType::I32, s);
        assert_eq!(int(i32::MAX.into(), Extremes::Absent), "inf");
        assert_eq!(int(i32::MAX.into(), Extremes::Refuse), "2147483647");
    }
}
