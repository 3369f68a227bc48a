"""Arrays that are on a GPU, which here is an emulated one: nothing of CUDA is needed but the library that `cargo build -p tilewright-libcuda` makes."""

import gc
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import reference
import tilewright
from tilewright import matmul

ROOT = pathlib.Path(__file__).parents[2]
LIBRARY = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "debug", "libtilewright_libcuda.so")
AGAIN = "TILEWRIGHT_TEST_GPU_ARRAYS"

if AGAIN in os.environ:
    import gpu_array
    from gpu_array import ByDlpack, ByInterface, Frozen, InStream, on_gpu

in_the_child = pytest.mark.skipif(AGAIN not in os.environ, reason="is run in a process that has the emulated GPU")


@pytest.mark.skipif(AGAIN in os.environ, reason="is the child")
@pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not there: cargo build -p tilewright-libcuda")
def test_all_pass_on_an_emulated_gpu():
    environment = {**os.environ, AGAIN: "1", "TILEWRIGHT_CUDA_PATH": str(LIBRARY), "TILEWRIGHT_EMULATED_GPUS": "h200;rtx a6000"}
    configuration = pathlib.Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(configuration), "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def random(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


@pytest.fixture
def compiler():
    """Kernels for winning terms and expressions do not come with the package."""
    try:
        matmul(on_gpu(random((1, 1))), on_gpu(random((1, 1))), semiring="min-plus", arg=True)
    except tilewright.UnavailableError as missing:
        pytest.skip(str(missing))


@in_the_child
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"])
def test_the_result_stays_on_the_gpu(dtype):
    a, b = random((5, 7), dtype), random((7, 6), dtype, 1)
    left, right = on_gpu(a), on_gpu(b)
    c = matmul(left, right)
    assert type(c) is ByDlpack and c.device == 0
    wide = "int32" if dtype in ("int8", "uint8", "int16") else dtype
    np.testing.assert_array_equal(c.numpy(), reference.matmul(a.astype(wide), b.astype(wide), "plus-times"))
    # Nobody knows this library's stream: elements are ready in the default one, and the call waits.
    assert left.asked_for == [1]
    del left, right
    gc.collect()
    assert not gpu_array.LENT


@in_the_child
def test_sums_of_halves_stay_as_they_are():
    a, b = np.array([[2048, 1]], "float16"), np.ones((2, 1), "float16")
    np.testing.assert_array_equal(matmul(on_gpu(a), on_gpu(b), dtype="float32").numpy(), np.full((1, 1), 2049, "float32"))
    out = on_gpu(np.full((1, 1), 0.25, "float32"))
    assert matmul(on_gpu(a), on_gpu(b), out=out, accumulate=True) is out
    np.testing.assert_array_equal(out.numpy(), np.full((1, 1), 2049.25))


@in_the_child
@pytest.mark.parametrize("kind", ["ByDlpack", "ByInterface"])
@pytest.mark.parametrize(("shape_a", "shape_b"), [((4, 3), (3, 5)), ((3,), (3, 5)), ((4, 3), (3,)), ((3,), (3,)), ((2, 4, 3), (3, 5)), ((2, 4, 3), (2, 3, 5)), ((2, 1, 4, 3), (3, 3, 5)), ((0, 3), (3, 2)), ((2, 0), (0, 3))])
def test_shapes_are_those_of_the_operator(kind, shape_a, shape_b):
    a, b = random(shape_a), random(shape_b, seed=1)
    expected = np.asarray(a @ b)
    out = on_gpu(np.full(expected.shape, 7, "float32"), getattr(gpu_array, kind))
    left, right = (on_gpu(x, getattr(gpu_array, kind)) for x in (a, b))
    assert matmul(left, right, out=out) is out
    np.testing.assert_array_equal(out.numpy(), expected)
    if a.size:
        matmul(left, right, semiring="min-plus", out=out)
        np.testing.assert_array_equal(out.numpy(), reference.matmul(a, b, "min-plus"))


