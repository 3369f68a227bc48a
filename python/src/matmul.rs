//! `tilewright.matmul`.

use crate::{
    array::{Array, Held},
    checks::{check_bias, check_epilogue, check_math, check_scale, check_scales, check_target, overlaps},
    dtype::{only, python_name},
    errors::{OrRaise, refuse},
    frames,
    gpu_work::{self, Place, Work},
    interrupt::{self, Takes},
    on_gpu, options, produce,
    semiring::{self, Over},
};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyDict, PyFloat},
};
use std::str::FromStr;
use tilewright::{
    Activation, Backend, Cancel, DType, DynMut, DynRef, Epilogue, Error, Joining, Layout, Math, Options,
    Scales, StackProduct, Value,
    cuda::DeviceProduct,
    stack::{Loops, Shapes},
};

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
/// bias : array, optional
///     A vector of `out`'s element type with an element for each column, which is added to it: ``out = activation(alpha * (a @ b) + beta * out + bias)``, for
///     plus-times on floats. All is computed in the type of the sums, and rounded once.
/// activation : {'relu', 'gelu'}, optional
///     What becomes of each element at last. ``'gelu'`` is the approximation by tanh, as torch's ``gelu(x, approximate='tanh')``.
/// scale_a, scale_b : array of float32, optional
///     What `a` and `b`, matrices of 8-bit floats, are multiplied by first, for plus-times. The shape says for what one number is: all of `a` (``1 x 1``, or no
///     dimension), a row (``m x 1``), 128 terms of a row (``m x ceil(k / 128)``), or 128 terms of 128 rows (``ceil(m / 128) x ceil(k / 128)``). Those of
///     `b` are the same, transposed: ``1 x n``, ``ceil(k / 128) x n`` and ``ceil(k / 128) x ceil(n / 128)``.
/// arg : bool, default False
///     Also gives, for each element of the result, the smallest `k` whose term it is, or -1 for none, as 32-bit integers.
///     For semirings whose sum selects one of its terms.
/// backend : {'auto', 'cpu', 'cuda', 'emulator', 'reference'}, default 'auto'
///     Where it is computed. Arrays on a GPU are multiplied there.
/// math : {'full', 'tf32', 'fast'}, default 'full'
///     ``'tf32'`` lets a GPU round `float32` operands of plus-times to 10 bits after the point, for its tensor cores. Sums stay `float32`.
///     ``'fast'`` lets its tensor cores sum products of 8-bit floats with 13 bits after the point. In full, at most 128 terms are summed so.
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
/// >>> tilewright.matmul(c[:, :2], numpy.eye(2), bias=numpy.array([1.0, -9.0]), activation="relu").shape
/// (3, 2)
#[pyfunction]
#[pyo3(
    signature = (a, b, /, *, semiring=None, out=None, accumulate=None, alpha=None, beta=None, bias=None, activation=None, scale_a=None, scale_b=None, arg=None, backend=None, math=None, threads=None, dtype=None),
    text_signature = "(a, b, /, *, semiring='plus-times', out=None, accumulate=False, alpha=1, beta=0, bias=None, activation=None, scale_a=None, scale_b=None, arg=False, backend='auto', math='full', threads=None, dtype=None)"
)]
#[allow(clippy::too_many_arguments)] // They are the keywords of Python's callers.
pub fn matmul<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    accumulate: Option<&Bound<'py, PyAny>>,
    alpha: Option<&Bound<'py, PyAny>>,
    beta: Option<&Bound<'py, PyAny>>,
    bias: Option<&Bound<'py, PyAny>>,
    activation: Option<&Bound<'py, PyAny>>,
    scale_a: Option<&Bound<'py, PyAny>>,
    scale_b: Option<&Bound<'py, PyAny>>,
    arg: Option<&Bound<'py, PyAny>>,
    backend: Option<&Bound<'py, PyAny>>,
    math: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if [a, b].into_iter().any(frames::is_frame) {
        let options = PyDict::new(py);
        options.set_item(
            "semiring",
            semiring.map_or_else(|| "plus-times".into_bound_py_any(py), |s| s.into_bound_py_any(py))?,
        )?;
        let others =
            [("alpha", alpha), ("beta", beta), ("bias", bias), ("scale_a", scale_a), ("scale_b", scale_b)];
        others.into_iter().try_for_each(|(key, number)| options.set_item(key, number))?;
        options.set_item("activation", activation)?;
        options.set_item("accumulate", accumulate)?;
        options.set_item("arg", arg)?;
        options.set_item("backend", backend)?;
        options.set_item("math", math)?;
        options.set_item("threads", threads)?;
        options.set_item("dtype", dtype)?;
        return frames::matmul([a, b], out, &options);
    }
    let over = semiring::of(semiring)?;
    let arg = options::or(false, "arg", arg)?;
    let accumulate = options::or(false, "accumulate", accumulate)?;
    let backend = word(Backend::Auto, "backend", backend)?;
    let math = word(Math::Full, "math", math)?;
    let activation = word(Activation::None, "activation", activation)?;
    let threads = options::or(0, "threads", threads)?;
    let joining = joining(py, accumulate, alpha, beta)?;
    over.check_wishes(py, &joining, arg, backend)?;
    let wishes = Wishes { over, joining, activation, backend, math, threads };
    let mut operands = [Held::anywhere("A", a)?, Held::anywhere("B", b)?];
    let [left, right] = &operands;
    let ordinal = on_gpu::common(py, [("A", left.array.gpu), ("B", right.array.gpu)])?;
    let outputs = check_types(py, &wishes.over, [&left.array, &right.array], dtype)?;
    check_math(py, &wishes.over, math, left.array.dtype)?;
    let mut bias = bias.map(|bias| Held::anywhere("bias", bias)).transpose()?;
    let asked = Epilogue { bias: bias.as_ref().map(|_| ()), activation };
    check_epilogue(py, &wishes.over, asked, outputs[0])?;
    let scales = Scales { a: scale_a, b: scale_b };
    check_scales(py, &wishes.over, scales.map(drop), left.array.dtype, arg)?;
    let mut scales = Scales {
        a: scales.a.map(|scale| Held::anywhere("scale_a", scale)).transpose()?,
        b: scales.b.map(|scale| Held::anywhere("scale_b", scale)).transpose()?,
    };
    let product = |ordinal| {
        let product = gpu_work::product(py, &wishes.over, left.array.dtype, (wishes.joining, arg), backend)?;
        PyResult::Ok((ordinal, product.math(math)))
    };
    let gpu = ordinal.map(product).transpose()?;
    let shapes = Shapes::of(&left.array.shape, &right.array.shape).or_raise(py)?;
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
    if let Some(bias) = &mut bias {
        on_gpu::common(py, [("A", operands[0].array.gpu), ("bias", bias.array.gpu)])?;
        check_bias(py, &bias.array, &shapes, c.array.dtype)?;
        if overlaps(&bias.array, &c.array) {
            let copy = if gpu.is_some() { on_gpu::copy(bias) } else { produce::copy(bias) };
            *bias = Held::anywhere("bias", &copy?)?;
        }
    }
    for (what, scale) in [("scale_a", &mut scales.a), ("scale_b", &mut scales.b)] {
        let Some(scale) = scale else { continue };
        on_gpu::common(py, [("A", operands[0].array.gpu), (what, scale.array.gpu)])?;
        check_scale(py, what, &scale.array)?;
        if overlaps(&scale.array, &c.array) {
            let copy = if gpu.is_some() { on_gpu::copy(scale) } else { produce::copy(scale) };
            *scale = Held::anywhere(what, &copy?)?;
        }
    }
    let winners = arg.then(|| produce::empty(py, &operands[0], &shapes.result, DType::I32)).transpose()?;
    let all = All {
        operands: &operands,
        c: &c,
        winners: winners.as_ref().map(|winners| &winners.array),
        bias: bias.as_ref().map(|bias| &bias.array),
        scales: scales.as_ref().map(|scale| &scale.array),
        shapes: &shapes,
    };
    match gpu {
        Some((ordinal, product)) => compute_on_gpu(py, (ordinal, product), &wishes, &all)?,
        None => compute(py, &wishes, &all)?,
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
    activation: Activation,
    backend: Backend,
    math: Math,
    threads: usize,
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

/// The arrays of a product.
struct All<'a, 'py> {
    operands: &'a [Held<'py>; 2],
    c: &'a Held<'py>,
    winners: Option<&'a Array>,
    bias: Option<&'a Array>,
    scales: Scales<&'a Array>,
    shapes: &'a Shapes,
}

