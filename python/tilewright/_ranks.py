"""How ranks reach each other by libraries of Python: mpi4py's communicators, and process groups of torch."""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import Any

from . import _native
from ._errors import ElementTypeError, UnavailableError, UnsupportedError

__all__ = ["of_mpi", "of_mpi4py", "of_torch"]


def of_mpi() -> _native.Ranks:
    ranks = _native.ranks_of_mpi()
    atexit.register(_leave, ranks)
    return ranks


def _leave(ranks: _native.Ranks) -> None:
    # After an exception that nobody caught, other ranks may still wait for this one: the launcher ends them if MPI is not left.
    if not hasattr(sys, "last_type"):
        ranks.finish()


def of_mpi4py(comm: Any) -> _native.Ranks:
    # Whoever has a communicator has imported it.
    MPI = sys.modules.get("mpi4py.MPI")
    if MPI is None or not isinstance(comm, MPI.Comm):
        raise ElementTypeError(f"a {type(comm).__name__} is no communicator of mpi4py", "dtype-mismatch", "give MPI.COMM_WORLD")
    if comm == MPI.COMM_NULL:
        raise UnsupportedError("MPI.COMM_NULL as a group", "unsupported", "give a communicator that has ranks")
    if comm.Is_inter():
        raise UnsupportedError("an intercommunicator as a group", "unsupported", "merge it: comm.Merge()")
    try:
        return _native.ranks_of_communicator(MPI._handleof(MPI.COMM_WORLD), MPI._handleof(comm))
    except UnavailableError as error:
        version = MPI.Get_library_version().strip("\0 \n").split("\n")[0]
        raise UnavailableError(f"mpi4py uses {version}: {error.args[0]}", error.code, error.hint) from None


def of_torch(group: Any) -> _native.Ranks:
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_initialized():
        raise UnsupportedError("torch.distributed before it is initialised", "unsupported", 'call torch.distributed.init_process_group("gloo")')
    group = dist.group.WORLD if group is None else group
    backends = str(dist.get_backend_config(group))
    if "cpu:" not in backends:
        raise UnsupportedError(f"a process group of {backends}, which sends no bytes of this processor", "unsupported", 'make one that does: torch.distributed.new_group(backend="gloo")')
    return _native.ranks_of_calls(_TorchGroup(group))


class _TorchGroup:
    """What `_native.ranks_of_calls` asks for."""

    def __init__(self, group: Any) -> None:
        import torch.distributed as dist

        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.global_ranks = dist.get_process_group_ranks(group)
        # Groups of torch stay until the program ends: those with the same ranks are made once.
        self.parts: dict[tuple[int, ...], _TorchGroup] = {}

    def device(self) -> int | None:
        """The GPU that torch uses in this process; None where it uses none yet."""
        import torch

        return torch.cuda.current_device() if torch.cuda.is_initialized() else None

    def split(self, color: int) -> _TorchGroup:
        import torch.distributed as dist

        mine = color.to_bytes(8, "little")
        colors = self.exchange(mine)
        ranks = tuple(rank for at, rank in enumerate(self.global_ranks) if colors[8 * at : 8 * at + 8] == mine)
        if ranks not in self.parts:
            self.parts[ranks] = _TorchGroup(dist.new_group(list(ranks), backend="gloo", use_local_synchronization=True))
        return self.parts[ranks]

    def broadcast(self, address: int, length: int, root: int) -> _Sent:
        import torch
        import torch.distributed as dist

        if not length:
            return _Sent(None, None)
        # Bytes of the library, which keeps them until this is waited for.
        tensor = torch.frombuffer((ctypes.c_ubyte * length).from_address(address), dtype=torch.uint8)
        return _Sent(dist.broadcast(tensor, self.global_ranks[root], group=self.group, async_op=True), tensor)

    def exchange(self, mine: bytes) -> bytes:
        import torch
        import torch.distributed as dist

        if not mine:
            return b""
        tensor = torch.frombuffer(bytearray(mine), dtype=torch.uint8)
        everyone = [torch.empty_like(tensor) for _ in range(self.size)]
        dist.all_gather(everyone, tensor, group=self.group)
        return b"".join(bytes(part.tolist()) for part in everyone)


class _Sent:
    """A broadcast that is under way, and the tensor that it writes to."""

    def __init__(self, work: Any, tensor: Any) -> None:
        self.work, self.tensor = work, tensor

    def wait(self) -> None:
        if self.work is not None:
            self.work.wait()
