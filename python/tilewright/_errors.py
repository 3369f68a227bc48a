"""What can go wrong: one class for each kind, each also one of Python's own."""

from __future__ import annotations


class Error(Exception):
    """Anything that went wrong in Tilewright.

    Attributes
    ----------
    code : str
        A stable identifier, the same as in Rust and on the command line, such as ``inner-mismatch``.
    hint : str or None
        What to do about it.

    Examples
    --------
    >>> import numpy, tilewright
    >>> try:
    ...     tilewright.matmul(numpy.ones((2, 3)), numpy.ones((2, 3)))
    ... except tilewright.Error as error:
    ...     error.code, isinstance(error, ValueError)
    ('inner-mismatch', True)
    """

    code: str
    hint: str | None

    def __init__(self, message: str, code: str = "error", hint: str | None = None) -> None:
        super().__init__(message, code, hint)
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message}\nhint: {self.hint}" if self.hint else message


class ShapeError(Error, ValueError):
    """Shapes or strides that do not go together."""


class ElementTypeError(Error, TypeError):
    """Something that is no array, or elements of a type that is not expected."""


class UnsupportedError(Error, ValueError):
    """Something that is not defined, or not implemented."""


class DomainError(Error, ValueError):
    """A value that is outside what is accepted."""


class NegativeCycleError(Error, ValueError):
    """A negative cycle: no path is the best, since going around it again is always better.

    Attributes
    ----------
    cycle : list of int
        The vertices in the order of a turn, each once.
    """

    cycle: list[int]


class OutOfMemoryError(Error, MemoryError):
    """Memory of this processor or of a device that could not be had."""


class UnavailableError(Error, RuntimeError):
    """A library, driver or device that is not here."""


class CompilationError(Error, RuntimeError):
    """A kernel that does not compile."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class DeviceError(Error, RuntimeError):
    """A failure of a device, or of a kernel on it."""
