use super::*;
use crate::{layout::Layout, matrix::Matrix, reference, semiring::MaxMin, update::Update};

fn parse(text: &str) -> Expressions {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn expressions_are_those_of_c() {
    let value = |add: &str, x: f64, y: f64| parse(&format!("add={add}; mul=x; zero=0")).add().value(x, y);
    for (text, x, y, expected) in [
        ("x-y-1", 5.0, 2.0, 2.0),
        ("x+y*2", 5.0, 2.0, 9.0),
        ("(x+y)*2/4", 5.0, 3.0, 4.0),
        ("-x*y", 5.0, 3.0, -15.0),
        ("- - x", 5.0, 3.0, 5.0),
        ("x<y ? x : y<=3 ? 7 : 8", 5.0, 3.0, 7.0),
        ("x<y==1", 2.0, 3.0, 1.0),
        ("x>2 && y>2 || !x", 3.0, 1.0, 0.0),
        ("!x || y != 1", 0.0, 1.0, 1.0),
        ("fminf(x, max(y, 0.5e1f))", 9.0, 2.0, 5.0),
        ("fabsf(x) + abs(-y)", -2.0, 3.0, 5.0),
        ("x == INFINITY ? 1 : .25", f64::INFINITY, 0.0, 1.0),
        ("fmin(x, y)", f64::NAN, 3.0, 3.0),
        ("fmax(x, y)", 3.0, f64::NAN, 3.0),
    ] {
        assert_eq!(value(text, x, y), expected, "{text}");
    }
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (text, column, what) in [
        ("add=x+y", 8, "`mul=` is missing"),
        ("", 1, "`add=` is missing"),
        ("add=x+y; mul=x*y; zero", 19, "a name and `=` are expected"),
        ("add=x+y; times=x*y; zero=0", 10, "`times` is none of add, mul"),
        ("add=x+y; add=x*y; zero=0", 10, "`add` is given twice"),
        ("add=x+; mul=x*y; zero=0", 7, "an expression is expected"),
        ("add=x+y); mul=x*y; zero=0", 8, "`)` is not expected"),
        ("add=(x+y; mul=x*y; zero=0", 9, "`)` is expected"),
        ("add=fminf(x y); mul=x*y; zero=0", 13, "`,` is expected"),
        ("add=fminf(x,z); mul=x*y; zero=0", 13, "`z` is none of x, y, inf"),
        ("add=x ? y; mul=x*y; zero=0", 10, "`:` is expected"),
        ("add=x+y; mul=x*y; zero=x", 24, "`x` is none of inf"),
        ("add=x+1.2.3; mul=x*y; zero=0", 7, "`1.2.3` is not a number"),
        ("add=x+1e999; mul=x*y; zero=0", 7, "`1e999` is not a number"),
        ("add=x ⊕ y; mul=x*y; zero=0", 7, "`⊕` is not expected"),
        ("add=x & y; mul=x*y; zero=0", 7, "`&` is not expected"),
    ] {
        let error = text.parse::<Expressions>().unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(&format!("at column {column}, ")) && shown.contains(what), "{text}: {shown}");
        let caret = shown.lines().find(|line| line.trim_start().starts_with('^')).unwrap();
        assert_eq!(caret.chars().position(|c| c == '^'), Some(column + 1), "{shown}");
    }
    let deep = format!("add={}x{}; mul=y; zero=0", "(".repeat(5000), ")".repeat(5000));
    assert!(deep.parse::<Expressions>().is_err());
}

