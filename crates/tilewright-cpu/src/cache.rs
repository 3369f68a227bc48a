//! What is known of the caches.

use std::sync::LazyLock;

/// Bytes of a page, at least.
pub const PAGE: usize = 4 << 10;

/// Whether lines that are so many elements of `size` bytes apart are whole pages apart: they share a set of most first-level caches.
pub fn is_pages_apart(stride: isize, size: usize) -> bool {
    stride != 0 && stride.unsigned_abs().saturating_mul(size).is_multiple_of(PAGE)
}

/// Lines that a set of the first-level cache holds, or eight where the processor does not tell.
pub fn first_level_ways() -> usize {
    static WAYS: LazyLock<usize> = LazyLock::new(|| find(1).map_or(8, |cache| cache.ways));
    *WAYS
}

/// Bytes of a core's second-level cache, or 1 MiB where the processor does not tell.
pub fn second_level() -> usize {
    static SIZE: LazyLock<usize> = LazyLock::new(|| {
        let size = find(2).map(|cache| cache.size);
        size.filter(|&size| size >= 128 << 10).unwrap_or(1 << 20)
    });
    *SIZE
}

struct Cache {
    ways: usize,
    size: usize,
}

/// The cache of a level that holds data. Deterministic cache parameters: leaf 4 of `cpuid` on Intel's processors, leaf 0x8000001d on AMD's, in
/// the same format.
#[cfg(target_arch = "x86_64")]
fn find(level: u32) -> Option<Cache> {
    use core::arch::x86_64::__cpuid_count;
    const LEAVES: [(u32, u32); 2] = [(0, 4), (0x8000_0000, 0x8000_001d)];
    const DATA: u32 = 1;
    const UNIFIED: u32 = 3;
    #[allow(unused_unsafe, reason = "later compilers than the oldest supported one know that it is safe")]
    // SAFETY: every x86-64 processor has the instruction.
    let cpuid = |leaf, index| unsafe { __cpuid_count(leaf, index) };
    for (base, leaf) in LEAVES {
        if cpuid(base, 0).eax < leaf {
            continue;
        }
        for index in 0..8 {
            let c = cpuid(leaf, index);
            let kind = c.eax & 0x1f;
            if c.eax >> 5 & 7 == level && (kind == DATA || kind == UNIFIED) {
                let [ways, partitions, line, sets] =
                    [c.ebx >> 22, c.ebx >> 12 & 0x3ff, c.ebx & 0xfff, c.ecx].map(|least| least as usize + 1);
                return Some(Cache { ways, size: ways * partitions * line * sets });
            }
        }
    }
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn find(_: u32) -> Option<Cache> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_plausible() {
        assert!((128 << 10..=256 << 20).contains(&super::second_level()));
        assert!((1..=64).contains(&super::first_level_ways()));
    }
}
