use super::*;
use crate::{Form, Program, Recipe, Request, Role, catalogue::find};
use tilewright_core::{Joining, Layout, Problem};

fn own(text: &str, dtype: DType) -> UserSemiring {
    UserSemiring::of_expressions(&text.parse().unwrap(), dtype).unwrap()
}

fn recipe(own: UserSemiring, [m, n, k]: [usize; 3], c: Layout) -> Recipe {
    let problem = Problem::new(Layout::row_major(m, k), Layout::row_major(k, n), c).unwrap();
    find("simt").unwrap().recipe(&Request::with_own(problem, own)).unwrap()
}

/// The program that multiplies.
fn program(recipe: &Recipe) -> Program {
    let product = recipe.launches().iter().find(|launch| launch.role() == Role::Product);
    product.unwrap().program().clone()
}

const SHORTEST: &str = "add=fminf(x,y); mul=x+y; zero=inf";

#[test]
fn a_text_is_kept_once_for_each_type() {
    let [a, b, other] = [DType::F32, DType::F32, DType::F64].map(|dtype| own(SHORTEST, dtype));
    assert!(a == b && a != other && a != a.exchanged());
    assert!(core::ptr::eq(a.name(), b.name()));
}

#[test]
fn each_operation_is_a_line_and_numbers_are_bits() {
    let header = own("add=max(x,y); mul=y!=0 ? x : 0; zero=0; where=x>=0", DType::I64).header();
    let times = "    static __device__ T times(T x, T y)
    {
        const T v0 = y;
        const T v1 = (long long)(0x0ull);
        const T v2 = T(v0 != v1);
        const T v3 = x;
        const T v4 = (long long)(0x0ull);
        const T v5 = v2 != T(0) ? v3 : v4;
        return v5;
    }
";
    assert!(header.contains(times), "{header}");
    assert!(
        header.contains("joined_term(T sum, T term) { return Largest<T>::select(sum, term); }"),
        "{header}"
    );
    let least = own("add=max(x,y); mul=min(min(x,y),-2147483647); zero=-inf", DType::I32).header();
    assert!(
        least.contains("const T v3 = int(0x80000001u);")
            && least.contains("zero() { return int(0x80000000u); }"),
        "{least}"
    );
    let large = own("add=min(x,y); mul=max(max(x,y),9007199254740993); zero=inf", DType::I64).header();
    assert!(large.contains("const T v3 = (long long)(0x20000000000001ull);"), "{large}");
    let floats = own("add=x+y; mul=x*y*1; zero=0", DType::F32).header();
    assert!(floats.contains("__uint_as_float(0x3f800000u)") && floats.contains("return add(sum, term);"));
}

#[test]
fn a_user_s_text_does_not_get_into_the_program() {
    let text = "add=fminf(x,y); // #include\n mul=x+y; zero=inf";
    assert!(text.parse::<Expressions>().is_err());
    // Spaces and names are the user's, and the header is the same.
    assert_eq!(own(SHORTEST, DType::F32), own(" add = min( x,y );mul=(x)+y ;zero=INFINITY", DType::F32));
}

#[test]
fn programs_are_told_apart_by_their_text_and_come_without_ptx() {
    let programs = [SHORTEST, "add=fmaxf(x,y); mul=x+y; zero=-inf"]
        .map(|text| program(&recipe(own(text, DType::F32), [64; 3], Layout::row_major(64, 64))));
    assert!(programs[0] != programs[1] && programs[0].key() != programs[1].key());
    assert!(programs.iter().all(|program| program.shipped_ptx().is_none()));
    assert!(programs[0].headers().iter().any(|(name, _)| *name == "own.cuh"));
    assert!(programs[0].name().starts_with("simt.expressions.f32"), "{}", programs[0].name());
}

#[test]
fn no_product_has_its_factors_exchanged() {
    let product = |c| {
        let program = program(&recipe(own(SHORTEST, DType::F32), [64; 3], c));
        program.headers().iter().map(|(_, text)| (*text).to_owned()).collect::<String>()
    };
    assert!(product(Layout::row_major(64, 64)).contains("times(a, b)"));
    assert!(product(Layout::col_major(64, 64)).contains("times(b, a)"));
}

#[test]
fn sums_are_split_where_any_order_will_do() {
    let thin = |any_order| {
        let zero = Value::Int(0);
        let own =
            UserSemiring::of_cuda("first", DType::I32, ["x ? x : y", "x * y"], zero, any_order).unwrap();
        recipe(own, [64, 64, 100_000], Layout::row_major(64, 64))
    };
    let product = |recipe: &Recipe| {
        let parts = recipe.launches().iter().map(|launch| launch.parts()).max();
        let slices = recipe.details().iter().find(|(name, _)| name.starts_with("slices")).unwrap().1.clone();
        (parts, slices)
    };
    assert!(product(&thin(true)).0 > Some(1));
    assert_eq!(product(&thin(false)), (Some(1), "1".into()));
    assert!(thin(false).rejected().iter().any(|r| r.reason.contains("in another order")));
}

#[test]
fn the_old_c_is_joined_where_it_is_asked_for() {
    let l = Layout::row_major(8, 8);
    for (text, zero) in [(SHORTEST, f32::INFINITY), ("add=x+y; mul=x*y; zero=0", 0.0)] {
        let request = Request::with_own(Problem::new(l, l, l).unwrap(), own(text, DType::F32));
        assert_eq!(request.beta(), Scalar::F32(zero));
        let joined = Request { joining: Joining::Accumulate, ..request }.beta();
        assert!(joined != Scalar::F32(zero), "{joined}");
    }
}

#[test]
fn other_kernels_and_other_types_refuse() {
    let l = Layout::row_major(8, 8);
    let request = Request::with_own(Problem::new(l, l, l).unwrap(), own(SHORTEST, DType::F32));
    assert!(find("naive").unwrap().recipe(&request).is_err());
    assert!(find("simt").unwrap().recipe(&Request { dtype: DType::F64, ..request }).is_err());
    assert!(find("simt").unwrap().recipe(&Request { form: Form::Plain, ..request }).is_ok());
    let scaled = Request { joining: Joining::<Value>::scale(2.0, 1.0), ..request };
    assert!(find("simt").unwrap().recipe(&scaled).is_err());
    let error = UserSemiring::of_cuda("bytes", DType::I8, ["x", "y"], Value::Int(0), true).unwrap_err();
    assert!(error.hint().unwrap().contains("f32, f64, i32, i64"));
}
