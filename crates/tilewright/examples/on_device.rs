//! Matrices that stay on a GPU: shortest paths between all pairs by squaring, with one transfer there and one back.
//!
//! `cargo run --release -p tilewright --example on_device [VERTICES]`

use std::time::Instant;
use tilewright::{
    Error, Joining, Layout, Matrix, SemiringId,
    cuda::{DeviceProduct, Engine},
};

fn main() -> Result<(), Error> {
    let n = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000_usize);
    let engine = match Engine::shared() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    // A ring of one-way roads: as far as can be in so few vertices.
    let roads = Matrix::from_fn(n, n, |i, j| match (j + n - i) % n {
        0 => 0.0,
        1 => 1.0,
        _ => f32::INFINITY,
    })?;
    let mut distance = engine.upload(roads.as_ref())?;
    let mut longer = engine.zeros::<f32>(Layout::row_major(n, n))?;
    // What is there already counts, too: a road of 0 leads from every vertex to itself.
    let product = DeviceProduct::new(SemiringId::MinPlus).joining(Joining::Replace);
    let began = Instant::now();
    let (mut edges, mut squarings) = (1, 0);
    while edges < n {
        engine.multiply(&product, &distance, &distance, &mut longer)?;
        std::mem::swap(&mut distance, &mut longer);
        (edges, squarings) = (2 * edges, squarings + 1);
    }
    engine.synchronize()?;
    let seconds = began.elapsed().as_secs_f64();
    let distance = distance.to_matrix()?;
    println!("{n} vertices, {squarings} squarings in {seconds:.4} s on {}", engine.device().name);
    println!("from the second vertex to the first: {} of {} roads", distance[(1, 0)], n);
    Ok(())
}
