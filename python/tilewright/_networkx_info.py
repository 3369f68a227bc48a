"""What NetworkX says of Tilewright in its own documentation. It reads this while it is imported, so nothing here may import it."""

from __future__ import annotations

from typing import Any

__all__ = ["info"]

_FUNCTIONS = {
    "all_pairs_bellman_ford_path_length": "Rows are in the order of the graph's vertices.",
    "all_pairs_dijkstra": "",
    "all_pairs_dijkstra_path_length": "",
    "average_shortest_path_length": "For breadth-first and Dijkstra's search.",
    "center": "For graphs that are no trees, without bounds.",
    "closeness_centrality": "For all vertices at once.",
    "diameter": "Without bounds.",
    "eccentricity": "For all vertices at once.",
    "floyd_warshall": "Fractions may be rounded differently.",
    "floyd_warshall_numpy": "Fractions may be rounded differently.",
    "floyd_warshall_predecessor_and_distance": "",
    "global_efficiency": "",
    "harmonic_centrality": "For all vertices at once.",
    "johnson": "",
    "radius": "Without bounds.",
    "transitive_closure": "New edges are in the order of the graph's vertices.",
    "wiener_index": "",
}


def info() -> dict[str, Any]:
    """The name, a line, and the functions that are computed, with what is particular to each."""
    return {
        "backend_name": "tilewright",
        "project": "tilewright",
        "package": "tilewright",
        "short_summary": "All pairs at once, by matrix products over semirings.",
        "functions": {name: {"additional_docs": text} if text else {} for name, text in _FUNCTIONS.items()},
    }
