"""A bias for each column and an activation, on NumPy arrays: formulas, shapes as `@` has them, and what is refused."""

import numpy as np
import pytest
import tilewright
from tilewright import matmul

INEXACT = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13}


def random(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def same(c, expected):
    assert c.dtype.kind == "f"
    np.testing.assert_allclose(c, expected, rtol=INEXACT[str(c.dtype)], atol=INEXACT[str(c.dtype)])


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize(("activation", "function"), [(None, lambda x: x), ("none", lambda x: x), ("relu", relu), ("gelu", gelu)])
def test_every_type_and_activation(dtype, activation, function):
    for m, k, n in [(1, 1, 1), (3, 5, 2), (33, 17, 40), (4, 0, 3)]:
        a, b, bias = random((m, k), dtype), random((k, n), dtype, 1), random(n, dtype, 2)
        x = a.astype("float64") @ b.astype("float64")
        for backend in ["cpu", "reference"]:
            same(matmul(a, b, bias=bias, activation=activation, backend=backend), function(x + bias))
            same(matmul(a, b, activation=activation, backend=backend), function(x))


def test_stacks_vectors_and_orders():
    a, b, bias = random((2, 3, 4, 5)), random((3, 5, 6), seed=1), random(6, seed=2)
    same(matmul(a, b, bias=bias, activation="relu"), relu(a @ b + bias))
    same(matmul(a, b[0], bias=bias, activation="gelu"), gelu(a.astype("float64") @ b[0] + bias))
    same(matmul(a[0, 0, 0], b[0], bias=bias), a[0, 0, 0] @ b[0] + bias)
    same(matmul(a[0, 0], b[0, :, 0], bias=bias[:1]), a[0, 0] @ b[0, :, 0] + bias[0])
    by_columns = np.empty((6, 4), "float32").T
    assert matmul(a[0, 0], b[0], bias=bias, out=by_columns) is by_columns
    same(by_columns, a[0, 0] @ b[0] + bias)
    same(matmul(a[0, 0], b[0], bias=np.repeat(bias, 3)[::-3]), a[0, 0] @ b[0] + bias[::-1])


def test_what_out_holds_takes_part():
    a, b, bias, old = random((4, 5)), random((5, 6), seed=1), random(6, seed=2), random((4, 6), seed=3)
    same(matmul(a, b, out=old.copy(), accumulate=True, bias=bias, activation="relu"), relu(old + a @ b + bias))
    same(matmul(a, b, out=old.copy(), alpha=2, beta=-1, bias=bias), 2 * (a @ b) - old + bias)


def test_a_bias_that_is_part_of_out_is_copied_first():
    a, b, out = random((4, 5)), random((5, 6), seed=1), random((4, 6), seed=3)
    expected = a @ b + out[2]
    same(matmul(a, b, out=out, bias=out[2]), expected)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"bias": np.zeros(2, "float32")}, tilewright.ShapeError, "bias has shape \\[2\\], but the result has 3 columns"),
        ({"bias": np.zeros((1, 3), "float32")}, tilewright.ShapeError, "bias has shape"),
        ({"bias": np.zeros(3)}, tilewright.ElementTypeError, "bias has element type float64, but the result has float32"),
        ({"activation": "swish"}, tilewright.UnsupportedError, "'swish' is not supported: it is not known"),
        ({"activation": "relu", "semiring": "min-plus"}, tilewright.UnsupportedError, "relu after min-plus"),
        ({"activation": "relu", "semiring": "add=fmaxf(x,y); mul=x*y; zero=0"}, tilewright.UnsupportedError, "semiring of your own"),
        ({"bias": np.zeros(3, "float32"), "arg": True, "semiring": "max-plus"}, tilewright.UnsupportedError, "bias after max-plus"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error, words):
    a = np.ones((3, 3), "float32")
    with pytest.raises(error, match=words) as caught:
        matmul(a, a, **options)
    assert caught.value.hint


def test_integers_have_none():
    a = np.ones((3, 3), "int32")
    with pytest.raises(tilewright.UnsupportedError, match="relu after plus-times to i32") as caught:
        matmul(a, a, activation="relu")
    assert "f32" in caught.value.hint
