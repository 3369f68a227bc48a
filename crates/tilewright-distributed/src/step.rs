//! A step of the closure: panels of a block, and what they change.

use crate::{
    grid::Along,
    site::{Carrier, ComingOf, Lane, Map, PanelOf, Panels, Site, Work},
};
use core::ops::Range;
use tilewright::{DynMut, DynProduct, DynRef, Error, ErrorKind, Joining, Options, SemiringId};

/// Memory of panels, taken before the first step: none is needed later.
#[derive(Debug)]
pub(crate) struct Room<P> {
    diagonal: Vec<P>,
    /// Two: one is read while the next one arrives.
    rows: Vec<P>,
    columns: Vec<P>,
}

impl<P> Room<P> {
    pub fn new(map: &Map, carrier: &impl Carrier<Panel = P>) -> Result<Self, Error> {
        let (block, (rows, cols)) = (map.rows.block.min(map.rows.len), map.local());
        let room = |elements| carrier.room(elements);
        Ok(Self {
            diagonal: vec![room(block * block)?],
            rows: vec![room(block * cols)?, room(block * cols)?],
            columns: vec![room(rows * block)?, room(rows * block)?],
        })
    }
}

/// A run of the closure on this rank.
pub(crate) struct Steps<S: Site> {
    map: Map,
    pub site: S,
    room: Room<PanelOf<S>>,
}

impl<S: Site> Steps<S> {
    pub fn new(map: Map, site: S, room: Room<PanelOf<S>>) -> Self {
        Self { map, site, room }
    }

    /// What this rank gives to an agreement.
    pub fn status(&mut self) -> Result<(), Error> {
        let carrier = self.site.carrier();
        carrier.fault().take().map_or(Ok(()), |error| Err(carrier.named(error)))
    }

    /// Work that a trace shows.
    fn work(&mut self, what: Work, lane: Lane, work: impl FnOnce(&mut S) -> Result<(), Error>) {
        self.attempt(|site| {
            site.carrier().mark(what, lane)?;
            work(site)?;
            site.carrier().mark(what, lane)
        });
    }

    fn attempt(&mut self, work: impl FnOnce(&mut S) -> Result<(), Error>) {
        if self.site.carrier().fault().is_none() {
            let failed = work(&mut self.site).err();
            *self.site.carrier().fault() = failed;
        }
    }

    /// Waits for what is more than a step behind.
    pub fn keep_pace(&mut self) {
        self.attempt(|site| site.carrier().keep_pace());
    }

    /// Waits for the work that was asked for.
    pub fn settle(&mut self) {
        self.attempt(|site| site.carrier().settle());
    }

    /// Closes block `k` of the diagonal, updates its row and its column, and begins to send both, after all other work.
    pub fn begin(&mut self, k: usize) -> Result<Panels<ComingOf<S>>, Error> {
        self.attempt(S::meet);
        self.begin_in_lane(k)
    }

    fn begin_in_lane(&mut self, k: usize) -> Result<Panels<ComingOf<S>>, Error> {
        let map = self.map;
        let (owner_row, owner_col) = (map.rows.owner(k), map.cols.owner(k));
        let ((own_row, own_col), bands) = (map.owned(k), map.bands(k));
        let (indices, (rows, cols)) = (map.rows.indices(k), map.local());
        let width = indices.len();

        let mut diagonal = taken(&mut self.room.diagonal, self.site.carrier(), width * width)?;
        if own_row.is_some() && own_col.is_some() {
            self.work(Work::Close, Lane::Panels, |site| site.close(&bands, indices.start, &mut diagonal));
        }
        if own_row.is_some() {
            diagonal = self.sent(Along::Row, diagonal, width * width, owner_col)?;
        }
        if own_col.is_some() {
            diagonal = self.sent(Along::Column, diagonal, width * width, owner_row)?;
        }

        let mut row = taken(&mut self.room.rows, self.site.carrier(), width * cols)?;
        if let Some(band) = own_row.clone() {
            let own = own_col.clone();
            self.work(Work::Row, Lane::Panels, |site| site.row(band, own, &diagonal, &mut row));
        }
        let row = self.site.carrier().send(Along::Column, row, width * cols, owner_row)?;
        let mut column = taken(&mut self.room.columns, self.site.carrier(), rows * width)?;
        if let Some(band) = own_col {
            self.work(Work::Column, Lane::Panels, |site| site.column(band, own_row, &diagonal, &mut column));
        }
        let column = self.site.carrier().send(Along::Row, column, rows * width, owner_col)?;
        self.room.diagonal.push(diagonal);
        Ok(Panels { row, column })
    }

    fn sent(
        &mut self,
        along: Along,
        panel: PanelOf<S>,
        elements: usize,
        root: usize,
    ) -> Result<PanelOf<S>, Error> {
        let coming = self.site.carrier().send(along, panel, elements, root)?;
        self.site.carrier().arrived(coming)
    }

