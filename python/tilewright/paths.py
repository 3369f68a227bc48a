"""Best paths between all pairs of vertices, for matrices and for graphs of other libraries."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Hashable
from typing import Any

from . import _edges, _native
from ._errors import ElementTypeError, NegativeCycleError, ShapeError, UnsupportedError

__all__ = ["Paths", "floyd_warshall", "shortest_paths"]


@dataclasses.dataclass(frozen=True, eq=False)
class Paths:
    """The best paths between all pairs of vertices.

    Attributes
    ----------
    distances : array of n x n
        The weight of the best path from row to column; the semiring's zero where there is none.
    predecessors : array of n x n, 32-bit integers, or None
        The vertex before the last on it, or -1 for none.
    labels : list or None
        What the vertices are called, in the order of rows and columns; None where they are numbers.

    Examples
    --------
    >>> import numpy, tilewright
    >>> paths = tilewright.shortest_paths(numpy.array([[0, 3, 9], [numpy.inf, 0, 4], [1, numpy.inf, 0]]))
    >>> paths.predecessors.tolist()
    [[-1, 0, 1], [2, -1, 1], [2, 0, -1]]
    """

    distances: Any
    predecessors: Any
    labels: list[Any] | None = None

    def _number(self, vertex: Hashable) -> int:
        if self.labels is None:
            if isinstance(vertex, bool) or not hasattr(vertex, "__index__"):
                raise ElementTypeError(f"{vertex!r} is no vertex: they are numbered", "dtype-mismatch", f"give a whole number from 0 to {len(self.distances) - 1}")
            number = operator.index(vertex)  # type: ignore[arg-type]
            if not 0 <= number < len(self.distances):
                raise UnsupportedError(f"there is no vertex {vertex}", "unsupported", f"they are 0 to {len(self.distances) - 1}")
            return number
        try:
            return self._numbers[vertex]
        except (KeyError, TypeError):
            raise UnsupportedError(f"there is no vertex {vertex!r}", "unsupported", "give one of `labels`") from None

    @property
    def _numbers(self) -> dict[Any, int]:
        known: dict[Any, int] | None = self.__dict__.get("_known")
        if known is None:
            known = {label: number for number, label in enumerate(self.labels or [])}
            object.__setattr__(self, "_known", known)
        return known

    def distance(self, source: Hashable, target: Hashable) -> Any:
        """The weight of the best path between two vertices.

        Parameters
        ----------
        source, target
            Vertices by their labels, or by their numbers where they have none.

        Returns
        -------
        number

        Raises
        ------
        UnsupportedError, ElementTypeError
            Of a vertex that is not there.

        Examples
        --------
        >>> import numpy, tilewright
        >>> w = numpy.array([[0, 3, 9], [numpy.inf, 0, 4], [1, numpy.inf, 0]])
        >>> float(tilewright.shortest_paths(w).distance(0, 2))
        7.0
        """
        return self.distances[self._number(source), self._number(target)]

    def path(self, source: Hashable, target: Hashable) -> list[Any] | None:
        """The vertices of the best path, both ends included; None if there is none.

        Parameters
        ----------
        source, target
            As for `distance`.

        Returns
        -------
        list or None
            Labels, or numbers where vertices have none.

        Raises
        ------
        UnsupportedError, ElementTypeError
            Of a vertex that is not there, and where predecessors were not computed.

        Examples
        --------
        >>> import numpy, tilewright
        >>> w = numpy.array([[0, 3, 9], [numpy.inf, 0, 4], [1, numpy.inf, 0]])
        >>> tilewright.shortest_paths(w).path(0, 2)
        [0, 1, 2]
        """
        if self.predecessors is None:
            raise UnsupportedError("a path without predecessors", "unsupported", "compute with predecessors=True")
        first, at = self._number(source), self._number(target)
        row = self.predecessors[first]
        stops = [at]
        while at != first:
            at = int(row[at])
            if at < 0:
                return None
            stops.append(at)
        stops.reverse()
        return stops if self.labels is None else [self.labels[stop] for stop in stops]


def wishes(semiring: str | _native.Semiring, *, predecessors: bool = False, method: str = "auto", max_edges: int | None = None, threads: int | None = None) -> dict[str, Any]:
    """What the engine is asked for beside the weights."""
    return {"semiring": semiring, "predecessors": predecessors, "method": method, "max_edges": max_edges, "threads": threads}


def shortest_paths(
    w: Any,
    *,
    semiring: str | _native.Semiring = "min-plus",
    predecessors: bool = True,
    weight: str = "weight",
    method: str = "auto",
    max_edges: int | None = None,
    threads: int | None = None,
) -> Paths:
    """The best paths between all pairs of vertices of a graph.

    Parameters
    ----------
    w : array, scipy.sparse array, pandas.DataFrame, networkx.Graph or igraph.Graph
        The graph. In an array, the element in row i and column j is the weight of the edge from i to j, and the semiring's zero (infinity for 'min-plus') is
        no edge; in a sparse array, what is not stored is no edge. A data frame has a row and a column
        for each vertex, of the same names.
    semiring : str or Semiring, default 'min-plus'
        'min-plus' for shortest paths, 'max-min' for widest, 'max-times' for most reliable, 'or-and' for whether there is one.
    predecessors : bool, default True
        Whether to find the paths themselves. They take 4 more bytes for each pair.
    weight : str, default 'weight'
        The attribute of edges of NetworkX and igraph; an edge without it weighs 1.
    method : {'auto', 'dense', 'dijkstra'}, default 'auto'
        How; the faster one unless given.
    max_edges : int, optional
        Edges of a path at most. Needs ``predecessors=False``.
    threads : int, optional
        Threads at most.

    Returns
    -------
    Paths

    Raises
    ------
    NegativeCycleError
        With the vertices of the cycle.
    ElementTypeError
        Of weights of a type that best paths do not take, such as complex numbers, or booleans but over 'or-and'. The hint has those that they take.
    ShapeError, UnsupportedError, OutOfMemoryError

    Examples
    --------
    >>> import numpy, tilewright
    >>> w = numpy.array([[0, 3, 9], [numpy.inf, 0, 4], [1, numpy.inf, 0]])
    >>> paths = tilewright.shortest_paths(w)
    >>> paths.distances
    array([[0., 3., 7.],
           [5., 0., 4.],
           [1., 4., 0.]])
    >>> paths.path(0, 2)
    [0, 1, 2]
    """
    wanted = wishes(semiring, predecessors=predecessors, method=method, max_edges=max_edges, threads=threads)
    kind = type(w).__module__.split(".")[0]
    labels: list[Any] | None = None
    if kind == "pandas":
        from . import _frames

        w, labels = _frames.graph(w)
    if kind not in ("networkx", "igraph"):
        _edges.check_type(w, semiring)
    if kind == "scipy":
        found = _native.paths_of_edges(*_edges.of_scipy(w), wanted)
    elif kind == "networkx":
        labels, edges = _edges.of_networkx(w, weight)
        found = _native.paths_of_edges(len(labels), _edges.vectors(edges, semiring), wanted)
    elif kind == "igraph":
        labels, count, edges = _edges.of_igraph(w, weight)
        found = _native.paths_of_edges(count, _edges.vectors(edges, semiring), wanted)
    else:
        found = _native.paths_of_matrix(w, wanted)
    distances, stops = found
    return Paths(_like(w, distances), _like(w, stops), labels)


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    *,
    dtype: Any = None,
) -> Any:
    """As `scipy.sparse.csgraph.floyd_warshall`: the same arguments, and the same answer. In float32, which takes half the memory, where that is asked for.

    In an array, 0 and infinity and NaN are no edges, as there; an edge from a vertex to itself is none either, whatever it weighs. Of edges that a sparse array
    stores twice the shorter one counts. An edge of weight -inf, which only a sparse array can have, is refused. Of several shortest paths that of the fewest edges is told, which SciPy's need not be.

    Parameters
    ----------
    csgraph : array or scipy.sparse array of n x n
        The weights of edges.
    directed : bool, default True
        Whether edges lead one way only.
    return_predecessors : bool, default False
        Whether to return the predecessors, too: -9999 where there is none.
    unweighted : bool, default False
        Whether every edge weighs 1.
    overwrite : bool, default False
        Whether the distances are written to `csgraph`, if that is an array of `dtype` in C's order. Then it is not copied, and what it holds is lost where there is a negative cycle.
    dtype : {'float32', 'float64'}, optional
        The type of weights and distances; float64 unless given.

    Returns
    -------
    array of `dtype`, or a pair of it and an array of int32

    Raises
    ------
    NegativeCycleError
        With the vertices of the cycle. It is SciPy's as well, where `scipy.sparse.csgraph` was imported.
    ElementTypeError
        Of weights that are no booleans, integers, or floats of up to 64 bits. SciPy drops imaginary parts, and digits of wider floats.
    ShapeError, UnsupportedError, OutOfMemoryError

    Examples
    --------
    >>> import numpy, tilewright
    >>> tilewright.floyd_warshall(numpy.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]))
    array([[ 0.,  1.,  2.],
           [inf,  0.,  1.],
           [inf, inf,  0.]])
    """
    import numpy

    kind: Any = None
    try:
        kind = numpy.dtype(numpy.float64 if dtype is None else dtype)
    except TypeError:
        pass
    if kind not in (numpy.float32, numpy.float64):
        raise ElementTypeError(f"distances of {dtype if kind is None else kind}", "dtype-mismatch", "give dtype='float32' or 'float64'")
    place = None
    sparse = type(csgraph).__module__.startswith("scipy.sparse")
    if sparse:
        count, (begins, ends, weights) = _edges.of_scipy(csgraph, adds_up=False)
        weights = _edges.as_scipy_takes_them(weights, kind)
        kept = (weights < numpy.inf) & (begins != ends)
        begins, ends, weights = begins[kept], ends[kept], weights[kept]
        if (weights == -numpy.inf).any():
            at = int(numpy.argmin(weights))
            raise UnsupportedError(f"the edge from {begins[at]} to {ends[at]} weighs -inf", "unsupported", "give it a finite weight, or leave it out")
        if unweighted:
            weights = numpy.ones_like(weights)
        if not directed:
            begins, ends, weights = numpy.concatenate([begins, ends]), numpy.concatenate([ends, begins]), numpy.concatenate([weights, weights])
    else:
        if isinstance(csgraph, numpy.ma.MaskedArray):
            csgraph = csgraph.filled(numpy.inf)
        if overwrite and type(csgraph) is numpy.ndarray and csgraph.dtype == kind and csgraph.flags.c_contiguous and csgraph.flags.writeable:
            place = csgraph
        w = _edges.as_scipy_takes_them(csgraph, kind) if place is None else place
        if w.ndim != 2 or w.shape[0] != w.shape[1]:
            # Before anything is written to it.
            raise ShapeError(f"the graph is of shape {w.shape}", "not-square" if w.ndim == 2 else "dimensions", "give a matrix with as many rows as columns")
        w[(w == 0) | ~numpy.isfinite(w)] = numpy.inf
        numpy.fill_diagonal(w, numpy.inf)
        if unweighted:
            w[numpy.isfinite(w)] = 1
        w = w if directed else numpy.minimum(w, w.T, out=w)
    wanted = wishes("min-plus", predecessors=bool(return_predecessors))
    try:
        found = _native.paths_of_edges(count, (begins, ends, weights), wanted) if sparse else _native.paths_of_matrix(w, wanted)
    except NegativeCycleError as error:
        csgraph_module = sys.modules.get("scipy.sparse.csgraph")
        if csgraph_module is None:
            raise
        raise _also_of_scipy(error, csgraph_module.NegativeCycleError) from error
    distances = numpy.asarray(found[0])
    if place is not None:
        place[...] = distances
        distances = place
    if not return_predecessors:
        return distances
    stops = numpy.asarray(found[1])
    stops[stops < 0] = -9999
    return distances, stops


def _also_of_scipy(error: NegativeCycleError, theirs: type[Exception]) -> NegativeCycleError:
    """The same error, which callers of SciPy's function catch as well."""
    # A class that is made here cannot be found again by its name.
    both = type("NegativeCycleError", (NegativeCycleError, theirs), {"__reduce__": lambda self: (NegativeCycleError, self.args, {"cycle": self.cycle})})
    found: NegativeCycleError = both(*error.args)
    found.cycle = error.cycle
    return found


def _like(w: Any, matrix: Any) -> Any:
    """A matrix of the library as an array of that of `w`."""
    if matrix is None:
        return None
    import numpy

    array = numpy.asarray(matrix)
    if type(w).__module__.split(".")[0] == "torch":
        return sys.modules["torch"].from_numpy(array)
    return array
