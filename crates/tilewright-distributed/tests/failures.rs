//! What one rank does wrong is an error at every rank; states on the way lead to the same bits.

use crate::common::{GRIDS, dealt, on_grid, same_bits, weights};
use std::{fs, path::Path};
use tilewright::{DType, Error, ErrorKind, Matrix, SemiringId};
use tilewright_distributed::{Checkpoints, Closure};

fn broken() -> Error {
    ErrorKind::OutOfMemory { what: "a test", bytes: 7 }.into()
}

#[test]
fn an_error_at_any_step_of_any_rank_is_everybody_s() {
    let (n, block) = (37, 8);
    let whole = weights(SemiringId::MinPlus, DType::F32, n, n);
    for &(rows, cols) in GRIDS.iter().filter(|(rows, cols)| rows * cols > 1) {
        for step in 0..5 {
            let rank = (step * 5 + 1) % (rows * cols);
            let all = on_grid((rows, cols), |grid| {
                let fail = |at, count| {
                    assert_eq!(count, 5);
                    if (at, grid.world().rank()) == (step, rank) { Err(broken()) } else { Ok(()) }
                };
                let mut d = dealt(grid, whole.as_ref(), block)?;
                Closure { before_step: Some(&fail), ..Closure::new(SemiringId::MinPlus) }.run(&mut d)
            });
            for error in all {
                let error = error.unwrap_err();
                let text = error.to_string();
                assert_eq!(error.code(), "device");
                assert!(text.starts_with(&format!("step {} of 5 on ", step + 1)), "{text}");
                assert!(text.contains(&format!(": rank ({rank}): ")), "{text}");
                assert!(text.ends_with("7 bytes could not be allocated for a test"), "{text}");
            }
        }
    }
}

#[test]
fn a_negative_cycle_is_named_at_every_rank() {
    let mut whole = Matrix::filled(20, 20, 5_i32).unwrap();
    (whole[(13, 4)], whole[(4, 13)]) = (-9, 3);
    let whole = whole.into();
    let expected = on_grid((1, 1), |grid| {
        Closure::new(SemiringId::MinPlus).run(&mut dealt(grid, tilewright::DynMatrix::as_ref(&whole), 4)?)
    });
    let expected = expected[0].as_ref().unwrap_err().to_string();
    assert!(expected.contains("13") && expected.contains("weight -6"), "{expected}");
    for error in
        on_grid((2, 3), |grid| Closure::new(SemiringId::MinPlus).run(&mut dealt(grid, whole.as_ref(), 4)?))
    {
        let error = error.unwrap_err();
        assert_eq!((error.code(), error.to_string()), ("negative-cycle", expected.clone()));
    }
}

