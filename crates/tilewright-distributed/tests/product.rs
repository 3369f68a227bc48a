//! Products on grids of threads, against one process.

use crate::common::{GRIDS, dealt, on_grid, same_bits, weights};
use tilewright::{DType, DynProduct, Options, SemiringId};
use tilewright_distributed::{Shape, multiply, multiply_thin, product_bytes, terms};

/// The pairs of the table that several ranks compute.
fn pairs() -> Vec<(SemiringId, DType)> {
    let all = SemiringId::ALL.iter().flat_map(|&s| s.dtypes().iter().map(move |&dtype| (s, dtype)));
    let is_wide = |dtype: DType| dtype.size() >= 4 || !dtype.is_float();
    all.filter(|&(semiring, dtype)| semiring.is_selective() || is_wide(dtype)).collect()
}

fn operand(semiring: SemiringId, dtype: DType, rows: usize, cols: usize) -> tilewright::DynMatrix {
    match semiring {
        SemiringId::PlusTimes | SemiringId::LogPlus => {
            let small = |i, j| (5.0 * crate::common::unit(i, j)).floor();
            let numbers: tilewright::DynMatrix =
                tilewright::Matrix::from_fn(rows, cols, small).unwrap().into();
            numbers.as_ref().convert(dtype, tilewright::Extremes::Refuse).unwrap()
        }
        _ => weights(semiring, dtype, rows, cols),
    }
}

#[test]
fn products_are_those_of_one_process_and_receive_what_the_formula_says() {
    let (m, k, n, block) = (21, 37, 18, 4);
    for (semiring, dtype) in pairs() {
        let (a, b) = (operand(semiring, dtype, m, k), operand(semiring, dtype, k, n));
        let product = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap();
        let expected = product.compute().unwrap().c;
        for &(rows, cols) in GRIDS {
            for found in on_grid((rows, cols), |grid| {
                let (a, b) = (dealt(grid, a.as_ref(), block)?, dealt(grid, b.as_ref(), block)?);
                let c = multiply(semiring, &a, &b, &Options::default())?;
                let bytes = grid.received_by_all()?;
                assert_eq!(bytes, product_bytes((m, n, k), Shape { rows, cols }, dtype.size()));
                c.gather()
            }) {
                let found = found.unwrap();
                let case = format!("{semiring} on {dtype} on {rows}x{cols}");
                match semiring {
                    // Sums of logarithms are rounded; those of small whole numbers are not.
                    SemiringId::LogPlus => {
                        assert!(product.verify(found.as_ref(), None).unwrap().passed, "{case}")
                    }
                    _ => assert!(same_bits(found.as_ref(), expected.as_ref()), "{case}"),
                }
            }
        }
    }
}

#[test]
fn long_sums_are_split_and_joined() {
    let (m, k, n) = (5, 203, 3);
    for (semiring, dtype) in pairs() {
        let (a, b) = (operand(semiring, dtype, m, k), operand(semiring, dtype, k, n));
        let product = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap();
        let expected = product.compute().unwrap().c;
        for ranks in 1..10 {
            let all = on_grid((1, ranks), |grid| {
                let mine = terms(k, grid.world().rank(), ranks);
                let (a, b) = (
                    a.as_ref().window(0, mine.start, m, mine.len())?,
                    b.as_ref().window(mine.start, 0, mine.len(), n)?,
                );
                let c = multiply_thin(grid, semiring, a, b, &Options::default())?;
                let bytes = m * n * expected.dtype().size() * (ranks - 1);
                assert_eq!(grid.received_by_all()?, bytes as u64);
                Ok(c)
            });
            for (rank, found) in all.into_iter().enumerate() {
                let found = found.unwrap();
                assert_eq!(found.is_some(), rank == 0);
                let Some(found) = found else { continue };
                match semiring {
                    SemiringId::LogPlus => assert!(product.verify(found.as_ref(), None).unwrap().passed),
                    _ => assert!(
                        same_bits(found.as_ref(), expected.as_ref()),
                        "{semiring} on {dtype}, {ranks}"
                    ),
                }
            }
        }
    }
}

#[test]
fn empty_products_are_the_semiring_s_zero() {
    for (m, k, n) in [(5, 0, 4), (0, 3, 4), (4, 3, 0)] {
        let (a, b) =
            (weights(SemiringId::MinPlus, DType::F32, m, k), weights(SemiringId::MinPlus, DType::F32, k, n));
        for found in on_grid((2, 2), |grid| {
            let (a, b) = (dealt(grid, a.as_ref(), 2)?, dealt(grid, b.as_ref(), 2)?);
            multiply(SemiringId::MinPlus, &a, &b, &Options::default())?.gather()
        }) {
            let found = found.unwrap();
            let expected =
                DynProduct::new(SemiringId::MinPlus, a.as_ref(), b.as_ref()).unwrap().compute().unwrap().c;
            assert!(same_bits(found.as_ref(), expected.as_ref()), "{m}x{k}x{n}");
        }
    }
}

#[test]
fn what_does_not_match_is_refused() {
    let (a, b) =
        (weights(SemiringId::MinPlus, DType::F32, 4, 6), weights(SemiringId::MinPlus, DType::F32, 5, 4));
    for error in on_grid((1, 2), |grid| {
        multiply(
            SemiringId::MinPlus,
            &dealt(grid, a.as_ref(), 2)?,
            &dealt(grid, b.as_ref(), 2)?,
            &Options::default(),
        )
        .map(|_| ())
    }) {
        assert_eq!(error.unwrap_err().code(), "inner-mismatch");
    }
    let half = operand(SemiringId::PlusTimes, DType::F16, 4, 4);
    for error in on_grid((1, 2), |grid| {
        let a = dealt(grid, half.as_ref(), 2)?;
        multiply(SemiringId::PlusTimes, &a, &a, &Options::default()).map(|_| ())
    }) {
        assert!(error.unwrap_err().to_string().contains("rounded once a panel"));
    }
}
