"""Products of tensors with gradients: the rule of each semiring, under torch's compiler and its transforms, and what is refused.

With `TILEWRIGHT_TEST_DEVICE=cuda` they are computed on a GPU.
"""

import os
import subprocess
import sys
import types

import numpy as np
import pytest
import reference
import tilewright

pytestmark = [pytest.mark.parallel_threads(1), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
import tilewright.torch  # noqa: E402
from tilewright.torch import matmul  # noqa: E402

DEVICE = os.environ.get("TILEWRIGHT_TEST_DEVICE", "cpu")
on_processor = pytest.mark.skipif(DEVICE != "cpu", reason="is about this processor's memory and elements")

SEMIRINGS = [name for name in tilewright.Semiring.NAMES if name != "or-and"]
SHAPES = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((3, 4), (2, 4, 2)), ((1, 3, 4), (2, 4, 2)), ((2, 3, 4), (4,))]


def random(shape, dtype="float64", seed=0, gradient=True):
    x = torch.rand(shape, dtype=getattr(torch, dtype), generator=torch.Generator().manual_seed(seed)) + 0.1
    return x.to(DEVICE).requires_grad_(gradient)


def tensor(array, **options):
    return torch.tensor(array, device=DEVICE, **options)


def by_terms(a, b, semiring):
    """The product and its gradients where torch knows every term: slow, and right where no two terms are equal."""
    terms = {"plus": torch.add, "times": torch.mul, "min": torch.minimum, "max": torch.maximum}[semiring.split("-")[1]](a[..., :, :, None], b[..., None, :, :])
    return {"plus": lambda: terms.sum(-2), "log": lambda: terms.logsumexp(-2), "min": lambda: terms.amin(-2), "max": lambda: terms.amax(-2)}[semiring.split("-")[0]]()


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_and_their_gradients(semiring, shapes):
    a, b = random(shapes[0]), random(shapes[1], seed=1)
    assert torch.autograd.gradcheck(lambda a, b: matmul(a, b, semiring), (a, b))
    assert torch.autograd.gradgradcheck(lambda a, b: matmul(a, b, semiring), (a, b))
    # One operand alone.
    assert torch.autograd.gradcheck(lambda a: matmul(a, b.detach(), semiring), (a,))
    assert torch.autograd.gradcheck(lambda b: matmul(a.detach(), b, semiring), (b,))


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_large_products(semiring, dtype):
    a, b = random((70, 90), dtype), random((3, 90, 33), dtype, 1)
    g = torch.randn(3, 70, 33, dtype=a.dtype, generator=torch.Generator().manual_seed(2)).to(DEVICE)
    c = matmul(a, b, semiring)
    np.testing.assert_allclose(c.detach().cpu(), reference.matmul(a.detach().cpu(), b.detach().cpu(), semiring), rtol=1e-4 if dtype == "float32" else 1e-12)
    found = torch.autograd.grad(c, (a, b), g)
    # Against float64, of the same elements: rounding to float32 makes equal terms where there were none.
    wide = [operand.detach().double().requires_grad_() for operand in (a, b)]
    expected = torch.autograd.grad(by_terms(*wide, semiring), wide, g.double())
    for x, y, operand in zip(found, expected, (a, b)):
        assert x.dtype == operand.dtype and x.shape == operand.shape
        if semiring in ("plus-times", "log-plus"):
            torch.testing.assert_close(x.double(), y, rtol=2e-3 if dtype == "float32" else 1e-10, atol=1e-4 if dtype == "float32" else 1e-10)
        else:
            different = (x.double() - y).abs() > (1e-4 if dtype == "float32" else 1e-12)
            assert different.sum() <= (0.01 * x.numel() if dtype == "float32" else 0)


