//! The closure in place against the plain loop.

use crate::common::{Random, graph, plain, weight};
use tilewright_core::{
    Cancel, Element, ErrorKind, Layout, MatMut, Matrix, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes,
    OrAnd,
};
use tilewright_cpu::Isa;
use tilewright_paths::{Options, PathSemiring, close};

/// Sizes about the edges of blocks and tiles; most graphs are small.
fn size(random: &mut Random) -> usize {
    match random.below(20) {
        0 => [0, 1, 2][random.below(3) as usize],
        1 => 60 + random.below(10) as usize,
        2 if random.below(4) == 0 => 120 + random.below(150) as usize,
        _ => 2 + random.below(30) as usize,
    }
}

/// Compares so many graphs bit for bit; gives how many had a cycle that gains.
fn exact<S: PathSemiring>(graphs: u64, edge: impl Fn(&mut Random, usize, usize) -> f64) -> usize {
    let mut cyclic = 0;
    for seed in 0..graphs {
        let mut random = Random::new(seed);
        let (n, density) = (size(&mut random), [0.02, 0.1, 0.5, 1.0][random.below(4) as usize]);
        let w = graph::<S>(&mut random, n, density, &edge);
        let plain = plain::<S>(&w);
        for threads in [1, 2] {
            let mut d = w.clone();
            let closed = close::<S>(d.as_mut(), &Options { threads, ..Options::default() });
            match (&plain, closed) {
                (Some(plain), Ok(())) => {
                    assert_eq!(d, *plain, "{} {}, seed {seed}", S::NAME, S::Weight::DTYPE)
                }
                (None, Err(error)) => {
                    assert_eq!(error.code(), "negative-cycle");
                    cyclic += 1;
                }
                (plain, closed) => panic!("{} seed {seed}: {closed:?}, plain {}", S::NAME, plain.is_some()),
            }
        }
    }
    cyclic
}

fn whole(random: &mut Random, _: usize, _: usize) -> f64 {
    random.below(100) as f64
}

/// Edges against the order of vertices are dear, those in order may be negative: some graphs have a negative cycle.
fn signed(random: &mut Random, i: usize, j: usize) -> f64 {
    random.below(40) as f64 - if i < j { 25.0 } else { -24.0 }
}

#[test]
fn graphs_agree_with_the_plain_loop_on_every_semiring_and_type() {
    exact::<MinPlus<f32>>(500, whole);
    exact::<MinPlus<f64>>(500, whole);
    exact::<MinPlus<i16>>(500, whole);
    exact::<MinPlus<i32>>(500, whole);
    exact::<MinPlus<i64>>(500, whole);
    exact::<MaxMin<f64>>(500, |random, _, _| random.unit() - 0.5);
    exact::<MaxMin<f32>>(200, whole);
    exact::<MaxMin<i32>>(200, whole);
    exact::<MinMax<f64>>(200, whole);
    // Powers of two, whose products are exact.
    exact::<MaxTimes<f64>>(500, |random, _, _| (-(random.below(4) as f64)).exp2());
    exact::<MinTimes<f32>>(100, |random, _, _| random.below(3) as f64 + 1.0);
    exact::<OrAnd>(500, |_, _, _| 1.0);
}

#[test]
fn negative_edges_and_cycles() {
    let cyclic = exact::<MinPlus<i64>>(500, signed);
    assert!((100..900).contains(&cyclic), "{cyclic} of 1000 runs ended at a cycle");
    assert!(exact::<MinPlus<f64>>(200, signed) > 40);
    assert!(exact::<MaxPlus<i32>>(200, |random, i, j| -signed(random, i, j)) > 40);
    assert!(exact::<MaxTimes<f64>>(100, |random, _, _| random.below(3) as f64) > 40);
}