#[test]
fn semirings_pass_and_others_have_a_counter_example() {
    for text in [
        "add=x+y; mul=x*y; zero=0; one=1",
        "add=fminf(x,y); mul=x+y; zero=inf; one=0",
        "add=fmaxf(x,y); mul=fminf(x,y); zero=-inf; one=inf",
        "add=max(x,y); mul=x*y; zero=0; one=1; where=x>=0",
        "add=x<y?x:y; mul=x>y?x:y; zero=inf; one=-inf",
        "add=x||y; mul=x&&y; zero=0; one=1; where=x==0||x==1",
        // Distances with a toll at every stop.
        "add=fminf(x,y); mul=x+y+1; zero=inf; one=-1",
    ] {
        for dtype in [DType::F32, DType::F64] {
            parse(text).check(dtype).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    for (text, dtype, law) in [
        ("add=x-y; mul=x*y; zero=0", DType::F64, "zero is the identity of add"),
        ("add=max(x,y); mul=x*y; zero=0", DType::F32, "zero is the identity of add"),
        ("add=fminf(x,y); mul=x+y; zero=0", DType::F32, "zero is the identity of add"),
        ("add=fminf(x,y); mul=x*y; zero=inf", DType::F32, "zero annihilates"),
        ("add=x+y; mul=x*y; zero=0; one=2", DType::I32, "one is the identity of mul"),
        ("add=x+y; mul=x; zero=0", DType::F64, "zero annihilates"),
        ("add=x+y; mul=x*y*y; zero=0", DType::F64, "mul distributes over add"),
        ("add=x; mul=x*y; zero=0", DType::F64, "zero is the identity of add"),
        // The extreme integer does not stay where it is.
        ("add=min(x,y); mul=x+y; zero=inf", DType::I32, "zero annihilates"),
        ("add=min(x,y); mul=x+0.5; zero=inf", DType::I32, "numbers of the type"),
    ] {
        let error = parse(text).check(dtype).unwrap_err();
        assert!(error.to_string().contains(law), "{text}: {error}");
        assert_eq!(error.code(), "unsupported");
    }
    let error = parse("add=x+y; mul=x*y; zero=0").check(DType::Bool).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("f32")), "{error}");
}

#[test]
fn products_are_those_of_the_built_in_semiring() {
    let text = parse("add=fmaxf(x,y); mul=fminf(x,y); zero=-inf; where=x<100");
    let a = Matrix::from_fn(4, 5, |i, j| ((i * 7 + j * 3) % 11) as f32).unwrap();
    let mut c = Matrix::filled(4, 4, 3.0).unwrap();
    let mut expected = c.clone();
    for joins in [false, true] {
        text.multiply(c.as_mut(), a.as_ref(), a.as_ref().t(), joins).unwrap();
        let update = if joins { Update::Accumulate } else { Update::Replace };
        let (to, b) = (expected.as_mut(), a.as_ref().t());
        reference::multiply::<MaxMin<f32>>(to, a.as_ref(), b, &update).unwrap();
        assert!(c.as_ref() == expected.as_ref());
    }
    // Zeros are positive, and an old NaN is as absent as a term that is one.
    let [zero, one] = [-0.0f32, 1.0].map(|x| Matrix::filled(1, 1, x).unwrap());
    let mut c = Matrix::filled(1, 1, f32::NAN).unwrap();
    let reliable = parse("add=fmaxf(x,y); mul=x*y; zero=-inf");
    reliable.multiply(c.as_mut(), zero.as_ref(), one.as_ref(), true).unwrap();
    assert_eq!(c[(0, 0)].to_bits(), 0);
    c[(0, 0)] = f32::NAN;
    let none = Matrix::filled(1, 0, 0.0f32).unwrap();
    text.multiply(c.as_mut(), none.as_ref(), none.as_ref().t(), true).unwrap();
    assert_eq!(c[(0, 0)], f32::NEG_INFINITY);
    assert!(text.selects::<f32>() && !parse("add=x+y; mul=x*y; zero=0").selects::<f32>());
    let large = [1.0f32, 100.0];
    let large = MatRef::new(&large, Layout::row_major(1, 2)).unwrap();
    let error = text.check_elements(large, large.t()).unwrap_err();
    assert!(error.code() == "outside-domain" && error.to_string().contains("100"), "{error}");
}

