//! What the library is told, by one that writes it down.

use super::*;
use std::cell::RefCell;
use tilewright_core::Layout;
use tilewright_toolchain::locate::Rule;

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn saw(text: String) -> Code {
    SEEN.with_borrow_mut(|seen| seen.push(text));
    0
}

unsafe extern "C" fn layout(_: *mut *mut ffi::Stored, kind: c_int, rows: u64, cols: u64, ld: i64) -> Code {
    saw(format!("type {kind}: {rows} x {cols}, columns {ld} apart"))
}
unsafe extern "C" fn operation(_: *mut *mut ffi::Operation, compute: c_int, scale: c_int) -> Code {
    saw(format!("compute {compute}, scalars {scale}"))
}
unsafe extern "C" fn set_operation(
    _: *mut ffi::Operation,
    name: c_int,
    value: *const c_void,
    size: usize,
) -> Code {
    assert_eq!(size, 4);
    // SAFETY: four bytes, as was checked.
    saw(format!("attribute {name} is {}", unsafe { value.cast::<c_int>().read() }))
}
unsafe extern "C" fn set_preference(
    _: *mut ffi::Preference,
    name: c_int,
    value: *const c_void,
    size: usize,
) -> Code {
    let value = match size {
        // SAFETY: as many bytes as the size says.
        8 => unsafe { value.cast::<u64>().read() },
        // SAFETY: as above.
        _ => unsafe { value.cast::<u32>().read() }.into(),
    };
    saw(format!("preference {name} is {value}"))
}
unsafe extern "C" fn heuristic(
    _: ffi::Handle,
    _: *mut ffi::Operation,
    _: *mut ffi::Stored,
    _: *mut ffi::Stored,
    _: *mut ffi::Stored,
    _: *mut ffi::Stored,
    _: *mut ffi::Preference,
    most: c_int,
    suggestions: *mut Suggestion,
    count: *mut c_int,
) -> Code {
    assert!(most >= 3);
    // Two that will do, and between them one that will not.
    for (index, (status, workspace)) in [(0, 1000), (15, 9000), (0, 5000)].into_iter().enumerate() {
        let one = Suggestion { status, workspace, ..Suggestion::NONE };
        // SAFETY: there is room for as many as were asked for.
        unsafe { suggestions.add(index).write(one) };
    }
    // SAFETY: a place for the number.
    unsafe { count.write(3) };
    0
}
unsafe extern "C" fn multiply(
    _: ffi::Handle,
    _: *mut ffi::Operation,
    _: *const c_void,
    a: u64,
    _: *mut ffi::Stored,
    b: u64,
    _: *mut ffi::Stored,
    _: *const c_void,
    c: u64,
    _: *mut ffi::Stored,
    d: u64,
    _: *mut ffi::Stored,
    _: *const ffi::Algorithm,
    _: u64,
    bytes: usize,
    _: crate::ffi::driver::Stream,
) -> Code {
    assert_eq!(c, d);
    saw(format!("A at {a}, B at {b}, C at {c}, {bytes} bytes"))
}

/// A library that writes down what it is asked for.
fn library() -> &'static Library {
    let functions = ffi::Functions {
        cublasLtMatrixLayoutCreate: layout,
        cublasLtMatmulDescCreate: operation,
        cublasLtMatmulDescSetAttribute: set_operation,
        cublasLtMatmulPreferenceSetAttribute: set_preference,
        cublasLtMatmulAlgoGetHeuristic: heuristic,
        cublasLtMatmul: multiply,
        ..ffi::Functions::stub()
    };
    let location = Location { path: "fake".into(), rule: Rule::System };
    Box::leak(Box::new(Library { functions, location }))
}

#[test]
fn a_product_is_described_as_it_lies() {
    let engine = Engine::fake();
    let lt = CublasLt::with_library(&engine, CublasMath::Pedantic, library()).expect("opens");
    let zeros = |layout| engine.zeros::<f64>(layout).expect("fits");
    let (a, b) = (zeros(Layout::row_major(3, 5)), zeros(Layout::col_major(5, 4)));
    let mut c = zeros(Layout::row_major(3, 4));
    SEEN.take();
    let product = lt.prepare([&a, &b], &c, 32, 1 << 25).expect("prepared");
    // The transpose of C is computed, from the transposes of B and A: B lies so already, A does not.
    assert_eq!(
        SEEN.take(),
        [
            "compute 71, scalars 1",
            "attribute 3 is 1",
            "attribute 4 is 0",
            "type 1: 5 x 4, columns 5 apart",
            "type 1: 5 x 3, columns 5 apart",
            "type 1: 4 x 3, columns 4 apart",
            "preference 1 is 33554432",
            "preference 5 is 256",
            "preference 6 is 256",
            "preference 7 is 256",
            "preference 8 is 256",
        ]
    );
    assert_eq!(product.algorithms(), 2);
    assert_eq!([0, 1, 2].map(|one| product.workspace(one)), [Some(1000), Some(5000), None]);
    product.run(1, &a, &b, &mut c).expect("runs");
    let [at_a, at_b, at_c] = [a.address(), b.address(), c.address()];
    assert_eq!(SEEN.take(), [format!("A at {at_b}, B at {at_a}, C at {at_c}, 5000 bytes")]);
}

#[test]
fn bytes_have_results_of_32_bits() {
    let engine = Engine::fake();
    let lt = CublasLt::with_library(&engine, CublasMath::Default, library()).expect("opens");
    let a = engine.zeros::<i8>(Layout::row_major(16, 16)).expect("fits");
    let mut c = engine.zeros::<i32>(Layout::row_major(16, 16)).expect("fits");
    SEEN.take();
    let product = lt.prepare([&a, &a], &c, 32, 0).expect("prepared");
    let seen = SEEN.take();
    assert_eq!(seen[0], "compute 72, scalars 10");
    assert_eq!(seen[3..6], ["3", "3", "10"].map(|of| format!("type {of}: 16 x 16, columns 16 apart")));
    product.run(0, &a, &a, &mut c).expect("runs");
}

#[test]
fn only_what_it_was_prepared_for_is_run() {
    let engine = Engine::fake();
    let lt = CublasLt::with_library(&engine, CublasMath::Default, library()).expect("opens");
    let square = || engine.zeros::<f32>(Layout::row_major(4, 4)).expect("fits");
    let turned = || engine.zeros::<f32>(Layout::col_major(4, 4)).expect("fits");
    let product = lt.prepare([&square(), &square()], &square(), 8, 0).expect("prepared");
    product.run(0, &square(), &square(), &mut square()).expect("runs");
    assert!(product.run(2, &square(), &square(), &mut square()).is_err());
    assert!(product.run(0, &turned(), &square(), &mut square()).is_err());
    let doubles = || engine.zeros::<f64>(Layout::row_major(4, 4)).expect("fits");
    assert!(product.run(0, &doubles(), &doubles(), &mut doubles()).is_err());
    let elsewhere = Engine::fake();
    let other = elsewhere.zeros::<f32>(Layout::row_major(4, 4)).expect("fits");
    assert_eq!(product.run(0, &other, &square(), &mut square()).expect_err("foreign").code(), "unsupported");
    let empty = engine.zeros::<f32>(Layout::row_major(4, 0)).expect("fits");
    let none = engine.zeros::<f32>(Layout::row_major(0, 4)).expect("fits");
    assert!(lt.prepare([&empty, &none], &square(), 8, 0).is_err());
}
