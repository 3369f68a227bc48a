//! Every tile of the production kernel with every way to copy, guard, store and split, in pairs: a list of products made from the kernel's own menu, so that a
//! new tile is in it by itself. A row of choices is the way of A (how it lies, and whether it is packed), the way of B, the outside (how C lies, and which edges there are), the
//! split, and what happens to the old C. Of all combinations (1,125 for a tile) those are taken in which every two choices meet.

use tilewright_core::{DType, DynMatrix, Element, Extremes, Layout, Matrix, Problem, SemiringId};
use tilewright_kernels::{Kernel, Request, Variant, simt_tiles};

/// How the elements of a matrix lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Rows,
    Columns,
    Gaps,
    /// By columns, with gaps between them.
    ColumnGaps,
    Reversed,
}

/// How the sum over k is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Whole,
    Parts,
    /// Only that of the tiles which would be left for the last wave of blocks.
    Last,
}

/// What happens to the old C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old {
    Replaced,
    Added,
    /// `-2 A B + 3 C`.
    Scaled,
}

/// A product and how it is to be computed.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub variant: Variant,
    pub tile: [u32; 6],
    pub size: [usize; 3],
    pub lies: [Lie; 3],
    pub pack: [bool; 2],
    pub split: Split,
    pub old: Old,
    /// Of the GPU that the recipe is for; few, so that few tiles are several waves.
    pub multiprocessors: u32,
    /// Whether no element has another sign than the others: such floats have a program of their own.
    pub one_sign: bool,
}

/// Whole numbers in the semiring's domain, so small that every sum is exact in every type, in no simple order; where it has a meaning, some are absent.
/// Operands of semirings that select (salts 0 and 1) also hold what is special in their type.
pub fn numbers<T: Element>(count: usize, salt: usize, variant: Variant, one_sign: bool) -> Vec<T> {
    use SemiringId as S;
    let (most, least) = match (variant.dtype, variant.semiring) {
        (DType::Bool, _) => (2, 0),
        (DType::U8, _) => (11, 0),
        (_, S::MaxTimes | S::MinTimes) => (11, 0),
        (_, S::MaxPlus) if one_sign => (11, -10),
        _ if one_sign => (11, 0),
        _ => (11, -5),
    };
    // An infinity is plain, but for products that could be NaN.
    let absent = match variant.semiring {
        S::MinPlus => Some(f64::INFINITY),
        S::MaxPlus => Some(f64::NEG_INFINITY),
        S::MaxTimes if !one_sign => Some(f64::INFINITY),
        _ => None,
    };
    let special = match (variant.semiring, variant.dtype, one_sign) {
        (S::PlusTimes | S::OrAnd, ..) => None,
        _ if salt > 1 => None,
        (_, dtype, true) if dtype.is_float() => Some([-0.0; 4]),
        (.., true) => None,
        (S::MaxTimes | S::MinTimes, ..) => Some([f64::NAN, -0.0, f64::INFINITY, 0.0]),
        // Two of the last are beyond the largest f16.
        (_, dtype, _) if dtype.is_float() => Some([f64::NAN, -0.0, f64::NEG_INFINITY, 40_000.0]),
        (_, DType::I16, _) => Some([4095.0, -4095.0, 4095.0, 0.0]),
        (_, DType::U8, _) => Some([255.0, 128.0, 0.0, 127.0]),
        _ => Some([268_435_455.0, -268_435_455.0, 0.0, 1.0]),
    };
    let number = |_: usize, i: usize| match (absent, (i + salt) % 17) {
        (Some(absent), 3) => absent,
        (_, at @ (5 | 7 | 9 | 11)) if special.is_some() && i.is_multiple_of(3) => {
            special.unwrap_or_default()[at / 2 - 2]
        }
        _ => f64::from(((i * 7 + salt * 5 + i * i % 13) % 31 % most) as i32 + least),
    };
    let numbers = DynMatrix::from(Matrix::from_fn(1, count, number).expect("small"));
    let numbers = numbers.as_ref().convert(T::DTYPE, Extremes::Absent).expect("small whole numbers");
    numbers.as_ref().typed::<T>().expect("converted").iter().collect()
}

impl Choice {
    /// The parts that are asked for.
    pub fn splits(&self) -> Option<u32> {
        match self.split {
            Split::Whole => Some(1),
            Split::Parts => Some(3),
            Split::Last => None,
        }
    }

