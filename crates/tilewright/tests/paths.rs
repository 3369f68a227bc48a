//! The best paths of the flights in `data/flights`, and of graphs whose types are known at run time.

use tilewright::{
    DType, DynMatrix, ErrorKind, Matrix, MinPlus, SemiringId, Value,
    paths::{DynPaths, Method, Paths},
};

#[cfg(feature = "emulator")]
#[path = "../../tilewright-paths/tests/common/mod.rs"]
mod common;

const AIRPORTS: usize = 60;

fn read(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/flights").join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn journeys_with_any_number_of_changes() {
    let cells: Vec<f32> = read("nonstop_km.csv")
        .lines()
        .flat_map(|line| line.split(','))
        .map(|cell| cell.parse().unwrap())
        .collect();
    let nonstop = Matrix::from_fn(AIRPORTS, AIRPORTS, |i, j| cells[i * AIRPORTS + j]).unwrap();
    let codes: Vec<String> =
        read("airports.csv").lines().skip(1).map(|line| line.split(',').nth(1).unwrap().into()).collect();
    let index = |code: &str| codes.iter().position(|known| known == code).unwrap();
    let paths = Paths::<MinPlus<f32>>::new(&nonstop).unwrap();
    let mut answers = Vec::new();
    for method in [Method::Dense, Method::Dijkstra] {
        let (km, predecessors) = paths.method(method).with_predecessors().unwrap();
        let journey = |from: &str, to: &str| {
            let stops = predecessors.route(index(from), index(to)).unwrap();
            (
                stops.map(|stop| codes[stop].as_str()).collect::<Vec<_>>().join(" "),
                km[(index(from), index(to))],
            )
        };
        answers.push(["HNL BOS", "DAL BUR", "SFO JFK", "BUF SAN"].map(|ends| {
            let (from, to) = ends.split_once(' ').unwrap();
            journey(from, to)
        }));
        // With any number of changes one comes everywhere.
        assert!(km.as_slice().iter().all(|km| km.is_finite()));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0][0], ("HNL MSP BOS".into(), 8189.0));
    // Chicago lies on the way to the kilometre; nonstop has fewer edges.
    assert_eq!(answers[0][2], ("SFO JFK".into(), 4152.0));
    assert_eq!(answers[0][1].0.split(' ').count(), 4);
    // At most one change: the product of the table with itself.
    let two = paths.steps(2).distances().unwrap();
    assert_eq!(
        (two[(index("HNL"), index("BOS"))], two[(index("DAL"), index("BUR"))]),
        (8189.0, f32::INFINITY)
    );
}

#[test]
fn every_semiring_and_type_is_reached_at_run_time() {
    for &semiring in SemiringId::ALL {
        for &dtype in DType::ALL {
            let edges = [(0, 1, Value::Int(1)), (1, 2, Value::Int(1))];
            match DynPaths::of_edges(semiring, dtype, 3, &edges) {
                Ok(paths) => {
                    assert!(DynPaths::dtypes(semiring).contains(&dtype));
                    let solution = paths.with_predecessors().unwrap();
                    assert_eq!(solution.distances.dtype(), dtype);
                    let stops: Vec<usize> = solution.predecessors.unwrap().route(0, 2).unwrap().collect();
                    assert_eq!(stops, [0, 1, 2]);
                    let (weights, sum) = paths.weights(&stops).unwrap().unwrap();
                    assert_eq!((weights.len(), solution.distances.as_ref().get(0, 2)), (2, Some(sum)));
                    assert!(paths.weights(&[2, 0]).unwrap().is_none());
                }
                Err(error) => assert_eq!(error.code(), "unsupported"),
            }
        }
    }
}

#[test]
fn errors_reach_the_caller() {
    let wide: DynMatrix = Matrix::filled(2, 3, 1.0).unwrap().into();
    assert_eq!(DynPaths::new(SemiringId::MinPlus, wide.as_ref()).unwrap_err().code(), "not-square");
    let edges = [(0, 1, Value::Float(0.5))];
    let paths = DynPaths::of_edges(SemiringId::MinPlus, DType::I32, 2, &edges).unwrap();
    assert_eq!(
        paths.distances().unwrap_err().to_string(),
        "element [0, 1] = 0.5 cannot be represented as i32"
    );
    let edges = [(0, 1, Value::Int(-3)), (1, 0, Value::Int(2))];
    let paths = DynPaths::of_edges(SemiringId::MinPlus, DType::F64, 2, &edges).unwrap();
    for method in [Method::Dense, Method::Dijkstra] {
        let error = paths.method(method).distances().unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::NegativeCycle { cycle, weight, .. } if cycle == &[0, 1] && weight.to_f64() == -1.0)
        );
    }
}

/// Cycles that weigh nothing but for roundings: what a GPU closes, or leaves to searches, are the bits and routes of the processor.
#[cfg(feature = "emulator")]
#[test]
fn cycles_about_nothing_on_a_gpu_are_those_of_the_processor() {
    use tilewright::{
        Backend, MaxPlus, MaxTimes, MinTimes,
        paths::{OnGpu, PathSemiring},
    };
    fn same<S: PathSemiring>(gpu: &OnGpu, graphs: u64) {
        for seed in 0..graphs {
            let mut random = common::Random::new(seed);
            let n = 1 + (seed as usize * 23 + 5) % 60;
            let w = common::tilted::tilted::<S>(&mut random, n);
            let paths = Paths::<S>::new(&w).unwrap().method(Method::Dense);
            let (here, there) = (paths.with_predecessors(), paths.device(gpu).with_predecessors());
            match (here, there) {
                (Ok(here), Ok(there)) => assert!(here == there, "{} seed {seed}", S::NAME),
                (Err(here), Err(there)) => assert_eq!(here.to_string(), there.to_string()),
                (here, there) => panic!("{} seed {seed}: {:?}, {:?}", S::NAME, here.err(), there.err()),
            }
        }
    }
    let gpu = OnGpu::open(Backend::Emulator).unwrap();
    same::<MinPlus<f64>>(&gpu, 8);
    same::<MinPlus<f32>>(&gpu, 4);
    same::<MaxPlus<f64>>(&gpu, 4);
    same::<MaxTimes<f64>>(&gpu, 4);
    same::<MinTimes<f32>>(&gpu, 4);
}