@in_the_child
def test_strides_are_read_where_they_lie_and_nothing_is_allocated():
    a, b = random((12, 16)), random((16, 10), seed=1)
    left, right, place = on_gpu(a), on_gpu(b), on_gpu(np.full((20, 40), 5, "float32"), ByInterface)
    for cut_a, cut_b in [(np.s_[::2, ::2], np.s_[::2, ::-1]), (np.s_[::-1, 4:9], np.s_[5:10, 3:]), (np.s_[1:2, :], np.s_[:, 1:2])]:
        part = place.view(lambda x: x[3:15, ::3][: len(a[cut_a]), : b[cut_b].shape[1]])
        # The first product loads kernels, which take some memory for good.
        free = []
        for _ in range(3):
            matmul(left.view(lambda x: x[cut_a]), right.view(lambda x: x[cut_b]), out=part)
            free.append(gpu_array.free_memory())
        assert free[0] == free[1] == free[2]
        np.testing.assert_array_equal(part.numpy(), a[cut_a] @ b[cut_b])
    transposed = matmul(left.view(np.transpose), left, semiring="max-plus")
    np.testing.assert_array_equal(transposed.numpy(), reference.matmul(a.T, a, "max-plus"))
    assert (place.numpy()[:3] == 5).all()


@in_the_child
def test_joining_with_what_is_there():
    a, b, old = random((6, 4)), random((4, 5), seed=1), random((6, 5), seed=2)
    out = on_gpu(old)
    matmul(on_gpu(a), on_gpu(b), out=out, accumulate=True)
    np.testing.assert_array_equal(out.numpy(), old + a @ b)
    matmul(on_gpu(a), on_gpu(b), out=out, alpha=2, beta=-1)
    np.testing.assert_array_equal(out.numpy(), 2 * (a @ b) - (old + a @ b))


WIDEST = "add=max(x,y); mul=min(x,y); zero=-inf"


@in_the_child
@pytest.mark.parametrize("kind", ["ByDlpack", "InStream", "Frozen"])
@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [((40, 33), (33, 50)), ((3,), (3, 5)), ((4, 3), (3,)), ((3,), (3,)), ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 1, 4, 3), (3, 3, 5)), ((2, 5, 1, 3), (5, 3, 4)), ((2, 5, 1, 3), (2, 1, 3, 4)), ((4, 0), (0, 3)), ((0, 3), (3, 2))],
)
def test_winning_terms(compiler, kind, shape_a, shape_b):
    kind = getattr(gpu_array, kind)
    a, b = random(shape_a), random(shape_b, seed=1)
    options = {"stream": gpu_array.stream()} if kind is InStream else {}
    for semiring in ["min-plus", "max-min"]:
        c, winners = matmul(on_gpu(a, kind, **options), on_gpu(b, kind, **options), semiring=semiring, arg=True)
        expected = matmul(a, b, semiring=semiring, arg=True)
        assert type(c) is type(winners) is kind and winners.dtype == "int32"
        for got, wanted in zip((c, winners), expected, strict=True):
            np.testing.assert_array_equal(got.numpy(), wanted)


@in_the_child
@pytest.mark.parametrize("dtype", ["float16", "float64", "int16", "int32", "int64"])
def test_winning_terms_beside_an_out_of_any_order(compiler, dtype):
    a, b, old = random((6, 4), dtype), random((4, 5), dtype, 1), random((6, 5), dtype, 2)
    for flip in [lambda x: x, np.transpose]:
        out = on_gpu(np.ascontiguousarray(flip(old))).view(flip)
        expected = old.copy()
        wanted = matmul(a, b, semiring="min-plus", out=expected, accumulate=True, arg=True)[1]
        c, winners = matmul(on_gpu(a), on_gpu(b), semiring="min-plus", out=out, accumulate=True, arg=True)
        assert c is out and (wanted == -1).any()
        np.testing.assert_array_equal(out.numpy(), expected)
        np.testing.assert_array_equal(winners.numpy(), wanted)


