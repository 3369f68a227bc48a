//! Numbers in words.

/// `1.23 G` and the unit.
pub fn scaled(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) = PREFIXES.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", digits(value / scale))
}

/// Three significant digits.
pub fn digits(value: f64) -> String {
    match value {
        v if v >= 99.95 || v == v.trunc() => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// `1 block`, `2 blocks`.
#[cfg(feature = "cuda")]
pub fn count(n: impl Into<u64>, what: &str) -> String {
    let n = n.into();
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A time in the unit that suits it.
pub fn seconds(value: f64) -> String {
    match value {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s if s >= 1e-6 => format!("{:.2} us", s * 1e6),
        s => format!("{} ns", digits(s * 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_prefix() {
        assert_eq!(scaled(68_719_476_736.0, "pair-ops"), "68.7 Gpair-ops");
        assert_eq!(scaled(0.0, "bytes"), "0 bytes");
        assert_eq!([digits(1.0), digits(99.96), digits(0.25), digits(1234.5)], ["1", "100", "0.250", "1234"]);
        assert_eq!([seconds(2.5), seconds(2.054e-3), seconds(3e-7)], ["2.500 s", "2.054 ms", "300 ns"]);
    }
}
