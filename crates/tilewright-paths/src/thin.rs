//! Leaving out of a strip what its product with a closed block does without, so that few terms are left.
//!
//! Let `E` be closed, and `C` a strip that `E` is multiplied by: `(E ⊗ C)[i,j] = ⊕_k E[i,k] ⊗ C[k,j]`. An element `C[k,j]` for which
//! `E[k,l] ⊗ C[l,j]` is better, for any `l`, never wins: `E[i,l]` is no worse than `E[i,k] ⊗ E[k,l]`. It may be absent as well. Only some `l`
//! near to `k` are tried, and those near to them. Of random weights that leaves a few in a hundred, because the best path to `j` seldom leaves
//! the block where it begins. Where weights are distances already, nearly all remain.

use crate::{
    isa::for_each_isa,
    semiring::PathSemiring,
    share::share,
    sparse::Lists,
    tile::{self, Line, WIDTH},
};
use tilewright_core::{Error, MatRef};
use tilewright_cpu::{Isa, Options};

/// Neighbours that are tried.
const TRIED: usize = 6;
/// Vertices are sorted into so many classes, and the nearest of each is a candidate: a search without branches.
const CLASSES: usize = 16;
/// How often they are tried: each time, those are reached that are one farther.
const ROUNDS: usize = 2;

/// For every vertex of a block, the nearest others and the weights of the ways there.
pub(crate) struct Nearest<S: PathSemiring>(Vec<[(u32, S::Weight); TRIED]>);

impl<S: PathSemiring> Nearest<S> {
    /// Column `k` of `closed` has the ways to (or, of its transpose, from) vertex `k`. Ways count `margin` more than they are.
    pub fn new(
        closed: MatRef<'_, S::Weight>,
        margin: S::Weight,
        isa: Isa,
        options: &Options<'_>,
    ) -> Result<Self, Error> {
        let k = closed.rows();
        let mut nearest = vec![[(0, S::ZERO); TRIED]; k];
        share(options.threads, nearest.chunks_mut(WIDTH).enumerate(), |(i, nearest)| {
            let columns = closed.window(0, i * WIDTH, k, nearest.len())?;
            nearest_to_columns::<S>(columns, i * WIDTH, margin, nearest, isa);
            Ok(())
        })?;
        Ok(Self(nearest))
    }
}

for_each_isa! {
    fn nearest_to_columns<S>(columns: MatRef<'_, S::Weight>, first: usize, margin: S::Weight,
        nearest: &mut [[(u32, S::Weight); TRIED]]) = find_nearest
}

#[inline(always)]
fn find_nearest<S: PathSemiring>(
    columns: MatRef<'_, S::Weight>,
    first: usize,
    margin: S::Weight,
    nearest: &mut [[(u32, S::Weight); TRIED]],
) {
    let mut tile = vec![[S::ZERO; WIDTH]; columns.rows()];
    tile::load(columns, &mut tile);
    let mut best = [[S::ZERO; WIDTH]; CLASSES];
    let mut from = [[0_u32; WIDTH]; CLASSES];
    for (k, line) in tile.iter_mut().enumerate() {
        // A vertex is not its own neighbour.
        if let Some(itself) = k.checked_sub(first).filter(|&j| j < WIDTH) {
            line[itself] = S::ZERO;
        }
        let (best, from) = (&mut best[k % CLASSES], &mut from[k % CLASSES]);
        for j in 0..WIDTH {
            let better = S::improves(line[j], best[j]);
            best[j] = if better { line[j] } else { best[j] };
            from[j] = if better { k as u32 } else { from[j] };
        }
    }
    // Each candidate sinks to its place among the nearest so far, in all columns at once.
    let mut near = [([S::ZERO; WIDTH], [0_u32; WIDTH]); TRIED];
    for (ways, vertices) in best.iter_mut().zip(&mut from) {
        for (near, at) in &mut near {
            for j in 0..WIDTH {
                let better = S::improves(ways[j], near[j]);
                (near[j], ways[j]) = if better { (ways[j], near[j]) } else { (near[j], ways[j]) };
                (at[j], vertices[j]) = if better { (vertices[j], at[j]) } else { (at[j], vertices[j]) };
            }
        }
    }
    for (j, nearest) in nearest.iter_mut().enumerate() {
        for (nearest, (ways, vertices)) in nearest.iter_mut().zip(&near) {
            *nearest = (vertices[j], S::times(ways[j], margin));
        }
    }
}