/// So large that few elements are left out by mistake: paths through both halves, and three levels of them.
#[test]
fn large_graphs_of_whole_weights_are_exact() {
    let mut random = Random::new(7);
    for n in [600, 1030] {
        let w =
            graph::<MinPlus<f64>>(&mut random, n, 1.0, |random, _, _| (1 + random.below(1_000_000)) as f64);
        let expected = plain::<MinPlus<f64>>(&w).unwrap();
        let integers = Matrix::from_fn(n, n, |i, j| w[(i, j)] as i32).unwrap();
        for threads in [1, 2] {
            let options = Options { threads, ..Options::default() };
            let (mut d, mut narrow) = (w.clone(), integers.clone());
            close::<MinPlus<f64>>(d.as_mut(), &options).unwrap();
            assert_eq!(d, expected);
            close::<MinPlus<i32>>(narrow.as_mut(), &options).unwrap();
            assert_eq!(narrow, Matrix::from_fn(n, n, |i, j| expected[(i, j)] as i32).unwrap());
        }
    }
    // A grid, where most of all pairs have no edge and paths are long.
    let side = 24;
    let near = |i: usize, j: usize| (i / side).abs_diff(j / side) + (i % side).abs_diff(j % side) == 1;
    let w = graph::<MinPlus<f64>>(&mut random, side * side, 1.0, |random, i, j| {
        if near(i, j) { (1 + random.below(50)) as f64 } else { f64::INFINITY }
    });
    let mut d = w.clone();
    close::<MinPlus<f64>>(d.as_mut(), &Options::default()).unwrap();
    assert_eq!(Some(d), plain::<MinPlus<f64>>(&w));
}

/// The bound of the documentation: `n eps` of the largest sum of magnitudes on a best path.
#[test]
fn random_floats_lie_within_the_bound() {
    let mut random = Random::new(11);
    for n in [100, 600] {
        let w = graph::<MinPlus<f64>>(&mut random, n, 0.5, |random, _, _| random.unit());
        let (mut d, expected) = (w.clone(), plain::<MinPlus<f64>>(&w).unwrap());
        close::<MinPlus<f64>>(d.as_mut(), &Options::default()).unwrap();
        for (x, y) in d.as_slice().iter().zip(expected.as_slice()) {
            assert!((x - y).abs() <= n as f64 * f64::EPSILON * y, "{x} {y}");
        }
        // Prices that a potential makes negative: all cycles stay as long as they were, but for roundings.
        let height: Vec<f64> = (0..n).map(|_| 10.0 * random.unit()).collect();
        let tilted = Matrix::from_fn(n, n, |i, j| w[(i, j)] + height[i] - height[j]).unwrap();
        let mut t = tilted.clone();
        close::<MinPlus<f64>>(t.as_mut(), &Options::default()).unwrap();
        for i in 0..n {
            for j in 0..n {
                let error = (t[(i, j)] - (expected[(i, j)] + height[i] - height[j])).abs();
                assert!(error <= n as f64 * f64::EPSILON * 11.0, "{error}");
            }
        }
    }
}

/// Roundings, too: the steps are the same everywhere.
#[test]
fn every_instruction_set_and_any_threads_give_the_same_bits() {
    fn bits<S: PathSemiring>(w: &Matrix<S::Weight>) {
        let mut first: Option<Matrix<S::Weight>> = None;
        for &isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
            for threads in [1, 2, 3] {
                let mut d = w.clone();
                close::<S>(d.as_mut(), &Options { threads, isa: Some(isa), ..Options::default() }).unwrap();
                assert_eq!(first.get_or_insert_with(|| d.clone()), &d, "{} {isa} {threads}", S::NAME);
            }
        }
    }
    let mut random = Random::new(21);
    bits::<MinPlus<f64>>(&graph::<MinPlus<f64>>(&mut random, 560, 0.7, |random, _, _| random.unit()));
    bits::<MinPlus<f32>>(&graph::<MinPlus<f32>>(&mut random, 300, 1.0, |random, _, _| random.unit()));
    bits::<MaxTimes<f64>>(&graph::<MaxTimes<f64>>(&mut random, 300, 0.4, |random, _, _| random.unit()));
    bits::<MinPlus<i16>>(&graph::<MinPlus<i16>>(&mut random, 300, 0.2, whole));
}

#[test]
fn cycles_of_no_length_harm_nothing() {
    // Potentials alone: every cycle has length zero.
    let mut random = Random::new(3);
    let n = 300;
    let height: Vec<f64> = (0..n).map(|_| random.below(1000) as f64).collect();
    let mut d = Matrix::from_fn(n, n, |i, j| height[i] - height[j]).unwrap();
    close::<MinPlus<f64>>(d.as_mut(), &Options::default()).unwrap();
    for i in 0..n {
        for j in 0..n {
            assert_eq!(d[(i, j)], height[i] - height[j]);
        }
    }
    let mut d = Matrix::filled(70, 70, 0_i32).unwrap();
    close::<MinPlus<i32>>(d.as_mut(), &Options::default()).unwrap();
    assert_eq!(d, Matrix::filled(70, 70, 0).unwrap());
}

