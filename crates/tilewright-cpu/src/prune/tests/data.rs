//! Kinds of elements, natural ones and one made to deceive the look.

use super::Draw;
use crate::{
    compute::{Call, Compute, OnVectors},
    isa::Isa,
    kernel::Vectorised,
    narrow::Codes,
    options::Options,
    prune::look::spread,
};
use tilewright_core::{Layout, MatMut, MatRef, Update};

/// Where an element is: in line `i` of `lines`, term `p` of `k`.
#[derive(Clone, Copy)]
pub struct At {
    i: usize,
    p: usize,
    k: usize,
    lines: usize,
}

/// An element between -1 and 1; `None` if it is absent.
type Element = fn(&mut Random, At) -> Option<f64>;

/// A kind of elements: those of A, and those of B, which is given as its transpose is.
pub struct Kind {
    pub name: &'static str,
    a: Element,
    b: Element,
}

const fn both(name: &'static str, x: Element) -> Kind {
    Kind { name, a: x, b: x }
}

/// What may be found anywhere.
pub const NATURAL: &[Kind] = &[
    both("uniform", |r, _| Some(r.uniform())),
    both("normal", |r, _| Some(r.normal())),
    both("exponential", |r, _| Some(1e-3 - (1.0 - r.uniform().abs()).ln() / 40.0)),
    both("all absent", |_, _| None),
    Kind { name: "A absent", a: |_, _| None, b: |r, _| Some(r.uniform()) },
    Kind { name: "B absent", a: |r, _| Some(r.uniform()), b: |_, _| None },
    Kind {
        name: "half of the rows absent",
        a: |r, At { i, .. }| r.unless(i.is_multiple_of(2)),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "the first half of the rows absent",
        a: |r, At { i, .. }| r.unless(i / 64 % 2 == 0),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "half of the columns absent",
        a: |r, At { p, .. }| r.unless(p.is_multiple_of(2)),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "half of the columns of B absent",
        a: |r, _| Some(r.uniform()),
        b: |r, At { i: j, .. }| r.unless(j.is_multiple_of(2)),
    },
    both("half present", |r, _| {
        let absent = r.below(2) > 0;
        r.unless(absent)
    }),
    both("5 % present", |r, _| {
        let absent = r.below(20) > 0;
        r.unless(absent)
    }),
    both("1 % present", |r, _| {
        let absent = r.below(100) > 0;
        r.unless(absent)
    }),
    both("0.1 % present", |r, _| {
        let absent = r.below(1000) > 0;
        r.unless(absent)
    }),
    both("all alike", |_, _| Some(0.25)),
    Kind {
        name: "constant rows",
        a: |_, At { i, .. }| Some((i % 17) as f64 / 20.0),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "half of the rows constant",
        a: |r, At { i, .. }| Some(if i.is_multiple_of(2) { 0.5 } else { r.uniform() }),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "constant columns",
        a: |_, At { p, .. }| Some((p * 7919 % 1009) as f64 / 1010.0),
        b: |r, _| Some(r.uniform()),
    },
    both("two values", |r, _| Some(r.below(2) as f64 / 4.0)),
    both("five values", |r, _| Some(r.below(5) as f64 / 8.0)),
    both("ten values", |r, _| Some(r.below(10) as f64 / 16.0)),
    both("a hundred values", |r, _| Some(r.below(100) as f64 / 128.0)),
    both("sorted", |_, At { p, k, .. }| Some(p as f64 / k as f64)),
    Kind {
        name: "sorted against each other",
        a: |_, At { p, k, .. }| Some(p as f64 / k as f64),
        b: |_, At { p, k, .. }| Some(-(p as f64) / k as f64),
    },
    both("distances", |_, At { i, p, k, .. }| Some(i.abs_diff(p) as f64 / (i + k) as f64)),
];

/// The transpose of B is A, as far as it goes: the product of a matrix with its transpose.
pub const OF_ITSELF: &[Kind] = &[
    both("WᵀW, uniform", |_, At { i, p, .. }| Some(Random::at(i, p).uniform())),
    both("WᵀW, normal", |_, At { i, p, .. }| Some(Random::at(i, p).normal())),
];

/// What a look takes for other elements than they are.
pub const DECEIVING: &[Kind] = &[
    Kind {
        name: "rows constant where nobody looks",
        a: |r, at| Some(if at.is_seen() { r.uniform() } else { 0.5 }),
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "rows all zero but one element",
        a: |r, at| {
            Some(if at.is_seen() {
                r.uniform()
            } else if at.p == at.i % at.k {
                -1.0
            } else {
                0.0
            })
        },
        b: |r, _| Some(r.uniform()),
    },
    Kind {
        name: "rows normal where nobody looks",
        a: |r, at| Some(if at.is_seen() { r.uniform() } else { r.normal() }),
        b: |r, _| Some(r.normal()),
    },
];

