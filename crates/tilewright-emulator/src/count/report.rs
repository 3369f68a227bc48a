//! Counters as users see them: by instruction, by CUDA line, and in total.

use std::collections::BTreeMap;

use super::{
    MbarrierCounters,
    raw::{AccessCount, RawCounts},
};
use crate::check::Mode;
use crate::memory::SharedLayout;
use crate::program::{
    Program, SourceLine,
    instruction::{Access, Class, Inst, Issue, Role, Space},
};
use crate::ptx_isa::Type;

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the words say it")]
pub enum AccessKind {
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    LocalLoad,
    LocalStore,
    ConstantLoad,
    ParameterLoad,
    Texture,
    /// A store to a surface, which goes the way of textures.
    TextureStore,
    /// Generic addresses that meant several spaces, or none that is counted.
    Mixed,
}

/// Executions of one access to memory.
///
/// Sectors are distinct 32-byte segments of a warp's request, and lines those of 128 bytes; wavefronts are passes over the banks of shared memory. Both follow the
/// rules measured on an H200 (`tilewright_arch::memory`). Shared atomics of 32-bit integers count one wavefront per lane in the fullest
/// bank. Those that are a loop on the hardware, as additions of floats are, count a request for each round, as if the warps of a
/// block came together, and the loads of the loop are loads. Constant loads count distinct addresses as wavefronts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCounters {
    /// Warp instructions that reached memory.
    pub requests: u64,
    /// Lanes that took part.
    pub lanes: u64,
    /// Bytes that the lanes asked for.
    pub bytes_requested: u64,
    /// Sectors touched.
    pub sectors: u64,
    /// Sectors that packed and aligned data would need.
    pub ideal_sectors: u64,
    /// Lines of 128 bytes touched, which the address path of L1 looks up; not counted for bulk copies, which go another way.
    pub lines: u64,
    /// Passes over the banks of L1, which are those of shared memory, by loads from memory that L1 holds.
    pub l1_wavefronts: u64,
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// What optimised machine code is predicted to do instead.
    pub optimised: OptimisedAccesses,
}

/// Accesses to shared memory as `ptxas` is predicted to issue them with optimisation, which makes one wide access of
/// neighbours. All other counters are those of PTX, and so of `ptxas -O0`. For other memories these are the same as in PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptimisedAccesses {
    /// Warp instructions that reach memory.
    pub requests: u64,
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
}

impl AccessCounters {
    fn add(&mut self, count: &AccessCount, issue: Option<&Issue>) {
        self.requests += count.requests;
        self.lanes += count.lanes;
        self.bytes_requested += count.bytes;
        self.sectors += count.sectors;
        self.ideal_sectors += count.ideal_sectors;
        self.lines += count.lines;
        self.l1_wavefronts += count.l1_wavefronts;
        self.wavefronts += count.wavefronts;
        self.ideal_wavefronts += count.ideal_wavefronts;
        let (issued, issued_wavefronts, executions) = match issue {
            Some(issue) => (count.issued, count.issued_wavefronts, u64::from(issue.executions)),
            None => (count.requests, count.wavefronts, 1),
        };
        self.optimised.requests += issued / executions;
        self.optimised.wavefronts += issued_wavefronts / executions;
    }

    /// Sectors per request; 0 without requests.
    pub fn sectors_per_request(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.sectors as f64 / self.requests as f64 }
    }

    /// Bytes asked for by bytes moved: more than 1 for broadcasts.
    pub fn efficiency(&self) -> f64 {
        tilewright_arch::memory::global::efficiency(self.bytes_requested, self.sectors)
    }

    /// Wavefronts that bank conflicts add.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }
}

/// Counters of one PTX instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionCounters {
    /// PTX line, from 1.
    pub ptx_line: u32,
    /// CUDA line, if the module has line information.
    pub source: Option<SourceLine>,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// Warps that executed it.
    pub executions: u64,
    /// Lanes that took part in all of them.
    pub active_lanes: u64,
    /// Floating-point operations: an addition or multiplication is one, a fused multiply-add two, per element.
    pub flops: u64,
    /// What it did to memory; an asynchronous copy has two sides.
    pub accesses: Vec<(AccessKind, AccessCounters)>,
}

/// Counters of a CUDA line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineCounters {
    /// Warp instructions.
    pub executions: u64,
    /// Lanes in all of them.
    pub active_lanes: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Memory.
    pub accesses: BTreeMap<AccessKind, AccessCounters>,
}

