//! How long a warp takes on its own: chains of instructions that wait for each other.
//!
//! A piece of straight code takes at least as long as its longest chain. A loop without barriers may go round while results of the round before
//! are still under way, so that at least only what is carried from round to round counts.

use super::code::{Function, Piece, Step, is_block_barrier};
use std::collections::HashMap;
use tilewright_arch::parts::{CycleRange, Latencies};

/// What a chain waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Results of arithmetic.
    Fixed,
    /// Shared memory, exchanges, special functions.
    Short,
    /// Device memory.
    Long,
    /// Other warps of the block.
    Barrier,
}

impl Wait {
    pub const ALL: [Self; 4] = [Self::Fixed, Self::Short, Self::Long, Self::Barrier];

    /// What Nsight Compute calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "wait",
            Self::Short => "short_scoreboard",
            Self::Long => "long_scoreboard",
            Self::Barrier => "barrier",
        }
    }
}

/// Cycles of a warp, by what it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chain([f64; 4]);

impl Chain {
    pub fn cycles(&self) -> f64 {
        self.0.iter().sum()
    }

    pub fn of(&self, wait: Wait) -> f64 {
        self.0[wait as usize]
    }

    fn with(mut self, wait: Wait, cycles: f64) -> Self {
        self.0[wait as usize] += cycles;
        self
    }

    fn longer(self, other: Self) -> Self {
        if other.cycles() > self.cycles() { other } else { self }
    }

    /// A part of the way from this to another.
    pub fn towards(&self, other: &Self, part: f64) -> Self {
        let mut between = Self::default();
        between.add(self, 1.0 - part);
        between.add(other, part);
        between
    }

    fn add(&mut self, other: &Self, times: f64) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += times * more);
    }
}

/// What a warp takes at least, likely, and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chains {
    pub low: Chain,
    /// Where data that is new to its block lies in L2.
    pub from_l2: Chain,
    /// Where it lies in device memory.
    pub from_dram: Chain,
    pub high: Chain,
}

/// What a warp executes, by the line of the PTX.
pub struct Executions {
    /// How often.
    pub times: HashMap<u32, f64>,
    /// How often it goes round where an atomic is a loop.
    pub rounds: HashMap<u32, f64>,
}

/// The chains of all functions. `news` has the part of its rounds in which a load waits for data that its block has not loaded before: the slowest
/// of all warps, since they meet again.
pub fn chains(
    functions: &[Function<'_>],
    executions: &Executions,
    latencies: &Latencies,
    news: &HashMap<u32, f64>,
) -> Chains {
    let low = |range: CycleRange| range.low;
    let high = |range: CycleRange| range.high;
    let middle = |range: CycleRange| (range.low + range.high) / 2.0;
    let near = latencies.l1.low;
    let once = HashMap::new();
    let timing = |end, near, far, rounds| Timing { latencies, end, news, near, far, rounds };
    let timings = [
        timing(low, near, near, &once),
        timing(middle, near, middle(latencies.l2), &executions.rounds),
        timing(middle, near, middle(latencies.dram), &executions.rounds),
        timing(high, latencies.dram.high, latencies.dram.high, &executions.rounds),
    ];
    let mut chains = Chains::default();
    for piece in functions.iter().flat_map(|function| &function.pieces) {
        let times =
            piece.steps.iter().find_map(|step| executions.times.get(&step.ptx_line)).copied().unwrap_or(0.0);
        if times == 0.0 {
            continue;
        }
        let numbered = Numbered::new(piece);
        let [least, from_l2, from_dram, most] =
            timings.each_ref().map(|timing| longest(piece, &numbered, timing));
        let goes_round = piece.label.is_some() && piece.steps.iter().any(|step| step.target == piece.label);
        let has_barrier = piece.steps.iter().any(is_barrier);
        let carried = if goes_round { carried(piece, &numbered, &timings[0]) } else { Chain::default() };
        chains.low.add(if has_barrier { &least } else { &carried }, times);
        chains.from_l2.add(&from_l2, times);
        chains.from_dram.add(&from_dram, times);
        chains.high.add(&most, times);
    }
    chains
}

/// Which end of the ranges counts.
struct Timing<'a> {
    latencies: &'a Latencies,
    end: fn(CycleRange) -> f64,
    /// The part of the rounds of each load in which its data is far away.
    news: &'a HashMap<u32, f64>,
    /// Of loads from device memory.
    near: f64,
    far: f64,
    /// How often atomics go round that are loops.
    rounds: &'a HashMap<u32, f64>,
}

