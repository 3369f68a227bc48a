//! The loop over instructions.

use super::{
    branches::{diverge, diverge_many, indexed},
    rare::Next,
};
use crate::check::Mode;
use crate::machine::{
    lanes::{
        frame::Frame,
        host_isa::for_each_host_isa,
        numbers::{bits32, compared, max32, max64, min32, min64},
        vector,
    },
    state::{
        step::Step,
        team::Team,
        warp::{Path, State, Warp},
        worker::Worker,
    },
};
use crate::program::instruction::{Guard, Inst, Op, Place};

/// Why the loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No path of the warp can go on: it waits or has exited.
    Idle,
    /// Path has reached barrier site; it is the last of the warp's paths.
    Barrier(u32),
    /// A path has come to a matrix instruction of its warpgroup.
    Warpgroup,
    /// It has run long enough for this time.
    Fuel,
    /// The launch has failed: the worker knows why.
    Failed,
}

for_each_host_isa! {
    /// Executes `warp` until it stops.
    pub fn run(worker: &mut Worker<'_>, warp: &mut Warp, team: &mut Team) -> Stop = interpret
}

/// Instructions that a warp executes before others get their turn.
pub const FUEL: i64 = 1 << 16;

#[inline(always)]
fn interpret(worker: &mut Worker<'_>, warp: &mut Warp, team: &mut Team) -> Stop {
    let program = worker.program;
    warp.settle_undefined(program, team);
    let mut fuel = FUEL;
    // Fuel that was left when a path had nothing to do.
    let mut saved = 0;
    'path: while let Some(mut path) = warp.take_ready() {
        let mut meeting = warp.meeting_pc(path.join);
        // SAFETY: there is room for all frames of this level since the call that led to it.
        let frame = unsafe { Frame::new(&mut warp.registers, path.frame, &program.constants) };
        macro_rules! stop {
            ($stop:expr) => {{
                worker.steps += FUEL - fuel - saved;
                return $stop;
            }};
        }
        loop {
            let inst: &Inst = &program.code[path.pc as usize];
            if warp.undefined.is_some() {
                Step { worker, warp, team, frame, mask: path.mask, pc: path.pc }.track(inst);
            }
            let mut mask = path.mask;
            macro_rules! step {
                () => {
                    Step { worker, warp, team, frame, mask, pc: path.pc }
                };
            }
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
                Op::Read(special) => step!().read_special(special, inst),
                Op::LocalAddress => {
                    let address = program.locals.address(path.level, inst.aux);
                    // SAFETY: the destination is a row of 64-bit values.
                    unsafe { vector::splat::<u64>(frame.target(inst.dst), address, mask) }
                }
                Op::Load => step!().access(Mode::Read, inst.aux),
                Op::Store => step!().access(Mode::Write, inst.aux),
                Op::LoadParam => step!().load_param(inst.aux),
                Op::Scalar => crate::machine::lanes::scalar::execute(
                    &program.sites.scalars[inst.aux as usize],
                    frame,
                    mask,
                ),
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
                        step!().hand_back(&path, join);
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
                    let mut step = step!();
                    path.pc += 1;
                    if !step.call(&mut path, inst.aux) {
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
                Op::WarpSync | Op::Shuffle | Op::Vote | Op::Match | Op::Redux | Op::Elect => {
                    let ready = step!().members(inst, &mut path);
                    if !ready {
                        warp.paths.push(path);
                        continue 'path;
                    }
                }
                Op::Trap | Op::Unsupported => {
                    step!().refuse(inst);
                    warp.paths.push(path);
                    stop!(Stop::Failed);
                }
                Op::Rare(rare) => {
                    match step!().rare(rare, inst, &path) {
                        Next::On => {}
                        Next::Later => {
                            // The path waits: it yields at the next basic block, so that other warps can make progress.
                            saved += fuel + 1;
                            fuel = -1;
                        }
                        Next::Together => match warp.gather(path) {
                            Some(all) => {
                                path = all;
                                continue;
                            }
                            None => {
                                warp.paths.push(Path { state: State::Aligned, ..path });
                                continue 'path;
                            }
                        },
                        Next::Meet => {
                            let rest = path.mask & !mask;
                            if rest != 0 {
                                warp.paths.push(Path { mask: rest, pc: path.pc + 1, ..path });
                            }
                            warp.paths.push(Path { mask, state: State::Warpgroup, ..path });
                            stop!(Stop::Warpgroup);
                        }
                        Next::Again => {
                            // Fuel is used up even so: a wait without end then reaches the step limit.
                            fuel -= 1;
                            let rest = path.mask & !mask;
                            let others = warp.paths.iter().any(|path| path.state == State::Ready);
                            warp.paths.insert(0, Path { mask, ..path });
                            if rest != 0 {
                                warp.paths.push(Path { mask: rest, pc: path.pc + 1, ..path });
                            } else if !others {
                                warp.release_joins();
                            }
                            stop!(Stop::Fuel);
                        }
                    }
                }
            }
            path.pc += 1;
        }
    }
    worker.steps += FUEL - fuel - saved;
    Stop::Idle
}

#[inline(always)]
fn guard(frame: Frame, guard: Guard) -> u32 {
    frame.predicate(guard.place) ^ guard.flip
}
