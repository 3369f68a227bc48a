"""Products of many matrices in a row: all their beginnings, and all powers of one matrix joined."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from . import _arrays, _native
from ._errors import ElementTypeError, NegativeCycleError, ShapeError, UnsupportedError
from ._semirings import semiring_of
from .paths import wishes

__all__ = ["closure", "logmatmulexp", "scan"]

# Larger matrices are closed one by one, in fewer terms than by squaring.
_SQUARED = 64


def logmatmulexp(a: Any, b: Any, **options: Any) -> Any:
    """The logarithm of ``exp(a) @ exp(b)``: ``c[i, j] = log(sum(exp(a[i, k] + b[k, j]) for k))``.

    It is ``matmul(a, b, semiring="log-plus")``. No exponential overflows, and none that counts vanishes: the error is at most ``u (K + 8 + 2 |c|)`` for a sum of K terms,
    with ``u`` the unit roundoff, however far apart the elements are. ``-inf``, the logarithm of 0, is absent.

    Parameters
    ----------
    a, b : array
        Of float32 or float64, as for `matmul`: stacks, tensors of torch, arrays on a GPU.
    **options
        Those of `matmul`.

    Returns
    -------
    array

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError, UnavailableError, OutOfMemoryError
        As `matmul`.

    Examples
    --------
    >>> import numpy, tilewright
    >>> tilewright.logmatmulexp(numpy.array([[0.0, -150.0]]), numpy.array([[-300.0], [0.0]]))
    array([[-150.]])
    """
    return _native.matmul(a, b, semiring="log-plus", **options)


def scan(matrices: Any, semiring: str | _native.Semiring = "plus-times", *, axis: int = -3, reverse: bool = False, threads: int | None = None) -> Any:
    """All beginnings of a product of matrices: ``c[t] = m[0] @ m[1] @ ... @ m[t]``, over a semiring.

    They are found by halves: pairs are multiplied, their beginnings are found in the same way, and those between follow. That takes fewer than 2 T products for T matrices, in
    2 log2(T) calls for all sequences together. Sums are rounded in another order than from left to right.

    Parameters
    ----------
    matrices : array of (..., T, n, n)
        One sequence, or a batch of them. Of NumPy, or a tensor of torch on this processor.
    semiring : str or Semiring, default 'plus-times'
        As for `matmul`.
    axis : int, default -3
        Along which the matrices follow each other; 0 for (T, ..., n, n).
    reverse : bool, default False
        All endings instead: ``c[t] = m[t] @ ... @ m[T - 1]``.
    threads : int, optional
        Threads at most.

    Returns
    -------
    array of the shape of `matrices`

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError
        For int8, int16 and uint8 under plus-times, whose products are of int32: convert them first.

    Examples
    --------
    >>> import numpy, tilewright
    >>> steps = numpy.array([[[1, 1], [1, 0]]] * 5)
    >>> tilewright.scan(steps)[:, 0, 0]
    array([1, 2, 3, 5, 8])
    """
    m = _arrays.view("the matrices", matrices)
    if m.ndim < 3:
        raise ShapeError(f"matrices in an array of {m.ndim} dimensions", "dimensions", "give three at least: (T, n, n)")
    if not hasattr(axis, "__index__"):
        raise ElementTypeError(f"axis {axis!r} is no whole number", "dtype-mismatch", "give one dimension; -3 is the third from behind")
    axis = operator.index(axis)
    if not -m.ndim <= axis < m.ndim - 2 or axis in (-1, -2):
        raise ShapeError(f"axis {axis} of an array of {m.ndim} dimensions", "dimensions", f"give one from 0 to {m.ndim - 3}; the last two are rows and columns")
    rows, columns = numpy.moveaxis(m, axis, 0).shape[-2:]
    if rows != columns:
        raise ShapeError(f"matrices of {rows}x{columns}, which cannot be multiplied by each other", "not-square", "give square ones: (T, n, n)")
    options: dict[str, Any] = {"semiring": semiring, "threads": threads}
    nothing = numpy.empty((0, 0), m.dtype)
    kind = _native.matmul(nothing, nothing, **options).dtype
    if kind != m.dtype:
        raise UnsupportedError(f"a scan of {m.dtype}, whose products are of {kind}", "unsupported", f"convert the matrices first: m.astype('{kind}')")
    result = numpy.empty_like(m, order="C")
    order = slice(None, None, -1 if reverse else 1)
    _beginnings(numpy.moveaxis(m, axis, 0)[order], numpy.moveaxis(result, axis, 0)[order], reverse, options)
    return _arrays.like(matrices, result)


def _beginnings(m: Any, out: Any, reverse: bool, options: dict[str, Any]) -> None:
    def multiply(left: Any, right: Any, out: Any) -> None:
        _native.matmul(*((right, left) if reverse else (left, right)), out=out, **options)

    count = len(m)
    if count:
        out[0] = m[0]
    if count > 1:
        pairs = numpy.empty((count // 2, *m.shape[1:]), m.dtype)
        multiply(m[: count - 1 : 2], m[1::2], pairs)
        _beginnings(pairs, out[1::2], reverse, options)
    if count > 2:
        multiply(out[1 : count - 1 : 2], m[2::2], out[2::2])


def closure(a: Any, semiring: str | _native.Semiring = "or-and", *, packed: bool = False, threads: int | None = None) -> Any:
    """The closure, or star, of a matrix over a semiring: ``I + a + a @ a + a @ a @ a + ...``, the best of paths of any number of edges.

    Over 'or-and' it is the reflexive transitive closure, and over 'min-plus' the distances of `shortest_paths`. It exists where no cycle is better than none.

    Parameters
    ----------
    a : array of (..., n, n)
        A matrix, or a stack of them, which are closed in one call. Of NumPy, or a tensor of torch on this processor.
    semiring : str or Semiring, default 'or-and'
        One whose sum selects: all of `Semiring.NAMES` but 'plus-times' and 'log-plus'.
    packed : bool, default False
        Whether rows of booleans are packed as by ``numpy.packbits(a, axis=-1)``: (..., n, ceil(n / 8)) of uint8. The result is as well.
    threads : int, optional
        Threads at most.

    Returns
    -------
    array of the shape of `a`

    Raises
    ------
    NegativeCycleError
        Where a cycle is better than none, so that no path is the best. It names the matrix of a stack.
    UnsupportedError
        Over 'plus-times' and 'log-plus'. Over plus-times the closure is the inverse of ``I - a``, where the powers vanish. Over 'or-and' for numbers: ``a != 0`` are booleans.

    Examples
    --------
    >>> import numpy, tilewright
    >>> tilewright.closure(numpy.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)).astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    semiring = semiring_of(semiring)
    if semiring.name in ("plus-times", "log-plus"):
        raise UnsupportedError(f"the closure over {semiring.name}, whose sum selects nothing", "unsupported", "over plus-times: numpy.linalg.inv(numpy.eye(n) - a), where the powers of a vanish")
    m = _arrays.view("A", a)
    if packed:
        m = _unpacked(m, semiring)
    if m.ndim < 2 or m.shape[-1] != m.shape[-2]:
        raise ShapeError(f"A is of shape {m.shape}, but only a square matrix has powers", "not-square", "give one, or a stack of them")
    if semiring.name == "or-and" and m.dtype != bool:
        raise UnsupportedError(f"A is of {m.dtype}, but elements over or-and are true and false", "unsupported", "convert it: a != 0; rows that are packed as bits need packed=True")
    closed = _of_stack(m.reshape(math.prod(m.shape[:-2]), *m.shape[-2:]), semiring, threads).reshape(m.shape)
    return _arrays.like(a, numpy.packbits(closed, axis=-1) if packed else closed)


