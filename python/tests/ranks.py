"""What each rank does that a test has started: `ranks.py KIND [...]`."""

import sys

import numpy
import tilewright
from tilewright.distributed import DistMatrix, Group, closure, matmul


def group_of(kind, words):
    if kind == "mpi":
        return Group.mpi()
    if kind == "mpi4py":
        from mpi4py import MPI

        # Ranks the other way round, so that the world will not do.
        return Group.mpi4py(MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.Get_rank()))
    import torch.distributed

    torch.distributed.init_process_group("gloo", init_method=f"file://{words[1]}", rank=int(words[0]), world_size=4)
    return Group.torch()


def main(kind, *words):
    group = group_of(kind, words)
    assert group.size == 4
    if "fail" in words and group.rank == 2:
        raise LookupError("rank 2")
    w = numpy.random.default_rng(1).integers(1, 1000, (61, 61)).astype("float32")
    whole = lambda rows, columns: w[rows.start : rows.stop, columns.start : columns.stop]  # noqa: E731
    d = DistMatrix.from_function(group, w.shape, whole, grid=(2, 2), block=8)
    backend = "cuda" if "gpus" in words else "auto"
    c = matmul(d, d, "max-plus", backend=backend)
    closure(d, backend=backend)
    # Emulated GPUs of several processes know nothing of each other.
    assert group.transport == ("hosts" if "gpus" in words else None)
    assert numpy.array_equal(c.gather(), tilewright.matmul(w, w, semiring="max-plus"))
    assert numpy.array_equal(d.gather(), tilewright.shortest_paths(w).distances)
    print(f"rank {group.rank} has the bits of one process")
    if kind == "mpi4py":
        from mpi4py import MPI

        assert MPI.COMM_WORLD.allreduce(1) == 4
        # Its group is let go after MPI: that must be nobody's trouble.
        MPI.COMM_WORLD.Barrier()
    if kind == "torch":
        import torch.distributed

        torch.distributed.destroy_process_group()


main(*sys.argv[1:])
