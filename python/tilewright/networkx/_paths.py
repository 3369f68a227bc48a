"""Distances and paths between all pairs of vertices. What each function does is told by NetworkX's of the same name."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy

from .._errors import NegativeCycleError
from . import _search
from ._graph import Graph, by_networkx, lengths, searched
from ._mapping import Later, Rows
from ._weights import Weights

__all__ = [
    "all_pairs_bellman_ford_path_length",
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path_length",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
    "johnson",
]


def floyd_warshall(G: Graph, weight: Any = "weight") -> Any:
    """Distances between all pairs of vertices.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.floyd_warshall(graph)[0][3]
    3.0
    """
    weights = G.weights(weight)
    try:
        distances = lengths(weights, len(G))
    except NegativeCycleError:
        # NetworkX's loop gives numbers even so.
        return by_networkx("floyd_warshall", G, weight=weight)
    return _square(G, weights, distances)


def floyd_warshall_predecessor_and_distance(G: Graph, weight: Any = "weight") -> Any:
    """For each pair the vertex before the last on a best path, and the distance.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.floyd_warshall_predecessor_and_distance(graph)[0][0][3]
    2
    """
    weights = G.weights(weight)
    distances, before, steps = _search.floyd_warshall(weights, len(G))
    if (distances.diagonal() < 0).any():
        return by_networkx("floyd_warshall_predecessor_and_distance", G, weight=weight)

    def stops(number: int) -> dict[Any, Any]:
        row = before[number].tolist()
        order = dict.fromkeys([*_neighbours(G, weights, number), *numpy.argsort(steps[number], kind="stable").tolist()])
        labels = G.labels
        return {labels[end]: labels[row[end]] for end in order if row[end] >= 0}

    return Rows(G.labels, stops, _with_edges(G, weights)), _square(G, weights, distances)


def floyd_warshall_numpy(G: Graph, nodelist: Any = None, weight: Any = "weight") -> Any:
    """Distances between all pairs of vertices, as an array.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.floyd_warshall_numpy(graph)[0].tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    order = list(G) if nodelist is None else list(nodelist)
    if len(G) == 0 or len(order) != len(G) or set(order) != set(G):
        return by_networkx("floyd_warshall_numpy", G, nodelist, weight=weight)
    try:
        distances = lengths(G.weights(weight).without_loops(), len(G))
    except NegativeCycleError:
        return by_networkx("floyd_warshall_numpy", G, nodelist, weight=weight)
    if nodelist is None:
        return distances
    numbers = [G.edges.numbers[label] for label in order]
    return distances[numpy.ix_(numbers, numbers)]


def johnson(G: Graph, weight: Any = "weight") -> Any:
    """The best paths between all pairs of vertices.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.johnson(graph)[0][3]
    [0, 1, 2, 3]
    """
    weights = G.weights(weight)
    if weights.negative and not weights.exact:
        raise NotImplementedError("negative fractions, whose sums NetworkX rounds in an order of its own")
    try:
        distances = lengths(weights, len(G), added_along_paths=True)
    except NegativeCycleError as error:
        import networkx

        raise networkx.NetworkXUnbounded("Negative cycle detected.") from error
    # Heights make all weights positive, as Johnson's do, and so have the same paths.
    heights = distances.min(axis=0, initial=0)
    lifted = dataclasses.replace(weights, values=weights.values + heights[weights.begins] - heights[weights.ends])
    distances = distances + heights[:, None] - heights
    lifted = lifted.on_best_paths(distances)
    return Rows(G.labels, lambda number: _search.Tree(number, distances[number], lifted).paths(G.labels))