def test_the_first_winner_takes_all():
    a, b = tensor([[0.0] * 3], requires_grad=True), tensor([[0.0]] * 3, requires_grad=True)
    matmul(a, b, "max-plus").sum().backward()
    assert a.grad.tolist() == [[1, 0, 0]] and b.grad.tolist() == [[1], [0], [0]]
    for semiring in ["max-min", "min-max"]:
        a.grad = b.grad = None
        matmul(a, b, semiring).sum().backward()
        assert a.grad.tolist() == [[1, 0, 0]] and b.grad.tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("semiring", ["min-plus", "max-plus", "log-plus"])
def test_what_is_absent_has_no_gradient(semiring):
    absent = tilewright.Semiring(semiring).zero
    a = tensor([[absent, absent], [1.0, absent]], requires_grad=True)
    b = tensor([[absent, 2.0], [3.0, 4.0]], requires_grad=True)
    c = matmul(a, b, semiring)
    assert c[0].tolist() == [absent] * 2 and c[1].tolist() == [absent, 3]
    (c * tensor([[5.0, -7.0], [11.0, 13.0]])).nan_to_num(0, 0, 0).sum().backward()
    assert a.grad.tolist() == [[0, 0], [pytest.approx(13), 0]] and b.grad.tolist() == [[0, pytest.approx(13)], [0, 0]]
    empty = torch.zeros(2, 0, requires_grad=True, device=DEVICE)
    matmul(empty, torch.zeros(0, 3, device=DEVICE), semiring).sum().backward()
    assert empty.grad.shape == (2, 0)


@pytest.mark.parametrize("semiring", ["min-times", "max-times"])
def test_what_is_absent_has_no_gradient_of_gradients(semiring):
    absent = tilewright.Semiring(semiring).zero
    a = tensor([[absent, absent], [1.0, absent]], requires_grad=True)
    b = tensor([[absent, 2.0], [3.0, 4.0]], requires_grad=True)
    c = matmul(a, b, semiring)
    assert c.tolist() == [[absent] * 2, [absent, 2]]
    x, y = torch.autograd.grad(c, (a, b), tensor([[5.0, -7.0], [11.0, 13.0]]), create_graph=True)
    assert x.tolist() == [[0, 0], [26, 0]] and y.tolist() == [[0, 13], [0, 0]]
    # Of (13 b)^2 + (13 a)^2, where 1 is the element of A and 2 that of B.
    x, y = torch.autograd.grad((x**2).sum() + (y**2).sum(), (a, b))
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
    for g in [signed, abs(signed), -abs(signed), 0 * signed]:
        left, right = tensor(a, requires_grad=True), tensor(b, requires_grad=True)
        matmul(left, right, "log-plus").backward(tensor(g.astype(dtype)))
        np.testing.assert_allclose(left.grad.cpu(), (weights * g[:, None]).sum(2), atol=tolerance)
        np.testing.assert_allclose(right.grad.cpu(), (weights * g[:, None]).sum(0), atol=tolerance)


def test_a_gradient_that_is_no_number_stays_so():
    a, b = random((3, 4)), random((4, 2))
    g = torch.zeros_like(a[:, :2])
    g[1, 1] = torch.nan
    matmul(a, b, "log-plus").backward(g)
    assert a.grad[1].isnan().all() and not a.grad[0].isnan().any()


def test_gradients_of_gradients_where_a_gradient_is_zero():
    """The logarithm of the gradient has none there, and the gradient's own gradient must not come from it."""
    a, b = random((3, 4)), random((4, 2))
    g = tensor([[0.0, 1], [0, 0], [-2, 0]], dtype=a.dtype, requires_grad=True)
    found, expected = (torch.autograd.grad(c, (a, b), g, create_graph=True) for c in (matmul(a, b, "log-plus"), by_terms(a, b, "log-plus")))
    for x, y in zip(found, expected):
        for u, v in zip(*(torch.autograd.grad((z**2).sum(), (a, b, g), retain_graph=True) for z in (x, y))):
            torch.testing.assert_close(u, v)


