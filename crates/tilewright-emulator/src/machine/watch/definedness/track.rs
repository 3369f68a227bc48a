//! What an instruction makes of undefined bits, before it is executed.

use super::{
    decide::Decision,
    flow::{Operand, TRIALS, through, tried, upwards, widths, with},
};
use crate::alu::{self, MAX_SOURCES};
use crate::machine::{
    lanes::{
        addresses::{gather, resolve},
        frame::Frame,
        scalar,
    },
    state::{
        team::Team,
        undefined::{Bits, Undefined},
        warp::{Path, Warp},
        worker::Worker,
    },
};
use crate::memory::lanes;
use crate::program::{address, instruction::*};
use tilewright_arch::ComputeCapability;

/// One instruction of a warp.
struct Step<'a> {
    undefined: &'a mut Undefined,
    team: &'a mut Team,
    frame: Frame,
    /// The byte at which the frame begins.
    offset: u32,
    mask: u32,
    warp: u32,
    pc: u32,
    capability: ComputeCapability,
}

/// A row of values with their undefined bits.
#[derive(Clone, Copy)]
struct Row {
    values: [u64; 32],
    bits: Bits,
}

impl Row {
    const NONE: Self = Self { values: [0; 32], bits: Bits::NONE };

    fn operand(&self, lane: usize) -> Operand {
        Operand { value: self.values[lane], undefined: self.bits.bits[lane] }
    }
}

impl Step<'_> {
    fn row(&mut self, slot: Slot) -> Row {
        let bits = self.undefined.row(self.offset, slot);
        let row = Row { values: self.frame.row(slot), bits };
        lanes(bits.lanes(self.mask))
            .for_each(|lane| self.team.undefined.sources.used(bits.sources[lane], self.pc));
        row
    }

    fn bits(&mut self, slot: Slot) -> Bits {
        self.undefined.row(self.offset, slot)
    }

    fn set(&mut self, slot: Slot, bits: &Bits) {
        self.undefined.set(self.offset, slot, bits, self.mask);
    }

    fn clear(&mut self, slot: Option<Slot>) {
        if let Some(slot) = slot {
            self.undefined.clear(self.offset, slot, self.mask);
        }
    }

    /// What `f` makes of each lane that has undefined bits in some of `rows`.
    fn each<const N: usize>(&self, rows: &[Row; N], f: impl Fn([Operand; N]) -> u64) -> Bits {
        let mut result = Bits::NONE;
        for lane in lanes(self.mask) {
            if let Some(row) = rows.iter().find(|row| row.bits.bits[lane] != 0) {
                let operands = rows.each_ref().map(|row| row.operand(lane));
                result.add(lane, f(operands), row.bits.sources[lane]);
            }
        }
        result
    }
}

/// The name of a place in a frame.
fn slot(place: Place, width: Width) -> Option<Slot> {
    (place != Place::NONE).then_some(Slot { place, width })
}

