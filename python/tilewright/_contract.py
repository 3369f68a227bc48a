"""The steps of an einsum: each a diagonal, a sum over one operand, or a product of two, on arrays of NumPy, torch or CuPy."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Collection, Sequence
from typing import Any

from . import _native
from ._errors import ShapeError, UnsupportedError
from ._semirings import semiring_of, type_of_sums

_LIBRARIES = {"numpy": ("ndarray", "generic"), "torch": ("Tensor",), "cupy": ("ndarray",)}
# Of classes that were asked for before.
_known: dict[type, Any] = {}
# Rows that are shorter are copied into one matrix rather than summed matrix by matrix.
_SHORT_ROWS = 16


def library(x: Any) -> Any:
    """The module whose array it is, or None. A library that was not imported has no arrays."""
    kind = type(x)
    if kind not in _known:
        for name, bases in _LIBRARIES.items():
            module = sys.modules.get(name)
            if module is not None and issubclass(kind, tuple(getattr(module, base) for base in bases)):
                _known[kind] = module
                return module
        return None
    return _known[kind]


def type_name(x: Any) -> str:
    """The name of the type of an array's elements, as a semiring's `dtypes` have it."""
    return str(getattr(x.dtype, "name", x.dtype)).removeprefix("torch.")


class Over:
    """A semiring, and what the steps ask of it."""

    def __init__(self, semiring: str | _native.Semiring) -> None:
        self.semiring = semiring_of(semiring)
        self.name = self.semiring.name
        self.is_known = self.name in _native.Semiring.NAMES
        self.selects = self.is_known and self.name not in ("plus-times", "log-plus")
        self.needs_positive = self.name in ("max-times", "min-times")

    def matmul(self, a: Any, b: Any) -> Any:
        if library(a).__name__ == "torch":
            from .torch import matmul

            return matmul(a, b, self.name if self.is_known else self.semiring)
        return _native.matmul(a, b, semiring=self.semiring)

    def number(self, number: float | None, like: Any) -> Any:
        """A number as an element of an array's type, in which infinities are the extremes."""
        if number is None:
            raise UnsupportedError(f"a sum over one operand, and {self.name} has no one", "unsupported", "give the semiring's `one`, with which products change nothing")
        if _is_float(like) or abs(number) != math.inf:
            return number
        limits = library(like).iinfo(like.dtype)
        return limits.max if number > 0 else limits.min

    def times(self, a: Any, b: Any) -> Any:
        """The products of elements, as a sum of one term has them; shapes are joined as in ``a + b``."""
        with library(a).errstate(all="ignore") if library(a).__name__ == "numpy" else contextlib.nullcontext():
            return self._times(a, b)

    def _times(self, a: Any, b: Any) -> Any:
        xp, multiply = library(a), self.name.partition("-")[2]
        if not self.is_known or (multiply == "plus" and not _is_float(a)) or type_name(a) not in self.semiring.dtypes:
            # The engine knows the operation, what integers stand for "absent", and which types there are.
            return self.matmul(a[..., None, None], b[..., None, None])[..., 0, 0]
        if self.name == "plus-times":
            return a * b
        if self.name == "or-and":
            return a & b
        if self.name == "log-plus":
            return a + b
        if multiply in ("min", "max"):
            terms = xp.where(a <= b if multiply == "min" else a >= b, a, b)
        else:
            terms = a + b if multiply == "plus" else a * b
        if not _is_float(a):
            return terms
        # What is no number is never selected.
        zero = self.number(self.semiring.zero, a)
        return xp.where((terms == terms) & (a == a) & (b == b), terms, xp.zeros_like(terms) + zero)


def _is_float(x: Any) -> bool:
    return bool(x.dtype.is_floating_point if library(x).__name__ == "torch" else x.dtype.kind not in "biu")


def contract(terms: Sequence[str], arrays: Sequence[Any], output: str, path: Sequence[tuple[int, ...]], over: Over) -> Any:
    """The whole einsum, pair by pair along a path."""
    everywhere = "".join("".join(set(term)) for term in terms)
    alone = {label for label in everywhere if everywhere.count(label) == 1 and label not in output}
    left = [_simplified(term, x, alone, over) for term, x in zip(terms, arrays)]
    for step in path:
        _join(left, step, output, over)
    # What a path has left.
    _join(left, range(len(left)), output, over)
    term, x = left.pop()
    x = _permuted(_widened(x, over), [term.index(label) for label in output])
    return x[()] if library(x).__name__ == "numpy" else x


def _join(left: list[tuple[str, Any]], step: Sequence[int], output: str, over: Over) -> None:
    """Takes operands out of the list, and puts their product at its end. Lists are emptied, so that nothing is kept longer than it is needed."""
    chosen = [left[position] for position in step]
    for position in sorted(step, reverse=True):
        del left[position]
    while len(chosen) > 1:
        pair = [chosen.pop(0), chosen.pop(0)]
        kept = {label for term, _ in left + chosen for label in term}.union(output)
        if _comes_first(pair[1][0], pair[0][0], output):
            pair.reverse()
        chosen.insert(0, _pair(pair, kept, over))
    left += chosen


def _comes_first(term: str, other: str, output: str) -> bool:
    """Whether the result has both operands' letters, and this one's first: its rows are then the result's, which lies as it is wanted."""
    is_its = [label in term for label in output if (label in term) != (label in other)]
    return bool(is_its) and is_its[0] and not all(is_its)