def test_third_gradients_of_log_plus():
    a, b = random((2, 3)), random((3, 2))

    def third(product):
        of_a = torch.autograd.grad(product(a, b, "log-plus").square().sum(), a, create_graph=True)[0]
        of_b = torch.autograd.grad(of_a.square().sum(), b, create_graph=True)[0]
        return torch.autograd.grad(of_b.square().sum(), (a, b))

    for x, y in zip(third(matmul), third(by_terms)):
        torch.testing.assert_close(x, y)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_transforms(semiring):
    a, b = random((6, 3, 4), gradient=False), random((6, 4, 5), gradient=False, seed=1)

    def loss(a, b):
        return (matmul(a, b, semiring) ** 2).sum()

    product = lambda a, b: matmul(a, b, semiring)  # noqa: E731
    vmap, grad = torch.func.vmap, torch.func.grad
    close = torch.testing.assert_close
    close(vmap(product)(a, b), product(a, b))
    close(vmap(product, (2, 1))(a.movedim(0, 2), b.movedim(0, 1)), product(a, b))
    close(vmap(product, (0, None))(a, b[0]), product(a, b[0]))
    # The dimension of vmap must meet none of the other operand's stack.
    close(vmap(product, (0, None))(a, b), product(a[:, None], b))
    close(vmap(product, (None, 0))(a, b), product(a, b[:, None]))
    close(vmap(vmap(product, (None, 0)), (0, None))(a, b), product(a[:, None], b))
    each = [torch.autograd.grad(loss(x, y), (x, y)) for x, y in zip(a.clone().requires_grad_(), b.clone().requires_grad_())]
    for i in range(2):
        expected = torch.stack([of[i] for of in each])
        close(vmap(grad(loss, i))(a, b), expected)
        close(grad(lambda *operands: vmap(loss)(*operands).sum(), i)(a, b), expected)
        close(torch.stack([grad(loss, i)(x, y) for x, y in zip(a, b)]), expected)
    # One gradient of each operand of a stack, under autograd outside of the transforms.
    x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
    vmap(loss)(x, y).sum().backward()
    close(x.grad, torch.stack([of[0] for of in each]))
    # A gradient within a gradient, of something else.
    inner = lambda x: grad(lambda y: (product(x * 1, b[0]) * y).sum())(b[0, 0, 0]) ** 2  # noqa: E731
    close(grad(inner)(a[0]), torch.autograd.functional.jacobian(lambda x: product(x, b[0]).sum() ** 2, a[0]))
    close(torch.func.jacrev(product)(a[0], b[0]), torch.autograd.functional.jacobian(product, (a[0], b[0]))[0])


def test_gradients_forward_are_refused():
    """Torch would go on with a tangent of zeros, and say nothing."""
    a, b = random((6, 3, 4), gradient=False), random((4, 5), gradient=False)
    product = lambda a: matmul(a, b, "max-plus")  # noqa: E731
    func = torch.func
    for way in [lambda: func.jvp(product, (a,), (a,)), lambda: func.jacfwd(product)(a), lambda: func.vmap(lambda a: func.jvp(product, (a,), (a,)))(a), lambda: func.jvp(func.vmap(product), (a,), (a,))]:
        with pytest.raises(tilewright.UnsupportedError, match="forward"):
            way()
    with pytest.raises(NotImplementedError):
        func.hessian(lambda a: matmul(a, b, "log-plus").sum())(a)
    # What is beside a tangent has none.
    assert torch.equal(func.jvp(lambda x: product(a) * x, (b[0, 0],), (b[0, 0],))[1], product(a) * b[0, 0])


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_the_compiler_gives_the_same_bits(semiring):
    def step(a, b):
        return matmul(a * 2, b, semiring) + 1

    torch.compiler.reset()
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for shapes in SHAPES[:1] + SHAPES[4:5] + SHAPES[3:4]:
        results = []
        for function in (step, compiled):
            a, b = random(shapes[0], "float32"), random(shapes[1], "float32", 1)
            c = function(a, b)
            results.append((c, *torch.autograd.grad((c * c).sum(), (a, b)), function(a.detach(), b.detach())))
        for x, y in zip(*results):
            assert torch.equal(x, y)


