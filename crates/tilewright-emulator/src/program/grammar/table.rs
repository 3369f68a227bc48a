//! The rows: a block of them for each part of the lowering.

use std::{collections::HashMap, sync::LazyLock};

use super::row::{Instruction, Lowering, Lowering::*, Mbarrier, Takes, Takes::*};
use crate::ptx_isa::{Fragment, MatrixFamily, Modifier, Opcode};

const BLOCKS: &[&[Instruction]] =
    &[MEMORY, COPIES, CONTROL, SYNC, MBARRIER, MATRIX, TEXTURE, STACK, ARITHMETIC, PLANNED];

/// Every row by its name.
static ROWS: LazyLock<HashMap<&str, &Instruction>> =
    LazyLock::new(|| BLOCKS.iter().copied().flatten().map(|row| (row.name, row)).collect());

/// The row of an opcode: that with the longest name that the opcode begins with.
pub fn find(opcode: &str) -> &'static Instruction {
    let mut name = opcode;
    loop {
        if let Some(row) = ROWS.get(name.trim_end()) {
            return row;
        }
        match name.rsplit_once('.') {
            Some((shorter, _)) => name = shorter,
            None => return &UNKNOWN,
        }
    }
}

/// The names that begin with the same word as `opcode`, where that alone is no instruction.
pub fn namesakes(opcode: &str) -> Vec<&'static str> {
    let word = |name: &str| name.split('.').next().map(str::to_owned);
    let mut names: Vec<_> = ROWS.keys().copied().filter(|name| word(name) == word(opcode)).collect();
    names.sort_unstable();
    names
}

/// What has no row.
static UNKNOWN: Instruction = row("", "", Known, Unknown);

const fn row(name: &'static str, form: &'static str, takes: Takes, lowering: Lowering) -> Instruction {
    Instruction { name, form, takes, lowering }
}

const fn scalar(name: &'static str, form: &'static str, opcode: Opcode, sources: u8) -> Instruction {
    row(name, form, Known, Scalar(opcode, sources))
}

/// Known by name alone: what it belongs to is said where it is refused.
const fn planned(name: &'static str, what: &'static str) -> Instruction {
    row(name, "", Anything, Planned(what))
}

const MEMORY: &[Instruction] = &[
    row("ld", "{.order}{.scope}{.space}{.cache}{.vec}.type d, [a]", Known, Load),
    row("ldu", "{.space}{.vec}.type d, [a]", Known, Load),
    row("st", "{.order}{.scope}{.space}{.cache}{.vec}.type [a], b", Known, Store),
    row("st.async", "{.order}{.scope}{.space}{.vec}.type [a], b, [mbarrier]", Known, StoreAsync),
    row("atom", "{.order}{.scope}{.space}.op{.cache}{.vec}.type d, [a], b{, c}", Known, Atomic),
    row("red", "{.order}{.scope}{.space}.op{.cache}{.vec}.type [a], b", Known, Reduction),
    row("red.async", "{.order}{.scope}{.space}.op.type [a], b, [mbarrier]", Known, ReductionAsync),
    row("cvta", "{.to}.space.size d, a", Known, ConvertAddress),
    row("isspacep", ".space p, a", Known, IsSpace),
    row("mapa", "{.space}.type d, a, rank", Known, MapAddress),
    row("getctarank", "{.space}.type d, a", Known, RankOfAddress),
    row("prefetch", "{.space}.level [a]", Anything, Nothing),
    row("prefetchu", ".L1 [a]", Anything, Nothing),
    row("discard", "{.global}.L2 [a], size", Anything, Nothing),
    row("applypriority", "{.global}.level [a], size", Anything, Nothing),
    row("createpolicy", ".kind.level.b64 d", Anything, CachePolicy),
];

