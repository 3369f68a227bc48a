"""Products of JAX's arrays with gradients: the rule of each semiring, under JAX's transforms, and what is refused.

With `JAX_PLATFORMS=cuda` they are computed on a GPU.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import reference
import tilewright

pytestmark = [pytest.mark.parallel_threads(1), pytest.mark.filterwarnings("ignore")]
jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import jax.test_util  # noqa: E402
import tilewright.jax  # noqa: E402
from tilewright.jax import matmul  # noqa: E402

jax.config.update("jax_enable_x64", True)

SEMIRINGS = [name for name in tilewright.Semiring.NAMES if name != "or-and"]
SHAPES = [((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((3, 4), (2, 4, 2)), ((2, 3, 4), (4,))]
on_processor = pytest.mark.skipif(jax.default_backend() != "cpu", reason="a GPU does not look at elements, and rounds in another order")


def random(shape, dtype="float64", seed=0):
    return jnp.asarray(np.random.default_rng(seed).random(shape) + 0.1, dtype)


def by_terms(a, b, semiring):
    """The product and its gradients where JAX knows every term: slow, and right where no two terms are equal."""
    if a.ndim == 1:
        return by_terms(a[None], b, semiring)[..., 0, :] if b.ndim > 1 else by_terms(a[None], b[:, None], semiring)[0, 0]
    if b.ndim == 1:
        return by_terms(a, b[:, None], semiring)[..., 0]
    terms = {"plus": jnp.add, "times": jnp.multiply, "min": jnp.minimum, "max": jnp.maximum}[semiring.split("-")[1]](a[..., :, :, None], b[..., None, :, :])
    return {"plus": jnp.sum, "log": jax.nn.logsumexp, "min": jnp.min, "max": jnp.max}[semiring.split("-")[0]](terms, axis=-2)


def loss(product, semiring):
    return lambda a, b: (product(a, b, semiring) ** 2).sum()


def close(found, expected, tolerance=1e-10):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance), found, expected)


# Each semiring with some of the shapes: a program of JAX takes a second to compile.
@pytest.mark.parametrize(("semiring", "shapes"), [(semiring, SHAPES[(i + j) % len(SHAPES)]) for i, semiring in enumerate(SEMIRINGS) for j in (0, 3)])
def test_gradients_and_their_gradients(semiring, shapes):
    a, b = random(shapes[0]), random(shapes[1], seed=1)
    close(matmul(a, b, semiring), by_terms(a, b, semiring))

    def gradients(product):
        first = jax.grad(loss(product, semiring), (0, 1))
        second = jax.grad(lambda a, b: sum((x**2).sum() for x in first(a, b)), (0, 1))
        return jax.jit(lambda a, b: (first(a, b), second(a, b)))(a, b)

    found = gradients(matmul)
    close(found, gradients(by_terms), 1e-8)
    assert [x.shape for x in found[0]] == [a.shape, b.shape]


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_gradients_are_differences(semiring):
    jax.test_util.check_grads(jax.jit(lambda a, b: matmul(a, b, semiring)), (random((3, 4)), random((4, 5), seed=1)), order=2, modes=["rev"])


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_large_products(semiring, dtype):
    a, b = random((70, 90), dtype), random((3, 90, 33), dtype, 1)
    g = jnp.asarray(np.random.default_rng(2).standard_normal((3, 70, 33)), dtype)
    c, back = jax.vjp(lambda a, b: matmul(a, b, semiring), a, b)
    np.testing.assert_allclose(c, reference.matmul(a, b, semiring), rtol=1e-4 if dtype == "float32" else 1e-12)
    # Against float64, of the same elements: rounding to float32 makes equal terms where there were none.
    expected = jax.vjp(lambda a, b: by_terms(a, b, semiring), a.astype("float64"), b.astype("float64"))[1](g.astype("float64"))
    for x, y, operand in zip(back(g), expected, (a, b)):
        assert x.dtype == operand.dtype and x.shape == operand.shape
        if semiring in ("plus-times", "log-plus"):
            np.testing.assert_allclose(x, y, rtol=2e-3 if dtype == "float32" else 1e-10, atol=1e-4 if dtype == "float32" else 1e-10)
        else:
            different = abs(x - y) > (1e-4 if dtype == "float32" else 1e-12)
            assert different.sum() <= (0.01 * x.size if dtype == "float32" else 0)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_gradients_are_those_of_torch(semiring):
    torch = pytest.importorskip("torch")
    tilewright_torch = pytest.importorskip("tilewright.torch")
    # Many equal terms.
    a, b, g = (np.random.default_rng(seed).integers(0, 4, shape).astype("float64") for seed, shape in enumerate([(2, 9, 8), (8, 7), (2, 9, 7)]))
    found = jax.vjp(lambda a, b: matmul(a, b, semiring), jnp.asarray(a), jnp.asarray(b))[1](jnp.asarray(g))
    left, right = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    tilewright_torch.matmul(left, right, semiring).backward(torch.tensor(g))
    close(found, (left.grad.numpy(), right.grad.numpy()), 1e-12)


def test_the_first_winner_takes_all():
    a, b = jnp.zeros((1, 3)), jnp.zeros((3, 1))
    for semiring, of_b in [("max-plus", [[1], [0], [0]]), ("max-min", [[0]] * 3), ("min-max", [[0]] * 3)]:
        x, y = jax.grad(lambda a, b: matmul(a, b, semiring).sum(), (0, 1))(a, b)  # noqa: B023
        assert x.tolist() == [[1, 0, 0]] and y.tolist() == of_b


@pytest.mark.parametrize("semiring", ["min-plus", "max-plus", "log-plus"])
def test_what_is_absent_has_no_gradient(semiring):
    absent = tilewright.Semiring(semiring).zero
    a, b = jnp.array([[absent, absent], [1.0, absent]]), jnp.array([[absent, 2.0], [3.0, 4.0]])
    c, back = jax.vjp(lambda a, b: matmul(a, b, semiring), a, b)
    assert c[0].tolist() == [absent] * 2 and c[1].tolist() == [absent, 3]
    x, y = back(jnp.array([[5.0, -7.0], [11.0, 13.0]]))
    np.testing.assert_allclose(x, [[0, 0], [13, 0]])
    np.testing.assert_allclose(y, [[0, 13], [0, 0]])
    empty = jax.grad(lambda a: matmul(a, jnp.zeros((0, 3)), semiring).sum())(jnp.zeros((2, 0)))
    assert empty.shape == (2, 0)


@pytest.mark.parametrize("semiring", ["min-times", "max-times"])
def test_what_is_absent_has_no_gradient_of_gradients(semiring):
    absent = tilewright.Semiring(semiring).zero
    a, b = jnp.array([[absent, absent], [1.0, absent]]), jnp.array([[absent, 2.0], [3.0, 4.0]])
    g = jnp.array([[5.0, -7.0], [11.0, 13.0]])
    assert matmul(a, b, semiring).tolist() == [[absent] * 2, [absent, 2]]

    def gradients(a, b):
        return jax.vjp(lambda a, b: matmul(a, b, semiring), a, b)[1](g)

    x, y = gradients(a, b)
    assert x.tolist() == [[0, 0], [26, 0]] and y.tolist() == [[0, 13], [0, 0]]
    # Of (13 b)^2 + (13 a)^2, where 1 is the element of A and 2 that of B.
    x, y = jax.grad(lambda a, b: sum((x**2).sum() for x in gradients(a, b)), (0, 1))(a, b)
    assert x.tolist() == [[0, 0], [338, 0]] and y.tolist() == [[0, 676], [0, 0]]


@pytest.mark.parametrize("scale", [1, 30, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_of_log_plus(scale, dtype):
    """Beside the weights themselves, with a third of A absent; signs of both kinds, of one, and none."""
    generator = np.random.default_rng(scale)
    a, b = generator.standard_normal((40, 50)) * scale, generator.standard_normal((50, 30)) * scale
    a[generator.random(a.shape) < 0.3] = -np.inf
    a[3] = -np.inf
    a, b = a.astype(dtype), b.astype(dtype)
    terms = a.astype("float64")[:, :, None] + b.astype("float64")[None]
    with np.errstate(invalid="ignore"):
        weights = np.exp(terms - np.logaddexp.reduce(terms, 1, keepdims=True))
    weights[~np.isfinite(weights)] = 0
    tolerance = {"float64": 1e-11, "float32": 4e-6 * (4 + scale)}[dtype]
    signed = generator.standard_normal((40, 30))
    back = jax.vjp(lambda a, b: matmul(a, b, "log-plus"), jnp.asarray(a), jnp.asarray(b))[1]
    for g in [signed, abs(signed), -abs(signed), 0 * signed]:
        left, right = back(jnp.asarray(g.astype(dtype)))
        np.testing.assert_allclose(left, (weights * g[:, None]).sum(2), atol=tolerance)
        np.testing.assert_allclose(right, (weights * g[:, None]).sum(0), atol=tolerance)


def test_a_gradient_that_is_no_number_stays_so():
    back = jax.vjp(lambda a, b: matmul(a, b, "log-plus"), random((3, 4)), random((4, 2)))[1]
    of_a, _ = back(jnp.zeros((3, 2)).at[1, 1].set(jnp.nan))
    assert np.isnan(of_a[1]).all() and not np.isnan(of_a[0]).any()


def test_gradients_of_gradients_where_a_gradient_is_zero():
    """The logarithm of the gradient has none there, and the gradient's own gradient must not come from it."""
    a, b, g = random((3, 4)), random((4, 2)), jnp.array([[0.0, 1], [0, 0], [-2, 0]])

    def squares(product):
        return lambda a, b, g: sum((x**2).sum() for x in jax.vjp(lambda a, b: product(a, b, "log-plus"), a, b)[1](g))

    close(*(jax.grad(squares(product), (0, 1, 2))(a, b, g) for product in (matmul, by_terms)))


