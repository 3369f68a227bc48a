//! What rows, columns and terms are called.

use super::resolved::Resolved;
use crate::{failure::Failure, labels};
use tilewright::{
    files::{Labels, Names},
    stack::Shapes,
    visible,
};

/// The names that are known of a product.
#[derive(Debug, Default)]
pub struct Named {
    /// Of C, where both operands have names.
    pub c: Option<Names>,
    /// Of the terms of each element: columns of A, rows of B.
    pub terms: Option<Labels>,
}

impl Named {
    /// Those of tables, checked to fit, or of `--labels`.
    pub fn new(
        asked: &Resolved,
        a: Option<&Names>,
        b: Option<&Names>,
        shapes: &Shapes,
    ) -> Result<Self, Failure> {
        if let Some(file) = &asked.labels {
            return Self::given(labels::read(file)?, shapes);
        }
        let turned = |names: &Names, is_turned| {
            if is_turned { names.clone().transposed() } else { names.clone() }
        };
        let [a_is_turned, b_is_turned] = asked.transposed;
        let a = a.map(|names| turned(names, a_is_turned));
        let b = b.map(|names| turned(names, b_is_turned));
        Ok(match (a, b) {
            (Some(a), Some(b)) => {
                // Names are said where they stand in the files.
                let of_a = if a_is_turned { "row" } else { "column" };
                let of_b = if b_is_turned { "column" } else { "row" };
                fit(&a.columns, (of_a, "A"), &b.rows, (of_b, "B"))?;
                let terms = Some(b.rows);
                Self { c: Some(Names { rows: a.rows, columns: b.columns }), terms }
            }
            (a, b) => Self { c: None, terms: a.map(|a| a.columns).or(b.map(|b| b.rows)) },
        })
    }

    /// One list of names for everything.
    fn given(labels: Labels, shapes: &Shapes) -> Result<Self, Failure> {
        for (what, count) in [("rows of A", shapes.m), ("terms", shapes.k), ("columns of B", shapes.n)] {
            if count != labels.len() {
                let what = format!("--labels has {} names, but there are {count} {what}", labels.len());
                return Err(Failure::usage(
                    what,
                    "it names the rows and columns of two square matrices; tables may have names of their own",
                ));
            }
        }
        let names = Names { rows: labels.clone(), columns: labels.clone() };
        Ok(Self { c: Some(names), terms: Some(labels) })
    }

    /// The names of C0 are those of C.
    pub fn check_c0(&self, c0: Option<&Names>) -> Result<(), Failure> {
        let (Some(c), Some(c0)) = (&self.c, c0) else { return Ok(()) };
        fit(&c.rows, ("row", "A x B"), &c0.rows, ("row", "C0"))?;
        fit(&c.columns, ("column", "A x B"), &c0.columns, ("column", "C0"))
    }
}

/// A row or a column, and whose.
type Line<'a> = (&'a str, &'a str);

/// Two lists are the same; of the first names that differ it is said where they stand, from 1.
fn fit(left: &Labels, left_line: Line<'_>, right: &Labels, right_line: Line<'_>) -> Result<(), Failure> {
    let pairs = left.names().iter().zip(right.names());
    let Some((i, (a, b))) = pairs.enumerate().find(|(_, (a, b))| a != b) else { return Ok(()) };
    let place = |(what, of): Line<'_>| format!("{what} {} of {of}", i + 1);
    let what =
        format!("{} is '{}', but {} is '{}'", place(left_line), visible(a), place(right_line), visible(b));
    Err(Failure::usage(what, "names that meet must be the same, in the same order: sort one of the tables"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_differs_is_said() {
        let labels = |names: [&str; 2]| Labels::new(names).unwrap();
        let fit = |b| fit(&labels(["HNL", "BOS"]), ("column", "A"), &labels(b), ("row", "B"));
        assert!(fit(["HNL", "BOS"]).is_ok());
        match fit(["HNL", "MSP"]) {
            Err(Failure::Usage { what, .. }) => {
                assert_eq!(what, "column 2 of A is 'BOS', but row 2 of B is 'MSP'")
            }
            other => panic!("{other:?}"),
        }
    }
}
