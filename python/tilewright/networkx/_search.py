"""What NetworkX's searches tell beside distances, found from the distances: the order of vertices, and the path of several that weigh the same."""

from __future__ import annotations

import heapq
from typing import Any

import numpy

from ._weights import Weights

__all__ = ["Tree", "floyd_warshall"]

# So many rows at a time stay in the cache.
_ROWS = 64


class Tree:
    """The vertices that a search by Dijkstra reaches from a source, in the order in which it settles them, each with the one before it on its path.

    Only edges that are best paths themselves (``d[u] + w == d[v]``) can settle a vertex. The first of them that is looked at does, as in the search itself.
    """

    def __init__(self, source: int, distances: Any, weights: Weights) -> None:
        reached = distances[weights.begins]
        tight = (reached + weights.values == distances[weights.ends]) & (reached < numpy.inf) & (weights.ends != source)
        begins, ends = weights.begins[tight], weights.ends[tight].tolist()
        starts = numpy.searchsorted(begins, numpy.arange(len(distances) + 1)).tolist()
        away = distances.tolist()
        order: list[int] = []
        before = {source: source}
        # Behind the distance: how many vertices were found before.
        waiting = [(away[source], 0, source)]
        while waiting:
            _, _, vertex = heapq.heappop(waiting)
            order.append(vertex)
            for end in ends[starts[vertex] : starts[vertex + 1]]:
                if end not in before:
                    before[end] = vertex
                    heapq.heappush(waiting, (away[end], len(before), end))
        self.order, self.before = order, before

    def paths(self, labels: list[Any]) -> dict[Any, list[Any]]:
        """The path to each vertex, by labels."""
        source = self.order[0]
        paths = {source: [labels[source]]}
        for vertex in self.order[1:]:
            paths[vertex] = [*paths[self.before[vertex]], labels[vertex]]
        return {labels[vertex]: path for vertex, path in paths.items()}


def floyd_warshall(weights: Weights, count: int) -> tuple[Any, Any, Any]:
    """Distances, the vertex before the last on each path (-1 for none), and the step in which a path was first found (-1 for edges), by Floyd and Warshall's loop.

    Of several best paths the loop tells the one that it found first, which depends on its order. So this is the loop in that order, a vertex in the
    middle at a time.
    """
    distances = weights.matrix(count)
    before = numpy.where(distances < numpy.inf, numpy.arange(count, dtype=numpy.int32)[:, None], numpy.int32(-1))
    steps = numpy.full((count, count), -1, numpy.int32)
    diagonal = numpy.arange(count)
    distances[diagonal, diagonal] = numpy.minimum(distances[diagonal, diagonal], 0)
    through = numpy.empty(_ROWS * count)
    for middle in range(count):
        for first in range(0, count * count, len(through)):
            part = slice(first, first + len(through))
            old = distances.reshape(-1)[part]
            new = through[: len(old)]
            numpy.add(old.reshape(-1, count)[:, middle, None], distances[middle], out=new.reshape(-1, count))
            # A search along one dimension is much the fastest.
            better = numpy.flatnonzero(new < old)
            if len(better):
                old[better] = new[better]
                stops = before.reshape(-1)[part]
                found = better[stops[better] < 0]
                steps.reshape(-1)[part][found] = middle
                stops[better] = before[middle, better % count]
    return distances, before, steps