@in_the_child
@pytest.mark.parametrize("kind", ["ByDlpack", "InStream", "Frozen"])
def test_semirings_of_ones_own(compiler, kind):
    kind = getattr(gpu_array, kind)
    options = {"stream": gpu_array.stream()} if kind is InStream else {}
    for dtype in ["float32", "int64"]:
        a, b = random((2, 9, 7), dtype), random((2, 7, 8), dtype, 1)
        left, right = (on_gpu(x, kind, **options) for x in (a, b))
        for semiring in [WIDEST, tilewright.Semiring(WIDEST)]:
            c = matmul(left, right, semiring=semiring)
            assert type(c) is kind
            np.testing.assert_array_equal(c.numpy(), matmul(a, b, semiring=WIDEST))
    if kind is Frozen:
        return
    # What does not commute, and is written to columns that are joined with what is there.
    times = "add=x+y; mul=x*y+0*x; zero=0"
    a, b, old = random((5, 4)), random((4, 6), seed=1), random((6, 5), seed=2)
    out = on_gpu(old, kind, **options).view(np.transpose)
    matmul(on_gpu(a, kind, **options), on_gpu(b, kind, **options), semiring=times, out=out, accumulate=True)
    np.testing.assert_array_equal(out.numpy(), old.T + a @ b)


@in_the_child
@pytest.mark.parametrize(
    ("shape_a", "shape_b", "launches"),
    [
        ((2, 3, 4, 3), (2, 3, 3, 5), 1),  # one stack
        ((2, 3, 4, 3), (3, 5), 1),  # one product
        ((2, 3, 4, 3), (2, 1, 3, 5), 1),  # rows of two products
        ((4, 3), (2, 3, 3, 5), 1),
        ((2, 7, 4, 3), (7, 3, 5), 2),
        ((7, 2, 4, 3), (2, 3, 5), 2),
        ((7, 1, 4, 3), (2, 3, 5), 2),
    ],
)
def test_stacks_take_few_launches(monkeypatch, shape_a, shape_b, launches):
    asked = []
    monkeypatch.setattr("tilewright._devices.memory", lambda *arguments: asked.append(arguments))
    a, b = random(shape_a), random(shape_b, seed=1)
    named = gpu_array.stream()
    left, right = (on_gpu(x, InStream, stream=named) for x in (a, b))
    np.testing.assert_array_equal(matmul(left, right).numpy(), a @ b)
    # Each launch of log-plus asks for memory.
    asked.clear()
    c = matmul(left, right, semiring="log-plus")
    assert len(asked) == launches
    np.testing.assert_allclose(c.numpy(), matmul(a, b, semiring="log-plus"), rtol=1e-5)


@in_the_child
def test_stacks_lie_in_any_order():
    a, b = random((2, 3, 4, 5)), random((3, 2, 5, 6), seed=1)
    left, right = on_gpu(a), on_gpu(b).view(lambda x: x.swapaxes(0, 1))
    wanted = a @ b.swapaxes(0, 1)
    # Matrices of the result that interlock, and ones that go backwards.
    for shape, make in [((4, 2, 3, 6), lambda x: x.transpose(1, 2, 0, 3)), ((6, 3, 4, 2), lambda x: x.transpose(3, 1, 2, 0)[::-1, :, ::-1])]:
        out = on_gpu(np.zeros(shape, "float32")).view(make)
        matmul(left, right, out=out)
        np.testing.assert_array_equal(out.numpy(), wanted)
        matmul(left, right, out=out, accumulate=True)
        np.testing.assert_array_equal(out.numpy(), 2 * wanted)


@in_the_child
def test_winning_terms_of_stacks_in_any_order(compiler):
    a = random((2, 3, 4, 5))
    left = on_gpu(a)
    turned = left.view(lambda x: x.transpose(1, 0, 3, 2)[::-1])
    c, winners = matmul(turned, left.view(lambda x: x[:1, ::-1, :, ::-1].swapaxes(0, 1)), semiring="max-plus", arg=True)
    expected = matmul(a.transpose(1, 0, 3, 2)[::-1], a[:1, ::-1, :, ::-1].swapaxes(0, 1), semiring="max-plus", arg=True)
    for got, wanted in zip((c, winners), expected, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted)