impl Timing<'_> {
    fn of(&self, step: &Step<'_>) -> (Wait, f64) {
        let l = self.latencies;
        let (wait, range) = match step.base() {
            "ld" | "ldu" if step.has("shared") => (Wait::Short, l.shared),
            "ld" | "ldu" if step.has("param") => return (Wait::Fixed, 0.0),
            "ld" | "ldu" if step.has("const") => (Wait::Short, l.shared),
            "ld" | "ldu" | "tex" | "suld" => {
                let news = self.news.get(&step.ptx_line).copied().unwrap_or(1.0);
                return (Wait::Long, news * self.far + (1.0 - news) * self.near);
            }
            "atom" | "red" if self.rounds.contains_key(&step.ptx_line) => {
                // Each round loads, compares and swaps.
                let rounds = self.rounds[&step.ptx_line];
                return (Wait::Short, 2.0 * rounds * (self.end)(l.shared));
            }
            "atom" if step.has("shared") => (Wait::Short, l.shared),
            "atom" => (Wait::Long, l.atomic),
            "ldmatrix" | "shfl" => (Wait::Short, l.shared),
            "ex2" | "lg2" | "sin" | "cos" | "rcp" | "rsqrt" | "sqrt" | "div" | "tanh" | "popc" => {
                (Wait::Short, l.special)
            }
            "mma" | "wmma" | "wgmma" => (Wait::Fixed, l.tensor),
            "mov" | "cvta" => return (Wait::Fixed, 0.0),
            _ if step.has("f64") => (Wait::Fixed, l.f64),
            _ => (Wait::Fixed, l.arithmetic),
        };
        (wait, (self.end)(range))
    }
}

/// Whether a warp waits here for others of its block.
fn is_barrier(step: &Step<'_>) -> bool {
    is_block_barrier(step.opcode) && !step.has("arrive")
}

/// A piece whose registers are numbers.
struct Numbered {
    registers: usize,
    /// What each step reads, and what it writes.
    steps: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Numbered {
    fn new<'a>(piece: &Piece<'a>) -> Self {
        let mut numbers: HashMap<&'a str, usize> = HashMap::new();
        let mut number = |register: &&'a str| -> usize {
            let next = numbers.len();
            *numbers.entry(*register).or_insert(next)
        };
        let steps: Vec<_> = piece
            .steps
            .iter()
            .map(|step| {
                let reads = step.reads.iter().chain(&step.places).map(&mut number).collect();
                (reads, step.writes.iter().map(&mut number).collect())
            })
            .collect();
        Self { registers: numbers.len(), steps }
    }
}

/// The longest chain of a piece, with nothing under way at its beginning.
fn longest(piece: &Piece<'_>, numbered: &Numbered, timing: &Timing<'_>) -> Chain {
    let mut ready = vec![Chain::default(); numbered.registers];
    let (mut floor, mut latest, mut end) = (Chain::default(), Chain::default(), Chain::default());
    for (step, (reads, writes)) in piece.steps.iter().zip(&numbered.steps) {
        let start = reads.iter().fold(floor, |start, &register| start.longer(ready[register]));
        latest = latest.longer(start);
        if is_barrier(step) {
            floor = latest.with(Wait::Barrier, (timing.end)(timing.latencies.barrier));
            latest = floor;
        }
        let (wait, cycles) = timing.of(step);
        let done = start.with(wait, cycles);
        for &register in writes {
            ready[register] = done;
        }
        end = end.longer(if writes.is_empty() { latest } else { done });
    }
    end
}

/// More registers than any loop carries that is worth the time.
const MOST_CARRIED: usize = 128;