/// What a launch did, counted at the level of PTX: of the instructions as they stand in the module, not of what an assembler makes of
/// them. It may merge loads, remove and repeat instructions; times and cache hits are not known here at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// PTX instructions executed by warps, those without an active lane included.
    pub warp_instructions: u64,
    /// The same by lanes.
    pub thread_instructions: u64,
    /// Floating-point operations outside of matrix instructions.
    pub flops: u64,
    /// Floating-point or integer operations of `mma` and `wmma`: two per multiply-add.
    pub matrix_operations: u64,
    /// Warps that arrived at block barriers.
    pub barriers: u64,
    /// What was done at the mbarriers of shared memory, by their addresses.
    pub mbarriers: Vec<MbarrierCounters>,
    /// Loads from global memory.
    pub global_load: AccessCounters,
    /// Stores to global memory.
    pub global_store: AccessCounters,
    /// Loads from shared memory.
    pub shared_load: AccessCounters,
    /// Stores to shared memory.
    pub shared_store: AccessCounters,
    /// Every kind of access, those four included.
    pub accesses: BTreeMap<AccessKind, AccessCounters>,
    /// Executions by opcode.
    pub instruction_mix: BTreeMap<String, u64>,
    /// Every instruction that was executed, in the order of the module.
    pub instructions: Vec<InstructionCounters>,
    /// By CUDA line.
    pub lines: BTreeMap<SourceLine, LineCounters>,
}

impl Counters {
    pub(crate) fn new(program: &Program, shared: &SharedLayout, raw: &RawCounts) -> Self {
        let mbarriers = raw.mbarriers.named(program, shared);
        let mut counters = Self { barriers: raw.barriers, mbarriers, ..Self::default() };
        let mut accesses_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (access, &pc) in program.accesses.iter().enumerate() {
            accesses_of.entry(pc).or_default().push(access);
        }
        for (block, executions) in program.blocks.iter().zip(&raw.blocks) {
            if executions.warps == 0 {
                continue;
            }
            for pc in block.start..block.end {
                let lanes = executions.lanes - raw.guarded_out[pc as usize];
                let accesses = accesses_of.get(&pc).map_or(&[][..], Vec::as_slice);
                counters.add(program, raw, pc, executions.warps, lanes, accesses);
            }
        }
        counters.instructions.sort_by_key(|instruction| instruction.ptx_line);
        let total = |kind| counters.accesses.get(&kind).copied().unwrap_or_default();
        counters.global_load = total(AccessKind::GlobalLoad);
        counters.global_store = total(AccessKind::GlobalStore);
        counters.shared_load = total(AccessKind::SharedLoad);
        counters.shared_store = total(AccessKind::SharedStore);
        counters
    }

    fn add(
        &mut self,
        program: &Program,
        raw: &RawCounts,
        pc: u32,
        warps: u64,
        lanes: u64,
        accesses: &[usize],
    ) {
        let inst = &program.code[pc as usize];
        let opcode = &program.names[program.opcodes[pc as usize] as usize];
        let loads = loads_of(program, inst);
        let accesses: Vec<(AccessKind, AccessCounters)> = accesses
            .iter()
            // An atomic through a generic address has a loop only where that is one of shared memory.
            .filter(|&&access| loads != Some(access) || raw.spaces[access] != 0)
            .map(|&access| {
                let mut sum = AccessCounters::default();
                sum.add(&raw.accesses[access], issue_of(program, inst));
                let kind = if loads == Some(access) {
                    AccessKind::SharedLoad
                } else {
                    kind_of(inst, raw.spaces[access])
                };
                (kind, sum)
            })
            .collect();
        let origin = program.origins[pc as usize];
        let source = program.source_line(origin);
        for (kind, sum) in &accesses {
            merge(self.accesses.entry(*kind).or_default(), sum);
        }
        // Only the first of the instructions that a PTX instruction became counts, and no marker of a block.
        let counted = !opcode.is_empty();
        let flops = lanes * flops_of(opcode);
        if counted {
            self.warp_instructions += warps;
            self.thread_instructions += lanes;
            self.flops += flops;
            self.matrix_operations += warps * matrix_operations(program, inst);
            *self.instruction_mix.entry(opcode.clone()).or_default() += warps;
        }
        if let Some(source) = &source {
            let line = self.lines.entry(source.clone()).or_default();
            if counted {
                line.executions += warps;
                line.active_lanes += lanes;
                line.flops += flops;
            }
            for (kind, sum) in &accesses {
                merge(line.accesses.entry(*kind).or_default(), sum);
            }
        }
        if counted {
            self.instructions.push(InstructionCounters {
                ptx_line: origin.ptx_line,
                source,
                opcode: opcode.clone(),
                executions: warps,
                active_lanes: lanes,
                flops,
                accesses,
            });
        } else if !accesses.is_empty()
            && let Some(last) = self.instructions.iter_mut().rev().find(|i| i.ptx_line == origin.ptx_line)
        {
            last.accesses.extend(accesses);
        }
    }
}

