//! Times or-and by the density of its operands on one thread, and integers of 8 and 16 bits under plus-times on one and two: G terms a second, the
//! best of many repetitions.
//!
//! `integers [SECONDS [numbers [SIZE]]]` measures each case for so long, 0.3 without, with `numbers` those of plus-times alone, perhaps of one size. Other programs are compared by running both in turns.

use std::{
    env,
    hint::black_box,
    time::{Duration, Instant},
};
use tilewright_core::{Layout, MatMut, MatRef, OrAnd, PlusTimes, Semiring, Update};
use tilewright_cpu::{Dots, Options, multiply, multiply_arg};

/// Numbers below 2^24 that no two programs draw differently.
fn drawn(count: usize, mut seed: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 8
    })
}

/// Operands of or-and: their name, and whether element `(i, j)` is true, for which a number below 2^24 was drawn.
type Operand = (&'static str, fn(u32, usize, usize) -> bool);
const OPERANDS: [Operand; 5] = [
    ("half", |drawn, _, _| drawn < 1 << 23),
    ("0.01", |drawn, _, _| drawn < 167_772),
    ("0.0001", |drawn, _, _| drawn < 1678),
    ("permutation", |_, i, j| j == i ^ 5),
    ("empty", |_, _, _| false),
];

/// The best rate of a product of `n` cubed, in G terms a second, and of the same with winning terms, if it has them.
fn rates<S: Semiring>(
    seconds: f64,
    n: usize,
    a: &[S::Elem],
    b: &[S::Elem],
    none: S::Out,
    options: Options<'_>,
) -> [f64; 2] {
    let square = Layout::row_major(n, n);
    let (mut c, mut arg) = (vec![none; n * n], vec![0; n * n]);
    let (a, b) = (MatRef::new(a, square).expect("a matrix"), MatRef::new(b, square).expect("a matrix"));
    [false, true].map(|tells| {
        if tells && !S::laws().selective_add {
            return f64::NAN;
        }
        let (begun, mut best) = (Instant::now(), Duration::MAX);
        while begun.elapsed().as_secs_f64() < seconds {
            let start = Instant::now();
            let to = MatMut::new(&mut c, square).expect("a matrix");
            if tells {
                let arg = MatMut::new(&mut arg, square).expect("a matrix");
                multiply_arg::<S>(to, arg, black_box(a), b, &Update::Replace, &options).expect("a product");
            } else {
                multiply::<S>(to, black_box(a), b, &Update::Replace, &options).expect("a product");
            }
            best = best.min(start.elapsed());
        }
        (n as f64).powi(3) / best.as_nanos() as f64
    })
}

fn main() {
    let words: Vec<_> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let seconds = words.first().and_then(|word| word.parse().ok()).unwrap_or(0.3);
    let all = words.get(1).is_none_or(|word| word != "numbers");
    println!("semiring\toperands\tsize\tG terms/s\twith winners");
    let options = Options { threads: 1, ..Options::default() };
    for n in [32, 64, 128, 256, 512, 1024, 2048].into_iter().filter(|_| all) {
        for (name, holds) in OPERANDS {
            let operand = |seed| -> Vec<bool> {
                drawn(n * n, seed).enumerate().map(|(at, x)| holds(x, at / n, at % n)).collect()
            };
            let [rate, told] = rates::<OrAnd>(seconds, n, &operand(1), &operand(2), false, options);
            println!("or-and\t{name}\t{n}\t{rate:.0}\t{told:.0}");
        }
    }
    let only: Option<usize> = words.get(2).and_then(|word| word.parse().ok());
    for n in [16, 32, 64, 100, 256, 512, 1024, 2048].into_iter().filter(|&n| only.unwrap_or(n) == n) {
        numbers::<PlusTimes<i8>>(seconds, n, "i8", |x| x as i8);
        numbers::<PlusTimes<u8>>(seconds, n, "u8", |x| x as u8);
        numbers::<PlusTimes<i16>>(seconds, n, "i16", |x| x as i16);
        // As bytes were computed before they were multiplied in pairs.
        numbers::<PlusTimes<i32>>(seconds, n, "i32", |x| i32::from(x as i8));
    }
}

/// The rates of plus-times on numbers, also by what processors without AMX, or VNNI, have, and on two threads.
fn numbers<S: Semiring<Out = i32>>(seconds: f64, n: usize, name: &str, number: fn(u32) -> S::Elem) {
    let operand = |seed| -> Vec<S::Elem> { drawn(n * n, seed).map(number).collect() };
    let (a, b) = (operand(1), operand(2));
    for (how, dots, threads) in [
        ("", Dots::Amx, 1),
        ("by vnni", Dots::Vnni, 1),
        ("plain", Dots::Plain, 1),
        ("on two threads", Dots::Amx, 2),
    ] {
        let options = Options { threads, dots, ..Options::default() };
        let [rate, _] = rates::<S>(seconds, n, &a, &b, 0, options);
        println!("plus-times\t{name} {how}\t{n}\t{rate:.1}\t");
    }
}
