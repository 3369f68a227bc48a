"""Products of NumPy arrays: every semiring and type, shapes as `@` has them, strides, targets, and what is refused."""

import numpy as np
import pytest
import reference
import tilewright
from tilewright import Semiring, matmul

OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
PAIRS = [(name, dtype) for name in Semiring.NAMES for dtype in Semiring(name).dtypes if dtype not in OF_ML_DTYPES]
INEXACT = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-13}


def random(shape, dtype, seed=0):
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.random(shape) < 0.3
    if dtype.startswith("float"):
        return generator.random(shape).astype(dtype)
    return generator.integers(0, 100, shape).astype(dtype)


def check(c, a, b, semiring="plus-times"):
    if semiring == "plus-times" and a.dtype in (np.int8, np.uint8, np.int16):
        a, b = a.astype("int32"), b.astype("int32")
    expected = reference.matmul(a, b, semiring)
    assert c.dtype == expected.dtype and c.shape == expected.shape
    if semiring in ("plus-times", "log-plus") and c.dtype.kind == "f":
        np.testing.assert_allclose(c, expected, rtol=INEXACT[str(c.dtype)] * max(1, a.shape[-1]))
    else:
        np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize(("semiring", "dtype"), PAIRS)
def test_every_semiring_on_every_type(semiring, dtype):
    for m, k, n in [(1, 1, 1), (3, 5, 2), (33, 17, 40)]:
        a, b = random((m, k), dtype), random((k, n), dtype, 1)
        check(matmul(a, b, semiring=semiring), a, b, semiring)
        check(matmul(a, b, semiring=Semiring(semiring), threads=1), a, b, semiring)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_sums_of_halves_as_they_are(backend):
    a, b = np.array([[2048, 1]], "float16"), np.ones((2, 1), "float16")
    assert matmul(a, b, backend=backend) == 2048
    for named in ["float32", np.float32, np.dtype("float32")]:
        c = matmul(a, b, dtype=named, backend=backend)
        assert c.dtype == "float32" and c == 2049
    out = np.full((3, 1, 1), 0.25, "float32")
    assert matmul(a, np.stack([b, b, b]), out=out, accumulate=True, backend=backend) is out
    np.testing.assert_array_equal(out, np.full((3, 1, 1), 2049.25))
    assert matmul(a, b, dtype="float16", backend=backend).dtype == "float16"
    with pytest.raises(tilewright.ElementTypeError, match="dtype is float64, and the result has float16 or float32"):
        matmul(a, b, dtype="float64", backend=backend)
    with pytest.raises(tilewright.ElementTypeError, match="out has element type float32, but the result has float16"):
        matmul(a, b, dtype="float16", out=out[0], backend=backend)
    with pytest.raises(tilewright.ElementTypeError, match="dtype is float32, and the result has float16"):
        matmul(a, b, semiring="min-plus", dtype="float32", backend=backend)


SHAPES = [
    ((4, 3), (3, 5)),
    ((3,), (3, 5)),
    ((4, 3), (3,)),
    ((3,), (3,)),
    ((1, 3), (3, 1)),
    ((2, 4, 3), (3, 5)),
    ((4, 3), (2, 3, 5)),
    ((2, 4, 3), (2, 3, 5)),
    ((2, 1, 4, 3), (6, 3, 5)),
    ((1, 4, 3), (1, 1, 3, 5)),
    ((2, 3, 1, 4), (2, 3, 4, 1)),
    ((3,), (2, 3, 5)),
    ((2, 4, 3), (3,)),
    ((2, 2, 2, 2, 2, 3), (2, 3, 1)),
]


@pytest.mark.parametrize(("shape_a", "shape_b"), SHAPES)
@pytest.mark.parametrize("semiring", ["plus-times", "min-plus"])
def test_shapes_are_those_of_the_operator(shape_a, shape_b, semiring):
    a, b = random(shape_a, "float64"), random(shape_b, "float64", 1)
    check(matmul(a, b, semiring=semiring), a, b, semiring)
    assert np.shape(matmul(a, b)) == (a @ b).shape