def test_third_gradients_of_log_plus():
    a, b = random((2, 3)), random((3, 2))

    def third(product):
        first = jax.grad(loss(product, "log-plus"))
        second = jax.grad(lambda a, b: (first(a, b) ** 2).sum(), 1)
        return jax.grad(lambda a, b: (second(a, b) ** 2).sum(), (0, 1))(a, b)

    close(third(matmul), third(by_terms), 1e-8)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_transforms(semiring):
    a, b = random((6, 3, 4)), random((6, 4, 5), seed=1)
    product = lambda a, b: matmul(a, b, semiring)  # noqa: E731
    vmap, grad, of = jax.vmap, jax.grad, loss(matmul, semiring)
    close(vmap(product)(a, b), product(a, b))
    close(vmap(product, (2, 1))(jnp.moveaxis(a, 0, 2), jnp.moveaxis(b, 0, 1)), product(a, b))
    close(vmap(product, (0, None))(a, b[0]), product(a, b[0]))
    # The dimension of vmap must meet none of the other operand's stack.
    close(vmap(product, (0, None))(a, b), product(a[:, None], b))
    close(vmap(product, (None, 0))(a, b), product(a, b[:, None]))
    close(vmap(vmap(product, (None, 0)), (0, None))(a, b), product(a[:, None], b))
    close(vmap(product, (0, None))(a[:, 0], b[0]), product(a[:, 0], b[0]))
    each = [grad(of, (0, 1))(x, y) for x, y in zip(a, b)]
    for i in range(2):
        expected = jnp.stack([gradients[i] for gradients in each])
        close(vmap(grad(of, i))(a, b), expected)
        close(grad(lambda a, b: vmap(of)(a, b).sum(), i)(a, b), expected)  # noqa: B023
    close(vmap(grad(of, 1), (0, None))(a, b[0]), jnp.stack([grad(of, 1)(x, b[0]) for x in a]))
    close(jax.jacrev(product)(a[0], b[0]), jax.jacrev(lambda a, b: by_terms(a, b, semiring))(a[0], b[0]))
    close(jax.jit(jax.checkpoint(grad(of)))(a, b), grad(of)(a, b))