fn merge(sum: &mut AccessCounters, more: &AccessCounters) {
    sum.requests += more.requests;
    sum.lanes += more.lanes;
    sum.bytes_requested += more.bytes_requested;
    sum.sectors += more.sectors;
    sum.ideal_sectors += more.ideal_sectors;
    sum.lines += more.lines;
    sum.l1_wavefronts += more.l1_wavefronts;
    sum.wavefronts += more.wavefronts;
    sum.ideal_wavefronts += more.ideal_wavefronts;
    sum.optimised.requests += more.optimised.requests;
    sum.optimised.wavefronts += more.optimised.wavefronts;
}

/// What optimised code issues in place of an instruction, if that is something else.
fn issue_of<'a>(program: &'a Program, inst: &Inst) -> Option<&'a Issue> {
    let Some(Access::Plain(_)) = inst.op.access() else { return None };
    program.sites.memories[inst.aux as usize].issue.as_ref()
}

/// The counters of the loads of an atomic that is a loop.
fn loads_of(program: &Program, inst: &Inst) -> Option<usize> {
    let Some(Access::Atomic) = inst.op.access() else { return None };
    program.sites.atomics[inst.aux as usize].loads.map(|loads| loads as usize)
}

/// The kind of an access from the spaces that its executions reached.
fn kind_of(inst: &Inst, spaces: u8) -> AccessKind {
    if inst.op.class() == Class::Wgmma {
        return AccessKind::SharedLoad;
    }
    let space = KINDS.iter().find(|row| spaces == 1 << row.0 as u8).map(|row| row.0);
    let (Some(space), Some(access)) = (space, inst.op.access()) else { return AccessKind::Mixed };
    let mode = match access {
        Access::Plain(Role::Use)
        | Access::Matrices(Role::Use)
        | Access::Fragment(Role::Use)
        | Access::Surface(Role::Use) => Mode::Write,
        Access::Plain(_)
        | Access::Matrices(_)
        | Access::Fragment(_)
        | Access::Surface(_)
        | Access::Texture => Mode::Read,
        Access::Atomic => Mode::Update,
        // The shared side of an asynchronous copy is a store.
        Access::Copy if space == Space::Shared => Mode::Write,
        Access::Copy => Mode::Read,
        // The side that is written, and the other.
        Access::Bulk(role) if (role == Role::Define) == (space == Space::Shared) => Mode::Write,
        Access::Bulk(_) => Mode::Read,
    };
    AccessKind::of(space, mode)
}

/// For each space: loads, stores, atomics.
const KINDS: &[(Space, AccessKind, AccessKind, AccessKind)] = &[
    (Space::Global, AccessKind::GlobalLoad, AccessKind::GlobalStore, AccessKind::GlobalAtomic),
    (Space::Shared, AccessKind::SharedLoad, AccessKind::SharedStore, AccessKind::SharedAtomic),
    (Space::Local, AccessKind::LocalLoad, AccessKind::LocalStore, AccessKind::LocalStore),
    (Space::Const, AccessKind::ConstantLoad, AccessKind::Mixed, AccessKind::Mixed),
    (Space::Param, AccessKind::ParameterLoad, AccessKind::Mixed, AccessKind::Mixed),
    (Space::Texture, AccessKind::Texture, AccessKind::TextureStore, AccessKind::Mixed),
];

impl AccessKind {
    /// The kind of an access whose space is known.
    pub(crate) fn of(space: Space, mode: Mode) -> Self {
        match (KINDS.iter().find(|row| row.0 == space), mode) {
            (Some(row), Mode::Read) => row.1,
            (Some(row), Mode::Write) => row.2,
            (Some(row), Mode::Update) => row.3,
            (None, _) => Self::Mixed,
        }
    }
}

/// Floating-point operations of one lane.
fn flops_of(opcode: &str) -> u64 {
    let base = opcode.split('.').next().unwrap_or_default();
    let operations = match base {
        "fma" | "mad" => 2,
        "add" | "sub" | "mul" => 1,
        _ => return 0,
    };
    let float = opcode.split('.').filter_map(Type::parse).find(|ty| ty.is_float());
    let elements = match float {
        Some(Type::F16x2 | Type::Bf16x2 | Type::F32x2) => 2,
        Some(_) => 1,
        None => 0,
    };
    operations * elements
}

fn matrix_operations(program: &Program, inst: &Inst) -> u64 {
    let op = match inst.op.class() {
        Class::Mma => &program.sites.mmas[inst.aux as usize].op,
        Class::Wgmma => &program.sites.wgmmas[inst.aux as usize].op,
        _ => return 0,
    };
    2 * u64::from(op.m) * u64::from(op.n) * u64::from(op.k)
}
