"""What products take on this machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _native
from ._errors import ElementTypeError, UnsupportedError
from ._semirings import semiring_of

__all__ = ["bench"]

# A sample is so many seconds long: short products are repeated.
_SAMPLE = 0.02
# Rates of semirings with a product count a multiplication and an addition, as everywhere.
_PAIR = 2


def bench(
    sizes: Iterable[int | Sequence[int]] = (256, 512, 1024),
    *,
    semiring: str | _native.Semiring = "plus-times",
    dtype: str | None = None,
    backend: str = "auto",
    threads: int | None = None,
    rounds: int = 15,
    against: str | None = None,
) -> list[dict[str, Any]]:
    """Measures products of random matrices; ``pandas.DataFrame(bench())`` is a table of them.

    Parameters
    ----------
    sizes : iterable of int or (m, n, k)
        Which products: n for n x n matrices, or A of m x k and B of k x n.
    semiring : str or Semiring, default 'plus-times'
        One of `Semiring.NAMES`, or expressions of your own.
    dtype : str, optional
        The element type; 'float32' unless given, or the first one that the semiring has.
    backend, threads
        As for `matmul`.
    rounds : int, default 15
        Samples of each product, of 20 ms or one product.
    against : {'numpy'}, optional
        Also measures ``a @ b`` of NumPy, in turns. For plus-times.

    Returns
    -------
    list of dict
        ``seconds`` is the median of the product alone, ``call_seconds`` that of the whole call from Python with transfers to a GPU,
        ``operations_per_second`` two for each of m n k terms in ``seconds``. What ran is in ``backend``, ``kernel`` and ``threads``.

    Raises
    ------
    UnsupportedError, ElementTypeError, UnavailableError

    Examples
    --------
    >>> import tilewright
    >>> rows = tilewright.bench([32, (8, 16, 64)], semiring="min-plus", rounds=3)
    >>> [(row["m"], row["n"], row["k"], row["dtype"]) for row in rows]
    [(32, 32, 32, 'float32'), (8, 16, 64, 'float32')]
    >>> all(row["call_seconds"] >= row["seconds"] > 0 for row in rows)
    True
    """
    semiring = semiring_of(semiring)
    for name, given, fits, wanted in [
        ("sizes", sizes, isinstance(sizes, Iterable), "such as [256, 512]"),
        ("rounds", rounds, isinstance(rounds, int), "a whole number"),
        ("dtype", dtype, dtype is None or isinstance(dtype, str), "a name such as 'float32'"),
    ]:
        if not fits:
            raise ElementTypeError(f"{name} is {given!r}", "dtype-mismatch", f"give {wanted}")
    if rounds < 1:
        raise UnsupportedError(f"{rounds} rounds", "unsupported", "one at least")
    if against not in (None, "numpy"):
        raise UnsupportedError(f"a measurement against {against!r}", "unsupported", "against='numpy'")
    if against and semiring.name != "plus-times":
        raise UnsupportedError(f"NumPy's product over {semiring.name}", "unsupported", "NumPy has plus-times alone")
    if dtype is not None and dtype not in semiring.dtypes:
        raise ElementTypeError(f"dtype is {dtype!r}, on which {semiring.name} is not defined", "dtype-mismatch", f"give one of {', '.join(semiring.dtypes)}")
    if dtype is None:
        dtype = "float32" if "float32" in semiring.dtypes else semiring.dtypes[0]
    return [row for size in sizes for row in _of_size(_extents(size), semiring, dtype, backend, threads, rounds, against)]


def _of_size(extents: tuple[int, int, int], semiring: _native.Semiring, dtype: str, backend: str, threads: int | None, rounds: int, against: str | None) -> list[dict[str, Any]]:
    import numpy

    m, n, k = extents
    a, b = _matrix((m, k), dtype, 0), _matrix((k, n), dtype, 1)
    c = _native.matmul(a, b, semiring=semiring)
    told: list[dict[str, Any]] = []
    calls: list[Callable[[], object]] = [lambda: told.append(_native.measure((a, b, c), semiring, backend, threads))]
    if against:
        theirs = numpy.empty_like(c)
        calls.append(lambda: numpy.matmul(a, b, out=theirs))
    for call in calls:
        # The first one finds memory cold and opens devices.
        call()
    told.clear()
    samples = _samples(calls, rounds)
    report = told[-1]
    product = {"semiring": semiring.name, "dtype": dtype, "m": m, "n": n, "k": k}
    seconds = statistics.median(one["seconds"] for one in told)
    rows = [{**product, "backend": report["backend"], "kernel": report["kernel"], "threads": report["threads"], **_rates(extents, seconds, samples[0])}]
    if against:
        rows.append({**product, "backend": "numpy", "kernel": "@", "threads": None, **_rates(extents, statistics.median(samples[1]), samples[1])})
    return rows


def _rates(extents: tuple[int, int, int], seconds: float, samples: list[float]) -> dict[str, float]:
    m, n, k = extents
    rate = _PAIR * m * n * k / seconds if seconds > 0 else 0.0
    return {"seconds": seconds, "call_seconds": statistics.median(samples), "fastest_call_seconds": min(samples), "operations_per_second": rate}


def _samples(calls: list[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Seconds of a call, for each call and round; they take turns."""
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, samples):
            count, begin = 0, time.perf_counter()
            while True:
                call()
                count += 1
                elapsed = time.perf_counter() - begin
                if elapsed >= _SAMPLE:
                    break
            taken.append(elapsed / count)
    return samples


def _extents(size: int | Sequence[int]) -> tuple[int, int, int]:
    extents = tuple(size) if isinstance(size, Sequence) else (size,) * 3
    if len(extents) != 3 or any(not isinstance(extent, int) or extent < 1 for extent in extents):
        raise UnsupportedError(f"the size {size!r}", "unsupported", "give a whole number from 1 on, or three of them: (m, n, k)")
    return extents


def _matrix(shape: tuple[int, int], dtype: str, seed: int) -> Any:
    """Random elements that are not negative, and so belong to every semiring."""
    import numpy

    generator = numpy.random.default_rng(seed)
    if dtype == "bool":
        return generator.random(shape) < 1 / 64
    if dtype.startswith("int"):
        return generator.integers(0, 100, shape).astype(dtype)
    numbers = generator.random(shape)
    if dtype == "bfloat16":
        import ml_dtypes

        return numbers.astype(ml_dtypes.bfloat16)
    return numbers.astype(dtype)
