//! What an instruction makes of undefined bits, before it is executed.

use super::{
    decide::Decision,
    flow::{Operand, TRIALS, through, tried, upwards, widths, with},
};
use crate::alu::{self, MAX_SOURCES};
use crate::machine::{
    lanes::{
        addresses::{gather, resolve},
        scalar,
    },
    state::{
        step::Step,
        undefined::{Bits, Undefined},
    },
};
use crate::memory::lanes;
use crate::program::{address, instruction::*};

/// An instruction, and the shadow of its warp's registers.
struct Tracked<'t, 's, 'l> {
    step: Step<'s, 'l>,
    undefined: &'t mut Undefined,
    /// The byte at which the frame begins.
    offset: u32,
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

impl Tracked<'_, '_, '_> {
    fn row(&mut self, slot: Slot) -> Row {
        let bits = self.undefined.row(self.offset, slot);
        let row = Row { values: self.step.frame.row(slot), bits };
        lanes(bits.lanes(self.step.mask))
            .for_each(|lane| self.step.team.undefined.sources.used(bits.sources[lane], self.step.pc));
        row
    }

    fn bits(&mut self, slot: Slot) -> Bits {
        self.undefined.row(self.offset, slot)
    }

    fn set(&mut self, slot: Slot, bits: &Bits) {
        self.undefined.set(self.offset, slot, bits, self.step.mask);
    }

    fn clear(&mut self, slot: Option<Slot>) {
        if let Some(slot) = slot {
            self.undefined.clear(self.offset, slot, self.step.mask);
        }
    }

    /// What `f` makes of each lane that has undefined bits in some of `rows`.
    fn each<const N: usize>(&self, rows: &[Row; N], f: impl Fn([Operand; N]) -> u64) -> Bits {
        let mut result = Bits::NONE;
        for lane in lanes(self.step.mask) {
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

impl Step<'_, '_> {
    /// Takes the undefined bits of a warp through `inst`, which is executed next, and reports what they decide.
    #[cold]
    #[inline(never)]
    pub fn track(mut self, inst: &Inst) {
        // The marker of a basic block has a number where others have a destination.
        if inst.op == Op::Enter {
            return;
        }
        let Some(mut undefined) = self.warp.undefined.take() else { return };
        undefined.grow(self.warp.registers.len());
        let offset = self.frame.offset(&self.warp.registers);
        let mut track = Tracked { step: self.lend(), undefined: &mut undefined, offset };
        if let Some(guard) = slot(inst.guard.place, Width::Predicate) {
            let what = if inst.op == Op::Branch { Decision::Branch } else { Decision::Guard };
            track.decides(Some(guard), what);
            track.step.mask &= track.step.frame.predicate(guard.place) ^ inst.guard.flip;
        }
        if track.step.mask != 0 {
            track.inst(inst);
        }
        self.warp.undefined = Some(undefined);
    }
}

impl Tracked<'_, '_, '_> {
    /// Whatever is undefined in `slot` decides something.
    fn decides(&mut self, slot: Option<Slot>, decision: Decision) {
        let Some(slot) = slot else { return };
        let bits = self.bits(slot);
        self.step.decide(&bits, self.step.mask, decision);
    }

    fn inst(&mut self, inst: &Inst) {
        let sites = &self.step.program().sites;
        let index = inst.aux as usize;
        match inst.op.class() {
            Class::Plain if inst.op == Op::WarpSync => {
                self.decides(slot(inst.a, Width::Word), Decision::Members);
            }
            Class::Plain => plain(self, inst),
            Class::Local => self.clear(slot(inst.dst, Width::Double)),
            Class::Scalar => scalar_site(self, &sites.scalars[index]),
            Class::Carry => carry(self, &sites.carries[index]),
            Class::Pack(role) => pack(self, &sites.packs[index], role),
            Class::Rows(role) => rows(self, &sites.rows[index], role),
            Class::Mma => mma(self, &sites.mmas[index]),
            Class::Wgmma => {
                let site = &sites.wgmmas[index];
                self.decides(Some(site.b), Decision::Address);
                wgmma(self, site);
            }
            Class::Map => {
                let site = &sites.maps[index];
                self.decides(site.map.base, Decision::Address);
                match &site.kind {
                    MapKind::Replace { value, .. } => self.decides(Some(*value), Decision::Copy),
                    MapKind::Copy { from } => self.decides(from.base, Decision::Address),
                    MapKind::Acquire => {}
                }
            }
            Class::Access(access) => self.access(access, index),
            Class::Space => {
                let site = &sites.spaces[index];
                let address = self.row(site.address);
                self.set(site.dst, &self.each(&[address], |_| 1));
            }
            Class::Barrier => {
                let site = sites.barriers[index];
                for slot in [site.id, site.threads, site.predicate.map(|(slot, _)| slot)] {
                    self.decides(slot, Decision::Barrier);
                }
                self.clear(site.dst);
            }
            Class::Mbarrier => {
                let site = &sites.mbarriers[index];
                self.decides(site.memory.base, Decision::Address);
                self.decides(site.operand, Decision::Barrier);
                site.memory.values.iter().for_each(|&slot| self.clear(slot));
            }
            // The rest is for the exchange itself, where all members are.
            Class::Warp => self.decides(sites.warps[index].members, Decision::Members),
            Class::Flow(Flow::JumpIndexed) => self.decides(slot(inst.a, Width::Word), Decision::Branch),
            Class::Flow(Flow::Call) => {
                if let CallTarget::Indirect(slot) = sites.calls[index].target {
                    self.decides(Some(slot), Decision::Branch);
                }
            }
            Class::Flow(_) => {}
        }
    }

    fn access(&mut self, access: Access, index: usize) {
        let sites = &self.step.program().sites;
        match access {
            Access::Plain(Role::Define) => {
                let site = &sites.memories[index];
                self.decides(site.base, Decision::Address);
                load(self, site);
            }
            Access::Plain(_) => {
                let site = &sites.memories[index];
                self.decides(site.base, Decision::Address);
                self.store(site);
            }
            Access::Atomic => {
                let site = &sites.atomics[index];
                self.decides(site.memory.base, Decision::Address);
                for slot in site.operands.iter().flatten() {
                    self.decides(*slot, Decision::Atomic);
                }
                load(self, &site.memory);
                if site.op != AtomicOp::Exch {
                    // What memory holds from now on hangs on what it has held.
                    self.decide_by_memory(&site.memory);
                }
                store_defined(self, &site.memory);
            }
            Access::Copy => {
                let site = &sites.copies[index];
                self.decides(site.to.base, Decision::Address);
                self.decides(site.from.base, Decision::Address);
                self.decides(site.source_bytes, Decision::Copy);
                self.decides(site.ignore.map(|(slot, _)| slot), Decision::Copy);
            }
            Access::Bulk(_) => {
                let site = &sites.bulks[index];
                let barrier = site.barrier.as_ref().and_then(|barrier| barrier.base);
                [site.shared.base, site.far.base, barrier]
                    .into_iter()
                    .for_each(|slot| self.decides(slot, Decision::Address));
                match &site.extent {
                    Extent::Bytes(size) => self.decides(Some(*size), Decision::Copy),
                    Extent::Box { coordinates, offsets, .. } => {
                        let slots = coordinates.iter().chain(offsets);
                        slots.for_each(|&slot| self.decides(Some(slot), Decision::Copy));
                    }
                }
            }
            Access::Matrices(role) => {
                let site = &sites.matrices[index].memory;
                self.decides(site.base, Decision::Address);
                if role == Role::Define {
                    site.values.iter().for_each(|&slot| self.clear(slot));
                }
            }
            Access::Fragment(role) => {
                let site = &sites.wmmas[index];
                self.decides(site.memory.base, Decision::Address);
                self.decides(site.stride, Decision::Address);
                if role == Role::Define {
                    site.memory.values.iter().for_each(|&slot| self.clear(slot));
                }
            }
            Access::Texture => {
                let site = &sites.textures[index];
                self.decides(handle(site.texture), Decision::Address);
                site.coords.iter().for_each(|&slot| self.decides(Some(slot), Decision::Address));
                site.values.iter().for_each(|&slot| self.clear(slot));
            }
            Access::Surface(role) => {
                let site = &sites.surfaces[index];
                self.decides(handle(site.surface), Decision::Address);
                site.coords.iter().for_each(|&slot| self.decides(Some(slot), Decision::Address));
                for &slot in &site.values {
                    match role {
                        Role::Define => self.clear(slot),
                        _ => self.decides(slot, Decision::Global),
                    }
                }
            }
        }
    }

    /// A plain store: undefined bits go with it, unless it is to global memory, where others look.
    fn store(&mut self, site: &MemorySite) {
        let mut visible = vec![Bits::NONE; site.elements as usize];
        each_element(self, site, &mut |track, element, slot, lane, place| {
            let Some(slot) = slot else { return };
            let bits = track.bits(slot);
            let stored = bits.bits[lane] & u64::MAX >> (64 - 8 * site.bytes.min(8));
            put(track, place, lane, site.bytes, stored, bits.sources[lane]);
            if let Home::Elsewhere = place {
                visible[element].add(lane, stored, bits.sources[lane]);
            }
        });
        for bits in &visible {
            self.step.decide(bits, self.step.mask, Decision::Global);
        }
    }

    /// What has no value in the memory of an access goes into what it does.
    fn decide_by_memory(&mut self, site: &MemorySite) {
        let mut held = Bits::NONE;
        each_element(self, site, &mut |track, _, _, lane, place| {
            let (bits, source) = get(track, place, lane, site.bytes);
            held.add(lane, bits, source);
        });
        self.step.decide(&held, self.step.mask, Decision::Atomic);
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
type SeeElement<'s> = dyn FnMut(&mut Tracked<'_, '_, '_>, usize, Option<Slot>, usize, Home) + 's;

/// Calls `see` with every element of every lane of an access.
fn each_element(track: &mut Tracked<'_, '_, '_>, site: &MemorySite, see: &mut SeeElement<'_>) {
    let mut addresses = gather(site, track.step.frame, track.step.mask);
    let space = resolve(site.space, &mut addresses);
    for lane in lanes(track.step.mask) {
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
            see(track, element, slot, lane, home);
        }
    }
}

fn get(track: &Tracked<'_, '_, '_>, home: Home, lane: usize, bytes: u32) -> (u64, u16) {
    match home {
        Home::Shared(at) => track.step.team.undefined.at(at, bytes),
        Home::Local(at) => track.undefined.local(lane, at, bytes),
        Home::Elsewhere => (0, 0),
    }
}

fn put(track: &mut Tracked<'_, '_, '_>, home: Home, lane: usize, bytes: u32, bits: u64, source: u16) {
    match home {
        Home::Shared(at) => track.step.team.undefined.set(at, bytes, bits, source),
        Home::Local(at) => track.undefined.set_local(lane, at, bytes, bits, source),
        Home::Elsewhere => {}
    }
}

/// A plain load of what has been stored without a value. What has never been stored is found by the access itself.
fn load(track: &mut Tracked<'_, '_, '_>, site: &MemorySite) {
    let mut loaded = vec![Bits::NONE; site.elements as usize];
    each_element(track, site, &mut |track, element, _, lane, place| {
        let (bits, source) = get(track, place, lane, site.bytes);
        loaded[element].add(lane, bits, source);
    });
    for (slot, bits) in site.values.iter().zip(&loaded) {
        if let Some(slot) = *slot {
            track.set(slot, bits);
        }
    }
}

/// What is stored has a value.
fn store_defined(track: &mut Tracked<'_, '_, '_>, site: &MemorySite) {
    each_element(track, site, &mut |track, _, _, lane, place| put(track, place, lane, site.bytes, 0, 0));
}

fn handle(of: TextureRef) -> Option<Slot> {
    if let TextureRef::Handle(slot) = of { Some(slot) } else { None }
}

fn plain(track: &mut Tracked<'_, '_, '_>, inst: &Inst) {
    let [to, a, b, c] = widths(inst.op);
    let wide = matches!(inst.op, Op::Read(_)) && inst.aux == 1;
    let Some(dst) = slot(inst.dst, if wide { Width::Double } else { to }) else { return };
    let row = |track: &mut Tracked<'_, '_, '_>, place: Place, width| {
        slot(place, width).map_or(Row::NONE, |slot| track.row(slot))
    };
    let sources = [row(track, inst.a, a), row(track, inst.b, b), row(track, inst.c, c)];
    let result = track.each(&sources, |operands| through(inst.op, operands));
    track.set(dst, &result);
}

