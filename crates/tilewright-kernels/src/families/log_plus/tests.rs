use super::*;
use crate::{
    argument::Argument,
    catalogue::find,
    kernel::launch::Launch,
    request::{Batch, Form},
    scalar::Scalar,
};
use tilewright_core::{Problem, Value};

fn request(sides: [usize; 3], dtype: DType) -> Request {
    let [m, n, k] = sides;
    let problem =
        Problem::new(Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)).unwrap();
    Request::new(problem, SemiringId::LogPlus, dtype)
}

fn plan(request: &Request) -> Recipe {
    find("log-plus").unwrap().recipe(request).unwrap()
}

fn entries(recipe: &Recipe) -> Vec<&'static str> {
    recipe.launches.iter().map(|launch| launch.entry).collect()
}

fn argument(launch: &Launch, name: &str) -> Argument {
    launch.arguments.iter().find(|a| a.name == name).unwrap().value.clone()
}

#[test]
fn a_product_of_factors_is_between_passes_over_operands_and_results() {
    let recipe = plan(&request([4096; 3], DType::F32));
    let passes = ["log_plus_scales", "log_plus_exponentials", "simt", "split_k_reduce", "log_plus"];
    assert_eq!(entries(&recipe), passes);
    let product = &recipe.launches[2];
    // No edges, and nothing that is packed again.
    assert!(
        product.program.name.starts_with("simt.plus-times.f32.128x128x8")
            && product.program.name.ends_with(".2201")
    );
    for (name, scratch) in
        [("A", Scratch::Factors.of(0)), ("B", Scratch::Factors.of(1)), ("C", Scratch::Sums.of(0))]
    {
        assert_eq!(argument(product, name), Argument::Pointer(scratch));
    }
    assert_eq!(argument(product, "parts"), Argument::Pointer(Buffer::Workspace(SCRATCHES)));
    assert_eq!(recipe.workspaces[4..7], [4096 * 4096 * 4; 3]);
    assert_eq!(recipe.details[0].0, "sums");
}

#[test]
fn sizes_are_filled_up_where_that_costs_little() {
    let product = |sides, dtype| plan(&request(sides, dtype)).launches[2].clone();
    let sizes = |launch: &Launch| ["M", "N", "K"].map(|name| argument(launch, name));
    let odd = product([4095, 1000, 301], DType::F64);
    assert_eq!(sizes(&odd), [4096, 1024, 320].map(Argument::i32));
    let thin = product([131_072, 16, 16], DType::F32);
    assert_eq!(sizes(&thin), [131_072, 16, 16].map(Argument::i32));
    assert_eq!(sizes(&product([1, 3, 5], DType::F32)), [4, 4, 8].map(Argument::i32));
}

#[test]
fn a_column_major_result_is_that_of_the_transposes() {
    let mut asked = request([300, 70, 100], DType::F32);
    let (a, b) = (asked.problem.a(), asked.problem.b());
    asked.problem = Problem::new(a, b, Layout::col_major(300, 70)).unwrap();
    let recipe = plan(&asked);
    let last = recipe.launches.last().unwrap();
    let found = ["A", "B", "M", "N", "a_row", "a_col", "b_row", "b_col", "c_row", "c_col"];
    let (pointer, i32, i64) = (Argument::Pointer, Argument::i32, Argument::i64);
    let wanted = [
        pointer(Buffer::B),
        pointer(Buffer::A),
        i32(70),
        i32(300),
        i64(1),
        i64(70),
        i64(1),
        i64(100),
        i64(300),
        i64(1),
    ];
    assert_eq!(found.map(|name| argument(last, name)), wanted);
}

#[test]
fn workspaces_keep_the_limit_and_rectangles_cover_every_element() {
    for (sides, count, limit) in [
        ([3000, 2000, 500], 1, 12_000_000),
        ([3000, 2000, 500], 1, 3_000_000),
        ([300, 200, 50], 9, 2_000_000),
        ([20_000, 20_000, 20_000], 1, Request::WORKSPACE),
    ] {
        let [m, n, k] = sides.map(|x| x as isize);
        let batch = Batch { count, a: m * k, b: 0, c: m * n };
        let recipe = plan(&Request { batch, workspace: limit, ..request(sides, DType::F32) });
        assert!(recipe.workspaces.iter().sum::<u64>() <= limit, "{sides:?}");
        let number = |launch: &Launch, name| match argument(launch, name) {
            Argument::Scalar(Scalar::I32(x)) => x as u64,
            other => panic!("{other:?}"),
        };
        let finished = recipe.launches.iter().filter(|launch| launch.entry == "log_plus");
        let area =
            finished.map(|l| number(l, "rows") * number(l, "cols") * number(l, "batches")).sum::<u64>();
        assert_eq!(area, (sides[0] * sides[1] * count) as u64);
        assert!(recipe.launches.len() > 5 && recipe.details.iter().any(|(name, _)| *name == "at a time"));
        // One B for all products.
        let scales = &recipe.launches[0];
        assert_eq!(number(scales, "batches_b"), 1);
        assert_eq!(number(scales, "batches_a") > 1, count > 1);
    }
}

#[test]
fn without_memory_or_terms_every_element_is_computed_from_its_terms() {
    let small = Request { workspace: 0, ..request([100, 50, 30], DType::F64) };
    for asked in [small, request([100, 50, 0], DType::F32)] {
        let recipe = plan(&asked);
        assert_eq!((entries(&recipe), recipe.workspaces.len()), (vec!["log_plus"], 0));
        assert_eq!(recipe.launches[0].role, Role::Product);
        assert!(recipe.launches[0].program.name.ends_with(".from-terms"));
    }
    assert!(plan(&request([0, 5, 5], DType::F32)).launches.is_empty());
}

#[test]
fn the_plain_form_has_the_same_passes() {
    let recipe = plan(&Request { form: Form::Plain, ..request([100, 50, 30], DType::F64) });
    assert_eq!(entries(&recipe), ["log_plus_scales", "log_plus_exponentials", "simt", "log_plus"]);
    assert!(recipe.launches[2].program.name.ends_with(".plain"));
}

#[test]
fn factors_and_other_semirings_are_refused() {
    let kernel = find("log-plus").unwrap();
    let joining = Joining::<Value>::scale(2.0, 0.0);
    let refusal = kernel.recipe(&Request { joining, ..request([8; 3], DType::F32) }).unwrap_err().to_string();
    assert!(refusal.contains("factors are given"), "{refusal}");
    assert!(kernel.recipe(&Request { arg: true, ..request([8; 3], DType::F32) }).is_err());
    let semiring = SemiringId::PlusTimes;
    assert!(kernel.recipe(&Request { semiring, ..request([8; 3], DType::F32) }).is_err());
}
