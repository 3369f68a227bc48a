//! What the hardware makes of atomics of shared memory that are a loop: how often warps go round that meet in the same words.
//!
//! A round is a load (`LDS`), the operation, and a compare-and-swap (`ATOMS.CAST.SPIN`) that stores for one lane of each bank, the first of
//! those that are left, unless the word has changed since the load. The warps of a block go side by side: all load, then one after the other
//! swaps. A warp that has stored is behind those that have not, so that warps take turns.
//!
//! That is what an H200 counts for warps that come to the instruction together and take the same time for a round. Where they do not, who comes first
//! is a matter of timing, and it counts some rounds fewer or more.

use tilewright_arch::memory::shared;

use super::raw::AccessCount;
use crate::memory::{Addresses, lanes};

/// The lanes of a warp that are not done yet.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The addresses, which are those of shared memory.
    at: [u32; 32],
    left: u32,
}

impl Contender {
    pub fn new(addresses: &Addresses) -> Self {
        Self { at: addresses.at.map(|at| at as u32), left: addresses.mask }
    }
}

/// What a loop counts, in all of its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// The loads.
    pub loads: AccessCount,
    /// The compare-and-swaps. Lanes of one word cost them rounds and no wavefronts.
    pub swaps: AccessCount,
}

/// Wavefronts of a compare-and-swap, for each group of lanes that it serves at once.
const SWAP_WAVEFRONTS: u64 = 2;

/// Warps come together to an atomic of `bytes`, in this order.
pub fn contend(contenders: &[Contender], bytes: u32) -> Loop {
    let size = bytes.max(shared::BANK_BYTES);
    let mut words: Vec<u32> =
        contenders.iter().flat_map(|warp| lanes(warp.left).map(|lane| warp.at[lane] / size)).collect();
    words.sort_unstable();
    words.dedup();
    // By word: the last round in which it has changed.
    let mut changed = vec![0u32; words.len()];
    let mut queue: Vec<Turn> = contenders.iter().map(|warp| Turn::new(warp, size, bytes, &words)).collect();
    let mut sum = Loop::default();
    for round in 1.. {
        queue.retain(|turn| turn.left != 0);
        if queue.is_empty() {
            break;
        }
        for turn in &mut queue {
            turn.count(&mut sum);
            turn.go(round, &mut changed);
        }
        // Stable: among themselves, those that have stored stay in order.
        queue.sort_by_key(|turn| turn.stored == round);
    }
    sum
}

/// A warp in its loop.
struct Turn {
    at: [u64; 32],
    /// The places of the lanes' words among all.
    word: [u32; 32],
    /// The banks, by lane: of 4 bytes, or of 8 for each half of the warp.
    bank: [u32; 32],
    bytes: u32,
    left: u32,
    /// The lanes that the next round stores for, if nothing comes between.
    tries: u32,
    /// What the next round counts.
    once: Loop,
    /// The last round in which it has stored.
    stored: u32,
}

impl Turn {
    fn new(warp: &Contender, size: u32, bytes: u32, words: &[u32]) -> Self {
        let place = |at: u32| words.partition_point(|&word| word < at / size) as u32;
        let banks = shared::BANKS * shared::BANK_BYTES / size;
        let bank = |lane: usize| warp.at[lane] / size % banks + lane as u32 / banks * banks;
        let mut turn = Self {
            at: warp.at.map(u64::from),
            word: warp.at.map(place),
            bank: std::array::from_fn(bank),
            bytes,
            left: warp.left,
            tries: 0,
            once: Loop::default(),
            stored: 0,
        };
        turn.prepare();
        turn
    }

    /// Looks at the lanes that are left.
    fn prepare(&mut self) {
        let mut busy = 0u32;
        self.tries = 0;
        for lane in lanes(self.left) {
            let bank = 1 << self.bank[lane];
            self.tries |= u32::from(busy & bank == 0) << lane;
            busy |= bank;
        }
        let active = u64::from(self.left.count_ones());
        let once = AccessCount {
            requests: 1,
            lanes: active,
            bytes: active * u64::from(self.bytes),
            ..AccessCount::default()
        };
        let load = shared::load(&self.at, self.left, self.bytes);
        let swap = SWAP_WAVEFRONTS * u64::from(shared::store(&self.at, self.left, self.bytes).ideal);
        self.once = Loop {
            loads: AccessCount {
                wavefronts: load.wavefronts.into(),
                ideal_wavefronts: load.ideal.into(),
                ..once
            },
            swaps: AccessCount { wavefronts: swap, ideal_wavefronts: swap, ..once },
        };
    }

