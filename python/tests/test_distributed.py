"""Ranks that are threads, and ranks that mpiexec or torch starts."""

import subprocess
import sys
import threading

import pytest
import tilewright

numpy = pytest.importorskip("numpy")

from several_ranks import RANKS, dealt, environment, on, started, weights  # noqa: E402
from tilewright import distributed  # noqa: E402
from tilewright.distributed import DistMatrix, Group  # noqa: E402


@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (2, 2), (3, 1), (2, 3)])
def test_results_are_those_of_one_process(grid, tmp_path):
    for dtype in ("float32", "int32"):
        w = weights(37, dtype)
        expected = tilewright.shortest_paths(w).distances
        product = tilewright.matmul(w, w, semiring="max-plus")

        def work(group):
            d = dealt(group, w, grid=grid, block=8)
            c = distributed.matmul(d, d, "max-plus", threads=1)
            thin = distributed.matmul(d, dealt(group, w[:, :3], grid=grid, block=8), "max-plus", threads=1)
            assert thin.shape == (37, 3) and numpy.array_equal(thin.gather(), product[:, :3])
            assert distributed.closure(d, threads=1) is None
            d.save(tmp_path / dtype)
            d.save(tmp_path / f"{dtype}.npy")
            again = DistMatrix.load(group, tmp_path / dtype, grid=grid[::-1])
            assert again.block == 8 and again.grid == grid[::-1]
            return d.gather(), c.gather(), again.gather()

        for distances, c, again in on(Group.threads(grid[0] * grid[1]), work):
            assert numpy.array_equal(distances, expected) and distances.dtype == dtype
            assert numpy.array_equal(c, product) and numpy.array_equal(again, expected)
        assert numpy.array_equal(numpy.load(tmp_path / f"{dtype}.npy"), expected)


def test_predecessors_are_those_of_one_process():
    w = weights(29, "int64")
    expected = tilewright.shortest_paths(w)
    for distances, stops in on(Group.threads(4), lambda group: [d.gather() for d in distributed.predecessors(dealt(group, w, block=8), threads=1)]):
        assert numpy.array_equal(distances, expected.distances) and numpy.array_equal(stops, expected.predecessors)


def test_local_elements_lie_block_by_block():
    whole = numpy.arange(35).reshape(5, 7)

    def work(group):
        d = dealt(group, whole, grid=(2, 2), block=2)
        copied = DistMatrix.from_local(group, whole.shape, d.local, grid=(2, 2), block=2)
        assert numpy.array_equal(copied.gather(), whole)
        d.local[...] = -d.local
        assert numpy.array_equal(d.gather(), -whole)
        return d.blocks, d.local.shape

    found = on(Group.threads(4), work)
    assert found[3] == ([(range(2, 4), range(2, 4)), (range(2, 4), range(6, 7))], (2, 3))
    assert sum(rows * columns for _, (rows, columns) in found) == 35


def test_states_are_kept_and_gone_on_from(tmp_path):
    w = weights(40, "float32")

    def fail(step, steps):
        assert steps == 10
        if step == 6:
            raise LookupError("at step 6")

    def work(on_step, resume):
        def run(group):
            d = dealt(group, w, block=4)
            done = distributed.closure(d, checkpoint=tmp_path / "states", resume=resume, on_step=on_step, threads=1)
            return done, d.gather()

        return run

    found = on(Group.threads(2), work(fail, False))
    assert all(isinstance(error, LookupError) for error in found), found
    for done, distances in on(Group.threads(4), work(None, True)):
        assert done == 6 and numpy.array_equal(distances, tilewright.shortest_paths(w).distances)


def test_an_exception_at_one_rank_is_an_error_at_all():
    def work(group):
        def fill(rows, columns):
            if group.rank == 1:
                raise LookupError("no such element")
            return 0

        DistMatrix.from_function(group, (9, 9), fill, grid=(1, 2), block=4)

    first, second = on(Group.threads(2), work)
    assert isinstance(second, LookupError)
    assert isinstance(first, tilewright.DeviceError) and "rank (1): LookupError: no such element" in str(first)

    def stop(group):
        def fail(step, steps):
            if group.rank == 0:
                raise LookupError("no such step")

        distributed.closure(dealt(group, weights(9, "int32"), block=4), on_step=fail)

    first, second = on(Group.threads(2), stop)
    assert isinstance(first, LookupError) and isinstance(second, tilewright.DeviceError)
    assert "step 1 of 3" in str(second)


def test_mistakes_are_the_library_s_errors():
    (alone,) = Group.threads(1)
    d = DistMatrix.zeros(alone, (4, 5))
    with pytest.raises(tilewright.ShapeError, match="4x5"):
        distributed.closure(d)
    with pytest.raises(tilewright.ShapeError):
        distributed.matmul(d, d)
    with pytest.raises(tilewright.ShapeError, match="two groups"):
        distributed.matmul(d, DistMatrix.zeros(*Group.threads(1), (5, 4)))
    with pytest.raises(tilewright.UnsupportedError, match="1x2"):
        DistMatrix.zeros(alone, (4, 5), grid=(1, 2))
    with pytest.raises(tilewright.ShapeError):
        DistMatrix.from_local(alone, (4, 5), numpy.zeros((4, 4)))
    with pytest.raises(tilewright.FileError):
        DistMatrix.load(alone, "no-such-file.npy")
    with pytest.raises(tilewright.ShapeError):
        Group.threads(0)
    with pytest.raises(tilewright.ElementTypeError, match="no communicator"):
        Group.mpi4py(7)
    with pytest.raises(tilewright.UnsupportedError):
        distributed.closure(DistMatrix.zeros(alone, (4, 4)), "plus-times")
    # Whatever failed, the elements are where they were.
    d.local[...] = 3
    assert (d.gather() == 3).all()


def test_a_group_belongs_to_one_thread():
    (alone,) = Group.threads(1)
    assert alone.rank == 0
    found = []

    def ask():
        try:
            found.append(alone.rank)
        except tilewright.UnsupportedError as error:
            found.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert "another thread" in found[0]


@pytest.mark.parametrize("kind", ["mpi", "mpi4py"])
def test_ranks_that_mpiexec_starts(kind, mpiexec):
    if kind == "mpi4py":
        pytest.importorskip("mpi4py")
    done = started(mpiexec, kind)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("has the bits of one process") == 4, done.stdout + done.stderr


def test_an_exception_that_nobody_catches_ends_all_ranks(mpiexec):
    done = started(mpiexec, "mpi", "fail")
    assert done.returncode != 0 and "LookupError" in done.stderr, done.stdout + done.stderr


def test_ranks_of_torch(tmp_path):
    pytest.importorskip("torch")
    ranks = [subprocess.Popen([sys.executable, str(RANKS), "torch", str(rank), str(tmp_path / "store")], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(4)]
    for rank in ranks:
        text, _ = rank.communicate(timeout=300)
        assert rank.returncode == 0 and "has the bits of one process" in text, text
