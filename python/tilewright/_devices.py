"""Arrays on GPUs: new ones, and the streams that their libraries work in."""

from __future__ import annotations

import importlib
from typing import Any

from ._errors import UnsupportedError


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def stream(array: Any, ordinal: int) -> int | None:
    """The stream in which the library's work on an array is in order, as CUDA's driver names it; None where that is not known."""
    library = _library(array)
    if library == "torch":
        return int(importlib.import_module("torch").cuda.current_stream(ordinal).cuda_stream)
    if library == "cupy":
        cuda = importlib.import_module("cupy").cuda
        with cuda.Device(ordinal):
            return int(cuda.get_current_stream().ptr)
    interface = getattr(array, "__cuda_array_interface__", None) or {}
    named: int | None = interface.get("stream")
    return named


def memory(like: Any, ordinal: int, size: int) -> tuple[Any, int] | None:
    """So many bytes on a device for work in the current stream of an array's library, which may use them again behind it: their owner and address."""
    library = _library(like)
    if library == "torch":
        torch = importlib.import_module("torch")
        owner = torch.empty(size, dtype=torch.uint8, device=like.device)
        return owner, owner.data_ptr()
    if library == "cupy":
        cuda = importlib.import_module("cupy").cuda
        with cuda.Device(ordinal):
            owner = cuda.alloc(size)
        return owner, owner.ptr
    return None


def copy(array: Any, ordinal: int) -> Any:
    """A copy of an array, in the order of its library's work, so that a result may be written where it lies."""
    library = _library(array)
    if library == "torch":
        return array.clone()
    if library == "cupy":
        with importlib.import_module("cupy").cuda.Device(ordinal):
            return array.copy()
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__().asarray(array, copy=True)
    raise UnsupportedError(f"out lies on an operand, a {type(array).__name__} of a library that is not known", "aliased", "give another `out`, or a copy of the operand")


def empty(like: Any, ordinal: int, shape: tuple[int, ...], dtype: str) -> Any:
    """A new array of the same library on the same device."""
    library = _library(like)
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if library == "cupy":
        cupy = importlib.import_module("cupy")
        with cupy.cuda.Device(ordinal):
            return cupy.empty(shape, dtype)
    if library == "numba":
        cuda = importlib.import_module("numba.cuda")
        with cuda.gpus[ordinal]:
            return cuda.device_array(shape, dtype)
    if hasattr(like, "__array_namespace__"):
        namespace = like.__array_namespace__()
        return namespace.empty(shape, dtype=getattr(namespace, dtype), device=like.device)
    raise UnsupportedError(f"a new {type(like).__name__}, of a library that is not known", "unsupported", "give `out`")