#[test]
fn what_has_no_closure_is_refused_at_every_rank() {
    let refused = |semiring, whole: tilewright::DynMatrix| {
        let all = on_grid((2, 2), |grid| Closure::new(semiring).run(&mut dealt(grid, whole.as_ref(), 4)?));
        let all: Vec<_> = all.into_iter().map(|error| error.unwrap_err().to_string()).collect();
        assert!(all.iter().all(|text| *text == all[0]), "{all:?}");
        all[0].clone()
    };
    let text = refused(SemiringId::MinPlus, Matrix::filled(4, 5, 1.0_f32).unwrap().into());
    assert!(text.contains("4x5"), "{text}");
    let text = refused(SemiringId::PlusTimes, Matrix::filled(9, 9, 1.0_f32).unwrap().into());
    assert!(text.contains("best paths over plus-times"), "{text}");
    let text = refused(SemiringId::MinPlus, Matrix::filled(9, 9, 1_000_000_000_i32).unwrap().into());
    assert!(text.contains("a path of 8 edges"), "{text}");
    let mut negative = Matrix::filled(9, 9, 0.5_f32).unwrap();
    negative[(8, 2)] = -1.0;
    let text = refused(SemiringId::MaxTimes, negative.into());
    assert!(text.contains("W[8, 2] = -1"), "{text}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_closure_goes_on_from_its_newest_state_on_another_grid() {
    let (n, block, semiring) = (61, 8, SemiringId::MinPlus);
    let whole = weights(semiring, DType::F32, n, n);
    let run = |grid: (usize, usize), folder: &Path, stop: usize| {
        let to = Checkpoints::new(folder, 2);
        on_grid(grid, |grid| {
            let fail = |at, _| if at == stop && grid.world().rank() == 0 { Err(broken()) } else { Ok(()) };
            let closure =
                Closure { before_step: Some(&fail), checkpoints: Some(&to), ..Closure::new(semiring) };
            let mut d = dealt(grid, whole.as_ref(), block)?;
            let done = closure.resume(&mut d)?;
            Ok((d.gather()?, done.done.unwrap_or(0)))
        })
    };
    let desk = tempfile::tempdir().unwrap();
    let folder = |name: &str| desk.path().join(name);
    let undisturbed = run((1, 1), &folder("whole"), usize::MAX).swap_remove(0).unwrap().0;
    assert_eq!(names(&folder("whole")), ["step-00000004", "step-00000006"]);
    for stop in 1..8 {
        let here = folder(&format!("stop-{stop}"));
        for error in run((2, 2), &here, stop) {
            assert_eq!(error.unwrap_err().code(), "device");
        }
        let kept = if here.exists() { names(&here) } else { Vec::new() };
        assert!(kept.len() <= 2 && kept.iter().all(|name| name.starts_with("step-")), "{kept:?}");
        for found in run((1, 3), &here, usize::MAX) {
            let (found, done) = found.unwrap();
            assert_eq!(done, stop / 2 * 2);
            assert!(same_bits(found.as_ref(), undisturbed.as_ref()), "{stop}");
        }
    }
    // A state of another closure or of other weights is refused, and so is a new closure among old states.
    let mut other = Matrix::<f32>::filled(n, n, 0.5).unwrap();
    other[(3, 4)] = 0.25;
    let other = tilewright::DynMatrix::from(other);
    let to = Checkpoints::new(folder("whole"), 2);
    for (semiring, whole, text) in [
        (SemiringId::MaxMin, &whole, "no state of 61 vertices over max-min"),
        (semiring, &other, "a state of other weights"),
    ] {
        for grid in [(1, 1), (1, 2), (2, 2)] {
            for error in on_grid(grid, |grid| {
                let closure = Closure { checkpoints: Some(&to), ..Closure::new(semiring) };
                closure.resume(&mut dealt(grid, whole.as_ref(), block)?).map(|_| ())
            }) {
                let error = error.unwrap_err();
                assert_eq!(error.code(), "bad-file");
                assert!(error.to_string().contains(text), "{error}");
            }
        }
    }
    for error in on_grid((2, 1), |grid| {
        let closure = Closure { checkpoints: Some(&to), ..Closure::new(semiring) };
        closure.run(&mut dealt(grid, whole.as_ref(), block)?)
    }) {
        let error = error.unwrap_err();
        assert_eq!(error.code(), "unsupported");
        assert!(error.to_string().contains("has states"), "{error}");
    }
}

#[test]
fn a_damaged_state_gives_way_to_the_one_before_it() {
    let (n, block, semiring) = (61, 8, SemiringId::MinPlus);
    let whole = weights(semiring, DType::F32, n, n);
    let resumed = |grid: (usize, usize), folder: &Path| {
        let to = Checkpoints::new(folder, 2);
        on_grid(grid, |grid| {
            let closure = Closure { checkpoints: Some(&to), ..Closure::new(semiring) };
            let mut d = dealt(grid, whole.as_ref(), block)?;
            let resumed = closure.resume(&mut d)?;
            let damaged: Vec<_> = resumed.damaged.iter().map(ToString::to_string).collect();
            Ok((d.gather()?, resumed.done, damaged))
        })
    };
    let desk = tempfile::tempdir().unwrap();
    let expected = resumed((1, 1), &desk.path().join("whole")).swap_remove(0).unwrap().0;
    let damages: [(&str, &dyn Fn(&Path)); 4] = [
        ("00003-00005.npy", &|path| fs::write(path, "short").unwrap()),
        ("00000-00000.npy", &|path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 4]).unwrap();
        }),
        ("00001-00002.npy", &|path| fs::remove_file(path).unwrap()),
        ("blocks.json", &|path| fs::write(path, "{").unwrap()),
    ];
    for (name, damage) in damages {
        for grid in [(1, 1), (2, 2)] {
            let folder = desk.path().join(format!("{name}-{grid:?}"));
            resumed((1, 2), &folder);
            damage(&folder.join("step-00000006").join(name));
            for found in resumed(grid, &folder) {
                let (found, done, damaged) = found.unwrap();
                assert_eq!(done, Some(4), "{name}");
                assert!(damaged.len() == 1 && damaged[0].contains("step-00000006"), "{damaged:?}");
                assert!(same_bits(found.as_ref(), expected.as_ref()), "{name}");
            }
            // The state that was damaged has been written anew. Where no state is whole, that is an error.
            assert_eq!(names(&folder), ["step-00000004", "step-00000006"]);
            for state in names(&folder) {
                damage(&folder.join(state).join(name));
            }
            for error in resumed(grid, &folder) {
                let text = error.unwrap_err().to_string();
                assert!(text.contains("step-00000006"), "{text}");
            }
        }
    }
}

#[test]
fn rounded_weights_that_make_paths_better_are_refused_on_every_grid() {
    let refused = |semiring, whole: &tilewright::DynMatrix, grid: (usize, usize)| {
        let all = on_grid(grid, |grid| Closure::new(semiring).run(&mut dealt(grid, whole.as_ref(), 4)?));
        let all: Vec<_> =
            all.into_iter().map(|done| done.map_err(|error| (error.code(), error.to_string()))).collect();
        assert!(all.iter().all(|done| *done == all[0]), "{all:?}");
        all[0].clone().err()
    };
    for &grid in GRIDS {
        for (semiring, gain, other) in [
            (SemiringId::MinPlus, -1e-9, 1e9),
            (SemiringId::MaxPlus, 1e-9, -1e9),
            (SemiringId::MaxTimes, 1.5, 0.5),
            (SemiringId::MinTimes, 0.5, 1.5),
        ] {
            let mut whole = Matrix::filled(9, 9, other).unwrap();
            assert!(refused(semiring, &whole.clone().into(), grid).is_none(), "{semiring} on {grid:?}");
            whole[(8, 2)] = gain;
            let Some((code, text)) = refused(semiring, &whole.into(), grid) else {
                panic!("{semiring} on {grid:?}")
            };
            assert_eq!(code, "unsupported");
            assert!(text.contains("an edge that makes paths better"), "{text}");
        }
        // Integers and bottlenecks are exact.
        let mut whole = Matrix::filled(9, 9, 5_i32).unwrap();
        whole[(8, 2)] = -1;
        assert!(refused(SemiringId::MinPlus, &whole.into(), grid).is_none());
        let mut whole = Matrix::filled(9, 9, 5.0_f32).unwrap();
        whole[(8, 2)] = -1.0;
        assert!(refused(SemiringId::MaxMin, &whole.into(), grid).is_none());
    }
}