impl Worker<'_> {
    /// Takes the undefined bits of a warp through `inst`, which is executed next, and reports what they decide.
    #[cold]
    #[inline(never)]
    pub fn track(&mut self, warp: &mut Warp, team: &mut Team, frame: Frame, inst: &Inst, path: &Path) {
        // The marker of a basic block has a number where others have a destination.
        if inst.op == Op::Enter {
            return;
        }
        let Some(mut undefined) = warp.undefined.take() else { return };
        undefined.grow(warp.registers.len());
        let (offset, pc) = (path.frame, path.pc);
        let mut step = Step {
            undefined: &mut undefined,
            team,
            frame,
            offset,
            mask: path.mask,
            warp: warp.index,
            pc,
            capability: self.launch.capability,
        };
        if let Some(guard) = slot(inst.guard.place, Width::Predicate) {
            let what = if inst.op == Op::Branch { Decision::Branch } else { Decision::Guard };
            self.decides(&mut step, Some(guard), what);
            step.mask &= frame.predicate(guard.place) ^ inst.guard.flip;
        }
        if step.mask != 0 {
            self.step(&mut step, inst);
        }
        warp.undefined = Some(undefined);
    }

    /// Whatever is undefined in `slot` decides something.
    fn decides(&mut self, step: &mut Step<'_>, slot: Option<Slot>, decision: Decision) {
        let Some(slot) = slot else { return };
        let bits = step.bits(slot);
        if bits.lanes(step.mask) != 0 {
            self.decide(step.team, step.warp, step.pc, &bits, step.mask, decision);
        }
    }

    fn step(&mut self, step: &mut Step<'_>, inst: &Inst) {
        let sites = &self.program.sites;
        let index = inst.aux as usize;
        match inst.op.class() {
            Class::Plain if inst.op == Op::WarpSync => {
                self.decides(step, slot(inst.a, Width::Word), Decision::Members);
            }
            Class::Plain => plain(step, inst),
            Class::Local => step.clear(slot(inst.dst, Width::Double)),
            Class::Scalar => scalar_site(step, &sites.scalars[index]),
            Class::Carry => carry(step, &sites.carries[index]),
            Class::Pack(role) => pack(step, &sites.packs[index], role),
            Class::Rows(role) => rows(step, &sites.rows[index], role),
            Class::Mma => mma(step, &sites.mmas[index]),
            Class::Wgmma => {
                let site = &sites.wgmmas[index];
                self.decides(step, Some(site.b), Decision::Address);
                wgmma(step, site);
            }
            Class::Map => {
                let site = &sites.maps[index];
                self.decides(step, site.map.base, Decision::Address);
                match &site.kind {
                    MapKind::Replace { value, .. } => self.decides(step, Some(*value), Decision::Copy),
                    MapKind::Copy { from } => self.decides(step, from.base, Decision::Address),
                    MapKind::Acquire => {}
                }
            }
            Class::Access(access) => self.memory_step(step, access, index),
            Class::Space => {
                let site = &sites.spaces[index];
                let address = step.row(site.address);
                step.set(site.dst, &step.each(&[address], |_| 1));
            }
            Class::Barrier => {
                let site = sites.barriers[index];
                for slot in [site.id, site.threads, site.predicate.map(|(slot, _)| slot)] {
                    self.decides(step, slot, Decision::Barrier);
                }
                step.clear(site.dst);
            }
            Class::Mbarrier => {
                let site = &sites.mbarriers[index];
                self.decides(step, site.memory.base, Decision::Address);
                self.decides(step, site.operand, Decision::Barrier);
                site.memory.values.iter().for_each(|&slot| step.clear(slot));
            }
            // The rest is for the exchange itself, where all members are.
            Class::Warp => self.decides(step, sites.warps[index].members, Decision::Members),
            Class::Flow(Flow::JumpIndexed) => self.decides(step, slot(inst.a, Width::Word), Decision::Branch),
            Class::Flow(Flow::Call) => {
                if let CallTarget::Indirect(slot) = sites.calls[index].target {
                    self.decides(step, Some(slot), Decision::Branch);
                }
            }
            Class::Flow(_) => {}
        }
    }

    fn memory_step(&mut self, step: &mut Step<'_>, access: Access, index: usize) {
        let sites = &self.program.sites;
        match access {
            Access::Plain(Role::Define) => {
                let site = &sites.memories[index];
                self.decides(step, site.base, Decision::Address);
                load(step, site);
            }
            Access::Plain(_) => {
                let site = &sites.memories[index];
                self.decides(step, site.base, Decision::Address);
                self.store(step, site);
            }
            Access::Atomic => {
                let site = &sites.atomics[index];
                self.decides(step, site.memory.base, Decision::Address);
                for slot in site.operands.iter().flatten() {
                    self.decides(step, *slot, Decision::Atomic);
                }
                load(step, &site.memory);
                if site.op != AtomicOp::Exch {
                    // What memory holds from now on hangs on what it has held.
                    self.decide_by_memory(step, &site.memory);
                }
                store_defined(step, &site.memory);
            }
            Access::Copy => {
                let site = &sites.copies[index];
                self.decides(step, site.to.base, Decision::Address);
                self.decides(step, site.from.base, Decision::Address);
                self.decides(step, site.source_bytes, Decision::Copy);
                self.decides(step, site.ignore.map(|(slot, _)| slot), Decision::Copy);
            }
            Access::Bulk(_) => {
                let site = &sites.bulks[index];
                let barrier = site.barrier.as_ref().and_then(|barrier| barrier.base);
                [site.shared.base, site.far.base, barrier]
                    .into_iter()
                    .for_each(|slot| self.decides(step, slot, Decision::Address));
                match &site.extent {
                    Extent::Bytes(size) => self.decides(step, Some(*size), Decision::Copy),
                    Extent::Box { coordinates, offsets, .. } => {
                        let slots = coordinates.iter().chain(offsets);
                        slots.for_each(|&slot| self.decides(step, Some(slot), Decision::Copy));
                    }
                }
            }
            Access::Matrices(role) => {
                let site = &sites.matrices[index].memory;
                self.decides(step, site.base, Decision::Address);
                if role == Role::Define {
                    site.values.iter().for_each(|&slot| step.clear(slot));
                }
            }
            Access::Fragment(role) => {
                let site = &sites.wmmas[index];
                self.decides(step, site.memory.base, Decision::Address);
                self.decides(step, site.stride, Decision::Address);
                if role == Role::Define {
                    site.memory.values.iter().for_each(|&slot| step.clear(slot));
                }
            }
            Access::Texture => {
                let site = &sites.textures[index];
                self.decides(step, handle(site.texture), Decision::Address);
                site.coords.iter().for_each(|&slot| self.decides(step, Some(slot), Decision::Address));
                site.values.iter().for_each(|&slot| step.clear(slot));
            }
            Access::Surface(role) => {
                let site = &sites.surfaces[index];
                self.decides(step, handle(site.surface), Decision::Address);
                site.coords.iter().for_each(|&slot| self.decides(step, Some(slot), Decision::Address));
                for &slot in &site.values {
                    match role {
                        Role::Define => step.clear(slot),
                        _ => self.decides(step, slot, Decision::Global),
                    }
                }
            }
        }
    }

    /// A plain store: undefined bits go with it, unless it is to global memory, where others look.
    fn store(&mut self, step: &mut Step<'_>, site: &MemorySite) {
        let mut visible = vec![Bits::NONE; site.elements as usize];
        each_element(step, site, &mut |step, element, slot, lane, place| {
            let Some(slot) = slot else { return };
            let bits = step.undefined.row(step.offset, slot);
            let stored = bits.bits[lane] & u64::MAX >> (64 - 8 * site.bytes.min(8));
            put(step, place, lane, site.bytes, stored, bits.sources[lane]);
            if let Home::Elsewhere = place {
                visible[element].add(lane, stored, bits.sources[lane]);
            }
        });
        for bits in &visible {
            self.decide(step.team, step.warp, step.pc, bits, step.mask, Decision::Global);
        }
    }

    /// What has no value in the memory of an access goes into what it does.
    fn decide_by_memory(&mut self, step: &mut Step<'_>, site: &MemorySite) {
        let mut held = Bits::NONE;
        each_element(step, site, &mut |step, _, _, lane, place| {
            let (bits, source) = get(step, place, lane, site.bytes);
            held.add(lane, bits, source);
        });
        self.decide(step.team, step.warp, step.pc, &held, step.mask, Decision::Atomic);
    }
}

