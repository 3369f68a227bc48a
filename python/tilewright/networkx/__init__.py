"""Tilewright as a backend of NetworkX: its functions of all pairs of vertices, by matrix products over semirings.

NetworkX finds this by itself where Tilewright is installed, and uses it by ``NETWORKX_BACKEND_PRIORITY=tilewright``, by
``networkx.config.backend_priority.algos = ["tilewright"]``, or in one call:

>>> import networkx, tilewright.networkx
>>> ring = networkx.cycle_graph(6)
>>> tilewright.networkx.diameter(tilewright.networkx.convert_from_nx(ring))    # networkx.diameter(ring, backend="tilewright")
3

Each function has the arguments of NetworkX's function of the same name, and its results. Dictionaries of dictionaries are filled a row at a time, when it is asked for.
What is not computed here raises NotImplementedError, for which NetworkX takes the next backend, or its own function.
"""

from __future__ import annotations

from ._graph import Graph, convert_from_nx, convert_to_nx
from ._measures import (
    average_shortest_path_length,
    center,
    closeness_centrality,
    diameter,
    eccentricity,
    global_efficiency,
    harmonic_centrality,
    radius,
    wiener_index,
)
from ._paths import (
    all_pairs_bellman_ford_path_length,
    all_pairs_dijkstra,
    all_pairs_dijkstra_path_length,
    floyd_warshall,
    floyd_warshall_numpy,
    floyd_warshall_predecessor_and_distance,
    johnson,
)
from ._reach import transitive_closure
from ._rules import can_run, should_run

__all__ = [
    "Graph",
    "all_pairs_bellman_ford_path_length",
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path_length",
    "average_shortest_path_length",
    "can_run",
    "center",
    "closeness_centrality",
    "convert_from_nx",
    "convert_to_nx",
    "diameter",
    "eccentricity",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
    "global_efficiency",
    "harmonic_centrality",
    "johnson",
    "radius",
    "should_run",
    "transitive_closure",
    "wiener_index",
]
