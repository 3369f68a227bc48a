//! Graphs whose cycles weigh nothing but for roundings: searches end, distances are right, and routes weigh what is told of them.

use crate::common::{
    self, Random,
    exact::{Scale, epsilon, is_product, number, walks},
    tilted::tilted,
};
use tilewright_core::{
    Cancel, ErrorKind, Matrix, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd,
};
use tilewright_paths::{Graph, Method, Options, PathSemiring, Paths, Predecessors, close};

/// The largest magnitude of a weight, or 1 of products: what the bounds are multiples of.
fn magnitude<S: PathSemiring>(w: &Matrix<S::Weight>) -> f64 {
    let weights = w.as_slice().iter().filter(|&&x| !S::is_absent(x)).map(|&x| number::<S>(x).abs());
    if is_product::<S>() { 1.0 } else { weights.fold(0.0, f64::max) }
}

/// The weight from left to right, and the sum of magnitudes.
fn weigh<S: PathSemiring>(w: &Matrix<S::Weight>, stops: &[usize]) -> (S::Weight, f64) {
    let edges = stops.windows(2).map(|pair| w[(pair[0], pair[1])]);
    assert!(edges.clone().all(|edge| !S::is_absent(edge)), "no edge on {stops:?}");
    let magnitudes = edges.clone().map(|edge| number::<S>(edge).abs()).sum();
    (S::finish(edges.fold(S::ONE, S::times)), magnitudes)
}

/// Whether a route weighs what is told, within `n eps` of its parts.
fn agrees<S: PathSemiring>(w: &Matrix<S::Weight>, stops: &[usize], told: S::Weight) -> bool {
    let (sum, magnitudes) = weigh::<S>(w, stops);
    let (sum, told) = (number::<S>(sum), number::<S>(told));
    let scale = if is_product::<S>() { sum.max(told) } else { magnitudes };
    sum == told || (sum - told).abs() <= w.rows() as f64 * epsilon::<S>() * scale
}

fn check_routes<S: PathSemiring>(w: &Matrix<S::Weight>, d: &Matrix<S::Weight>, predecessors: &Predecessors) {
    let n = w.rows();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        match predecessors.route(i, j).map(Vec::from_iter) {
            None => assert!(S::is_absent(d[(i, j)]), "{}: no route from {i} to {j}", S::NAME),
            Some(stops) => {
                assert_eq!((stops[0], stops[stops.len() - 1]), (i, j));
                assert!(agrees::<S>(w, &stops, d[(i, j)]), "{}: {stops:?} for {:?}", S::NAME, d[(i, j)]);
            }
        }
    }
}

/// What the documentation says of a cycle that is named: its weight, and that it is below the tolerance.
fn check_cycle<S: PathSemiring>(w: &Matrix<S::Weight>, error: &ErrorKind) {
    let ErrorKind::NegativeCycle { cycle, weight, .. } = error else { panic!("{error}") };
    let scale = Scale::of::<S>(w);
    let edges = cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(&i, &j)| w[(i, j)]);
    assert!(edges.clone().all(|edge| !S::is_absent(edge)), "no edge on {cycle:?}");
    let exact = edges.map(|edge| scale.exact::<S>(edge)).reduce(|x, y| x.times(y)).unwrap();
    let gain = scale.excess::<S>(S::ONE, exact).abs();
    assert!(gain > w.rows() as f64 * epsilon::<S>() * magnitude::<S>(w), "{error}");
    assert!(S::improves(S::times(S::ONE, common::weight::<S>(weight.to_f64())), S::ONE), "{error}");
}

