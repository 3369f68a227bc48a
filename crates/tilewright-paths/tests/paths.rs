//! Both methods, predecessors, routes and bounded paths against plain loops.

use crate::common::{Random, graph, plain, weight};
use tilewright_core::{Cancel, ErrorKind, Matrix, MaxMin, MaxPlus, MaxTimes, MinPlus, OrAnd, reference};
use tilewright_paths::{Graph, Method, NO_PREDECESSOR, Options, PathSemiring, Paths};

/// Predecessors by their definition: fewest edges, then the smallest stop before the last. The weights must be exact.
fn defined<S: PathSemiring>(w: &Matrix<S::Weight>, d: &Matrix<S::Weight>) -> Matrix<u32> {
    let n = w.rows();
    let mut predecessors = Matrix::filled(n, n, NO_PREDECESSOR).unwrap();
    for i in 0..n {
        let mut edges = vec![usize::MAX; n];
        edges[i] = 0;
        for length in 1..n {
            for j in 0..n {
                let best = |p: usize| {
                    edges[p] == length - 1 && p != j && {
                        let weight = S::clean(w[(p, j)]);
                        !S::is_absent(weight) && S::finish(S::times(d[(i, p)], weight)) == d[(i, j)]
                    }
                };
                if edges[j] == usize::MAX
                    && let Some(p) = (0..n).find(|&p| best(p))
                {
                    (edges[j], predecessors[(i, j)]) = (length, p as u32);
                }
            }
        }
    }
    predecessors
}

fn agree<S: PathSemiring>(graphs: u64, edge: impl Fn(&mut Random, usize, usize) -> f64) {
    let mut found = [0; 2];
    for seed in 0..graphs {
        let mut random = Random::new(seed + 1000);
        let (n, density) = (random.below(26) as usize, [0.05, 0.15, 0.5, 1.0][random.below(4) as usize]);
        let w = graph::<S>(&mut random, n, density, &edge);
        let sparse = Graph::<S>::of_matrix(w.as_ref()).unwrap();
        for paths in [Paths::<S>::new(&w).unwrap(), Paths::of_graph(&sparse)] {
            for method in [Method::Dense, Method::Dijkstra] {
                let what = format!("{} seed {seed}, {n} vertices, {method}", S::NAME);
                let paths = paths.method(method).threads(1 + seed as usize % 2);
                match (plain::<S>(&w), paths.with_predecessors()) {
                    (Some(d), Ok((distances, predecessors))) => {
                        assert_eq!(distances, d, "{what}");
                        assert_eq!(predecessors.matrix(), &defined::<S>(&w, &d), "{what}");
                        check_routes::<S>(&w, &d, &paths, &predecessors);
                        found[0] += 1;
                    }
                    (None, Err(error)) => {
                        check_cycle::<S>(&w, error.kind());
                        found[1] += 1;
                    }
                    (plain, got) => panic!("{what}: {:?}, plain {}", got.err(), plain.is_some()),
                }
            }
        }
    }
    assert!(found[0] > 0, "{found:?}");
}

fn weight_of<S: PathSemiring>(w: &Matrix<S::Weight>, stops: &[usize]) -> S::Weight {
    let edges = stops.windows(2).map(|edge| S::clean(w[(edge[0], edge[1])]));
    S::finish(edges.fold(S::ONE, S::times))
}

fn check_routes<S: PathSemiring>(
    w: &Matrix<S::Weight>,
    d: &Matrix<S::Weight>,
    paths: &Paths<'_, S>,
    predecessors: &tilewright_paths::Predecessors,
) {
    let n = w.rows();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        match predecessors.route(i, j) {
            None => assert!(i != j && S::is_absent(d[(i, j)])),
            Some(route) => {
                let stops: Vec<usize> = route.collect();
                assert_eq!((stops[0], stops[stops.len() - 1]), (i, j));
                assert!(weight_of::<S>(w, &stops) == d[(i, j)], "{stops:?}");
            }
        }
    }
    if n > 0 {
        let alone = paths.route(0, n - 1).unwrap().map(Vec::from_iter);
        assert_eq!(alone, predecessors.route(0, n - 1).map(Vec::from_iter));
    }
}