@on_processor
@pytest.mark.parametrize("semiring", [*SEMIRINGS, "or-and"])
def test_programs_have_the_bits_of_products(semiring):
    for dtype in tilewright.Semiring(semiring).dtypes:
        a, b = (np.asarray(jnp.asarray(np.random.default_rng(seed).random(shape) * 3 + 0.1).astype(dtype)) for seed, shape in enumerate([(2, 1, 3, 40), (2, 40, 5)]))
        expected = tilewright.matmul(a, b, semiring=semiring)
        for found in (matmul(a, b, semiring), jax.jit(matmul, static_argnums=2)(a, b, semiring)):
            assert found.dtype == expected.dtype and np.array_equal(np.asarray(found), np.asarray(expected)), dtype


@on_processor
def test_subnormal_numbers_are_numbers():
    """XLA's own threads take them for zero."""
    tiny = np.full((64, 64), 1e-40, "float32")
    for semiring in ("min-plus", "max-times", "plus-times"):
        found = np.asarray(jax.jit(lambda a, b: matmul(a, b, semiring))(tiny, np.eye(64, dtype="float32")))  # noqa: B023
        assert np.array_equal(found, tilewright.matmul(tiny, np.eye(64, dtype="float32"), semiring=semiring)), semiring


def test_scans():
    """Products along a chain, in order and by halves, with the gradient of their sum."""
    m = random((9, 4, 4))

    def in_order(m):
        return jax.lax.scan(lambda c, x: (matmul(c, x, "log-plus"), None), m[0], m[1:])[0]

    def by_halves(m):
        return jax.lax.associative_scan(lambda a, b: matmul(a, b, "log-plus"), m)[-1]

    expected = tilewright.scan(np.asarray(m), "log-plus")[-1]
    for way in (in_order, by_halves):
        close(jax.jit(way)(m), expected)
    close(*(jax.grad(lambda m: way(m).sum())(m) for way in (in_order, by_halves)))  # noqa: B023
    # A Viterbi step in a loop whose length the program finds out.
    found = jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, matmul(s[1], m[0], "max-plus")), (0, m[1]))[1]
    expected = np.asarray(m[1])
    for _ in range(5):
        expected = reference.matmul(expected, m[0], "max-plus")
    close(found, expected)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, tilewright.jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