fn scalar_site(track: &mut Tracked<'_, '_, '_>, site: &ScalarSite) {
    let mut sources = [Row::NONE; MAX_SOURCES];
    for ((row, slot), flip) in sources.iter_mut().zip(&site.src).zip(&site.flip) {
        if let Some(slot) = *slot {
            *row = track.row(slot);
            row.values.iter_mut().for_each(|value| *value ^= flip);
        }
    }
    let result = track.each(&sources, |operands| tried(&site.eval, operands));
    if let Some(second) = site.dst[1] {
        let bits = result.bits.map(|bits| bits >> site.second_bit & 1);
        track.set(second, &Bits { bits, ..result });
    }
    if let Some(first) = site.dst[0] {
        track.set(first, &Bits { bits: result.bits.map(|bits| bits & site.mask), ..result });
    }
}

fn carry(track: &mut Tracked<'_, '_, '_>, site: &CarrySite) {
    let mut sources = [Row::NONE; 4];
    for (row, slot) in sources.iter_mut().zip(&site.src) {
        *row = slot.map_or(Row::NONE, |slot| track.row(slot));
    }
    if site.carry_in == CarryUse::Yes {
        sources[3].bits = track.undefined.carry;
    }
    let whole = u64::MAX >> (64 - site.bits);
    let any = |operands: [Operand; 4]| operands.iter().fold(0, |any, operand| any | operand.undefined);
    let high = site.sum == CarrySum::MadHi;
    let result = track.each(&sources, |operands| if high { whole } else { upwards(any(operands)) & whole });
    if site.carry_out == CarryUse::Yes {
        let flag = track.each(&sources, |_| 1);
        for lane in lanes(track.step.mask) {
            (track.undefined.carry.bits[lane], track.undefined.carry.sources[lane]) =
                (flag.bits[lane], flag.sources[lane]);
        }
    }
    if let Some(dst) = site.dst {
        track.set(dst, &result);
    }
}

