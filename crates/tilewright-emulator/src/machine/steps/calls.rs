//! Calls: of functions of the program, and of the few that the machine implements.

use super::printf;
use crate::check::{FindingKind, Mode, Severity};
use crate::machine::{
    lanes::frame::Frame,
    state::{
        heap::BadFree,
        options::LaunchError,
        step::Step,
        warp::{Join, JoinKind, Path, State, Warp},
    },
    watch::definedness::begin_undefined,
};
use crate::memory::{Budget, Use, lanes};
use crate::program::{
    Line, Program, address,
    instruction::{CallSite, CallTarget, Place, Slot, Space, System, Width},
};

/// Levels of recursion.
const LEVELS: u32 = 1024;

impl Warp {
    /// Makes room for the frames of `level`; `false` if there is none.
    fn reserve(&mut self, level: u32, program: &Program, budget: &Budget) -> bool {
        let lines = (level as usize + 1) * program.frame_bytes.div_ceil(64) as usize;
        let more = lines.saturating_sub(self.registers.len());
        if more > 0 {
            // Doubled, so that deep recursion does not copy them again and again.
            let more = more.max(self.registers.len());
            if !budget.take(Use::Calls, (more * size_of::<Line>()) as u64) {
                return false;
            }
            self.registers.reserve_exact(more);
            self.registers.resize(self.registers.len() + more, Line::ZERO);
        }
        true
    }

    /// The join where the callers go on; lanes that do not call are there already.
    fn join_of(&mut self, path: &Path, mask: u32) -> u32 {
        self.add_join(Join {
            pc: path.pc,
            expected: path.mask,
            arrived: path.mask & !mask,
            parent: path.join,
            frame: path.frame,
            level: path.level,
            kind: JoinKind::Call,
        })
    }

    /// Bytes that levels of recursion behind the first have taken.
    pub fn deep_bytes(&self, program: &Program) -> u64 {
        let first = program.frame_bytes.div_ceil(64) as usize;
        let registers = self.registers.len().saturating_sub(first) * size_of::<Line>();
        registers as u64 + self.local.deep_bytes(program)
    }
}

impl Step<'_, '_> {
    /// Starts a call; `path` is behind it and goes on in the callee. `false`: the launch has failed.
    pub fn call(&mut self, path: &mut Path, index: u32) -> bool {
        let (program, mask) = (self.program(), self.mask);
        let site = &program.sites.calls[index as usize];
        match site.target {
            CallTarget::System(system) => self.system_call(system, site),
            CallTarget::Function(function) => {
                let join = self.warp.join_of(path, mask);
                self.enter(path, function, site, join)
            }
            CallTarget::Indirect(slot) => {
                let join = self.warp.join_of(path, mask);
                let targets = self.frame.row(slot);
                let mut rest = mask;
                while rest != 0 {
                    let target = targets[rest.trailing_zeros() as usize];
                    let group =
                        lanes(rest).filter(|&lane| targets[lane] == target).fold(0, |m, lane| m | 1 << lane);
                    rest &= !group;
                    let number = target.wrapping_sub(address::CODE_WINDOW) / 16;
                    let mut callee = *path;
                    if !self.of(group).enter(&mut callee, number as u32, site, join) {
                        return false;
                    }
                    if rest == 0 {
                        *path = callee;
                    } else {
                        self.warp.paths.push(callee);
                    }
                }
                true
            }
        }
    }

