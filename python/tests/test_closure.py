"""Closures, scans and log-sum-exp products: against their definitions."""

import numpy as np
import pytest
import reference
import tilewright
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright import closure, logmatmulexp, scan

ZERO = {"min-plus": np.inf, "max-plus": -np.inf, "max-times": 0, "min-times": np.inf, "max-min": -np.inf, "min-max": np.inf, "or-and": False}
ONE = {"min-plus": 0, "max-plus": 0, "max-times": 1, "min-times": 1, "max-min": np.inf, "min-max": -np.inf, "or-and": True}
# Weights of which no cycle is better than none.
RANGE = {"min-plus": (0, 9), "max-plus": (-9, 0), "max-times": (0, 1), "min-times": (1, 4), "max-min": (-5, 5), "min-max": (-5, 5), "or-and": (0, 1)}


def star(a, semiring):
    """The identity and all powers, joined one by one."""
    add = reference.ADD[semiring.split("-")[0]]
    one = np.full_like(a, ZERO[semiring])
    one[np.arange(len(a)), np.arange(len(a))] = ONE[semiring]
    total = one
    for _ in range(len(a)):
        total = add(one, reference.matmul(total, a, semiring))
    return total


def edges(shape, semiring, generator, density=0.3):
    a = generator.integers(RANGE[semiring][0], RANGE[semiring][1] + 1, shape).astype(bool if semiring == "or-and" else "float64")
    a[generator.random(shape) > density] = ZERO[semiring]
    return a


@pytest.mark.parametrize("semiring", list(ZERO))
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (5, 1, 1), (40, 6, 6), (3, 2, 17, 17), (2, 70, 70), (3, 64, 64)])
def test_the_closure_is_the_join_of_all_powers(semiring, shape):
    generator = np.random.default_rng(0)
    a = edges(shape, semiring, generator, 0.1 if shape[-1] > 40 else 0.3)
    before = a.copy()
    found = closure(a, semiring)
    assert found.shape == shape and found.dtype == a.dtype
    for one, closed in zip(a.reshape(-1, *shape[-2:]), found.reshape(-1, *shape[-2:])):
        np.testing.assert_array_equal(closed, star(one, semiring))
    np.testing.assert_array_equal(a, before)
    np.testing.assert_array_equal(closure(np.asfortranarray(a), tilewright.Semiring(semiring), threads=1), found)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "float32"])
def test_types_of_weights(dtype):
    absent = np.iinfo(dtype).max if dtype.startswith("int") else np.inf
    w = np.full((30, 5, 5), absent, dtype)
    w[:, [0, 1, 2], [1, 2, 3]] = 1
    found = closure(w, "min-plus")
    assert found.dtype == dtype and (found[:, 0] == [0, 1, 2, 3, absent]).all()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 33])
@pytest.mark.parametrize("batch", [(), (5,)])
def test_packed_booleans(n, batch):
    a = np.random.default_rng(0).random((*batch, n, n)) < 0.1
    found = closure(np.packbits(a, axis=-1), packed=True)
    np.testing.assert_array_equal(found, np.packbits(closure(a), axis=-1))
    assert found.dtype == np.uint8


