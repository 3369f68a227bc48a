"""Matrix products over any semiring, best paths, and why a GPU kernel is as fast as it is.

Examples
--------
>>> import numpy, tilewright
>>> a = numpy.array([[1.0, 2.0], [3.0, 4.0]])
>>> tilewright.matmul(a, a)
array([[ 7., 10.],
       [15., 22.]])
>>> tilewright.matmul(a, a, semiring="min-plus")
array([[2., 3.],
       [4., 5.]])
"""

from __future__ import annotations

from ._errors import (
    CompilationError,
    DeviceError,
    DomainError,
    ElementTypeError,
    Error,
    FileError,
    NegativeCycleError,
    OutOfMemoryError,
    ShapeError,
    UnavailableError,
    UnsupportedError,
)
from ._native import Semiring, __version__, kernel_names, matmul

# Type checkers read this; what is behind it is imported when it is first used, because it takes longer than all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._bench import bench
    from ._einsum import Winners, einsum
    from ._explain import Explanation, explain
    from ._powers import closure, logmatmulexp, scan
    from .gpu import BestBlock, Occupancy, best_block, gpus, occupancy
    from .paths import Paths, floyd_warshall, shortest_paths

_LATER = {
    "BestBlock": "gpu",
    "Explanation": "_explain",
    "Occupancy": "gpu",
    "Winners": "_einsum",
    "bench": "_bench",
    "best_block": "gpu",
    "closure": "_powers",
    "einsum": "_einsum",
    "explain": "_explain",
    "gpus": "gpu",
    "logmatmulexp": "_powers",
    "occupancy": "gpu",
    "scan": "_powers",
    "Paths": "paths",
    "floyd_warshall": "paths",
    "shortest_paths": "paths",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


plus_times = Semiring("plus-times")
min_plus = Semiring("min-plus")
max_plus = Semiring("max-plus")
max_times = Semiring("max-times")
min_times = Semiring("min-times")
max_min = Semiring("max-min")
min_max = Semiring("min-max")
or_and = Semiring("or-and")
log_plus = Semiring("log-plus")

__all__ = [
    "BestBlock",
    "CompilationError",
    "DeviceError",
    "DomainError",
    "ElementTypeError",
    "Error",
    "Explanation",
    "FileError",
    "NegativeCycleError",
    "Occupancy",
    "OutOfMemoryError",
    "Paths",
    "Semiring",
    "ShapeError",
    "UnavailableError",
    "UnsupportedError",
    "Winners",
    "__version__",
    "bench",
    "best_block",
    "closure",
    "einsum",
    "explain",
    "floyd_warshall",
    "gpus",
    "kernel_names",
    "log_plus",
    "logmatmulexp",
    "matmul",
    "max_min",
    "max_plus",
    "max_times",
    "min_max",
    "min_plus",
    "min_times",
    "occupancy",
    "or_and",
    "plus_times",
    "scan",
    "shortest_paths",
]