/// The parts of a vector are moved as they are: so are their undefined bits.
fn pack(track: &mut Tracked<'_, '_, '_>, site: &PackSite, role: Role) {
    let shadow = track.undefined.frame(track.offset);
    let parts: Vec<Slot> = site.parts.iter().flatten().copied().collect();
    if role == Role::Define {
        let whole = track.row(site.whole).bits;
        scalar::unpack(site, shadow, track.step.mask);
        for part in parts {
            let bits = Bits { sources: whole.sources, ..track.bits(part) };
            track.undefined.note(track.offset, part.place, &bits, track.step.mask);
        }
    } else {
        let sources = sources_of(track, &parts);
        scalar::pack(site, shadow, track.step.mask);
        let bits = Bits { sources, ..track.bits(site.whole) };
        track.undefined.note(track.offset, site.whole.place, &bits, track.step.mask);
    }
}

/// By lane: the source of the first of `slots` that has undefined bits.
fn sources_of(track: &mut Tracked<'_, '_, '_>, slots: &[Slot]) -> [u16; 32] {
    let mut sources = [0; 32];
    for &slot in slots {
        let bits = track.row(slot).bits;
        for lane in lanes(bits.lanes(track.step.mask)).filter(|&lane| sources[lane] == 0).collect::<Vec<_>>()
        {
            sources[lane] = bits.sources[lane];
        }
    }
    sources
}

