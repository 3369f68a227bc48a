"""What functions ask of a semiring before they compute: that it is one, and of which type its sums are."""

from __future__ import annotations

from typing import Any

from . import _native
from ._errors import ElementTypeError

__all__ = ["semiring_of", "type_of_sums"]

# Of small elements under plus-times.
_OF_SUMS = {"int8": "int32", "uint8": "int32", "int16": "int32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}


def semiring_of(given: Any) -> _native.Semiring:
    """The semiring that is given by itself or by its name."""
    if isinstance(given, _native.Semiring):
        return given
    if isinstance(given, str):
        return _native.Semiring(given)
    raise ElementTypeError(f"the semiring is a {type(given).__name__}", "not-an-array", "give one of Semiring.NAMES, or a Semiring")


def type_of_sums(dtype: Any, semiring: str) -> str:
    """The name of the type that results have by themselves, for elements of a type of NumPy or torch."""
    name = str(dtype).removeprefix("torch.")
    return _OF_SUMS.get(name, name) if semiring == "plus-times" else name