def fixed(terms: Sequence[str], arrays: Sequence[Any], label: str, number: int) -> tuple[list[str], list[Any]]:
    """The operands with one letter at one of its numbers."""
    cut = []
    for term, x in zip(terms, arrays):
        if any(letter == label and not -extent <= number < extent for letter, extent in zip(term, x.shape)):
            raise ShapeError(f"{number} is no number of {label!r}", "out-of-bounds", f"it has {x.shape[term.index(label)]} elements")
        cut.append(x[tuple(number if letter == label else slice(None) for letter in term)])
    return [term.replace(label, "") for term in terms], cut


def first_winner(x: Any, over: Over) -> int:
    """The number of the first element of a vector that its sum selects, or -1."""
    x = x.detach() if library(x).__name__ == "torch" else x
    _, winner = _native.matmul(x[None, :], _ones(x, x.shape[0], over), semiring=over.semiring, arg=True)
    return int(winner[0, 0])


def _simplified(term: str, x: Any, alone: Collection[str], over: Over) -> tuple[str, Any]:
    """An operand with each of its letters once, and without those that nobody else has."""
    for label in sorted(set(term)) if len(set(term)) < len(term) else ():
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            x = x.diagonal(0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + label
    summed = _by_strides([label for label in term if label in alone], term, x)
    if not summed:
        return term, x
    if not _lies_as_one(_permuted(x, [term.index(label) for label in summed + [label for label in term if label not in summed]]), len(summed)):
        # One after another: what is left for the next is smaller than a copy.
        summed = summed[:1]
    kept = _by_strides([label for label in term if label not in summed], term, x)
    x = _permuted(x, [term.index(label) for label in kept + summed])
    rows, count = tuple(x.shape[: len(kept)]), math.prod(x.shape[len(kept) :])
    if kept and rows[-1] >= _SHORT_ROWS and not _lies_as_one(x, len(kept)):
        matrices = x.reshape(*rows, count)
    else:
        matrices = x.reshape(math.prod(rows), count)
    return _simplified("".join(kept), over.matmul(matrices, _ones(x, count, over)).reshape(rows), alone, over)


def _ones(x: Any, rows: int, over: Over) -> Any:
    """A column of the semiring's one, which takes the memory of one."""
    one = over.number(over.semiring.one, x)
    if library(x).__name__ == "torch":
        return x.new_full((1, 1), one).expand(rows, 1)
    return library(x).broadcast_to(library(x).full((1, 1), one, dtype=x.dtype), (rows, 1))


def _pair(pair: list[tuple[str, Any]], kept: Collection[str], over: Over) -> tuple[str, Any]:
    """The product of two operands, each without letters that only it has and nobody wants. The list is emptied."""
    term_b, b = pair.pop()
    term_a, a = pair.pop()
    if a.dtype != b.dtype:
        a, b = _widened(a, over), _widened(b, over)
    shared = [label for label in term_a if label in term_b]
    stack = [label for label in shared if label in kept]
    summed = [label for label in shared if label not in kept]
    rows = _by_strides([label for label in term_a if label not in term_b], term_a, a)
    columns = _by_strides([label for label in term_b if label not in term_a], term_b, b)
    term = "".join(stack + rows + columns)
    if not summed:
        a, b = _widened(a, over), _widened(b, over)
        return term, over.times(_spread(a, term_a, term), _spread(b, term_b, term))
    # The larger one is copied least.
    summed = _by_strides(summed, *((term_a, a) if math.prod(a.shape) >= math.prod(b.shape) else (term_b, b)))
    extents = dict(zip(term_a + term_b, (*a.shape, *b.shape)))
    a = _matrices(a, term_a, stack, rows, summed)
    b = _matrices(b, term_b, stack, summed, columns)
    return term, over.matmul(a, b).reshape(tuple(extents[label] for label in term))


def _matrices(x: Any, term: str, stack: list[str], rows: list[str], columns: list[str]) -> Any:
    """A stack of matrices, each of whose dimensions is one of several letters; a copy where they do not lie so."""
    x = _permuted(x, [term.index(label) for label in stack + rows + columns])
    shape = tuple(x.shape)
    first, then = len(stack), len(stack) + len(rows)
    return x.reshape(*shape[:first], math.prod(shape[first:then]), math.prod(shape[then:]))


def _spread(x: Any, term: str, wanted: str) -> Any:
    """Dimensions for all letters that are wanted, of one element where it has none."""
    x = _permuted(x, [term.index(label) for label in wanted if label in term])
    return x[tuple(slice(None) if label in term else None for label in wanted)]


def _widened(x: Any, over: Over) -> Any:
    """Small elements of plus-times in the type that their sums have."""
    wider, xp = type_of_sums(x.dtype, over.name), library(x)
    return x.to(getattr(xp, wider)) if xp.__name__ == "torch" else x.astype(wider, copy=False)


def _permuted(x: Any, order: Sequence[int]) -> Any:
    if list(order) == list(range(len(order))):
        return x
    return x.permute(*order) if library(x).__name__ == "torch" else x.transpose(order)


def _strides(x: Any) -> tuple[int, ...]:
    return tuple(x.stride() if library(x).__name__ == "torch" else x.strides)


def _by_strides(labels: list[str], term: str, x: Any) -> list[str]:
    """Letters in the order in which their dimensions lie, so that they become one without a copy where they can."""
    if len(labels) < 2:
        return labels
    strides = _strides(x)
    return sorted(labels, key=lambda label: -abs(strides[term.index(label)]))


def _lies_as_one(x: Any, count: int) -> bool:
    """Whether the first dimensions are one without a copy."""
    lying = [(extent, stride) for extent, stride in zip(x.shape[:count], _strides(x)) if extent != 1]
    return all(outer == inner * extent for (_, outer), (extent, inner) in zip(lying, lying[1:]))