impl All<'_, '_> {
    /// The products of what is read.
    ///
    /// # Safety
    /// The arrays are on this processor, and nobody writes them as long as this is used; or nobody looks at an element.
    unsafe fn products<'a>(
        &'a self,
        wishes: &'a Wishes,
        functions: &'a tilewright::stack::Multiply<'a>,
    ) -> Result<StackProduct<'a>, Error> {
        // SAFETY: the caller's promise.
        let [a, b] = self.operands.each_ref().map(|held| unsafe { held.array.view() });
        let products = match &wishes.over {
            Over::BuiltIn(id) => StackProduct::new(*id, a, b),
            Over::Text(text) => StackProduct::with_text(text, a, b),
            Over::Functions(_) => StackProduct::with_function(functions, a, b),
        };
        let bias = self.bias.map(|bias| {
            // SAFETY: as above.
            unsafe { DynRef::from_raw_parts(bias.first, bias.dtype, bias.layout(true)) }
        });
        let epilogue = Epilogue { bias, activation: wishes.activation };
        let scales = self.scales.map(|scale| {
            // SAFETY: as above.
            unsafe { DynRef::from_raw_parts(scale.first, scale.dtype, table(scale)) }
        });
        products?.giving(self.c.array.dtype)?.joining(wishes.joining)?.epilogue(epilogue)?.scales(scales)
    }
}