@in_the_child
@pytest.mark.parametrize("kind", ["ByDlpack", "Frozen"])
def test_booleans_and_their_winning_terms(compiler, kind):
    a, b = random((5, 6)) > 6, random((6, 4), seed=1) > 6
    got = matmul(*(on_gpu(x, getattr(gpu_array, kind)) for x in (a, b)), semiring="or-and", arg=True)
    for x, wanted in zip(got, matmul(a, b, semiring="or-and", arg=True), strict=True):
        np.testing.assert_array_equal(x.numpy(), wanted)


@in_the_child
def test_an_operand_that_out_lies_on_is_copied():
    a = random((6, 6))
    there = on_gpu(a)
    matmul(there, there, semiring="min-plus", out=there, accumulate=True)
    np.testing.assert_array_equal(there.numpy(), np.minimum(a, reference.matmul(a, a, "min-plus")))


@in_the_child
def test_arrays_that_nobody_may_write_to():
    a, b = random((5, 4)), random((4, 3), seed=1)
    left, right = on_gpu(a, Frozen, ordinal=1), on_gpu(b, Frozen, ordinal=1)
    c = matmul(left, right)
    assert type(c) is Frozen and c.device == 1
    np.testing.assert_array_equal(c.numpy(), a @ b)
    np.testing.assert_array_equal(matmul(c, on_gpu(b.T.copy(), ordinal=1)).numpy(), a @ b @ b.T)
    refused("read-only", "read-only", left, right, out=c)
    refused("unsupported", "give `out`", left, right, accumulate=True)
    del left, right
    # What was lent comes back.
    free = []
    for _ in range(3):
        del c
        c = matmul(on_gpu(a, Frozen, ordinal=1), on_gpu(b, Frozen, ordinal=1))
        free.append(gpu_array.free_memory(1))
    assert free[0] == free[1] == free[2] and not gpu_array.LENT


@in_the_child
def test_streams_of_the_library():
    a = random((4, 4))
    named = gpu_array.stream()
    out = on_gpu(np.zeros((4, 4), "float32"), ByInterface, stream=named)
    matmul(on_gpu(a, ByInterface, stream=named), on_gpu(a, ByInterface, stream=2), out=out)
    np.testing.assert_array_equal(out.numpy(), a @ a)
    # One stream of all: the work goes into it, by as many launches as it takes, and memory for them comes and goes there.
    for semiring in ["plus-times", "log-plus"]:
        arrays = [on_gpu(a, ByInterface, stream=named) for _ in range(2)]
        matmul(*arrays, semiring=semiring, out=out)
        before = gpu_array.free_memory()
        matmul(*arrays, semiring=semiring, out=out)
        assert gpu_array.free_memory() == before
        np.testing.assert_allclose(out.numpy(), matmul(a, a, semiring=semiring), rtol=1e-6)
    # The handle is used: the driver refuses one that it does not know.
    with pytest.raises(tilewright.DeviceError):
        matmul(on_gpu(a, ByInterface, stream=12345), on_gpu(a), out=out)
    with pytest.raises(tilewright.DeviceError):
        matmul(on_gpu(a, ByInterface, stream=12345), on_gpu(a, ByInterface, stream=12345), out=on_gpu(a, ByInterface, stream=12345))


@in_the_child
def test_each_gpu_has_its_own_engine():
    a = random((4, 4))
    c = matmul(on_gpu(a, ordinal=1), on_gpu(a, ordinal=1))
    assert c.device == 1
    np.testing.assert_array_equal(c.numpy(), a @ a)
    out = on_gpu(np.zeros((4, 4), "float32"), ByInterface, ordinal=1)
    matmul(on_gpu(a, ByInterface, ordinal=1), on_gpu(a, ByInterface, ordinal=1), out=out)
    np.testing.assert_array_equal(out.numpy(), a @ a)


def refused(code, match, *operands, **options):
    with pytest.raises(tilewright.Error, match=match) as caught:
        matmul(*operands, **options)
    assert caught.value.code == code and caught.value.hint