fn check_cycle<S: PathSemiring>(w: &Matrix<S::Weight>, error: &ErrorKind) {
    let ErrorKind::NegativeCycle { cycle, weight, .. } = error else { panic!("{error}") };
    let turn: Vec<usize> = cycle.iter().chain(cycle.first()).copied().collect();
    let sum = weight_of::<S>(w, &turn);
    assert!(S::improves(sum, S::ONE), "{error}");
    assert_eq!(tilewright_core::Element::to_value(sum), *weight);
    let mut stops = cycle.clone();
    stops.sort_unstable();
    stops.dedup();
    assert_eq!(stops.len(), cycle.len());
}

/// Few different weights, so that many paths are equally good.
fn few(random: &mut Random, _: usize, _: usize) -> f64 {
    random.below(4) as f64
}

#[test]
fn both_methods_agree_with_the_plain_loop_and_the_definition_of_predecessors() {
    agree::<MinPlus<f64>>(500, |random, _, _| random.below(100) as f64);
    agree::<MinPlus<f32>>(150, few);
    agree::<MinPlus<i16>>(150, few);
    agree::<MinPlus<i32>>(150, few);
    agree::<MinPlus<i64>>(150, few);
    agree::<MaxMin<i32>>(200, few);
    agree::<MaxMin<f64>>(200, |random, _, _| random.unit());
    agree::<MaxTimes<f64>>(200, |random, _, _| (-(random.below(3) as f64)).exp2());
    agree::<OrAnd>(300, |_, _, _| 1.0);
}

#[test]
fn negative_edges_give_routes_and_negative_cycles_are_named() {
    let signed =
        |random: &mut Random, i: usize, j: usize| random.below(30) as f64 - if i < j { 20.0 } else { -20.0 };
    agree::<MinPlus<i64>>(300, signed);
    agree::<MinPlus<f64>>(200, signed);
    agree::<MaxPlus<i32>>(100, |random, i, j| -signed(random, i, j));
    agree::<MaxTimes<f64>>(100, |random, i, j| if i < j { 2.0 } else { (-(random.below(8) as f64)).exp2() });
}

/// The weights of a search are those of paths, multiplied from left to right; routes of the closure are within its bound.
#[test]
fn routes_of_random_floats() {
    let mut random = Random::new(77);
    let n = 150;
    let w = graph::<MinPlus<f64>>(&mut random, n, 0.2, |random, _, _| random.unit());
    let paths = Paths::<MinPlus<f64>>::new(&w).unwrap();
    let (d, predecessors) = paths.method(Method::Dijkstra).with_predecessors().unwrap();
    let (closed, closed_predecessors) = paths.method(Method::Dense).with_predecessors().unwrap();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let bound = n as f64 * f64::EPSILON * d[(i, j)];
        let Some(route) = predecessors.route(i, j) else { continue };
        assert_eq!(weight_of::<MinPlus<f64>>(&w, &Vec::from_iter(route)), d[(i, j)]);
        let other: Vec<usize> = closed_predecessors.route(i, j).unwrap().collect();
        assert!((weight_of::<MinPlus<f64>>(&w, &other) - d[(i, j)]).abs() <= bound);
        assert!((closed[(i, j)] - d[(i, j)]).abs() <= bound);
    }
}

#[test]
fn so_many_edges_and_no_more() {
    let mut random = Random::new(5);
    for seed in 0..60 {
        let n = 2 + random.below(20) as usize;
        // Cycles of any sign: bounded paths are always defined.
        let w = graph::<MinPlus<i64>>(&mut random, n, 0.3, |random, _, _| random.below(20) as f64 - 5.0);
        let mut expected = Matrix::from_fn(n, n, |i, j| if i == j { 0 } else { i64::MAX }).unwrap();
        let with_zeros =
            Matrix::from_fn(n, n, |i, j| if i == j { w[(i, j)].min(0) } else { w[(i, j)] }).unwrap();
        for most in 1..8 {
            let before = expected.clone();
            let (a, b) = (before.as_ref(), with_zeros.as_ref());
            reference::multiply::<MinPlus<i64>>(expected.as_mut(), a, b, &tilewright_core::Update::Replace)
                .unwrap();
            let paths = Paths::<MinPlus<i64>>::new(&w).unwrap().steps(most);
            assert_eq!(paths.distances().unwrap(), expected, "seed {seed}, {most} steps");
            let (d, stops) = paths.with_last_stops().unwrap();
            assert_eq!(d, expected, "seed {seed}, {most} steps");
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let route = paths.route(i, j).unwrap().map(Vec::from_iter).unwrap_or_default();
                let stop = route.iter().rev().nth(1).map_or(NO_PREDECESSOR, |&stop| stop as u32);
                assert_eq!(stops[(i, j)], stop, "seed {seed}, {most} steps, {i} to {j}");
            }
            for j in 0..n {
                match paths.route(0, j).unwrap() {
                    None => assert_eq!(expected[(0, j)], i64::MAX),
                    Some(route) => {
                        let stops: Vec<usize> = route.collect();
                        assert!(stops.len() <= most as usize + 1);
                        assert_eq!(weight_of::<MinPlus<i64>>(&w, &stops), expected[(0, j)], "{stops:?}");
                    }
                }
            }
            assert_eq!(paths.with_predecessors().unwrap_err().code(), "unsupported");
        }
    }
}

