//! The loop over instructions.

use super::{
    frame::Frame,
    isa::for_each_isa,
    team::Team,
    vector,
    warp::{Join, JoinKind, Path, State, Warp},
    worker::Worker,
};
use crate::check::Mode;
use crate::program::{
    NO_RECONVERGENCE,
    instruction::{Compare, Guard, Inst, Op, Place, Special},
};

/// Why the loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No path of the warp can go on: it waits or has exited.
    Idle,
    /// Path has reached barrier site; it is the last of the warp's paths.
    Barrier(u32),
    /// It has run long enough for this time.
    Fuel,
    /// The launch has failed: the worker knows why.
    Failed,
}

for_each_isa! {
    /// Executes `warp` until it stops.
    pub fn run(worker: &mut Worker<'_>, warp: &mut Warp, team: &mut Team) -> Stop = interpret
}

/// The bits of an f32 result: the hardware has one NaN.
#[inline(always)]
fn bits32(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// min: a number beats a NaN, and -0 is less than +0.
#[inline(always)]
fn min32(a: f32, b: f32) -> u32 {
    let less = if a < b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() | b.to_bits() } else { less };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff } else { number }
}

/// max: a number beats a NaN, and +0 is greater than -0.
#[inline(always)]
fn max32(a: f32, b: f32) -> u32 {
    let more = if a > b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() & b.to_bits() } else { more };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff } else { number }
}

#[inline(always)]
fn min64(a: f64, b: f64) -> u64 {
    let less = if a < b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() | b.to_bits() } else { less };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff_ffff_ffff } else { number }
}

#[inline(always)]
fn max64(a: f64, b: f64) -> u64 {
    let more = if a > b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() & b.to_bits() } else { more };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff_ffff_ffff } else { number }
}

/// Lanes where a comparison holds.
///
/// # Safety
/// The pointers must be rows.
#[inline(always)]
unsafe fn compared<T: Copy + PartialOrd>(compare: Compare, a: *const T, b: *const T) -> u32 {
    #[allow(clippy::eq_op, reason = "a number differs from itself exactly if it is NaN")]
    let nan = |x: T| x != x;
    // SAFETY: the caller promises rows.
    unsafe {
        match compare {
            Compare::Eq => vector::compare(a, b, |a, b| a == b),
            Compare::Ne => vector::compare(a, b, |a, b| a != b && !nan(a) && !nan(b)),
            Compare::Lt => vector::compare(a, b, |a, b| a < b),
            Compare::Le => vector::compare(a, b, |a, b| a <= b),
            Compare::Gt => vector::compare(a, b, |a, b| a > b),
            Compare::Ge => vector::compare(a, b, |a, b| a >= b),
            // Equal or not ordered: neither less nor greater.
            Compare::Equ => !(vector::compare(a, b, |a, b| a < b) | vector::compare(a, b, |a, b| a > b)),
            Compare::Neu => vector::compare(a, b, |a, b| a != b),
            Compare::Ltu => !vector::compare(a, b, |a, b| a >= b),
            Compare::Leu => !vector::compare(a, b, |a, b| a > b),
            Compare::Gtu => !vector::compare(a, b, |a, b| a <= b),
            Compare::Geu => !vector::compare(a, b, |a, b| a < b),
            Compare::Num => vector::compare(a, b, |a, b| !nan(a) && !nan(b)),
            Compare::Nan => vector::compare(a, b, |a, b| nan(a) || nan(b)),
        }
    }
}

/// Instructions that a warp executes before others get their turn.
const FUEL: i64 = 1 << 16;