@in_the_child
def test_what_cannot_be_is_refused():
    a = random((4, 4))
    there, out = on_gpu(a), on_gpu(a)
    refused("unsupported", "A is on GPU 0, but B is on this processor", there, a)
    refused("unsupported", "A is on GPU 0, but B is on GPU 1", there, on_gpu(a, ordinal=1))
    refused("unsupported", "out is on this processor", there, there, out=a.copy())
    refused("unsupported", "out is on GPU 0", a, a, out=out)
    refused("unsupported", "arg result of plus-times", there, there, arg=True)
    refused("unsupported", "alpha and beta leave no winner", there, there, semiring="min-plus", arg=True, out=out, alpha=2)
    refused("unsupported", "alpha or beta with min-plus", there, there, semiring="min-plus", out=out, alpha=2)
    refused("unsupported", "backend cpu", there, there, backend="cpu")
    refused("unsupported", "winning terms over a semiring of your own", there, there, semiring=WIDEST, arg=True)
    refused("unsupported", "have no such numbers", *[on_gpu(a.astype("float16"))] * 2, semiring=WIDEST)
    refused("unsupported", "functions .*minimum", there, there, semiring=tilewright.Semiring(add=np.minimum, mul=np.add, zero=np.inf))
    known_to_nobody = on_gpu(a, ByInterface)
    refused("aliased", "lies on an operand", known_to_nobody, out, out=known_to_nobody)
    refused("inner-mismatch", "4x4", there, on_gpu(random((3, 4))))
    refused("dtype-mismatch", "float64", there, on_gpu(a.astype("float64")))
    refused("dtype-mismatch", "uint16|u2", on_gpu(a.astype("uint16"), ByInterface), there)
    refused("read-only", "read-only", there, there, out=on_gpu(a, ByInterface, read_only=True))
    refused("aliased", "two indices", there, there, out=out.view(lambda x: np.broadcast_to(x[0], (4, 4))))
    refused("unsupported", "give `out`", on_gpu(a, ByInterface), there)
    with pytest.raises(tilewright.UnsupportedError, match="is on a GPU"):
        tilewright.shortest_paths(there)
    tracer = type("DynamicJaxprTracer", (), {"__module__": "jax._src.interpreters.partial_eval"})()
    refused("not-an-array", "Tracer", tracer, tracer)

    class Lost(ByInterface):
        address = 0xDEAD_0000

    refused("unsupported", "0xdead0000", on_gpu(a, Lost), there)
    refused("unsupported", "multiples of 4", on_gpu(a, ByInterface, offset=2), there)

    class Masked(ByInterface):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "mask": self}

    refused("unsupported", "mask", on_gpu(a, Masked), there)

    class Broken(ByInterface):
        __cuda_array_interface__ = {"shape": (4, 4)}

    with pytest.raises(tilewright.ElementTypeError, match="wrongly"):
        matmul(on_gpu(a, Broken), there)
    # All that was refused has left the GPU as it was.
    np.testing.assert_array_equal(there.numpy(), a)


@in_the_child
def test_another_kind_of_device_is_refused():
    class OnRocm(ByDlpack):
        def __dlpack_device__(self):
            return (10, 0)

    a = on_gpu(random((4, 4)), OnRocm)
    refused("unsupported", "kind 10", a, a)


@in_the_child
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_bias_and_an_activation_stay_on_the_gpu(dtype, compiler):
    a, b, bias = random((2, 5, 7), dtype), random((7, 6), dtype, 1), random(6, dtype, 2)
    try:
        c = matmul(on_gpu(a), on_gpu(b), bias=on_gpu(bias), activation="relu", alpha=-1)
    except tilewright.UnavailableError as missing:
        pytest.skip(str(missing))
    np.testing.assert_array_equal(c.numpy(), np.maximum(bias - a.astype("float64") @ b, 0).astype(dtype))


@in_the_child
def test_a_bias_elsewhere_is_refused():
    a, bias = on_gpu(random((3, 3))), random(3)
    with pytest.raises(tilewright.UnsupportedError, match="bias is on this processor"):
        matmul(a, a, bias=bias)
