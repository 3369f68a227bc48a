"""Products and best paths of Dask's arrays, block by block: for matrices that no single machine holds.

Each task holds three blocks at most, whatever the number of blocks: sums run along a chain of tasks, not over all blocks of a row at once.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da

from . import _native
from ._errors import ShapeError
from .paths import shortest_paths as _block_paths

__all__ = ["matmul", "shortest_paths"]


def matmul(a: Any, b: Any, semiring: str | _native.Semiring = "plus-times", *, threads: int | None = 1) -> Any:
    """The product of two matrices of Dask over a semiring.

    Parameters
    ----------
    a, b : dask.array.Array
        Matrices of one element type. B's rows are cut as A's columns are.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are.
    threads : int or None, default 1
        Threads of a task at most; Dask's own run beside each other.

    Returns
    -------
    dask.array.Array
        Its bits are those of one product, but for rounding of plus-times.

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError
        At once; what elements are wrong is found when it is computed.

    Examples
    --------
    >>> import dask.array, tilewright.dask
    >>> a = dask.array.arange(16, chunks=8).reshape(4, 4).rechunk(2)
    >>> tilewright.dask.matmul(a, a, "max-plus").compute()[0]
    array([15, 16, 17, 18])
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ShapeError(f"A is {a.shape} but B is {b.shape}", "inner-mismatch", "the columns of A must equal the rows of B")
    b = b.rechunk({0: a.chunks[1]})
    left, right = a.to_delayed(), b.to_delayed()
    first, then = dask.delayed(_first, pure=True), dask.delayed(_then, pure=True)
    kind = _native.matmul(_sample(a), _sample(b), semiring=semiring)
    rows = []
    for i, m in enumerate(a.chunks[0]):
        row = []
        for j, n in enumerate(b.chunks[1]):
            c = first(left[i, 0], right[0, j], semiring, threads)
            for k in range(1, left.shape[1]):
                c = then(c, left[i, k], right[k, j], semiring, threads)
            row.append(da.from_delayed(c, shape=(m, n), meta=kind))
        rows.append(row)
    return da.block(rows)


def shortest_paths(w: Any, semiring: str | _native.Semiring = "min-plus", *, threads: int | None = 1) -> Any:
    """The weights of the best paths between all pairs of vertices, by the closure of blocks (Floyd and Warshall).

    Parameters
    ----------
    w : dask.array.Array of n x n
        The weight of the edge from row to column; the semiring's zero (infinity for 'min-plus') is no edge.
    semiring : str or Semiring, default 'min-plus'
        As for `tilewright.shortest_paths`.
    threads : int or None, default 1
        Threads of a task at most.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError
        At once; what elements are wrong is found when it is computed.

    Examples
    --------
    >>> import dask.array, numpy, tilewright.dask
    >>> ring = numpy.full((4, 4), numpy.inf)
    >>> ring[[0, 1, 2, 3], [1, 2, 3, 0]] = 1
    >>> tilewright.dask.shortest_paths(dask.array.from_array(ring, chunks=2)).compute()[0]
    array([0., 1., 2., 3.])
    """
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise ShapeError(f"W is {w.shape}, but a graph has as many rows as columns", "not-square", None)
    w = w.rechunk((w.chunks[0], w.chunks[0]))
    blocks = w.to_delayed()
    close, then = dask.delayed(_close, pure=True), dask.delayed(_then, pure=True)
    count = len(w.chunks[0])
    for k in range(count):
        pivot = blocks[k, k] = close(blocks[k, k], semiring, threads)
        others = [i for i in range(count) if i != k]
        for j in others:
            blocks[k, j] = then(blocks[k, j], pivot, blocks[k, j], semiring, threads)
        for i in others:
            blocks[i, k] = then(blocks[i, k], blocks[i, k], pivot, semiring, threads)
        for i in others:
            for j in others:
                blocks[i, j] = then(blocks[i, j], blocks[i, k], blocks[k, j], semiring, threads)
    kind = _sample(w)
    return da.block([[da.from_delayed(blocks[i, j], shape=(m, n), meta=kind) for j, n in enumerate(w.chunks[0])] for i, m in enumerate(w.chunks[0])])


def _first(a: Any, b: Any, semiring: str | _native.Semiring, threads: int | None) -> Any:
    return _native.matmul(_aligned(a), _aligned(b), semiring=semiring, threads=threads)


def _then(c: Any, a: Any, b: Any, semiring: str | _native.Semiring, threads: int | None) -> Any:
    # A task may be run again, and so leaves what it is given as it was.
    return _native.matmul(_aligned(a), _aligned(b), semiring=semiring, out=c.copy(), accumulate=True, threads=threads)


def _close(w: Any, semiring: str | _native.Semiring, threads: int | None) -> Any:
    return _block_paths(_aligned(w), semiring=semiring, predecessors=False, threads=threads).distances


def _aligned(block: Any) -> Any:
    """What comes from another process may lie anywhere."""
    flags = getattr(block, "flags", None)
    return block if flags is None or flags.aligned else block.copy()


def _sample(array: Any) -> Any:
    """An array of no element, of the same type."""
    return array._meta[:0, :0].astype(array.dtype)