def test_cycles_that_are_better_than_none():
    stack = np.full((9, 4, 4), np.inf)
    stack[4, [0, 1, 2], [1, 2, 0]] = [1, 1, -3]
    with pytest.raises(tilewright.NegativeCycleError, match="matrix 4 of the stack") as caught:
        closure(stack, "min-plus")
    assert sorted(caught.value.cycle) == [0, 1, 2] and caught.value.hint
    with pytest.raises(tilewright.NegativeCycleError) as caught:
        closure(stack[4], "min-plus")
    assert "stack" not in str(caught.value)
    # Negative edges alone are none, and nor is a cycle that weighs nothing but for rounding.
    stack[4, 2, 0] = -2
    assert closure(stack, "min-plus")[4, 1, 0] == -1
    h = np.log(np.random.default_rng(1).uniform(0.01, 100, (20, 9)))
    w = h[:, None, :] - h[:, :, None]
    np.testing.assert_allclose(closure(w, "min-plus"), w, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64"])
@pytest.mark.parametrize("semiring", ["min-plus", "max-plus", "max-times", "min-times", "max-min", "min-max"])
def test_a_stack_has_the_answers_of_its_matrices(semiring, dtype):
    def tried(a):
        try:
            return closure(a, semiring)
        except tilewright.Error as error:
            return type(error)

    generator = np.random.default_rng(0)
    special = [np.inf, -np.inf, np.nan, -0.0] if dtype.startswith("float") else [np.iinfo(dtype).max, np.iinfo(dtype).min]
    for _ in range(60):
        size = generator.integers(1, 5)
        stack = generator.integers(generator.choice([-3, 0]), 4, (2, size, size)).astype(dtype)
        for value in special:
            stack[generator.random(stack.shape) < generator.choice([0, 0.1])] = value
        one, found = [tried(a) for a in stack], tried(stack)
        if any(isinstance(each, type) for each in one):
            assert isinstance(found, type), stack
        else:
            np.testing.assert_array_equal(found, one)


@pytest.mark.parametrize(
    ("a", "options", "error"),
    [
        (np.ones(3), {}, tilewright.ShapeError),
        (np.ones((2, 3), bool), {}, tilewright.ShapeError),
        (np.ones((2, 2, 3), bool), {}, tilewright.ShapeError),
        (np.ones((9, 9), np.uint8), {"packed": True}, tilewright.ShapeError),
        (np.ones((8, 1), np.int8), {"packed": True}, tilewright.ElementTypeError),
        (np.ones((8, 1), np.uint8), {"packed": True, "semiring": "max-min"}, tilewright.ElementTypeError),
        (np.ones((2, 2)), {}, tilewright.UnsupportedError),
        (np.ones((9, 3, 3), "int64"), {}, tilewright.UnsupportedError),
        (np.ones((0, 3, 3), "int64"), {}, tilewright.UnsupportedError),
        (np.ones((0, 0), bool), {"semiring": "min-plus"}, tilewright.UnsupportedError),
        (np.ones((3, 3), bool), {"semiring": "min-plus"}, tilewright.UnsupportedError),
        (np.ones((9, 3, 3), bool), {"semiring": "max-min"}, tilewright.UnsupportedError),
        (np.ones((3, 3), bool), {"semiring": tilewright.Semiring(add=np.logical_and, mul=np.logical_or, zero=True)}, tilewright.UnsupportedError),
        (-np.ones((9, 2, 2)), {"semiring": "max-times"}, tilewright.DomainError),
        (np.ones((2, 2)), {"semiring": None}, tilewright.ElementTypeError),
        ([[True]], {}, tilewright.ElementTypeError),
        (np.ones((2, 2)), {"semiring": "plus-times"}, tilewright.UnsupportedError),
        (np.ones((2, 2)), {"semiring": "log-plus"}, tilewright.UnsupportedError),
        (np.ones((9, 2, 2), "float16"), {"semiring": "min-plus"}, tilewright.UnsupportedError),
        (np.ones((2, 2)), {"semiring": "add=fmin(x,y); mul=x+y; zero=inf"}, tilewright.UnsupportedError),
    ],
)
def test_what_closures_refuse(a, options, error):
    with pytest.raises(error) as caught:
        closure(a, **options)
    assert caught.value.hint


def products(m, semiring):
    results = [m[..., 0, :, :]]
    for t in range(1, m.shape[-3]):
        results.append(reference.matmul(results[-1], m[..., t, :, :], semiring))
    return np.stack(results, axis=-3)


@settings(max_examples=80, deadline=None)
@given(count=st.integers(1, 20), n=st.integers(1, 4), batch=st.lists(st.integers(1, 3), max_size=2), semiring=st.sampled_from(["plus-times", "min-plus", "max-plus"]), seed=st.integers(0, 99))
def test_a_scan_is_all_beginnings(count, n, batch, semiring, seed):
    m = np.random.default_rng(seed).integers(-2, 3, (*batch, count, n, n))
    found = scan(m, semiring)
    np.testing.assert_array_equal(found, products(m, semiring))
    first = np.moveaxis(m, -3, 0)
    np.testing.assert_array_equal(scan(first, semiring, axis=0), np.moveaxis(found, -3, 0))
    endings = scan(m, semiring, reverse=True)
    mirrored = products(np.swapaxes(m[..., ::-1, :, :], -1, -2), semiring)
    np.testing.assert_array_equal(endings, np.swapaxes(mirrored, -1, -2)[..., ::-1, :, :])


def test_scans_of_logarithms_and_of_own_semirings():
    m = np.log(np.random.default_rng(0).random((50, 3, 3)))
    m[::7, :, 1] = -np.inf
    np.testing.assert_allclose(scan(m, "log-plus"), products(m, "log-plus"), rtol=1e-12)
    widest = tilewright.Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf)
    np.testing.assert_array_equal(scan(m, widest), products(m, "max-min"))
    assert scan(m[:0]).shape == (0, 3, 3) and scan(m[:, :0, :0]).shape == (50, 0, 0)
    assert scan(m[:, ::2, ::2].astype("float32"), "max-plus").dtype == np.float32