#[test]
fn sums_that_leave_the_type_are_computed_in_64_bits_by_both_methods() {
    let n = 40;
    let edges = (0..n).map(|i| (i, (i + 1) % n, 30_000_000));
    let ring = Graph::<MinPlus<i32>>::new(n, edges).unwrap();
    for method in [Method::Dense, Method::Dijkstra] {
        let (d, predecessors) = Paths::of_graph(&ring).method(method).with_predecessors().unwrap();
        assert_eq!(d[(3, 2)], 39 * 30_000_000);
        assert_eq!(predecessors.route(3, 2).unwrap().len(), 40);
        assert_eq!(Paths::of_graph(&ring).method(method).route(3, 1).unwrap().unwrap().len(), 39);
    }
    assert_eq!(Paths::of_graph(&ring).steps(2).distances().unwrap()[(0, 2)], 60_000_000);
    assert_eq!(Paths::of_graph(&ring).steps(30).distances().unwrap()[(0, 30)], 900_000_000);
}

#[test]
fn the_best_of_parallel_edges_counts_and_idle_loops_do_not() {
    let graph =
        Graph::<MinPlus<f64>>::new(2, [(0, 1, 5.0), (0, 0, 0.0), (0, 1, 3.0), (0, 1, 4.0), (1, 1, f64::NAN)])
            .unwrap();
    assert_eq!(graph.all().collect::<Vec<_>>(), [(0, 1, 3.0)]);
    let widest = Graph::<MaxMin<f64>>::new(2, [(0, 1, 5.0), (0, 1, 3.0)]).unwrap();
    assert_eq!(widest.all().collect::<Vec<_>>(), [(0, 1, 5.0)]);
    assert_eq!(Graph::<MinPlus<f64>>::new(2, [(0, 2, 1.0)]).err().unwrap().code(), "unsupported");
    assert_eq!(Graph::<MaxTimes<f64>>::new(2, [(0, 1, -1.0)]).err().unwrap().code(), "outside-domain");
    let lossy = Graph::<MinPlus<i32>>::new(2, [(1, 1, -1)]).unwrap();
    let error = Paths::of_graph(&lossy).distances().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NegativeCycle { cycle, .. } if cycle == &[1]), "{error}");
    assert_eq!(weight::<MinPlus<i32>>(f64::INFINITY), i32::MAX);
}

#[test]
fn work_is_told_and_can_be_ended() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let mut random = Random::new(1);
    let w = graph::<MinPlus<f32>>(&mut random, 200, 0.5, |random, _, _| random.unit());
    for method in [Method::Dense, Method::Dijkstra] {
        let done = AtomicU64::new(0);
        let count = |work| {
            done.fetch_add(work, Ordering::Relaxed);
        };
        let options = Options { progress: Some(&count), ..Options::default() };
        let paths = Paths::<MinPlus<f32>>::new(&w).unwrap().method(method).options(options);
        paths.distances().unwrap();
        let (told, planned) = (done.load(Ordering::Relaxed) as f64, paths.plan().unwrap().work);
        assert!((told / planned - 1.0).abs() < 0.02, "{method}: {told} of {planned}");
        let stop = Cancel::new();
        stop.cancel();
        let options = Options { cancel: Some(&stop), ..Options::default() };
        let error =
            Paths::<MinPlus<f32>>::new(&w).unwrap().method(method).options(options).distances().unwrap_err();
        assert_eq!(error.code(), "cancelled");
    }
}
