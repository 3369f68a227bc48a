//! Closures and products on several emulated GPUs of one process, against ranks on this processor and one GPU.
//!
//! Kernels are those that come with the catalogue: each GPU would compile its own. So the tests run in a process that has no compiler.

use crate::common::{dealt, on_grid, same_bits, weights};
use std::{env, process::Command, time::Instant};
use tilewright::{
    DType, DynMatrix, DynProduct, Error, Joining, Layout, Matrix, Options, SemiringId,
    cuda::{DeviceProduct, Engine},
    paths::{self, close_dyn},
};
use tilewright_distributed::{
    Checkpoints, Closure, Grid, Order, Shape, closure_bytes,
    devices::{self, Device, Transport},
    product_bytes,
};

#[test]
fn gpus_of_one_process_compute_together() {
    let mut tests = Command::new(env::current_exe().unwrap());
    tests.args(["devices::", "--ignored"]).env("TILEWRIGHT_NVRTC_PATH", "none");
    let output = tests.output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && !text.contains(" 0 passed"), "{text}");
}

const TRANSPORTS: [Transport; 3] = [Transport::Nccl, Transport::Peers, Transport::Hosts];

fn gpus(count: usize) -> Vec<Engine> {
    (0..count).map(|_| Engine::emulated(Default::default()).unwrap()).collect()
}

/// Runs `work` at every rank of a grid of GPUs.
fn on_gpus<T: Send>(
    (rows, cols): (usize, usize),
    transport: Transport,
    work: impl for<'g> Fn(&'g Grid<'g>, &Device) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let gpus = gpus(rows * cols);
    tilewright_distributed::threads::run(gpus.len(), |group| {
        let device = Device::new(gpus[group.rank()].clone(), group)?.by(transport)?;
        let grid = Grid::new(group, Shape { rows, cols })?;
        work(&grid, &device)
    })
}

