//! Values of granules in a row, where neighbours mostly have the same: stored once for each run of equal ones.
//!
//! Granules come in lines of 32. Where the runs of a line begin is a mask, and their values lie side by side: the value of a granule is
//! found by counting bits. A line that a warp reads as a row is one value, a column one for each granule.

use std::sync::Arc;

use crate::memory::{Budget, Use};

/// Granules of a line.
pub const LINE: usize = 32;

/// Some granules of one line: `from` is below `to`.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The line.
    pub line: usize,
    /// The first of its granules.
    pub from: usize,
    /// The one behind the last.
    pub to: usize,
}

impl Span {
    /// Bits of the granules.
    #[inline(always)]
    fn mask(self) -> u32 {
        u32::MAX >> (LINE - (self.to - self.from)) << self.from
    }
}

/// Where the runs of a line are.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Bit `i`: a run begins at granule `i`. The first always does.
    starts: u32,
    /// The place of the first run's value.
    place: u16,
    /// log2 of the values that there is room for; `NONE`: no value has been set.
    room: u8,
}

const NONE: u8 = u8::MAX;

/// log2 of [`LINE`].
const FULL: u8 = 5;

impl Line {
    /// How many runs begin in granules below `granule`.
    #[inline(always)]
    fn rank(self, granule: usize) -> usize {
        (u64::from(self.starts) & ((1 << granule) - 1)).count_ones() as usize
    }

    /// Whether no run goes on over `granule`.
    #[inline(always)]
    fn parts_at(self, granule: usize) -> bool {
        (u64::from(self.starts) | 1 << LINE) >> granule & 1 == 1
    }
}

/// The values of `LINES` lines. At first they are all the default.
#[derive(Debug)]
pub struct Runs<T, const LINES: usize> {
    lines: Box<[Line; LINES]>,
    /// Rooms of 1, 2, 4, ... values.
    values: Vec<T>,
    /// Rooms that lines have grown out of, by log2 of their size.
    free: [Vec<u16>; FULL as usize + 1],
    budget: Arc<Budget>,
}

impl<T: Copy + Default + PartialEq, const LINES: usize> Runs<T, LINES> {
    /// Nothing but defaults; `None` if there is no memory for them.
    pub fn new(budget: &Arc<Budget>) -> Option<Self> {
        const { assert!(LINES <= 512, "places fit into 16 bits") }
        budget.take(Use::Races, size_of::<[Line; LINES]>() as u64).then(|| Self {
            lines: Box::new([Line { starts: 1, place: 0, room: NONE }; LINES]),
            values: Vec::new(),
            free: Default::default(),
            budget: budget.clone(),
        })
    }

    /// Where its memory is taken from.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The value of one granule.
    #[inline(always)]
    pub fn get(&self, line: usize, granule: usize) -> T {
        let line = self.lines[line];
        if line.room == NONE {
            return T::default();
        }
        self.values[line.place as usize + line.rank(granule + 1) - 1]
    }

    /// The values that the span has; none, if none has been set in its line.
    #[inline(always)]
    pub fn of(&self, span: Span) -> &[T] {
        let line = self.lines[span.line];
        if line.room == NONE {
            return &[];
        }
        let first = line.place as usize;
        &self.values[first + line.rank(span.from + 1) - 1..first + line.rank(span.to)]
    }

    /// The value of granule `at` of all lines, to be changed, if its line has come apart into single ones.
    #[inline(always)]
    pub fn single(&mut self, at: usize) -> Option<&mut T> {
        let Line { starts, place, .. } = *self.lines.get(at / LINE)?;
        if starts != u32::MAX {
            return None;
        }
        self.values.get_mut(place as usize + at % LINE)
    }

    /// The values of a span and of nothing else, to be changed. Then it is to be [closed](Self::close).
    #[inline(always)]
    pub fn open(&mut self, span: Span) -> &mut [T] {
        let line = self.lines[span.line];
        let place = line.place as usize;
        if line.starts == u32::MAX {
            return &mut self.values[place + span.from..place + span.to];
        }
        if line.room == NONE || !line.parts_at(span.from) || !line.parts_at(span.to) {
            self.part(span);
        }
        let line = self.lines[span.line];
        let first = line.place as usize + line.rank(span.from);
        &mut self.values[first..first + (line.starts & span.mask()).count_ones() as usize]
    }

    /// Makes runs of neighbours that have become equal.
    #[inline(always)]
    pub fn close(&mut self, span: Span) {
        let starts = self.lines[span.line].starts;
        // A line that has come apart into single granules is not put together granule by granule.
        if starts != 1 && (starts != u32::MAX || span.to - span.from > 1) {
            self.join(span);
        }
    }

    /// Makes runs begin where the span does and behind it.
    #[inline(never)]
    fn part(&mut self, span: Span) {
        if self.lines[span.line].room == NONE {
            let place = self.take(0);
            self.values[place as usize] = T::default();
            self.lines[span.line] = Line { starts: 1, place, room: 0 };
        }
        for granule in [span.from, span.to] {
            let line = self.lines[span.line];
            if line.parts_at(granule) {
                continue;
            }
            let count = line.rank(LINE);
            if count == 1 << line.room {
                self.move_to(span.line, line.room + 1);
            }
            let line = &mut self.lines[span.line];
            let at = line.place as usize + line.rank(granule);
            line.starts |= 1 << granule;
            // The run's value is that of both parts.
            self.values.copy_within(at - 1..line.place as usize + count, at);
        }
    }