    fn count(&self, sum: &mut Loop) {
        sum.loads.add(&self.once.loads, 1);
        sum.swaps.add(&self.once.swaps, 1);
    }

    /// Stores for the lanes whose words nobody has changed in this round.
    fn go(&mut self, round: u32, changed: &mut [u32]) {
        for lane in lanes(self.tries) {
            let changed = &mut changed[self.word[lane] as usize];
            if *changed != round {
                *changed = round;
                self.left &= !(1 << lane);
                self.stored = round;
            }
        }
        if self.stored == round {
            self.prepare();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane and warp to the byte address.
    type Place = fn(u32, u32) -> u32;

    /// Name, where lanes go, bytes, warps; rounds, wavefronts of the loads and of the swaps.
    type Row = (&'static str, Place, u32, u32, [u64; 3]);

    /// What an H200 counts, of one block, by Nsight Compute of CUDA 13.0, assembled with `-O0`, 2026-11-22; two runs gave the same.
    const MEASURED: &[Row] = &[
        ("f32, 1 lane a word", |l, _| 4 * l, 4, 1, [1, 1, 2]),
        ("f32, 1 lane a word", |l, _| 4 * l, 4, 2, [3, 3, 6]),
        ("f32, 1 lane a word", |l, _| 4 * l, 4, 8, [36, 36, 72]),
        ("f32, 2 lanes a word", |l, _| 4 * (l / 2), 4, 1, [2, 2, 4]),
        ("f32, 2 lanes a word", |l, _| 4 * (l / 2), 4, 2, [7, 7, 14]),
        ("f32, 2 lanes a word", |l, _| 4 * (l / 2), 4, 8, [100, 100, 200]),
        ("f32, 4 lanes a word", |l, _| 4 * (l / 4), 4, 1, [4, 4, 8]),
        ("f32, 4 lanes a word", |l, _| 4 * (l / 4), 4, 2, [15, 15, 30]),
        ("f32, 4 lanes a word", |l, _| 4 * (l / 4), 4, 8, [228, 228, 456]),
        ("f32, 8 lanes a word", |l, _| 4 * (l / 8), 4, 1, [8, 8, 16]),
        ("f32, 8 lanes a word", |l, _| 4 * (l / 8), 4, 2, [31, 31, 62]),
        ("f32, 8 lanes a word", |l, _| 4 * (l / 8), 4, 8, [484, 484, 968]),
        ("f32, 16 lanes a word", |l, _| 4 * (l / 16), 4, 1, [16, 16, 32]),
        ("f32, 16 lanes a word", |l, _| 4 * (l / 16), 4, 2, [63, 63, 126]),
        ("f32, 16 lanes a word", |l, _| 4 * (l / 16), 4, 8, [996, 996, 1992]),
        ("f32, one word", |_, _| 0, 4, 1, [32, 32, 64]),
        ("f32, one word", |_, _| 0, 4, 2, [127, 127, 254]),
        ("f32, one word", |_, _| 0, 4, 8, [2020, 2020, 4040]),
        ("f32, 1 lane a word, words of each warp", |l, w| 128 * w + 4 * l, 4, 1, [1, 1, 2]),
        ("f32, 1 lane a word, words of each warp", |l, w| 128 * w + 4 * l, 4, 2, [2, 2, 4]),
        ("f32, 1 lane a word, words of each warp", |l, w| 128 * w + 4 * l, 4, 8, [8, 8, 16]),
        ("f32, 2 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 2), 4, 1, [2, 2, 4]),
        ("f32, 2 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 2), 4, 2, [4, 4, 8]),
        ("f32, 2 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 2), 4, 8, [16, 16, 32]),
        ("f32, 4 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 4), 4, 1, [4, 4, 8]),
        ("f32, 4 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 4), 4, 2, [8, 8, 16]),
        ("f32, 4 lanes a word, words of each warp", |l, w| 128 * w + 4 * (l / 4), 4, 8, [32, 32, 64]),
        ("f32, one word of each warp", |_, w| 128 * w, 4, 1, [32, 32, 64]),
        ("f32, one word of each warp", |_, w| 128 * w, 4, 2, [64, 64, 128]),
        ("f32, one word of each warp", |_, w| 128 * w, 4, 8, [256, 256, 512]),
        ("f32, lanes 16 apart", |l, _| 4 * (l % 16), 4, 1, [2, 2, 4]),
        ("f32, 1 to 7 lanes a word", |l, _| 4 * uneven(l), 4, 1, [7, 7, 14]),
        ("f32, 32 words of a bank", |l, _| 128 * l, 4, 1, [32, 528, 64]),
        ("f32, 32 words of a bank", |l, _| 128 * l, 4, 2, [65, 1088, 130]),
        ("f32, 2 lanes a word, of one bank", |l, _| 128 * (l / 2), 4, 1, [32, 272, 64]),
        ("64 bits, 1 lane a word", |l, _| 8 * l, 8, 1, [1, 2, 4]),
        ("64 bits, 1 lane a word", |l, _| 8 * l, 8, 2, [3, 6, 12]),
        ("64 bits, 1 lane a word", |l, _| 8 * l, 8, 8, [36, 72, 144]),
        ("64 bits, 2 lanes a word", |l, _| 8 * (l / 2), 8, 1, [2, 2, 8]),
        ("64 bits, 2 lanes a word", |l, _| 8 * (l / 2), 8, 2, [7, 7, 28]),
        ("64 bits, 2 lanes a word", |l, _| 8 * (l / 2), 8, 8, [100, 100, 400]),
        ("64 bits, one word", |_, _| 0, 8, 1, [32, 32, 96]),
        ("64 bits, one word", |_, _| 0, 8, 2, [127, 127, 380]),
    ];

    /// Those where timing decides, as above, with what the model says instead. A warp that is ahead or behind wins more often than in turn.
    const TIMED: &[(Row, [u64; 3])] = &[
        // 7 and 100 rounds with -O3, and 100 with -O0 in the histogram of the gallery: the same additions behind other instructions.
        (("f32, lanes 16 apart", |l, _| 4 * (l % 16), 4, 2, [6, 6, 12]), [7, 7, 14]),
        (("f32, lanes 16 apart", |l, _| 4 * (l % 16), 4, 8, [93, 93, 186]), [100, 100, 200]),
        (("f32, 1 to 7 lanes a word", |l, _| 4 * uneven(l), 4, 2, [21, 21, 42]), [27, 27, 54]),
        (("f32, 1 to 7 lanes a word", |l, _| 4 * uneven(l), 4, 8, [333, 333, 654]), [420, 420, 840]),
        // With -O3 as the model says.
        (("f32, 32 words of a bank", |l, _| 128 * l, 4, 8, [291, 5273, 585]), [284, 5120, 568]),
        (("f32, 2 lanes a word, of one bank", |l, _| 128 * (l / 2), 4, 2, [96, 831, 192]), [97, 832, 194]),
        (
            ("f32, 2 lanes a word, of one bank", |l, _| 128 * (l / 2), 4, 8, [452, 4475, 845]),
            [416, 4443, 832],
        ),
        // Those of f64; u64 has 1,791 rounds.
        (("64 bits, one word", |_, _| 0, 8, 8, [1981, 1981, 5980]), [2020, 2020, 6032]),
    ];

    /// Lane 0 alone, 1 and 2 together, 3 to 5, 6 to 9, and so on.
    fn uneven(lane: u32) -> u32 {
        (0..).find(|bin| (bin + 1) * (bin + 2) / 2 > lane).unwrap()
    }

    fn counted(place: Place, bytes: u32, warps: u32) -> [u64; 3] {
        let warp = |w| Contender { at: std::array::from_fn(|lane| place(lane as u32, w)), left: u32::MAX };
        let Loop { loads, swaps } = contend(&(0..warps).map(warp).collect::<Vec<_>>(), bytes);
        assert_eq!(loads.requests, swaps.requests);
        [swaps.requests, loads.wavefronts, swaps.wavefronts]
    }

    #[test]
    fn warps_side_by_side_go_round_as_often_as_on_the_hardware() {
        for &(name, place, bytes, warps, measured) in MEASURED {
            assert_eq!(counted(place, bytes, warps), measured, "{name}, {warps} warps");
        }
    }

    #[test]
    fn timing_is_not_modelled() {
        for &((name, place, bytes, warps, measured), model) in TIMED {
            assert_eq!(counted(place, bytes, warps), model, "{name}, {warps} warps");
            assert_ne!(measured, model, "{name}, {warps} warps");
        }
    }

    #[test]
    fn lanes_that_are_switched_off_take_no_part() {
        let warp = Contender { at: [0; 32], left: 0b101 };
        let counted = contend(&[warp], 4);
        assert_eq!((counted.swaps.requests, counted.swaps.lanes, counted.loads.bytes), (2, 3, 12));
        assert_eq!(contend(&[], 4), Loop::default());
    }
}