/// Which memory has the undefined bits of an address.
#[derive(Clone, Copy)]
enum Home {
    Shared(u64),
    Local(u64),
    Elsewhere,
}

/// A lane's element of an access: its number, its register, the lane, and where it lies.
type SeeElement<'s> = dyn FnMut(&mut Step<'_>, usize, Option<Slot>, usize, Home) + 's;

/// Calls `see` with every element of every lane of an access.
fn each_element(step: &mut Step<'_>, site: &MemorySite, see: &mut SeeElement<'_>) {
    let mut addresses = gather(site, step.frame, step.mask);
    let space = resolve(site.space, &mut addresses);
    for lane in lanes(step.mask) {
        for element in 0..site.elements as usize {
            let slot = site.values.get(element).copied().flatten();
            let at = addresses.at[lane] + element as u64 * u64::from(site.bytes);
            let home = match (space, address::window(at)) {
                (Space::Shared, _) => Home::Shared(at),
                (Space::Local, _) => Home::Local(at),
                (Space::Generic, address::SHARED_WINDOW) => Home::Shared(at - address::SHARED_WINDOW),
                (Space::Generic, address::LOCAL_WINDOW) => Home::Local(at - address::LOCAL_WINDOW),
                _ => Home::Elsewhere,
            };
            see(step, element, slot, lane, home);
        }
    }
}

fn get(step: &Step<'_>, home: Home, lane: usize, bytes: u32) -> (u64, u16) {
    match home {
        Home::Shared(at) => step.team.undefined.at(at, bytes),
        Home::Local(at) => step.undefined.local(lane, at, bytes),
        Home::Elsewhere => (0, 0),
    }
}

