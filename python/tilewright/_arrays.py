"""Arrays of NumPy, and tensors of torch on this processor as such, for functions that compute with more than products."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from ._errors import ElementTypeError

__all__ = ["like", "view"]


def view(name: str, array: Any) -> Any:
    """The same elements as an array of NumPy, where they lie."""
    if isinstance(array, numpy.ndarray) and not isinstance(array, numpy.ma.MaskedArray):
        return array
    if type(array).__module__.split(".")[0] == "torch":
        if array.device.type != "cpu":
            raise ElementTypeError(f"{name} is on {array.device}", "unsupported", "move it here: a.cpu()")
        return _of_torch(name, array)
    raise ElementTypeError(f"{name} is a {type(array).__name__}", "dtype-mismatch", "give an array of NumPy, or a tensor of torch")


def like(original: Any, result: Any) -> Any:
    """A result as an array of the library that an operand came from."""
    if type(original).__module__.split(".")[0] == "torch":
        return sys.modules["torch"].from_numpy(numpy.asarray(result, order="C"))
    # A number, where there are no dimensions.
    return result[()]


def _of_torch(name: str, tensor: Any) -> Any:
    if tensor.requires_grad:
        raise ElementTypeError(f"{name} requires a gradient", "unsupported", "give it without: a.detach()")
    try:
        return tensor.resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:
        raise ElementTypeError(f"{name} is a tensor of {tensor.dtype} in layout {tensor.layout}, which NumPy has not", "dtype-mismatch", "convert it, as by a.float() or a.to_dense()") from error
