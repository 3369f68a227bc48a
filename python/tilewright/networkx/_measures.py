"""Numbers that sum up the distances of a graph. What each function does is told by NetworkX's of the same name.

Sums are taken in NetworkX's order, which is that of distance from each source, and so have the same bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy

from ._graph import Graph, by_networkx, searched
from ._weights import Weights

__all__ = [
    "average_shortest_path_length",
    "center",
    "closeness_centrality",
    "diameter",
    "eccentricity",
    "global_efficiency",
    "harmonic_centrality",
    "radius",
    "wiener_index",
]


def average_shortest_path_length(G: Graph, weight: Any = None, method: Any = None) -> Any:
    """The mean of the distances of all pairs.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> round(backend.average_shortest_path_length(graph), 3)
    1.667
    """
    count = len(G)
    if count < 2:
        return by_networkx("average_shortest_path_length", G, weight=weight, method=method)
    weights, distances = searched(G, None if method == "unweighted" else weight)
    if not _is_connected(distances):
        raise _networkx_error("Graph is not strongly connected." if G.is_directed() else "Graph is not connected.")
    return sum(itertools.chain.from_iterable(_by_distance(weights, distances))) / (count * (count - 1))


def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: Any = None) -> dict[Any, Any]:
    """The distance of each vertex to the farthest one.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.eccentricity(graph)
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    weights, distances = searched(G, weight)
    if not _is_connected(distances):
        what = "digraph is not strongly connected" if G.is_directed() else "graph is not connected"
        raise _networkx_error(f"Found infinite path length because the {what}")
    # The first of those that are equal, as `max` takes it: the source is at 0, a whole number.
    return {label: row[-1] or 0 for label, row in zip(G, _by_distance(weights, distances))}


def diameter(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """The largest distance of two vertices.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.diameter(graph)
    3
    """
    return max(eccentricity(G, weight=weight).values())


def radius(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """The smallest eccentricity.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.radius(graph)
    2
    """
    return min(eccentricity(G, weight=weight).values())


def center(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """The vertices of the smallest eccentricity.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.cycle_graph(4))
    >>> backend.center(graph)
    [0, 1, 2, 3]
    """
    if len(G) == 0:
        return list(by_networkx("center", G, weight=weight))
    far = eccentricity(G, weight=weight)
    least = min(far.values())
    return [label for label, distance in far.items() if distance == least]


def closeness_centrality(G: Graph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> dict[Any, float]:
    """For each vertex the inverse of its mean distance.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.cycle_graph(4))
    >>> backend.closeness_centrality(graph)[0]
    0.75
    """
    weights, distances = searched(G, distance, backwards=True)
    others = len(G) - 1
    found = {}
    for label, row in zip(G, _by_distance(weights, distances)):
        total, closeness = sum(row), 0.0
        if total > 0:
            closeness = (len(row) - 1.0) / total
            if wf_improved:
                closeness *= (len(row) - 1.0) / others
        found[label] = closeness
    return found


def harmonic_centrality(G: Graph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Any, Any]:
    """For each vertex the sum of the inverses of its distances.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.cycle_graph(4))
    >>> backend.harmonic_centrality(graph)[0]
    2.5
    """
    _, distances = searched(G, distance)
    # NetworkX adds in the order of a set.
    order = list(set(G.origin.nodes))
    numbers = [G.edges.numbers[label] for label in order]
    totals, found = numpy.zeros(len(G)), numpy.zeros(len(G), bool)
    for source in numbers:
        row = distances[source]
        counts = (row > 0) & (row < numpy.inf)
        totals[counts] += 1 / row[counts]
        found |= counts
    return {label: float(totals[number]) if found[number] else 0 for label, number in zip(order, numbers)}


def global_efficiency(G: Graph) -> Any:
    """The mean of the inverses of the distances of all pairs.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.cycle_graph(4))
    >>> round(backend.global_efficiency(graph), 3)
    0.833
    """
    pairs = len(G) * (len(G) - 1)
    if pairs == 0:
        return 0
    weights, distances = searched(G, None)
    total = 0
    for row in _by_distance(weights, distances):
        for length in row[1:]:
            total += 1 / length
    return total / pairs


def wiener_index(G: Graph, weight: Any = None) -> Any:
    """The sum of the distances of all pairs.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(4))
    >>> backend.wiener_index(graph)
    10.0
    """
    if len(G) == 0:
        return by_networkx("wiener_index", G, weight=weight)
    weights, distances = searched(G, weight)
    if not _is_connected(distances):
        return float("inf")
    total = sum(itertools.chain.from_iterable(_by_distance(weights, distances)))
    return total if G.is_directed() else total / 2


def _by_distance(weights: Weights, distances: Any) -> Iterator[list[Any]]:
    """The distances from each vertex, shortest first; the first of all, 0 to itself, is a whole number."""
    for row in distances:
        reached = numpy.sort(row[row < numpy.inf])
        yield [0, *(reached.astype(numpy.int64) if weights.whole else reached).tolist()[1:]]


def _is_connected(distances: Any) -> bool:
    return bool((distances < numpy.inf).all())


def _networkx_error(message: str) -> Exception:
    import networkx

    error: Exception = networkx.NetworkXError(message)
    return error
