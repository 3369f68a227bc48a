"""What edges weigh: which numbers can be computed with as NetworkX would, and what kind of numbers come out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy

from .._adjacency import Adjacency

__all__ = ["Weights"]

_WHOLE: set[type] = {int, numpy.int64, numpy.int32}
_NUMBERS = _WHOLE | {float, numpy.float64}
# Up to here float64 has all whole numbers.
_EXACT = 2**53


class _Absent:
    """What stands for a weight that is not there."""


_ABSENT = _Absent()


@dataclasses.dataclass(frozen=True, eq=False)
class Weights:
    """A weight for each pair of neighbours: the least of parallel edges.

    Attributes
    ----------
    begins, ends, values : arrays
        In the order of the graph's adjacency.
    whole : bool
        Whether sums are Python's `int`, where an edge without a weight weighs 1.
    partial : bool
        Whether an edge has no weight of its own.
    exact : bool
        Whether no sum along a path is rounded, so that its bits depend on no order.
    """

    begins: Any
    ends: Any
    values: Any
    whole: bool
    partial: bool
    exact: bool

    @classmethod
    def of(cls, edges: Adjacency, name: Any) -> Weights:
        given = [_ABSENT] * len(edges.attributes) if name is None else edges.values(name, _ABSENT)
        kinds = set(map(type, given))
        partial = _Absent in kinds
        foreign = kinds - _NUMBERS - {_Absent}
        if foreign:
            raise NotImplementedError(f"an edge whose {name!r} is of type {foreign.pop().__name__}")
        try:
            values = numpy.array([1 if value is _ABSENT else value for value in given] if partial else given, numpy.float64)
        except OverflowError as error:
            raise NotImplementedError(str(error)) from error
        if not numpy.isfinite(values).all():
            raise NotImplementedError(f"an edge whose {name!r} is infinite or no number")
        exact = bool((values == numpy.floor(values)).all() and numpy.abs(values).max(initial=0) * len(edges.labels) < _EXACT)
        whole = kinds <= _WHOLE | {_Absent}
        if whole and not exact:
            raise NotImplementedError("whole weights whose sums may pass 2**53")
        begins, ends = edges.begins, edges.ends
        # Parallel edges lie side by side.
        first = numpy.flatnonzero(numpy.diff(begins, prepend=-1) | numpy.diff(ends, prepend=-1))
        if len(first) < len(begins):
            begins, ends, values = begins[first], ends[first], numpy.minimum.reduceat(values, first)
        return cls(begins, ends, values, whole, partial, exact)

    @property
    def negative(self) -> bool:
        return bool((self.values < 0).any())

    def without_loops(self) -> Weights:
        return self._only(self.begins != self.ends)

    def on_best_paths(self, distances: Any) -> Weights:
        """The edges that can be on a best path: those that are one themselves, but for rounding."""
        reached = distances[distances < numpy.inf]
        rounding = 0 if self.exact else len(distances) * numpy.finfo(numpy.float64).eps * reached.max(initial=0)
        return self._only(self.values <= distances[self.begins, self.ends] + rounding)

    def _only(self, kept: Any) -> Weights:
        return dataclasses.replace(self, begins=self.begins[kept], ends=self.ends[kept], values=self.values[kept])

    def backwards(self) -> Weights:
        return dataclasses.replace(self, begins=self.ends, ends=self.begins)

    def matrix(self, count: int) -> Any:
        """As a matrix: infinity where there is no edge."""
        matrix = numpy.full((count, count), numpy.inf)
        matrix[self.begins, self.ends] = self.values
        return matrix