    fn enter(&mut self, path: &mut Path, function: u32, site: &CallSite, join: u32) -> bool {
        let (program, mask) = (self.program(), self.mask);
        let callee = program.functions.get(function as usize);
        let Some((callee, start)) = callee.and_then(|callee| Some((callee, callee.start?))) else {
            let name = callee.map_or("an address that is no function".into(), |callee| callee.name.clone());
            let line = program.origins[self.pc as usize].ptx_line;
            self.worker.error = Some(LaunchError::UndefinedFunction { name, line });
            return false;
        };
        // Functions have frames of their own; only a function that may be active twice needs another level of them.
        let level = path.level + u32::from(program.recursive);
        if level >= LEVELS {
            self.worker.error = Some(LaunchError::StackOverflow { levels: LEVELS });
            return false;
        }
        // SAFETY: the caller executes in this frame. Calls of others at this place may have moved it.
        let frame = unsafe { Frame::new(&mut self.warp.registers, path.frame, &program.constants) };
        let values: Vec<[u32; 32]> = site
            .arguments
            .iter()
            .flat_map(|&(first, words)| rows(first, words))
            .map(|place| {
                // SAFETY: parameter rows are rows of 32-bit values.
                unsafe { *frame.source::<[u32; 32]>(place) }
            })
            .collect();
        if !self.warp.reserve(level, program, &self.launch().budget) {
            self.worker.error = self.launch().over_budget();
            return false;
        }
        let offset = level * program.frame_bytes + callee.frame_offset;
        // SAFETY: `reserve` has made room for all frames of this level.
        let inner = unsafe { Frame::new(&mut self.warp.registers, offset, &program.constants) };
        let places = callee.params.iter().flat_map(|&(first, words)| rows(first, words));
        for (place, values) in places.zip(&values) {
            let values = values.map(u64::from);
            inner.set_row(Slot { place, width: Width::Word }, &values, mask);
        }
        let given = site.arguments.iter().flat_map(|&(first, words)| rows(first, words));
        let taken = callee.params.iter().flat_map(|&(first, words)| rows(first, words));
        hand_undefined(self.warp, (path.frame, given), (offset, taken), mask);
        begin_undefined(program, callee, self.warp, self.team, offset, mask);
        *path = Path {
            pc: start,
            mask,
            join: Some(join),
            frame: offset,
            level,
            state: State::Ready,
            alone: false,
        };
        true
    }

    /// Results of a function, for lanes that return from `path` to the frame of `join`.
    pub fn hand_back(&mut self, path: &Path, join: u32) {
        let (program, mask) = (self.program(), self.mask);
        let warp = &mut *self.warp;
        let Join { pc, frame, .. } = *warp.join(join);
        let call = &program.code[pc as usize - 1];
        let site = &program.sites.calls[call.aux as usize];
        let callee = program
            .functions
            .iter()
            .rev()
            .find(|function| function.start.is_some_and(|start| start <= path.pc));
        let Some(callee) = callee else { return };
        // SAFETY: both frames are in use.
        let (inner, outer) = unsafe {
            (
                Frame::new(&mut warp.registers, path.frame, &program.constants),
                Frame::new(&mut warp.registers, frame, &program.constants),
            )
        };
        let given = || callee.results.iter().flat_map(|&(first, words)| rows(first, words));
        let taken = || site.results.iter().flat_map(|&(first, words)| rows(first, words));
        hand_undefined(warp, (path.frame, given()), (frame, taken()), mask);
        for (from, to) in given().zip(taken()) {
            let values = inner.row(Slot { place: from, width: Width::Word });
            outer.set_row(Slot { place: to, width: Width::Word }, &values, mask);
        }
    }

