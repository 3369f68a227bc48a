//! Which rows are compared when comparing all would take too long.

/// Terms that a comparison may cost, about a second.
const BUDGET: u64 = 200_000_000;
/// Comparing an element costs about as much as this many terms.
const ELEMENT: usize = 32;

/// The rows to compare, increasing: all of them when that is cheap, otherwise the first, the last and
/// pseudo-random ones between, the same on every call with the same shape.
pub(super) fn sample(m: usize, n: usize, k: usize) -> Vec<usize> {
    let cost = (n.max(1) as u64).saturating_mul(k.saturating_add(ELEMENT) as u64);
    let affordable = usize::try_from(BUDGET / cost).unwrap_or(usize::MAX).max(2);
    if m <= affordable {
        return (0..m).collect();
    }
    // One row from each of equal parts, so that every block of rows that a kernel handles alike is met.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ (m as u64) ^ ((n as u64) << 20) ^ ((k as u64) << 40);
    let part = |p: usize| (m as u128 * p as u128 / affordable as u128) as usize;
    (0..affordable)
        .map(|p| {
            let (low, high) = (part(p), part(p + 1));
            random = splitmix(random);
            match p {
                0 => 0,
                _ if p + 1 == affordable => m - 1,
                _ => low + (random % (high - low) as u64) as usize,
            }
        })
        .collect()
}

fn splitmix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_are_compared_whole_and_large_ones_at_both_ends() {
        assert_eq!(sample(5, 4, 3), [0, 1, 2, 3, 4]);
        assert!(sample(0, 4, 3).is_empty());
        for (m, n, k) in
            [(5000, 4096, 4096), (1 << 20, 1 << 20, 1), (3, 1 << 30, 1 << 30), (9_000_001, 64, 64)]
        {
            let rows = sample(m, n, k);
            assert!(rows.is_sorted_by(|x, y| x < y), "{m} {n} {k}");
            assert_eq!((rows[0], rows[rows.len() - 1]), (0, m - 1));
            assert!(rows.len() == 2 || rows.len() as u64 * n as u64 * k as u64 <= BUDGET);
            assert_eq!(rows, sample(m, n, k));
        }
    }
}