    /// The panels, for work that is asked for from now on.
    pub fn arrived(&mut self, coming: Panels<ComingOf<S>>) -> Result<Panels<PanelOf<S>>, Error> {
        Ok(Panels {
            row: self.site.carrier().arrived(coming.row)?,
            column: self.site.carrier().arrived(coming.column)?,
        })
    }

    /// `D = D ⊕ D[:,k] ⊗ D[k,:]`, but for the row and the column of block `k`. Where panels of the next block are to be sent ahead, its row and
    /// its column come first, and the rest after they have set out.
    pub fn update(
        &mut self,
        k: usize,
        panels: &Panels<PanelOf<S>>,
        is_ahead: bool,
    ) -> Result<Option<Panels<ComingOf<S>>>, Error> {
        let (map, (rows, cols)) = (self.map, self.map.local());
        let (here, next) = (map.owned(k), if is_ahead { map.owned(k + 1) } else { (None, None) });
        let except = |len, bands: [&Option<Range<usize>>; 2]| without(len, bands);
        let (rest_rows, rest_cols) = (except(rows, [&here.0, &next.0]), except(cols, [&here.1, &next.1]));
        self.attempt(S::meet);
        if is_ahead {
            let next_cols = except(cols, [&here.1, &None]);
            self.join(k, panels, (next.0.as_slice(), &next_cols), Lane::Panels);
            self.join(k, panels, (&rest_rows, next.1.as_slice()), Lane::Panels);
        }
        let rest = (rest_rows.as_slice(), rest_cols.as_slice());
        // Where lanes are apart, the host may wait for panels while the device updates the rest.
        if S::HAS_LANES {
            self.join(k, panels, rest, Lane::Rest);
        }
        let coming = if is_ahead { Some(self.begin_in_lane(k + 1)?) } else { None };
        if !S::HAS_LANES {
            self.join(k, panels, rest, Lane::Rest);
        }
        Ok(coming)
    }

    fn join(
        &mut self,
        k: usize,
        panels: &Panels<PanelOf<S>>,
        (rows, cols): (&[Range<usize>], &[Range<usize>]),
        lane: Lane,
    ) {
        let width = self.map.rows.indices(k).len();
        for rows in rows {
            for cols in cols {
                let part = (rows.clone(), cols.clone());
                self.work(Work::Update, lane, |site| site.join(panels, width, &part, lane));
            }
        }
    }

    /// Keeps the memory of panels for others.
    pub fn reuse(&mut self, panels: Panels<PanelOf<S>>) {
        self.room.rows.push(panels.row);
        self.room.columns.push(panels.column);
    }
}

/// Memory that was taken before.
fn taken<C: Carrier>(spare: &mut Vec<C::Panel>, carrier: &C, elements: usize) -> Result<C::Panel, Error> {
    spare.pop().map_or_else(|| carrier.room(elements), Ok)
}

/// `C = A ⊗ B`, or joined with C.
pub(crate) fn product(
    semiring: SemiringId,
    (a, b): (DynRef<'_>, DynRef<'_>),
    c: DynMut<'_>,
    joining: Joining<tilewright::Value>,
    options: &Options<'_>,
) -> Result<(), Error> {
    prepared(semiring, (a, b), joining, options)?.write_to(c, None).map(|_| ())
}

pub(crate) fn prepared<'a>(
    semiring: SemiringId,
    (a, b): (DynRef<'a>, DynRef<'a>),
    joining: Joining<tilewright::Value>,
    options: &Options<'a>,
) -> Result<DynProduct<'a>, Error> {
    DynProduct::new(semiring, a, b)?.options(*options).update(joining, None)
}

/// What is left of `0..len` without these bands.
fn without(len: usize, bands: [&Option<Range<usize>>; 2]) -> Vec<Range<usize>> {
    let mut bands: Vec<_> = bands.into_iter().flatten().cloned().collect();
    bands.sort_by_key(|band| band.start);
    let ends = bands.iter().map(|band| band.start).chain([len]);
    let starts = [0].into_iter().chain(bands.iter().map(|band| band.end));
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
}

/// A cycle by the numbers of the whole matrix.
pub(crate) fn moved(error: Error, first: usize) -> Error {
    match error.kind() {
        ErrorKind::NegativeCycle { semiring, cycle, weight } => {
            let cycle = cycle.iter().map(|vertex| vertex + first).collect();
            ErrorKind::NegativeCycle { semiring, cycle, weight: *weight }.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_left_out() {
        assert_eq!(without(9, [&Some(6..9), &Some(1..3)]), [0..1, 3..6]);
        assert_eq!(without(9, [&Some(3..6), &None]), [0..3, 6..9]);
        assert_eq!(without(9, [&Some(2..4), &Some(4..5)]), [0..2, 5..9]);
        assert!(without(0, [&None, &None]).is_empty());
    }
}