/// What remains of `strip`, a list for each of its columns, unless that is more than `most` of it.
pub(crate) fn thin<S: PathSemiring>(
    strip: MatRef<'_, S::Weight>,
    nearest: &Nearest<S>,
    most: f64,
    isa: Isa,
    options: &Options<'_>,
) -> Result<Option<Vec<Lists<S::Weight>>>, Error> {
    let (k, n) = (strip.rows(), strip.cols());
    let tile = |i: usize, lists: &mut Lists<S::Weight>| {
        let columns = strip.window(0, i * WIDTH, k, WIDTH.min(n - i * WIDTH))?;
        thin_tile::<S>(columns, nearest, lists, isa);
        Ok(())
    };
    // Where much remains of some columns, the others are not looked at.
    let (tiles, mut first) = (n.div_ceil(WIDTH), Lists::default());
    if tiles > 0 {
        tile(tiles / 2, &mut first)?;
    }
    if first.len() as f64 > most * k as f64 * WIDTH as f64 {
        return Ok(None);
    }
    let mut lists: Vec<Lists<S::Weight>> = Vec::new();
    lists.resize_with(tiles, Lists::default);
    share(options.threads, lists.iter_mut().enumerate(), |(i, lists)| tile(i, lists))?;
    let remaining: usize = lists.iter().map(Lists::len).sum();
    Ok((remaining as f64 <= most * k as f64 * n as f64).then_some(lists))
}

for_each_isa! {
    fn thin_tile<S>(columns: MatRef<'_, S::Weight>, nearest: &Nearest<S>, lists: &mut Lists<S::Weight>) = thin_columns
}

#[inline(always)]
fn thin_columns<S: PathSemiring>(
    columns: MatRef<'_, S::Weight>,
    nearest: &Nearest<S>,
    lists: &mut Lists<S::Weight>,
) {
    let mut original = vec![[S::ZERO; WIDTH]; columns.rows()];
    tile::load(columns, &mut original);
    let mut better = original.clone();
    for _ in 0..ROUNDS {
        for (i, nearest) in nearest.0.iter().enumerate() {
            let mut line = better[i];
            for &(l, way) in nearest {
                append::<S>(&mut line, way, &better[l as usize]);
            }
            better[i] = line;
        }
    }
    // In the order of rows, and then of columns.
    let (mut found, mut counts) = (Vec::new(), [0_u32; WIDTH]);
    for (k, (line, better)) in original.iter().zip(&better).enumerate() {
        let mut remains = [0_u8; WIDTH];
        for j in 0..WIDTH {
            remains[j] = u8::from(!S::improves(better[j], line[j]) & !S::is_absent(line[j]));
        }
        for (eighth, bytes) in remains.as_chunks::<8>().0.iter().enumerate() {
            let mut set = u64::from_le_bytes(*bytes);
            while set != 0 {
                let j = eighth * 8 + set.trailing_zeros() as usize / 8;
                set &= set - 1;
                counts[j] += 1;
                found.push((j as u32, k as u32, line[j]));
            }
        }
    }
    *lists = Lists::new(&counts[..columns.cols()], &found);
}

#[inline(always)]
pub(crate) fn append<S: PathSemiring>(line: &mut Line<S::Weight>, way: S::Weight, there: &Line<S::Weight>) {
    for j in 0..WIDTH {
        line[j] = S::mul_add(line[j], way, there[j]);
    }
}
