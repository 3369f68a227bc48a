"""Semirings of the caller's own: by expressions, by functions of NumPy, by compiled functions."""

import ctypes
import pickle

import numpy as np
import pytest
import reference
import tilewright
from tilewright import Semiring, matmul

NUMBER = ctypes.c_double
BINARY = ctypes.CFUNCTYPE(NUMBER, NUMBER, NUMBER)
_C = ctypes.CDLL(None)
for _function in (_C.fmin, _C.fmax):
    _function.restype, _function.argtypes = NUMBER, [NUMBER, NUMBER]
plus = BINARY(lambda x, y: x + y)

# One way for each kind, and the semiring of the library that it must agree with.
SHORTEST = {
    "text": Semiring("add=fminf(x,y); mul=x+y; zero=inf; one=0"),
    "parts": Semiring(add="min(x, y)", mul="x + y", zero=np.inf, one=0),
    "ufuncs": Semiring(add=np.minimum, mul=np.add, zero=np.inf, one=0),
    "ctypes": Semiring(add=_C.fmin, mul=plus, zero=np.inf),
}


def random(shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("how", SHORTEST)
@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [((1, 1), (1, 1)), ((33, 17), (17, 40)), ((3,), (3, 5)), ((4, 3), (3,)), ((3,), (3,)), ((2, 4, 3), (3, 5)), ((2, 1, 4, 3), (6, 3, 5)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((0, 2, 3), (3, 2)), ((70, 5), (5, 1200))],
)
def test_products_agree_with_the_library(how, shape_a, shape_b):
    semiring = SHORTEST[how]
    a, b = random(shape_a), random(shape_b, seed=1)
    expected = matmul(a, b, semiring="min-plus")
    c = matmul(a, b, semiring=semiring)
    assert type(c) is type(expected)
    np.testing.assert_array_equal(c, expected)
    np.testing.assert_array_equal(a @ semiring @ b, expected)
    if np.ndim(expected):
        wide = np.full((*expected.shape[:-1], 2 * expected.shape[-1]), 3.0)
        out = wide[..., ::-2]
        assert matmul(a, b, semiring=semiring, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (wide[..., ::2] == 3).all()
        out[...] = -20
        matmul(a, b, semiring=semiring, out=out, accumulate=True)
        np.testing.assert_array_equal(out, np.minimum(expected, -20))


@pytest.mark.parametrize("how", SHORTEST)
def test_strides_and_overlaps(how):
    base = random((40, 40))
    a, b = base[::-2, ::3], base.T[5:19, ::2]
    np.testing.assert_array_equal(matmul(a, b, semiring=SHORTEST[how]), reference.matmul(a, b, "min-plus"))
    expected = matmul(base, base, semiring="min-plus")
    matmul(base, base.copy(), semiring=SHORTEST[how], out=base.T)
    np.testing.assert_array_equal(base.T, expected)


TYPES = [
    (Semiring("add=max(x,y); mul=min(x,y); zero=-inf"), "max-min", ["float32", "float64", "int32", "int64"]),
    (Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf), "max-min", ["float16", "float32", "float64", "int8", "int16", "int32", "int64"]),
    (Semiring(add=np.add, mul=np.multiply, zero=0, one=1), "plus-times", ["float16", "float32", "float64", "int16", "int32", "int64"]),
    (Semiring(add=np.logical_or, mul=np.logical_and, zero=False, one=True), "or-and", ["bool"]),
]


@pytest.mark.parametrize(("semiring", "same", "dtypes"), TYPES)
def test_element_types(semiring, same, dtypes):
    assert set(dtypes) <= set(semiring.dtypes)
    for dtype in dtypes:
        a, b = abs(random((9, 6), "int64")) % 12, abs(random((6, 8), "int64", 1)) % 12
        a, b = a.astype(dtype), b.astype(dtype)
        c = matmul(a, b, semiring=semiring)
        assert c.dtype == a.dtype
        np.testing.assert_array_equal(c, reference.matmul(a, b, same))


def test_functions_are_called_as_they_are():
    """gcd and lcm are a semiring that no expression gives."""
    assert Semiring(add=np.gcd, mul=np.lcm, zero=0).dtypes == ()
    divisors = Semiring(add=np.gcd, mul=np.lcm, zero=0, one=1, where=lambda x: x >= 0)
    assert {"int32", "int64"} <= set(divisors.dtypes) and not {"float32", "float64"} & set(divisors.dtypes)
    a = np.array([[4, 6], [10, 15]])
    np.testing.assert_array_equal(matmul(a, a, semiring=divisors), [[np.gcd(4, 30), np.gcd(12, 30)], [np.gcd(20, 30), np.gcd(30, 15)]])


def test_where_restricts_the_elements():
    for semiring in [
        Semiring(add="max(x,y)", mul="x*y", zero=0, one=1, where="x >= 0"),
        Semiring(add=np.maximum, mul=np.multiply, zero=0, one=1, where=lambda x: x >= 0),
    ]:
        a = abs(random((4, 4)))
        np.testing.assert_array_equal(matmul(a, a, semiring=semiring), reference.matmul(a, a, "max-times"))
        a[1, 2] = -1
        with pytest.raises(tilewright.DomainError, match=r"B.*1, 2"):
            matmul(abs(a), a, semiring=semiring)


@pytest.mark.parametrize(
    ("given", "law"),
    [
        ({"add": np.subtract, "mul": np.multiply, "zero": 0}, "identity"),
        ({"add": np.add, "mul": np.minimum, "zero": 0}, "distributes|annihilates"),
        ({"add": np.minimum, "mul": np.add, "zero": 5}, "identity"),
        ({"add": np.minimum, "mul": np.add, "zero": np.inf, "one": 1}, "one is"),
        ({"add": np.add, "mul": np.hypot, "zero": 0}, "annihilates|distributes"),
        ({"add": BINARY(lambda x, y: x), "mul": plus, "zero": 0}, "identity"),
        ({"add": "x-y", "mul": "x*y", "zero": 0}, "law"),
    ],
)
def test_what_is_no_semiring_is_refused_with_an_example(given, law):
    semiring = Semiring(**given)
    a = np.ones((2, 2))
    with pytest.raises(tilewright.UnsupportedError, match=law) as caught:
        matmul(a, a, semiring=semiring)
    assert "with x = " in str(caught.value) and caught.value.hint
    assert semiring.dtypes == () or "float64" not in semiring.dtypes


def test_refusals():
    a = np.ones((2, 2))
    for how, semiring in SHORTEST.items():
        for options, match in [({"arg": True}, "winning terms"), ({"alpha": 2}, "alpha")]:
            with pytest.raises(tilewright.UnsupportedError, match=match):
                matmul(a, a, semiring=semiring, **options)
        with pytest.raises(tilewright.UnsupportedError, match="of your own"):
            tilewright.shortest_paths(a, semiring=semiring)
        if how in ("ufuncs", "ctypes"):
            with pytest.raises(tilewright.UnsupportedError, match="backend emulator"):
                matmul(a, a, semiring=semiring, backend="emulator")
    with pytest.raises(tilewright.UnsupportedError, match="f16"):
        matmul(a.astype("float16"), a.astype("float16"), semiring=SHORTEST["text"])
    with pytest.raises(tilewright.UnsupportedError, match="compiled for float64"):
        matmul(a.astype("float32"), a.astype("float32"), semiring=SHORTEST["ctypes"])
    with pytest.raises(tilewright.UnsupportedError, match="column 13"):
        matmul(a, a, semiring="add=fminf(x,z); mul=x+y; zero=inf")
    single = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float, ctypes.c_float)(lambda x, y: x)
    for wrong, match in [
        ({"add": min, "mul": np.add, "zero": 0}, "add is"),
        ({"add": np.minimum, "mul": 12345, "zero": 0}, "mul is"),
        ({"add": np.sin, "mul": np.add, "zero": 0}, "add is"),
        ({"add": "x+y", "mul": np.multiply, "zero": 0}, "expressions and functions"),
        ({"add": np.add, "mul": np.multiply, "zero": "nothing"}, "zero"),
        ({"add": single, "mul": plus, "zero": 0}, "float32.*float64"),
        ({"add": _C.labs, "mul": plus, "zero": 0}, "two numbers"),
        ({"add": "min(x,y)", "mul": "x @ y", "zero": 0}, "column"),
    ]:
        with pytest.raises(tilewright.UnsupportedError, match=match) as caught:
            Semiring(**wrong)
        assert caught.value.hint
    for wrong in [{}, {"add": np.add}, {"add": np.add, "mul": np.multiply}]:
        with pytest.raises(TypeError, match="name, or add, mul and zero"):
            Semiring(**wrong)
    with pytest.raises(TypeError, match="name, or add, mul and zero"):
        Semiring("min-plus", zero=1)


