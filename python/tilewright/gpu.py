"""GPUs as data, occupancy, and what a kernel does, without a GPU."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _native
from ._explain import Explanation, explain

__all__ = ["BestBlock", "Explanation", "Occupancy", "best_block", "explain", "gpus", "occupancy"]


def gpus() -> list[dict[str, Any]]:
    """The GPUs that are known, each as a dictionary; ``pandas.DataFrame(gpus())`` is a table of them.

    Returns
    -------
    list of dict
        With the keys ``name``, ``chip``, ``class``, ``compute_capability``, ``multiprocessors``, ``boost_clock_mhz``, ``memory_gb``, ``memory_bandwidth`` in bytes per
        second, and ``l2_kib``.

    Examples
    --------
    >>> import tilewright
    >>> [gpu["compute_capability"] for gpu in tilewright.gpus() if gpu["name"] == "RTX A6000"]
    ['8.6']
    """
    return _native.gpu_table()


@dataclasses.dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel are resident on one multiprocessor, and what limits them.

    Attributes
    ----------
    occupancy : float
        Resident warps as a part of those that there is room for, 0 to 1.
    limits : dict
        The blocks that each resource alone allows; None for no limit.
    limited_by : list of str
        The resources that limit the blocks.
    error : str or None
        Why the configuration cannot be launched, if it cannot.

    Examples
    --------
    >>> import tilewright
    >>> tilewright.occupancy("h200", threads=256, registers=64).occupancy
    0.5
    """

    gpu: str
    compute_capability: str
    threads_per_block: int
    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    occupancy: float
    limits: dict[str, int | None]
    limited_by: list[str]
    registers_per_block: int
    shared_memory_per_block: int
    error: str | None


@dataclasses.dataclass(frozen=True)
class BestBlock:
    """The block size with the most resident threads.

    Attributes
    ----------
    threads : int
        Threads of a block.
    blocks_per_sm : int
        Blocks that fill a multiprocessor.
    min_grid_size : int or None
        Blocks that fill the GPU; None for a compute capability.
    square_side : int
        The side of the largest square block within whose side is a power of two.

    Examples
    --------
    >>> import tilewright
    >>> tilewright.best_block("h200", registers=32).threads
    1024
    """

    threads: int
    blocks_per_sm: int
    min_grid_size: int | None
    square_side: int


def _configuration(registers: int, shared_memory: int, dynamic_shared_memory: int, barriers: int, cluster_size: int, carveout: int | None) -> dict[str, int | None]:
    return {
        "registers": registers,
        "shared_memory": shared_memory,
        "dynamic_shared_memory": dynamic_shared_memory,
        "barriers": barriers,
        "cluster_size": cluster_size,
        "carveout": carveout,
    }


def occupancy(
    gpu: str | None = None,
    *,
    threads: int,
    registers: int,
    shared_memory: int = 0,
    dynamic_shared_memory: int = 0,
    barriers: int = 0,
    cluster_size: int = 1,
    carveout: int | None = None,
) -> Occupancy:
    """The occupancy of a kernel on a GPU, exactly as its hardware has it.

    Parameters
    ----------
    gpu : str, default 'h200'
        A name, as in `gpus`, or a compute capability such as '8.6'.
    threads, registers : int
        Threads of a block, and registers of a thread.
    shared_memory, dynamic_shared_memory : int
        Bytes for each block.
    barriers : int
        Named barriers of a block.
    cluster_size : int
        Blocks of a cluster.
    carveout : int, optional
        Percent of the L1 cache to use as shared memory.

    Returns
    -------
    Occupancy

    Raises
    ------
    UnsupportedError, ElementTypeError
        Of a GPU that is not known, and of numbers that no kernel has. A configuration that cannot be launched is an answer, with its `error`.

    Examples
    --------
    >>> import tilewright
    >>> found = tilewright.occupancy("rtx a6000", threads=1024, registers=37, shared_memory=8192)
    >>> found.blocks_per_sm, found.warps_per_sm, found.max_warps_per_sm, found.limited_by
    (1, 32, 48, ['warps', 'registers'])
    """
    given = _configuration(registers, shared_memory, dynamic_shared_memory, barriers, cluster_size, carveout)
    return Occupancy(**_native.occupancy_of(gpu, threads, given))


def best_block(
    gpu: str | None = None,
    *,
    registers: int,
    shared_memory: int = 0,
    dynamic_shared_memory: int = 0,
    dynamic_shared_memory_per_thread: int = 0,
    max_threads: int = 1024,
    barriers: int = 0,
    cluster_size: int = 1,
    carveout: int | None = None,
) -> BestBlock:
    """The block size with the highest occupancy, as `cudaOccupancyMaxPotentialBlockSize` finds it.

    Parameters
    ----------
    gpu, registers, shared_memory, dynamic_shared_memory, barriers, cluster_size, carveout
        As for `occupancy`.
    dynamic_shared_memory_per_thread : int
        Bytes more for each thread of a block.
    max_threads : int, default 1024
        Threads of a block at most.

    Returns
    -------
    BestBlock

    Raises
    ------
    UnsupportedError, ElementTypeError
        As `occupancy`, and of a kernel that no block size can launch.

    Examples
    --------
    >>> import tilewright
    >>> tilewright.best_block("rtx a6000", registers=37, dynamic_shared_memory_per_thread=8)
    BestBlock(threads=768, blocks_per_sm=2, min_grid_size=168, square_side=16)
    """
    given = _configuration(registers, shared_memory, dynamic_shared_memory, barriers, cluster_size, carveout)
    return BestBlock(*_native.best_block_of(gpu, dynamic_shared_memory_per_thread, max_threads, given))
