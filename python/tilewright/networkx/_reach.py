"""Which vertices can be reached from which."""

from __future__ import annotations

from typing import Any

import numpy

from .._powers import closure
from ._graph import Graph, by_networkx

__all__ = ["transitive_closure"]


def transitive_closure(G: Graph, reflexive: Any = False) -> Any:
    """The graph, and an edge for each path: of at least one edge, or of none as well (True), or only to other vertices (None).

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> graph = backend.convert_from_nx(networkx.path_graph(3, create_using=networkx.DiGraph))
    >>> list(backend.transitive_closure(graph).edges)
    [(0, 1), (0, 2), (1, 2)]
    """
    if reflexive not in (None, True, False):
        return by_networkx("transitive_closure", G, reflexive=reflexive)
    count = len(G)
    edge = numpy.zeros((count, count), bool)
    edge[G.edges.begins, G.edges.ends] = True
    reached = closure(edge)
    diagonal = numpy.arange(count)
    if reflexive is None:
        reached[diagonal, diagonal] = False
    elif not reflexive:
        # Back along an edge. What has no direction leads back by the same edge, which does not count.
        reached[diagonal, diagonal] = (edge & reached.T).any(axis=1) & G.is_directed()
    added = reached & ~edge
    if not G.is_directed():
        added = numpy.triu(added)
    closed = G.origin.copy()
    for number, label in enumerate(G):
        closed.add_edges_from([(label, G.labels[end]) for end in numpy.flatnonzero(added[number]).tolist()])
    return closed
