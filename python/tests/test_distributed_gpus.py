"""Ranks that have a GPU each, which here are emulated ones."""

import os
import pathlib
import subprocess
import sys

import pytest
import tilewright

numpy = pytest.importorskip("numpy")

from several_ranks import RANKS, dealt, environment, on, started, weights  # noqa: E402
from tilewright import _native, distributed  # noqa: E402
from tilewright.distributed import DistMatrix, Group  # noqa: E402

AGAIN = "TILEWRIGHT_TEST_DISTRIBUTED_GPUS"
# Kernels are those that come with the package: each GPU would compile its own.
EMULATED = {"TILEWRIGHT_CUDA_PATH": "emulator", "TILEWRIGHT_EMULATED_GPUS": "4*h200", "TILEWRIGHT_NVRTC_PATH": "none"}

in_the_child = pytest.mark.skipif(AGAIN not in os.environ, reason="is run in a process that has emulated GPUs")


@pytest.mark.skipif(AGAIN in os.environ, reason="is the child")
def test_all_pass_on_emulated_gpus():
    configuration = pathlib.Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(configuration), "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env={**os.environ, **EMULATED, AGAIN: "1"}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(AGAIN in os.environ, reason="has no GPU")
def test_a_missing_driver_is_named():
    program = "from tilewright.distributed import DistMatrix, Group, closure\n"
    for line in ("Group.devices([0])", "closure(DistMatrix.zeros(*Group.threads(1), (2, 2)), backend='cuda')"):
        command = [sys.executable, "-c", program + line]
        done = subprocess.run(command, env=environment(TILEWRIGHT_CUDA_PATH="none"), capture_output=True, text=True, timeout=100)
        assert "UnavailableError" in done.stderr and "driver" in done.stderr, done.stderr


PRODUCTS = [("min-plus", "float32"), ("min-plus", "float16"), ("plus-times", "int8"), ("plus-times", "float64"), ("max-plus", "int32"), ("or-and", "bool"), ("max-times", "float32"), ("max-min", "uint8")]
GRIDS = [((1, 1), [0]), ((1, 2), [1, 0]), ((2, 1), [2, 3]), ((2, 2), [0, 1, 2, 3])]


def numbers(shape, dtype):
    drawn = numpy.random.default_rng(shape[0]).integers(0, 9, shape)
    return drawn > 6 if dtype == "bool" else drawn.astype(dtype)


@in_the_child
@pytest.mark.parametrize("grid, ordinals", GRIDS)
def test_products_have_the_bits_of_one_process(grid, ordinals):
    for semiring, dtype in PRODUCTS:
        a, b = numbers((21, 37), dtype), numbers((37, 18), dtype)
        expected = tilewright.matmul(a, b, semiring=semiring, backend="cpu")

        def work(group):
            left, right = (dealt(group, m, grid=grid, block=8) for m in (a, b))
            return distributed.matmul(left, right, semiring).gather(), group.transport

        for found, transport in on(Group.devices(ordinals), work):
            assert found.dtype == expected.dtype and numpy.array_equal(found, expected), (semiring, dtype)
            assert transport == (None if len(ordinals) == 1 else "nccl")


@in_the_child
@pytest.mark.parametrize("grid, ordinals", GRIDS)
def test_closures_have_the_bits_of_one_process(grid, ordinals):
    for semiring, dtype in [("min-plus", "float32"), ("min-plus", "int64"), ("max-min", "float32"), ("or-and", "bool")]:
        w = numbers((37, 37), dtype) if dtype == "bool" else weights(37, dtype)
        expected = tilewright.closure(w, semiring)

        def work(group):
            d = dealt(group, w, grid=grid, block=8)
            assert distributed.closure(d, semiring) is None
            return d.gather()

        for found in on(Group.devices(ordinals), work):
            assert found.dtype == w.dtype and numpy.array_equal(found, expected), (semiring, dtype)


@in_the_child
def test_rounded_sums_are_those_of_one_gpu():
    w = numpy.random.default_rng(5).random((40, 40)).astype("float32")

    def work(grid):
        def run(group):
            d = dealt(group, w, grid=grid, block=8)
            distributed.closure(d)
            return d.gather()

        return run

    (one,) = on(Group.devices([0]), work((1, 1)))
    for found in on(Group.devices([3, 1, 0, 2]), work((2, 2))):
        assert numpy.array_equal(found, one)


@in_the_child
def test_predecessors_are_those_of_one_process():
    w = weights(29, "int64")
    expected = tilewright.shortest_paths(w)
    for distances, stops in on(Group.devices([0, 1]), lambda group: [d.gather() for d in distributed.predecessors(dealt(group, w, block=8))]):
        assert numpy.array_equal(distances, expected.distances) and numpy.array_equal(stops, expected.predecessors)


@in_the_child
def test_threads_take_gpus_where_a_backend_asks_for_them():
    w = weights(37, "int32")
    expected = tilewright.shortest_paths(w).distances

    def work(backend):
        def run(group):
            # The first three have a GPU of their own; the fifth shares one.
            d = dealt(group, w, block=8)
            distributed.closure(d, backend=backend)
            return d.gather(), group.transport

        return run

    for count, backend, by in [(2, "cuda", "nccl"), (5, "cuda", "nccl"), (2, "auto", None), (2, "cpu", None)]:
        for found, transport in on(Group.threads(count), work(backend)):
            assert numpy.array_equal(found, expected) and transport == by, (count, backend)
    # Devices compute where they are not asked to, too.
    for found, transport in on(Group.devices([0, 1]), work("cpu")):
        assert numpy.array_equal(found, expected) and transport is None


