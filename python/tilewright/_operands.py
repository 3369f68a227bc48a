"""What an einsum asks of its operands before it computes. Each error has the number of the operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _contract, _native
from ._errors import DomainError, ElementTypeError, UnsupportedError

__all__ = ["checked"]


def checked(operands: Sequence[Any], over: _contract.Over) -> list[Any]:
    """The operands, of one library, one element type and one device, which the semiring is defined on."""
    arrays = [_array(position, x) for position, x in enumerate(operands)]
    for position, x in enumerate(arrays):
        first = arrays[0]
        if _contract.library(x) is not _contract.library(first):
            raise ElementTypeError(f"operand 0 is a {type(first).__name__}, but operand {position} is a {type(x).__name__}", "not-an-array", "give arrays of one library")
        if x.dtype != first.dtype:
            raise ElementTypeError(f"operand 0 has element type {first.dtype}, but operand {position} has {x.dtype}", "dtype-mismatch", "convert one of them")
        if not position:
            _check_type(x, over)
        if _contract.library(x).__name__ == "numpy":
            _check_memory(position, x)
        elif x.device != first.device:
            raise UnsupportedError(f"operand 0 is on {first.device}, but operand {position} on {x.device}", "unsupported", "nothing is moved without being asked: a.to(b.device), cupy.asarray(a)")
    if over.needs_positive:
        for position, x in enumerate(arrays):
            _refuse_negative(position, x, over)
    return arrays


def _array(position: int, x: Any) -> Any:
    xp = _contract.library(x)
    if xp is None or (xp.__name__ == "numpy" and not (type(x) in (xp.ndarray, xp.memmap) or isinstance(x, xp.generic))):
        raise ElementTypeError(f"operand {position} is a {type(x).__name__}, and no array", "not-an-array", "give arrays of NumPy, torch or CuPy")
    return x


# Types and semirings that were looked at before: a type takes longer to say its name than to be found here.
_fitting: set[tuple[Any, str]] = set()
# Of all semirings.
_TYPES = (*_native.Semiring("plus-times").dtypes, *_native.Semiring("or-and").dtypes)


def _check_type(x: Any, over: _contract.Over) -> None:
    """The first operand's type, which all others have."""
    if (x.dtype, over.name) in _fitting:
        return
    name = _contract.type_name(x)
    if name not in _TYPES:
        raise ElementTypeError(f"operand 0 has elements of type {name}, which no product takes", "dtype-mismatch", f"element types are {', '.join(_TYPES)}")
    # What a semiring of the caller's is defined on is found by trying its laws, later.
    if over.is_known and name not in over.semiring.dtypes:
        raise UnsupportedError(f"operand 0 has elements of type {name}, on which {over.name} is not defined", "unsupported", f"it is defined on {', '.join(over.semiring.dtypes)}")
    if over.is_known:
        _fitting.add((x.dtype, over.name))


def _check_memory(position: int, x: Any) -> None:
    if not x.dtype.isnative:
        raise ElementTypeError(f"operand {position} has elements of the other byte order", "dtype-mismatch", "turn their bytes round: a.astype(a.dtype.newbyteorder('='))")
    if not x.flags.aligned:
        raise UnsupportedError(f"operand {position} has elements at addresses that are no multiples of {x.dtype.itemsize} bytes", "unsupported", "give a copy of it")


def _refuse_negative(position: int, x: Any, over: _contract.Over) -> None:
    xp = _contract.library(x)
    is_here = xp.__name__ == "numpy" or (xp.__name__ == "torch" and x.device.type == "cpu" and not xp.compiler.is_compiling())
    if not is_here:
        return
    wrong = x < 0
    if bool(wrong.any()):
        # A number by itself has no places.
        places = () if x.ndim == 0 else wrong.nonzero() if xp.__name__ == "numpy" else wrong.nonzero(as_tuple=True)
        at = tuple(int(place[0]) for place in places)
        raise DomainError(f"operand {position} has a negative element, {x[at].item()} at {list(at)}, which {over.name} does not contain", "outside-domain", "replace it, for instance by the semiring's zero")