/// The closure of weights on a grid of GPUs, and the bytes that were received.
fn closed(
    semiring: SemiringId,
    whole: &DynMatrix,
    block: usize,
    shape: (usize, usize),
    (transport, order): (Transport, Order),
) -> (DynMatrix, u64) {
    let all = on_gpus(shape, transport, |grid, device| {
        let mut d = dealt(grid, whole.as_ref(), block)?;
        Closure { device: Some(device), order, ..Closure::new(semiring) }.run(&mut d)?;
        Ok((d.gather()?, grid.received_by_all()?))
    });
    let mut all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|(d, bytes)| same_bits(d.as_ref(), all[0].0.as_ref()) && *bytes == all[0].1));
    all.swap_remove(0)
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn every_grid_of_gpus_has_the_bits_of_one_and_receives_what_the_formula_says() {
    for (semiring, dtype) in [
        (SemiringId::MinPlus, DType::F32),
        (SemiringId::MinPlus, DType::I32),
        (SemiringId::OrAnd, DType::Bool),
        (SemiringId::MaxMin, DType::F32),
    ] {
        let (n, block) = (53, 16);
        let whole = weights(semiring, dtype, n, n);
        let (one, _) = closed(semiring, &whole, block, (1, 1), (Transport::Nccl, Order::InOrder));
        for (at, (rows, cols)) in [(1, 2), (2, 1), (2, 2), (1, 3), (4, 1)].into_iter().enumerate() {
            let way = (TRANSPORTS[at % 3], Order::LookAhead);
            let (found, bytes) = closed(semiring, &whole, block, (rows, cols), way);
            let case = format!("{semiring} on {dtype} on {rows}x{cols} by {way:?}");
            assert!(same_bits(found.as_ref(), one.as_ref()), "{case}");
            assert_eq!(bytes, closure_bytes(n, block, Shape { rows, cols }, dtype.size()), "{case}");
        }
        if !dtype.is_float() || semiring == SemiringId::MaxMin {
            let mut expected = whole.as_ref().to_matrix().unwrap();
            close_dyn(semiring, expected.as_mut(), None, &paths::Options::default()).unwrap();
            assert!(same_bits(one.as_ref(), expected.as_ref()), "{semiring} on {dtype}");
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn every_transport_gives_the_same_bits_with_and_without_look_ahead() {
    let (n, block) = (37, 8);
    let whole = weights(SemiringId::MinPlus, DType::F32, n, n);
    let (one, _) = closed(SemiringId::MinPlus, &whole, block, (1, 1), (Transport::Hosts, Order::InOrder));
    for transport in TRANSPORTS {
        for order in [Order::LookAhead, Order::InOrder] {
            let (found, _) = closed(SemiringId::MinPlus, &whole, block, (2, 2), (transport, order));
            assert!(same_bits(found.as_ref(), one.as_ref()), "{transport:?} {order:?}");
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn small_matrices_leave_gpus_without_blocks() {
    for n in [0, 1, 9] {
        let whole = weights(SemiringId::MinPlus, DType::I32, n, n);
        let mut expected = whole.as_ref().to_matrix().unwrap();
        close_dyn(SemiringId::MinPlus, expected.as_mut(), None, &paths::Options::default()).unwrap();
        for transport in TRANSPORTS {
            let way = (transport, Order::LookAhead);
            let (found, _) = closed(SemiringId::MinPlus, &whole, 4, (2, 2), way);
            assert!(same_bits(found.as_ref(), expected.as_ref()), "{n} {transport:?}");
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn gpus_of_one_process_send_by_nccl() {
    let told = devices::run(&gpus(3), |group, device| {
        assert_eq!(device.without_nccl(), None);
        Ok((group.rank(), device.transport(), device.engine().device().ordinal))
    });
    let told: Vec<_> = told.into_iter().map(Result::unwrap).collect();
    assert!(told.iter().enumerate().all(|(at, &(rank, by, _))| (rank, by) == (at, Transport::Nccl)));
    assert!(told[0].2 != told[1].2 && told[1].2 != told[2].2);
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn products_have_the_bits_of_one_process() {
    let (m, k, n, block) = (21, 37, 18, 8);
    for (semiring, dtype) in [
        (SemiringId::MinPlus, DType::F32),
        (SemiringId::PlusTimes, DType::F32),
        (SemiringId::PlusTimes, DType::I8),
        (SemiringId::OrAnd, DType::Bool),
    ] {
        let operand = |rows, cols| match semiring {
            SemiringId::PlusTimes if dtype == DType::F32 => {
                Matrix::from_fn(rows, cols, |i, j| crate::common::unit(i, j) as f32 - 0.5).unwrap().into()
            }
            SemiringId::PlusTimes => {
                Matrix::from_fn(rows, cols, |i, j| (9.0 * crate::common::unit(i, j)) as i8).unwrap().into()
            }
            _ => weights(semiring, dtype, rows, cols),
        };
        let (a, b): (DynMatrix, DynMatrix) = (operand(m, k), operand(k, n));
        let product = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap();
        let expected = product.compute().unwrap().c;
        for (at, (rows, cols)) in [(1, 1), (1, 2), (2, 2), (3, 1)].into_iter().enumerate() {
            for found in on_gpus((rows, cols), TRANSPORTS[at % 3], |grid, device| {
                let (a, b) = (dealt(grid, a.as_ref(), block)?, dealt(grid, b.as_ref(), block)?);
                let c = devices::multiply(device, semiring, &a, &b, &Options::default())?;
                let bytes = product_bytes((m, n, k), Shape { rows, cols }, dtype.size());
                assert_eq!(grid.received_by_all()?, bytes);
                c.gather()
            }) {
                let (found, case) = (found.unwrap(), format!("{semiring} on {dtype} on {rows}x{cols}"));
                match (semiring, dtype) {
                    (SemiringId::PlusTimes, DType::F32) => {
                        assert!(product.verify(found.as_ref(), None).unwrap().passed, "{case}")
                    }
                    _ => assert!(same_bits(found.as_ref(), expected.as_ref()), "{case}"),
                }
            }
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn empty_products_on_gpus_are_the_semiring_s_zero() {
    for (m, k, n) in [(5, 0, 4), (0, 3, 4), (4, 3, 0)] {
        let (a, b) =
            (weights(SemiringId::MinPlus, DType::F32, m, k), weights(SemiringId::MinPlus, DType::F32, k, n));
        let expected =
            DynProduct::new(SemiringId::MinPlus, a.as_ref(), b.as_ref()).unwrap().compute().unwrap().c;
        for found in on_gpus((2, 2), Transport::Nccl, |grid, device| {
            let (a, b) = (dealt(grid, a.as_ref(), 2)?, dealt(grid, b.as_ref(), 2)?);
            devices::multiply(device, SemiringId::MinPlus, &a, &b, &Options::default())?.gather()
        }) {
            assert!(same_bits(found.unwrap().as_ref(), expected.as_ref()), "{m}x{k}x{n}");
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn a_cycle_that_gains_is_named_as_by_the_processor() {
    let mut whole = Matrix::filled(20, 20, 5_i32).unwrap();
    (whole[(13, 4)], whole[(4, 13)]) = (-9, 3);
    let whole: DynMatrix = whole.into();
    let expected =
        on_grid((1, 1), |grid| Closure::new(SemiringId::MinPlus).run(&mut dealt(grid, whole.as_ref(), 4)?));
    let expected = expected[0].as_ref().unwrap_err().to_string();
    for error in on_gpus((2, 2), Transport::Nccl, |grid, device| {
        let closure = Closure { device: Some(device), ..Closure::new(SemiringId::MinPlus) };
        closure.run(&mut dealt(grid, whole.as_ref(), 4)?)
    }) {
        let error = error.unwrap_err();
        assert_eq!((error.code(), error.to_string()), ("negative-cycle", expected.clone()));
    }
}

/// Breaks a GPU: a kernel reads where there is nothing.
fn break_it(engine: &Engine) -> Result<(), Error> {
    let layout = Layout::row_major(8, 8);
    // SAFETY: the emulator finds out that there is nothing.
    let nothing = unsafe { engine.foreign_unchecked(DType::F32, layout, 64, 0..64)? };
    let mut c = engine.zeros_dyn(DType::F32, layout)?;
    let product = DeviceProduct::new(SemiringId::MinPlus).joining(Joining::Replace);
    engine.multiply(&product, &nothing, &nothing, &mut c).map(drop)
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn a_gpu_that_fails_at_any_step_ends_all_ranks_and_is_named() {
    let (n, block) = (37, 8);
    let whole = weights(SemiringId::MinPlus, DType::F32, n, n);
    for transport in TRANSPORTS {
        for step in 0..5 {
            let (broken, began) = ((3 * step + 1) % 4, Instant::now());
            let all = on_gpus((2, 2), transport, |grid, device| {
                let fails = |at, _| {
                    if (at, grid.world().rank()) == (step, broken) {
                        break_it(device.engine())
                    } else {
                        Ok(())
                    }
                };
                let closure = Closure::new(SemiringId::MinPlus);
                let closure = Closure { device: Some(device), before_step: Some(&fails), ..closure };
                let done = closure.run(&mut dealt(grid, whole.as_ref(), block)?);
                Ok((
                    device.engine().device().ordinal,
                    done.map_err(|error| (error.code(), error.to_string())),
                ))
            });
            let all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
            let ordinal = all[broken].0;
            for (_, done) in &all {
                let (code, text) = done.as_ref().unwrap_err();
                assert_eq!(*code, "device");
                assert!(text.contains(&format!("rank ({broken}): ")), "{transport:?} {step}: {text}");
                assert!(text.contains(&format!("on device {} (", ordinal)), "{transport:?} {step}: {text}");
                assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{text}");
                let named =
                    (step + 1..=(step + 2).min(5)).any(|k| text.starts_with(&format!("step {k} of 5 on ")));
                assert!(named, "{transport:?} {step}: {text}");
            }
            assert!(began.elapsed().as_secs() < 60, "nobody waits until the end of all patience");
        }
    }
}

#[test]
#[ignore = "run by gpus_of_one_process_compute_together"]
fn a_closure_on_gpus_goes_on_from_a_state_of_processors() {
    let (n, block, semiring) = (37, 8, SemiringId::MinPlus);
    let whole = weights(semiring, DType::I32, n, n);
    let desk = tempfile::tempdir().unwrap();
    let to = Checkpoints::new(desk.path().join("states"), 2);
    let stop = |at, _| match at {
        3 => Err(tilewright::ErrorKind::OutOfMemory { what: "a test", bytes: 7 }.into()),
        _ => Ok(()),
    };
    for error in on_gpus((2, 1), Transport::Nccl, |grid, device| {
        let closure = Closure { checkpoints: Some(&to), before_step: Some(&stop), ..Closure::new(semiring) };
        let closure = Closure { device: Some(device), ..closure };
        closure.run(&mut dealt(grid, whole.as_ref(), block)?)
    }) {
        assert!(error.unwrap_err().to_string().starts_with("step 4 of 5"));
    }
    let mut expected = whole.as_ref().to_matrix().unwrap();
    close_dyn(semiring, expected.as_mut(), None, &paths::Options::default()).unwrap();
    for found in on_gpus((1, 2), Transport::Peers, |grid, device| {
        let mut d = dealt(grid, whole.as_ref(), block)?;
        let done = Closure { device: Some(device), checkpoints: Some(&to), ..Closure::new(semiring) }
            .resume(&mut d)?;
        Ok((done, d.gather()?))
    }) {
        let (done, found) = found.unwrap();
        assert_eq!(done, Some(2));
        assert!(same_bits(found.as_ref(), expected.as_ref()));
    }
    for found in on_grid((1, 3), |grid| {
        let mut d = dealt(grid, whole.as_ref(), block)?;
        Closure { checkpoints: Some(&to), ..Closure::new(semiring) }.resume(&mut d)?;
        d.gather()
    }) {
        assert!(same_bits(found.unwrap().as_ref(), expected.as_ref()));
    }
}