fn put(step: &mut Step<'_>, home: Home, lane: usize, bytes: u32, bits: u64, source: u16) {
    match home {
        Home::Shared(at) => step.team.undefined.set(at, bytes, bits, source),
        Home::Local(at) => step.undefined.set_local(lane, at, bytes, bits, source),
        Home::Elsewhere => {}
    }
}

/// A plain load of what has been stored without a value. What has never been stored is found by the access itself.
fn load(step: &mut Step<'_>, site: &MemorySite) {
    let mut loaded = vec![Bits::NONE; site.elements as usize];
    each_element(step, site, &mut |step, element, _, lane, place| {
        let (bits, source) = get(step, place, lane, site.bytes);
        loaded[element].add(lane, bits, source);
    });
    for (slot, bits) in site.values.iter().zip(&loaded) {
        if let Some(slot) = *slot {
            step.set(slot, bits);
        }
    }
}

/// What is stored has a value.
fn store_defined(step: &mut Step<'_>, site: &MemorySite) {
    each_element(step, site, &mut |step, _, _, lane, place| put(step, place, lane, site.bytes, 0, 0));
}

fn handle(of: TextureRef) -> Option<Slot> {
    if let TextureRef::Handle(slot) = of { Some(slot) } else { None }
}

fn plain(step: &mut Step<'_>, inst: &Inst) {
    let [to, a, b, c] = widths(inst.op);
    let wide = matches!(inst.op, Op::Read(_)) && inst.aux == 1;
    let Some(dst) = slot(inst.dst, if wide { Width::Double } else { to }) else { return };
    let row = |step: &mut Step<'_>, place: Place, width| {
        slot(place, width).map_or(Row::NONE, |slot| step.row(slot))
    };
    let sources = [row(step, inst.a, a), row(step, inst.b, b), row(step, inst.c, c)];
    let result = step.each(&sources, |operands| through(inst.op, operands));
    step.set(dst, &result);
}

fn scalar_site(step: &mut Step<'_>, site: &ScalarSite) {
    let mut sources = [Row::NONE; MAX_SOURCES];
    for ((row, slot), flip) in sources.iter_mut().zip(&site.src).zip(&site.flip) {
        if let Some(slot) = *slot {
            *row = step.row(slot);
            row.values.iter_mut().for_each(|value| *value ^= flip);
        }
    }
    let result = step.each(&sources, |operands| tried(&site.eval, operands));
    if let Some(second) = site.dst[1] {
        let bits = result.bits.map(|bits| bits >> site.second_bit & 1);
        step.set(second, &Bits { bits, ..result });
    }
    if let Some(first) = site.dst[0] {
        step.set(first, &Bits { bits: result.bits.map(|bits| bits & site.mask), ..result });
    }
}

fn carry(step: &mut Step<'_>, site: &CarrySite) {
    let mut sources = [Row::NONE; 4];
    for (row, slot) in sources.iter_mut().zip(&site.src) {
        *row = slot.map_or(Row::NONE, |slot| step.row(slot));
    }
    if site.carry_in == CarryUse::Yes {
        sources[3].bits = step.undefined.carry;
    }
    let whole = u64::MAX >> (64 - site.bits);
    let any = |operands: [Operand; 4]| operands.iter().fold(0, |any, operand| any | operand.undefined);
    let high = site.sum == CarrySum::MadHi;
    let result = step.each(&sources, |operands| if high { whole } else { upwards(any(operands)) & whole });
    if site.carry_out == CarryUse::Yes {
        let flag = step.each(&sources, |_| 1);
        for lane in lanes(step.mask) {
            (step.undefined.carry.bits[lane], step.undefined.carry.sources[lane]) =
                (flag.bits[lane], flag.sources[lane]);
        }
    }
    if let Some(dst) = site.dst {
        step.set(dst, &result);
    }
}

/// The parts of a vector are moved as they are: so are their undefined bits.
fn pack(step: &mut Step<'_>, site: &PackSite, role: Role) {
    let shadow = step.undefined.frame(step.offset);
    let parts: Vec<Slot> = site.parts.iter().flatten().copied().collect();
    if role == Role::Define {
        let whole = step.row(site.whole).bits;
        scalar::unpack(site, shadow, step.mask);
        for part in parts {
            let bits = Bits { sources: whole.sources, ..step.bits(part) };
            step.undefined.note(step.offset, part.place, &bits, step.mask);
        }
    } else {
        let sources = sources_of(step, &parts);
        scalar::pack(site, shadow, step.mask);
        let bits = Bits { sources, ..step.bits(site.whole) };
        step.undefined.note(step.offset, site.whole.place, &bits, step.mask);
    }
}

