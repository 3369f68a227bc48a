"""``tilewright.einsum``: products of many arrays over a semiring, in Einstein's notation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from . import _contract, _native
from ._errors import ElementTypeError, ShapeError, UnsupportedError
from ._operands import checked
from ._path import path_of

__all__ = ["Winners", "einsum"]


def einsum(subscripts: str, *operands: Any, semiring: str | _native.Semiring = "plus-times", optimize: Any = "greedy", arg: bool = False) -> Any:
    """The sum of products of elements over a semiring, in Einstein's notation.

    ``einsum("ij,jk->ik", a, b)`` has the elements ``c[i, k] = sum(a[i, j] * b[j, k] for j)``, with the semiring's sum and product. Letters that are not
    behind the arrow are summed over, by the semiring's sum and nothing else. Operands are joined in pairs, each by one product of matrices, so that
    nothing has an element for each term. Beside the operands, the results of pairs are in memory, and copies of what does not lie as a matrix does.

    Parameters
    ----------
    subscripts : str
        Letters for the dimensions of each operand, and of the result behind ``->``: as `numpy.einsum` takes them. A letter that an operand has twice
        means its diagonal. ``...`` stands for further dimensions, which are joined as in ``a + b``. Without an arrow, the result has the letters that
        occur once, in the order of the alphabet.
    operands : array
        Of NumPy, torch or CuPy, all of one library and one element type.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are. Sums over one operand need the semiring's `one`.
    optimize : str, list, or callable, default 'greedy'
        In which order pairs are joined: ``'greedy'`` takes the pair next whose result adds least to what is in memory. Another text is one of opt_einsum's,
        such as ``'optimal'``. Also an optimiser of opt_einsum or cotengra, a tree of cotengra, or a list of pairs of positions: both of a pair are taken out of
        the list, and their result is put at its end.
    arg : bool, default False
        Also gives the winning indices, for semirings whose sum selects one of its terms.

    Returns
    -------
    array, or a pair of an array and Winners
        Of the library of the operands; a view of the operand where nothing is computed. Tensors of torch that require a gradient give one that has it, by
        the rules of `tilewright.torch.matmul`. ``winners[i, k]`` says for one element which indices won: ``{"j": 3}``.

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError, DomainError, UnavailableError, OutOfMemoryError
        Each with a code and a hint.

    Examples
    --------
    >>> import numpy, tilewright
    >>> a = numpy.array([[0.0, 7.0], [2.0, 1.0]])
    >>> tilewright.einsum("ij,jk,k->i", a, a, numpy.array([0.0, 5.0]), semiring="max-plus")
    array([13., 14.])
    >>> c, winners = tilewright.einsum("ij->j", a, semiring="max-plus", arg=True)
    >>> c, winners[1]
    (array([2., 7.]), {'i': 0})
    """
    over = _contract.Over(semiring)
    arrays = checked(operands, over)
    if not isinstance(subscripts, str):
        raise ElementTypeError(f"the subscripts are a {type(subscripts).__name__}, and no text", "not-an-array", "give them first, as in einsum('ij,jk->ik', a, b)")
    shapes = tuple(tuple(x.shape) for x in arrays)
    written, repeated, output, path = (_known_plan if isinstance(optimize, str) else _plan)(subscripts, shapes, optimize)
    terms = list(written)
    if arg and not over.selects:
        raise UnsupportedError(f"winning indices of {over.name}, whose sum is no single term", "unsupported", "name a semiring of minima or maxima")
    for position, labels in repeated.items():
        for label in labels:
            # Its elements are the same for all numbers of the letter.
            (terms[position],), (arrays[position],) = _contract.fixed([terms[position]], [arrays[position]], label, 0)
    c = _contract.contract(terms, arrays, output, path, over)
    return (c, Winners(terms, arrays, output, path, over)) if arg else c


class Winners:
    """The indices that won, found for the element that is asked for.

    ``winners[i, k]`` is a dict with a number for each letter that was summed over, -1 where no term is better than none. Among equal terms the first wins: the
    one with the smallest number of the letter that comes first in the subscripts, then of the next. Each takes a product for each such letter, of the
    elements that are left. Only the operands are kept.

    Examples
    --------
    >>> import numpy, tilewright
    >>> best, winners = tilewright.einsum("ij,jk->ik", numpy.array([[1.0, 5.0]]), numpy.array([[0.0], [2.0]]), semiring="max-plus", arg=True)
    >>> winners[0, 0]
    {'j': 1}
    """

    def __init__(self, terms: list[str], arrays: list[Any], output: str, path: list[tuple[int, ...]], over: _contract.Over) -> None:
        self._terms, self._arrays, self._output, self._path, self._over = terms, arrays, output, path, over

    def __getitem__(self, index: int | tuple[int, ...]) -> dict[str, int]:
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self._output):
            raise ShapeError(f"an index of {len(index)} numbers, and the result has {len(self._output)} dimensions", "dimensions", "give a number for each dimension")
        for number in index:
            if isinstance(number, bool) or not hasattr(number, "__index__"):
                raise ElementTypeError(f"an index of {number!r}", "dtype-mismatch", "winners are found for one element: give a whole number for each dimension")
        terms, arrays = self._terms, self._arrays
        for label, number in zip(self._output, index):
            terms, arrays = _contract.fixed(terms, arrays, label, number)
        found: dict[str, int] = {}
        for label in dict.fromkeys("".join(terms)):
            best = _contract.first_winner(_contract.contract(terms, arrays, label, self._path, self._over), self._over)
            found[label] = best
            if best < 0:
                return {**found, **{other: -1 for other in "".join(terms)}}
            terms, arrays = _contract.fixed(terms, arrays, label, best)
        return found


_Plan = tuple[list[str], dict[int, list[str]], str, list[tuple[int, ...]]]


def _plan(subscripts: str, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> _Plan:
    """The letters of the operands, which of them are dimensions of ``...`` that are repeated, those of the result, and the path."""
    terms, output = _parse(subscripts, shapes)
    sizes = _extents(terms, shapes)
    repeated = {position: [label for label, extent in zip(term, shape) if extent != sizes[label]] for position, (term, shape) in enumerate(zip(terms, shapes))}
    left = [frozenset(term) - frozenset(repeated[position]) for position, term in enumerate(terms)]
    return terms, {position: labels for position, labels in repeated.items() if labels}, output, path_of(optimize, left, frozenset(output), sizes)


_known_plan = functools.lru_cache(maxsize=256)(_plan)


def _dots(count: int) -> str:
    """Letters that nobody writes, for the dimensions of ``...``: equal ones for dimensions that are equally far from the last."""
    return "".join(chr(0xE000 + i) for i in reversed(range(count)))


def _parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, one for each dimension."""

    def refuse(why: str, hint: str) -> UnsupportedError:
        return UnsupportedError(f"the subscripts {subscripts!r}: {why}", "unsupported", hint)

    left, arrow, right = "".join(subscripts.split()).partition("->")
    written = left.split(",")
    for part in (*written, right):
        if not all(letter.isalpha() for letter in part.replace("...", "", 1)):
            raise refuse(f"{part!r} is no list of letters", "write letters, '...' at most once for each operand, commas and one arrow")
    if len(written) != len(shapes):
        raise refuse(f"{len(written)} operands, but {len(shapes)} are given", "write letters for each operand, with commas between")
    terms, longest = [], 0
    for position, (term, shape) in enumerate(zip(written, shapes)):
        head, dots, tail = term.partition("...")
        more = len(shape) - len(head) - len(tail)
        if more < 0 or (more > 0 and not dots):
            raise ShapeError(f"operand {position} has {len(shape)} dimensions, but {term!r} has {len(head + tail)} letters", "dimensions", "write a letter for each dimension, or '...'")
        longest = max(longest, more)
        terms.append(head + _dots(more) + tail)
    letters = "".join(terms)
    if not arrow:
        return terms, _dots(longest) + "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1 and letter.isalpha()))
    if longest and "..." not in right:
        raise refuse("the operands have '...', but the result has none", "write '...' behind the arrow, or letters to sum over")
    output = right.replace("...", _dots(longest))
    for letter in output:
        if letter not in letters or output.count(letter) > 1:
            raise refuse(f"the result has {letter!r}, which {'no operand has' if letter not in letters else 'it has twice'}", "each letter of the result is in an operand, and there once")
    return terms, output


def _extents(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The extent of each letter."""
    sizes: dict[str, int] = {}
    said_by: dict[str, int] = {}
    for position, (term, shape) in enumerate(zip(terms, shapes)):
        for label, extent in zip(term, shape):
            known = sizes.get(label, extent)
            if known != extent and (label.isalpha() or 1 not in (known, extent)):
                name, other = label if label.isalpha() else "...", said_by[label]
                differ = f"{known} and {extent} elements in operand {position}" if other == position else f"{known} elements in operand {other}, but {extent} in operand {position}"
                raise ShapeError(f"{name!r} has {differ}", "inner-mismatch", "dimensions of one letter have one extent")
            if label not in sizes or known == 1:
                sizes[label], said_by[label] = extent, position
    return sizes
