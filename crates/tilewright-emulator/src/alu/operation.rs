//! A resolved instruction: what decoding stores and execution calls.

use std::fmt;
use std::sync::Arc;

use super::value::Value;

/// The most source words an instruction takes.
pub const MAX_SOURCES: usize = 5;

/// One register of a warp: a word for each lane.
pub type Lanes = [u64; 32];

/// An arithmetic instruction with all its modifiers bound: a pure function of words.
///
/// Every word holds a value in its low bits. Sources may have anything above the width of their type, and sources beyond
/// the instruction's own are not looked at. Results have zeros above the width of their type, negative ones too.
#[derive(Clone)]
pub struct Operation {
    run: Arc<dyn Run>,
    sources: usize,
}

impl Operation {
    /// The number of sources it reads.
    pub fn sources(&self) -> usize {
        self.sources
    }

    /// The same operation for an instruction that leaves out its last sources.
    pub(super) fn with_sources(self, sources: usize) -> Self {
        Operation { sources, ..self }
    }

    /// The result for one lane.
    pub fn lane(&self, sources: [u64; MAX_SOURCES]) -> u64 {
        self.run.lane(sources)
    }

    /// The results for all 32 lanes, in one loop that the compiler can vectorise.
    ///
    /// Inactive lanes are computed too, which is harmless (no words make an operation panic); the caller keeps the
    /// active ones.
    pub fn warp(&self, sources: [&Lanes; MAX_SOURCES], result: &mut Lanes) {
        self.run.warp(sources, result);
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("sources", &self.sources).finish_non_exhaustive()
    }
}

trait Run: Send + Sync {
    fn lane(&self, sources: [u64; MAX_SOURCES]) -> u64;
    fn warp(&self, sources: [&Lanes; MAX_SOURCES], result: &mut Lanes);
}

/// A function of the first `N` words.
struct Words<const N: usize, F>(F);

impl<const N: usize, F: Fn([u64; N]) -> u64 + Send + Sync> Words<N, F> {
    #[inline(always)]
    fn each_lane(&self, sources: [&Lanes; MAX_SOURCES], result: &mut Lanes) {
        for (lane, result) in result.iter_mut().enumerate() {
            *result = (self.0)(std::array::from_fn(|i| sources[i][lane]));
        }
    }

    /// [`Self::each_lane`] compiled for wider vectors and with the fused multiply-add instruction, which without these
    /// features is a library call.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn each_lane_avx2(&self, sources: [&Lanes; MAX_SOURCES], result: &mut Lanes) {
        self.each_lane(sources, result);
    }
}

impl<const N: usize, F: Fn([u64; N]) -> u64 + Send + Sync> Run for Words<N, F> {
    fn lane(&self, sources: [u64; MAX_SOURCES]) -> u64 {
        (self.0)(std::array::from_fn(|i| sources[i]))
    }

    fn warp(&self, sources: [&Lanes; MAX_SOURCES], result: &mut Lanes) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.each_lane_avx2(sources, result) };
        }
        self.each_lane(sources, result);
    }
}

/// An operation from a function of words.
pub(super) fn words<const N: usize>(f: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Operation {
    Operation { run: Arc::new(Words(f)), sources: N }
}

/// An operation from a function of one value.
pub(super) fn unary<A: Value, D: Value>(f: impl Fn(A) -> D + Send + Sync + 'static) -> Operation {
    words(move |[a]| f(A::from_word(a)).word())
}

/// An operation from a function of two values.
pub(super) fn binary<A: Value, B: Value, D: Value>(
    f: impl Fn(A, B) -> D + Send + Sync + 'static,
) -> Operation {
    words(move |[a, b]| f(A::from_word(a), B::from_word(b)).word())
}

/// An operation from a function of three values.
pub(super) fn ternary<A: Value, B: Value, C: Value, D: Value>(
    f: impl Fn(A, B, C) -> D + Send + Sync + 'static,
) -> Operation {
    words(move |[a, b, c]| f(A::from_word(a), B::from_word(b), C::from_word(c)).word())
}
