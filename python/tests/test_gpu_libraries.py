"""torch, CuPy, Numba and JAX on a real GPU, where there is one: what an emulated GPU cannot show, since these libraries bring machine code."""

import numpy as np
import pytest
import reference
import tilewright
from tilewright import matmul


def torch_on_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    return torch


def cupy_on_gpu():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as missing:
        pytest.skip(str(missing))
    return cupy


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"])
def test_torch(dtype):
    torch = torch_on_gpu()
    a, b = (torch.randint(0, 9, shape, device="cuda").to(getattr(torch, dtype)) for shape in [(40, 30), (50, 30)])
    c = matmul(a, b.T)
    assert c.device == a.device and c.dtype == (torch.int32 if dtype in ("int8", "uint8", "int16") else a.dtype)
    assert torch.equal(c.double(), (a.double() @ b.double().T).to(c.dtype).double())


# About the edges of tiles and of boxes, with pitches that TMA reads and others; also what is split along k.
EDGES = [(1, 1, 1), (5, 1, 16), (1, 7, 40), (66, 2, 9), (64, 63, 65), (127, 129, 64), (130, 255, 33), (257, 96, 130), (1000, 40, 1001), (1030, 515, 512), (33, 520, 257), (64, 64, 20_000)]


@pytest.mark.parametrize("dtype, math", [("float16", "full"), ("bfloat16", "full"), ("int8", "full"), ("uint8", "full"), ("float32", "tf32"), ("float32", "full"), ("float64", "full")])
def test_results_are_right_and_nothing_beside_them_is_written(dtype, math):
    """Integers that the sums hold exactly, in a poisoned result between poisoned neighbours."""
    torch = torch_on_gpu()
    result = torch.int32 if dtype in ("int8", "uint8") else getattr(torch, dtype)
    poison = 77
    for m, n, k in EDGES:
        # Few terms differ from 0, so that no sum is too large for f16 and bf16.
        a, b = (torch.randint(0, 4, shape, device="cuda") * (torch.rand(shape, device="cuda") < 20 / k) for shape in [(m, k), (k, n)])
        a, b = (operand.to(getattr(torch, dtype)) for operand in (a, b))
        exact = (a.double() @ b.double()).to(result)
        for left, right in [(a, b), (a.T.contiguous().T, b), (a, b.T.contiguous().T), (a.T.contiguous().T, b.T.contiguous().T)]:
            for pad in [1, 16]:
                # With 16, rows lie as TMA writes them.
                pitch = n + 2 * pad if pad == 1 else -(-(n + 2 * pad) // 16) * 16
                around = torch.full((m + 2 * pad, pitch), poison, dtype=result, device="cuda")
                inner = around[pad : pad + m, pad : pad + n]
                matmul(left, right, out=inner, math=math)
                assert torch.equal(inner, exact), (m, n, k, left.stride(), right.stride(), pad)
                inner.fill_(poison)
                assert (around == poison).all(), (m, n, k, left.stride(), right.stride(), pad)


def test_torchs_streams_are_in_order():
    torch = torch_on_gpu()
    n = 2048
    mine = torch.cuda.Stream()
    for _ in range(5):
        with torch.cuda.stream(mine):
            a = torch.zeros(n, n, device="cuda")
            torch.cuda._sleep(20_000_000)
            a += 1
            # The product waits for what was asked for before, and what follows waits for it.
            total = matmul(a, a, semiring="min-plus").sum()
        mine.synchronize()
        assert total.item() == 2.0 * n * n


def test_a_call_returns_while_kernels_run():
    torch = torch_on_gpu()
    a, out = torch.ones(512, 512, device="cuda"), torch.zeros(512, 512, device="cuda")
    for semiring in ["plus-times", "min-plus", "log-plus"]:
        matmul(a, a, semiring=semiring, out=out)
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)
        matmul(a, a, semiring=semiring, out=out)
        matmul(a, a, semiring=semiring)
        assert not torch.cuda.current_stream().query(), f"{semiring}: the call has waited"
        torch.cuda.synchronize()