/// The product on this processor, or where the library takes it from here.
fn compute(py: Python<'_>, wishes: &Wishes, all: &All<'_, '_>) -> PyResult<()> {
    let mut compiled = None;
    if let Over::Functions(functions) = &wishes.over {
        let [a, b] = all.operands.each_ref().map(|operand| &operand.object);
        functions.check(all.operands[0].array.dtype, a, b)?;
        compiled = functions.compiled();
        if compiled.is_none() {
            return functions.multiply([a, b, &all.c.object], wishes.joining.reads_c());
        }
    }
    let multiply = |(a, b): (DynRef<'_>, DynRef<'_>), c: DynMut<'_>, joins: bool, options: &Options<'_>| {
        let never = Cancel::new();
        let cancel = options.cancel.unwrap_or(&never);
        // SAFETY: functions were checked to have been compiled for this type, and `wishes` keeps them.
        compiled.map_or(Ok(()), |compiled| unsafe { compiled.multiply((a, b, c), joins, cancel) })
    };
    // SAFETY: the caller keeps the arrays, and their memory with them. C was checked to have no element twice and to meet no operand, or is
    // new. That other threads of Python leave it alone is for them, as with any function of NumPy.
    let (products, c, winners) = unsafe {
        let winners = all.winners.map(|winners| winners.view_mut());
        (all.products(wishes, &multiply).or_raise(py)?, all.c.array.view_mut(), winners)
    };
    let is_here = matches!(wishes.backend, Backend::Auto | Backend::Cpu);
    let is_known = matches!(wishes.over, Over::BuiltIn(_));
    let long = if is_known { LONG } else { LONG_OF_OWN };
    let takes = match all.shapes.terms() {
        terms if terms <= SHORT && is_here && is_known => Takes::NoTime,
        terms if terms <= long && is_here => Takes::Milliseconds,
        _ => Takes::Long,
    };
    let (backend, math, threads) = (wishes.backend, wishes.math, wishes.threads);
    let done = interrupt::run(py, takes, |cancel| {
        let options = Options { backend, math, threads, cancel: Some(cancel), ..Options::default() };
        products.options(options).write_to(c, winners).map(drop)
    })?;
    done.or_raise(py)
}

fn compute_on_gpu(
    py: Python<'_>,
    (ordinal, product): (usize, DeviceProduct),
    wishes: &Wishes,
    all: &All<'_, '_>,
) -> PyResult<()> {
    let All { operands, c, winners, bias, scales, shapes } = *all;
    let never = |_: (DynRef<'_>, DynRef<'_>), _: DynMut<'_>, _: bool, _: &Options<'_>| Ok(());
    // SAFETY: shapes and types are checked, and nobody looks at an element.
    unsafe { all.products(wishes, &never) }.or_raise(py)?;
    if shapes.is_empty() {
        return Ok(());
    }
    let [a, b] = operands.each_ref().map(|operand| &operand.array);
    let arrays = [a, b].map(|array| (&array.shape[..], &array.strides[..]));
    let loops = Loops::new(shapes, arrays, &c.array.strides, winners.map(|winners| &winners.strides[..]));
    let row = |bias: &Array| (Place::from(bias), bias.layout(true));
    let (bias, epilogue) = (
        bias.map(row),
        Epilogue { bias: bias.map(|bias| bias.layout(true).col_stride), activation: wishes.activation },
    );
    let work = Work {
        engine: py.detach(|| on_gpu::engine(ordinal)).or_raise(py)?,
        product: product.epilogue(epilogue).scales(scales.map(table)),
        loops: loops.for_launches(),
        places: [a, b, &c.array].into_iter().chain(winners).map(Place::from).collect(),
        bias,
        scales: scales.map(|scale| (Place::from(scale), table(scale))),
        arrays: [a, b, &c.array]
            .into_iter()
            .chain(all.bias)
            .chain(scales.a)
            .chain(scales.b)
            .filter_map(|array| array.gpu)
            .collect(),
    };
    // SAFETY: the libraries vouch for their arrays, which the caller keeps until the work is in their streams. C and the winners meet no operand.
    unsafe { work.run(&operands[0].object) }
}

/// A matrix of scales as it lies; a number is one of 1 x 1. It has two dimensions at most.
fn table(scale: &Array) -> Layout {
    match (&scale.shape[..], &scale.strides[..]) {
        (&[rows, cols], &[row, col]) => Layout::strided(rows, cols, row, col),
        _ => Layout::row_major(1, scale.shape.iter().product()),
    }
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
            alpha.map_or(Ok(Value::Int(1)), |alpha| factor("alpha", alpha))?,
            beta.map_or(Ok(Value::Int(0)), |beta| factor("beta", beta))?,
        )),
    }
}

/// A number by its name.
fn factor(name: &str, number: &Bound<'_, PyAny>) -> PyResult<Value> {
    value(number).map_err(|error| options::refused::<f64>(name, number, error))
}

/// One of the words that an option knows.
fn word<T: FromStr<Err = Error>>(none: T, name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<T> {
    let Some(given) = given else { return Ok(none) };
    options::read::<String>(name, given)?.parse().or_raise(given.py())
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
