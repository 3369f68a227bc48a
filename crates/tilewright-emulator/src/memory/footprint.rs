//! The granules of memory that a warp access touches, as the race checks want them.

use super::lanes;

/// Granules without gaps.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// From the first lane's first granule.
    start: i64,
    /// Where its lanes begin.
    from: usize,
    /// Where they end.
    to: usize,
}

/// Granules without gaps, each lane having as many as the access is wide, and the next lane the next ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From the first lane's first granule.
    pub start: i64,
    /// How many.
    pub granules: usize,
    /// Lanes of the first.
    pub lanes: u32,
}

/// The granules of an access, relative to the first lane's, in runs.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    runs: Vec<Run>,
    pieces: Vec<Piece>,
    /// log2 of the granules of a lane.
    width: u32,
    /// By granule: the lanes that touch it.
    lanes: Vec<u32>,
    /// Whether no two lanes touch one granule.
    exclusive: bool,
    /// Whether all pieces are of one granule.
    column: bool,
}

impl Run {
    /// Cuts it where lanes do not follow each other.
    fn pieces(self, lanes: &[u32], width: u32) -> impl Iterator<Item = Piece> {
        let follows = move |at: usize| {
            let next_lane = (at - self.from).is_multiple_of(1 << width);
            lanes[at] == lanes[at - 1].rotate_left(next_lane.into())
        };
        let cuts = (self.from + 1..self.to).filter(move |&at| !follows(at));
        let mut from = self.from;
        cuts.chain([self.to]).map(move |to| {
            let start = self.start + (from - self.from) as i64;
            let piece = Piece { start, granules: to - from, lanes: lanes[from] };
            from = to;
            piece
        })
    }
}

impl Footprint {
    /// The footprint of an access of `bytes` by each lane of `mask`, aligned to granules of `1 << shift` bytes or inside of one.
    pub fn new(relative: &[u64; 32], mask: u32, bytes: u32, shift: u32) -> Self {
        let granules = i64::from((bytes >> shift).max(1));
        let mut touched = Vec::with_capacity(32 * granules as usize);
        for lane in lanes(mask) {
            let start = relative[lane] as i64 >> shift;
            touched.extend((start..start + granules).map(|granule| (granule, 1u32 << lane)));
        }
        touched.sort_unstable();
        let width = granules.ilog2();
        let mut footprint = Self { exclusive: true, width, ..Self::default() };
        let mut last = None;
        for (granule, lane) in touched {
            if last == Some(granule) {
                footprint.exclusive = false;
                if let Some(lanes) = footprint.lanes.last_mut() {
                    *lanes |= lane;
                }
                continue;
            }
            let at = footprint.lanes.len();
            match footprint.runs.last_mut() {
                Some(run) if last == Some(granule - 1) => run.to = at + 1,
                _ => footprint.runs.push(Run { start: granule, from: at, to: at + 1 }),
            }
            footprint.lanes.push(lane);
            last = Some(granule);
        }
        let pieces = footprint.runs.iter().flat_map(|run| run.pieces(&footprint.lanes, width));
        footprint.pieces = pieces.collect();
        footprint.column = footprint.pieces.iter().all(|piece| piece.granules == 1);
        footprint
    }

    /// Whether nothing is in it yet.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.runs.clear();
    }

    /// Whether no two lanes touch one granule.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Whether all pieces are of one granule.
    #[inline(always)]
    pub fn is_column(&self) -> bool {
        self.column
    }

    /// log2 of the granules of a lane.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The runs, cut into pieces of regular lanes.
    #[inline(always)]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// A run: its first granule, if the first lane's is `first`, and the lanes of its granules.
    #[inline(always)]
    pub fn run(&self, number: usize, first: usize) -> (usize, &[u32]) {
        let run = self.runs[number];
        (first.wrapping_add_signed(run.start as isize), &self.lanes[run.from..run.to])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(relative: impl Fn(usize) -> i64, mask: u32, bytes: u32) -> (Vec<(usize, Vec<u32>)>, bool) {
        let relative = std::array::from_fn(|lane| relative(lane) as u64);
        let footprint = Footprint::new(&relative, mask, bytes, 2);
        let run = |number| footprint.run(number, 100);
        let runs = (0..footprint.runs()).map(run).map(|(start, lanes)| (start, lanes.to_vec())).collect();
        (runs, footprint.is_exclusive())
    }

    #[test]
    fn lanes_in_a_row_are_one_run() {
        let bits: Vec<u32> = (0..32).map(|lane| 1 << lane).collect();
        assert_eq!(runs(|lane| 4 * lane as i64, u32::MAX, 4), (vec![(100, bits.clone())], true));
        let backwards: Vec<u32> = bits.iter().rev().copied().collect();
        assert_eq!(runs(|lane| -4 * lane as i64, u32::MAX, 4), (vec![(69, backwards)], true));
        let pairs: Vec<u32> = bits.iter().flat_map(|&bit| [bit, bit]).collect();
        assert_eq!(runs(|lane| 8 * lane as i64, u32::MAX, 8), (vec![(100, pairs)], true));
    }

    #[test]
    fn lanes_of_one_place_share_a_granule() {
        assert_eq!(runs(|_| 0, 0b1010, 4), (vec![(100, vec![0b1010])], false));
        let halves = runs(|lane| 4 * (lane as i64 % 16), u32::MAX, 4);
        assert_eq!(halves, (vec![(100, (0..16).map(|lane| 0x1_0001 << lane).collect())], false));
    }

    #[test]
    fn pieces_are_cut_where_lanes_do_not_follow_each_other() {
        let pieces = |relative: fn(u64) -> u64, bytes| {
            let footprint =
                Footprint::new(&std::array::from_fn(|lane| relative(lane as u64)), u32::MAX, bytes, 2);
            footprint.pieces().to_vec()
        };
        assert_eq!(pieces(|lane| 4 * lane, 4), [Piece { start: 0, granules: 32, lanes: 1 }]);
        assert_eq!(pieces(|lane| 16 * lane, 16), [Piece { start: 0, granules: 128, lanes: 1 }]);
        assert_eq!(pieces(|_| 0, 16), [Piece { start: 0, granules: 4, lanes: u32::MAX }]);
        // Lanes 0 to 15 behind lanes 16 to 31.
        assert_eq!(pieces(|lane| 4 * (lane ^ 16), 4), [Piece { start: 0, granules: 32, lanes: 1 << 16 }]);
        assert_eq!(pieces(|lane| 8 * (lane ^ 1), 8).len(), 32);
    }

    #[test]
    fn lanes_apart_are_runs_of_their_own() {
        let (found, exclusive) = runs(|lane| 64 * lane as i64, 0b111, 4);
        assert_eq!(found, vec![(100, vec![1]), (116, vec![2]), (132, vec![4])]);
        assert!(exclusive);
    }
}