@in_the_child
def test_states_are_kept_and_gone_on_from(tmp_path):
    w = weights(40, "float32")

    def fail(step, steps):
        if step == 6:
            raise LookupError("at step 6")

    def work(on_step, resume):
        def run(group):
            d = dealt(group, w, block=4)
            done = distributed.closure(d, checkpoint=tmp_path / "states", resume=resume, on_step=on_step)
            return done, d.gather()

        return run

    found = on(Group.devices([0, 1]), work(fail, False))
    assert all(isinstance(error, LookupError) for error in found), found
    # The second run goes on from the last state of the first, on processors.
    for groups, before in ((Group.devices([2, 0, 1]), 6), (Group.threads(2), 9)):
        for done, distances in on(groups, work(None, True)):
            assert done == before and numpy.array_equal(distances, tilewright.shortest_paths(w).distances)


@in_the_child
def test_a_rank_that_fails_ends_all():
    w = weights(37, "float32")
    for failing in range(4):

        def work(group):
            def fail(step, steps):
                if (group.rank, step) == (failing, 2):
                    raise LookupError("no such step")

            distributed.closure(dealt(group, w, grid=(2, 2), block=8), on_step=fail)

        found = on(Group.devices([0, 1, 2, 3]), work)
        assert isinstance(found.pop(failing), LookupError)
        for error in found:
            assert isinstance(error, tilewright.DeviceError) and "step 3 of 5" in str(error) and f"rank ({failing})" in str(error), error


@in_the_child
def test_what_is_wrong_is_the_same_error_at_all_ranks():
    cycle = numpy.full((20, 20), 5, "int32")
    cycle[13, 4], cycle[4, 13] = -9, 3
    negative = numpy.full((9, 9), 0.5, "float32")
    negative[7, 2] = -1

    def closed(group):
        distributed.closure(dealt(group, cycle, block=4))

    def multiplied(group):
        d = dealt(group, negative, block=2)
        distributed.matmul(d, d, "max-times")

    for work, kind, text in [(closed, tilewright.NegativeCycleError, "cycle"), (multiplied, tilewright.DomainError, r"A[7, 2] = -1")]:
        for error in on(Group.devices([0, 1]), work):
            assert isinstance(error, kind) and text in str(error), error


@in_the_child
@pytest.mark.parametrize("work, dtype", [(lambda d: distributed.closure(d, "plus-times"), "int32"), (lambda d: distributed.matmul(d, d), "float16")])
def test_what_gpus_do_not_compute_together_is_named(work, dtype):
    for error in on(Group.devices([0, 1]), lambda group: work(dealt(group, numbers((9, 9), dtype), block=4))):
        assert isinstance(error, tilewright.UnsupportedError) and "plus-times" in str(error) and error.hint, error


@in_the_child
def test_mistakes_are_the_library_s_errors():
    for ordinals, kind, text in [([], tilewright.ShapeError, "no GPUs"), ([1, 1], tilewright.UnsupportedError, "GPU 1 twice"), ([-1], tilewright.UnsupportedError, "GPU -1"), ([0, 9], tilewright.UnavailableError, "4 devices")]:
        with pytest.raises(kind, match=text):
            Group.devices(ordinals)


class Alone:
    """A group of one, as `_native.ranks_of_calls` takes it."""

    rank, size = 0, 1

    def __init__(self, device):
        self.device = device

    def split(self, color):
        return self

    def broadcast(self, address, length, root):
        return self

    def wait(self):
        pass

    def exchange(self, mine):
        return mine


@in_the_child
def test_a_library_s_gpu_is_taken():
    def close(device):
        d = DistMatrix.from_local(Group(_native.ranks_of_calls(Alone(device))), (9, 9), weights(9, "int32"), block=4)
        distributed.closure(d, backend="cuda")
        return d.gather()

    expected = tilewright.shortest_paths(weights(9, "int32")).distances
    for named in (3, None):
        assert numpy.array_equal(close(lambda named=named: named), expected)
    with pytest.raises(tilewright.UnavailableError, match="4 devices"):
        close(lambda: 7)
    with pytest.raises(tilewright.DeviceError, match="number of a GPU.*ZeroDivisionError"):
        close(lambda: 1 // 0)


@in_the_child
@pytest.mark.parametrize("kind", ["mpi", "mpi4py"])
def test_processes_take_a_gpu_each(kind, mpiexec):
    if kind == "mpi4py":
        pytest.importorskip("mpi4py")
    done = started(mpiexec, kind, "gpus")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("has the bits of one process") == 4, done.stdout + done.stderr


@in_the_child
def test_ranks_of_torch_take_a_gpu_each(tmp_path):
    pytest.importorskip("torch")
    ranks = [subprocess.Popen([sys.executable, str(RANKS), "torch", str(rank), str(tmp_path / "store"), "gpus"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(4)]
    for rank in ranks:
        text, _ = rank.communicate(timeout=300)
        assert rank.returncode == 0 and "has the bits of one process" in text, text