def test_they_are_values():
    assert (SHORTEST["text"].zero, SHORTEST["text"].one) == (np.inf, 0)
    assert (SHORTEST["ufuncs"].zero, SHORTEST["ctypes"].one) == (np.inf, None)
    assert SHORTEST["text"] == Semiring(SHORTEST["text"].name) != SHORTEST["ufuncs"]
    assert SHORTEST["ufuncs"] == Semiring(add=np.minimum, mul=np.add, zero=np.inf, one=0) != Semiring(add=np.minimum, mul=np.add, zero=np.inf)
    for how in ["text", "parts", "ufuncs"]:
        semiring = SHORTEST[how]
        again = pickle.loads(pickle.dumps(semiring))
        assert again == semiring and hash(again) == hash(semiring)
    assert eval(repr(SHORTEST["text"])) == SHORTEST["text"] and "minimum" in repr(SHORTEST["ufuncs"])


def test_memory_without_numpy_arrays():
    import array

    row = array.array("d", [1, 5, 2])
    assert matmul(row, row, semiring=SHORTEST["ufuncs"])[()] == 2
    assert matmul(row, row, semiring=SHORTEST["ctypes"])[()] == 2


def test_torch():
    torch = pytest.importorskip("torch")
    a = torch.arange(12.0).reshape(3, 4)
    for how in ["text", "ufuncs"]:
        c = matmul(a, a.T, semiring=SHORTEST[how])
        assert isinstance(c, torch.Tensor) and torch.equal(c, matmul(a, a.T, semiring="min-plus"))