const COPIES: &[Instruction] = &[
    row("cp.async", ".cache.shared.global [d], [a], size{, size or predicate}", Known, CopyAsync),
    row("cp.async.commit_group", "", Known, CommitCopies),
    row("cp.async.wait_group", " n", Known, WaitForCopies),
    row("cp.async.wait_all", "", Known, WaitForCopies),
    row(
        "cp.async.bulk",
        ".to.from.completion{.multicast::cluster}{.cache} [d], [a], size{, [mbarrier]}{, blocks}{, policy}",
        Known,
        Bulk { reduces: false },
    ),
    row(
        "cp.reduce.async.bulk",
        ".to.from.completion.op.type [d], [a], size{, [mbarrier]}",
        Known,
        Bulk { reduces: true },
    ),
    row(
        "cp.async.bulk.tensor",
        ".dim.to.from{.mode}.completion [d], [a], {[mbarrier]}{, offsets}{, blocks}{, policy}; the tensor is [map, {coordinates}]",
        Known,
        BulkTensor { reduces: false },
    ),
    row(
        "cp.reduce.async.bulk.tensor",
        ".dim.global.shared::cta.op{.mode}.bulk_group [map, {coordinates}], [a]{, policy}",
        Known,
        BulkTensor { reduces: true },
    ),
    row("tensormap.replace", ".tile.field{.space}.b1024.type [map]{, dimension}, value", Known, ReplaceMap),
    row(
        "tensormap.cp_fenceproxy",
        ".global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128",
        Known,
        CopyMap,
    ),
    row("fence.proxy.tensormap::generic.acquire", ".scope [map], 128", Anything, AcquireMap),
    row("cp.async.bulk.commit_group", "", Known, BulkCommit),
    row("cp.async.bulk.wait_group", "{.read} n", Known, BulkWait),
    row("cp.async.bulk.prefetch", ".L2.global [a], size", Anything, Nothing),
    row("cp.async.bulk.prefetch.tensor", ".dim.L2.global{.mode} [map, {coordinates}]", Anything, Nothing),
    row("cp.async.mbarrier.arrive", "{.noinc}{.space}.b64 [mbarrier]", Known, ArriveAfterCopies),
];

const CONTROL: &[Instruction] = &[
    row("bra", "{.uni} label", Known, Branch),
    row("brx", ".idx{.uni} index, labels", Known, BranchIndexed),
    row("call", "{.uni} {(results), }function{, (arguments)}", Known, Call),
    row("ret", "{.uni}", Known, Return),
    row("exit", "", Known, Exit),
    row("trap", "", Known, Trap),
    row("nanosleep", ".u32 t", Known, Sleep),
    // Breakpoints change no result. Launches follow each other, so that
    // there is no kernel before this one to wait for, and none after it to let go.
    row("brkpt", "", Known, Nothing),
    row("pmevent", " a", Known, Nothing),
    row("setmaxnreg", ".action.sync.aligned.u32 n", Known, SetRegisters),
    row("griddepcontrol", ".action", Known, Nothing),
];

const SYNC: &[Instruction] = &[
    row("bar", "{.cta}.kind{.op}{.type} {d, }barrier{, threads}{, p}", Known, Barrier { aligned: true }),
    row(
        "barrier",
        "{.cta}.kind{.op}{.aligned}{.type} {d, }barrier{, threads}{, p}",
        Known,
        Barrier { aligned: false },
    ),
    row("bar.warp", ".sync mask", Known, WarpBarrier),
    row("barrier.warp", ".sync mask", Known, WarpBarrier),
    row("barrier.cluster.arrive", "{.order}{.aligned}", Known, ClusterArrive),
    row("barrier.cluster.wait", "{.order}{.aligned}", Known, ClusterWait),
    row("membar", ".level", Known, Fence),
    row("fence", "{.order}.scope", Anything, Fence),
    row("fence.proxy.async", "{.space}", Anything, ProxyFence),
    row("fence.mbarrier_init", ".release.cluster", Anything, InitFence),
    row("shfl", "{.sync}.mode.b32 d{|p}, a, lane, clamp{, mask}", Known, Shuffle),
    row("vote", "{.sync}.mode.type d, p{, mask}", Known, Vote),
    row("match", ".mode.sync.type d{|p}, a, mask", Known, Match),
    row("redux", ".sync.op{.abs}{.NaN}.type d, a, mask", Known, ReduceInWarp),
    row("activemask", ".b32 d", Known, ActiveMask),
    row("elect", ".sync d|p, mask", Known, Elect),
];

/// Modifiers that change nothing here: where the barrier is, and whom the order reaches.
const PLACE: &[Modifier] = &[Modifier::Shared, Modifier::SharedCta, Modifier::SharedCluster];
const ORDERED: &[Modifier] = &[
    Modifier::Shared,
    Modifier::SharedCta,
    Modifier::SharedCluster,
    Modifier::Cta,
    Modifier::Cluster,
    Modifier::Release,
    Modifier::Acquire,
    Modifier::Relaxed,
    Modifier::ExpectTx,
    Modifier::NoComplete,
    Modifier::Parity,
];