    fn system_call(&mut self, system: System, site: &CallSite) -> bool {
        let Self { frame, mask, pc, .. } = *self;
        let program = self.program();
        let argument = |index: usize, lane: usize| {
            let Some(&(first, words)) = site.arguments.get(index) else { return 0 };
            rows(first, words.min(2)).enumerate().fold(0u64, |value, (word, place)| {
                value | frame.lane(Slot { place, width: Width::Word }, lane) << (32 * word)
            })
        };
        for lane in lanes(mask) {
            let result = match system {
                System::Vprintf => {
                    let text = self.printed_text(lane, argument(0, lane), argument(1, lane));
                    let bytes = text.len() + size_of::<(u32, String)>();
                    if self.launch().budget.take(Use::Text, bytes as u64) {
                        self.worker.printed.push((self.team.number, text));
                    }
                    0
                }
                System::Malloc => {
                    let origin = program.origins[pc as usize];
                    let place = || match program.source_line(origin) {
                        Some(line) => format!("what malloc gave at {line}"),
                        None => format!("what malloc gave at PTX line {}", origin.ptx_line),
                    };
                    self.launch().heap.allocate(argument(0, lane), place)
                }
                System::Free => {
                    if let Err(why) = self.launch().heap.free(argument(0, lane)) {
                        self.report_bad_free(why, 1 << lane);
                    }
                    0
                }
                System::AssertFail => {
                    let [message, file, line, function] = [0, 1, 2, 3].map(|index| argument(index, lane));
                    let [message, file, function] = [message, file, function].map(|at| self.text(lane, at));
                    let line = line as u32;
                    self.report(FindingKind::Assertion, Severity::Error, 1 << lane, || {
                        (
                            format!("{file}:{line}: {function}: assertion `{message}` failed"),
                            "see the assertion".into(),
                        )
                    });
                    self.worker.error = Some(LaunchError::Assertion { message, file, line });
                    return false;
                }
            };
            let Some(&(first, words)) = site.results.first() else { continue };
            for (word, place) in rows(first, words).enumerate().take(2) {
                frame.set_lane(Slot { place, width: Width::Word }, lane, result >> (32 * word));
            }
        }
        true
    }

    fn report_bad_free(&mut self, why: BadFree, lanes: u32) {
        self.report(FindingKind::InvalidFree, Severity::Error, lanes, || match why {
            BadFree::Twice(name) => (
                format!("frees {name}, which is free already"),
                "free it once, in the thread that has the pointer last, and set the pointer to null".into(),
            ),
            BadFree::NoBlock => (
                "frees what is not the start of memory that malloc has given".into(),
                "pass the pointer that malloc has returned; what cudaMalloc gives is freed by the host"
                    .into(),
            ),
        });
    }

    /// Reads a byte at a generic address.
    fn byte(&mut self, lane: usize, at: u64) -> Option<u8> {
        let data = self.lane_data(Space::Generic, at, lane, 1, 1, Mode::Read).ok()?;
        Some(crate::memory::read(data, 1) as u8)
    }

    /// A string that ends with a zero; what is not readable is left out.
    fn text(&mut self, lane: usize, at: u64) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < printf::LONGEST {
            match self.byte(lane, at.wrapping_add(bytes.len() as u64)) {
                None | Some(0) => break,
                Some(byte) => bytes.push(byte),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn printed_text(&mut self, lane: usize, format: u64, list: u64) -> String {
        let format = self.text(lane, format);
        let mut at = list;
        printf::format(&format, &mut |request| {
            let size = request.bytes();
            at = at.next_multiple_of(size);
            let value = (0..size)
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(self.byte(lane, at + byte).unwrap_or(0)));
            at += size;
            match request {
                printf::Request::Text => printf::Argument::Text(self.text(lane, value)),
                _ => printf::Argument::Bits(value),
            }
        })
    }
}

/// The undefined bits of rows that are handed from one frame to another.
fn hand_undefined(
    warp: &mut Warp,
    (from, given): (u32, impl Iterator<Item = Place>),
    (to, taken): (u32, impl Iterator<Item = Place>),
    mask: u32,
) {
    let registers = warp.registers.len();
    let Some(undefined) = &mut warp.undefined else { return };
    undefined.grow(registers);
    for (given, taken) in given.zip(taken) {
        let [given, taken] = [given, taken].map(|place| Slot { place, width: Width::Word });
        let bits = undefined.row(from, given);
        undefined.set(to, taken, &bits, mask);
    }
}

/// The places of consecutive rows.
fn rows(first: Place, words: u32) -> impl Iterator<Item = Place> {
    (0..words as i32).map(move |word| Place(first.0 + word * Width::Word.bytes()))
}