/// So many graphs by every method; gives how many had a cycle that gains, and the largest error in units of `n eps max|w|`.
fn property<S: PathSemiring>(graphs: u64, sizes: u64) -> (usize, f64) {
    let (mut cyclic, mut most) = (0, 0.0_f64);
    for seed in 0..graphs {
        let mut random = Random::new(seed + 7000);
        let n = 1 + (seed % sizes) as usize;
        let w = tilted::<S>(&mut random, n);
        let unit = n as f64 * epsilon::<S>() * magnitude::<S>(&w);
        let scale = Scale::of::<S>(&w);
        let exact = walks::<S>(&w, scale);
        let sparse = Graph::<S>::of_matrix(w.as_ref()).unwrap();
        let mut first: Option<bool> = None;
        for paths in [Paths::<S>::new(&w).unwrap(), Paths::of_graph(&sparse)] {
            for method in [Method::Dense, Method::Dijkstra, Method::Auto] {
                let what = format!("{} seed {seed}, {n} vertices, {method}", S::NAME);
                let paths = paths.method(method).threads(1 + seed as usize % 2);
                let found = paths.with_predecessors();
                assert_eq!(*first.get_or_insert(found.is_ok()), found.is_ok(), "{what}");
                let (d, predecessors) = match found {
                    Ok(found) => found,
                    Err(error) => {
                        check_cycle::<S>(&w, error.kind());
                        assert_eq!(paths.distances().unwrap_err().code(), "negative-cycle");
                        assert_eq!(paths.check_cycles().unwrap_err().code(), "negative-cycle");
                        cyclic += 1;
                        continue;
                    }
                };
                for d in [&d, &paths.distances().unwrap()] {
                    for at in 0..n * n {
                        let (found, exact) = (d.as_slice()[at], exact[at]);
                        assert_eq!(S::is_absent(found), exact.is_none(), "{what}");
                        if let Some(exact) = exact {
                            let error = scale.excess::<S>(found, exact).abs();
                            assert!(error <= 2.0 * n as f64 * unit, "{what}: {error} of {unit}");
                            most = most.max(if unit > 0.0 { error / unit } else { error });
                        }
                    }
                }
                check_routes::<S>(&w, &d, &predecessors);
                for to in [0, n / 2, n - 1] {
                    let route = paths.route(n / 3, to).unwrap().map(Vec::from_iter);
                    assert_eq!(route.is_none(), S::is_absent(d[(n / 3, to)]), "{what}");
                    let (sum, error) = (route.map(|stops| weigh::<S>(&w, &stops).0), 2.0 * n as f64 * unit);
                    if let Some(sum) = sum {
                        let told = number::<S>(d[(n / 3, to)]);
                        let scale = if is_product::<S>() { told } else { 1.0 };
                        assert!((number::<S>(sum) - told).abs() <= error * scale, "{what}");
                    }
                }
            }
        }
        let mut closed = w.clone();
        assert_eq!(Some(close::<S>(closed.as_mut(), &Options::default()).is_ok()), first);
    }
    (cyclic, most)
}

fn sums_and_products<S: PathSemiring>(graphs: u64) {
    let (cyclic, most) = property::<S>(graphs, 60);
    println!(
        "{} {}: {graphs} graphs, {cyclic} runs found a cycle, error {most:.3} n eps max|w|",
        S::NAME,
        size_of::<S::Weight>() * 8
    );
    assert!(most <= 8.0, "{most}");
}

#[test]
fn sums_of_floats() {
    sums_and_products::<MinPlus<f64>>(240);
    sums_and_products::<MinPlus<f32>>(120);
    sums_and_products::<MaxPlus<f64>>(120);
}

#[test]
fn products_of_floats() {
    sums_and_products::<MaxTimes<f64>>(120);
    sums_and_products::<MaxTimes<f32>>(120);
    sums_and_products::<MinTimes<f64>>(120);
}

#[test]
fn integers_are_exact() {
    assert_eq!(property::<MinPlus<i64>>(120, 60), (0, 0.0));
    assert_eq!(property::<MaxPlus<i32>>(60, 60), (0, 0.0));
    assert_eq!(property::<MinPlus<i16>>(60, 60), (0, 0.0));
}

/// Nothing is rounded: all methods agree bit for bit.
#[test]
fn bottlenecks_are_exact() {
    fn same<S: PathSemiring>(graphs: u64, edge: fn(&mut Random) -> f64) {
        for seed in 0..graphs {
            let n = 1 + seed as usize % 60;
            let mut random = Random::new(seed);
            let w = common::graph::<S>(&mut random, n, 0.3, |random, _, _| edge(random));
            let paths = Paths::<S>::new(&w).unwrap();
            let (d, predecessors) = paths.method(Method::Dense).with_predecessors().unwrap();
            assert_eq!(Some(&d), common::plain::<S>(&w).as_ref());
            let again = paths.method(Method::Dijkstra).with_predecessors().unwrap();
            assert!(again == (d, predecessors), "{} seed {seed}", S::NAME);
        }
    }
    same::<MaxMin<f64>>(60, |random| random.unit() - 0.5);
    same::<MinMax<f32>>(60, |random| random.unit() - 0.5);
    same::<OrAnd>(60, |_| 1.0);
}

#[test]
fn a_cycle_that_gains_is_found_among_those_that_do_not() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let n = 3 + seed as usize % 50;
        let mut w = tilted::<MinPlus<f64>>(&mut random, n);
        let (i, j) = (random.below(n as u64) as usize, random.below(n as u64 - 1) as usize);
        let j = if j < i { j } else { j + 1 };
        (w[(i, j)], w[(j, i)]) = (1.0, -1.0 - 1e-3);
        for method in [Method::Dense, Method::Dijkstra] {
            let error = Paths::<MinPlus<f64>>::new(&w).unwrap().method(method).distances().unwrap_err();
            check_cycle::<MinPlus<f64>>(&w, error.kind());
        }
    }
}

