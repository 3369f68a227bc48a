//! `tilewright.matmul`.

use crate::{
    array::{Array, Held},
    batch::{Kind, Products},
    dtype::{only, python_name},
    errors::{OrRaise, mismatched, refuse},
    frames,
    gpu_work::{self, Work},
    interrupt::{self, Takes},
    on_gpu::{self, Gpu},
    produce,
    semiring::{self, Over},
    shape::{Shapes, Stack, is_without_overlap, span},
};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyDict, PyFloat},
};
use std::sync::Arc;
use tilewright::{Backend, DType, Joining, Math, Options, Value, cuda::DeviceProduct};

/// As many terms of a built-in semiring take some milliseconds, and a second or two where they are slowest. More are computed by a thread that is
/// made for them, so that they can be interrupted; for its first milliseconds it may share a processor with one of the pool.
const LONG: f64 = 2e9;
/// The same for a semiring of the user's.
const LONG_OF_OWN: f64 = 2e8;
/// As many terms at most are computed before another thread could have taken over.
const SHORT: f64 = 300_000.0;
/// The winning terms are 32-bit integers, so that -1 can stand for none.
const MOST_TERMS: usize = i32::MAX as usize;

/// The matrix product over a semiring: ``c[i, j] = sum(a[i, k] * b[k, j] for k)``, with the semiring's sum and product.
///
/// Vectors, stacks of matrices and their broadcasting are as in ``a @ b``. Nothing is copied, whatever the strides are.
///
/// Parameters
/// ----------
/// a, b : array
///     Arrays of one element type: of NumPy, torch, CuPy, JAX, or anything with ``__dlpack__``, ``__cuda_array_interface__`` or the buffer protocol; on
///     this processor, or on one GPU, where they stay. Or data frames and series of pandas, which go together by their names.
/// semiring : str or Semiring, default 'plus-times'
///     What sum and product are: one of `Semiring.NAMES`, or your own.
/// out : array, optional
///     Where the result is written, in place. It may lie in any order, and may be part of an operand.
/// accumulate : bool, default False
///     Adds the product to what `out` holds, by the semiring's sum.
/// alpha, beta : number, optional
///     ``out = alpha * (a @ b) + beta * out``, for plus-times.
/// arg : bool, default False
///     Also gives, for each element of the result, the smallest `k` whose term it is, or -1 for none, as 32-bit integers.
///     For semirings whose sum selects one of its terms.
/// backend : {'auto', 'cpu', 'cuda', 'emulator', 'reference'}, default 'auto'
///     Where it is computed. Arrays on a GPU are multiplied there.
/// math : {'full', 'tf32'}, default 'full'
///     ``'tf32'`` lets a GPU round `float32` operands of plus-times to 10 bits after the point, for its tensor cores. Sums stay `float32`.
/// threads : int, optional
///     Threads at most; as many as the product can occupy unless given.
/// dtype : dtype or str, optional
///     The element type of the result where there is a choice: `float32` for `float16` and `bfloat16` under plus-times, whose sums are `float32`. An `out`
///     of that type says it by itself.
///
/// Returns
/// -------
/// array, or a pair of arrays
///     `out`, or a new array of the library that `a` belongs to, and the winning terms where `arg` asks for them. ``int8`` gives ``int32`` under
///     plus-times. What has only a buffer gives a `memoryview`, and a data frame gives one with the names of rows and columns.
///
/// Raises
/// ------
/// ShapeError, ElementTypeError, UnsupportedError, DomainError, UnavailableError, OutOfMemoryError
///     Each with a code and a hint, and each also one of Python's: `ValueError`, `TypeError`, `MemoryError`, ...
/// KeyboardInterrupt
///     By Ctrl-C. What `out` holds is undefined then.
///
/// Examples
/// --------
/// >>> import numpy, tilewright
/// >>> roads = numpy.array([[0.0, 3.0, numpy.inf], [3.0, 0.0, 4.0], [numpy.inf, 4.0, 0.0]])
/// >>> distance, via = tilewright.matmul(roads, roads, semiring="min-plus", arg=True)
/// >>> float(distance[0, 2]), int(via[0, 2])
/// (7.0, 1)
/// >>> c = numpy.ones((3, 3))
/// >>> tilewright.matmul(roads, roads, semiring="max-min", out=c) is c
/// True
#[pyfunction]
#[pyo3(
    signature = (a, b, /, *, semiring=None, out=None, accumulate=false, alpha=None, beta=None, arg=false, backend="auto", math="full", threads=None, dtype=None),
    text_signature = "(a, b, /, *, semiring='plus-times', out=None, accumulate=False, alpha=1, beta=0, arg=False, backend='auto', math='full', threads=None, dtype=None)"
)]
#[allow(clippy::too_many_arguments)] // They are the keywords of Python's callers.
pub fn matmul<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    accumulate: bool,
    alpha: Option<&Bound<'py, PyAny>>,
    beta: Option<&Bound<'py, PyAny>>,
    arg: bool,
    backend: &str,
    math: &str,
    threads: Option<usize>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if [a, b].into_iter().any(frames::is_frame) {
        let options = PyDict::new(py);
        options.set_item(
            "semiring",
            semiring.map_or_else(|| "plus-times".into_bound_py_any(py), |s| s.into_bound_py_any(py))?,
        )?;
        let others = [("alpha", alpha), ("beta", beta)];
        others.into_iter().try_for_each(|(key, number)| options.set_item(key, number))?;
        options.set_item("accumulate", accumulate)?;
        options.set_item("arg", arg)?;
        options.set_item("backend", backend)?;
        options.set_item("math", math)?;
        options.set_item("threads", threads)?;
        options.set_item("dtype", dtype)?;
        return frames::matmul([a, b], out, &options);
    }
    let over = semiring::of(semiring)?;
    let backend: Backend = backend.parse().or_raise(py)?;
    let math: Math = math.parse().or_raise(py)?;
    let joining = joining(py, accumulate, alpha, beta)?;
    over.check_wishes(py, &joining, arg, backend)?;
    let wishes = Wishes { over, joining, backend, math, threads: threads.unwrap_or(0) };
    let mut operands = [Held::anywhere("A", a)?, Held::anywhere("B", b)?];
    let [left, right] = &operands;
    let ordinal = on_gpu::common(py, [("A", left.array.gpu), ("B", right.array.gpu)])?;
    let outputs = check_types(py, &wishes.over, [&left.array, &right.array], dtype)?;
    check_math(py, &wishes, left.array.dtype)?;
    let product = |ordinal| {
        let product = gpu_work::product(py, &wishes.over, left.array.dtype, (wishes.joining, arg), backend)?;
        PyResult::Ok((ordinal, product.math(math)))
    };
    let gpu = ordinal.map(product).transpose()?;
    let shapes = Shapes::of(&left.array.shape, &right.array.shape);
    let shapes = shapes.map_err(|mismatch| mismatched(py, mismatch))?;
    if arg && shapes.k > MOST_TERMS {
        return refuse(py, "unsupported", "an arg result of more than 2^31 terms", "compute it in parts");
    }
    let c = match out {
        Some(out) => given_target(out, &mut operands, &shapes, &outputs, &joining)?,
        None if joining.reads_c() => {
            return refuse(
                py,
                "unsupported",
                "a product joined with `out`, which is not there",
                "give `out`",
            );
        }
        None => produce::empty(py, left, &shapes.result, outputs[0])?,
    };
    let winners = arg.then(|| produce::empty(py, &operands[0], &shapes.result, DType::I32)).transpose()?;
    match gpu {
        Some(place) => compute_on_gpu(py, place, &wishes, &operands, (&c, winners.as_ref()), &shapes)?,
        None => compute(py, &wishes, &operands, (&c, winners.as_ref()), &shapes)?,
    }
    let library = &operands[0].array.library;
    let result = if out.is_some() { c.object } else { c.finish(library)? };
    match winners {
        Some(winners) => Ok((result, winners.finish(library)?).into_pyobject(py)?.into_any()),
        None => Ok(result),
    }
}

