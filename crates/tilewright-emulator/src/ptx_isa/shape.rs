//! The shape of a matrix instruction.

/// `m16n8k16`: rows of D, columns of D, terms of each sum. A matrix in memory (`m8n8`) has no terms: `k` is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and D.
    pub m: u16,
    /// Columns of B and D.
    pub n: u16,
    /// Columns of A, rows of B.
    pub k: u16,
}

impl Shape {
    /// The shape that `text` (without the dot) spells.
    pub fn parse(text: &str) -> Option<Self> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k').map_or((rest, Some(0)), |(n, k)| (n, number(k)));
        Some(Self { m: number(m)?, n: number(n)?, k: k? })
    }
}

/// A number as PTX writes it: digits alone, and no zero in front.
fn number(digits: &str) -> Option<u16> {
    let is_number = !digits.starts_with('0') && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn a_shape_is_its_numbers() {
        assert_eq!(Shape::parse("m64n256k16"), Some(Shape { m: 64, n: 256, k: 16 }));
        assert_eq!(Shape::parse("m8n8"), Some(Shape { m: 8, n: 8, k: 0 }));
        for text in ["m8", "mn8k4", "m8n8k", "m+8n8k4", "m08n8k4", "m8n8k4x", "min", "mma", "m99999n8k4"] {
            assert_eq!(Shape::parse(text), None, "{text}");
        }
    }
}