    /// Whether the recipe of such a product by rows splits the last tiles alone.
    pub fn splits_last_tiles(&self, kernel: &'static Kernel) -> bool {
        let [m, n, k] = self.size;
        let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
        let problem = Problem::new(layouts[0], layouts[1], layouts[2]).expect("shapes fit");
        let mut request = Request::of(problem, self.variant);
        (request.tile, request.pack) = (Some(self.tile), Some(self.pack));
        request.gpu.multiprocessors = self.multiprocessors;
        let says_so = |(name, value): &(&str, String)| *name == "parts of k" && value.contains("last");
        kernel.recipe(&request).is_ok_and(|recipe| recipe.details().iter().any(says_so))
    }
}

/// Ways of A, and of B turned round: one element at a time along k, along the side, in vectors, and packed from two orders.
const WAYS: [[(Lie, bool); 5]; 2] = [
    [
        (Lie::Rows, false),
        (Lie::ColumnGaps, false),
        (Lie::Columns, false),
        (Lie::Reversed, true),
        (Lie::ColumnGaps, true),
    ],
    [(Lie::Columns, false), (Lie::Gaps, false), (Lie::Rows, false), (Lie::Reversed, true), (Lie::Gaps, true)],
];
/// How C lies, and what M, N and K are beyond whole tiles: an edge of whole vectors lets operands be copied and C be stored in vectors.
const OUTSIDES: [(Lie, [usize; 3]); 5] = [
    (Lie::Rows, [0, 0, 0]),
    (Lie::Gaps, [0, 0, 0]),
    (Lie::Rows, [4, 4, 3]),
    (Lie::Gaps, [3, 3, 3]),
    (Lie::Columns, [3, 4, 0]),
];
const SPLITS: [Split; 3] = [Split::Whole, Split::Parts, Split::Last];
const OLDS: [Old; 3] = [Old::Replaced, Old::Added, Old::Scaled];
const COUNTS: [usize; 5] = [WAYS[0].len(), WAYS[1].len(), OUTSIDES.len(), SPLITS.len(), OLDS.len()];

/// Variants whose tiles are tried with every two choices: sums in each type, operands that are converted, integers that may be absent, and products that
/// need no NaN.
pub const THOROUGH: [Variant; 5] = [
    Variant::new(SemiringId::PlusTimes, DType::F32),
    Variant::new(SemiringId::PlusTimes, DType::F64),
    Variant::new(SemiringId::MinPlus, DType::I32),
    Variant::new(SemiringId::MaxPlus, DType::F16),
    Variant::new(SemiringId::MaxMin, DType::F64),
];

/// The list for all variants of a kernel: of each that is not [`THOROUGH`] a product with each tile.
pub fn choices(kernel: &'static Kernel) -> Vec<Choice> {
    let rows = pairs(&COUNTS);
    let mut all = Vec::new();
    for (v, &variant) in kernel.variants.iter().enumerate() {
        let step = if THOROUGH.contains(&variant) { 1 } else { rows.len() };
        for (t, tile) in simt_tiles(variant).into_iter().enumerate() {
            let some = rows.iter().skip((v + t) % step).step_by(step);
            all.extend(some.map(|row| choice(kernel, variant, tile, row)));
            all.extend(packed(kernel, variant, tile, v + t));
        }
    }
    all
}

/// What is computed in words of its own when both operands are packed: with every outside, split, old C and sign in turn, or where another variant differs
/// by the direction of a comparison alone, once.
fn packed(
    kernel: &'static Kernel,
    variant: Variant,
    tile: [u32; 6],
    salt: usize,
) -> impl Iterator<Item = Choice> {
    let is_mirror =
        matches!(variant.semiring, SemiringId::MaxPlus | SemiringId::MinTimes | SemiringId::MinMax);
    let has_words = variant.semiring != SemiringId::PlusTimes && variant.dtype.size() <= 4;
    let count = if !has_words {
        0
    } else if is_mirror {
        1
    } else {
        2 * OUTSIDES.len()
    };
    (0..count).map(move |i| {
        let row = [3 + i % 2, 3 + i / 2 % 2, (i + salt) % 5, (i / 2 + salt) % 3, (i / 3 + salt) % 2];
        Choice { one_sign: i % 4 != 1, ..choice(kernel, variant, tile, &row) }
    })
}

