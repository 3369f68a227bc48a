"""Ranks that compute together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _native, _ranks
from ._errors import ShapeError, UnsupportedError

__all__ = ["Group"]


class Group:
    """Processes or threads that compute together, each with a number: its rank.

    A group belongs to the thread that made it, or that used it first.

    Attributes
    ----------
    rank : int
        The number of this process, from 0 on.
    size : int
        How many there are.
    transport : str or None
        How blocks go from GPU to GPU: 'nccl', 'peers' or 'hosts'. None before work on GPUs, and of one rank.

    Examples
    --------
    >>> from tilewright.distributed import Group
    >>> (alone,) = Group.threads(1)
    >>> alone
    Group(rank=0, size=1)
    """

    def __init__(self, ranks: _native.Ranks) -> None:
        self._ranks = ranks

    @classmethod
    def mpi(cls) -> Group:
        """All processes that ``mpiexec`` has started, by an MPI that is found at run time.

        Returns
        -------
        Group

        Raises
        ------
        UnavailableError
            Where there is no MPI, and where the launcher belongs to another one.
        DeviceError
            Where MPI fails.

        Notes
        -----
        MPI is left when the program ends. After an exception that nobody caught it is not, and the launcher ends the other processes.

        Examples
        --------
        >>> from tilewright.distributed import Group
        >>> group = Group.mpi()  # doctest: +SKIP
        """
        return cls(_ranks.of_mpi())

    @classmethod
    def mpi4py(cls, comm: Any) -> Group:
        """The processes of a communicator of mpi4py, which stays as it is.

        Parameters
        ----------
        comm : mpi4py.MPI.Comm
            Such as ``MPI.COMM_WORLD``.

        Returns
        -------
        Group

        Raises
        ------
        UnavailableError
            Where mpi4py uses an MPI that is not known here; the error names it.
        UnsupportedError, ElementTypeError
            Of an intercommunicator, and of what is no communicator.
        DeviceError
            Where MPI fails.

        Examples
        --------
        >>> from tilewright.distributed import Group
        >>> from mpi4py import MPI  # doctest: +SKIP
        >>> group = Group.mpi4py(MPI.COMM_WORLD)  # doctest: +SKIP
        """
        return cls(_ranks.of_mpi4py(comm))

    @classmethod
    def torch(cls, group: Any = None) -> Group:
        """The processes of a group of ``torch.distributed``, as torchrun, Slurm or Ray Train start them.

        Parameters
        ----------
        group : torch.distributed.ProcessGroup, optional
            One that sends bytes of this processor, as gloo does; all processes without it.

        Returns
        -------
        Group

        Raises
        ------
        UnsupportedError
            Of a group of NCCL alone, and before ``init_process_group``.

        Examples
        --------
        >>> from tilewright.distributed import Group
        >>> torch.distributed.init_process_group("gloo")  # doctest: +SKIP
        >>> group = Group.torch()  # doctest: +SKIP
        """
        return cls(_ranks.of_torch(group))

    @classmethod
    def threads(cls, count: int) -> list[Group]:
        """The ranks of a group of threads of this process. Each thread takes one.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        list of Group

        Raises
        ------
        ShapeError
            Of none.

        Examples
        --------
        >>> from tilewright.distributed import Group
        >>> Group.threads(1)
        [Group(rank=0, size=1)]
        """
        if count < 1:
            raise ShapeError(f"a group of {count} threads", "dimensions", "give 1 or more")
        return [cls(ranks) for ranks in _native.ranks_of_threads(count)]

    @classmethod
    def devices(cls, ordinals: Iterable[int]) -> list[Group]:
        """The ranks of a group of threads of this process, each with one of its GPUs. Each thread takes one.

        Parameters
        ----------
        ordinals : sequence of int
            The numbers of the GPUs, as CUDA counts them: ``[0, 1]``.

        Returns
        -------
        list of Group
            In the order of the numbers. `closure` and `matmul` compute on the GPUs unless another backend is named.

        Raises
        ------
        UnavailableError
            Where there is no driver, or no GPU of such a number.
        ShapeError, UnsupportedError
            Of none, and of a GPU twice.

        Examples
        --------
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> from tilewright.distributed import DistMatrix, Group, closure
        >>> def work(group):
        ...     d = DistMatrix.load(group, "w.npy")
        ...     closure(d)
        ...     d.save("d.npy")
        >>> groups = Group.devices([0, 1])  # doctest: +SKIP
        >>> with ThreadPoolExecutor(len(groups)) as threads:  # doctest: +SKIP
        ...     results = list(threads.map(work, groups))
        """
        numbers = list(ordinals)
        if not numbers:
            raise ShapeError("a group of no GPUs", "dimensions", "give the number of 1 or more")
        for at, number in enumerate(numbers):
            if number < 0:
                raise UnsupportedError(f"GPU {number}", "unsupported", "they are numbered from 0 on")
            if number in numbers[:at]:
                raise UnsupportedError(f"GPU {number} twice in a group", "unsupported", "a GPU is one rank")
        return [cls(ranks) for ranks in _native.ranks_of_devices(numbers)]

    @property
    def rank(self) -> int:
        return self._ranks.rank

    @property
    def size(self) -> int:
        return self._ranks.size

    @property
    def transport(self) -> str | None:
        return self._ranks.transport

    def __repr__(self) -> str:
        return f"Group(rank={self.rank}, size={self.size})"