#[inline(always)]
fn interpret(worker: &mut Worker<'_>, warp: &mut Warp, team: &mut Team) -> Stop {
    let program = worker.program;
    let mut fuel = FUEL;
    'path: while let Some(mut path) = warp.take_ready() {
        let mut meeting = warp.meeting_pc(path.join);
        warp.reserve(path.level, program);
        // SAFETY: `reserve` has made room for all frames of this level.
        let frame = unsafe { Frame::new(&mut warp.registers, path.frame, &program.constants) };
        macro_rules! stop {
            ($stop:expr) => {{
                worker.steps += FUEL - fuel;
                return $stop;
            }};
        }
        loop {
            let inst: &Inst = &program.code[path.pc as usize];
            let mut mask = path.mask;
            if inst.guard.place != Place::NONE {
                mask &= guard(frame, inst.guard);
                if inst.op != Op::Branch {
                    worker.counts.guarded_out[path.pc as usize] +=
                        u64::from((path.mask & !mask).count_ones());
                    if mask == 0 {
                        path.pc += 1;
                        continue;
                    }
                }
            }
            macro_rules! unary {
                ($r:ty, $a:ty, $f:expr) => {{
                    let f = $f;
                    // SAFETY: places are rows of the width that the operation has.
                    unsafe {
                        vector::map1(
                            frame.target::<$r>(inst.dst),
                            frame.source::<$a>(inst.a),
                            mask,
                            |a: $a| f(a),
                        )
                    }
                }};
            }
            macro_rules! binary {
                ($r:ty, $a:ty, $b:ty, $f:expr) => {{
                    let f = $f;
                    // SAFETY: places are rows of the width that the operation has.
                    unsafe {
                        vector::map2(
                            frame.target::<$r>(inst.dst),
                            frame.source::<$a>(inst.a),
                            frame.source::<$b>(inst.b),
                            mask,
                            |a: $a, b: $b| f(a, b),
                        )
                    }
                }};
            }
            macro_rules! ternary {
                ($r:ty, $a:ty, $b:ty, $c:ty, $f:expr) => {{
                    let f = $f;
                    // SAFETY: places are rows of the width that the operation has.
                    unsafe {
                        vector::map3(
                            frame.target::<$r>(inst.dst),
                            frame.source::<$a>(inst.a),
                            frame.source::<$b>(inst.b),
                            frame.source::<$c>(inst.c),
                            mask,
                            |a: $a, b: $b, c: $c| f(a, b, c),
                        )
                    }
                }};
            }
            macro_rules! setp {
                ($t:ty, $compare:expr) => {{
                    let (a, b) = (frame.source::<$t>(inst.a), frame.source::<$t>(inst.b));
                    // SAFETY: places are rows of the width that the operation has.
                    let holds = unsafe { compared($compare, a, b) };
                    frame.set_predicate(inst.dst, holds, mask)
                }};
            }
            macro_rules! logic {
                ($f:expr) => {{
                    let (a, b) = (frame.predicate(inst.a), frame.predicate(inst.b));
                    let f: fn(u32, u32) -> u32 = $f;
                    frame.set_predicate(inst.dst, f(a, b), mask)
                }};
            }
            match inst.op {
                Op::Enter => {
                    if path.pc == meeting
                        && let Some(join) = path.join
                    {
                        match warp.arrive(join, path.mask) {
                            Some(together) => {
                                path = together;
                                meeting = warp.meeting_pc(path.join);
                                continue;
                            }
                            None => continue 'path,
                        }
                    }
                    if fuel < 0 {
                        // The others get their turn: other paths of this warp, lanes that wait where all meet, other warps.
                        if !warp.paths.iter().any(|path| path.state == State::Ready) {
                            warp.paths.push(path);
                            warp.release_joins();
                        } else {
                            warp.paths.insert(0, path);
                        }
                        stop!(Stop::Fuel);
                    }
                    fuel -= i64::from(inst.dst.0);
                    let count = &mut worker.counts.blocks[inst.aux as usize];
                    count.warps += 1;
                    count.lanes += u64::from(mask.count_ones());
                }
                Op::Mov32 => unary!(u32, u32, |a| a),
                Op::Mov64 => unary!(u64, u64, |a| a),
                Op::MovPred => frame.set_predicate(inst.dst, frame.predicate(inst.a), mask),
                Op::Add32 => binary!(u32, u32, u32, u32::wrapping_add),
                Op::Sub32 => binary!(u32, u32, u32, u32::wrapping_sub),
                Op::MulLo32 => binary!(u32, u32, u32, u32::wrapping_mul),
                Op::MulHiS32 => {
                    binary!(i32, i32, i32, |a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32)
                }
                Op::MulHiU32 => {
                    binary!(u32, u32, u32, |a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32)
                }
                Op::MadLo32 => {
                    ternary!(u32, u32, u32, u32, |a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c))
                }
                Op::MulWideS32 => binary!(i64, i32, i32, |a: i32, b: i32| i64::from(a) * i64::from(b)),
                Op::MulWideU32 => binary!(u64, u32, u32, |a: u32, b: u32| u64::from(a) * u64::from(b)),
                Op::MadWideS32 => ternary!(i64, i32, i32, i64, |a: i32, b: i32, c: i64| {
                    (i64::from(a) * i64::from(b)).wrapping_add(c)
                }),
                Op::MadWideU32 => ternary!(u64, u32, u32, u64, |a: u32, b: u32, c: u64| {
                    (u64::from(a) * u64::from(b)).wrapping_add(c)
                }),
                Op::And32 => binary!(u32, u32, u32, |a, b| a & b),
                Op::Or32 => binary!(u32, u32, u32, |a, b| a | b),
                Op::Xor32 => binary!(u32, u32, u32, |a, b| a ^ b),
                Op::Not32 => unary!(u32, u32, |a: u32| !a),
                Op::Neg32 => unary!(u32, u32, u32::wrapping_neg),
                // Shifts clamp: by the width and more is all zeros, or all signs.
                Op::Shl32 => binary!(u32, u32, u32, |a: u32, b: u32| if b < 32 { a << b } else { 0 }),
                Op::ShrU32 => binary!(u32, u32, u32, |a: u32, b: u32| if b < 32 { a >> b } else { 0 }),
                Op::ShrS32 => binary!(i32, i32, u32, |a: i32, b: u32| a >> b.min(31)),
                Op::MinS32 => binary!(i32, i32, i32, Ord::min),
                Op::MinU32 => binary!(u32, u32, u32, Ord::min),
                Op::MaxS32 => binary!(i32, i32, i32, Ord::max),
                Op::MaxU32 => binary!(u32, u32, u32, Ord::max),
                Op::Add64 => binary!(u64, u64, u64, u64::wrapping_add),
                Op::Sub64 => binary!(u64, u64, u64, u64::wrapping_sub),
                Op::MulLo64 => binary!(u64, u64, u64, u64::wrapping_mul),
                Op::MadLo64 => {
                    ternary!(u64, u64, u64, u64, |a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c))
                }
                Op::And64 => binary!(u64, u64, u64, |a, b| a & b),
                Op::Or64 => binary!(u64, u64, u64, |a, b| a | b),
                Op::Xor64 => binary!(u64, u64, u64, |a, b| a ^ b),
                Op::Not64 => unary!(u64, u64, |a: u64| !a),
                Op::Neg64 => unary!(u64, u64, u64::wrapping_neg),
                Op::Shl64 => binary!(u64, u64, u32, |a: u64, b: u32| if b < 64 { a << b } else { 0 }),
                Op::ShrU64 => binary!(u64, u64, u32, |a: u64, b: u32| if b < 64 { a >> b } else { 0 }),
                Op::ShrS64 => binary!(i64, i64, u32, |a: i64, b: u32| a >> b.min(63)),
                Op::MinS64 => binary!(i64, i64, i64, Ord::min),
                Op::MinU64 => binary!(u64, u64, u64, Ord::min),
                Op::MaxS64 => binary!(i64, i64, i64, Ord::max),
                Op::MaxU64 => binary!(u64, u64, u64, Ord::max),
                Op::AddF32 => binary!(u32, f32, f32, |a: f32, b: f32| bits32(a + b)),
                Op::SubF32 => binary!(u32, f32, f32, |a: f32, b: f32| bits32(a - b)),
                Op::MulF32 => binary!(u32, f32, f32, |a: f32, b: f32| bits32(a * b)),
                Op::FmaF32 => ternary!(u32, f32, f32, f32, |a: f32, b, c| bits32(a.mul_add(b, c))),
                Op::MinF32 => binary!(u32, f32, f32, min32),
                Op::MaxF32 => binary!(u32, f32, f32, max32),
                Op::NegF32 => unary!(u32, u32, |a: u32| a ^ 0x8000_0000),
                Op::AbsF32 => unary!(u32, u32, |a: u32| a & 0x7fff_ffff),
                Op::AddF64 => binary!(f64, f64, f64, |a, b| a + b),
                Op::SubF64 => binary!(f64, f64, f64, |a, b| a - b),
                Op::MulF64 => binary!(f64, f64, f64, |a, b| a * b),
                Op::FmaF64 => ternary!(f64, f64, f64, f64, f64::mul_add),
                Op::MinF64 => binary!(u64, f64, f64, min64),
                Op::MaxF64 => binary!(u64, f64, f64, max64),
                Op::NegF64 => unary!(u64, u64, |a: u64| a ^ 1 << 63),
                Op::AbsF64 => unary!(u64, u64, |a: u64| a & !(1 << 63)),
                Op::SetpS32(compare) => setp!(i32, compare),
                Op::SetpU32(compare) => setp!(u32, compare),
                Op::SetpS64(compare) => setp!(i64, compare),
                Op::SetpU64(compare) => setp!(u64, compare),
                Op::SetpF32(compare) => setp!(f32, compare),
                Op::SetpF64(compare) => setp!(f64, compare),
                Op::Selp32 => {
                    let pred = frame.predicate(inst.c);
                    let (a, b) = (frame.source::<u32>(inst.a), frame.source(inst.b));
                    // SAFETY: places are rows of the width that the operation has.
                    unsafe { vector::select(frame.target(inst.dst), a, b, pred, mask) }
                }
                Op::Selp64 => {
                    let pred = frame.predicate(inst.c);
                    let (a, b) = (frame.source::<u64>(inst.a), frame.source(inst.b));
                    // SAFETY: places are rows of the width that the operation has.
                    unsafe { vector::select(frame.target(inst.dst), a, b, pred, mask) }
                }
                Op::PredAnd => logic!(|a, b| a & b),
                Op::PredOr => logic!(|a, b| a | b),
                Op::PredXor => logic!(|a, b| a ^ b),
                Op::PredNot => frame.set_predicate(inst.dst, !frame.predicate(inst.a), mask),
                Op::ExtendS32 => unary!(i64, i32, |a: i32| i64::from(a)),
                Op::ExtendU32 => unary!(u64, u32, |a: u32| u64::from(a)),
                Op::Truncate => unary!(u32, u64, |a: u64| a as u32),
                Op::Low8 => unary!(u32, u32, |a: u32| a & 0xff),
                Op::Low16 => unary!(u32, u32, |a: u32| a & 0xffff),
                Op::LowS8 => unary!(i32, i32, |a: i32| i32::from(a as i8)),
                Op::LowS16 => unary!(i32, i32, |a: i32| i32::from(a as i16)),
                Op::F32FromS32 => unary!(f32, i32, |a: i32| a as f32),
                Op::F32FromU32 => unary!(f32, u32, |a: u32| a as f32),
                Op::Read(special) => worker.read_special(special, warp, team, frame, inst.dst, mask),
                Op::LocalAddress => {
                    let address = worker.local_address(inst.aux, &path);
                    // SAFETY: the destination is a row of 64-bit values.
                    unsafe { vector::splat::<u64>(frame.target(inst.dst), address, mask) }
                }
                Op::Load => worker.access(Mode::Read, warp, team, frame, inst.aux, mask, path.pc),
                Op::Store => worker.access(Mode::Write, warp, team, frame, inst.aux, mask, path.pc),
                Op::LoadParam => worker.load_param(warp, team, frame, inst.aux, mask, path.pc),
                Op::Scalar => super::scalar::execute(&program.sites.scalars[inst.aux as usize], frame, mask),
                Op::Nothing => {}
                Op::Branch => {
                    let taken = mask;
                    let others = path.mask & !taken;
                    if others == 0 {
                        path.pc = inst.aux;
                        continue;
                    }
                    if taken != 0 {
                        let (next, target, reconvergence) = (path.pc + 1, inst.aux, inst.c.0 as u32);
                        diverge(warp, &mut path, meeting, reconvergence, [(next, others), (target, taken)]);
                        meeting = warp.meeting_pc(path.join);
                        continue;
                    }
                }
                Op::BranchIndexed => {
                    let table = &program.sites.tables[inst.aux as usize];
                    let parts = indexed(frame, inst, table, mask, path.mask, path.pc + 1);
                    if let [(pc, _)] = parts[..] {
                        path.pc = pc;
                    } else {
                        diverge_many(warp, &mut path, meeting, inst.c.0 as u32, &parts);
                        meeting = warp.meeting_pc(path.join);
                    }
                    continue;
                }
                Op::Exit => {
                    if mask == path.mask {
                        warp.exit(path.join, mask);
                        team.exited(mask);
                        continue 'path;
                    }
                    warp.exit(path.join, mask);
                    team.exited(mask);
                    path.mask &= !mask;
                }
                Op::Return => {
                    let join = warp.returning(path.join, mask);
                    let rest = path.mask & !mask;
                    let together = join.and_then(|join| {
                        worker.hand_back(warp, &path, join, mask);
                        warp.arrive(join, mask)
                    });
                    if rest != 0 {
                        path.mask = rest;
                        path.pc += 1;
                        warp.paths.push(path);
                    }
                    warp.paths.extend(together);
                    continue 'path;
                }
                Op::Call => {
                    path.pc += 1;
                    if !worker.call(warp, team, frame, &mut path, mask, inst.aux) {
                        warp.paths.push(path);
                        stop!(Stop::Failed);
                    }
                    warp.paths.push(path);
                    continue 'path;
                }
                Op::Barrier => {
                    let rest = path.mask & !mask;
                    path.pc += 1;
                    if rest != 0 {
                        warp.paths.push(Path { mask: rest, ..path });
                        path.mask = mask;
                    }
                    warp.paths.push(path);
                    stop!(Stop::Barrier(inst.aux));
                }
                Op::WarpSync | Op::Shuffle | Op::Vote | Op::Match | Op::Redux => {
                    let ready = worker.members(warp, team, frame, inst, mask, &mut path);
                    if !ready {
                        warp.paths.push(path);
                        continue 'path;
                    }
                }
                Op::Trap | Op::Unsupported => {
                    worker.refuse(warp, team, inst, mask, path.pc);
                    warp.paths.push(path);
                    stop!(Stop::Failed);
                }
                _ => worker.rare(warp, team, frame, inst, mask, &path),
            }
            path.pc += 1;
        }
    }
    worker.steps += FUEL - fuel;
    Stop::Idle
}

