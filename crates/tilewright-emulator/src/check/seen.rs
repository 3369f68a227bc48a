//! What is remembered of accesses to granules of global memory.

use super::{
    entry::{Entry, Moment},
    present::Present,
    shared::Actor,
};

/// The present access, as all its granules see it.
#[derive(Clone, Copy)]
pub struct Now {
    moment: Moment,
    /// The block plus one.
    pub me: u32,
    /// Older moments of the block are ordered before this.
    barrier: u64,
}

impl Now {
    /// An access of `1 << width` granules by each lane.
    #[inline(always)]
    pub fn new(present: Present<'_>, actor: Actor, width: u32) -> Self {
        Self {
            moment: Moment::new(present.order.now, actor.warp, actor.pc, actor.strength).with_width(width),
            me: present.block + 1,
            barrier: u64::from(present.order.barrier) << 32,
        }
    }
}

/// The lanes of granules in a row, where each lane has as many as the access is wide, and the next lane the next ones: those of their
/// line's first granule, so that all of a row are the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row(u32);

impl Row {
    /// The row whose granule `granule` of the line has these lanes, by an access of `1 << width` granules for each lane.
    #[inline(always)]
    pub fn new(lanes: u32, granule: usize, width: u32) -> Self {
        Self(lanes.rotate_right(granule as u32 >> width))
    }

    /// The lanes of a granule of the line.
    #[inline(always)]
    fn lanes(self, granule: usize, width: u32) -> u32 {
        self.0.rotate_left(granule as u32 >> width)
    }
}

/// Remembered accesses to one granule, or to each of a row, by one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// With the width of the access.
    moment: Moment,
    /// The block (plus one; zero for none) above the lanes of the line's first granule.
    party: u64,
}

impl Seen {
    #[inline(always)]
    fn new(now: Now, row: Row) -> Self {
        Self { moment: now.moment, party: u64::from(now.me) << 32 | u64::from(row.0) }
    }

    /// The block plus one; zero for none.
    #[inline(always)]
    pub fn block(self) -> u32 {
        (self.party >> 32) as u32
    }

    /// The access to granule `granule` of the line.
    #[inline(always)]
    pub fn entry(self, granule: usize) -> Entry {
        let lanes = Row(self.party as u32).lanes(granule, self.moment.width());
        Entry { moment: self.moment, lanes }
    }

    #[inline(always)]
    fn stale(self) -> Self {
        Self { moment: self.moment.stale(), ..self }
    }

    #[inline(always)]
    fn is_now(self, now: Now) -> bool {
        self.block() == now.me && self.moment == now.moment
    }

    /// Whether it is of this block before its last barrier, or nothing.
    #[inline(always)]
    fn is_over(self, now: Now) -> bool {
        self.block() == 0 || (self.block() == now.me && self.moment.0 < now.barrier)
    }

    /// Whether it is certainly of the very lanes that access now.
    #[inline(always)]
    fn is_of(self, now: Now, row: Row) -> bool {
        let same_lanes = self.party as u32 == row.0 && self.moment.width() == now.moment.width();
        self.block() == now.me && same_lanes && self.moment.is_by(now.moment)
    }

    /// Whether it can neither conflict with a load now nor with a store of the same lanes.
    #[inline(always)]
    fn is_quiet(self, now: Now, row: Row) -> bool {
        self.is_over(now) || self.is_of(now, row)
    }

    /// Adds what happens now to what happened last.
    #[inline(always)]
    pub fn add(&mut self, now: Now, row: Row) {
        if self.is_now(now) {
            self.party |= u64::from(row.0);
        } else {
            *self = Self::new(now, row);
        }
    }
}

/// Two loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Loads {
    /// The last.
    pub last: Seen,
    /// One before it.
    pub other: Seen,
}

impl Loads {
    /// Adds a load.
    #[inline(always)]
    pub fn remember(&mut self, now: Now, row: Row) {
        let Loads { last, other } = *self;
        if last.is_now(now) {
            self.last.party |= u64::from(row.0);
            return;
        }
        // A reader of another block is kept if there is one: it stays unordered for longest.
        let stays = (last.block() == now.me) & (other.block() != now.me) & (other.block() != 0);
        *self = Loads { last: Seen::new(now, row), other: if stays { other } else { last } };
    }

    /// The value has been replaced.
    #[inline(always)]
    pub fn make_stale(&mut self) {
        *self = Self { last: self.last.stale(), other: self.other.stale() };
    }

    /// Whether a store by these lanes certainly conflicts with none of them.
    #[inline(always)]
    pub fn are_quiet(&self, now: Now, row: Row) -> bool {
        self.last.is_quiet(now, row) & self.other.is_quiet(now, row)
    }
}

/// The last plain store and the last atomic or strong store; these do not hide a plain store from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Stores {
    /// The plain one.
    pub plain: Seen,
    /// The other.
    pub strong: Seen,
}

impl Stores {
    /// Whether any access now is ordered behind them.
    #[inline(always)]
    pub fn are_over(&self, now: Now) -> bool {
        self.plain.is_over(now) & self.strong.is_over(now)
    }

    /// Whether a store by these lanes certainly conflicts with none of them.
    #[inline(always)]
    pub fn are_quiet(&self, now: Now, row: Row) -> bool {
        self.plain.is_quiet(now, row) & self.strong.is_quiet(now, row)
    }
}
