"""Which calls are computed here: what can be, and what is worth it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _measures, _paths, _reach

__all__ = ["FUNCTIONS", "can_run", "should_run"]

FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(module, name) for module in (_paths, _measures, _reach) for name in module.__all__}

# Arguments that ask for a part, or bring a part of the answer.
_PARTS = {"eccentricity": ("v", "sp"), "diameter": ("e",), "radius": ("e",), "center": ("e",), "closeness_centrality": ("u",), "harmonic_centrality": ("nbunch", "sources")}
_FEWEST = 100
# An edge takes NetworkX some 500 bytes, and a distance takes 8.
_PAIRS_OF_AN_EDGE = 64
_SMALL_MATRIX = 4096 * 4096

_Question = Callable[[str, dict[str, Any]], bool]


def _is_function(_: str, given: dict[str, Any]) -> bool:
    return any(callable(given.get(name)) for name in ("weight", "distance"))


def _is_part(name: str, given: dict[str, Any]) -> bool:
    return any(given[part] is not None for part in _PARTS.get(name, ()))


def _has_bounds(_: str, given: dict[str, Any]) -> bool:
    return given.get("usebounds") is True and not given["G"].is_directed()


def _may_be_tree(name: str, given: dict[str, Any]) -> bool:
    graph = given["G"]
    return name == "center" and given["weight"] is None and not graph.is_directed() and graph.number_of_edges() < len(graph)


def _has_other_method(_: str, given: dict[str, Any]) -> bool:
    return given.get("method") not in (None, "unweighted", "dijkstra")


_REFUSED: dict[str, _Question] = {
    "weights that are a function": _is_function,
    "a part of the vertices, or of the answer": _is_part,
    "bounds, which need few searches": _has_bounds,
    "a graph that may be a tree, whose center is found without paths": _may_be_tree,
    "another method": _has_other_method,
}


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call can be computed here; if not, why.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> backend.can_run("diameter", (networkx.path_graph(4),), {})
    True
    """
    try:
        bound = inspect.signature(FUNCTIONS[name]).bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    return next((reason for reason, holds in _REFUSED.items() if holds(name, bound.arguments)), True)


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is worth the conversion, and its matrices the memory; if not, why.

    Examples
    --------
    >>> import networkx, tilewright.networkx as backend
    >>> backend.should_run("diameter", (networkx.path_graph(4),), {})
    'fewer than 100 vertices'
    """
    graph = args[0] if args else kwargs["G"]
    count = len(graph)
    if count < _FEWEST:
        return f"fewer than {_FEWEST} vertices"
    if count * count > max(_SMALL_MATRIX, _PAIRS_OF_AN_EDGE * graph.number_of_edges()):
        return "a matrix would be far larger than the graph"
    return True
