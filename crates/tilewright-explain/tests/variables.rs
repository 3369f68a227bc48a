//! Variables of a module are arrays: given, read back, compared and named.

use crate::plain;
use tilewright_explain::*;

const SOURCE: &str = "#define ROWS 4\n#define COLUMNS 32\n__device__ float d_A[ROWS][COLUMNS], d_B[8];\n__device__ float d_C[ROWS][COLUMNS];\n__constant__ float FACTOR;\n\
    __global__ void scale() { d_C[blockIdx.x][threadIdx.x] = d_A[blockIdx.x][threadIdx.x] * FACTOR; }\n";

/// As NVRTC compiles it, without what is not needed.
const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/elsewhere/lab.cu\"\n\
    .global .align 4 .b8 d_A[512];\n.global .align 4 .b8 d_C[512];\n.const .align 4 .f32 FACTOR = 0f40000000;\n\
    .visible .entry _Z5scalev()\n{\n.reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f32 %f<4>;\n.loc 1 6 1\n\
    mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r3, %r1, 32, %r2;\nmul.wide.u32 %rd1, %r3, 4;\n\
    mov.u64 %rd2, d_A;\nadd.s64 %rd3, %rd2, %rd1;\nld.global.f32 %f1, [%rd3];\nld.const.f32 %f2, [FACTOR];\nmul.f32 %f3, %f1, %f2;\n\
    mov.u64 %rd4, d_C;\nadd.s64 %rd5, %rd4, %rd1;\nst.global.f32 [%rd5], %f3;\nret;\n}\n";

fn explained(arguments: &[(&str, &str)]) -> Result<Explained, String> {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("lab.ptx");
    std::fs::write(directory.path().join("lab.cu"), SOURCE).unwrap();
    std::fs::write(&ptx, PTX).unwrap();
    let request = plain::request(Gpu::named("a6000").unwrap(), arguments);
    let request = Request { block: Some([32, 1, 1]), grid: Some([4, 1, 1]), ..request };
    let explained = Case::of_file(&ptx, &request).and_then(|case| case.explain(&request.gpu));
    explained.map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

#[test]
fn variables_are_given_read_and_named() {
    let explained = explained(&[("d_A", "f32[4,32]:range")]).unwrap();
    assert!(explained.is_clean, "{:?}", explained.explanation.findings);
    let array = |name: &str| Array::find(&explained.arrays, name).unwrap();
    // As the source declares them, or as PTX does.
    for (name, shape) in [("d_A", &[4, 32][..]), ("d_C", &[4, 32]), ("FACTOR", &[1])] {
        assert_eq!(
            (array(name).element.to_string(), &array(name).shape[..]),
            ("f32".to_owned(), shape),
            "{name}"
        );
    }
    let doubled = array("d_A").numbers().map(|number| 2.0 * number.to_f64());
    assert!(array("d_C").numbers().map(Scalar::to_f64).eq(doubled));
    assert!(array("d_C").numbers().any(|number| number.to_f64() != 0.0));
    // The initial value of the module.
    assert_eq!(array("FACTOR").numbers().next(), Some(Scalar::Real(2.0)));
    let expected = Array { name: "d_C".into(), ..array("d_C").clone() };
    assert_eq!(compare(array("d_C"), &expected, Tolerance::default()).unwrap().different, 0);
    // Reports call them by name.
    let accesses = explained.explanation.lines.iter().flat_map(|line| &line.accesses);
    let names: Vec<Option<&str>> = accesses.map(|access| access.buffer.as_deref()).collect();
    assert!(names.contains(&Some("d_A")) && names.contains(&Some("d_C")), "{names:?}");
    let buffers: Vec<(&str, u64, u64)> =
        explained.recording.buffers.iter().map(|one| (one.name.as_str(), one.rows, one.columns)).collect();
    assert!(buffers.contains(&("d_C", 4, 32)), "{buffers:?}");
}

#[test]
fn what_is_wrong_with_variables_is_said_by_their_types() {
    let refused = |arguments: &[(&str, &str)]| explained(arguments).unwrap_err();
    assert!(refused(&[("d_A", "f64[4,32]")]).contains("its elements are f64, and the variable has f32"));
    assert!(refused(&[("d_A", "f32[5,32]")]).contains("640 bytes are given, it has 512"));
    let unknown = refused(&[("d_E", "1")]);
    assert!(
        unknown.contains("its variables are d_A (f32[4][32]), d_C (f32[4][32]), FACTOR (f32)"),
        "{unknown}"
    );
    let explained = explained(&[]).unwrap();
    let hint = Array::find(&explained.arrays, "C").unwrap_err();
    assert_eq!(hint.hint().as_deref(), Some("it has d_A, d_C, FACTOR"));
    let hint = Array::find(&[], "C").unwrap_err().hint().unwrap().to_string();
    assert!(hint.starts_with("it has none: arrays are arguments"), "{hint}");
}
