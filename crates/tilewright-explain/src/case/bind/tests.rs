#![allow(clippy::unwrap_used)]
use super::*;
use tilewright_emulator::{AddressMode, Filter, TextureShape, ptx_isa::Type, tensor_map::TensorMap};

const SOURCE: &str =
    "struct Params { float scale; int n; float* data; unsigned char tag[4]; float2 origin; };
    struct Image { cudaTextureObject_t image; int width; };
    struct Globals { int n; CUtensorMap map; };
    struct Rows { int h, w; int at(int x, int y) const { return x * w + y; } };
    template <typename T, typename L> class View { public: T *ptr; L layout; };";

fn parameter(name: &str, ty: &str, bytes: usize, cpp: Option<&str>) -> Parameter {
    let cpp = cpp.map(|text| text.parse().unwrap());
    Parameter {
        name: name.into(),
        ptx_name: format!("k_param_{name}"),
        ty: Type::parse(ty).unwrap(),
        bytes,
        cpp,
        declared: None,
    }
}

fn bound(parameters: &[Parameter], arguments: &[(&str, &str)]) -> Result<Bound, String> {
    let arguments: Vec<_> = arguments.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let load = |name: &str| match name {
        "a.csv" => Ok(Array::parse("a.csv", "f64[2]:0.5").unwrap().unwrap()),
        _ => Err(unsupported(name.to_owned(), "no files here", "")),
    };
    let variables = [parameter("table", "b8", 16, None), parameter("factor", "f32", 4, None)];
    let launched = Launched {
        parameters,
        variables: &variables,
        sources: &[SOURCE],
        arguments: &arguments,
        load: &load,
    };
    launched
        .check(false)
        .and_then(|_| bind(&launched))
        .map_err(|e| format!("{e}; {}", e.hint().unwrap_or_default()))
}

/// As from PTX alone.
fn untyped(arguments: &[(&str, &str)]) -> Result<Bound, String> {
    let parameters =
        [parameter("p", "u64", 8, None), parameter("n", "u32", 4, None), parameter("x", "f32", 4, None)];
    bound(&parameters, arguments)
}

fn typed(cpp: &str, ptx: &str, bytes: usize, text: &str) -> Result<Bound, String> {
    bound(&[parameter("v", ptx, bytes, Some(cpp))], &[("v", text)])
}

