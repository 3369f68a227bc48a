//! What several threads gain, beside what this machine could give them.
//!
//! In turn: one product with one thread, one product with several, and as many products at once with one thread each, which share
//! nothing but the machine. How much faster the latter are together is the most that a product could gain: processors that run beside each
//! other are slower than one alone.

use std::{
    env,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};
use tilewright::{
    Matrix, MinPlus, PlusTimes, Semiring, Update,
    cpu::{self, Options},
};
use tilewright_bench::{
    Result,
    case::{Case, Group, Kind, Stored},
    field::Field,
    matrices::Operands,
    statistics::Summary,
};

const ROUNDS: usize = 41;
/// How long a turn computes before it is timed: processors that rested are slow at first.
const WARM_UP: Duration = Duration::from_millis(5);
/// How long a turn is timed, at least.
const TURN: Duration = Duration::from_millis(20);

/// A product, and where its result goes.
struct Product<S: Semiring> {
    operands: Operands<S::Elem>,
    c: Matrix<S::Out>,
}

impl<S: Semiring<Elem = T, Out = T>, T: Field> Product<S> {
    fn new(case: &Case) -> Result<Self> {
        let c = Matrix::filled(case.m, case.n, S::finish(S::ZERO))?;
        Ok(Self { operands: Operands::of(case)?, c })
    }

    fn compute(&mut self, threads: usize) -> Result<()> {
        let options = Options { threads, ..Options::default() };
        let (a, b) = (self.operands.a.view(), self.operands.b.view());
        cpu::multiply::<S>(self.c.as_mut(), a, b, &Update::Replace, &options)?;
        Ok(())
    }

    /// Seconds of a product, after a warm-up; `start` is waited for in between.
    fn time(&mut self, threads: usize, start: &Barrier) -> Result<f64> {
        let repeat = |product: &mut Self, least: Duration| -> Result<f64> {
            let (since, mut count) = (Instant::now(), 0);
            while count == 0 || since.elapsed() < least {
                product.compute(threads)?;
                count += 1;
            }
            Ok(since.elapsed().as_secs_f64() / f64::from(count))
        };
        let warm_up = repeat(self, WARM_UP);
        // Others wait for this one even if it fails.
        start.wait();
        warm_up?;
        repeat(self, TURN)
    }
}

/// Measures one row and prints it.
fn row<S: Semiring<Elem = T, Out = T>, T: Field>(group: Group, n: usize, threads: usize) -> Result<()> {
    let case = Case { group, kind: Kind::Square, m: n, n, k: n, a: Stored::Plain, b: Stored::Plain };
    let mut products = (0..threads).map(|_| Product::<S>::new(&case)).collect::<Result<Vec<_>>>()?;
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (turn, threads) in [1, threads].into_iter().enumerate() {
            times[turn].push(products[0].time(threads, &Barrier::new(1))?);
        }
        let start = Barrier::new(threads);
        let at_once: Vec<Result<f64, String>> = thread::scope(|scope| {
            let time = |product| scope.spawn(|| Product::time(product, 1, &start).map_err(|e| e.to_string()));
            let handles: Vec<_> = products.iter_mut().map(time).collect();
            handles.into_iter().map(|handle| handle.join().unwrap_or(Err("a panic".into()))).collect()
        });
        let sum: f64 = at_once.into_iter().sum::<Result<f64, String>>()?;
        times[2].push(sum / threads as f64);
    }
    let median =
        |f: &dyn Fn(usize) -> f64| Summary::of((0..ROUNDS).map(f).collect()).map_or(0.0, |s| s.median);
    let [one, several, at_once] = &times;
    let seconds = times.each_ref().map(|turn| median(&|i| turn[i]) * 1e3);
    println!(
        "| {} | {n} | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} |",
        group.name(),
        seconds[0],
        seconds[1],
        seconds[2],
        median(&|i| one[i] / several[i]),
        median(&|i| threads as f64 * one[i] / at_once[i]),
        median(&|i| at_once[i] / several[i] / threads as f64),
    );
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    // Another number of threads and other sizes may be given: `cargo bench -p tilewright-bench --bench threads -- 4 512 1024`.
    let number =
        |word: &String| word.parse().map_err(|_| format!("{word:?} is not a number of threads or a size"));
    let numbers = words.iter().map(number).collect::<Result<Vec<usize>, _>>()?;
    let threads = numbers.first().copied().unwrap_or(2).max(1);
    println!(
        "Milliseconds of a product, medians of {ROUNDS} rounds; ratios are medians of those of each round.\n"
    );
    println!(
        "| group | size | 1 thread | {threads} threads | {threads} products at once | speed-up | of products at once | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for &n in numbers.get(1..).filter(|sizes| !sizes.is_empty()).unwrap_or(&[1024]) {
        row::<PlusTimes<f32>, _>(Group::PlusTimesF32, n, threads)?;
        row::<PlusTimes<f64>, _>(Group::PlusTimesF64, n, threads)?;
        row::<MinPlus<f32>, _>(Group::MinPlusF32, n, threads)?;
        row::<MinPlus<f64>, _>(Group::MinPlusF64, n, threads)?;
        row::<MinPlus<i32>, _>(Group::MinPlusI32, n, threads)?;
        row::<MinPlus<i16>, _>(Group::MinPlusI16, n, threads)?;
    }
    Ok(())
}