@pytest.mark.parametrize("semiring", ["max-plus", "log-plus"])
def test_transforms_inside_of_the_compiler(semiring):
    """They break the graph rather than lose a gradient."""
    a, b = random((6, 3, 4)), random((4, 5), gradient=False)
    grad = torch.func.grad
    stacked = lambda a: torch.func.vmap(lambda x: matmul(x, b, semiring))(a).square().sum()  # noqa: E731
    within = lambda x: grad(lambda x: grad(lambda y: (matmul(x * 1, b, semiring) * y).sum())(b[0, 0]) ** 2)(x)  # noqa: E731
    torch.compiler.reset()
    for function in (lambda a: torch.autograd.grad(stacked(a), a)[0], lambda a: within(a.detach())):
        assert torch.equal(function(a), torch.compile(function, backend="aot_eager")(a))
    compiled = torch.compile(stacked, backend="aot_eager")
    assert torch.equal(torch.autograd.grad(compiled(a), a)[0], torch.autograd.grad(stacked(a), a)[0])


def test_the_compiler_that_makes_code():
    for semiring in ["max-plus", "log-plus"]:
        step = lambda a, b: matmul(a, b, semiring).logsumexp(-1).sum()  # noqa: B023, E731
        grads = []
        for function in (step, torch.compile(step, fullgraph=True)):
            a, b = random((5, 20, 30)), random((30, 10), seed=1)
            function(a, b).backward()
            grads.append((a.grad, b.grad))
        torch.testing.assert_close(*grads)


@pytest.mark.skipif(DEVICE == "cpu", reason="graphs are captured on a GPU")
def test_graphs_that_the_compiler_captures():
    for semiring in ["max-plus", "log-plus"]:
        step = lambda a, b: matmul(a, b, semiring) * 2  # noqa: B023, E731
        compiled = torch.compile(step, mode="reduce-overhead", fullgraph=True)
        for seed in range(4):
            a, b = random((64, 64), "float32", seed), random((64, 64), "float32", seed + 9)
            found, expected = compiled(a, b), step(a, b)
            assert torch.equal(found, expected)
            assert all(torch.equal(x, y) for x, y in zip(torch.autograd.grad(found.sum(), (a, b)), torch.autograd.grad(expected.sum(), (a, b))))


def test_a_semiring_as_a_value():
    a, b = random((3, 4), gradient=False), random((4, 5), gradient=False)
    expected = tilewright.matmul(a, b, semiring="max-min")
    assert torch.equal(matmul(a, b, tilewright.max_min), expected)
    compiled = torch.compile(lambda a, b: matmul(a, b, tilewright.max_min), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a, b), expected)
    own = tilewright.Semiring(add="x<y?y:x", mul="min(x,y)", zero="-inf")
    assert torch.equal(matmul(a, b, own), expected) and torch.equal(matmul(a, b, own.name), expected)


@pytest.mark.parametrize("semiring", [*SEMIRINGS, "or-and"])
def test_operators_are_as_torch_checks_them(semiring):
    torch.manual_seed(0)
    for dtype in tilewright.Semiring(semiring).dtypes:
        a = (torch.rand(2, 1, 3, 4, device=DEVICE) * 3).to(getattr(torch, dtype))
        b = (torch.rand(2, 4, 5, device=DEVICE) * 3).to(getattr(torch, dtype)).mT.contiguous().mT
        if not dtype.startswith("float8"):
            # Torch has no product of floats of 8 bits, which its check needs.
            torch.library.opcheck(torch.ops.tilewright.product.default, (a, b, semiring))
        if semiring not in ("plus-times", "log-plus"):
            torch.library.opcheck(torch.ops.tilewright.product_arg.default, (a, b, semiring))
        expected = tilewright.matmul(a, b, semiring=semiring)
        assert torch.equal(matmul(a, b, semiring), expected) and matmul(a, b, semiring).dtype == expected.dtype