#[test]
fn laws_are_tried_once_for_each_type() {
    let halves: Expressions = "add=max(x,y); mul=min(x,y); zero=0.5; where=x>=0.5".parse().unwrap();
    let copy = halves.clone();
    for _ in 0..2 {
        halves.check(DType::F32).unwrap();
        // What holds for floats says nothing of integers.
        assert_eq!(halves.check(DType::I32).unwrap_err().code(), "unsupported");
        assert_eq!(halves.check(DType::F16).unwrap_err().code(), "unsupported");
    }
    assert!(halves.holds.on(DType::F32).unwrap().load(Relaxed) && halves.holds.on(DType::F16).is_none());
    assert!(
        !halves.holds.on(DType::F64).unwrap().load(Relaxed)
            && !halves.holds.on(DType::I32).unwrap().load(Relaxed)
    );
    assert!(halves == copy && halves.clone().holds.on(DType::F32).unwrap().load(Relaxed));
}

#[test]
fn numbers_are_those_of_the_element_type() {
    fn zero<T: Cell>(text: &str) -> Option<T> {
        let text: Expressions = format!("add=x; mul=x; zero={text}").parse().unwrap();
        text.zero_value(T::DTYPE).and_then(|value| T::from_value(value, crate::Extremes::Refuse))
    }
    for (text, expected) in [
        ("-inf", Some(i32::MIN)),
        ("-INFINITY", Some(i32::MIN)),
        ("--inf", Some(i32::MAX)),
        ("inf", Some(i32::MAX)),
        ("-2147483648", Some(i32::MIN)),
        ("-(2147483648)", Some(i32::MIN)),
        ("2147483647", Some(i32::MAX)),
        ("-2147483647-1", Some(i32::MIN)),
        ("2147483648", None),
        ("-2147483649", None),
        ("- -2147483648", None),
        ("-0", Some(0)),
        ("1e3", Some(1000)),
        ("-2.50e1", Some(-25)),
        ("100.00e-2f", Some(1)),
        (".5", None),
        ("1e-1", None),
        ("1e300", None),
        ("0.0e999999999999999999999", Some(0)),
    ] {
        assert_eq!(zero::<i32>(text), expected, "{text}");
    }
    for (text, expected) in [
        ("9007199254740993", Some(9_007_199_254_740_993)),
        ("9007199254740993.0", Some(9_007_199_254_740_993)),
        ("9.007199254740993e15", Some(9_007_199_254_740_993)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("99999999999999999999999999999999999999999999", None),
        ("1e18", Some(1_000_000_000_000_000_000)),
        ("1e19", None),
        ("-inf", Some(i64::MIN)),
    ] {
        assert_eq!(zero::<i64>(text), expected, "{text}");
    }
    // Once, and not by f64: between two f32, a little above the middle.
    let above = "1.000000059604644775390625000000000000001";
    assert_eq!(zero::<f32>(above), Some(1.0 + f32::EPSILON));
    assert_eq!(zero::<f32>("1e39"), None);
    assert_eq!(zero::<f64>("-1e39"), Some(-1e39));
    assert_eq!(zero::<f32>("-inf"), Some(f32::NEG_INFINITY));
    assert_eq!(zero::<f64>("99999999999999999999999999999999999999999999"), Some(1e44));
    for octal in ["017", "00"] {
        assert!(format!("add=x; mul=x; zero={octal}").parse::<Expressions>().is_err());
    }
}

#[test]
fn integers_of_conditions_and_operations_are_exact() {
    let large = 9_007_199_254_740_993_i64;
    let text = parse(&format!("add=min(x,y); mul=max(x,y); zero=inf; where=x<={large}||x==inf"));
    text.check(DType::I64).unwrap();
    assert!(text.admits(large) && !text.admits(large + 1) && text.admits(i64::MAX) && text.admits(i64::MIN));
    let text = parse("add=max(x,y); mul=min(x,y); zero=-inf; one=inf");
    text.check(DType::I32).unwrap();
    let least = Matrix::filled(1, 1, i32::MIN).unwrap();
    let mut c = Matrix::filled(1, 1, 5).unwrap();
    text.multiply(c.as_mut(), least.as_ref(), least.as_ref(), false).unwrap();
    assert_eq!((c[(0, 0)], text.zero::<i32>(), text.one::<i32>()), (i32::MIN, i32::MIN, Some(i32::MAX)));
    for (text, number) in [
        ("add=max(x,y); mul=min(x,y); zero=-2147483649", "-2147483649"),
        ("add=max(x,y); mul=min(x,y); zero=-inf; one=4294967296", "4294967296"),
        ("add=max(x,y); mul=x<0.25?x:y; zero=-inf", "0.25"),
        ("add=max(x,y); mul=min(x,y); zero=-inf; where=x<3000000000", "3000000000"),
    ] {
        let error = parse(text).check(DType::I32).unwrap_err().to_string();
        assert!(error.contains(&format!("i32 has no {number}")), "{text}: {error}");
    }
}

/// Some three thousand texts: each of a few, with a character in the place of each of its own, before it, or none. None of them panics, and
/// what is refused is shown at a place of the text.
#[test]
fn mutated_texts_are_refused_or_parsed() {
    let originals = [
        "add=fminf(x,y); mul=x+y; zero=inf; one=0",
        "add=x<y?x:(y); mul=!x||-y>=1e-3f; zero=-inf; where=x!=2",
        " add = max( x , y ) ;mul=abs(x)*2.5; zero= - 7",
    ];
    let others = [
        "",
        "é",
        "⊕",
        "\u{1f600}",
        "\u{0}",
        "\u{202e}",
        "(",
        ")",
        ",",
        ":",
        "?",
        ";",
        "=",
        "-",
        "9",
        ".",
        "e",
        "\n",
    ];
    let mut count = 0;
    for original in originals {
        for (at, own) in original.char_indices() {
            for other in others {
                for end in [at, at + own.len_utf8()] {
                    let text = format!("{}{other}{}", &original[..at], &original[end..]);
                    if let Err(error) = text.parse::<Expressions>() {
                        let shown = error.to_string();
                        assert!(shown.lines().any(|line| line.trim_start().starts_with('^')), "{shown}");
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 3000, "{count}");
}

#[test]
fn a_message_shows_the_place_and_what_is_around_it() {
    let terms = "x+".repeat(20_000);
    for (text, at, mark) in [
        (format!("add={terms}z; mul=x; zero=0"), 40_005, "^"),
        (format!("add=x; mul=x; zero=0; {}=1", "é".repeat(50_000)), 23, "^"),
        (format!("add=x; mul=x; zero={}", "1".repeat(50_000)), 20, "^"),
        ("é".repeat(50_000), 1, "^"),
    ] {
        let error = text.parse::<Expressions>().unwrap_err().to_string();
        assert!(error.chars().count() < 400, "{error}");
        // The longest of them is refused for its length, before its last name.
        assert!(
            error.contains(&format!("at column {at}, ")) || error.contains("more than 4096 parts"),
            "{error}"
        );
        assert!(error.contains(mark), "{error}");
    }
    let long = format!("add=x+y; mul=x; zero=0{}", " ".repeat(50_000));
    let error = parse(&long).check(DType::F64).unwrap_err().to_string();
    assert!(error.chars().count() < 300, "{error}");
    let place =
        "add=fminf(x,y); mul=x+y; zero=inf; where=x>q || x<1111111111111111111111111111111111111111111";
    let error = place.parse::<Expressions>().unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[1], "  …); mul=x+y; zero=inf; where=x>q || x<111111111111111111111111…", "{error}");
    assert_eq!(lines[2].find('^'), lines[1].find('q').map(|at| at - "…".len() + 1), "{error}");
    let short = "add=x; mul=x;\nzero=0; where=x>q && x<1234567890123";
    let error = short.parse::<Expressions>().unwrap_err().to_string();
    assert!(error.contains(&short.replace('\n', " ")), "{error}");
}
