//! Which products are measured.

use std::fmt;

/// A semiring and an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// (+, x) on `f32`.
    PlusTimesF32,
    /// (+, x) on `f64`.
    PlusTimesF64,
    /// (min, +) on `f32`.
    MinPlusF32,
    /// (min, +) on `f64`.
    MinPlusF64,
    /// (min, +) on `i32`.
    MinPlusI32,
    /// (min, +) on `i32` whose values lie so close together that Tilewright computes in 16 bits.
    MinPlusI32Close,
    /// (min, +) on `i16`, beside Tilewright's own `i32`.
    MinPlusI16,
}

impl Group {
    /// Every group, in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::PlusTimesF32,
        Self::PlusTimesF64,
        Self::MinPlusF32,
        Self::MinPlusF64,
        Self::MinPlusI32,
        Self::MinPlusI32Close,
        Self::MinPlusI16,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PlusTimesF32 => "plustimes-f32",
            Self::PlusTimesF64 => "plustimes-f64",
            Self::MinPlusF32 => "minplus-f32",
            Self::MinPlusF64 => "minplus-f64",
            Self::MinPlusI32 => "minplus-i32",
            Self::MinPlusI32Close => "minplus-i32-close",
            Self::MinPlusI16 => "minplus-i16",
        }
    }

    /// The heading of its tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::PlusTimesF32 => "plus-times f32, random values in [-1, 1)",
            Self::PlusTimesF64 => "plus-times f64, random values in [-1, 1)",
            Self::MinPlusF32 => "min-plus f32, random values in [-1, 1): any sign",
            Self::MinPlusF64 => "min-plus f64, random values in [-1, 1): any sign",
            Self::MinPlusI32 => "min-plus i32, random values in -1000000..=1000000",
            Self::MinPlusI32Close => "min-plus i32, random values in -1000..=1000, which fit 16 bits",
            Self::MinPlusI16 => {
                "min-plus i16, random values in -1000..=1000, beside our own i32 in -1000000..=1000000"
            }
        }
    }

    /// What a rate counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::PlusTimesF32 | Self::PlusTimesF64 => "GFLOP/s (2 m n k)",
            _ => "G pair-op/s (m n k)",
        }
    }

    const fn operations_per_term(self) -> f64 {
        match self {
            Self::PlusTimesF32 | Self::PlusTimesF64 => 2.0,
            _ => 1.0,
        }
    }
}

/// What a shape is there to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A square with a power of two as its side.
    Square,
    /// A square with another side.
    Odd,
    /// One dimension of 16.
    Thin,
    /// An operand that is stored transposed.
    Transposed,
}

impl Kind {
    /// Every kind, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Square, Self::Odd, Self::Thin, Self::Transposed];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Odd => "odd",
            Self::Thin => "thin",
            Self::Transposed => "transposed",
        }
    }
}

/// How an operand lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Row-major.
    Plain,
    /// Its transpose is row-major.
    Transposed,
}

/// One product: A is m x k, B is k x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Semiring and element type.
    pub group: Group,
    /// What the shape shows.
    pub kind: Kind,
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// How A is stored.
    pub a: Stored,
    /// How B is stored.
    pub b: Stored,
}

const SQUARE: [usize; 6] = [64, 128, 256, 512, 1024, 2048];
const ODD: [usize; 3] = [1000, 1023, 1025];
const THIN: [(usize, usize, usize); 3] = [(16, 4096, 4096), (4096, 16, 4096), (4096, 4096, 16)];
const STORED: [(Stored, Stored); 3] = [
    (Stored::Transposed, Stored::Plain),
    (Stored::Plain, Stored::Transposed),
    (Stored::Transposed, Stored::Transposed),
];

impl Case {
    /// Every case of a group.
    pub fn all(group: Group) -> impl Iterator<Item = Self> {
        let plain = move |kind, (m, n, k)| {
            let (a, b) = (Stored::Plain, Stored::Plain);
            Self { group, kind, m, n, k, a, b }
        };
        let square = SQUARE.into_iter().map(move |s| plain(Kind::Square, (s, s, s)));
        let odd = ODD.into_iter().map(move |s| plain(Kind::Odd, (s, s, s)));
        let thin = THIN.into_iter().map(move |shape| plain(Kind::Thin, shape));
        let transposed = STORED.into_iter().map(move |(a, b)| Self {
            a,
            b,
            ..plain(Kind::Transposed, (1024, 1024, 1024))
        });
        square.chain(odd).chain(thin).chain(transposed)
    }

    /// The size as the command line names it: `1024`, or `16x4096x4096` (m x n x k).
    pub fn size(&self) -> String {
        if self.m == self.n && self.n == self.k {
            return self.m.to_string();
        }
        format!("{}x{}x{}", self.m, self.n, self.k)
    }

    /// The number of terms.
    pub fn terms(&self) -> f64 {
        self.m as f64 * self.n as f64 * self.k as f64
    }

    /// The rate, in the unit of the group, of a product that takes this long.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.group.operations_per_term() * self.terms() / seconds / 1e9
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = match (self.a, self.b) {
            (Stored::Plain, Stored::Plain) => "",
            (Stored::Transposed, Stored::Plain) => " AᵀB",
            (Stored::Plain, Stored::Transposed) => " ABᵀ",
            (Stored::Transposed, Stored::Transposed) => " AᵀBᵀ",
        };
        write!(f, "{}{stored}", self.size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rates() {
        let cases: Vec<Case> = Case::all(Group::PlusTimesF32).collect();
        assert_eq!(cases.len(), 15);
        assert_eq!(cases[9].to_string(), "16x4096x4096");
        assert_eq!(cases[14].to_string(), "1024 AᵀBᵀ");
        assert!((cases[0].rate(1e-9 * 64.0 * 64.0 * 64.0) - 2.0).abs() < 1e-12);
    }
}