@pytest.mark.parametrize(("shape_a", "shape_b"), SHAPES)
def test_winners_of_every_shape(shape_a, shape_b):
    a, b = random(shape_a, "float32"), random(shape_b, "float32", 1)
    c, arg = matmul(a, b, semiring="max-plus", arg=True)
    check(c, a, b, "max-plus")
    assert np.shape(arg) == np.shape(c) and arg.dtype == np.int32
    left = a if a.ndim > 1 else a[None, :]
    right = b if b.ndim > 1 else b[:, None]
    expected = (left[..., :, :, None] + right[..., None, :, :]).argmax(axis=-2)
    np.testing.assert_array_equal(np.reshape(arg, expected.shape), expected)


def test_no_term_wins_where_there_is_none():
    a = np.full((2, 3), np.inf)
    c, arg = matmul(a, a.T, semiring="min-plus", arg=True)
    assert np.isinf(c).all() and (arg == -1).all()


EMPTY = [((0, 3), (3, 2)), ((2, 3), (3, 0)), ((2, 0), (0, 3)), ((0, 0), (0, 0)), ((0, 2, 3), (3, 2)), ((0,), (0,)), ((0,), (0, 2)), ((5, 0, 3), (3, 2))]


@pytest.mark.parametrize(("shape_a", "shape_b"), EMPTY)
def test_empty_arrays(shape_a, shape_b):
    a, b = np.ones(shape_a), np.ones(shape_b)
    assert type(matmul(a, b)) is type(a @ b)
    np.testing.assert_array_equal(matmul(a, b), a @ b)
    zeros = matmul(a, b, semiring="min-plus")
    assert np.shape(zeros) == (a @ b).shape and np.isinf(zeros).all()
    with pytest.raises(tilewright.UnsupportedError):
        matmul(np.ones(shape_a, "int8"), np.ones(shape_b, "int8"), semiring="min-plus")


def test_any_strides_without_copies():
    base_a, base_b = random((40, 60), "float32"), random((60, 80), "float32", 1)
    for a in [base_a[::2, ::3], base_a[::-1, ::-3], base_a.T[:20].T[::-2], np.broadcast_to(base_a[0, :20], (7, 20)), np.asfortranarray(base_a[:, ::3])]:
        for b in [base_b[::3, ::2], base_b[-20:, ::-1], base_b.T[:20, :20].T, np.asfortranarray(base_b[:20])]:
            for semiring in ["plus-times", "min-plus"]:
                check(matmul(a, b, semiring=semiring), a, b, semiring)


def test_stacks_of_any_strides():
    base = random((6, 5, 4, 8), "float64")
    stacks = [base[:, :, :, :4], base[::-1, :, :, ::2], base.transpose(1, 0, 2, 3)[:, :, :, 4:], base.transpose(2, 1, 3, 0)[..., :4].swapaxes(-1, -2), np.broadcast_to(base[:1, :1, :, :4], (3, 5, 4, 4))]
    for a in stacks:
        b = np.ascontiguousarray(a.swapaxes(-1, -2))
        check(matmul(a, b), a, b)
        check(matmul(a, b, semiring="max-min"), a, b, "max-min")


def test_many_small_products_are_one_batch():
    a, b = random((500, 3, 4), "float32"), random((500, 4, 2), "float32", 1)
    check(matmul(a, b, semiring="min-plus"), a, b, "min-plus")
    out = np.zeros((2, 500, 3, 2), "float32").transpose(1, 0, 2, 3)
    result = matmul(a[:, None], b[:, None], out=out[:, :1])
    check(result, a[:, None], b[:, None])
    assert not out[:, 1].any()


@pytest.mark.parametrize("order", ["C", "F", "part", "reversed"])
def test_targets_of_any_order(order):
    a, b = random((5, 3), "float64"), random((3, 7), "float64", 1)
    place = np.full((20, 30), 5.0)
    out = {"C": np.empty((5, 7)), "F": np.empty((5, 7), order="F"), "part": place[2:12:2, 3:24:3], "reversed": place[6:1:-1, 20:6:-2]}[order]
    assert matmul(a, b, out=out) is out
    check(np.array(out), a, b)
    if order in ("part", "reversed"):
        assert (place == 5.0).sum() == 20 * 30 - 35