#[test]
fn sums_of_integers_may_leave_the_range_of_products() {
    // A ring of 200 heavy edges: in 16 bits paths reach 200 x 150, in 32 bits more than 2^28.
    fn ring<S: PathSemiring>(n: usize, heavy: f64) -> Matrix<S::Weight> {
        let edge = |i, j| if (i + 1) % n == j { weight::<S>(heavy) } else { S::ZERO };
        Matrix::from_fn(n, n, edge).unwrap()
    }
    let mut d = ring::<MinPlus<i16>>(200, 150.0);
    close::<MinPlus<i16>>(d.as_mut(), &Options::default()).unwrap();
    assert_eq!((d[(0, 199)], d[(1, 0)]), (150 * 199, 150 * 199));
    let mut d = ring::<MinPlus<i32>>(200, 10_000_000.0);
    close::<MinPlus<i32>>(d.as_mut(), &Options::default()).unwrap();
    assert_eq!(d[(5, 4)], 1_990_000_000);
    // Too long for the type, and for 64 bits.
    let refused =
        close::<MinPlus<i16>>(ring::<MinPlus<i16>>(200, 200.0).as_mut(), &Options::default()).unwrap_err();
    assert_eq!(refused.code(), "conversion");
    let refused =
        close::<MinPlus<i64>>(ring::<MinPlus<i64>>(200, 1e17).as_mut(), &Options::default()).unwrap_err();
    assert!(refused.to_string().contains("W[0, 1] = 100000000000000000"), "{refused}");
}

#[test]
fn any_layout_is_closed_in_place() {
    let mut random = Random::new(5);
    let w = graph::<MinPlus<i32>>(&mut random, 130, 0.3, whole);
    let expected = plain::<MinPlus<i32>>(&w).unwrap();
    for layout in [Layout::col_major(130, 130), Layout::strided(130, 130, 300, 2)] {
        let mut data = vec![-7; 130 * 300];
        let mut d = MatMut::new(&mut data, layout).unwrap();
        d.fill_with(|i, j| w[(i, j)]);
        close::<MinPlus<i32>>(d.reborrow(), &Options::default()).unwrap();
        assert_eq!(d.as_ref(), expected.as_ref());
        let outside = data.iter().filter(|&&x| x == -7).count();
        assert_eq!(outside, 130 * 300 - 130 * 130);
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let options = Options::default();
    let refused = close::<MinPlus<f32>>(Matrix::filled(2, 3, 0.0).unwrap().as_mut(), &options).unwrap_err();
    assert_eq!(refused.code(), "not-square");
    let mut d = Matrix::from([[0.0, -1.0], [0.5, 0.0]]);
    let refused = close::<MaxTimes<f64>>(d.as_mut(), &options).unwrap_err();
    assert!(refused.to_string().contains("W[0, 1] = -1"), "{refused}");
    let inf = f64::INFINITY;
    let mut d = Matrix::from([[inf, 1.0, inf], [inf, inf, -3.0], [1.5, inf, inf]]);
    match close::<MinPlus<f64>>(d.as_mut(), &options).unwrap_err().kind() {
        ErrorKind::NegativeCycle { cycle, weight, .. } => {
            assert_eq!((cycle.as_slice(), weight.to_f64()), (&[0, 1, 2][..], -0.5))
        }
        other => panic!("{other}"),
    }
    let stop = Cancel::new();
    stop.cancel();
    let options = Options { cancel: Some(&stop), ..options };
    assert_eq!(
        close::<MinPlus<f64>>(Matrix::filled(99, 99, 1.0).unwrap().as_mut(), &options).unwrap_err().code(),
        "cancelled"
    );
}

/// Edges are differences of heights, so that every cycle weighs nothing but roundings.
#[test]
fn the_diagonal_is_one_where_roundings_of_cycles_are_less_than_nothing() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let heights = [0; 4].map(|_| random.below(1000) as f64 / 7.0);
        let edge = |i, j| if i == j { f64::INFINITY } else { heights[j] - heights[i] };
        let mut d = Matrix::from_fn(4, 4, edge).unwrap();
        close::<MinPlus<f64>>(d.as_mut(), &Options::default()).unwrap();
        assert!((0..4).all(|i| d[(i, i)] == 0.0), "seed {seed}: {d:?}");
    }
}
