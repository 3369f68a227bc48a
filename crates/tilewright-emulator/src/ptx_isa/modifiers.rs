//! The dot-separated modifiers of instructions that are not types.

/// Declares the enum, its spellings, and nothing else, from one list.
macro_rules! modifiers {
    ($($variant:ident $text:literal,)*) => {
        /// A modifier of an instruction, one variant per PTX spelling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is the PTX modifier of the spelling in the list")]
        pub enum Modifier { $($variant,)* }

        const TABLE: &[(&str, Modifier)] = &[$(($text, Modifier::$variant),)*];
    };
}

modifiers! {
    // Rounding.
    Rn "rn", Rz "rz", Rm "rm", Rp "rp", Rna "rna", Rs "rs", Rni "rni", Rzi "rzi", Rmi "rmi", Rpi "rpi",
    // Arithmetic.
    Approx "approx", Full "full", Ftz "ftz", Noftz "noftz", Sat "sat", Satfinite "satfinite", Relu "relu",
    Oob "oob", Nan "NaN", XorSign "xorsign", Abs "abs", Lo "lo", Hi "hi", Wide "wide", Cc "cc", Mode0 "mode0",
    // Comparisons; `lo` and `hi` are shared with multiplication, `and`, `or`, `xor` with the logic of predicates.
    Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge", Ls "ls", Hs "hs", Equ "equ", Neu "neu", Ltu "ltu",
    Leu "leu", Gtu "gtu", Geu "geu", Num "num", IsNan "nan", And "and", Or "or", Xor "xor", Popc "popc",
    Finite "finite", Infinite "infinite", Number "number", NotANumber "notanumber", Normal "normal",
    Subnormal "subnormal",
    // Shifts, bit fields, permutations.
    Clamp "clamp", Wrap "wrap", Left "l", Right "r", ShiftAmt "shiftamt", F4e "f4e", B4e "b4e", Rc8 "rc8",
    Ecl "ecl", Ecr "ecr", Rc16 "rc16", Shr7 "shr7", Shr15 "shr15", Po "po", Pack "pack",
    // Operations of atomics, reductions, shuffles and votes.
    Add "add", Min "min", Max "max", Inc "inc", Dec "dec", Exch "exch", Cas "cas", Up "up", Down "down",
    Bfly "bfly", Idx "idx", All "all", Any "any", Uni "uni", Ballot "ballot", Arrive "arrive", Red "red",
    // Spaces.
    Global "global", Shared "shared", Local "local", Const "const", Param "param", To "to",
    SharedCta "shared::cta", SharedCluster "shared::cluster", ParamEntry "param::entry", ParamFunc "param::func",
    // Memory order, scope and caches.
    Weak "weak", Relaxed "relaxed", Acquire "acquire", Release "release", AcqRel "acq_rel", Sc "sc",
    Volatile "volatile", Mmio "mmio", Cta "cta", Cluster "cluster", Gpu "gpu", Sys "sys", Gl "gl", Ca "ca",
    Cg "cg", Cs "cs", Lu "lu", Cv "cv", Wb "wb", Wt "wt", Nc "nc", Unified "unified", L2 "L2", L1 "L1",
    L1EvictNormal "L1::evict_normal", L1EvictUnchanged "L1::evict_unchanged", L1EvictFirst "L1::evict_first",
    L1EvictLast "L1::evict_last", L1NoAllocate "L1::no_allocate", L2EvictFirst "L2::evict_first",
    L2EvictLast "L2::evict_last", L2EvictNormal "L2::evict_normal", L2Fractional "L2::fractional",
    L2CacheHint "L2::cache_hint", L2At64 "L2::64B", L2At128 "L2::128B", L2At256 "L2::256B",
    EvictNormal "evict_normal", EvictLast "evict_last", EvictFirst "evict_first",
    // Vectors.
    V2 "v2", V4 "v4", V8 "v8",
    // Synchronisation and asynchrony.
    Sync "sync", Aligned "aligned", Warp "warp", Async "async", CommitGroup "commit_group",
    WaitGroup "wait_group", WaitAll "wait_all", Bulk "bulk", Tensor "tensor", MbarrierArrive "mbarrier",
    Proxy "proxy", Alias "alias", Read "read", Wait "wait", LaunchDependents "launch_dependents",
    NoComplete "noComplete", ExpectTx "expect_tx", Parity "parity", NoInc "noinc",
    CompleteTxBytes "mbarrier::complete_tx::bytes", BulkGroup "bulk_group", MulticastCluster "multicast::cluster",
    Tile "tile", Im2col "im2col", GlobalAddress "global_address", Rank "rank", BoxDim "box_dim", GlobalDim "global_dim",
    GlobalStride "global_stride", ElementStride "element_stride", Elemtype "elemtype",
    InterleaveLayout "interleave_layout", SwizzleMode "swizzle_mode", FillMode "fill_mode", B1024 "b1024",
    TensormapGeneric "tensormap::generic",
    // Matrix instructions.
    Row "row", Col "col", Trans "trans", X1 "x1", X2 "x2", X4 "x4", Load "load", Store "store", Mma "mma",
    MatrixA "a", MatrixB "b", MatrixC "c", MatrixD "d",
    // Textures and surfaces.
    D1 "1d", D2 "2d", D3 "3d", D4 "4d", D5 "5d", A1d "a1d", A2d "a2d", Cube "cube", Acube "acube", Level "level", Base "base", Grad "grad",
    Trap "trap", Zero "zero", Width "width", Height "height", Depth "depth", ChannelDataType "channel_data_type",
    ChannelOrder "channel_order", ArraySize "array_size", Green "g",
}

impl Modifier {
    /// The modifier that `text` (without the dot) spells.
    pub fn parse(text: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.0 == text).map(|row| row.1)
    }

    /// Its spelling, without the dot.
    pub fn text(self) -> &'static str {
        TABLE[self as usize].0
    }
}

/// A set of modifiers, a bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Modifiers([u64; TABLE.len().div_ceil(64)]);

impl Modifiers {
    /// Puts `modifier` into the set.
    pub fn insert(&mut self, modifier: Modifier) {
        self.0[modifier as usize / 64] |= 1 << (modifier as usize % 64);
    }

    /// Takes `modifier` out of the set.
    pub fn remove(&mut self, modifier: Modifier) {
        self.0[modifier as usize / 64] &= !(1 << (modifier as usize % 64));
    }

    /// Whether `modifier` is in the set.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.0[modifier as usize / 64] >> (modifier as usize % 64) & 1 == 1
    }

    /// The first row of `table` whose modifier is in the set.
    pub fn pick<T: Copy>(&self, table: &[(Modifier, T)]) -> Option<T> {
        table.iter().find(|row| self.has(row.0)).map(|row| row.1)
    }

    /// All modifiers of the set, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = Modifier> + '_ {
        TABLE.iter().map(|row| row.1).filter(|&modifier| self.has(modifier))
    }
}

impl FromIterator<Modifier> for Modifiers {
    fn from_iter<I: IntoIterator<Item = Modifier>>(modifiers: I) -> Self {
        let mut set = Self::default();
        modifiers.into_iter().for_each(|modifier| set.insert(modifier));
        set
    }
}

impl std::fmt::Debug for Modifiers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