/// By lane: the source of the first of `slots` that has undefined bits.
fn sources_of(step: &mut Step<'_>, slots: &[Slot]) -> [u16; 32] {
    let mut sources = [0; 32];
    for &slot in slots {
        let bits = step.row(slot).bits;
        for lane in lanes(bits.lanes(step.mask)).filter(|&lane| sources[lane] == 0).collect::<Vec<_>>() {
            sources[lane] = bits.sources[lane];
        }
    }
    sources
}

fn rows(step: &mut Step<'_>, site: &RowsSite, role: Role) {
    let shadow = step.undefined.frame(step.offset);
    let words = (site.offset % 4 + site.bytes).div_ceil(4);
    let row = |word: u32| Slot {
        place: Place(site.first.0 + (site.offset / 4 + word) as i32 * Width::Word.bytes()),
        width: Width::Word,
    };
    let rows: Vec<Slot> = (0..words).map(row).collect();
    if role == Role::Define {
        let sources = sources_of(step, &rows);
        scalar::read_rows(site, shadow, step.mask);
        let bits = Bits { sources, ..step.bits(site.value) };
        step.undefined.note(step.offset, site.value.place, &bits, step.mask);
    } else {
        let sources = step.row(site.value).bits.sources;
        scalar::write_rows(site, shadow, step.mask);
        for row in rows {
            let bits = Bits { sources, ..step.bits(row) };
            step.undefined.note(step.offset, row.place, &bits, step.mask);
        }
    }
}

/// Where A has no value in a register, nothing of D has; what D has of before stays if it is added to.
fn wgmma(step: &mut Step<'_>, site: &WgmmaSite) {
    let of_a = match &site.a {
        WgmmaFactor::Registers(slots) => slots.iter().find_map(|&slot| {
            let bits = step.bits(slot);
            let lane = bits.lanes(step.mask).trailing_zeros() as usize;
            (lane < 32).then(|| bits.sources[lane])
        }),
        WgmmaFactor::Shared(_) => None,
    };
    let accumulates = step.frame.predicate(site.accumulates.0.place) ^ site.accumulates.1;
    for (&before, &after) in site.c.iter().zip(&site.d) {
        let mut bits = if accumulates & step.mask != 0 { step.bits(before) } else { Bits::NONE };
        if let Some(source) = of_a {
            (0..32).for_each(|lane| bits.add(lane, u32::MAX.into(), source));
        }
        step.set(after, &bits);
    }
}

/// An element of a product is undefined if it changes with undefined elements of the operands.
fn mma(step: &mut Step<'_>, site: &MmaSite) {
    let slots: Vec<Slot> = site.a.iter().chain(&site.b).chain(&site.c).copied().collect();
    let operands: Vec<Row> = slots.iter().map(|&slot| step.row(slot)).collect();
    let first = operands.iter().find_map(|row| {
        let lane = row.bits.lanes(step.mask).trailing_zeros() as usize;
        (lane < 32).then(|| row.bits.sources[lane])
    });
    let Some(source) = first else {
        site.d.iter().for_each(|&slot| step.clear(Some(slot)));
        return;
    };
    let product = |values: &dyn Fn(&Row, usize) -> u64| {
        let rows: Vec<[u64; 32]> =
            operands.iter().map(|row| std::array::from_fn(|lane| values(row, lane))).collect();
        let (a, rest) = rows.split_at(site.a.len());
        let (b, c) = rest.split_at(site.b.len());
        let mut d = vec![[0; 32]; site.d.len()];
        alu::multiply(&site.op, step.capability, [a, b, c], &mut d);
        d
    };
    let result = product(&|row, lane| row.values[lane]);
    let mut changes = vec![Bits::NONE; site.d.len()];
    for trial in TRIALS {
        let other = product(&|row, lane| with(row.operand(lane), trial));
        for (changes, (one, other)) in changes.iter_mut().zip(result.iter().zip(&other)) {
            (0..32).for_each(|lane| changes.add(lane, one[lane] ^ other[lane], source));
        }
    }
    for (&slot, bits) in site.d.iter().zip(&changes) {
        step.set(slot, bits);
    }
}
