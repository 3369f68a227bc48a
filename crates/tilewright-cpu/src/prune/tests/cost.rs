//! Whatever the elements, pruning costs little more than all terms do: by counts of what is done, not by time.

use super::{
    Draw,
    data::{DECEIVING, Kind, NATURAL, OF_ITSELF, Product},
};
use crate::{
    compute::{Call, with_all_terms},
    isa::Isa,
    kernel::Vectorised,
    op::Scalar,
    prune::{Account, Model, pays},
};
use tilewright_core::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus};

/// The cost of a product as it is computed, relative to that of all its terms, and whether pruning was begun and not stopped. Checks the
/// result.
fn cost<S: Vectorised<Elem = T, Out = T, Lane = T>, T: Draw + Scalar + Send + Sync>(
    kind: &Kind,
    shape: (usize, usize, usize),
    by_columns: [bool; 2],
    max: bool,
) -> (f64, bool) {
    cost_of::<S, T>(kind.name, Product::new(kind, shape, by_columns, max))
}

/// As [`cost`], over max-times: of the magnitudes of elements, 0 where they are absent.
fn cost_of_times(kind: &Kind, shape: (usize, usize, usize), by_columns: [bool; 2]) -> (f64, bool) {
    let product = Product::<f32>::new(kind, shape, by_columns, true);
    cost_of::<MaxTimes<f32>, f32>(kind.name, product.map(|x| if x.is_finite() { x.abs() } else { 0.0 }))
}

/// The cost of a product; see [`cost`].
fn cost_of<S: Vectorised<Elem = T, Out = T, Lane = T>, T: Draw + Scalar + Send + Sync>(
    name: &str,
    mut product: Product<T>,
) -> (f64, bool) {
    let shape @ (m, n, k) = product.shape;
    let codes = product.codes::<S>();
    let model = Model::new(shape, size_of::<T>(), codes.is_some());
    let all = model.all((m * n * k) as f64);
    let prune = S::prune().unwrap();
    if !pays(shape, size_of::<T>(), codes.is_some(), (prune.kernel)(Isa::best()).by) {
        return (1.0, false);
    }
    let mut spent = model.look(k);
    let mut pruned = false;
    product.compute::<S, _>(2, codes, |mut call: Call<'_, S>| {
        let kernel = &(prune.kernel)(Isa::best());
        let Some(scale) = (prune.scale)(call.a, call.b, kernel.by, &model, call.options, call.isa) else {
            spent += all;
            return with_all_terms(call).map(drop).unwrap();
        };
        let job = call.few_terms(kernel, scale, Account::new(model));
        let outcome = job.run().unwrap();
        spent += job.account.spent();
        pruned = outcome.unpruned.is_empty();
        for part in outcome.unpruned {
            spent += model.all((part.rows.len() * part.cols.len() * part.terms.len()) as f64);
            with_all_terms(call.part(part).unwrap()).unwrap();
        }
    });
    let found = product.bits();
    product.compute::<S, _>(2, codes, with_all_terms).unwrap();
    assert!(found == product.bits(), "{name} {shape:?} {}: wrong", S::NAME);
    (spent / all, pruned)
}

/// The most that kinds of elements may cost, in every type and order.
fn check(kinds: &[Kind], shapes: &[(usize, usize, usize)], most: f64) {
    let mut failures = vec![];
    for &shape in shapes {
        for kind in kinds {
            for by_columns in [[false; 2], [true, false]] {
                let costs = [
                    ("f32", cost::<MinPlus<f32>, _>(kind, shape, by_columns, false)),
                    ("f64", cost::<MaxPlus<f64>, _>(kind, shape, by_columns, true)),
                    ("i16", cost::<MaxPlus<i16>, _>(kind, shape, by_columns, true)),
                    ("i32", cost::<MinPlus<i32>, _>(kind, shape, by_columns, false)),
                    ("i64", cost::<MaxPlus<i64>, _>(kind, shape, by_columns, true)),
                    ("max-min f32", cost::<MaxMin<f32>, _>(kind, shape, by_columns, true)),
                    ("min-max i32", cost::<MinMax<i32>, _>(kind, shape, by_columns, false)),
                    ("max-times f32", cost_of_times(kind, shape, by_columns)),
                ];
                for (element, (cost, _)) in costs {
                    if cost > most {
                        failures.push(format!("{} {element} {shape:?} {by_columns:?}: {cost:.2}", kind.name));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "cost more than {most} of all terms:\n{}", failures.join("\n"));
}

/// Shapes with few rows, with few columns, with few terms, and with a remainder of everything.
const SHAPES: [(usize, usize, usize); 4] =
    [(24, 128, 4096), (128, 128, 256), (300, 131, 1100), (130, 515, 700)];

#[test]
fn natural_elements_cost_little_more_than_all_terms() {
    check(NATURAL, &SHAPES, 1.3);
}

#[test]
fn the_product_of_a_matrix_with_its_transpose_costs_little_more() {
    check(OF_ITSELF, &SHAPES, 1.3);
}

#[test]
fn deceiving_elements_cost_twice_as_much_at_most() {
    check(DECEIVING, &SHAPES, 2.0);
}

/// Random elements are pruned, and so are rows and columns that are absent, in every type.
#[test]
fn few_terms_stay_few() {
    let shape = (512, 384, 2100);
    for kind in NATURAL.iter().filter(|kind| {
        ["uniform", "half of the rows absent", "all absent", "0.1 % present"].contains(&kind.name)
    }) {
        let costs = [
            cost::<MinPlus<f32>, _>(kind, shape, [true, false], false),
            cost::<MaxPlus<f64>, _>(kind, shape, [true, false], true),
            cost::<MinPlus<i16>, _>(kind, shape, [true, false], false),
            cost::<MinPlus<i32>, _>(kind, shape, [true, false], false),
            cost::<MinPlus<i64>, _>(kind, shape, [true, false], false),
            cost::<MaxMin<f64>, _>(kind, shape, [true, false], true),
            cost::<MinMax<i32>, _>(kind, shape, [true, false], false),
            cost_of_times(kind, shape, [true, false]),
        ];
        assert!(costs.iter().all(|&(cost, pruned)| pruned && cost < 0.5), "{}: {costs:?}", kind.name);
    }
}
