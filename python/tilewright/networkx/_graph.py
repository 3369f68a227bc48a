"""A graph of NetworkX as the functions of this backend read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from .. import _adjacency, _native
from ..paths import wishes
from ._weights import Weights

__all__ = ["Graph", "by_networkx", "convert_from_nx", "convert_to_nx", "lengths", "searched"]


class Graph:
    """A graph of NetworkX, and what has been read from it.

    Vertices and edges are those of the moment of conversion. Weights are read when a function first asks for them, and kept.

    Parameters
    ----------
    origin : networkx.Graph
        Of any kind.

    Examples
    --------
    >>> import networkx, tilewright.networkx
    >>> len(tilewright.networkx.Graph(networkx.path_graph(4)))
    4
    """

    __networkx_backend__ = "tilewright"

    def __init__(self, origin: Any) -> None:
        self.origin = origin
        self.edges = _adjacency.read(origin)
        self._weights: dict[Any, Weights] = {}

    def __repr__(self) -> str:
        return f"tilewright.networkx.Graph({self.origin})"

    @property
    def labels(self) -> list[Any]:
        """The vertices, in the order of rows and columns."""
        return self.edges.labels

    def weights(self, name: Any) -> Weights:
        """Those of an attribute; of None, 1 for each edge. NotImplementedError tells of weights that only NetworkX computes with."""
        if name not in self._weights:
            self._weights[name] = Weights.of(self.edges, name)
        return self._weights[name]

    def is_directed(self) -> bool:
        """Whether edges lead one way only."""
        return bool(self.origin.is_directed())

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges."""
        return bool(self.origin.is_multigraph())

    def number_of_edges(self) -> int:
        """As many as NetworkX counts."""
        return int(self.origin.number_of_edges())

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __contains__(self, vertex: object) -> bool:
        return vertex in self.edges.numbers


def convert_from_nx(graph: Any, edge_attrs: dict[Any, Any] | None = None, **_: Any) -> Graph:
    """Reads a graph, and the weights that are named, so that those that cannot be computed with are refused at once.

    Examples
    --------
    >>> import networkx, tilewright.networkx
    >>> tilewright.networkx.convert_from_nx(networkx.path_graph(4)).labels
    [0, 1, 2, 3]
    """
    converted = Graph(graph)
    for name in edge_attrs or ():
        converted.weights(name)
    return converted


def convert_to_nx(result: Any, **_: Any) -> Any:
    """The graph that was converted. All other results are NetworkX's as they are.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = networkx.path_graph(4)
    >>> backend.convert_to_nx(backend.convert_from_nx(graph)) is graph
    True
    """
    return result.origin if isinstance(result, Graph) else result


def lengths(weights: Weights, count: int, *, added_along_paths: bool = False) -> Any:
    """The distances between all vertices, infinity where there is no path.

    Where sums are rounded, the products add weights in another order than a search does. `added_along_paths` gives the bits of a search from the source.
    """
    method = "dijkstra" if added_along_paths and not weights.exact else "auto"
    wanted = wishes("min-plus", method=method)
    # A matrix of few edges would take more memory than the graph.
    if len(weights.values) * 16 < count * count:
        found = _native.paths_of_edges(count, (weights.begins, weights.ends, weights.values), wanted)
    else:
        found = _native.paths_of_matrix(weights.matrix(count), wanted)
    return numpy.asarray(found[0])


def searched(graph: Graph, name: Any, *, backwards: bool = False) -> tuple[Weights, Any]:
    """Weights, and the distances that Dijkstra's search finds from each vertex, or to each."""
    weights = graph.weights(name)
    if weights.negative:
        raise NotImplementedError("negative weights, with which Dijkstra's search may go astray")
    return weights, lengths(weights.backwards() if backwards else weights, len(graph), added_along_paths=True)


def by_networkx(name: str, graph: Graph, *args: Any, **kwargs: Any) -> Any:
    """What NetworkX's own function answers: for graphs of which it has something special to say."""
    import networkx

    return getattr(networkx, name)(graph.origin, *args, backend="networkx", **kwargs)
