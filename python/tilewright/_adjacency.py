"""The edges of a graph of NetworkX, in the order in which its searches look at them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy

__all__ = ["Adjacency", "read"]


@dataclasses.dataclass(frozen=True, eq=False)
class Adjacency:
    """All edges by the vertex where they begin. An edge that has no direction is there from both of its ends, and parallel edges lie side by side."""

    labels: list[Any]
    numbers: dict[Any, int]
    begins: Any
    ends: Any
    attributes: list[dict[Any, Any]]

    def values(self, name: Any, default: Any) -> list[Any]:
        """An attribute of each edge."""
        return [each.get(name, default) for each in self.attributes]


def read(graph: Any) -> Adjacency:
    labels = list(graph)
    numbers = {label: number for number, label in enumerate(labels)}
    counts: list[int] = []
    ends: list[int] = []
    attributes: list[dict[Any, Any]] = []
    parallel = graph.is_multigraph()
    for _, neighbours in graph.adjacency():
        before = len(ends)
        if parallel:
            for end, edges in neighbours.items():
                ends += [numbers[end]] * len(edges)
                attributes += edges.values()
        else:
            ends += map(numbers.__getitem__, neighbours)
            attributes += neighbours.values()
        counts.append(len(ends) - before)
    begins = numpy.repeat(numpy.arange(len(labels)), numpy.asarray(counts, numpy.int64))
    return Adjacency(labels, numbers, begins, numpy.asarray(ends, numpy.int64), attributes)
