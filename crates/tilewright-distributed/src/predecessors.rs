//! Closures of integers that tell the stop before the last of each path.
//!
//! Predecessors cannot be carried along from block to block: where paths are equally good, they may lead in a circle. So a weight `w` becomes the key
//! `w 2^s + 1` of an edge, with `2^s > n`: the key of a path is its weight and its number of edges, and no cycle weighs nothing. Of the best paths those with the
//! fewest edges remain, and the smallest stop before the last among these is the first term that wins in the product of the closed keys with the keys of edges.

use crate::{
    closure::Closure,
    matrix::DistMatrix,
    product::{Panels, Summa},
    step,
};
use tilewright::{DType, DynMatrix, Element, Error, ErrorKind, Joining, Layout, Matrix, SemiringId, Value};

/// Weights of best paths, and the stop before the last of each: -1 where there is none.
#[derive(Debug)]
pub struct WithPredecessors<'g> {
    /// Weights, of the type that was given.
    pub distances: DistMatrix<'g>,
    /// Vertices as i64.
    pub predecessors: DistMatrix<'g>,
}

impl Closure<'_> {
    /// As [`Closure::run`], and the stop before the last of each best path: of several the one with the fewest edges, and of these the one whose stop before the last
    /// has the smallest number, as [`tilewright::paths`] has it. States are not kept.
    ///
    /// It takes three matrices of i64 beside the weights, a closure of i64, and a product of them.
    ///
    /// # Errors
    /// As [`Closure::run`]; `unsupported` for other semirings than min-plus and max-plus, for floats, and for weights of which a path may leave `2^59 / n`.
    pub fn run_with_predecessors<'g>(&self, w: &DistMatrix<'g>) -> Result<WithPredecessors<'g>, Error> {
        let (grid, world) = (w.grid(), w.grid().world());
        let scale = Scale::of(self.semiring, w)?;
        let edges = world.agree(scale.keys(w, Diagonal::Absent), "taking memory for keys")?;
        let mut keys = world.agree(scale.keys(w, Diagonal::One), "taking memory for keys")?;
        let closure = Closure { checkpoints: None, ..*self };
        closure.run(&mut keys).map_err(|error| scale.weight_of_cycle(error))?;
        let predecessors = self.last_stops(&keys, &edges, scale.absent)?;
        let distances = DistMatrix::zeros(grid, w.dtype(), w.rows().len, w.cols().len, w.rows().block);
        let mut distances = world.agree(distances, "taking memory for distances")?;
        let written = scale.distances(&keys, &mut distances);
        world.agree(written, "converting distances")?;
        Ok(WithPredecessors { distances, predecessors })
    }

    /// The smallest `k` for which `D[i,k] ⊗ W[k,j]` is `D[i,j]`.
    fn last_stops<'g>(
        &self,
        keys: &DistMatrix<'g>,
        edges: &DistMatrix<'g>,
        absent: i64,
    ) -> Result<DistMatrix<'g>, Error> {
        let (grid, world, n) = (keys.grid(), keys.grid().world(), keys.rows().len);
        let Layout { rows, cols, .. } = keys.local().layout();
        let made = || {
            let mut stops = DistMatrix::zeros(grid, DType::I64, n, n, keys.rows().block)?;
            stops.fill(|_, part| {
                if let Some(mut part) = part.typed::<i64>() {
                    part.fill(-1);
                }
                Ok(())
            })?;
            let room = Panels::room(keys, edges)?;
            Ok((stops, room, DynMatrix::zeros(DType::I64, rows, cols)?, Matrix::filled(rows, cols, 0_u32)?))
        };
        let (mut stops, room, mut ways, mut winners) =
            world.agree(made(), "taking memory for predecessors")?;
        let mut run =
            Summa { semiring: self.semiring, a: keys, b: edges, options: &self.options, spare: room };
        let (mut status, count) = (Ok(()), keys.rows().blocks());
        for k in 0..count {
            world.agree(
                core::mem::replace(&mut status, Ok(())),
                &format!("predecessors, step {} of {count}", k + 1),
            )?;
            let panels = run.begin(k)?.wait()?;
            let first = keys.rows().indices(k).start as i64;
            status = run.with_winners(k, &panels, &mut ways, &mut winners).map(|()| {
                note(keys, &ways, &winners, first, absent, &mut stops);
            });
            run.spare.push(panels);
        }
        world.agree(status, "predecessors")?;
        Ok(stops)
    }
}

