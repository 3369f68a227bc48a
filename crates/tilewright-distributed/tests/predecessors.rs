//! Predecessors on grids of threads, against those of one process.

use crate::common::{GRIDS, dealt, on_grid, same_bits, unit};
use tilewright::{
    DType, DynMatrix, Extremes, Matrix, SemiringId, Value,
    paths::{DynPaths, NO_PREDECESSOR},
};
use tilewright_distributed::{Closure, Shape, predecessor_bytes};

/// Weights of which many paths are equally good, zeros among them, most of them absent.
fn ties(semiring: SemiringId, dtype: DType, n: usize, of: f64) -> DynMatrix {
    let sign = if semiring == SemiringId::MaxPlus { -1.0 } else { 1.0 };
    let weight = |i, j| match unit(i + 77, j) < 0.8 {
        true => sign * f64::INFINITY,
        false => sign * (of * unit(i, j + 5)).floor(),
    };
    let numbers: DynMatrix = Matrix::from_fn(n, n, weight).unwrap().into();
    numbers.as_ref().convert(dtype, Extremes::Absent).unwrap()
}

fn expected(semiring: SemiringId, whole: &DynMatrix) -> (DynMatrix, DynMatrix) {
    let solution = DynPaths::new(semiring, whole.as_ref()).unwrap().with_predecessors().unwrap();
    let stops = solution.predecessors.unwrap();
    let stop = |i, j| match stops.matrix()[(i, j)] {
        NO_PREDECESSOR => -1,
        stop => i64::from(stop),
    };
    let n = whole.layout().rows;
    (solution.distances, Matrix::from_fn(n, n, stop).unwrap().into())
}

#[test]
fn predecessors_are_those_of_one_process() {
    for semiring in [SemiringId::MinPlus, SemiringId::MaxPlus] {
        for dtype in [DType::I16, DType::I32, DType::I64] {
            for (n, block, of) in [(37, 8, 3.0), (64, 16, 1.0), (9, 4, 50.0), (0, 4, 2.0), (1, 4, 2.0)] {
                let whole = ties(semiring, dtype, n, of);
                let (distances, stops) = expected(semiring, &whole);
                for &(rows, cols) in GRIDS {
                    for found in on_grid((rows, cols), |grid| {
                        let w = dealt(grid, whole.as_ref(), block)?;
                        let found = Closure::new(semiring).run_with_predecessors(&w)?;
                        assert_eq!(
                            grid.received_by_all()?,
                            predecessor_bytes(n, block, Shape { rows, cols })
                        );
                        Ok((found.distances.gather()?, found.predecessors.gather()?))
                    }) {
                        let (d, p) = found.unwrap();
                        let case = format!("{semiring} on {dtype}, {n} on {rows}x{cols}");
                        assert!(same_bits(d.as_ref(), distances.as_ref()), "{case}");
                        assert!(same_bits(p.as_ref(), stops.as_ref()), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_circle_that_blocks_would_close_is_none() {
    // Vertex 0 comes after 4, and 4 after 0, where predecessors are carried along in blocks of two and three.
    let mut whole = Matrix::filled(5, 5, i32::MAX).unwrap();
    for (from, to, weight) in [(1, 3, 1), (3, 2, 0), (3, 0, 1), (2, 4, 1), (0, 4, 0), (4, 0, 0)] {
        whole[(from, to)] = weight;
    }
    let whole = whole.into();
    let (_, stops) = expected(SemiringId::MinPlus, &whole);
    for found in on_grid((2, 2), |grid| {
        Closure::new(SemiringId::MinPlus)
            .run_with_predecessors(&dealt(grid, whole.as_ref(), 2)?)?
            .predecessors
            .gather()
    }) {
        let found = found.unwrap();
        assert!(same_bits(found.as_ref(), stops.as_ref()));
        assert_eq!(
            (found.as_ref().get(1, 0), found.as_ref().get(1, 4)),
            (Some(Value::Int(3)), Some(Value::Int(0)))
        );
    }
}

#[test]
fn cycles_keep_their_weight_and_what_has_no_keys_is_refused() {
    let mut whole = Matrix::filled(9, 9, 5_i32).unwrap();
    (whole[(7, 2)], whole[(2, 7)]) = (-9, 3);
    let run = |semiring, whole: DynMatrix| {
        let all = on_grid((2, 2), |grid| {
            Closure::new(semiring).run_with_predecessors(&dealt(grid, whole.as_ref(), 4)?).map(|_| ())
        });
        let texts: Vec<_> = all.into_iter().map(|error| error.unwrap_err().to_string()).collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        texts[0].clone()
    };
    let text = run(SemiringId::MinPlus, whole.into());
    assert!(text.contains("weight -6"), "{text}");
    let text = run(SemiringId::MinPlus, Matrix::filled(9, 9, 1.0_f32).unwrap().into());
    assert!(text.contains("predecessors over min-plus on f32"), "{text}");
    let text = run(SemiringId::MinPlus, Matrix::filled(9, 9, 1_i64 << 60).unwrap().into());
    assert!(text.contains("leave 64 bits"), "{text}");
}

#[test]
fn a_cycle_through_all_vertices_is_found() {
    for n in [1, 2, 3, 4, 7, 8] {
        for (semiring, absent, best) in
            [(SemiringId::MinPlus, i32::MAX, -1), (SemiringId::MaxPlus, i32::MIN, 1)]
        {
            let mut whole = Matrix::filled(n, n, absent).unwrap();
            for from in 0..n {
                whole[(from, (from + 1) % n)] = if from == 0 { best } else { 0 };
            }
            let whole = DynMatrix::from(whole);
            for &(rows, cols) in GRIDS {
                for error in on_grid((rows, cols), |grid| {
                    let w = dealt(grid, whole.as_ref(), 2)?;
                    Closure::new(semiring).run_with_predecessors(&w).map(|_| ())
                }) {
                    assert_eq!(
                        error.unwrap_err().code(),
                        "negative-cycle",
                        "{semiring} of {n} on {rows}x{cols}"
                    );
                }
            }
        }
    }
}