    /// Makes one of neighbouring runs of one value, inside the span and at its ends.
    #[inline(never)]
    fn join(&mut self, span: Span) {
        let line = self.lines[span.line];
        let first = line.place as usize;
        let around = span.mask() | 1u32.checked_shl(span.to as u32).unwrap_or(0);
        let mut kept = first + line.rank(span.from).max(1);
        let mut starts = line.starts;
        for (from, granule) in (kept..).zip(crate::memory::lanes(line.starts & around & !1)) {
            let value = self.values[from];
            if value == self.values[kept - 1] {
                starts &= !(1 << granule);
            } else {
                self.values[kept] = value;
                kept += 1;
            }
        }
        if starts == line.starts {
            return;
        }
        let rest = first + line.rank(span.to + 1)..first + line.rank(LINE);
        self.values.copy_within(rest, kept);
        self.lines[span.line].starts = starts;
        // Only when little is left: a line that parts and joins by turns stays where it is.
        let count = starts.count_ones();
        if count == 1 && line.room > 0 || count << 2 <= 1 << line.room {
            self.move_to(span.line, count.next_power_of_two().trailing_zeros() as u8);
        }
    }

    /// Gives a line room for `1 << room` values.
    fn move_to(&mut self, line: usize, room: u8) {
        let place = self.take(room);
        let old = self.lines[line];
        self.lines[line] = Line { place, room, ..old };
        let from = old.place as usize;
        self.values.copy_within(from..from + old.rank(LINE), place as usize);
        self.free[old.room as usize].push(old.place);
    }

    /// Room for `1 << room` values.
    fn take(&mut self, room: u8) -> u16 {
        if let Some(place) = self.free[room as usize].pop() {
            return place;
        }
        let place = self.values.len();
        // Lines that have come apart often lie in a column: places a power of two apart would share few sets of the cache.
        let end = place + (1 << room) + if room == FULL { 2 } else { 0 };
        if end > self.values.capacity() {
            // In steps of an eighth: doubling would leave half of it empty.
            let more = (end - place).max(place / 8);
            // What is refused is taken all the same: the launch ends soon.
            self.budget.take(Use::Races, (more * size_of::<T>()) as u64);
            self.values.reserve_exact(more);
        }
        self.values.resize(end, T::default());
        place as u16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn new<T: Copy + Default + PartialEq, const LINES: usize>() -> Runs<T, LINES> {
        Runs::new(&Arc::new(Budget::new(u64::MAX, 0))).expect("there is no limit")
    }

    /// What is done to a span: all its values become one, or one that depends on the old.
    fn step() -> impl Strategy<Value = (Span, bool, u8)> {
        let ends = prop_oneof![
            (0..LINE, 1..=LINE).prop_map(|(from, count)| (from, (from + count).min(LINE))),
            (0..LINE).prop_map(|from| (from, from + 1)),
            Just((0, LINE)),
        ];
        (0..3usize, ends, any::<bool>(), 0..4u8)
            .prop_map(|(line, (from, to), anew, by)| (Span { line, from, to }, anew, by))
    }

    proptest! {
        #[test]
        fn runs_are_as_single_values(steps in proptest::collection::vec(step(), 1..200)) {
            let mut runs = new::<u8, 3>();
            let mut single = [[0u8; LINE]; 3];
            for (span, anew, by) in steps {
                let change = |value: &mut u8| *value = if anew { by } else { *value / 2 + by };
                runs.open(span).iter_mut().for_each(change);
                runs.close(span);
                single[span.line][span.from..span.to].iter_mut().for_each(change);
                for (line, values) in single.iter().enumerate() {
                    for (granule, &value) in values.iter().enumerate() {
                        prop_assert_eq!(runs.get(line, granule), value);
                    }
                }
                let mut expected = single[span.line][span.from..span.to].to_vec();
                expected.dedup();
                let mut found = runs.of(span).to_vec();
                found.dedup();
                prop_assert_eq!(found, expected);
            }
            for (line, values) in single.iter().enumerate() {
                let mut distinct = values.to_vec();
                distinct.dedup();
                let stored = runs.lines[line].rank(LINE);
                prop_assert!(stored == LINE || stored <= 1 + distinct.len() || stored == distinct.len(), "{} of {}", stored, distinct.len());
            }
        }
    }

    #[test]
    fn rooms_are_used_again() {
        let mut runs = new::<usize, 4>();
        let set = |runs: &mut Runs<usize, 4>, line, from, to, value| {
            let span = Span { line, from, to };
            runs.open(span).fill(value);
            runs.close(span);
        };
        let mut sizes = Vec::new();
        for _ in 0..3 {
            for line in 0..4 {
                set(&mut runs, line, 0, LINE, 1);
                (0..LINE).for_each(|from| set(&mut runs, line, from, from + 1, from));
            }
            sizes.push(runs.values.len());
        }
        assert_eq!(sizes, [sizes[0]; 3]);
    }
}