assert len(jax.devices()) == 4
mesh = jax.make_mesh((4,), ("i",), axis_types=(AxisType.Auto,))
a, b = (jnp.asarray(np.random.default_rng(seed).random(shape), "float32") for seed, shape in enumerate([(8, 4), (4, 3)]))
for semiring in ("max-plus", "log-plus", "plus-times", "max-min"):
    product = lambda a, b: tilewright.jax.matmul(a, b, semiring)
    # Rows of A on each device, and B on all of them.
    local = jax.shard_map(product, mesh=mesh, in_specs=(P("i", None), P(None, None)), out_specs=P("i", None))
    of = lambda product: lambda a, b: (product(a, b) ** 2).sum()
    np.testing.assert_allclose(jax.jit(local)(a, b), product(a, b), rtol=1e-5)
    for x, y in zip(jax.jit(jax.grad(of(local), (0, 1)))(a, b), jax.grad(of(product), (0, 1))(a, b)):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)
    # Without it, a program that is split among devices gathers the operands.
    split = jax.device_put(a, NamedSharding(mesh, P("i", None)))
    np.testing.assert_allclose(jax.jit(product)(split, b), product(a, b), rtol=1e-5)
print("done")
"""


@on_processor
def test_shard_map_multiplies_on_each_device():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(pathlib.Path(tilewright.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", SHARDED], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "done" in done.stdout, done.stdout + done.stderr


def test_a_semiring_as_a_value():
    a, b = random((3, 4)), random((4, 5))
    expected = matmul(a, b, "max-min")
    assert (matmul(a, b, tilewright.max_min) == expected).all()
    assert (jax.jit(lambda a, b: matmul(a, b, tilewright.max_min))(a, b) == expected).all()
    own = tilewright.Semiring(add="x<y?y:x", mul="min(x,y)", zero="-inf")
    assert (matmul(a, b, own) == expected).all() and (matmul(a, b, own.name) == expected).all()
    assert (jax.vmap(lambda a: matmul(a, b, own))(a[None])[0] == expected).all()


def test_training_goes_down():
    x, y, w = random((32, 6), seed=1), random((32, 3), seed=2), random((6, 3), seed=3)
    error = jax.jit(jax.value_and_grad(lambda w: ((matmul(x, w, "log-plus") - y) ** 2).mean()))
    first = error(w)[0]
    for _ in range(200):
        w = w - 0.3 * error(w)[1]
    assert error(w)[0] < 0.1 * first


def test_booleans_inside_of_a_gradient():
    a, b = random((3, 4)), random((4, 5))
    reached = lambda a: matmul(a > 0.5, b > 0.5, "or-and")  # noqa: E731
    found = jax.grad(lambda a: jnp.where(reached(a), a.sum(), 0.0).sum())(a)
    assert (found == reached(a).sum()).all()


def test_memory_of_a_gradient():
    """What a program needs beside operands and results, as XLA says: terms would be 256 times as much."""
    n = 256
    a = jnp.ones((n, n), "float32")
    for semiring in ("log-plus", "max-plus"):
        program = jax.jit(jax.grad(lambda a, b: matmul(a, b, semiring).sum(), (0, 1)))  # noqa: B023
        analysis = program.lower(a, a).compile().memory_analysis()
        assert analysis.temp_size_in_bytes <= 9 * 4 * n * n


def error(kind, code, *arguments):
    with pytest.raises(kind) as caught:
        matmul(*arguments)
    with pytest.raises(kind):
        jax.jit(lambda: matmul(*arguments))()
    assert isinstance(caught.value, tilewright.Error) and caught.value.code == code and caught.value.hint
    return str(caught.value)


def test_refusals_name_what_is_wrong():
    a, b = jnp.ones((4, 3), "float32"), jnp.ones((3, 5), "float32")
    assert "A is a list" in error(TypeError, "not-an-array", a.tolist(), b)
    assert "A is 4x3 but B is 4x3" in error(ValueError, "inner-mismatch", a, a)
    error(ValueError, "inner-mismatch", a, jnp.ones(4, "float32"))
    error(ValueError, "batch-mismatch", jnp.ones((2, 4, 3), "float32"), jnp.ones((3, 3, 5), "float32"))
    error(ValueError, "dimensions", a, jnp.asarray(3.0, "float32"))
    error(TypeError, "dtype-mismatch", a, b.astype("float64"))
    error(ValueError, "unsupported", a, b, "plus-plus")
    error(TypeError, "not-an-array", a, b, 3)
    error(ValueError, "unsupported", a, b, "or-and")
    error(ValueError, "unsupported", a + 0j, b + 0j)
    assert "functions are called" in error(ValueError, "unsupported", a, b, tilewright.Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf))
    # What JAX would round without being asked.
    with jax.enable_x64(False):
        error(TypeError, "dtype-mismatch", np.ones((4, 3)), np.ones((3, 5)))


def test_gradients_that_are_not_there():
    a, b = jnp.ones((4, 3), "float16"), jnp.ones((3, 5), "float16")
    own = tilewright.Semiring(add="max(x,y)", mul="min(x,y)", zero="-inf")
    gradient = lambda *operands: jax.grad(lambda a: matmul(a, operands[1], operands[2]).sum())(operands[0])  # noqa: E731
    with pytest.raises(tilewright.ElementTypeError, match="too coarse"):
        gradient(a, b, "max-plus")
    with pytest.raises(tilewright.UnsupportedError, match="nobody knows which term"):
        gradient(a.astype("float32"), b.astype("float32"), own)
    # JAX has none forward for what has a rule backward.
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.jvp(lambda a: matmul(a, a.T, "max-plus"), (random((3, 3)),), (random((3, 3)),))


@on_processor
def test_elements_are_looked_at_when_a_program_runs():
    a, b = jnp.ones((3, 4)), jnp.ones((4, 5))
    program = jax.jit(lambda a, b: matmul(a, b, "max-times"))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"INVALID_ARGUMENT(.|\n)*-1(.|\n)*max-times(.|\n)*hint"):
        jax.block_until_ready(program(-a, b))
    # Nothing is lost.
    assert (program(a, b) == 1).all()
