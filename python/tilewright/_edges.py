"""Weights of graphs, and the edges of graphs of other libraries, as the engine takes them."""

from __future__ import annotations

from typing import Any

from . import _native
from ._errors import ElementTypeError, ShapeError, UnsupportedError
from ._semirings import semiring_of

__all__ = ["as_scipy_takes_them", "check_type", "of_igraph", "of_networkx", "of_scipy", "vectors"]

# Beginnings, ends and weights; vertices as a list or an array of numbers.
_Edges = tuple[Any, Any, list[Any]]


def check_type(w: Any, semiring: str | _native.Semiring) -> None:
    """Refuses an array whose elements are no weights. One that says nothing of its type is left to the engine."""
    dtype = getattr(w, "dtype", None)
    if dtype is None:
        return
    name, taken = str(getattr(dtype, "name", dtype)).removeprefix("torch."), _native.path_types(semiring)
    # Of other semirings the engine says what is wrong with them.
    if taken and name not in taken:
        over = semiring_of(semiring).name
        raise ElementTypeError(f"W has weights of {name}", "dtype-mismatch", f"best paths over {over} take {', '.join(taken)}: {'w != 0' if over == 'or-and' else 'w.astype(float)'}")


def as_scipy_takes_them(weights: Any, dtype: Any) -> Any:
    """A copy of numbers in another type, where that is one of numbers as well, and no wider."""
    import numpy

    try:
        given = numpy.asarray(weights)
    except ValueError as error:
        raise ShapeError(f"the graph is no matrix: {error}", "dimensions", "give a matrix with as many rows as columns") from error
    # The floats of ml_dtypes are of no kind that NumPy knows.
    is_number = given.dtype.kind in "biuf" or given.dtype.name.startswith(("bfloat", "float8"))
    if not is_number or given.dtype.itemsize > 8:
        raise ElementTypeError(f"the graph has weights of {given.dtype}", "dtype-mismatch", "weights are booleans, integers, or floats of up to 64 bits: w.astype('float64')")
    return numpy.array(given, dtype=dtype)


def of_scipy(graph: Any, adds_up: bool = True) -> tuple[int, tuple[Any, Any, Any]]:
    """The stored elements of a sparse array. Those at one place are added up, as nearly everywhere in SciPy."""
    if len(graph.shape) != 2:
        raise ShapeError(f"W has {len(graph.shape)} dimensions, but a graph has rows and columns", "dimensions", "give a matrix with as many rows as columns")
    rows, columns = graph.shape
    if rows != columns:
        raise ShapeError(f"W is {rows}x{columns}, but a graph has as many rows as columns", "not-square", "give a square matrix")
    graph = graph.tocsr()
    if adds_up and not graph.has_canonical_format:
        graph = graph.copy()
        graph.sum_duplicates()
    triples = graph.tocoo()
    return rows, (triples.row.astype("int64"), triples.col.astype("int64"), triples.data)


def of_networkx(graph: Any, weight: str) -> tuple[list[Any], _Edges]:
    from . import _adjacency

    edges = _adjacency.read(graph)
    return edges.labels, (edges.begins, edges.ends, edges.values(weight, 1))


def of_igraph(graph: Any, weight: str) -> tuple[list[Any] | None, int, _Edges]:
    pairs = graph.get_edgelist()
    weights = list(graph.es[weight]) if weight in graph.es.attributes() else [1] * len(pairs)
    edges = _both_ways([source for source, _ in pairs], [target for _, target in pairs], weights, graph.is_directed())
    labels = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    if labels is not None and len(set(labels)) < len(labels):
        twice = next(label for number, label in enumerate(labels) if label in labels[:number])
        raise UnsupportedError(f"two vertices are called {twice!r}", "unsupported", "give names that differ; del graph.vs['name'] leaves their numbers")
    return labels, graph.vcount(), edges


def _both_ways(begins: list[int], ends: list[int], weights: list[Any], directed: bool) -> _Edges:
    return (begins, ends, weights) if directed else (begins + ends, ends + begins, weights + weights)


def vectors(edges: _Edges, semiring: str | _native.Semiring) -> tuple[Any, Any, Any]:
    """Beginnings, ends and weights as arrays: booleans for 'or-and', otherwise float64."""
    import numpy

    begins, ends, values = edges
    name = semiring_of(semiring).name
    try:
        weights = numpy.asarray(values)
    except ValueError:
        # Not all of them are numbers.
        weights = numpy.asarray(values, dtype=object)
    if name == "or-and":
        weights = numpy.ones(len(values), dtype=bool) if weights.dtype.kind != "b" else weights
    elif weights.dtype.kind not in "iuf" or weights.dtype.itemsize > 8:
        for begin, end, value in zip(begins, ends, values):
            number = numpy.asarray(value)
            if number.ndim or number.dtype.kind not in "iuf" or number.dtype.itemsize > 8:
                raise ElementTypeError(f"the edge from vertex {begin} to vertex {end} weighs {value!r}, a {type(value).__name__}", "dtype-mismatch", "weights are integers and floats of up to 64 bits; an edge without one weighs 1")
        weights = numpy.asarray(values, dtype=numpy.float64)
    else:
        weights = weights.astype(numpy.float64)
    return numpy.asarray(begins, dtype=numpy.int64), numpy.asarray(ends, dtype=numpy.int64), weights
