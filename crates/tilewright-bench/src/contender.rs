//! A library that computes a product, as the rounds see it.

use crate::{Result, field::Field};
use std::time::Instant;

/// One library with one product to compute.
pub trait Contender {
    /// What the table calls it.
    fn name(&self) -> &str;

    /// Computes the product `repetitions` times and returns the seconds of one.
    ///
    /// # Errors
    /// When the library fails.
    fn run(&mut self, repetitions: u32) -> Result<f64>;

    /// The result, row by row.
    ///
    /// # Errors
    /// When it cannot be read.
    fn result(&mut self) -> Result<Vec<f64>>;
}

/// A library called in this process: a closure that fills C, row-major.
pub struct InProcess<T, F> {
    name: &'static str,
    c: Vec<T>,
    multiply: F,
}

impl<T: Field, F: FnMut(&mut [T]) -> Result<()>> InProcess<T, F> {
    /// `multiply` is called with the `len` elements of C.
    pub fn new(name: &'static str, len: usize, multiply: F) -> Self {
        Self { name, c: vec![T::zeroed(); len], multiply }
    }
}

impl<T: Field, F: FnMut(&mut [T]) -> Result<()>> Contender for InProcess<T, F> {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, repetitions: u32) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..repetitions {
            (self.multiply)(&mut self.c)?;
            std::hint::black_box(&mut self.c);
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(repetitions))
    }

    fn result(&mut self) -> Result<Vec<f64>> {
        Ok(self.c.iter().map(|x| x.value()).collect())
    }
}