def _of_stack(m: Any, semiring: _native.Semiring, threads: int | None) -> Any:
    count, size = m.shape[:2]
    # Types and options are looked at whichever way is taken.
    nothing = _closed(numpy.empty((0, 0), m.dtype), semiring, threads)
    if count == 0 or size == 0:
        return numpy.empty_like(m, nothing.dtype)
    if semiring.name == "or-and" and m.dtype == bool and size <= 64:
        return _of_bits(m)
    if count < 2 or size > _SQUARED:
        return numpy.stack([_of_one(m, number, semiring, threads) for number in range(count)])
    identity = numpy.broadcast_to(_identity(m[0], semiring), m.shape)
    closed = identity.copy()
    _native.matmul(m, identity, semiring=semiring, out=closed, accumulate=True, threads=threads)
    for _ in range(size.bit_length()):
        before, closed = closed, _native.matmul(closed, closed, semiring=semiring, threads=threads)
        if numpy.array_equal(before, closed):
            break
    # A cycle that is better than none, be it by rounding: the search for paths decides.
    for number in numpy.flatnonzero((closed.diagonal(0, 1, 2) != identity[0, 0, 0]).any(axis=1)).tolist():
        closed[number] = _of_one(m, number, semiring, threads)
    return closed


def _of_bits(m: Any) -> Any:
    """Of booleans, by Warshall's loop on all matrices of a stack at once: a row is a word."""
    size = m.shape[1]
    bits = numpy.zeros((*m.shape[:2], 64), bool)
    bits[:, :, :size] = m
    bits[:, numpy.arange(size), numpy.arange(size)] = True
    words = numpy.packbits(bits, axis=-1, bitorder="little").view("<u8")[:, :, 0]
    for middle in range(size):
        through = (words >> numpy.uint64(middle)) & numpy.uint64(1)
        words |= through * words[:, middle, None]
    closed = numpy.unpackbits(words[:, :, None].view(numpy.uint8), axis=-1, count=size, bitorder="little")
    return closed.view(bool)


def _of_one(m: Any, number: int, semiring: _native.Semiring, threads: int | None) -> Any:
    try:
        return _closed(m[number], semiring, threads)
    except NegativeCycleError as error:
        if len(m) == 1:
            raise
        found = NegativeCycleError(f"matrix {number} of the stack: {error.args[0]}", error.code, error.hint)
        found.cycle = error.cycle
        raise found from error


def _closed(m: Any, semiring: _native.Semiring, threads: int | None) -> Any:
    return numpy.asarray(_native.paths_of_matrix(m, wishes(semiring, method="dense", threads=threads))[0])


def _identity(m: Any, semiring: _native.Semiring) -> Any:
    """Zeros, which are sums of no term, with ones on the diagonal, which are paths of no edge."""
    zeros = _native.matmul(m[:, :0], m[:0], semiring=semiring)
    return _closed(zeros, semiring, None)


def _unpacked(m: Any, semiring: _native.Semiring) -> Any:
    if semiring.name != "or-and" or m.dtype != numpy.uint8:
        raise ElementTypeError(f"packed rows of {m.dtype} over {semiring.name}", "dtype-mismatch", "booleans are packed, over 'or-and': numpy.packbits(a, axis=-1)")
    if m.ndim < 2 or m.shape[-1] != -(-m.shape[-2] // 8):
        raise ShapeError(f"packed rows of shape {m.shape}", "not-square", "n rows have ceil(n / 8) bytes each: numpy.packbits(a, axis=-1)")
    return numpy.unpackbits(m, axis=-1, count=m.shape[-2]).view(bool)