def test_numba():
    numba = pytest.importorskip("numba")
    compiled = [numba.cfunc("float64(float64, float64)")(f) for f in (lambda x, y: min(x, y), lambda x, y: x + y)]
    a = random((20, 30))
    expected = matmul(a, a.T, semiring="min-plus")
    np.testing.assert_array_equal(matmul(a, a.T, semiring=Semiring(add=compiled[0], mul=compiled[1], zero=np.inf)), expected)
    vectorized = [numba.vectorize(["float64(float64, float64)"])(f) for f in (lambda x, y: min(x, y), lambda x, y: x + y)]
    np.testing.assert_array_equal(matmul(a, a.T, semiring=Semiring(add=vectorized[0], mul=vectorized[1], zero=np.inf)), expected)


def test_numbers_of_texts_and_of_functions_are_the_same():
    """Integers are those of the type, whichever way the semiring is given."""
    none = {dtype: (np.zeros((1, 0), dtype), np.zeros((0, 1), dtype)) for dtype in ("int32", "int64", "float32", "float64")}
    large = 2**53 + 1
    for zero, expected in [(np.inf, {"int32": 2**31 - 1, "int64": 2**63 - 1}), (-np.inf, {"int32": -(2**31), "int64": -(2**63)}), (-(2**31), {"int32": -(2**31), "int64": -(2**31)}), (large, {"int64": large}), (-(2**63), {"int64": -(2**63)}), (7.0, {"int32": 7, "int64": 7})]:
        texts = {"add": "min(x,y)", "mul": "max(x,y)"} if zero > 0 else {"add": "max(x,y)", "mul": "min(x,y)"}
        functions = {"add": np.minimum, "mul": np.maximum} if zero > 0 else {"add": np.maximum, "mul": np.minimum}
        limits = {"where": f"x<={zero}" if zero > 0 else f"x>={zero}"}, {"where": (lambda x: x <= zero) if zero > 0 else (lambda x: x >= zero)}
        for semiring in [tilewright.Semiring(**texts, zero=zero, **limits[0]), tilewright.Semiring(**functions, zero=zero, **limits[1])]:
            for dtype, value in expected.items():
                assert matmul(*none[dtype], semiring=semiring)[0, 0] == value, (semiring, dtype)
    for zero, dtype in [(2**31, "int32"), (-(2**31) - 1, "int32"), (0.5, "int32"), (2**63, "int64"), (1e300, "int64"), (1e39, "float32")]:
        forms = [tilewright.Semiring(add="min(x,y)", mul="max(x,y)", zero=zero)]
        forms += [tilewright.Semiring(add=np.minimum, mul=np.maximum, zero=zero)] if dtype != "float32" else []
        for semiring in forms:
            with pytest.raises(tilewright.UnsupportedError):
                matmul(*none[dtype], semiring=semiring)
    assert tilewright.Semiring(add="min(x,y)", mul="max(x,y)", zero=large).zero == large
    assert tilewright.Semiring(add="min(x,y)", mul="max(x,y)", zero="inf").zero == np.inf


def test_texts_of_other_letters_are_refused_at_their_place():
    for text in ["add=min(xé,y); mul=x+y; zero=inf", "add=miné; mul=x", "add=x?yé", "add=(xé)", "é=1", "add=abs(x⊕y); mul=x; zero=0"]:
        with pytest.raises(tilewright.UnsupportedError, match="at column"):
            tilewright.Semiring(text)
    with pytest.raises(tilewright.UnsupportedError) as caught:
        tilewright.Semiring("add=" + "x+" * 50000 + "q; mul=x; zero=0")
    assert len(str(caught.value)) < 500