#[inline(always)]
fn guard(frame: Frame, guard: Guard) -> u32 {
    frame.predicate(guard.place) ^ guard.flip
}

/// The targets of an indexed jump and who goes there; lanes that the guard takes out fall through.
fn indexed(frame: Frame, inst: &Inst, table: &[u32], mask: u32, all: u32, next: u32) -> Vec<(u32, u32)> {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    // SAFETY: the index is a row of 32-bit values.
    let index = unsafe { *frame.source::<[u32; 32]>(inst.a) };
    for lane in crate::memory::lanes(all) {
        let jumps = mask >> lane & 1 == 1;
        let target = if jumps { table.get(index[lane] as usize).copied().unwrap_or(next) } else { next };
        match parts.iter_mut().find(|part| part.0 == target) {
            Some(part) => part.1 |= 1 << lane,
            None => parts.push((target, 1 << lane)),
        }
    }
    parts
}

/// The lanes of `path` part. It goes on with the first part; the others wait in the warp, or at the place where all meet.
fn diverge(warp: &mut Warp, path: &mut Path, meeting: u32, reconvergence: u32, parts: [(u32, u32); 2]) {
    // A loop that lanes leave one by one has one join, not one per turn.
    if reconvergence != NO_RECONVERGENCE
        && reconvergence == meeting
        && let Some(join) = path.join
    {
        let [(first, lanes), (second, other_lanes)] = parts;
        if second == reconvergence {
            warp.arrive(join, other_lanes);
            (path.pc, path.mask) = (first, lanes);
            return;
        }
        if first == reconvergence {
            warp.arrive(join, lanes);
            (path.pc, path.mask) = (second, other_lanes);
            return;
        }
    }
    diverge_many(warp, path, meeting, reconvergence, &parts);
}