fn bytes_of(bound: &Bound) -> &[u8] {
    match &bound.arguments[0] {
        Argument::Bytes { bytes, .. } => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_indices_and_types() {
    let bound = untyped(&[("p", "f32[8]:ones"), ("k_param_n", "-1"), ("2", "3")]).unwrap();
    assert_eq!(bound.arguments[0], Argument::Pointer(0));
    assert_eq!((bound.arrays[0].name.as_str(), bound.arrays[0].columns()), ("p", 8));
    assert_eq!(bound.arguments[1], Argument::bytes(vec![255; 4]));
    assert_eq!(bound.arguments[2], Argument::bytes(3.0_f32.to_le_bytes().to_vec()));
}

#[test]
fn mistakes_are_named() {
    for (arguments, word) in [
        (vec![("p", "f32[8]"), ("n", "1")], "x is missing"),
        (vec![("q", "1")], "no such parameter"),
        (vec![("p", "f32[8]"), ("n", "4294967296"), ("x", "1")], "does not fit"),
        (vec![("p", "f32[8]"), ("n", "1.5"), ("x", "1")], "no floating-point"),
        (vec![("p", "f32[8]"), ("n", "f32[8]"), ("x", "1")], "no pointer"),
        (vec![("p", "a.npy"), ("n", "1"), ("x", "1")], "no files here"),
        (vec![("p", "f32[8]"), ("n", "1"), ("n", "2"), ("x", "1")], "n is given already, as n=1"),
        (vec![("p", "f32[8]"), ("n", "1"), ("x", "1"), ("k_param_n", "2")], "n is given already, as n=1"),
        (vec![("p", "f32[8]"), ("n", "1"), ("x", "1"), ("2", "2")], "x is given already, as x=1"),
        (vec![("p", "f32[8]"), ("n", "1"), ("x", "1e39")], "does not fit"),
        (vec![("p", "f32[8]"), ("n", "x / 0"), ("x", "1")], "division by zero"),
        (vec![("p", "f32[8]"), ("n", "n"), ("x", "1")], "no files here"),
        (vec![("p", "q"), ("q", "r"), ("r", "p"), ("n", "1"), ("x", "1")], "too deep"),
    ] {
        let error = untyped(&arguments).unwrap_err();
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

#[test]
fn sizes_are_expressions_of_others() {
    let bound =
        untyped(&[("M", "6"), ("N", "M+1"), ("p", "i32[M,N]:range"), ("n", "M*N"), ("x", "ceil_div(N,2)")])
            .unwrap();
    assert_eq!(bound.arrays[0].shape, [6, 7]);
    assert_eq!(bound.arguments[1], Argument::bytes(vec![42, 0, 0, 0]));
    assert_eq!(bound.arguments[2], Argument::bytes(4.0_f32.to_le_bytes().to_vec()));
    // A name that nobody speaks of is a mistake.
    assert!(
        untyped(&[("K", "6"), ("p", "f32[2]"), ("n", "1"), ("x", "1")])
            .unwrap_err()
            .contains("no such parameter")
    );
}

#[test]
fn numbers_of_every_type() {
    for (cpp, ptx, size, text, bytes) in [
        ("__half", "b8", 2, "1.5", vec![0x00, 0x3e]),
        ("__nv_bfloat16", "b8", 2, "1", vec![0x80, 0x3f]),
        ("bool", "u8", 1, "true", vec![1]),
        ("unsigned char", "u8", 1, "255", vec![255]),
        ("char2", "b8", 2, "{-1,2}", vec![255, 2]),
        ("float2", "b8", 8, "1, -2", [1.0_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat()),
        ("int4", "b8", 16, "1,2,3,4", [1, 2, 3, 4_i32].map(i32::to_le_bytes).concat()),
        ("float2", "b8", 8, "{1, -2}", [1.0_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat()),
        ("unsigned long long", "u64", 8, "18446744073709551615", vec![255; 8]),
        ("Unknown", "b8", 3, "bytes:00 ff 10", vec![0, 255, 16]),
    ] {
        assert_eq!(bytes_of(&typed(cpp, ptx, size, text).unwrap()), bytes, "{cpp}");
    }
    for (cpp, ptx, size, text, words) in [
        ("__half", "b8", 2, "1e6", "cannot be represented as f16"),
        ("unsigned char", "u8", 1, "256", "cannot be represented as u8"),
        ("float4", "b8", 16, "{1,2}", "2 numbers are given, float4 has 4"),
        ("float4", "b8", 16, "1,2,3", "3 numbers are given, float4 has 4; v is float4, as in 1,2,3,4"),
        ("Unknown", "b8", 3, "bytes:00", "1 bytes are given, it has 3"),
        ("Unknown", "b8", 3, "bytes:0x", "hexadecimal"),
        ("Unknown", "b8", 3, "{1}", "its members are not known"),
        ("int", "u32", 4, "many", "neither a number nor an expression"),
    ] {
        let error = typed(cpp, ptx, size, text).unwrap_err();
        assert!(error.contains(words), "{cpp}: {error}");
    }
}

#[test]
fn elements_fit_the_pointer() {
    let of = |cpp: &str, text: &str| typed(cpp, "u64", 8, text);
    for (cpp, text) in [
        ("float*", "f32[4]"),
        ("const float4*", "f32[8]"),
        ("float*", "float4[2]"),
        ("float2*", "complex64[2]"),
        ("unsigned int*", "i32[4]"),
        ("unsigned short*", "f16[4]"),
        ("unsigned char*", "f64[4]"),
        ("void*", "f64[4]"),
        ("Params*", "u8[32]"),
    ] {
        assert!(of(cpp, text).is_ok(), "{cpp} {text}");
    }
    for (cpp, text) in [
        ("float*", "f64[4]"),
        ("float*", "i32[4]"),
        ("float4*", "f32[6]"),
        ("__half*", "bf16[4]"),
        ("float**", "f32[4]"),
    ] {
        let error = of(cpp, text).unwrap_err();
        assert!(error.contains("its elements are") && error.contains("the kernel's pointer is"), "{error}");
    }
    // Numbers of a text become what the kernel wants.
    assert_eq!(of("float*", "a.csv").unwrap().arrays[0], Array::parse("v", "f32[2]:0.5").unwrap().unwrap());
    assert!(of("int*", "a.csv").unwrap_err().contains("0.5 cannot be represented as i32"));
}

#[test]
fn members_of_structs() {
    let params = |text: &str| typed("Params", "b8", 32, text);
    let bound = params("{data=f32[4]:ones, n=3, scale=0.5, tag={1,2,3,4}, origin={7,8}}").unwrap();
    let Argument::Bytes { bytes, pointers } = &bound.arguments[0] else { panic!() };
    assert_eq!(pointers, &[(8, 0)]);
    assert_eq!(bound.arrays[0].name, "v.data");
    let expected = [
        0.5_f32.to_le_bytes(),
        3_i32.to_le_bytes(),
        [0; 4],
        [0; 4],
        [1, 2, 3, 4],
        [0; 4],
        7.0_f32.to_le_bytes(),
        8.0_f32.to_le_bytes(),
    ];
    // float2 lies at a multiple of 8.
    assert_eq!(bytes[..20], expected.concat()[..20]);
    assert_eq!(bytes[24..], expected.concat()[24..]);
    // An instance of a template, with a struct in it.
    let view = |text: &str| typed("View<float, Rows>", "b8", 16, text);
    let bound = view("{ptr=f32[4]:ones, layout={h=2, w=3}}").unwrap();
    let Argument::Bytes { bytes, pointers } = &bound.arguments[0] else { panic!() };
    assert_eq!((pointers, &bytes[8..]), (&vec![(0, 0)], &[2, 0, 0, 0, 3, 0, 0, 0][..]));
    assert!(view("{f32[4], 3}").unwrap_err().contains("layout: Rows is a list of its members in braces"));
    assert!(view("{f32[4], {1}}").unwrap_err().contains("1 members are given, it has h, w"));
    assert_eq!(bytes_of(&params("{0.5, 3, f32[4], 9, {7,8}}").unwrap())[16..20], [9; 4]);
    for (text, words) in [
        ("{1, 2}", "2 members are given, it has scale, n, data, tag, origin"),
        ("{scale=1, n=1, data=f32[1], tag=1, other=1}", "the member origin is missing"),
        ("{0.5, 3.5, f32[4], 9, {7,8}}", "n: 3.5 cannot be represented as i32"),
        ("{0.5, 3, f32[4], {1,2}, {7,8}}", "tag: 2 elements are given, it has 4"),
        ("{0.5, 3, f64[4], 9, {7,8}}", "its elements are f64"),
        ("{0.5, 3, f32[4], 9, 7}", "origin: float2 is a list"),
    ] {
        let error = params(text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn addresses_in_arrays() {
    let parameters =
        [parameter("rows", "u64", 8, Some("float**")), parameter("out", "u64", 8, Some("float*"))];
    let bound = bound(
        &parameters,
        &[("rows", "[first, f32[2]:7, out]"), ("first", "f32[4]:ones"), ("out", "f32[3]")],
    )
    .unwrap();
    let names: Vec<&str> = bound.arrays.iter().map(|array| array.name.as_str()).collect();
    // Variables come last.
    assert_eq!(names, ["rows", "first", "rows[1]", "out", "table", "factor"]);
    let links: Vec<_> = bound.links.iter().map(|link| (link.array, link.offset, link.target)).collect();
    assert_eq!(links, [(0, 0, 1), (0, 8, 2), (0, 16, 3)]);
    assert_eq!(bound.arguments, [Argument::Pointer(0), Argument::Pointer(3)]);
    let error = super::tests::bound(&parameters, &[("rows", "[f64[2]]"), ("out", "f32[3]")]).unwrap_err();
    assert!(error.contains("its elements are f64"), "{error}");
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert!(super::tests::bound(&parameters, &[("rows", deep.as_str()), ("out", "f32[3]")]).is_err());
}

#[test]
fn textures_and_variables() {
    let bound = typed("unsigned long long", "u64", 8, "texture:f32[4]").unwrap();
    assert_eq!(bound.arguments, [Argument::Texture(TextureOver::by_index(1, 0))]);
    for (text, words) in [
        ("texture:f64[4]", "and not f64"),
        ("texture:float3[4]", "and not float3"),
        ("texture:bool[4]", "and not bool"),
        ("texture:f32[2,2,2,2]", "one to three dimensions"),
        ("texture:f32[0]", "at least one texel"),
        ("texture(layered):f32[4]", "a texture with layers is over [layers, width]"),
        ("texture(cube):f32[6,2,3]", "a cube is an array [6, n, n]"),
        ("texture(cube,layered):f32[7,2,2]", "layers of cubes"),
        ("texture(wrap):f32[4]", "add normalized"),
        ("texture(linear):i32[4]", "linear is for floats"),
        ("texture(linear):u8[4]", "add float"),
        ("texture(float):i32[4]", "float is for integers of 8 and 16 bits"),
        ("texture(nearest):f32[4]", "'nearest' says nothing of a texture; there are clamp"),
        ("texture(clamp,clamp,clamp,clamp):f32[4]", "three address modes at most"),
    ] {
        let error = typed("unsigned long long", "u64", 8, text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
    assert!(typed("float*", "u64", 8, "texture:f32[4]").unwrap_err().contains("cudaTextureObject_t"));
    let bound = typed("Image", "b8", 16, "{image=texture(linear,border,clamp):half2[4,8], width=8}").unwrap();
    let (Argument::Bytes { bytes, .. }, textures) = (&bound.arguments[0], &bound.textures) else { panic!() };
    assert_eq!((bytes[0], bytes[8], textures[0].handle, textures[0].shape), (1, 8, 1, TextureShape::D2));
    let modes = [AddressMode::Border, AddressMode::Clamp, AddressMode::Border];
    assert_eq!((textures[0].sampler.address_modes, textures[0].sampler.filter), (modes, Filter::Linear));
    let bound = super::tests::bound(&[], &[("table", "f32[3]:1"), ("factor", "2.5")]).unwrap();
    assert_eq!(bound.symbols[0], ("k_param_table".into(), 1.0_f32.to_le_bytes().repeat(3)));
    assert_eq!(bound.symbols[1].1, 2.5_f32.to_le_bytes());
    let error = super::tests::bound(&[], &[("table", "f32[5]")]).unwrap_err();
    assert!(error.contains("20 bytes are given, it has 16"), "{error}");
    assert!(super::tests::bound(&[], &[("tabel", "1")]).unwrap_err().contains("its variables are table"));
}

/// By value, as a pointer, and in a struct; the array is one of its own or that of another argument.
#[test]
fn tensor_maps() {
    let text = "tensormap(box=[8,64],swizzle=128):bf16[16,128]:range";
    let by_value = typed("CUtensorMap_st", "b8", 128, text).unwrap();
    let Argument::Bytes { bytes, pointers } = &by_value.arguments[0] else { panic!("{by_value:?}") };
    let map = TensorMap::decode(bytes.as_slice().try_into().unwrap()).unwrap();
    assert_eq!((map.rank, map.extents[0], map.boxes[1], pointers.as_slice()), (2, 128, 8, &[(8, 0)][..]));
    let pointer = typed("CUtensorMap const*", "u64", 8, text).unwrap();
    assert_eq!(pointer.arguments, [Argument::Pointer(1)]);
    let links: Vec<_> = pointer.links.iter().map(|link| (link.array, link.offset, link.target)).collect();
    assert_eq!((links, &pointer.arrays[1].bytes), (vec![(1, 8, 0)], bytes));
    let parameters = [parameter("map", "b8", 128, None), parameter("g", "b8", 192, Some("Globals"))];
    let bound = super::tests::bound(
        &parameters,
        &[
            ("map", "tensormap(box=[8,N]):A"),
            ("A", "f32[8,N]"),
            ("N", "16"),
            ("g", "{n=3, map=tensormap(box=[4,4]):A}"),
        ],
    )
    .unwrap();
    let Argument::Bytes { pointers, .. } = &bound.arguments[1] else { panic!("{bound:?}") };
    // Behind it come the two variables.
    assert_eq!((bound.arrays.len(), pointers.as_slice()), (3, &[(72, 0)][..]));
    for (cpp, bytes, text, words) in [
        ("CUtensorMap_st", 128, "tensormap(box=[8,8]):i8[8,8]", "must be a multiple of 16"),
        ("CUtensorMap_st", 128, "tensormap(bax=[8,8]):i8[8,8]", "'bax=[8,8]' says nothing"),
        ("CUtensorMap_st", 128, "1", "v is a tensor map, as in"),
        ("int", 4, text, "a tensor map has 128 bytes, it has 4"),
    ] {
        let error = typed(cpp, "b8", bytes, text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

/// Texts of arguments that were mutated are bound or refused, for parameters of every kind; none asks for more memory than there is.
#[test]
fn mutated_arguments_are_bound_or_refused() {
    const TEXTS: [&str; 17] = [
        "f32[2,3]:random(7,0,1)",
        "n*2+1",
        "{scale=2,n=3,data=f32[4],tag={1,2,3,4},origin={1,2}}",
        "0x1p-3",
        "{1,2,3,4}",
        "bytes:00ff10",
        "[a,b]",
        "i8[n]:range",
        "a.csv",
        "-inf",
        "texture:f32[4,4]:ones",
        "u64[3]:zeros",
        "7",
        "1,2,3,4",
        "f32[8]",
        "texture(linear,clamp):float4[4,4]:random",
        "tensormap(box=[4,4],shape=[2,2,4],step=[1,1,1],nan):f32[4,4]",
    ];
    const PIECES: [&str; 16] = [
        "",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "=",
        "-",
        "*",
        "99999999999",
        "n",
        "f32[4294967295,4294967295]",
        "é",
    ];
    let parameters = [
        parameter("p", "u64", 8, None),
        parameter("n", "u32", 4, None),
        parameter("v", "b8", 32, Some("Params")),
        parameter("w", "b8", 16, Some("float4")),
        parameter("x", "f32", 4, None),
    ];
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end.max(1)
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut text: Vec<char> = TEXTS[below(TEXTS.len())].chars().collect();
        for _ in 0..below(4) {
            let from = below(text.len());
            let to = (from + below(5)).min(text.len());
            text.splice(from..to, PIECES[below(PIECES.len())].chars());
        }
        let text: String = text.into_iter().collect();
        let mut arguments = vec![
            ("p", "f32[4]"),
            ("n", "4"),
            ("v", "{0.5,3,f32[4],9,{7,8}}"),
            ("w", "{1,2,3,4}"),
            ("x", "1"),
        ];
        arguments[below(5)].1 = &text;
        match bound(&parameters, &arguments) {
            Ok(_) => taken += 1,
            Err(message) => {
                assert!(message.len() > 10, "{text}");
                refused += 1;
            }
        }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} {refused}");
}
