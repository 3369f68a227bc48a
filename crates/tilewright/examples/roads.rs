//! The example of the README: distances by road, and the towns on the way.

use tilewright::{Matrix, MinPlus, PlusTimes, Product};

fn main() -> Result<(), tilewright::Error> {
    let inf = f32::INFINITY;
    let roads = Matrix::from([[0.0, 3.0, inf], [3.0, 0.0, 4.0], [inf, 4.0, 0.0]]);

    let (distance, via) = Product::<MinPlus<f32>>::new(&roads, &roads)?.compute_with_arg()?;
    assert_eq!((distance[(0, 2)], via[(0, 2)]), (7.0, 1));

    // Transposes, slices, reversed and broadcast matrices are views: nothing is copied.
    let gram = Product::<PlusTimes<f32>>::new(roads.as_ref().t(), &roads)?.threads(2).compute()?;
    assert_eq!((gram.rows(), gram.cols()), (3, 3));
    Ok(())
}