fn diverge_many(warp: &mut Warp, path: &mut Path, meeting: u32, reconvergence: u32, parts: &[(u32, u32)]) {
    if reconvergence != NO_RECONVERGENCE && reconvergence != meeting {
        path.join = Some(warp.add_join(Join {
            pc: reconvergence,
            expected: path.mask,
            arrived: 0,
            parent: path.join,
            frame: path.frame,
            level: path.level,
            kind: JoinKind::Branch,
        }));
    }
    let mut parts = parts.iter();
    if let Some(&(pc, mask)) = parts.next() {
        let whole = *path;
        (path.pc, path.mask) = (pc, mask);
        for &(pc, mask) in parts {
            warp.paths.push(Path { pc, mask, ..whole });
        }
    }
}

/// The value of a special register that is the same for all lanes, or `None`.
pub fn uniform_special(special: Special, warp: &Warp, team: &Team, worker: &Worker<'_>) -> Option<u64> {
    let launch = worker.launch;
    Some(match special {
        Special::Ntid(axis) => launch.block[axis as usize].into(),
        Special::Ctaid(axis) => team.index[axis as usize].into(),
        Special::Nctaid(axis) => launch.grid[axis as usize].into(),
        Special::Warpid => warp.index.into(),
        Special::Nwarpid => 64,
        Special::Smid => team.number.rem_euclid(launch.multiprocessors.max(1)).into(),
        Special::Nsmid => launch.multiprocessors.into(),
        Special::Gridid => 1,
        // Time is counted in instructions of the worker.
        Special::Clock | Special::Clock64 | Special::Globaltimer => worker.steps as u64,
        Special::DynamicSmemSize => launch.dynamic_shared.into(),
        Special::TotalSmemSize => launch.shared.bytes.into(),
        Special::Zero => 0,
        Special::One => 1,
        _ => return None,
    })
}