#[test]
fn the_edge_itself_is_the_route_where_it_weighs_the_distance() {
    let inf = f64::INFINITY;
    let w = Matrix::from([
        [inf, 0.4861576653663252, -1.0, inf],
        [inf, inf, inf, inf],
        [1.0, inf, inf, 0.3044108938074692],
        [inf, 3.0, inf, inf],
    ]);
    for method in [Method::Dense, Method::Dijkstra] {
        let paths = Paths::<MinPlus<f64>>::new(&w).unwrap().method(method);
        let (d, predecessors) = paths.with_predecessors().unwrap();
        assert_eq!(predecessors.route(0, 1).map(Vec::from_iter), Some(vec![0, 1]), "{method}");
        assert_eq!(d[(0, 1)], 0.4861576653663252, "{method}");
        assert_eq!(paths.route(0, 1).unwrap().map(Vec::from_iter), Some(vec![0, 1]));
    }
}

#[test]
fn weights_of_any_size_end() {
    let inf = f64::INFINITY;
    // Sums that leave the range, infinite gains, and the smallest numbers.
    for (w, code) in [
        (Matrix::from([[inf, 1.7e308, inf], [inf, inf, 1.7e308], [-1.7e308, inf, inf]]), None),
        (Matrix::from([[inf, -1.7e308, inf], [inf, inf, -1.7e308], [inf, inf, inf]]), None),
        (Matrix::from([[inf, -inf, inf], [inf, inf, 3.0], [inf, inf, inf]]), None),
        (Matrix::from([[inf, -inf, inf], [5.0, inf, 3.0], [inf, inf, inf]]), Some("negative-cycle")),
        (Matrix::from([[inf, 5e-324, inf], [-5e-324, inf, 5e-324], [inf, inf, inf]]), None),
        (Matrix::from([[inf, 5e-324, inf], [-1e-323, inf, 5e-324], [inf, inf, inf]]), Some("negative-cycle")),
    ] {
        for method in [Method::Dense, Method::Dijkstra] {
            let found = Paths::<MinPlus<f64>>::new(&w).unwrap().method(method).with_predecessors();
            assert_eq!(found.as_ref().err().map(|error| error.code()), code, "{w:?}");
            if let Ok((d, predecessors)) = found {
                check_routes::<MinPlus<f64>>(&w, &d, &predecessors);
            }
        }
    }
    let zero = Matrix::from([[inf, 0.0, inf], [inf, inf, 3.0], [inf, inf, inf]]);
    let d = Paths::<MinTimes<f64>>::new(&zero).unwrap().distances().unwrap();
    assert_eq!((d[(0, 1)], d[(0, 2)]), (0.0, 0.0));
}

#[test]
fn searches_that_relax_again_and_again_are_bounded_and_can_be_ended() {
    // Priorities of 32 bits are equal behind a long edge, so that each of these diamonds could double the work.
    let diamonds = 25;
    let n = 2 * diamonds + 2;
    let mut edges = vec![(n - 1, n - 2, 1e12)];
    for i in 0..diamonds {
        let (top, next, side) = (n - 2 - 2 * i, n - 4 - 2 * i, n - 3 - 2 * i);
        let step = (1_u64 << (diamonds - i)) as f64 / 1024.0;
        edges.extend([(top, next, step), (top, side, step / 4.0), (side, next, step / 4.0)]);
    }
    let graph = Graph::<MinPlus<f64>>::new(n, edges).unwrap();
    let paths = Paths::of_graph(&graph);
    let sparse = paths.method(Method::Dijkstra).distances().unwrap();
    assert_eq!(sparse, paths.method(Method::Dense).distances().unwrap());
    let stop = Cancel::new();
    stop.cancel();
    let options = Options { cancel: Some(&stop), ..Options::default() };
    let w = tilted::<MinPlus<f64>>(&mut Random::new(2), 40);
    for method in [Method::Dense, Method::Dijkstra] {
        let paths = Paths::<MinPlus<f64>>::new(&w).unwrap().method(method).options(options);
        assert_eq!(paths.with_predecessors().unwrap_err().code(), "cancelled");
    }
    assert_eq!(close::<MinPlus<f64>>(w.clone().as_mut(), &options).unwrap_err().code(), "cancelled");
}