@pytest.mark.parametrize(
    ("m", "options", "error"),
    [
        (np.ones((3, 3)), {}, tilewright.ShapeError),
        (np.ones((4, 2, 3)), {}, tilewright.ShapeError),
        (np.ones((4, 3, 3)), {"axis": 1}, tilewright.ShapeError),
        (np.ones((4, 3, 3)), {"axis": -4}, tilewright.ShapeError),
        (np.ones((4, 3, 3)), {"axis": None}, tilewright.ElementTypeError),
        (np.ones((4, 3, 3)), {"axis": 0.0}, tilewright.ElementTypeError),
        (np.ones((4, 3, 3), "int8"), {}, tilewright.UnsupportedError),
        (np.ones((4, 3, 3)), {"semiring": "or-and"}, tilewright.UnsupportedError),
        ([[[1.0]]], {}, tilewright.ElementTypeError),
        (np.ma.ones((4, 3, 3)), {}, tilewright.ElementTypeError),
    ],
)
def test_what_scans_refuse(m, options, error):
    with pytest.raises(error) as caught:
        scan(m, **options)
    assert caught.value.hint


def test_logarithms_of_products():
    generator = np.random.default_rng(0)
    a, b = generator.normal(0, 200, (4, 5, 6)), generator.normal(0, 200, (6, 3))
    a[0, 0] = -np.inf
    b[2, :] = -np.inf
    found = logmatmulexp(a, b)
    np.testing.assert_allclose(found, reference.matmul(a, b, "log-plus"), rtol=1e-13)
    assert (found[0, 0] == -np.inf).all() and logmatmulexp(np.array([[0.0, -150]]), np.array([[-300.0], [0]])) == -150
    with pytest.raises(tilewright.UnsupportedError):
        logmatmulexp(np.ones((2, 2), int), np.ones((2, 2), int))
    out = np.empty((4, 5, 3))
    assert logmatmulexp(a, b, out=out) is out


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    m = torch.ones((4, 2, 2), dtype=torch.float64)
    assert isinstance(scan(m), torch.Tensor) and scan(m)[3, 0, 0] == 8
    assert isinstance(closure(m, "max-min"), torch.Tensor)
    with pytest.raises(tilewright.ElementTypeError, match="gradient"):
        scan(m.requires_grad_())
    for strange in (torch.ones((4, 2, 2), dtype=torch.bfloat16), torch.ones((4, 2, 2)).to_sparse()):
        with pytest.raises(tilewright.ElementTypeError, match="the matrices is a tensor") as caught:
            scan(strange, "max-plus")
        assert caught.value.hint
    backwards = torch.tensor([[[1 + 2j]]] * 3).conj().imag
    assert scan(backwards)[:, 0, 0].tolist() == [-2, 4, -8]