impl Summa<'_, '_, '_> {
    /// The terms of one panel alone, and which of them wins.
    fn with_winners(
        &self,
        k: usize,
        panels: &Panels,
        ways: &mut DynMatrix,
        winners: &mut Matrix<u32>,
    ) -> Result<(), Error> {
        let width = self.a.cols().indices(k).len();
        let Layout { rows, cols, .. } = ways.layout();
        let a = panels.a.matrix(self.a.dtype(), rows, width)?;
        let b = panels.b.matrix(self.a.dtype(), width, cols)?;
        let product = step::prepared(self.semiring, (a, b), Joining::Replace, self.options)?;
        product.write_to(ways.as_mut(), Some(winners.as_mut())).map(|_| ())
    }
}

/// Notes the winners of a panel whose ways are the best paths, where none is known.
fn note(
    keys: &DistMatrix<'_>,
    ways: &DynMatrix,
    winners: &Matrix<u32>,
    first: i64,
    absent: i64,
    stops: &mut DistMatrix<'_>,
) {
    let (keys, ways) = (keys.local().typed::<i64>(), ways.as_ref().typed::<i64>());
    let (Some(keys), Some(ways), Some(mut stops)) = (keys, ways, stops.local_mut().typed::<i64>()) else {
        return;
    };
    for i in 0..stops.rows() {
        for j in 0..stops.cols() {
            let best = keys[(i, j)];
            // A path without edges has key 0, and no way that ends with an edge has: none is noted on the diagonal.
            if stops[(i, j)] < 0 && best != absent && best != 0 && ways[(i, j)] == best {
                stops[(i, j)] = first + i64::from(winners[(i, j)]);
            }
        }
    }
}

/// What the diagonal of keys holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Diagonal {
    /// No edge from a vertex to itself.
    Absent,
    /// The path without an edge, or an edge from a vertex to itself that makes paths better.
    One,
}

/// How weights become keys.
struct Scale {
    semiring: SemiringId,
    bits: u32,
    /// 1 where smaller weights are better, otherwise -1.
    sign: i64,
    /// What stands for no edge.
    absent: i64,
    /// The same among weights.
    absent_weight: i64,
}