def all_pairs_dijkstra(G: Graph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    """For each vertex the distances from it, and the paths.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> dict(backend.all_pairs_dijkstra(graph))[0][1][2]
    [0, 1, 2]
    """
    weights, distances = searched(G, weight)
    edges = weights.on_best_paths(distances)

    def answer(number: int) -> Any:
        row = _within(distances[number], number, cutoff)
        tree = functools.cache(lambda: _search.Tree(number, row, edges))
        return Later(lambda: _numbered(G, weights, row, tree().order)), Later(lambda: tree().paths(G.labels))

    return ((label, answer(number)) for number, label in enumerate(G))


def all_pairs_dijkstra_path_length(G: Graph, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    """For each vertex the distances from it.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> dict(dict(backend.all_pairs_dijkstra_path_length(graph))[1])
    {1: 0, 0: 1, 2: 1, 3: 2}
    """
    weights, distances = searched(G, weight)
    edges = weights.on_best_paths(distances)

    def row(number: int) -> dict[Any, Any]:
        near = _within(distances[number], number, cutoff)
        return _numbered(G, weights, near, _search.Tree(number, near, edges).order)

    return ((label, Later(functools.partial(row, number))) for number, label in enumerate(G))


def all_pairs_bellman_ford_path_length(G: Graph, weight: Any = "weight") -> Any:
    """For each vertex the distances from it, where weights may be negative.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> dict(dict(backend.all_pairs_bellman_ford_path_length(graph))[1])
    {1: 0, 0: 1, 2: 1, 3: 2}
    """
    weights = G.weights(weight)
    try:
        distances = lengths(weights, len(G), added_along_paths=True)
    except NegativeCycleError:
        # Sources that do not reach the cycle have an answer.
        return by_networkx("all_pairs_bellman_ford_path_length", G, weight=weight)

    def row(number: int) -> dict[Any, Any]:
        reached = numpy.flatnonzero(distances[number] < numpy.inf).tolist()
        return _numbered(G, weights, distances[number], list(dict.fromkeys([number, *reached])))

    return ((label, Later(functools.partial(row, number))) for number, label in enumerate(G))


def _within(row: Any, source: int, cutoff: Any) -> Any:
    """The distances that are no longer than asked for; the source's own is there in any case."""
    if cutoff is None:
        return row
    row = numpy.where(row <= cutoff, row, numpy.inf)
    row[source] = 0
    return row


def _numbered(G: Graph, weights: Weights, row: Any, order: list[int]) -> dict[Any, Any]:
    """Distances from the first of the vertices, which is at 0, a whole number."""
    values = row[order]
    numbers = values.astype(numpy.int64).tolist() if weights.whole else values.tolist()
    return dict(zip(map(G.labels.__getitem__, order), [0, *numbers[1:]]))


def _square(G: Graph, weights: Weights, distances: Any) -> Rows:
    """All distances, infinity where there is no path. An edge without a weight weighs 1.0 here."""
    whole = weights.whole and not weights.partial
    # An edge from a vertex to itself that weighs 0.0 takes the place of 0.
    free = set() if whole else set(weights.begins[(weights.begins == weights.ends) & (weights.values == 0)].tolist())

    def row(number: int) -> dict[Any, Any]:
        values = distances[number].tolist()
        if whole:
            values = [int(value) if value < numpy.inf else value for value in values]
        values[number] = 0.0 if number in free else 0
        order = dict.fromkeys([number, *_neighbours(G, weights, number), *range(len(values))])
        return dict(zip(map(G.labels.__getitem__, order), map(values.__getitem__, order)))

    return Rows(G.labels, row)


def _neighbours(G: Graph, weights: Weights, number: int) -> list[int]:
    """Those that an edge leads to, in the order of the graph's edges."""
    first, last = numpy.searchsorted(weights.begins, [number, number + 1])
    ends: list[int] = weights.ends[first:last].tolist()
    if G.is_directed():
        return ends
    return [*sorted(end for end in ends if end < number), *(end for end in ends if end >= number)]


def _with_edges(G: Graph, weights: Weights) -> list[int]:
    """The vertices that an edge leads from, in the order of the graph's edges."""
    if G.is_directed():
        met = weights.begins
    else:
        once = weights.begins <= weights.ends
        met = numpy.stack([weights.begins[once], weights.ends[once]], axis=1).ravel()
    found: list[int] = met[numpy.sort(numpy.unique(met, return_index=True)[1])].tolist()
    return found
