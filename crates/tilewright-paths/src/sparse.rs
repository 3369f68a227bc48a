//! The product of a matrix of few elements and a dense one.

use crate::{
    blocks::column_tiles,
    isa::for_each_isa,
    options::{check_cancelled, tell},
    semiring::PathSemiring,
    share::share,
    thin::append,
    tile::{self, Line, WIDTH},
};
use tilewright_core::{Error, MatMut, MatRef};
use tilewright_cpu::{Isa, Options};

/// The elements of some lines of a matrix, as far as they are there, and the numbers of their terms.
pub(crate) struct Lists<T> {
    starts: Vec<usize>,
    terms: Vec<(u32, T)>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: Vec::new(), terms: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Elements as line, term and element, in the order of terms; there are so many of each line.
    pub fn new(counts: &[u32], found: &[(u32, u32, T)]) -> Self {
        let Some(&(_, _, any)) = found.first() else {
            return Self { starts: vec![0; counts.len()], terms: Vec::new() };
        };
        let mut starts = vec![0; counts.len()];
        for i in 1..counts.len() {
            starts[i] = starts[i - 1] + counts[i - 1] as usize;
        }
        let (mut ends, mut terms) = (starts.clone(), vec![(0, any); found.len()]);
        for &(line, term, element) in found {
            let end = &mut ends[line as usize];
            terms[*end] = (term, element);
            *end += 1;
        }
        Self { starts, terms }
    }
    /// Elements of all lines.
    pub fn len(&self) -> usize {
        self.terms.len()
    }
    fn line(&self, i: usize) -> &[(u32, T)] {
        let end = self.starts.get(i + 1).copied().unwrap_or(self.terms.len());
        &self.terms[self.starts[i]..end]
    }
}

/// `C = C ⊕ A ⊗ B`, where `A` has [`WIDTH`] lines in each of `a` but the last.
pub(crate) fn accumulate<S: PathSemiring>(
    c: MatMut<'_, S::Weight>,
    a: &[Lists<S::Weight>],
    b: MatRef<'_, S::Weight>,
    isa: Isa,
    options: &Options<'_>,
) -> Result<(), Error> {
    let tiles = column_tiles(c, WIDTH);
    share(options.threads, tiles.into_iter().enumerate(), |(i, mut c)| {
        check_cancelled(options)?;
        let b = b.window(0, i * WIDTH, b.rows(), c.cols())?;
        let mut panel = vec![[S::ZERO; WIDTH]; b.rows()];
        tile::load(b, &mut panel);
        accumulate_tile::<S>(&mut c, a, &panel, isa);
        tell(options, c.rows() as f64 * c.cols() as f64 * b.rows() as f64);
        Ok(())
    })
}

for_each_isa! {
    fn accumulate_tile<S>(c: &mut MatMut<'_, S::Weight>, a: &[Lists<S::Weight>], panel: &[Line<S::Weight>]) = accumulate_lines
}

/// Lines that are computed before they are written: of columns, as many lie side by side.
const DEEP: usize = 16;

#[inline(always)]
fn accumulate_lines<S: PathSemiring>(
    c: &mut MatMut<'_, S::Weight>,
    a: &[Lists<S::Weight>],
    panel: &[Line<S::Weight>],
) {
    let mut lines = [[S::ZERO; WIDTH]; DEEP];
    for first in (0..c.rows()).step_by(DEEP) {
        let (rows, cols) = (DEEP.min(c.rows() - first), c.cols());
        let Ok(mut some) = c.reborrow().window(first, 0, rows, cols) else { continue };
        tile::load(some.as_ref(), &mut lines);
        for (i, line) in (first..).zip(lines.iter_mut().take(rows)) {
            let mut sums = *line;
            for &(k, element) in a[i / WIDTH].line(i % WIDTH) {
                append::<S>(&mut sums, element, &panel[k as usize]);
            }
            *line = sums;
        }
        tile::store(&lines, &mut some);
    }
}
