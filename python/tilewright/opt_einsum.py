"""Backends for opt_einsum, one for each semiring: ``opt_einsum.contract("ij,jk->i", a, b, backend="tilewright.opt_einsum.max_plus")``.

Each is a module with `einsum`, `tensordot` and `transpose`, on arrays of NumPy, torch or CuPy. cotengra sums over one operand by itself, and not by the
semiring: give its optimiser or its tree to `tilewright.einsum` instead.

Examples
--------
>>> import importlib, numpy
>>> backend = importlib.import_module("tilewright.opt_einsum.max_plus")
>>> backend.tensordot(numpy.array([[0.0, 7.0], [2.0, 1.0]]), numpy.array([5.0, 0.0]), axes=1)
array([7., 7.])
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

from . import _native
from ._contract import library
from ._einsum import einsum as _einsum
from ._errors import UnsupportedError


def _backend(semiring: str) -> types.ModuleType:
    def einsum(subscripts: str, *operands: Any, out: None = None, **_: Any) -> Any:
        """`tilewright.einsum` over the semiring."""
        if out is not None:
            raise UnsupportedError("an einsum into `out`", "unsupported", "leave `out` out")
        return _einsum(subscripts, *operands, semiring=semiring)

    def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Any:
        """As `numpy.tensordot`, over the semiring."""
        of_a, of_b = (range(a.ndim - axes, a.ndim), range(axes)) if isinstance(axes, int) else ([axis] if isinstance(axis, int) else axis for axis in axes)
        left = [chr(0x4E00 + i) for i in range(a.ndim)]
        right = [chr(0x4E00 + a.ndim + i) for i in range(b.ndim)]
        for i, j in zip(of_a, of_b, strict=True):
            right[j] = left[i]  # Negative axes count from the last, as in a list.
        kept = [label for label in left if label not in right] + [label for label in right if label not in left]
        return _einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b, semiring=semiring)

    def transpose(x: Any, axes: Sequence[int]) -> Any:
        """As `numpy.transpose`."""
        return x.permute(*axes) if library(x).__name__ == "torch" else x.transpose(axes)

    module = types.ModuleType(f"{__name__}.{semiring.replace('-', '_')}", f"opt_einsum's backend over {semiring}.")
    for function in (einsum, tensordot, transpose):
        setattr(module, function.__name__, function)
    return module


for _semiring in _native.Semiring.NAMES:
    _module = _backend(_semiring)
    sys.modules[_module.__name__] = _module
    globals()[_module.__name__.rpartition(".")[2]] = _module