impl Scale {
    fn of(semiring: SemiringId, w: &DistMatrix<'_>) -> Result<Self, Error> {
        let (min, max) = match w.dtype() {
            DType::I16 => (i16::MIN.into(), i16::MAX.into()),
            DType::I32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN, i64::MAX),
        };
        let is_known = matches!(w.dtype(), DType::I16 | DType::I32 | DType::I64);
        let (sign, absent, absent_weight) = match semiring {
            SemiringId::MinPlus if is_known => (1, i64::MAX, max),
            SemiringId::MaxPlus if is_known => (-1, i64::MIN, min),
            _ => {
                let what = format!("predecessors over {semiring} on {} on several ranks", w.dtype());
                let hint = "choose min-plus or max-plus on integers, or one process".into();
                return Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into());
            }
        };
        // More than n: a cycle of n edges that weighs -1 has the key n - 2^s.
        let bits = (w.rows().len + 1).next_power_of_two().trailing_zeros();
        Ok(Self { semiring, bits, sign, absent, absent_weight })
    }

    fn keys<'g>(&self, w: &DistMatrix<'g>, diagonal: Diagonal) -> Result<DistMatrix<'g>, Error> {
        let mut keys = DistMatrix::zeros(w.grid(), DType::I64, w.rows().len, w.cols().len, w.rows().block)?;
        let local = w.local();
        let mut too_large = None;
        let (rows, cols) = (w.rows(), w.cols());
        keys.fill(|block, part| {
            let Some(mut part) = part.typed::<i64>() else { return Ok(()) };
            let first = (rows.local(block.at.0).start, cols.local(block.at.1).start);
            for i in 0..part.rows() {
                for j in 0..part.cols() {
                    let weight = local.get(first.0 + i, first.1 + j);
                    let weight =
                        if let Some(Value::Int(weight)) = weight { weight } else { self.absent_weight };
                    let is_diagonal = block.rows.start + i == block.cols.start + j;
                    let key = self.key(weight);
                    too_large = too_large.or(key.is_none().then_some(weight));
                    part[(i, j)] = match (is_diagonal, diagonal, key) {
                        // An edge from a vertex to itself counts where it is a cycle that makes paths better.
                        (true, Diagonal::One, Some(key)) if key != self.absent => self.better(0, key),
                        (true, Diagonal::One, _) => 0,
                        (true, Diagonal::Absent, _) => self.absent,
                        (false, _, key) => key.unwrap_or(self.absent),
                    };
                }
            }
            Ok(())
        })?;
        too_large.map_or(Ok(keys), |weight| {
            let what = format!("predecessors of paths with an edge of weight {weight} on several ranks");
            let why = "weights times the number of vertices leave 64 bits".to_owned();
            Err(ErrorKind::Unsupported { what, why, hint: "use one process".into() }.into())
        })
    }

    /// The key of an edge; `None` for a weight that is too large.
    fn key(&self, weight: i64) -> Option<i64> {
        if weight == self.absent_weight {
            return Some(self.absent);
        }
        weight.checked_mul(1 << self.bits)?.checked_add(self.sign)
    }

    fn better(&self, x: i64, y: i64) -> i64 {
        if self.sign > 0 { x.min(y) } else { x.max(y) }
    }

    /// The weight of a path with this key: it has at most `n` edges, fewer than `2^bits`.
    fn weight(&self, key: i64) -> i64 {
        if key == self.absent { self.absent_weight } else { self.sign * ((self.sign * key) >> self.bits) }
    }

    fn distances(&self, keys: &DistMatrix<'_>, distances: &mut DistMatrix<'_>) -> Result<(), Error> {
        let keys = keys.local().typed::<i64>();
        let dtype = distances.dtype();
        let Some(keys) = keys else { return Ok(()) };
        match dtype {
            DType::I16 => self.narrowed::<i16>(keys, distances),
            DType::I32 => self.narrowed::<i32>(keys, distances),
            _ => self.narrowed::<i64>(keys, distances),
        }
    }

    fn narrowed<T: Element + TryFrom<i64>>(
        &self,
        keys: tilewright::MatRef<'_, i64>,
        distances: &mut DistMatrix<'_>,
    ) -> Result<(), Error> {
        let (rows, cols, place) = (distances.rows(), distances.cols(), distances.grid().place());
        let Some(mut to) = distances.local_mut().typed::<T>() else { return Ok(()) };
        for i in 0..to.rows() {
            for j in 0..to.cols() {
                let weight = self.weight(keys[(i, j)]);
                let is_finite = keys[(i, j)] != self.absent;
                to[(i, j)] = match T::try_from(weight) {
                    Ok(narrow) if !(is_finite && weight == self.absent_weight) => narrow,
                    _ => {
                        let (row, col) = (rows.global(place.0, i), cols.global(place.1, j));
                        let value = weight.to_string();
                        return Err(ErrorKind::Conversion { row, col, value, to: T::DTYPE }.into());
                    }
                };
            }
        }
        Ok(())
    }

    /// A cycle's weight in place of its key.
    fn weight_of_cycle(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::NegativeCycle { cycle, weight: Value::Int(key), .. } => {
                let (semiring, weight) = (self.semiring.name(), Value::Int(self.weight(*key)));
                ErrorKind::NegativeCycle { semiring, cycle: cycle.clone(), weight }.into()
            }
            _ => error,
        }
    }
}