def test_the_operator_of_weights():
    generator = torch.Generator().manual_seed(0)
    p, x, q, y, z = (torch.randn(2, *shape, dtype=torch.float64, generator=generator).to(DEVICE) for shape in [(3, 4), (3, 4), (4, 5), (4, 5), (3, 5)])
    for p, q in [(p, q), (p, None), (None, q), (None, None), (p.abs(), -q.abs()), (0 * p, q)]:
        torch.library.opcheck(torch.ops.tilewright.weighted.default, (p, x, q, y, z))
        weigh = lambda weights, x: x.exp() if weights is None else weights * x.exp()  # noqa: E731
        torch.testing.assert_close(torch.ops.tilewright.weighted(p, x, q, y, z), z.exp() * (weigh(p, x) @ weigh(q, y)))


@on_processor
def test_tensors_of_a_gpu_as_a_compiler_sees_them():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        for semiring in SEMIRINGS:
            a, b = (torch.empty(shape, device="cuda", requires_grad=True) for shape in [(2, 3, 4), (4, 5)])
            c = matmul(a, b, semiring)
            assert c.shape == (2, 3, 5) and c.device.type == "cuda" and c.dtype == torch.float32 and c.is_contiguous()
        # Torch itself wants a GPU to go backward; the rules do not.
        g, k = torch.empty(2, 3, 5, device="cuda"), torch.empty(2, 3, 5, dtype=torch.int32, device="cuda")
        given = types.SimpleNamespace(saved_tensors=(k, a, b), shapes=(a.shape, b.shape), semiring="max-min", needs_input_grad=(True, True, False))
        of_a, of_b, _ = tilewright.torch._Selective.backward(given, g, None)
        assert of_a.shape == a.shape and of_b.shape == b.shape and of_a.device.type == "cuda"
        of_a = torch.ops.tilewright.weighted(g, c.detach(), None, b.detach().mT, a.detach())
        assert of_a.shape == a.shape and of_a.device.type == "cuda"
        assert torch.ops.tilewright.product_arg(a.detach(), b.detach(), "max-plus")[1].dtype == torch.int32
        with pytest.raises(tilewright.UnsupportedError, match="cuda:0, but B on cpu"):
            matmul(a, torch.empty(4, 5))


def test_operands_keep_their_types_under_autocast():
    a, b = random((3, 4), "float32"), random((4, 5), "float32")
    expected = [matmul(a, b, semiring) for semiring in SEMIRINGS]
    with torch.autocast(DEVICE, torch.bfloat16):
        for semiring, c in zip(SEMIRINGS, expected):
            found = matmul(a, b, semiring)
            assert found.dtype == torch.float32 and torch.equal(found, c)
            assert all(torch.equal(x, y) for x, y in zip(torch.autograd.grad(found.sum(), (a, b)), torch.autograd.grad(c.sum(), (a, b))))
        with pytest.raises(tilewright.ElementTypeError, match="torch.bfloat16, but B has torch.float32"):
            matmul(a @ b, b.mT)


def test_deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        for semiring in SEMIRINGS:
            a, b = random((30, 40), "float32"), random((40, 50), "float32", 1)
            first, second = (torch.autograd.grad(matmul(a, b, semiring).square().sum(), (a, b)) for _ in range(2))
            assert all(torch.equal(x, y) for x, y in zip(first, second))
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_step_trains():
    target, x = random((8, 6), "float32", gradient=False), random((32, 8), "float32", 1, gradient=False)
    y = matmul(x, target, "max-plus")
    w = torch.nn.Parameter(target + 0.2 * random((8, 6), "float32", 2, gradient=False))
    optimiser = torch.optim.Adam([w], lr=0.01)
    first = None
    for _ in range(200):
        optimiser.zero_grad()
        loss = (matmul(x, w, "max-plus") - y).square().mean()
        loss.backward()
        optimiser.step()
        first = loss.item() if first is None else first
    assert loss.item() < 0.1 * first


def error(kind, code, *arguments):
    with pytest.raises(kind) as caught:
        matmul(*arguments)
    assert isinstance(caught.value, tilewright.Error) and caught.value.code == code and caught.value.hint
    return str(caught.value)