@pytest.mark.filterwarnings("ignore")  # The last graph is empty, which torch says.
def test_torchs_graphs():
    torch = torch_on_gpu()
    a, b = (torch.rand(200, 200, device="cuda") for _ in range(2))
    for semiring in ["plus-times", "min-plus", "log-plus"]:
        graph, first = torch.cuda.CUDAGraph(), matmul(a, b, semiring=semiring)
        with torch.cuda.graph(graph):
            c = matmul(a, b, semiring=semiring)
        b.copy_(torch.rand(200, 200, device="cuda"))
        graph.replay()
        assert torch.equal(c, matmul(a, b, semiring=semiring)) and not torch.equal(c, first)
    # A product that is not known would be compiled while the graph is made.
    with pytest.raises(tilewright.UnsupportedError, match="not loaded yet"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        matmul(a[:77], b, semiring="max-min")


def test_views_of_tensors_are_read_where_they_lie():
    torch = torch_on_gpu()
    a = torch.rand(3, 40, 40, device="cuda")
    for left, right in [(a[:, ::2], a.mT), (a[1].T, a[2, :, 3]), (a[0, :0], a[0]), (a, a[1].expand(3, 40, 40))]:
        assert torch.allclose(matmul(left, right), left @ right)
    negated = torch.view_as_complex(torch.rand(4, 4, 2, device="cuda")).conj().imag
    assert negated.is_neg() and torch.allclose(matmul(negated.clone(), negated.clone()), negated @ negated)
    with pytest.raises(tilewright.UnsupportedError, match="gradient"):
        matmul(a.clone().requires_grad_(), a)


def test_cupy():
    cupy = cupy_on_gpu()
    a, b = cupy.arange(12.0).reshape(3, 4)[:, ::-1], cupy.arange(40.0).reshape(2, 4, 5)
    for stream in [cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null]:
        with stream:
            c = matmul(a, b, semiring="max-plus")
            assert isinstance(c, cupy.ndarray)
            np.testing.assert_array_equal(c.get(), reference.matmul(a.get(), b.get(), "max-plus"))
            out = cupy.zeros((2, 5, 3)).swapaxes(-1, -2)
            assert matmul(a, b, out=out) is out
            np.testing.assert_array_equal(out.get(), a.get() @ b.get())


def test_nothing_is_copied():
    cupy = cupy_on_gpu()
    a, out = cupy.ones((8192, 4096), "float32"), cupy.zeros((4096, 4096), "float32")
    matmul(a[::2], a[:4096], out=out)
    before = cupy.cuda.Device().mem_info[0]
    matmul(a[::-2], a[:4096], out=out)
    cupy.cuda.Device().synchronize()
    assert before - cupy.cuda.Device().mem_info[0] < a.nbytes // 4 and bool((out == 4096).all())


@pytest.mark.filterwarnings("ignore")  # Numba transposes by a kernel of one block, and says that this is slow.
def test_numba():
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("Numba finds no GPU")
    a = np.arange(12.0).reshape(3, 4)
    there = cuda.to_device(a)
    np.testing.assert_array_equal(matmul(there, there.T).copy_to_host(), a @ a.T)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_all_that_arrays_on_this_processor_have(library):
    """Winning terms, semirings of one's own, stacks, and an `out` that lies on an operand."""
    module = torch_on_gpu() if library == "torch" else cupy_on_gpu()
    here = (lambda x: x.cpu().numpy()) if library == "torch" else (lambda x: x.get())
    there = (lambda x: module.from_numpy(x.copy()).cuda()) if library == "torch" else module.asarray
    rng = np.random.default_rng(1)
    for shape_a, shape_b in [((300, 200), (200, 257)), ((3, 40, 30), (30, 50)), ((2, 1, 40, 30), (5, 30, 20)), ((30,), (4, 30, 20))]:
        a, b = (rng.integers(0, 99, shape).astype("float32") for shape in (shape_a, shape_b))
        left, right = there(a), there(b)
        for semiring in ["min-plus", "max-min"]:
            wanted = matmul(a, b, semiring=semiring, arg=True)
            for got, expected in zip(matmul(left, right, semiring=semiring, arg=True), wanted, strict=True):
                np.testing.assert_array_equal(here(got), expected)
        text = "add=max(x,y); mul=min(x,y); zero=-inf"
        np.testing.assert_array_equal(here(matmul(left, right, semiring=text)), matmul(a, b, semiring=text))
    # Beside an `out` by columns, whose winning terms lie by rows.
    a = rng.integers(0, 99, (64, 64)).astype("float32")
    out, expected = there(a.copy()), a.copy().T
    wanted = matmul(a, a, semiring="min-plus", out=expected, accumulate=True, arg=True)[1]
    winners = matmul(there(a), there(a), semiring="min-plus", out=out.T, accumulate=True, arg=True)[1]
    np.testing.assert_array_equal(here(out.T), expected)
    np.testing.assert_array_equal(here(winners), wanted)
    roads = there(a)
    matmul(roads, roads, semiring="min-plus", out=roads, accumulate=True)
    np.testing.assert_array_equal(here(roads), np.minimum(a, reference.matmul(a, a, "min-plus")))


@pytest.mark.filterwarnings("ignore")
def test_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    numpy = jax.numpy
    for dtype in ["float16", "bfloat16", "float32", "int32"]:
        a, b = (jax.random.randint(jax.random.key(i), shape, 0, 9).astype(dtype) for i, shape in enumerate([(70, 50), (3, 50, 40)]))
        c = matmul(a, b)
        assert isinstance(c, jax.Array) and c.dtype == a.dtype and c.devices() == a.devices()
        assert bool((c.astype("float32") == numpy.matmul(a.astype("float32"), b.astype("float32")).astype(dtype)).all())
    a = numpy.arange(12.0).reshape(3, 4)
    c, winners = matmul(a, a.T, semiring="min-plus", arg=True)
    assert winners.dtype == "int32"
    np.testing.assert_array_equal(np.asarray(c), reference.matmul(np.asarray(a), np.asarray(a).T, "min-plus"))
    text = "add=max(x,y); mul=min(x,y); zero=-inf"
    np.testing.assert_array_equal(np.asarray(matmul(a, a.T, semiring=text)), np.asarray(matmul(a, a.T, semiring="max-min")))
    # Results are JAX's own: it computes with them, and lets go of them.
    total = jax.jit(lambda x: (x + 1).sum())
    square = numpy.ones((1024, 1024))
    for _ in range(50):
        square = matmul(square, square, semiring="min-plus") - 1
    assert float(total(square)) == 2 * 1024 * 1024
    with pytest.raises(tilewright.Error, match="read-only"):
        matmul(a, a.T, out=c)
    with pytest.raises((tilewright.Error, jax.errors.JAXTypeError)):
        jax.jit(lambda x: matmul(x, x))(square)