/// What is asked for beside the arrays.
struct Wishes {
    over: Over,
    joining: Joining<Value>,
    backend: Backend,
    math: Math,
    threads: usize,
}

/// Refuses an arithmetic that the semiring does not have on these elements.
fn check_math(py: Python<'_>, wishes: &Wishes, dtype: DType) -> PyResult<()> {
    let is_for_it = match wishes.over {
        Over::BuiltIn(id) => wishes.math.is_for(id, dtype),
        Over::Text(_) | Over::Functions(_) => wishes.math == Math::Full,
    };
    if is_for_it {
        return Ok(());
    }
    let what = format!("the arithmetic {} on {dtype} and this semiring", wishes.math);
    refuse(py, "unsupported", &what, "leave out `math`: plus-times on float32 alone has another")
}

/// The array that the caller wants the result in. Operands that it lies on become copies.
fn given_target<'py>(
    out: &Bound<'py, PyAny>,
    operands: &mut [Held<'py>; 2],
    shapes: &Shapes,
    outputs: &[DType],
    joining: &Joining<Value>,
) -> PyResult<Held<'py>> {
    let py = out.py();
    let target = Held::anywhere("out", out)?;
    let gpu = on_gpu::common(py, [("A", operands[0].array.gpu), ("out", target.array.gpu)])?;
    check_target(py, &target.array, shapes, outputs)?;
    if joining.reads_c() {
        target.array.refuse_other_booleans(py, "out")?;
    }
    for (what, operand) in ["A", "B"].into_iter().zip(operands) {
        if !overlaps(&operand.array, &target.array) {
            continue;
        }
        let copy = if gpu.is_some() { on_gpu::copy(operand) } else { produce::copy(operand) };
        *operand = Held::anywhere(what, &copy?)?;
    }
    Ok(target)
}