fn choice(kernel: &'static Kernel, variant: Variant, tile: [u32; 6], row: &[usize]) -> Choice {
    let [rows, cols, terms, ..] = tile.map(|x| x as usize);
    let &[a, b, outside, split, old] = row else { unreachable!("as many as there are counts") };
    let [(a, pack_a), (b, pack_b)] = [WAYS[0][a], WAYS[1][b]];
    let (c, [m, n, k]) = OUTSIDES[outside];
    // The kernel sees the transpose of a C that lies by columns, and A in the place of B.
    let pack = if c == Lie::Columns { [pack_b, pack_a] } else { [pack_a, pack_b] };
    // Parts of a last wave are at least as long as a few steps.
    let steps = if SPLITS[split] == Split::Last { 12 } else { 6 };
    let choice = |rows_of_tiles, multiprocessors| Choice {
        variant,
        tile,
        size: [rows * rows_of_tiles + m, cols + n, steps * terms + k],
        lies: [a, b, c],
        pack,
        split: SPLITS[split],
        old: if variant.semiring == SemiringId::PlusTimes { OLDS[old] } else { OLDS[old % 2] },
        multiprocessors,
        one_sign: false,
    };
    // How many blocks share a multiprocessor is the tile's own affair: the first shape that leaves tiles for a last wave.
    let shapes = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)];
    let mut last = shapes.into_iter().map(|(rows, multiprocessors)| choice(rows, multiprocessors));
    match SPLITS[split] {
        Split::Last => last.find(|one| one.splits_last_tiles(kernel)).unwrap_or(choice(5, 2)),
        _ => choice(1, 132),
    }
}

/// Rows of numbers below `counts` in which every two values of every two columns meet: greedily, always the row with the most new pairs among those that begin
/// with the first pair that is missing.
fn pairs(counts: &[usize]) -> Vec<Vec<usize>> {
    let columns = counts.len();
    let all = (0..columns).flat_map(|i| (i + 1..columns).map(move |j| (i, j)));
    let all =
        all.flat_map(|(i, j)| (0..counts[i]).flat_map(move |x| (0..counts[j]).map(move |y| (i, x, j, y))));
    let mut missing: Vec<_> = all.collect();
    let mut rows = Vec::new();
    while let Some(&(i, x, j, y)) = missing.first() {
        let mut row = vec![None; columns];
        (row[i], row[j]) = (Some(x), Some(y));
        for column in (0..columns).filter(|&column| column != i && column != j) {
            let gain = |value: usize| {
                let new = |&&(i, x, j, y): &&(usize, usize, usize, usize)| {
                    (i == column && x == value && row[j] == Some(y))
                        || (j == column && y == value && row[i] == Some(x))
                };
                missing.iter().filter(new).count()
            };
            // The first of the best; where nothing is gained, another one for each row.
            let best =
                (0..counts[column]).max_by_key(|&value| (gain(value), (value + rows.len()) % counts[column]));
            row[column] = best;
        }
        let row: Vec<usize> = row.into_iter().flatten().collect();
        missing.retain(|&(i, x, j, y)| row[i] != x || row[j] != y);
        rows.push(row);
    }
    rows
}

/// What the programs of a tile are told apart by, of which every two values must meet: how A and B are copied, whether there are edges, whether C is stored in
/// vectors. The last part of a program's name says it.
pub fn missing_pairs(names: &[String], tile: [u32; 6], variant: Variant) -> Vec<String> {
    let tile = tile.map(|x| x.to_string()).join("x");
    let (of_tile, of_type) = (format!(".{tile}."), format!(".{variant}."));
    let names = names.iter().filter(|name| name.contains(&of_tile) && name.contains(&of_type));
    let options: Vec<&[u8]> = names.filter_map(|name| Some(name.rsplit_once('.')?.1.as_bytes())).collect();
    let widens = variant.accumulator() != variant.dtype
        || variant.semiring.has_absent_integers() && !variant.dtype.is_float();
    // Converted operands are copied in vectors when they are packed, which leaves no edge of K.
    let copies: &[u8] = if widens { b"234" } else { b"012" };
    let vectors: &[u8] = if variant.accumulator() == variant.output() { b"01" } else { b"0" };
    let values = [copies, copies, b"01", vectors];
    let mut missing = Vec::new();
    for (i, j) in (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))) {
        for (x, y) in values[i].iter().flat_map(|&x| values[j].iter().map(move |&y| (x, y))) {
            if !options.iter().any(|option| option[i] == x && option[j] == y) {
                missing.push(format!(
                    "{tile} {variant}: option {i} is {x} and option {j} is {y}",
                    x = x as char,
                    y = y as char
                ));
            }
        }
    }
    missing
}

#[test]
fn every_two_choices_meet() {
    let rows = pairs(&COUNTS);
    for i in 0..COUNTS.len() {
        for j in i + 1..COUNTS.len() {
            for (x, y) in (0..COUNTS[i]).flat_map(|x| (0..COUNTS[j]).map(move |y| (x, y))) {
                assert!(rows.iter().any(|row| row[i] == x && row[j] == y), "{i} {x}, {j} {y}");
            }
        }
    }
    assert!(rows.len() < 40, "{}", rows.len());
}
