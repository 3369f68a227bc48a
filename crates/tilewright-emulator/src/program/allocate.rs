//! Storage for virtual registers: PTX has as many as it likes, a frame only as many rows as are alive at once.
//!
//! Liveness over basic blocks, then a linear scan. Lanes of a diverged warp are no concern: a row is 32 private values, each lane's
//! execution is one of the paths that liveness looks at, and writes touch the active lanes alone.

use super::{
    blocks::Block,
    instruction::{Guard, Inst, Place, Role, Slot, Width},
    names::{Pinned, Registers},
    places::{may_overwrite_sources, visit},
    sites::Sites,
};

/// Where the registers of a function lie.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Offset of each virtual register.
    pub offsets: Vec<i32>,
    /// Bytes of all.
    pub bytes: u32,
    /// Registers that may be read before anything is written to them.
    pub unwritten: Vec<Slot>,
}

/// Replaces the virtual registers in `code` by offsets into the frame.
pub fn allocate(code: &mut [Inst], sites: &mut Sites, blocks: &[Block], registers: &Registers) -> Frame {
    let (spans, first) = spans(code, sites, blocks, registers);
    let mut frame = scan(&spans, registers);
    let slot =
        |register: usize| Slot { place: Place(frame.offsets[register]), width: registers.widths[register] };
    frame.unwritten = first.into_iter().filter(|&r| registers.pinned[r] == Pinned::No).map(slot).collect();
    for inst in code {
        visit(inst, sites, &mut |place, _| {
            if place.0 >= 0 {
                *place = Place(frame.offsets[place.0 as usize]);
            }
        });
    }
    frame
}

/// From the first definition to the last use, in half instructions: an instruction reads at `2 i` and writes at `2 i + 1`.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// A set of virtual registers.
#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }
}

/// The span of each register, and the registers that are alive at the very beginning.
fn spans(
    code: &mut [Inst],
    sites: &mut Sites,
    blocks: &[Block],
    registers: &Registers,
) -> (Vec<Option<Span>>, Vec<usize>) {
    let count = registers.widths.len();
    let mut spans: Vec<Option<Span>> = vec![None; count];
    let mut touch = |register: usize, at: usize| {
        let span = spans[register].get_or_insert(Span { start: at, end: at });
        span.start = span.start.min(at);
        span.end = span.end.max(at);
    };
    // Only registers that are used before a definition in some block can be alive between blocks: they get a bit each.
    let mut bit_of = vec![u32::MAX; count];
    let mut register_of = Vec::new();
    let mut defined_in = vec![usize::MAX; count];
    for (number, block) in blocks.iter().enumerate() {
        for (at, inst) in code.iter_mut().enumerate().take(block.end).skip(block.start) {
            let writes_at = 2 * at + 1;
            let reads_until = if may_overwrite_sources(inst.op) { 2 * at } else { writes_at };
            let conditional = inst.guard != Guard::NONE;
            visit(inst, sites, &mut |place, role| {
                let Ok(register) = usize::try_from(place.0) else { return };
                match role {
                    Role::Row => {}
                    Role::Use => {
                        touch(register, 2 * at);
                        touch(register, reads_until);
                    }
                    Role::Define => touch(register, writes_at),
                }
                let reads = role == Role::Use || role == Role::Define && conditional;
                if reads && defined_in[register] != number && bit_of[register] == u32::MAX {
                    bit_of[register] = register_of.len() as u32;
                    register_of.push(register);
                }
                if role == Role::Define && !conditional {
                    defined_in[register] = number;
                }
            });
        }
    }
    let (live_in, live_out) = liveness(code, sites, blocks, &bit_of, register_of.len());
    for (block, (live_in, live_out)) in blocks.iter().zip(live_in.iter().zip(&live_out)) {
        live_in.iter().for_each(|bit| touch(register_of[bit], 2 * block.start));
        live_out.iter().for_each(|bit| touch(register_of[bit], 2 * block.end));
    }
    let first = live_in.first().map(|bits| bits.iter().map(|bit| register_of[bit]).collect());
    (spans, first.unwrap_or_default())
}

fn liveness(
    code: &mut [Inst],
    sites: &mut Sites,
    blocks: &[Block],
    bit_of: &[u32],
    bits: usize,
) -> (Vec<Bits>, Vec<Bits>) {
    let empty = Bits(vec![0; bits.div_ceil(64)]);
    let mut uses = vec![empty.clone(); blocks.len()];
    let mut defines = vec![empty.clone(); blocks.len()];
    for (number, block) in blocks.iter().enumerate() {
        for inst in &mut code[block.start..block.end] {
            let conditional = inst.guard != Guard::NONE;
            visit(inst, sites, &mut |place, role| {
                let Some(&bit) = usize::try_from(place.0).ok().and_then(|register| bit_of.get(register))
                else {
                    return;
                };
                if bit == u32::MAX {
                    return;
                }
                let bit = bit as usize;
                let reads = role == Role::Use || role == Role::Define && conditional;
                if reads && !defines[number].has(bit) {
                    uses[number].insert(bit);
                }
                if role == Role::Define && !conditional {
                    defines[number].insert(bit);
                }
            });
        }
    }
    let mut live_in = uses.clone();
    let mut live_out = vec![empty; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            for &next in &block.successors {
                for word in 0..live_out[number].0.len() {
                    let more = live_in[next as usize].0[word] & !live_out[number].0[word];
                    if more != 0 {
                        changed = true;
                        live_out[number].0[word] |= more;
                        live_in[number].0[word] |= more & !defines[number].0[word];
                    }
                }
            }
        }
    }
    (live_in, live_out)
}

/// Gives each register an offset: predicates first, then words, then doubles, each class on aligned rows of its own.
fn scan(spans: &[Option<Span>], registers: &Registers) -> Frame {
    let mut row = vec![0i32; spans.len()];
    let mut rows = [0i32; 3];
    let class = |width: Width| width as usize;
    for (register, &pinned) in registers.pinned.iter().enumerate() {
        if pinned == Pinned::Yes {
            let class = class(registers.widths[register]);
            row[register] = rows[class];
            rows[class] += 1;
        }
    }
    let mut order: Vec<usize> =
        (0..spans.len()).filter(|&r| spans[r].is_some() && registers.pinned[r] == Pinned::No).collect();
    order.sort_by_key(|&register| spans[register].map(|span| span.start));
    let mut active: [std::collections::BinaryHeap<std::cmp::Reverse<(usize, i32)>>; 3] = Default::default();
    let mut free: [Vec<i32>; 3] = Default::default();
    for register in order {
        let Some(span) = spans[register] else { continue };
        let class = class(registers.widths[register]);
        while let Some(&std::cmp::Reverse((end, freed))) = active[class].peek() {
            if end >= span.start {
                break;
            }
            active[class].pop();
            free[class].push(freed);
        }
        row[register] = free[class].pop().unwrap_or_else(|| {
            rows[class] += 1;
            rows[class] - 1
        });
        active[class].push(std::cmp::Reverse((span.end, row[register])));
    }
    let word_base = (rows[0] * Width::Predicate.bytes() + 63) & !63;
    let double_base = word_base + rows[1] * Width::Word.bytes();
    let bases = [0, word_base, double_base];
    let offsets = (0..spans.len())
        .map(|register| {
            let width = registers.widths[register];
            bases[class(width)] + row[register] * width.bytes()
        })
        .collect();
    let bytes = (double_base + rows[2] * Width::Double.bytes()) as u32;
    Frame { offsets, bytes, unwritten: Vec::new() }
}
