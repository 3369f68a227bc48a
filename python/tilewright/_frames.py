"""Data frames and series of pandas: products of their values, with the names of rows and columns."""

from __future__ import annotations

from typing import Any

import pandas

from . import _native
from ._errors import ShapeError, UnsupportedError


def matmul(a: Any, b: Any, out: Any, options: dict[str, Any]) -> Any:
    """``a @ b``, where one of them or both are of pandas: the columns of A are the rows of B, by their names."""
    if isinstance(out, (pandas.DataFrame, pandas.Series)):
        raise UnsupportedError("out is of pandas, which may copy it at any time", "unsupported", "give an array of NumPy as out, or none")
    options["bias"] = _values(options.get("bias"))
    inner = _names(a, -1)
    if inner is not None and _names(b, 0) is not None:
        b = _in_order(b, inner)
    result = _native.matmul(_values(a), _values(b), out=out, **options)
    rows = _names(a, 0) if a.ndim > 1 else None
    columns = _names(b, 1) if b.ndim > 1 else None
    if isinstance(result, tuple):
        return tuple(_named(part, rows, columns) for part in result)
    return result if out is not None else _named(result, rows, columns)


def graph(w: Any) -> tuple[Any, list[Any]]:
    """The weights of a frame that has a row and a column for each vertex, and the vertices' names."""
    if not isinstance(w, pandas.DataFrame):
        raise UnsupportedError(f"a graph that is a {type(w).__name__}", "unsupported", "give a frame with a row and a column for each vertex")
    if len(w.index) != len(w.columns) or set(w.index) != set(w.columns):
        raise ShapeError(
            "the rows and the columns of W have different names, but a graph has a row and a column for each vertex",
            "not-square",
            "of a list of edges: networkx.from_pandas_edgelist(w, source, target, weight, create_using=networkx.DiGraph); "
            "where names do not matter: w.to_numpy()",
        )
    names = list(w.index)
    twice = w.index[w.index.duplicated()]
    if len(twice):
        raise UnsupportedError(f"two vertices are called {twice[0]!r}", "unsupported", "give names that differ, or w.to_numpy()")
    return w.loc[:, w.index].to_numpy(), names


def _in_order(b: Any, inner: Any) -> Any:
    """B with its rows in the order of A's columns."""
    if b.index.equals(inner):
        return b
    if b.index.is_unique and inner.is_unique and len(b.index) == len(inner) and b.index.isin(inner).all():
        return b.loc[inner]
    alone = inner.symmetric_difference(b.index, sort=False)
    what = f"{alone[0]!r} is a name in one of them alone" if len(alone) else "a name is there twice"
    raise ShapeError(f"the columns of A are not the rows of B: {what}", "inner-mismatch", "where names do not matter, give b.to_numpy()")


def _values(operand: Any) -> Any:
    return operand.to_numpy() if isinstance(operand, (pandas.DataFrame, pandas.Series)) else operand


def _names(operand: Any, axis: int) -> Any:
    """The names along a dimension; None for what is not of pandas."""
    return operand.axes[axis] if isinstance(operand, (pandas.DataFrame, pandas.Series)) else None


def _named(result: Any, rows: Any, columns: Any) -> Any:
    if result.ndim == 2:
        return pandas.DataFrame(result, index=rows, columns=columns)
    if result.ndim == 1:
        return pandas.Series(result, index=columns if rows is None else rows)
    return result
