//! The example of the README: distances by road, and the towns on the way.

use tilewright::{Layout, MatRef, MinPlus, PlusTimes, Product};

fn main() -> Result<(), tilewright::Error> {
    let inf = f32::INFINITY;
    let roads = [0.0, 3.0, inf, /**/ 3.0, 0.0, 4.0, /**/ inf, 4.0, 0.0];
    let roads = MatRef::new(&roads, Layout::row_major(3, 3))?;

    let (distance, via) = Product::<MinPlus<f32>>::new(roads, roads)?.compute_with_arg()?;
    assert_eq!(distance.as_ref().get(0, 2), Some(7.0));
    assert_eq!(via.as_ref().get(0, 2), Some(1));

    // Transposes, slices, reversed and broadcast matrices are views: nothing is copied.
    let gram = Product::<PlusTimes<f32>>::new(roads.t(), roads)?.threads(2).compute()?;
    assert_eq!((gram.rows(), gram.cols()), (3, 3));
    Ok(())
}
