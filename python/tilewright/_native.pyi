from typing import Any, ClassVar, Literal, SupportsFloat, SupportsIndex, final, type_check_only

__all__ = ["Semiring", "__version__", "matmul"]

__version__: str

_Backend = Literal["auto", "cpu", "cuda", "emulator", "reference"]
_Number = SupportsFloat | SupportsIndex

@final
class Semiring:
    NAMES: ClassVar[tuple[str, ...]]
    __array_ufunc__: ClassVar[None]
    def __new__(cls, name: str) -> Semiring: ...
    @property
    def name(self) -> str: ...
    @property
    def zero(self) -> float: ...
    @property
    def one(self) -> float: ...
    @property
    def dtypes(self) -> tuple[str, ...]: ...
    def matmul(self, a: Any, b: Any, /, **options: Any) -> Any: ...
    def __rmatmul__(self, left: Any, /) -> Left: ...
    def __reduce__(self) -> tuple[type[Semiring], tuple[str]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
@type_check_only
class Left:
    def __matmul__(self, right: Any, /) -> Any: ...

def matmul(
    a: Any,
    b: Any,
    /,
    *,
    semiring: str | Semiring = "plus-times",
    out: Any = None,
    accumulate: bool = False,
    alpha: _Number = 1,
    beta: _Number = 0,
    arg: bool = False,
    backend: _Backend = "auto",
    threads: int | None = None,
) -> Any: ...