/// The longest chain from a register at the beginning of a piece to the same register at its end.
fn carried(piece: &Piece<'_>, numbered: &Numbered, timing: &Timing<'_>) -> Chain {
    let mut is_written = vec![false; numbered.registers];
    let mut first_read: Vec<usize> = Vec::new();
    for (reads, writes) in &numbered.steps {
        first_read.extend(reads.iter().filter(|&&register| !is_written[register]));
        writes.iter().for_each(|&register| is_written[register] = true);
    }
    first_read.sort_unstable();
    first_read.dedup();
    first_read.retain(|&register| is_written[register]);
    let costs: Vec<(Wait, f64)> = piece.steps.iter().map(|step| timing.of(step)).collect();
    let mut ready: Vec<Option<Chain>> = vec![None; numbered.registers];
    let mut around = |register: usize| {
        ready.fill(None);
        ready[register] = Some(Chain::default());
        for ((reads, writes), &(wait, cycles)) in numbered.steps.iter().zip(&costs) {
            let start = reads.iter().filter_map(|&register| ready[register]).reduce(Chain::longer);
            for &register in writes {
                ready[register] = start.map(|start| start.with(wait, cycles));
            }
        }
        ready[register].unwrap_or_default()
    };
    first_read.into_iter().take(MOST_CARRIED).map(&mut around).fold(Chain::default(), Chain::longer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::code::functions;
    use tilewright_arch::{ComputeCapability, PartCosts};
    use tilewright_emulator::parse::parse;

    fn chains_of(body: &str, times: f64, news: f64) -> (Chains, Latencies) {
        let text = format!(
            ".version 9.0 .target sm_90 .address_size 64 .visible .entry k() {{ .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .pred %p<2>; {body} ret; }}"
        );
        let module = parse(&text).expect("it is PTX");
        let latencies = PartCosts::of(ComputeCapability::new(9, 0)).expect("known").latencies;
        let executions = Executions { times: HashMap::from([(1, times)]), rounds: HashMap::new() };
        (chains(&functions(&module, "k"), &executions, &latencies, &HashMap::from([(1, news)])), latencies)
    }

    #[test]
    fn a_loop_carries_its_sum_and_may_load_ahead() {
        let body = "L: ld.global.f32 %f1, [%d1]; fma.rn.f32 %f2, %f1, %f1, %f2; fma.rn.f32 %f2, %f1, %f1, %f2; @%p1 bra L;";
        let (chains, l) = chains_of(body, 10.0, 0.0);
        assert_eq!(chains.low.cycles(), 10.0 * 2.0 * l.arithmetic.low);
        assert_eq!(chains.from_l2.of(Wait::Long), 10.0 * l.l1.low);
        assert!(
            chains.low.cycles() < chains.from_l2.cycles() && chains.from_l2.cycles() < chains.high.cycles()
        );
    }

    #[test]
    fn a_round_waits_for_its_slowest_load() {
        let body = "L: ld.global.f32 %f1, [%d1]; fma.rn.f32 %f2, %f1, %f1, %f2; @%p1 bra L;";
        let (chains, l) = chains_of(body, 10.0, 0.5);
        let [l2, dram] =
            [l.l2, l.dram].map(|range| 10.0 * (0.5 * l.l1.low + 0.25 * (range.low + range.high)));
        assert_eq!([chains.from_l2, chains.from_dram].map(|chain| chain.of(Wait::Long)), [l2, dram]);
        let between = chains.from_l2.towards(&chains.from_dram, 0.25);
        assert!((between.of(Wait::Long) - (0.75 * l2 + 0.25 * dram)).abs() < 1e-9);
    }

    #[test]
    fn nothing_passes_a_barrier() {
        let body = "L: ld.shared.f32 %f1, [%d1]; bar.sync 0; fma.rn.f32 %f2, %f1, %f1, %f2; @%p1 bra L;";
        let (chains, l) = chains_of(body, 1.0, 0.0);
        // The load is not waited for by the barrier itself, but by what needs it.
        let fma = l.shared.low.max(l.barrier.low) + l.arithmetic.low;
        assert_eq!(chains.low.cycles(), fma);
        assert!(chains.low.of(Wait::Long) == 0.0);
    }

    #[test]
    fn lanes_of_a_warp_do_not_wait_at_a_barrier_of_their_own() {
        let body = "L: add.f32 %f1, %f1, %f2; bar.warp.sync 1; @%p1 bra L;";
        let (chains, l) = chains_of(body, 3.0, 0.0);
        assert_eq!(chains.low.cycles(), 3.0 * l.arithmetic.low);
        assert!(chains.from_l2.of(Wait::Barrier) == 0.0);
    }
}