impl At {
    /// Whether a row of A is looked at.
    fn is_seen(self) -> bool {
        (0..2).any(|place| (0..4).contains(&self.i.wrapping_sub(spread(place, self.lines - 4))))
    }
}

/// Random numbers.
pub struct Random(pub u64);

impl Random {
    /// The same numbers for the same place.
    fn at(i: usize, p: usize) -> Self {
        let mut random = Self((i << 32 | p) as u64);
        (0..4).for_each(|_| random.0 = random.bits());
        random
    }
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 33
    }
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() / 12.0
    }
    fn below(&mut self, end: u64) -> u64 {
        (self.bits() >> 33) % end
    }
    fn unless(&mut self, absent: bool) -> Option<f64> {
        let x = self.uniform();
        (!absent).then_some(x)
    }
}

/// A product of some kind, over a semiring in which smaller terms win or, with a mirror, larger ones.
pub struct Product<T> {
    pub shape: (usize, usize, usize),
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T>,
    /// Which terms won, if that is asked for.
    arg: Option<Vec<u32>>,
    layouts: [Layout; 2],
}

impl<T: Draw + Sync> Product<T> {
    /// `by_columns` tells which of A and B are transposed in memory.
    pub fn new(kind: &Kind, shape: (usize, usize, usize), by_columns: [bool; 2], max: bool) -> Self {
        let (m, n, k) = shape;
        let mut random = Random(1);
        let mut fill = |layout: Layout, lines: usize, element: Element| {
            let mut x = vec![T::of(None, max); lines * k];
            for i in 0..lines {
                for p in 0..k {
                    x[layout.offset(i, p) as usize] = T::of(element(&mut random, At { i, p, k, lines }), max);
                }
            }
            x
        };
        let layout = |rows, cols, by_columns| {
            if by_columns { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) }
        };
        let layouts = [layout(m, k, by_columns[0]), layout(k, n, by_columns[1])];
        let a = fill(layouts[0], m, kind.a);
        let b = fill(layouts[1].t(), n, kind.b);
        Self { shape, a, b, c: vec![T::of(None, max); m * n], arg: None, layouts }
    }

    /// Telling which terms won.
    pub fn with_winners(self) -> Self {
        let (m, n, _) = self.shape;
        Self { arg: Some(vec![0; m * n]), ..self }
    }

    /// With other elements in A and B.
    pub fn map(mut self, map: fn(T) -> T) -> Self {
        self.a.iter_mut().chain(&mut self.b).for_each(|x| *x = map(*x));
        self
    }

    /// How A and B are written in 16 bits, if they can be.
    pub fn codes<S: Vectorised<Elem = T, Out = T>>(&self) -> Option<Codes> {
        let [a, b] = self.operands();
        let options = Options { threads: 1, ..Options::default() };
        Compute::<S>::scan(&OnVectors, a, b, &options, Isa::best()).unwrap()
    }

    fn operands(&self) -> [MatRef<'_, T>; 2] {
        [MatRef::new(&self.a, self.layouts[0]).unwrap(), MatRef::new(&self.b, self.layouts[1]).unwrap()]
    }

    /// Calls `f` with the product, to compute it.
    pub fn compute<S: Vectorised<Elem = T, Out = T>, R>(
        &mut self,
        threads: usize,
        codes: Option<Codes>,
        f: impl FnOnce(Call<'_, S>) -> R,
    ) -> R {
        let (m, n, _) = self.shape;
        let (a, b) =
            (MatRef::new(&self.a, self.layouts[0]).unwrap(), MatRef::new(&self.b, self.layouts[1]).unwrap());
        let c = MatMut::new(&mut self.c, Layout::row_major(m, n)).unwrap();
        let arg = self.arg.as_mut().map(|arg| MatMut::new(arg, Layout::row_major(m, n)).unwrap());
        let options = &Options { threads, ..Options::default() };
        f(Call { c, arg, a, b, update: &Update::Replace, epilogue: None, options, isa: Isa::best(), codes })
    }

    /// The result, as bits, and the winners.
    pub fn bits(&self) -> (Vec<u64>, Option<Vec<u32>>) {
        (self.c.iter().map(|x| x.bits()).collect(), self.arg.clone())
    }
}
