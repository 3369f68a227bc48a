"""Semirings of functions that the caller has: of NumPy, or compiled ones by their address."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from ._errors import DomainError, UnsupportedError

# Numbers whose sums and products are exact; the smaller ones alone for types that hold few.
_SAMPLES = (0.0, 1.0, -1.0, 2.0, 3.0, -4.0, 7.0, 0.5, -2.5, 16.0, -100.0, 1000.0)
_LARGEST_SAMPLE = {"float16": 16, "int8": 3, "int16": 16, "bool": 1}
_TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "bool")
_OF_C: Mapping[Any, str] = {ctypes.c_float: "float32", ctypes.c_double: "float64", ctypes.c_int32: "int32", ctypes.c_int64: "int64"}
# Terms that are computed at a time: they stay in the second-level cache.
_ELEMENTS = 1 << 16


def of(given: Mapping[str, Any]) -> Functions:
    """What the keywords of a semiring mean."""
    functions = given["add"], given["mul"]
    compiled = [_compiled(function) for function in functions]
    if compiled[0] and compiled[1]:
        if compiled[0][1] != compiled[1][1]:
            raise UnsupportedError(f"add of {compiled[0][1]} and mul of {compiled[1][1]}", "unsupported", "compile both for one type")
        return Functions(**given, addresses=(compiled[0][0], compiled[1][0]), compiled_for=compiled[0][1])
    for name, function in zip(("add", "mul"), functions):
        if getattr(function, "nin", None) != 2 or getattr(function, "nout", None) != 1:
            raise UnsupportedError(f"{name} is {function!r}, which is no function of two arrays", "unsupported", "give a ufunc of NumPy such as numpy.minimum, one of numba.vectorize, or functions of numba.cfunc or ctypes")
    return Functions(**given)


def _compiled(function: Any) -> tuple[int, str] | None:
    """The address and the type of a function of C with two arguments; None for others."""
    # A function of numba.cfunc has one of ctypes.
    function = getattr(function, "ctypes", function)
    if not hasattr(function, "restype") or not hasattr(function, "argtypes"):
        return None
    result = _OF_C.get(function.restype)
    if result is None or tuple(function.argtypes or ()) != (function.restype,) * 2:
        raise UnsupportedError(f"{function!r} does not take two numbers and give one of the same type", "unsupported", "say what it takes: ctypes.CFUNCTYPE(c_double, c_double, c_double), or numba.cfunc('float64(float64, float64)')")
    return ctypes.cast(function, ctypes.c_void_p).value or 0, result


@dataclasses.dataclass(frozen=True)
class Functions:
    """A sum and a product, and the numbers that belong to them."""

    add: Any
    mul: Any
    zero: Any
    one: Any = None
    where: Any = None
    addresses: tuple[int, int] | None = None
    compiled_for: str | None = None
    _known: set[str] = dataclasses.field(default_factory=set, compare=False, repr=False)

    def given(self) -> dict[str, Any]:
        """The keywords that it was made of."""
        parts = {"add": self.add, "mul": self.mul, "zero": self.zero, "one": self.one, "where": self.where}
        return {name: part for name, part in parts.items() if part is not None}

    def name(self) -> str:
        return ", ".join(f"{name}={part!r}" for name, part in self.given().items())

    def dtypes(self) -> tuple[str, ...]:
        """The types on which they are a semiring."""
        return tuple(dtype for dtype in _TYPES if self._fault(dtype) is None)

    def check(self, dtype: str, a: Any, b: Any) -> None:
        """Tries the laws, and looks whether the operands have other elements than the semiring."""
        if dtype not in self._known:
            fault = self._fault(dtype)
            if fault is not None:
                raise UnsupportedError(f"the semiring of {self.name()} on {dtype}: {fault}", "unsupported", "a semiring needs that; `where` restricts the elements, and other numbers may do for zero")
            self._known.add(dtype)
        if self.where is not None:
            for what, operand in [("A", _array(a)), ("B", _array(b))]:
                outside = numpy.argwhere(~numpy.asarray(self.where(operand), bool))
                if len(outside):
                    at = tuple(map(int, outside[0]))
                    raise DomainError(f"{what}{list(at)} is {operand[at]}, which `where` does not admit", "outside-domain", "replace it, for instance by the semiring's zero")

    def multiply(self, a: Any, b: Any, c: Any, joins: bool) -> None:
        """``c = a @ b``, or that joined with c: terms in the order of their number, many elements at a time."""
        a, b, c = _array(a), _array(b), _array(c)
        if not c.flags.writeable:
            raise UnsupportedError("out is an array that NumPy cannot write to", "unsupported", "give an array of NumPy")
        # A vector is a row on the left, and a column on the right.
        if b.ndim == 1:
            b, c = b[:, None], c[..., None]
        if a.ndim == 1:
            a, c = a[None, :], c[..., None, :]
        if not joins:
            c[...] = self._number(self.zero, c.dtype)
        step = max(1, _ELEMENTS // max(1, c.size // max(1, c.shape[-2])))
        with numpy.errstate(all="ignore"):
            for first in range(0, c.shape[-2], step):
                rows = slice(first, first + step)
                sums = c[..., rows, :]
                terms = numpy.empty(sums.shape, c.dtype)
                for k in range(a.shape[-1]):
                    self.mul(a[..., rows, k, None], b[..., None, k, :], out=terms)
                    self.add(sums, terms, out=sums)

    def _fault(self, dtype: str) -> str | None:
        """What keeps them from being a semiring on a type."""
        if self.compiled_for not in (None, dtype):
            return f"the functions were compiled for {self.compiled_for}"
        try:
            with numpy.errstate(all="ignore"):
                return next(self._faults(numpy.dtype(dtype)), None)
        except (TypeError, ValueError, OverflowError) as error:
            return str(error)

    def _faults(self, dtype: numpy.dtype[Any]) -> Iterator[str]:
        """The laws that are broken on samples, each with an example."""
        zero, one = self._number(self.zero, dtype), None if self.one is None else self._number(self.one, dtype)
        x = self._samples(dtype, zero, one)
        y, z = x[:, None], x[:, None, None]
        add = self._call(self.add, dtype)
        product = self._call(self.mul, dtype)

        def mul(x: Any, y: Any) -> Any:
            """As it counts: joined with a sum of no terms, which leaves out what is absent."""
            return add(zero, product(x, y))

        yield from _differs("zero is the identity of add", dtype, x, add(zero, x), add(x, zero), x)
        yield from _differs("zero annihilates", dtype, x, mul(zero, x), mul(x, zero), zero)
        if one is not None:
            yield from _differs("one is the identity of mul", dtype, x, mul(one, x), mul(x, one), x)
        yield from _differs("add is commutative", dtype, x, add(x, y), add(y, x))
        yield from _differs("add is associative", dtype, x, add(add(x, y), z), add(x, add(y, z)))
        yield from _differs("mul is associative", dtype, x, mul(mul(x, y), z), mul(x, mul(y, z)))
        yield from _differs("mul distributes over add", dtype, x, mul(x, add(y, z)), add(mul(x, y), mul(x, z)))
        yield from _differs("mul distributes over add", dtype, x, mul(add(x, y), z), add(mul(x, z), mul(y, z)))

    def _samples(self, dtype: numpy.dtype[Any], *fixed: Any) -> Any:
        most = _LARGEST_SAMPLE.get(dtype.name, 1000)
        numbers = [x for x in _SAMPLES if abs(x) <= most and (dtype.kind == "f" or x.is_integer())]
        samples = numpy.array([x for x in fixed if x is not None] + numbers, dtype)
        return samples if self.where is None else samples[numpy.asarray(self.where(samples), bool)]

    def _call(self, function: Any, dtype: numpy.dtype[Any]) -> Callable[[Any, Any], Any]:
        """The function as a product calls it: with results of the type."""
        if self.addresses is not None:
            function = numpy.frompyfunc(getattr(function, "ctypes", function), 2, 1)
            return lambda x, y: numpy.asarray(function(x, y)).astype(dtype)
        return lambda x, y: function(x, y, out=numpy.empty(numpy.broadcast(x, y).shape, dtype))

    @staticmethod
    def _number(number: Any, dtype: numpy.dtype[Any]) -> Any:
        """A number of the type; an infinity is the extreme integer."""
        if dtype.kind == "f":
            return dtype.type(number)
        least, most = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
        if number in (numpy.inf, -numpy.inf):
            return dtype.type(most if number > 0 else least)
        whole = int(number)
        if whole != number or not least <= whole <= most:
            raise ValueError(f"{dtype.name} has no {number}")
        return dtype.type(whole)


def _differs(law: str, dtype: numpy.dtype[Any], x: Any, *sides: Any) -> Iterator[str]:
    """An example where sides differ by more than rounding."""
    left = numpy.asarray(sides[0])
    for right in sides[1:]:
        tolerance = 16 * numpy.finfo(dtype).eps if dtype.kind == "f" else 0
        same = (left == right) | (numpy.abs(left - right) <= tolerance * (numpy.abs(left) + numpy.abs(right))) if dtype.kind == "f" else left == right
        wrong = numpy.argwhere(~numpy.broadcast_to(same, left.shape))
        if len(wrong):
            at = tuple(wrong[0])
            places = ", ".join(f"{name} = {x[i]}" for name, i in zip("xyz", reversed(at)))
            yield f"it breaks the law that {law}: with {places}, one side is {left[at]} and the other {numpy.broadcast_to(right, left.shape)[at]}"


def _array(operand: Any) -> Any:
    """The same elements as an array of NumPy."""
    if isinstance(operand, numpy.ndarray):
        return operand
    if type(operand).__module__.split(".")[0] == "torch":
        return operand.numpy()
    return numpy.from_dlpack(operand) if hasattr(operand, "__dlpack__") else numpy.asarray(operand)
