//! The size of the second-level cache.

use std::sync::LazyLock;

/// Bytes of a page, at least. Lines that are a multiple of it apart share a set of the first-level cache.
pub const PAGE: usize = 4 << 10;

/// Bytes of a core's second-level cache, or 1 MiB where the processor does not tell.
pub fn second_level() -> usize {
    static SIZE: LazyLock<usize> = LazyLock::new(|| detect().unwrap_or(1 << 20));
    *SIZE
}

/// Deterministic cache parameters: leaf 4 of `cpuid` on Intel's processors, leaf 0x8000001d on AMD's, in the
/// same format.
#[cfg(target_arch = "x86_64")]
fn detect() -> Option<usize> {
    use core::arch::x86_64::__cpuid_count;
    const LEAVES: [(u32, u32); 2] = [(0, 4), (0x8000_0000, 0x8000_001d)];
    #[allow(unused_unsafe, reason = "later compilers than the oldest supported one know that it is safe")]
    // SAFETY: every x86-64 processor has the instruction.
    let cpuid = |leaf, index| unsafe { __cpuid_count(leaf, index) };
    for (base, leaf) in LEAVES {
        if cpuid(base, 0).eax < leaf {
            continue;
        }
        for index in 0..8 {
            let c = cpuid(leaf, index);
            let (kind, level) = (c.eax & 0x1f, c.eax >> 5 & 7);
            const DATA: u32 = 1;
            const UNIFIED: u32 = 3;
            if level == 2 && (kind == DATA || kind == UNIFIED) {
                let (ways, partitions, line) = (c.ebx >> 22, c.ebx >> 12 & 0x3ff, c.ebx & 0xfff);
                let size = [ways, partitions, line, c.ecx].map(|x| x as usize + 1).iter().product();
                return (size >= 128 << 10).then_some(size);
            }
        }
    }
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_size_is_plausible() {
        assert!((128 << 10..=256 << 20).contains(&super::second_level()));
    }
}
