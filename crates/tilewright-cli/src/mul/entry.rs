//! `--from ROW --to COLUMN`: one element of C, and which term it is.

use super::{compute::Computed, inputs::Inputs, resolved::Resolved};
use crate::{failure::Failure, labels};
use serde::Serialize;
use tilewright::{DynMatrix, DynProduct, Error, Matrix, NO_ARG, SemiringId, Value, files::Labels, visible};

/// An element of C.
#[derive(Serialize)]
pub struct Entry {
    from: String,
    to: String,
    /// Null for an infinity.
    value: serde_json::Value,
    /// The term that won, of a selective semiring; null where there is none.
    by: Option<String>,
    #[serde(skip)]
    shown: String,
}

impl Entry {
    /// The element at a row and a column; `None` where C has none there.
    pub fn new(
        asked: &Resolved,
        inputs: &Inputs,
        computed: &Computed,
        (row, column): (usize, usize),
    ) -> Result<Option<Self>, Failure> {
        let Some(value) = computed.c.as_ref().get(row, column) else { return Ok(None) };
        let term = match asked.semiring.built_in().filter(|id| id.is_selective()) {
            Some(id) => term(id, asked, inputs, (row, column))?,
            None => None,
        };
        let value = asked.semiring.extremes().meaning(computed.c.dtype(), value);
        let names = &inputs.named;
        let [rows, columns] = [names.c.as_ref().map(|c| &c.rows), names.c.as_ref().map(|c| &c.columns)];
        Ok(Some(Self {
            from: name(rows, row),
            to: name(columns, column),
            value: match value {
                Value::Bool(x) => x.into(),
                Value::Int(x) => x.into(),
                other => other.to_f64().into(),
            },
            by: term.map(|k| name(names.terms.as_ref(), k)),
            shown: value.to_string(),
        }))
    }

    /// `HNL to BOS: 8189 by MSP`.
    pub fn line(&self) -> String {
        let by = self.by.as_ref().map_or_else(String::new, |by| format!(" by {}", visible(by)));
        format!("{} to {}: {}{by}", visible(&self.from), visible(&self.to), self.shown)
    }
}

/// Row and column that `--from` and `--to` name.
pub fn place(asked: &Resolved, inputs: &Inputs) -> Result<Option<(usize, usize)>, Failure> {
    let Some([from, to]) = &asked.element else { return Ok(None) };
    if inputs.shapes.result.len() != 2 || !inputs.shapes.batch.is_empty() {
        return Err(Failure::usage(
            "--from and --to name a row and a column, but C is no matrix",
            "leave them out",
        ));
    }
    let names = inputs.named.c.as_ref();
    let row = number("--from", "row", from, names.map(|names| &names.rows), inputs.shapes.m)?;
    let column = number("--to", "column", to, names.map(|names| &names.columns), inputs.shapes.n)?;
    Ok(Some((row, column)))
}

fn number(
    option: &str,
    what: &str,
    text: &str,
    names: Option<&Labels>,
    count: usize,
) -> Result<usize, Failure> {
    let found = match names {
        Some(names) => names.find(text),
        None => text.parse().ok().filter(|&number| number < count),
    };
    found.ok_or_else(|| {
        let hint = match names {
            Some(names) => labels::like(names, text),
            None => format!(
                "without names it is a number from 0 to {}; both tables have names, or --labels gives them",
                count.saturating_sub(1)
            ),
        };
        Failure::usage(format!("{option}: C has no {what} '{}'", visible(text)), hint)
    })
}

fn name(labels: Option<&Labels>, number: usize) -> String {
    labels.and_then(|labels| labels.name(number)).map_or_else(|| number.to_string(), str::to_owned)
}

/// Which term won: the product of one row and one column, wherever the others were computed.
fn term(
    id: SemiringId,
    asked: &Resolved,
    inputs: &Inputs,
    (row, column): (usize, usize),
) -> Result<Option<usize>, Error> {
    let (_, Some((a, b))) = inputs.products(asked)?.first() else { return Ok(None) };
    let k = inputs.shapes.k;
    let (a, b) = (a.window(row, 0, 1, k)?, b.window(0, column, k, 1)?);
    let mut c = match inputs.c0_of_one() {
        Some(c0) => c0.window(row, column, 1, 1)?.to_matrix()?,
        None => DynMatrix::zeros(id.output(inputs.dtype)?, 1, 1)?,
    };
    let mut arg = Matrix::filled(1, 1, NO_ARG)?;
    let product = DynProduct::new(id, a, b)?.update(asked.joining, None)?;
    product.write_to(c.as_mut(), Some(arg.as_mut()))?;
    Ok(Some(arg[(0, 0)]).filter(|&k| k != NO_ARG).map(|k| k as usize))
}
