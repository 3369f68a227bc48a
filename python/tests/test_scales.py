"""Scales of 8-bit floats: the shapes that tell what one is for, against NumPy, and what is refused."""

import numpy as np
import pytest
import tilewright
from tilewright import matmul

ml_dtypes = pytest.importorskip("ml_dtypes")
E4M3 = ml_dtypes.float8_e4m3fn
M, K, N = 140, 300, 130


def blocks(x):
    return -(-x // 128)


def operands(dtype=E4M3):
    generator = np.random.default_rng(7)
    return (generator.integers(-3, 4, shape).astype(dtype) for shape in [(M, K), (K, N)])


def powers(shape, seed):
    """Powers of two, with which all sums are exact."""
    return (2.0 ** np.random.default_rng(seed).integers(-2, 3, shape)).astype("float32")


def widened(scale, shape):
    """A number for each element."""
    for axis, extent in enumerate(shape):
        times = extent if scale.shape[axis] == 1 else 128 if scale.shape[axis] < extent else 1
        scale = np.repeat(scale, times, axis)[(slice(None),) * axis + (slice(extent),)]
    return scale


A_SHAPES = [(1, 1), (M, 1), (M, blocks(K)), (blocks(M), blocks(K))]
B_SHAPES = [(1, 1), (1, N), (blocks(K), N), (blocks(K), blocks(N))]


@pytest.mark.parametrize("dtype", [E4M3, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("of_a", A_SHAPES)
@pytest.mark.parametrize("of_b", B_SHAPES)
def test_every_pair_of_shapes(dtype, of_a, of_b):
    a, b = operands(dtype)
    scale_a, scale_b = powers(of_a, 1), powers(of_b, 2)
    exact = (widened(scale_a, a.shape) * a.astype("float64")) @ (widened(scale_b, b.shape) * b.astype("float64"))
    for backend in ["cpu", "reference"]:
        c = matmul(a, b, scale_a=scale_a, scale_b=scale_b, backend=backend)
        assert c.dtype == np.float32
        np.testing.assert_array_equal(c, exact)
    rounded = matmul(a, b, scale_b=np.asfortranarray(scale_b), scale_a=scale_a, dtype=ml_dtypes.bfloat16)
    np.testing.assert_array_equal(rounded, exact.astype("float32").astype(ml_dtypes.bfloat16))


def test_beside_other_options():
    a, b = operands()
    bias, old = powers(N, 3), powers((M, N), 4)
    plain = a.astype("float32") @ b.astype("float32")
    number = np.array(0.5, "float32")
    np.testing.assert_array_equal(matmul(a, b, scale_a=number), plain / 2)
    c = matmul(a, b, scale_a=number, out=old.copy(), alpha=4, beta=2, bias=bias, activation="relu")
    np.testing.assert_array_equal(c, np.maximum(2 * plain + 2 * old + bias, 0))
    assert matmul(a[:, :0], b[:0], scale_a=number).max() == 0
    out = np.ones((M, N), "float32")
    np.testing.assert_array_equal(matmul(a, b, scale_b=out[:1, :], out=out), plain)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"scale_a": np.ones((2, 2), "float32")}, tilewright.ShapeError, "scales of A are 2x2, but those of this product are 1x1, 2x3, 140x1 or 140x3"),
        ({"scale_b": np.ones((M, 1), "float32")}, tilewright.ShapeError, "scales of B are 140x1"),
        ({"scale_a": np.ones(M, "float32")}, tilewright.ShapeError, "scale_a has shape \\[140\\]"),
        ({"scale_a": np.ones((1, 1))}, tilewright.ElementTypeError, "scale_a has element type float64"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error, words):
    a, b = operands()
    with pytest.raises(error, match=words) as caught:
        matmul(a, b, **options)
    assert caught.value.hint


def test_other_elements_and_stacks_have_none():
    one = np.ones((1, 1), "float32")
    with pytest.raises(tilewright.UnsupportedError, match="scales of A with plus-times on f32"):
        matmul(one, one, scale_a=one)
    a, b = operands()
    with pytest.raises(tilewright.UnsupportedError, match="scales of B with a stack or a vector"):
        matmul(np.stack([a, a]), b, scale_b=one)
    with pytest.raises(tilewright.UnsupportedError):
        matmul(one, one, scale_a=one, semiring="min-plus")
    with pytest.raises(tilewright.UnsupportedError, match="semiring of your own"):
        matmul(one, one, scale_a=one, semiring="add=fmaxf(x,y); mul=x*y; zero=0")