@on_processor
@pytest.mark.parametrize(("dtype", "of_sums"), [(torch.int8, torch.int32), (torch.uint8, torch.int32), (torch.int16, torch.int32), (torch.float8_e4m3fn, torch.float32), (torch.float8_e5m2, torch.float32), (torch.bfloat16, torch.bfloat16)])
def test_results_have_the_type_of_sums(dtype, of_sums):
    a = torch.arange(6).reshape(2, 3).to(dtype)
    found = matmul(a, a.T)
    assert found.dtype == of_sums and torch.equal(found.float(), a.float() @ a.float().T)
    # What a compiler is told.
    torch.library.opcheck(torch.ops.tilewright.product, (a, a.T, "plus-times"), test_utils="test_faketensor")


@on_processor
def test_refusals_name_what_is_wrong():
    a, b = torch.ones(4, 3), torch.ones(3, 5)
    assert "A is a ndarray" in error(TypeError, "not-an-array", a.numpy(), b)
    assert "B is a list" in error(TypeError, "not-an-array", a, b.tolist())
    assert "A is 4x3 but B is 4x3" in error(ValueError, "inner-mismatch", a, a)
    error(ValueError, "inner-mismatch", a, torch.ones(4))
    error(ValueError, "batch-mismatch", torch.ones(2, 4, 3), torch.ones(3, 3, 5))
    error(ValueError, "dimensions", a, torch.tensor(3.0))
    error(TypeError, "dtype-mismatch", a, b.double())
    error(TypeError, "dtype-mismatch", a.clone().requires_grad_(), b.int())
    error(TypeError, "dtype-mismatch", a + 0j, b + 0j)
    error(ValueError, "unsupported", a.to_sparse(), b)
    error(ValueError, "unsupported", torch.nested.nested_tensor([a, a]), b)
    error(ValueError, "unsupported", torch.nested.nested_tensor([a, a[:1]], layout=torch.jagged), b)
    error(ValueError, "unsupported", torch.quantize_per_tensor(a.float(), 0.1, 0, torch.qint8), b)
    error(ValueError, "unsupported", a, b.to("meta"))
    error(ValueError, "unsupported", a, b, "plus-plus")
    error(TypeError, "not-an-array", a, b, 3)
    error(ValueError, "unsupported", a, b, "or-and")
    error(ValueError, "outside-domain", -a, b, "max-times")
    a.requires_grad_()
    assert "or-and has no gradient" in error(ValueError, "unsupported", a, b, "or-and")
    assert "nobody knows which term" in error(ValueError, "unsupported", a, b, tilewright.Semiring(add="max(x,y)", mul="min(x,y)", zero="-inf"))
    assert "functions are called" in error(ValueError, "unsupported", a.detach(), b, tilewright.Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf))
    assert "a.float()" in error(TypeError, "dtype-mismatch", a.half(), b.half(), "max-plus")


@on_processor
def test_views_are_read_where_they_lie():
    base = random((7, 8, 9), gradient=False)
    for a in [base, base[:, ::2], base.mT, base.movedim(0, 2), base[:1].expand(4, 8, 9), torch.view_as_complex(torch.rand(3, 4, 4, 2)).conj().imag]:
        assert torch.allclose(matmul(a, a.mT), a @ a.mT)
        assert torch.allclose(matmul(a, a.mT, "max-plus"), by_terms(a, a.mT, "max-plus"))


@on_processor
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is asked of Linux")
def test_memory_of_a_gradient():
    """The peak of a process, beyond what it has before: at most three times the operands and the result; terms would be 170 times as much."""
    program = """
import torch, tilewright.torch
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
torch.set_num_threads(1)
n = 1024
def step(semiring, n):
    a, b = (torch.rand(n, n, requires_grad=True) for _ in range(2))
    tilewright.torch.matmul(a, b, semiring).sum().backward()
step("log-plus", 64)
before = peak()
step("log-plus", n)
print(peak() - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    # Three for the operands and the result, nine for the gradient, some for what the engine packs.
    assert grown < (3 + 9 + 4) * 4 * 1024, f"{grown} KiB"
