"""The functions that programs of XLA call, called as XLA does: on this processor, and on an emulated GPU. Neither needs JAX."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import reference
import tilewright
import xla_frame
from xla_frame import Call, CallError, empty, of_numpy

ROOT = pathlib.Path(__file__).parents[2]
LIBRARY = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "debug", "libtilewright_libcuda.so")
AGAIN = "TILEWRIGHT_TEST_XLA_ON_GPU"
pytestmark = pytest.mark.parallel_threads(1)

in_the_child = pytest.mark.skipif(AGAIN not in os.environ, reason="is run in a process that has the emulated GPU")


def random(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


def on_cpu(a, b, semiring, c, *winners):
    Call([of_numpy(a), of_numpy(b)], [of_numpy(x) for x in (c, *winners)], semiring=semiring)("cpu")


@pytest.mark.parametrize("platform", ["cpu", "CUDA"])
def test_the_version_that_handlers_are_of(platform):
    said = xla_frame.metadata(platform)
    assert (said.version.major, said.version.minor, said.traits) == (0, 1, 0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"])
def test_types(dtype):
    a, b = random((5, 7), dtype), random((7, 6), dtype, 1)
    c = empty((5, 6), "int32" if dtype in ("int8", "uint8", "int16") else dtype)
    on_cpu(a, b, "plus-times", c)
    np.testing.assert_array_equal(c, reference.matmul(a.astype(c.dtype), b.astype(c.dtype), "plus-times"))


def test_stacks_winners_and_texts():
    a, b = random((2, 1, 3, 4)), random((1, 5, 4, 6), seed=1)
    c, winners = empty((2, 5, 3, 6), "float32"), empty((2, 5, 3, 6), "int32")
    on_cpu(a, b, "max-plus", c, winners)
    expected, terms = tilewright.matmul(a, b, semiring="max-plus", arg=True)
    assert np.array_equal(c, expected) and np.array_equal(winners, terms)
    again = empty(c.shape, "float32")
    on_cpu(a, b, "add=x<y?y:x; mul=x+y; zero=-inf", again)
    assert np.array_equal(again, expected)
    nothing = empty((3, 2), "float32")
    on_cpu(np.zeros((3, 0), "float32"), np.zeros((0, 2), "float32"), "min-plus", nothing)
    assert np.all(nothing == np.inf)
    on_cpu(np.zeros((0, 4), "float32"), np.zeros((4, 2), "float32"), "min-plus", empty((0, 2), "float32"))


def refused(operands, results, platform="cpu", **attributes):
    with pytest.raises(CallError) as caught:
        Call([of_numpy(x) if isinstance(x, np.ndarray) else x for x in operands], [of_numpy(x) for x in results], **attributes)(platform)
    assert all(np.all(x == 77) for x in results)
    return caught.value.args


# XLA's numbers of kinds.
INVALID_ARGUMENT, UNIMPLEMENTED = 3, 12


def test_what_is_refused():
    a, b, c = random((3, 4)), random((4, 5)), empty((3, 5), "float32")
    over = {"semiring": "max-times"}
    text, kind = refused([-a - 1, b], [c], **over)
    assert "is outside what max-times accepts" in text and "\nhint: " in text and kind == INVALID_ARGUMENT
    assert refused([a, a], [c], **over)[1] == INVALID_ARGUMENT
    assert "the product is 3x5" in refused([a, b], [empty((3, 4), "float32")], **over)[0]
    assert refused([a, b.astype("float64")], [c], **over)[1] == INVALID_ARGUMENT
    assert refused([a, b], [empty((3, 5), "float64")], **over)[1] == UNIMPLEMENTED
    assert refused([a, b], [c, empty((3, 5), "int64")], **over)[1] == INVALID_ARGUMENT
    assert "no single k wins" in refused([a, b], [c, empty((3, 5), "int32")], semiring="plus-times")[0]
    assert refused([a, b], [c], semiring="plus-plus")[1] == UNIMPLEMENTED
    assert "semiring" in refused([a, b], [c])[0]
    assert "two operands" in refused([a], [c], **over)[0]
    assert "one or two results" in refused([a, b], [], **over)[0]
    assert "element type 15 of XLA" in refused([(a.ctypes.data, (3, 4), "complex64"), b], [c], **over)[0]
    assert "multiple" in refused([(a.ctypes.data + 1, (3, 4), "float32"), b], [c], **over)[0]


def test_bytes_that_are_no_booleans():
    wrong, c = np.full((2, 2), 2, "uint8").view("bool"), np.zeros((2, 2), "bool")
    with pytest.raises(CallError, match="neither 0 nor 1"):
        on_cpu(wrong, wrong, "or-and", c)


def test_without_a_gpu_the_error_says_so():
    if AGAIN in os.environ:
        pytest.skip("there is one")
    program = "import test_xla as t; a = t.random((2, 2)); print(t.refused([a, a], [t.empty((2, 2), 'float32')], 'CUDA', semiring='min-plus'))"
    environment = {**os.environ, "TILEWRIGHT_CUDA_PATH": "/nowhere/libcuda.so.1"}
    done = subprocess.run([sys.executable, "-c", program], cwd=pathlib.Path(__file__).parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "/nowhere/libcuda.so.1" in done.stdout and "hint" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(AGAIN in os.environ, reason="is the child")
@pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not there: cargo build -p tilewright-libcuda")
def test_all_pass_on_an_emulated_gpu():
    environment = {**os.environ, AGAIN: "1", "TILEWRIGHT_CUDA_PATH": str(LIBRARY), "TILEWRIGHT_EMULATED_GPUS": "h200;rtx a6000"}
    configuration = pathlib.Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(configuration), "-p", "no:cacheprovider", "-k", "gpu", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


class OnGpu:
    """Calls for a GPU, in a stream of their own, with memory that is lent and given back."""

    def __init__(self, ordinal=0):
        import gpu_array

        self.gpu, self.ordinal, self.stream, self.lent, self.returned = gpu_array, ordinal, gpu_array.stream(ordinal), {}, 0

    def allocate(self, bytes):
        """As little aligned as XLA promises, with what lies behind it watched."""
        memory = self.gpu.Allocation(bytes + 16, self.ordinal)
        address = memory.address.value + 16
        self.lent[address] = memory
        return address

    def free(self, address):
        # Behind what is in the stream: here it is kept until all is done.
        assert address in self.lent
        self.returned += 1

    def __call__(self, a, b, semiring, *results):
        arrays = [self.gpu.on_gpu(x, ordinal=self.ordinal) for x in (a, b, *results)]
        given = [(x.address, x.shape, x.dtype.name) for x in arrays]
        Call(given[:2], given[2:], self.stream, self.allocate, self.free, semiring=semiring)("CUDA")
        assert self.returned == len(self.lent)
        return [x.numpy() for x in arrays[2:]]


@in_the_child
@pytest.mark.parametrize("ordinal", [0, 1])
@pytest.mark.parametrize("semiring", ["plus-times", "min-plus", "max-plus", "log-plus"])
def test_products_on_a_gpu(semiring, ordinal):
    a, b = random((37, 19)), random((19, 23), seed=1)
    (c,) = OnGpu(ordinal)(a, b, semiring, empty((37, 23), "float32"))
    np.testing.assert_allclose(c, reference.matmul(a, b, semiring), rtol=1e-5)


@in_the_child
def test_stacks_on_a_gpu():
    a, b = random((2, 1, 3, 4)), random((1, 5, 4, 6), seed=1)
    (c,) = OnGpu()(a, b, "max-plus", empty((2, 5, 3, 6), "float32"))
    assert np.array_equal(c, reference.matmul(a, b, "max-plus"))


@in_the_child
def test_memory_that_is_lent_on_a_gpu():
    """Few results of many terms: the terms are split, and sums meet in memory beside them."""
    a, b = random((4, 3000)), random((3000, 4), seed=1)
    call = OnGpu()
    (c,) = call(a, b, "min-plus", empty((4, 4), "float32"))
    assert np.array_equal(c, reference.matmul(a, b, "min-plus")) and call.lent


@in_the_child
def test_winning_terms_on_a_gpu():
    a, b = random((9, 8)), random((8, 7), seed=1)
    try:
        c, winners = OnGpu()(a, b, "max-plus", empty((9, 7), "float32"), empty((9, 7), "int32"))
    except CallError as missing:
        if "NVRTC" not in str(missing):
            raise
        pytest.skip(str(missing))
    expected, terms = tilewright.matmul(a, b, semiring="max-plus", arg=True)
    assert np.array_equal(c, expected) and np.array_equal(winners, terms)


@in_the_child
def test_what_is_refused_on_a_gpu():
    a, b, c = random((3, 4)), random((4, 5)), empty((3, 5), "float32")
    gpu = OnGpu()
    for shapes in [(a, a, c), (a, b, c[:2]), (a, b, c, empty((3, 4), "int32"))]:
        with pytest.raises(CallError):
            gpu(*shapes[:2], "max-plus", *shapes[2:])
    for semiring, dtype in [("plus-times", "int32"), ("max-plus", "int64"), ("add=x<y?y:x; mul=x+y; zero=-inf", "int32")]:
        with pytest.raises(CallError):
            gpu(a, b, semiring, c, empty((3, 5), dtype))
    # Memory of this processor.
    assert "no GPU of this process" in refused([a, b], [c], "CUDA", semiring="min-plus")[0]
