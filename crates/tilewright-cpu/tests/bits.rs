//! Or-and on bits: around the edges of words, lines, panels and blocks; dense, sparse and empty operands; winners.

use crate::common::{Case, Form, Join, Palette, Random, check, isas};
use tilewright_core::*;
use tilewright_cpu::{Isa, Options, Report, multiply, multiply_arg};

/// Sizes that are computed on bits, about the edges of words (32), lines (64, 128, 256, 512) and chunks of terms (256).
const EDGES: [(usize, usize, usize); 14] = [
    (97, 63, 64),
    (96, 64, 95),
    (95, 65, 96),
    (64, 127, 129),
    (33, 128, 255),
    (31, 129, 256),
    (65, 256, 257),
    (66, 257, 97),
    (40, 511, 127),
    (41, 512, 128),
    (39, 513, 161),
    (511, 70, 70),
    (513, 80, 40),
    (40, 1030, 300),
];

#[test]
fn edges_in_every_layout() {
    let forms = [Form::PLAIN, Form::BY_COLUMNS, Form::SPREAD, Form::REVERSED];
    for (isa, (number, (m, n, k))) in
        isas().into_iter().flat_map(|isa| EDGES.into_iter().enumerate().map(move |size| (isa, size)))
    {
        for turn in 0..4 {
            let [a, b, c] = [turn, number + turn, number / 2 + turn].map(|form| forms[form % 4]);
            let join = [Join::Replace, Join::Accumulate][(number + turn) % 2];
            let arg = [None, Some(forms[(turn + 1) % 4])][(number / 2 + turn) % 2];
            check::<OrAnd>(&Case { a, b, c, arg, join, palette: Palette::Wild, ..Case::new(isa, m, n, k) });
        }
    }
}

/// A matrix in which one of `one_in` elements is true; none for 0.
fn booleans(random: &mut Random, count: usize, one_in: usize) -> Vec<bool> {
    (0..count).map(|_| one_in > 0 && random.below(one_in) == 0).collect()
}

/// The product by its definition, with winners.
fn expected(
    (m, n, k): (usize, usize, usize),
    a: &[bool],
    b: &[bool],
    before: Option<&[bool]>,
) -> (Vec<bool>, Vec<u32>) {
    let mut c = before.map_or(vec![false; m * n], <[bool]>::to_vec);
    let mut winners = vec![NO_ARG; m * n];
    for (i, p) in (0..m).flat_map(|i| (0..k).map(move |p| (i, p))).filter(|(i, p)| a[i * k + p]) {
        for j in (0..n).filter(|j| b[p * n + j]) {
            if !c[i * n + j] {
                (c[i * n + j], winners[i * n + j]) = (true, p as u32);
            }
        }
    }
    (c, winners)
}

/// Computes with and without winners, joined and not, and compares with the definition.
fn compare(
    isa: Isa,
    threads: usize,
    (m, n, k): (usize, usize, usize),
    a: &[bool],
    b: &[bool],
    before: &[bool],
) {
    let options = Options { isa: Some(isa), threads, ..Options::default() };
    let (of_a, of_b, of_c) = (Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
    let (a_view, b_view) = (MatRef::new(a, of_a).unwrap(), MatRef::new(b, of_b).unwrap());
    for update in [Update::Replace, Update::Accumulate] {
        let (sums, winners) = expected((m, n, k), a, b, update.reads_c().then_some(before));
        let is_on_bits = |report: &Report| {
            assert!(report.kernel.bits, "{m}x{n}x{k}: {}", report.kernel);
        };
        let mut c = before.to_vec();
        let view = MatMut::new(&mut c, of_c).unwrap();
        is_on_bits(&multiply::<OrAnd>(view, a_view, b_view, &update, &options).unwrap());
        assert!(c == sums, "{m}x{n}x{k}, {isa}, {threads} threads");
        let (mut c, mut arg) = (before.to_vec(), vec![7; m * n]);
        let (view, arg_view) = (MatMut::new(&mut c, of_c).unwrap(), MatMut::new(&mut arg, of_c).unwrap());
        is_on_bits(&multiply_arg::<OrAnd>(view, arg_view, a_view, b_view, &update, &options).unwrap());
        assert!(c == sums, "{m}x{n}x{k}, {isa}, {threads} threads, with winners");
        assert!(arg == winners, "winners of {m}x{n}x{k}, {isa}, {threads} threads");
    }
}

/// Of every density: from full rows after a few terms to words and whole operands without a term.
#[test]
fn dense_and_sparse() {
    let mut random = Random::new(5);
    for isa in isas() {
        for (one_in, size) in [
            (1, (65, 200, 90)),
            (2, (130, 300, 200)),
            (30, (130, 520, 260)),
            (1000, (70, 600, 300)),
            (0, (64, 64, 64)),
        ] {
            let (m, n, k) = size;
            let a = booleans(&mut random, m * k, one_in);
            let b = booleans(&mut random, k * n, one_in.min(2));
            let before = booleans(&mut random, m * n, 9);
            compare(isa, 1, size, &a, &b, &before);
            compare(isa, 3, size, &a, &b, &before);
        }
    }
}

/// Several panels of rows, blocks of terms and blocks of columns, of a few elements each; the last term decides.
#[test]
fn beyond_every_block() {
    let mut random = Random::new(6);
    for isa in isas() {
        for size in [(1100, 100, 70), (70, 1100, 80), (40, 70, 8300), (4200, 65, 64)] {
            let (m, n, k) = size;
            let mut a = booleans(&mut random, m * k, 400);
            let mut b = booleans(&mut random, k * n, 40);
            (a[m * k - 1], b[k * n - 1]) = (true, true);
            compare(isa, 1, size, &a, &b, &vec![false; m * n]);
            compare(isa, 4, size, &a, &b, &booleans(&mut random, m * n, 3));
        }
    }
}

/// The product by a permutation permutes.
#[test]
fn permutations() {
    for isa in isas() {
        let n = 300;
        let mut random = Random::new(7);
        let a: Vec<bool> = (0..n * n).map(|at| at % n == (at / n * 7 + 3) % n).collect();
        let b = booleans(&mut random, n * n, 2);
        let mut c = vec![true; n * n];
        let of = Layout::row_major(n, n);
        let options = Options { isa: Some(isa), ..Options::default() };
        let (a, b_view) = (MatRef::new(&a, of).unwrap(), MatRef::new(&b, of).unwrap());
        multiply::<OrAnd>(MatMut::new(&mut c, of).unwrap(), a, b_view, &Update::Replace, &options).unwrap();
        for i in 0..n {
            let from = (i * 7 + 3) % n;
            assert!(c[i * n..][..n] == b[from * n..][..n], "row {i}, {isa}");
        }
    }
}