/// The product on this processor, or where the library takes it from here.
fn compute(
    py: Python<'_>,
    wishes: &Wishes,
    operands: &[Held<'_>; 2],
    (c, winners): (&Held<'_>, Option<&Held<'_>>),
    shapes: &Shapes,
) -> PyResult<()> {
    let kind = match &wishes.over {
        Over::BuiltIn(id) => Kind::BuiltIn(*id),
        Over::Text(text) => Kind::Text(Arc::clone(text)),
        Over::Functions(functions) => {
            let [a, b] = operands.each_ref().map(|operand| &operand.object);
            functions.check(operands[0].array.dtype, a, b)?;
            match functions.compiled() {
                Some(compiled) => Kind::Compiled(compiled),
                None => return functions.multiply([a, b, &c.object], wishes.joining.reads_c()),
            }
        }
    };
    let products =
        products(kind, wishes, operands, (&c.array, winners.map(|winners| &winners.array)), shapes);
    let is_here = matches!(wishes.backend, Backend::Auto | Backend::Cpu);
    let is_known = matches!(wishes.over, Over::BuiltIn(_));
    let long = if is_known { LONG } else { LONG_OF_OWN };
    let takes = match shapes.terms() {
        terms if terms <= SHORT && is_here && is_known => Takes::NoTime,
        terms if terms <= long && is_here => Takes::Milliseconds,
        _ => Takes::Long,
    };
    let done = interrupt::run(py, takes, |cancel| {
        let (backend, math, threads) = (wishes.backend, wishes.math, wishes.threads);
        let options = Options { backend, math, threads, cancel: Some(cancel), ..Options::default() };
        // SAFETY: the caller keeps the arrays, and their memory with them. C was checked to have no element twice and to meet no operand, or is
        // new. That other threads of Python leave it alone is for them, as with any function of NumPy. Compiled functions were checked to have
        // been compiled for this type, and `wishes` keeps them.
        unsafe { products.run(shapes, &options) }
    })?;
    done.or_raise(py)
}

fn compute_on_gpu(
    py: Python<'_>,
    (ordinal, product): (usize, DeviceProduct),
    wishes: &Wishes,
    operands: &[Held<'_>; 2],
    (c, winners): (&Held<'_>, Option<&Held<'_>>),
    shapes: &Shapes,
) -> PyResult<()> {
    let kind = match &wishes.over {
        Over::BuiltIn(id) => Kind::BuiltIn(*id),
        Over::Text(text) => Kind::Text(Arc::clone(text)),
        Over::Functions(_) => return Ok(()), // refused before
    };
    let winners = winners.map(|winners| &winners.array);
    let products = products(kind, wishes, operands, (&c.array, winners), shapes);
    let [a, b] = operands.each_ref().map(|operand| operand.array.gpu);
    let arrays: Vec<Gpu> = [a, b, c.array.gpu].into_iter().flatten().collect();
    let engine = py.detach(|| on_gpu::engine(ordinal)).or_raise(py)?;
    let work = Work { engine, product, products: products.for_launches(), arrays };
    // SAFETY: the libraries vouch for their arrays, which the caller keeps until the work is in their streams. C and the winners meet no operand.
    unsafe { work.run(shapes, &operands[0].object) }
}

fn products(
    kind: Kind,
    wishes: &Wishes,
    [a, b]: &[Held<'_>; 2],
    (c, winners): (&Array, Option<&Array>),
    shapes: &Shapes,
) -> Products {
    let stack =
        |array: &Array, is_row| Stack::new(array.first, &array.shape, &array.strides, &shapes.batch, is_row);
    Products {
        kind,
        dtype: a.array.dtype,
        output: c.dtype,
        joining: wishes.joining,
        a: stack(&a.array, true),
        b: stack(&b.array, false),
        c: result_stack(c, shapes),
        arg: winners.map(|winners| result_stack(winners, shapes)),
        batch: shapes.batch.clone(),
    }
}

/// Where C lies, without the dimension that a vector left out.
fn result_stack(c: &Array, shapes: &Shapes) -> Stack {
    let (stack, own) = c.strides.split_at(shapes.batch.len());
    let mut own = own.iter().copied();
    let row = if shapes.has_rows { own.next() } else { None };
    let col = if shapes.has_columns { own.next() } else { None };
    let layout = tilewright::Layout::strided(shapes.m, shapes.n, row.unwrap_or(1), col.unwrap_or(1));
    let stack = stack.iter().zip(&shapes.batch);
    let strides = stack.map(|(&stride, &extent)| if extent == 1 { 0 } else { stride }).collect();
    Stack { first: c.first, layout, strides }
}

fn joining(
    py: Python<'_>,
    accumulate: bool,
    alpha: Option<&Bound<'_, PyAny>>,
    beta: Option<&Bound<'_, PyAny>>,
) -> PyResult<Joining<Value>> {
    match (accumulate, alpha, beta) {
        (false, None, None) => Ok(Joining::Replace),
        (true, None, None) => Ok(Joining::Accumulate),
        (true, ..) => refuse(py, "unsupported", "accumulate beside alpha or beta", "accumulate is beta=1"),
        (false, ..) => Ok(Joining::<Value>::scale(
            alpha.map_or(Ok(Value::Int(1)), value)?,
            beta.map_or(Ok(Value::Int(0)), value)?,
        )),
    }
}

/// A number of the caller's.
pub fn value(number: &Bound<'_, PyAny>) -> PyResult<Value> {
    if !number.is_instance_of::<PyFloat>()
        && let Ok(whole) = number.extract::<i64>()
    {
        return Ok(Value::Int(whole));
    }
    number.extract().map(Value::Float)
}

/// The types that the result may have; the first unless the caller's array says otherwise.
fn check_types(
    py: Python<'_>,
    over: &Over,
    [a, b]: [&Array; 2],
    asked: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<DType>> {
    if a.dtype != b.dtype {
        let message =
            format!("A has element type {}, but B has {}", python_name(a.dtype), python_name(b.dtype));
        return refuse(py, "dtype-mismatch", &message, "convert one of them: b.astype(a.dtype)");
    }
    let outputs = over.outputs(py, a.dtype)?;
    a.refuse_other_booleans(py, "A")?;
    b.refuse_other_booleans(py, "B")?;
    asked.map_or(Ok(outputs.clone()), |asked| only(asked, &outputs))
}

fn check_target(py: Python<'_>, out: &Array, shapes: &Shapes, outputs: &[DType]) -> PyResult<()> {
    if out.is_read_only {
        return refuse(py, "read-only", "out is read-only", "give an array that can be written to");
    }
    if !outputs.contains(&out.dtype) {
        let (found, expected) = (python_name(out.dtype), python_name(outputs[0]));
        let message = format!("out has element type {found}, but the result has {expected}");
        return refuse(py, "dtype-mismatch", &message, "give an array of that type");
    }
    if out.shape != shapes.result {
        let message = format!("out has shape {:?}, but the result has {:?}", out.shape, shapes.result);
        return refuse(py, "result-mismatch", &message, "give an array of that shape");
    }
    if !is_without_overlap(&out.shape, &out.strides) {
        let message = format!(
            "out with strides {:?} cannot be written: two indices may address one element",
            out.strides
        );
        return refuse(
            py,
            "aliased",
            &message,
            "give an array whose strides are not zero and do not overlap",
        );
    }
    Ok(())
}

fn overlaps(operand: &Array, out: &Array) -> bool {
    let reach = |array: &Array| span(array.first, &array.shape, &array.strides, array.dtype.size());
    match (reach(operand), reach(out)) {
        (Some((low, high)), Some((first, last))) => low <= last && first <= high,
        _ => false,
    }
}