def test_joining_with_what_is_there():
    a, b = random((5, 3), "float64"), random((3, 4), "float64", 1)
    old = random((5, 4), "float64", 2)
    c = old.copy()
    matmul(a, b, out=c, accumulate=True)
    np.testing.assert_allclose(c, old + a @ b, rtol=1e-14)
    c = old.copy()
    matmul(a, b, semiring="min-plus", out=c, accumulate=True)
    np.testing.assert_array_equal(c, np.minimum(old, reference.matmul(a, b, "min-plus")))
    c = old.copy()
    matmul(a, b, out=c, alpha=2, beta=-0.5)
    np.testing.assert_allclose(c, 2 * (a @ b) - 0.5 * old, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(matmul(a, b, alpha=np.float32(0.5)), 0.5 * (a @ b))
    c = np.full((2, 5, 4), 7.0)
    matmul(np.stack([a, a]), b, out=c, alpha=np.int64(3), beta=1)
    np.testing.assert_allclose(c[1], 7 + 3 * (a @ b))
    c[...] = np.nan
    assert np.isfinite(matmul(np.stack([a, a]), b, out=c, alpha=1, beta=0)).all()
    for options in [{"accumulate": True}, {"beta": 1}, {"out": old, "accumulate": True, "alpha": 2}]:
        with pytest.raises(tilewright.UnsupportedError):
            matmul(a, b, **options)
    with pytest.raises(tilewright.UnsupportedError):
        matmul(a, b, semiring="min-plus", alpha=2)


def test_targets_that_lie_on_operands():
    a = random((6, 6), "float64")
    expected = a @ a
    for make in [lambda x: x, lambda x: x.T, lambda x: x[::-1]]:
        place = a.copy()
        matmul(place, place, out=make(place))
        np.testing.assert_allclose(make(place), expected)
    place = np.concatenate([a, a])
    matmul(place[:6], place[3:9], out=place[2:8])
    np.testing.assert_allclose(place[2:8], a @ np.concatenate([a[3:], a[:3]]))


def error(kind, code, *arguments, **options):
    with pytest.raises(kind) as caught:
        matmul(*arguments, **options)
    assert caught.value.code == code and isinstance(caught.value, tilewright.Error)
    assert caught.value.hint and str(caught.value).endswith(caught.value.hint)
    return str(caught.value)


def test_refusals_name_what_is_wrong():
    a, b = np.ones((4, 3)), np.ones((3, 5))
    assert "4x3" in error(ValueError, "inner-mismatch", a, a)
    assert "B" in error(TypeError, "dtype-mismatch", a, b.astype("float32"))
    error(ValueError, "batch-mismatch", np.ones((2, 4, 3)), np.ones((3, 3, 5)))
    error(ValueError, "dimensions", a, np.float64(3))
    error(ValueError, "unsupported", a.astype("float32"), b.astype("float32"), semiring="or-and")
    error(ValueError, "unsupported", a, b, semiring="plus-plus")
    error(ValueError, "unsupported", a, b, backend="gpu")
    error(TypeError, "not-an-array", a, b, semiring=3)
    assert "complex128" in error(TypeError, "dtype-mismatch", a.astype(complex), b)
    error(TypeError, "dtype-mismatch", a.astype("uint8"), b)
    error(TypeError, "dtype-mismatch", a.astype(">f8"), b)
    error(TypeError, "dtype-mismatch", a.astype("longdouble"), b)
    error(TypeError, "dtype-mismatch", a.astype("datetime64[s]"), b)
    error(TypeError, "dtype-mismatch", a.astype(object), b)
    error(TypeError, "not-an-array", a.tolist(), b)
    error(TypeError, "not-an-array", a, None)
    error(ValueError, "outside-domain", -a, b, semiring="max-times")
    with pytest.raises(TypeError):
        matmul(a)
    with pytest.raises(TypeError):
        matmul(a, b, semring="min-plus")


def test_targets_that_cannot_be_written():
    a, b = np.ones((4, 3)), np.ones((3, 5))
    fixed = np.empty((4, 5))
    fixed.flags.writeable = False
    error(ValueError, "read-only", a, b, out=fixed)
    error(ValueError, "result-mismatch", a, b, out=np.empty((5, 4)))
    error(ValueError, "result-mismatch", a, b, out=np.empty((1, 4, 5)))
    error(TypeError, "dtype-mismatch", a, b, out=np.empty((4, 5), "float32"))
    overlapping = np.lib.stride_tricks.as_strided(np.empty(20), (4, 5), (8, 8))
    error(ValueError, "aliased", a, b, out=overlapping)
    error(ValueError, "aliased", a, b, out=np.lib.stride_tricks.as_strided(np.empty(20), (4, 5), (0, 8)))
    stacked = np.lib.stride_tricks.as_strided(np.empty(60), (3, 4, 5), (80, 40, 8))
    error(ValueError, "aliased", a, np.ones((3, 3, 5)), out=stacked)


def test_arrays_that_mean_something_else_are_refused():
    a = np.ones((3, 3))
    assert "filled" in error(TypeError, "not-an-array", np.ma.masked_array(a, mask=a > 2), a)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(a)
    error(TypeError, "not-an-array", matrix, a)

    class Other(np.ndarray):
        pass

    error(TypeError, "not-an-array", a.view(Other), a)


def test_arrays_in_files(tmp_path):
    a = np.memmap(tmp_path / "a", dtype="float32", mode="w+", shape=(4, 3))
    a[:] = 2
    check(matmul(a, np.ones((3, 2), "float32")), np.asarray(a), np.ones((3, 2), "float32"))
    readable = np.memmap(tmp_path / "a", dtype="float32", mode="r", shape=(4, 3))
    error(ValueError, "read-only", np.ones((4, 3), "float32"), np.ones((3, 3), "float32"), out=readable)


def test_misaligned_arrays_are_refused_and_strange_booleans_too():
    record = np.zeros(6, dtype=[("small", "i1"), ("large", "f8")])
    error(ValueError, "unsupported", record["large"], record["large"])
    odd = np.frombuffer(bytearray(65), dtype="u1")[1:].view("f8")
    error(ValueError, "unsupported", odd, odd)
    strange = np.full((2, 2), 3, "u1").view(bool)
    error(ValueError, "outside-domain", strange, strange, semiring="or-and")


def test_huge_shapes_are_no_crash():
    huge = np.broadcast_to(np.float32(1), (1 << 40, 4))
    with pytest.raises(MemoryError) as caught:
        matmul(huge, huge.T)
    assert caught.value.code == "out-of-memory"
    with pytest.raises(MemoryError):
        matmul(np.broadcast_to(np.float32(1), (1 << 30, 1, 1 << 30, 1)), np.ones((16, 1, 1), "float32"))


def test_infix():
    a, b = random((4, 3), "float32"), random((3, 5), "float32", 1)
    check(a @ tilewright.min_plus @ b, a, b, "min-plus")
    assert tilewright.min_plus.matmul(a, b, arg=True)[1].shape == (4, 5)


def test_semirings_are_values():
    import pickle

    for name in Semiring.NAMES:
        semiring = Semiring(name)
        assert semiring == getattr(tilewright, name.replace("-", "_")) and hash(semiring) == hash(Semiring(name))
        assert pickle.loads(pickle.dumps(semiring)) == semiring and eval(repr(semiring)) == semiring
        assert semiring.name == name and semiring.dtypes
    assert tilewright.min_plus != tilewright.max_plus
    assert (tilewright.min_plus.zero, tilewright.min_plus.one) == (np.inf, 0)
    assert (tilewright.or_and.zero, tilewright.or_and.one) == (False, True)


def test_another_arithmetic():
    a = random((70, 65), "float32")
    # This processor computes in full, which is what was allowed at least.
    np.testing.assert_array_equal(matmul(a, a.T, math="tf32"), matmul(a, a.T))
    for wrong in [dict(semiring="min-plus"), dict(math="bf16")]:
        with pytest.raises(tilewright.UnsupportedError, match="arithmetic"):
            matmul(a, a.T, **{"math": "tf32", **wrong})
    with pytest.raises(tilewright.UnsupportedError, match="float64|f64"):
        matmul(a.astype("float64"), a.T.astype("float64"), math="tf32")


def test_every_backend_agrees():
    a, b = random((20, 30), "float32"), random((30, 25), "float32", 1)
    expected = matmul(a, b, semiring="min-plus")
    for backend in ["auto", "cpu", "emulator", "reference"]:
        np.testing.assert_array_equal(matmul(a, b, semiring="min-plus", backend=backend), expected)
    try:
        np.testing.assert_array_equal(matmul(a, b, semiring="min-plus", backend="cuda"), expected)
    except tilewright.UnavailableError as caught:
        assert caught.hint


def test_nothing_is_copied():
    import subprocess
    import sys

    # Peak memory of the process before and after: the operands' strides would need a copy by BLAS, and 64 MB would show.
    program = """
import numpy, resource, tilewright
base = numpy.ones((8192, 4096), "float32")
a, b, c = base[::2], base.T[:, :64][::1], numpy.empty((4096, 64), "float32")
tilewright.matmul(a[:8], b, out=c[:8])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tilewright.matmul(a, b, out=c)
tilewright.matmul(a[::-1], b, semiring="min-plus", out=c)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    assert grown < 32 << 10, f"{grown} KiB more, and A is {64 << 10} KiB"


def test_frames_of_pandas_keep_their_names():
    pandas = pytest.importorskip("pandas")
    a = pandas.DataFrame([[1.0, 2], [3, 4], [5, 6]], index=list("pqr"), columns=["x", "y"])
    b = pandas.DataFrame([[0.0, 9], [1, 7]], index=["y", "x"], columns=["u", "v"])
    aligned = b.loc[["x", "y"]].to_numpy()
    c = matmul(a, b)
    pandas.testing.assert_frame_equal(c, a @ b)
    pandas.testing.assert_frame_equal(tilewright.min_plus.matmul(a, b), pandas.DataFrame(matmul(a.to_numpy(), aligned, semiring="min-plus"), index=a.index, columns=b.columns))
    pandas.testing.assert_series_equal(matmul(a, b["u"]), pandas.Series(a.to_numpy() @ aligned[:, 0], index=a.index))
    pandas.testing.assert_series_equal(matmul(a.loc["p"], b), pandas.Series(a.to_numpy()[0] @ aligned, index=b.columns))
    assert matmul(a.loc["p"], b["u"]) == a.to_numpy()[0] @ aligned[:, 0]
    # What has no names goes by its place.
    pandas.testing.assert_frame_equal(matmul(a, aligned), pandas.DataFrame(a.to_numpy() @ aligned, index=a.index))
    pandas.testing.assert_frame_equal(a.to_numpy() @ tilewright.plus_times @ b.loc[["x", "y"]], pandas.DataFrame(a.to_numpy() @ aligned, columns=b.columns))
    c, winners = matmul(a, b, semiring="min-plus", arg=True)
    assert list(winners.index) == list(a.index) and list(winners.columns) == list(b.columns) and winners.loc["p", "u"] in (0, 1)
    out = np.zeros((3, 2))
    assert matmul(a, b, out=out, alpha=2.0) is out and (out == 2 * (a @ b).to_numpy()).all()
    for wrong, why in [(b.rename(index={"x": "w"}), "'(x|w)' is a name in one"), (pandas.concat([b, b]), "a name is there twice"), (b.iloc[:1], "'x' is a name in one")]:
        with pytest.raises(tilewright.ShapeError, match=why):
            matmul(a, wrong)
    with pytest.raises(tilewright.UnsupportedError, match="of pandas"):
        matmul(a, b, out=pandas.DataFrame(out))
    for mixed in [pandas.DataFrame({"x": ["a"], "y": [1.0]}), pandas.DataFrame({"x": [1], "y": [2]}, dtype="UInt8")]:
        with pytest.raises(tilewright.ElementTypeError):
            matmul(mixed, b)
    for left in (a, a["x"]):
        with pytest.raises(tilewright.ElementTypeError, match="semiring.matmul"):
            left @ tilewright.min_plus @ b
    assert np.array(tilewright.min_plus, dtype=object)[()] is tilewright.min_plus


def test_a_semiring_is_given_once():
    a = np.eye(2)
    for semiring in ["max-plus", tilewright.min_plus, None]:
        with pytest.raises(TypeError, match="given twice"):
            tilewright.min_plus.matmul(a, a, semiring=semiring)