const MBARRIER: &[Instruction] = &[
    row("mbarrier.init", "{.space}.b64 [mbarrier], count", Only(PLACE), Mbarrier(Mbarrier::Init)),
    row("mbarrier.inval", "{.space}.b64 [mbarrier]", Only(PLACE), Mbarrier(Mbarrier::Invalidate)),
    row(
        "mbarrier.arrive",
        "{.expect_tx}{.noComplete}{.order}{.scope}{.space}.b64 {state, }[mbarrier]{, count}",
        Only(ORDERED),
        Mbarrier(Mbarrier::Arrive),
    ),
    row(
        "mbarrier.arrive_drop",
        "{.expect_tx}{.noComplete}{.order}{.scope}{.space}.b64 {state, }[mbarrier]{, count}",
        Only(ORDERED),
        Mbarrier(Mbarrier::ArriveDrop),
    ),
    row(
        "mbarrier.expect_tx",
        "{.relaxed}{.scope}{.space}.b64 [mbarrier], bytes",
        Only(ORDERED),
        Mbarrier(Mbarrier::ExpectTx),
    ),
    row(
        "mbarrier.complete_tx",
        "{.relaxed}{.scope}{.space}.b64 [mbarrier], bytes",
        Only(ORDERED),
        Mbarrier(Mbarrier::CompleteTx),
    ),
    row(
        "mbarrier.test_wait",
        "{.parity}{.order}{.scope}{.space}.b64 p, [mbarrier], state or parity",
        Only(ORDERED),
        Mbarrier(Mbarrier::Wait),
    ),
    row(
        "mbarrier.try_wait",
        "{.parity}{.order}{.scope}{.space}.b64 p, [mbarrier], state or parity{, t}",
        Only(ORDERED),
        Mbarrier(Mbarrier::Wait),
    ),
    row("mbarrier.pending_count", ".b64 count, state", Only(&[]), Mbarrier(Mbarrier::PendingCount)),
];

const MATRIX: &[Instruction] = &[
    row(
        "mma",
        ".sync.aligned.shape.alayout.blayout{.satfinite}.d.a.b.c{.op} d, a, b, c",
        Known,
        Mma(MatrixFamily::Mma),
    ),
    row(
        "wmma.mma",
        ".sync.aligned.alayout.blayout.shape.d{.a.b}.c{.satfinite} d, a, b, c",
        Known,
        Mma(MatrixFamily::Wmma),
    ),
    row(
        "wmma.load.a",
        ".sync.aligned.layout.shape{.space}.type d, [p]{, stride}",
        Known,
        LoadFragment(Fragment::A),
    ),
    row(
        "wmma.load.b",
        ".sync.aligned.layout.shape{.space}.type d, [p]{, stride}",
        Known,
        LoadFragment(Fragment::B),
    ),
    row(
        "wmma.load.c",
        ".sync.aligned.layout.shape{.space}.type d, [p]{, stride}",
        Known,
        LoadFragment(Fragment::C),
    ),
    row("wmma.store.d", ".sync.aligned.layout.shape{.space}.type [p], d{, stride}", Known, StoreFragment),
    row("ldmatrix", ".sync.aligned.m8n8.num{.trans}{.shared}.b16 d, [p]", Known, LoadMatrix),
    row("stmatrix", ".sync.aligned.m8n8.num{.trans}{.shared}.b16 [p], d", Known, StoreMatrix),
    row(
        "wgmma.mma_async",
        ".sync.aligned.shape{.satfinite}.d.a.b{.op} d, a, b, p{, scales}{, transposes}",
        Known,
        Wgmma,
    ),
    row("wgmma.fence", ".sync.aligned", Known, WgmmaFence),
    row("wgmma.commit_group", ".sync.aligned", Known, WgmmaCommit),
    row("wgmma.wait_group", ".sync.aligned n", Known, WgmmaWait),
    row("movmatrix", ".sync.aligned.m8n8.trans.b16 d, a", Known, TransposeMatrix),
];

const TEXTURE: &[Instruction] = &[
    row("tex", "{.level}.shape.v4.type.type d, [texture, coordinates]", Known, Texture),
    row("tld4", ".channel.2d.v4.type.f32 d, [texture, coordinates]", Known, Gather),
    row("txq", ".extent.b32 d, [texture]", Known, TextureQuery),
    row("suld", ".b.shape{.cache}{.vec}.type.clamp d, [surface, coordinates]", Known, SurfaceLoad),
    row("sust", ".b.shape{.cache}{.vec}.type.clamp [surface, coordinates], d", Known, SurfaceStore),
    row("suq", ".extent.b32 d, [surface]", Known, SurfaceQuery),
];