fn rows(track: &mut Tracked<'_, '_, '_>, site: &RowsSite, role: Role) {
    let shadow = track.undefined.frame(track.offset);
    let words = (site.offset % 4 + site.bytes).div_ceil(4);
    let row = |word: u32| Slot {
        place: Place(site.first.0 + (site.offset / 4 + word) as i32 * Width::Word.bytes()),
        width: Width::Word,
    };
    let rows: Vec<Slot> = (0..words).map(row).collect();
    if role == Role::Define {
        let sources = sources_of(track, &rows);
        scalar::read_rows(site, shadow, track.step.mask);
        let bits = Bits { sources, ..track.bits(site.value) };
        track.undefined.note(track.offset, site.value.place, &bits, track.step.mask);
    } else {
        let sources = track.row(site.value).bits.sources;
        scalar::write_rows(site, shadow, track.step.mask);
        for row in rows {
            let bits = Bits { sources, ..track.bits(row) };
            track.undefined.note(track.offset, row.place, &bits, track.step.mask);
        }
    }
}

/// Where A has no value in a register, nothing of D has; what D has of before stays if it is added to.
fn wgmma(track: &mut Tracked<'_, '_, '_>, site: &WgmmaSite) {
    let of_a = match &site.a {
        WgmmaFactor::Registers(slots) => slots.iter().find_map(|&slot| {
            let bits = track.bits(slot);
            let lane = bits.lanes(track.step.mask).trailing_zeros() as usize;
            (lane < 32).then(|| bits.sources[lane])
        }),
        WgmmaFactor::Shared(_) => None,
    };
    let accumulates = track.step.frame.predicate(site.accumulates.0.place) ^ site.accumulates.1;
    for (&before, &after) in site.c.iter().zip(&site.d) {
        let mut bits = if accumulates & track.step.mask != 0 { track.bits(before) } else { Bits::NONE };
        if let Some(source) = of_a {
            (0..32).for_each(|lane| bits.add(lane, u32::MAX.into(), source));
        }
        track.set(after, &bits);
    }
}

/// An element of a product is undefined if it changes with undefined elements of the operands.
fn mma(track: &mut Tracked<'_, '_, '_>, site: &MmaSite) {
    let slots: Vec<Slot> = site.a.iter().chain(&site.b).chain(&site.c).copied().collect();
    let operands: Vec<Row> = slots.iter().map(|&slot| track.row(slot)).collect();
    let first = operands.iter().find_map(|row| {
        let lane = row.bits.lanes(track.step.mask).trailing_zeros() as usize;
        (lane < 32).then(|| row.bits.sources[lane])
    });
    let Some(source) = first else {
        site.d.iter().for_each(|&slot| track.clear(Some(slot)));
        return;
    };
    let product = |values: &dyn Fn(&Row, usize) -> u64| {
        let rows: Vec<[u64; 32]> =
            operands.iter().map(|row| std::array::from_fn(|lane| values(row, lane))).collect();
        let (a, rest) = rows.split_at(site.a.len());
        let (b, c) = rest.split_at(site.b.len());
        let mut d = vec![[0; 32]; site.d.len()];
        alu::multiply(&site.op, track.step.launch().capability, [a, b, c], &mut d);
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
        track.set(slot, bits);
    }
}
