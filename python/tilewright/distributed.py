"""Products and best paths of matrices that are spread over many processes, by MPI or by torch.

Every rank calls the same functions in the same order. [Many ranks](../distributed.md) tells of launchers, of files, and of what happens when something fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from . import _native
from ._dist_matrix import DistMatrix
from ._errors import ShapeError
from ._group import Group

__all__ = ["DistMatrix", "Group", "closure", "matmul", "predecessors"]


def closure(
    d: DistMatrix,
    semiring: str | _native.Semiring = "min-plus",
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_step: Callable[[int, int], object] | None = None,
    threads: int | None = None,
    backend: str = "auto",
) -> int | None:
    """Weights of edges become weights of best paths, in place; paths without an edge are among them.

    The bits are the same on every grid, for the same size of blocks.

    Parameters
    ----------
    d : DistMatrix
        The weight of the edge from row to column; the semiring's zero (infinity for 'min-plus') is no edge.
    semiring : str or Semiring, default 'min-plus'
        As for `tilewright.shortest_paths`.
    checkpoint : path, optional
        A folder in which the two newest states are kept, some ten on the way.
    resume : bool, default False
        Go on from the newest state there. `d` has the weights that the earlier run had.
    on_step : function of two numbers, optional
        Called by each rank before each step, with its number from 0 on and how many there are. An exception ends the closure at all ranks.
    threads : int, optional
        Threads of each rank at most.
    backend : str, default 'auto'
        All ranks have the same. 'auto' computes on the GPUs of `Group.devices`, and otherwise on this processor ('cpu'). 'cuda' gives each rank a GPU of its
        machine, which they take in turn; ranks of torch take the one that torch uses. Its part of the matrices is there during the call, and blocks go from
        GPU to GPU. 'reference' and 'emulator' are those of `tilewright.matmul`.

    Returns
    -------
    int or None
        How many steps an earlier run had done; None where there was none.

    Raises
    ------
    ShapeError, DomainError, UnsupportedError, NegativeCycleError
        At all ranks alike. `d` is undefined then.
    DeviceError
        At all ranks, where one has failed: step, host and rank are named. So is one that has no GPU, and one that Ctrl-C has ended, which raises KeyboardInterrupt itself.
    UnavailableError
        Of a group of one rank that has no GPU.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, closure
    >>> (group,) = Group.threads(1)
    >>> ring = numpy.full((4, 4), numpy.inf)
    >>> ring[[0, 1, 2, 3], [1, 2, 3, 0]] = 1
    >>> d = DistMatrix.from_local(group, (4, 4), ring, block=2)
    >>> closure(d)
    >>> d.local[0]
    array([0., 1., 2., 3.])
    """
    folder = None if checkpoint is None else os.fspath(checkpoint)
    wishes = {"semiring": semiring, "threads": threads, "backend": backend, "checkpoint": folder, "resume": resume, "on_step": on_step}
    return _native.dist_closure(d._group._ranks, d._place, d._owned, wishes)


def predecessors(d: DistMatrix, semiring: str | _native.Semiring = "min-plus", *, threads: int | None = None, backend: str = "auto") -> tuple[DistMatrix, DistMatrix]:
    """The weights of best paths, and the vertex before the last on each: those of `tilewright.shortest_paths`.

    Parameters
    ----------
    d : DistMatrix
        Of integers; it stays as it is.
    semiring : str or Semiring, default 'min-plus'
        That or 'max-plus'.
    threads, backend
        As for `closure`. GPUs find the weights, and processors the vertices.

    Returns
    -------
    (DistMatrix, DistMatrix)
        Weights of the type of `d`, and vertices as int64: -1 where there is none.

    Raises
    ------
    ShapeError, DomainError, UnsupportedError, NegativeCycleError, DeviceError
        As `closure`; of floats and of other semirings.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, predecessors
    >>> (group,) = Group.threads(1)
    >>> d = DistMatrix.from_local(group, (2, 2), numpy.array([[0, 5], [5, 0]]))
    >>> predecessors(d)[1].local
    array([[-1,  0],
           [ 1, -1]])
    """
    found = _native.dist_predecessors(d._group._ranks, d._place, d._owned, {"semiring": semiring, "threads": threads, "backend": backend})
    distances, stops = (DistMatrix(d._group, d._place, owned) for owned in found)
    return distances, stops


def matmul(a: DistMatrix, b: DistMatrix, semiring: str | _native.Semiring = "plus-times", *, threads: int | None = None, backend: str = "auto") -> DistMatrix:
    """The product of two matrices over a semiring. C stays where it is, and panels of A and B go round.

    Parameters
    ----------
    a, b : DistMatrix
        Of one element type, on one grid, in blocks of one size.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are.
    threads, backend
        As for `closure`.

    Returns
    -------
    DistMatrix
        The bits of one product, but for rounding of sums.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError, DeviceError
        At all ranks alike, as `closure`.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, matmul
    >>> (group,) = Group.threads(1)
    >>> a = DistMatrix.from_local(group, (2, 2), numpy.array([[1, 2], [3, 4]]))
    >>> matmul(a, a, "max-plus").gather()
    array([[5, 6],
           [7, 8]])
    """
    if a._group is not b._group:
        raise ShapeError("matrices of two groups", "dimensions", "make both with one group")
    wishes = {"semiring": semiring, "threads": threads, "backend": backend}
    right = None if b is a else (b._place, b._owned)
    owned = _native.dist_matmul(a._group._ranks, (a._place, a._owned), right, wishes)
    return DistMatrix(a._group, ((a.shape[0], b.shape[1]), a.grid, a.block), owned)