const STACK: &[Instruction] = &[
    row("alloca", ".type p, size{, alignment}", Known, Alloca),
    row("stacksave", ".type d", Known, StackSave),
    row("stackrestore", ".type a", Known, StackRestore),
];

const ARITHMETIC: &[Instruction] = &[
    row("mov", "{.vec}.type d, a", Known, Mov),
    row("addc", "{.cc}.type d, a, b", Known, Carry(Opcode::Add)),
    row("subc", "{.cc}.type d, a, b", Known, Carry(Opcode::Sub)),
    row("madc", ".part{.cc}.type d, a, b, c", Known, Carry(Opcode::Mad)),
    scalar("abs", "{.mod}.type d, a", Opcode::Abs, 1),
    scalar("add", "{.mod}.type d, a, b", Opcode::Add, 2),
    scalar("and", "{.mod}.type d, a, b", Opcode::And, 2),
    scalar("bfe", "{.mod}.type d, a, b, c", Opcode::Bfe, 3),
    scalar("bfi", "{.mod}.type d, a, b, c, d", Opcode::Bfi, 4),
    scalar("bfind", "{.mod}.type d, a", Opcode::Bfind, 1),
    scalar("bmsk", "{.mod}.type d, a, b", Opcode::Bmsk, 2),
    scalar("brev", "{.mod}.type d, a", Opcode::Brev, 1),
    scalar("clz", "{.mod}.type d, a", Opcode::Clz, 1),
    scalar("cnot", "{.mod}.type d, a", Opcode::Cnot, 1),
    scalar("copysign", "{.mod}.type d, a, b", Opcode::Copysign, 2),
    scalar("cos", "{.mod}.type d, a", Opcode::Cos, 1),
    scalar("cvt", "{.rnd}.type.type d, a", Opcode::Cvt, 1),
    scalar("div", "{.mod}.type d, a, b", Opcode::Div, 2),
    scalar("dp2a", "{.mod}.type d, a, b, c", Opcode::Dp2a, 3),
    scalar("dp4a", "{.mod}.type d, a, b, c", Opcode::Dp4a, 3),
    scalar("ex2", "{.mod}.type d, a", Opcode::Ex2, 1),
    scalar("fma", "{.mod}.type d, a, b, c", Opcode::Fma, 3),
    scalar("fns", "{.mod}.type d, a, b, c", Opcode::Fns, 3),
    scalar("lg2", "{.mod}.type d, a", Opcode::Lg2, 1),
    scalar("lop3", ".b32 d, a, b, c, lut", Opcode::Lop3, 4),
    scalar("mad", ".part.type d, a, b, c", Opcode::Mad, 3),
    scalar("mad24", "{.mod}.type d, a, b, c", Opcode::Mad24, 3),
    scalar("max", "{.mod}.type d, a, b", Opcode::Max, 2),
    scalar("min", "{.mod}.type d, a, b", Opcode::Min, 2),
    scalar("mul", "{.part}.type d, a, b", Opcode::Mul, 2),
    scalar("mul24", "{.mod}.type d, a, b", Opcode::Mul24, 2),
    scalar("neg", "{.mod}.type d, a", Opcode::Neg, 1),
    scalar("not", "{.mod}.type d, a", Opcode::Not, 1),
    scalar("or", "{.mod}.type d, a, b", Opcode::Or, 2),
    scalar("popc", "{.mod}.type d, a", Opcode::Popc, 1),
    scalar("prmt", "{.mod}.type d, a, b, c", Opcode::Prmt, 3),
    scalar("rcp", "{.mod}.type d, a", Opcode::Rcp, 1),
    scalar("rem", "{.mod}.type d, a, b", Opcode::Rem, 2),
    scalar("rsqrt", "{.mod}.type d, a", Opcode::Rsqrt, 1),
    scalar("sad", "{.mod}.type d, a, b, c", Opcode::Sad, 3),
    scalar("selp", "{.mod}.type d, a, b, c", Opcode::Selp, 3),
    scalar("set", ".cmp{.bool}.type.type d, a, b{, c}", Opcode::Set, 2),
    scalar("setp", ".cmp{.bool}.type p{|q}, a, b{, c}", Opcode::Setp, 2),
    scalar("shf", ".dir.mode.b32 d, a, b, c", Opcode::Shf, 3),
    scalar("shl", "{.mod}.type d, a, b", Opcode::Shl, 2),
    scalar("shr", "{.mod}.type d, a, b", Opcode::Shr, 2),
    scalar("sin", "{.mod}.type d, a", Opcode::Sin, 1),
    scalar("slct", "{.mod}.type d, a, b, c", Opcode::Slct, 3),
    scalar("sqrt", "{.mod}.type d, a", Opcode::Sqrt, 1),
    scalar("sub", "{.mod}.type d, a, b", Opcode::Sub, 2),
    scalar("szext", "{.mod}.type d, a, b", Opcode::Szext, 2),
    scalar("tanh", "{.mod}.type d, a", Opcode::Tanh, 1),
    scalar("testp", "{.mod}.type d, a", Opcode::Testp, 1),
    scalar("xor", "{.mod}.type d, a, b", Opcode::Xor, 2),
    scalar("vadd", "{.mod}.type d, a, b", Opcode::Vadd, 2),
    scalar("vsub", "{.mod}.type d, a, b", Opcode::Vsub, 2),
    scalar("vabsdiff", "{.mod}.type d, a, b", Opcode::Vabsdiff, 2),
    scalar("vmin", "{.mod}.type d, a, b", Opcode::Vmin, 2),
    scalar("vmax", "{.mod}.type d, a, b", Opcode::Vmax, 2),
    scalar("vshl", "{.mod}.type d, a, b", Opcode::Vshl, 2),
    scalar("vshr", "{.mod}.type d, a, b", Opcode::Vshr, 2),
    scalar("vmad", "{.mod}.type d, a, b, c", Opcode::Vmad, 3),
    scalar("vset", "{.mod}.type d, a, b", Opcode::Vset, 2),
    scalar("vadd2", "{.mod}.type d, a, b, c", Opcode::Vadd2, 3),
    scalar("vsub2", "{.mod}.type d, a, b, c", Opcode::Vsub2, 3),
    scalar("vavrg2", "{.mod}.type d, a, b, c", Opcode::Vavrg2, 3),
    scalar("vabsdiff2", "{.mod}.type d, a, b, c", Opcode::Vabsdiff2, 3),
    scalar("vmin2", "{.mod}.type d, a, b, c", Opcode::Vmin2, 3),
    scalar("vmax2", "{.mod}.type d, a, b, c", Opcode::Vmax2, 3),
    scalar("vset2", "{.mod}.type d, a, b, c", Opcode::Vset2, 3),
    scalar("vadd4", "{.mod}.type d, a, b, c", Opcode::Vadd4, 3),
    scalar("vsub4", "{.mod}.type d, a, b, c", Opcode::Vsub4, 3),
    scalar("vavrg4", "{.mod}.type d, a, b, c", Opcode::Vavrg4, 3),
    scalar("vabsdiff4", "{.mod}.type d, a, b, c", Opcode::Vabsdiff4, 3),
    scalar("vmin4", "{.mod}.type d, a, b, c", Opcode::Vmin4, 3),
    scalar("vmax4", "{.mod}.type d, a, b, c", Opcode::Vmax4, 3),
    scalar("vset4", "{.mod}.type d, a, b, c", Opcode::Vset4, 3),
];

const PLANNED: &[Instruction] = &[
    planned("mma.sp", "products of sparse matrices (`mma.sp`) are"),
    planned("mma.sp::ordered_metadata", "products of sparse matrices (`mma.sp`) are"),
    planned("wgmma.mma_async.sp", "products of sparse matrices (`wgmma.mma_async.sp`) are"),
    planned("tcgen05", "fifth-generation tensor cores (`tcgen05`) are"),
    planned("sured", "reductions on surfaces (`sured`) are"),
    planned("sust.p", "formatted stores to surfaces (`sust.p`) are"),
    planned("st.bulk", "bulk stores are"),
    planned("multimem", "memory of several GPUs at one address (`multimem`) is"),
    planned("clusterlaunchcontrol", "requests for the work of other clusters (`clusterlaunchcontrol`) are"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_have_one_name() {
        assert_eq!(ROWS.len(), BLOCKS.iter().map(|block| block.len()).sum());
    }

    #[test]
    fn instructions_of_the_same_word_are_named() {
        assert_eq!(find("wmma.frob").lowering, Unknown);
        assert!(namesakes("wmma.frob").contains(&"wmma.mma"));
        assert_eq!(namesakes("frobnicate"), [""; 0]);
    }
}
