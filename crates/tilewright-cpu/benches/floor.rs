//! Products beside their floor: none is faster than a plain loop reads its operands and result, nor than a product of 1024 cubed
//! computes as many terms.
//!
//! `floor [ROUNDS] [PARTS OF NAMES] [SHAPES] [THREADS]`: the least processor time of so many rounds (25 without), in which all take turns; names and shapes,
//! which are m x n x k, as `plus-times,max-plus` and `64,16x4096x4096`. Elements are alike, so that all terms are computed. Of several threads it is the time
//! that all of them spend; beside it stands the least time that passed.

mod clock;

use core::{any::type_name, hint::black_box};
use std::{env, time::Instant};
use tilewright_core::{
    Layout, MatMut, MatRef, MaxMin, MaxPlus, MaxTimes, MinPlus, PlusTimes, Semiring, Update,
};
use tilewright_cpu::{Options, multiply};

const SHAPES: &str = "16x4096x4096,4096x16x4096,4096x4096x16";
const SQUARE: [usize; 3] = [1024; 3];
/// Bytes that the plain loop reads, as many as the large matrix of a thin product of `f32` has.
const READ: usize = 64 << 20;
/// Seconds that a turn takes at least: the clock is read twice in it.
const TURN: f64 = 2e-4;

/// A product that can be computed again and again.
trait Turn {
    /// Seconds of a product: of processor time, and those that passed.
    fn seconds(&mut self) -> [f64; 2];
    fn name(&self) -> String;
    /// Bytes of A, B and C.
    fn bytes(&self) -> f64;
    fn terms(&self) -> f64;
}

struct Product<S: Semiring> {
    shape: [usize; 3],
    operands: [Vec<S::Elem>; 2],
    c: Vec<S::Out>,
    threads: usize,
    /// Products of a turn.
    repeat: usize,
}

impl<S: Semiring<Elem: From<i8>> + 'static> Product<S> {
    fn boxed(shape: [usize; 3], threads: usize) -> Box<dyn Turn> {
        let [m, n, k] = shape;
        let operands = [m * k, k * n].map(|len| vec![S::Elem::from(1); len]);
        let mut product = Self { shape, operands, c: vec![S::finish(S::ZERO); m * n], threads, repeat: 1 };
        product.seconds();
        product.repeat = (TURN / product.seconds()[0].max(1e-9)).ceil() as usize;
        Box::new(product)
    }
}

impl<S: Semiring> Turn for Product<S> {
    fn seconds(&mut self) -> [f64; 2] {
        let [m, n, k] = self.shape;
        let [a, b] = &self.operands;
        let a = MatRef::new(a, Layout::row_major(m, k)).expect("a matrix");
        let b = MatRef::new(b, Layout::row_major(k, n)).expect("a matrix");
        let options = Options { threads: self.threads, ..Options::default() };
        let (passed, begun) = (Instant::now(), clock::seconds());
        for _ in 0..self.repeat {
            let c = MatMut::new(&mut self.c, Layout::row_major(m, n)).expect("a matrix");
            multiply::<S>(c, black_box(a), black_box(b), &Update::Replace, &options).expect("a product");
        }
        let times = [clock::seconds() - begun, passed.elapsed().as_secs_f64()];
        times.map(|time| time / self.repeat as f64)
    }
    fn name(&self) -> String {
        let [m, n, k] = self.shape;
        format!("{} {} {m}x{n}x{k}", S::NAME, type_name::<S::Elem>())
    }
    fn bytes(&self) -> f64 {
        let [m, n, k] = self.shape;
        ((m * k + k * n) * size_of::<S::Elem>() + m * n * size_of::<S::Out>()) as f64
    }
    fn terms(&self) -> f64 {
        self.shape.iter().map(|&side| side as f64).product()
    }
}

/// Seconds of a loop that reads all numbers.
fn read(numbers: &[u64]) -> f64 {
    let begun = clock::seconds();
    let mut sums = [0_u64; 16];
    let (chunks, _) = black_box(numbers).as_chunks::<16>();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*x);
        }
    }
    black_box(sums);
    clock::seconds() - begun
}

/// Makes a product of a semiring and type, with these names.
type Group = (&'static str, &'static str, fn([usize; 3], usize) -> Box<dyn Turn>);

fn groups() -> Vec<Group> {
    macro_rules! groups {
        ($($s:ident<$t:ident>,)*) => { vec![$((<$s<$t> as Semiring>::NAME, type_name::<$t>(), Product::<$s<$t>>::boxed)),*] };
    }
    groups![
        PlusTimes<f32>,
        PlusTimes<f64>,
        PlusTimes<i8>,
        PlusTimes<i32>,
        PlusTimes<i64>,
        MaxPlus<f32>,
        MaxPlus<f64>,
        MaxPlus<i32>,
        MinPlus<i64>,
        MaxTimes<f32>,
        MaxMin<f32>,
        MaxMin<i32>,
    ]
}

/// A shape as it is written: one side for a cube.
fn shape(word: &str) -> Option<[usize; 3]> {
    let sides: Vec<usize> = word.split('x').filter_map(|side| side.parse().ok()).collect();
    match sides[..] {
        [side] => Some([side; 3]),
        [m, n, k] => Some([m, n, k]),
        _ => None,
    }
}

fn main() {
    let words: Vec<_> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let word = |i: usize, without: &'static str| words.get(i).map_or(without, String::as_str);
    let rounds: usize = word(0, "25").parse().unwrap_or(25);
    let shapes: Vec<_> = word(2, SHAPES).split(',').filter_map(shape).collect();
    let threads: usize = word(3, "1").parse().unwrap_or(1);
    let numbers = vec![1_u64; READ / size_of::<u64>()];
    println!(
        "| product | ms | G terms/s | read, ms | computed, ms | ms / floor |\n|---|---:|---:|---:|---:|---:|"
    );
    for (semiring, element, make) in groups() {
        if !word(1, "").split(',').any(|part| format!("{semiring} {element}").contains(part)) {
            continue;
        }
        let mut products: Vec<_> =
            [SQUARE].iter().chain(&shapes).map(|&shape| make(shape, threads)).collect();
        let (mut reading, mut least) = (f64::INFINITY, vec![[f64::INFINITY; 2]; products.len()]);
        for _ in 0..rounds {
            reading = reading.min(read(&numbers));
            for (product, least) in products.iter_mut().zip(&mut least) {
                let seconds = product.seconds();
                *least = [least[0].min(seconds[0]), least[1].min(seconds[1])];
            }
        }
        let (per_byte, per_term) = (reading / READ as f64, least[0][0] / products[0].terms());
        for (product, [seconds, passed]) in products.iter().zip(least) {
            let (read, computed) = (product.bytes() * per_byte, product.terms() * per_term);
            let (over, rate) = (seconds / read.max(computed), product.terms() / seconds / 1e9);
            let [ms, passed, read, computed] = [seconds, passed, read, computed].map(|x| x * 1e3);
            let name = product.name();
            println!(
                "| {name} | {ms:.3} | {passed:.3} | {rate:.1} | {read:.2} | {computed:.2} | {over:.2} |"
            );
        }
    }
}
