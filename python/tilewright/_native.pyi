from typing import Any, ClassVar, Literal, SupportsFloat, SupportsIndex, final, type_check_only

__all__ = [
    "Owned",
    "Ranks",
    "Semiring",
    "__version__",
    "best_block_of",
    "default_grid",
    "dist_closure",
    "dist_gather",
    "dist_load",
    "dist_matmul",
    "dist_predecessors",
    "dist_save",
    "dist_zeros",
    "explain_kernel",
    "gpu_table",
    "kernel_names",
    "matmul",
    "measure",
    "occupancy_of",
    "path_types",
    "paths_of_edges",
    "paths_of_matrix",
    "ranks_of_calls",
    "ranks_of_communicator",
    "ranks_of_mpi",
    "ranks_of_threads",
    "xla_handlers",
]

__version__: str

_Backend = Literal["auto", "cpu", "cuda", "emulator", "reference"]
_Number = SupportsFloat | SupportsIndex

@final
class Semiring:
    NAMES: ClassVar[tuple[str, ...]]
    __array_ufunc__: ClassVar[None]
    def __new__(
        cls,
        name: str | None = None,
        /,
        *,
        add: Any = None,
        mul: Any = None,
        zero: Any = None,
        one: Any = None,
        where: Any = None,
    ) -> Semiring: ...
    @property
    def name(self) -> str: ...
    @property
    def zero(self) -> float: ...
    @property
    def one(self) -> float | None: ...
    @property
    def dtypes(self) -> tuple[str, ...]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def matmul(self, a: Any, b: Any, /, **options: Any) -> Any: ...
    def __rmatmul__(self, left: Any, /) -> Left: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
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
    bias: Any = None,
    activation: Literal["relu", "gelu", "none"] | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    arg: bool = False,
    backend: _Backend = "auto",
    math: Literal["full", "tf32", "fast"] = "full",
    threads: int | None = None,
    dtype: Any = None,
) -> Any: ...

def measure(
    matrices: tuple[Any, Any, Any], semiring: str | Semiring, backend: str, threads: int | None
) -> dict[str, Any]: ...
def xla_handlers() -> dict[str, Any]: ...
@final
class Owned:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

def path_types(semiring: str | Semiring) -> tuple[str, ...]: ...
def paths_of_matrix(weights: Any, wishes: dict[str, Any]) -> tuple[Owned, Owned | None]: ...
def paths_of_edges(vertices: int, edges: tuple[Any, Any, Any], wishes: dict[str, Any]) -> tuple[Owned, Owned | None]: ...
def gpu_table() -> list[dict[str, Any]]: ...
def occupancy_of(gpu: str | None, threads: int, configuration: dict[str, int | None]) -> dict[str, Any]: ...
def best_block_of(
    gpu: str | None, shared_memory_per_thread: int, max_threads: int, configuration: dict[str, int | None]
) -> tuple[int, int, int | None, int]: ...
def explain_kernel(kernel: Any, launch: dict[str, Any]) -> tuple[str, str, str, list[tuple[str, Owned]]]: ...
def kernel_names() -> list[str]: ...

_Place = tuple[tuple[int, int], tuple[int, int], int]

@final
class Ranks:
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def library(self) -> str | None: ...
    def agree(self, problem: str | None, doing: str) -> None: ...
    def finish(self) -> None: ...

def ranks_of_mpi() -> Ranks: ...
def ranks_of_communicator(world: int, communicator: int) -> Ranks: ...
def ranks_of_threads(count: int) -> list[Ranks]: ...
def ranks_of_calls(object: Any) -> Ranks: ...
def default_grid(ranks: int, shape: tuple[int, int]) -> tuple[tuple[int, int], int]: ...
def dist_zeros(ranks: Ranks, place: _Place, dtype: str) -> Owned: ...
def dist_load(
    ranks: Ranks, path: str, grid: tuple[int, int] | None, block: int | None, dtype: str | None
) -> tuple[Owned, _Place]: ...
def dist_save(ranks: Ranks, place: _Place, part: Owned, path: str) -> None: ...
def dist_gather(ranks: Ranks, place: _Place, part: Owned) -> Owned: ...
def dist_closure(ranks: Ranks, place: _Place, part: Owned, wishes: dict[str, Any]) -> int | None: ...
def dist_predecessors(ranks: Ranks, place: _Place, part: Owned, wishes: dict[str, Any]) -> tuple[Owned, Owned]: ...
def dist_matmul(ranks: Ranks, a: tuple[_Place, Owned], b: tuple[_Place, Owned] | None, wishes: dict[str, Any]) -> Owned: ...
