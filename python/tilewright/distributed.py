"""Products and best paths of matrices that are spread over many processes, by MPI or by torch.

Every rank calls the same functions in the same order. [Many ranks](../distributed.md) tells of launchers, of files, and of what happens when something fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _native, _ranks
from ._errors import ShapeError

__all__ = ["DistMatrix", "Group", "closure", "matmul", "predecessors"]

_Pair = tuple[int, int]


class Group:
    """Processes or threads that compute together, each with a number: its rank.

    A group belongs to the thread that made it, or that used it first.

    Attributes
    ----------
    rank : int
        The number of this process, from 0 on.
    size : int
        How many there are.

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

    @property
    def rank(self) -> int:
        return self._ranks.rank

    @property
    def size(self) -> int:
        return self._ranks.size

    def __repr__(self) -> str:
        return f"Group(rank={self.rank}, size={self.size})"


class DistMatrix:
    """A matrix in square blocks, which are dealt to the rows and columns of a grid of ranks in turn.

    Block ``(I, J)`` lies at row ``I % rows`` and column ``J % columns`` of the grid, and ranks are numbered row by row.

    Attributes
    ----------
    shape : tuple of int
        That of the whole matrix.
    grid : tuple of int
        Rows and columns of ranks.
    block : int
        Rows and columns of a block.
    local : numpy.ndarray
        What this rank has: its blocks, side by side in the order of their numbers. It may be written to.
    blocks : list of (range, range)
        The rows and columns of this rank's blocks in the whole matrix, row by row of blocks.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group
    >>> (group,) = Group.threads(1)
    >>> d = DistMatrix.from_function(group, (2, 3), lambda rows, cols: numpy.add.outer(rows, cols))
    >>> d.gather()
    array([[0., 1., 2.],
           [1., 2., 3.]], dtype=float32)
    """

    def __init__(self, group: Group, place: tuple[_Pair, _Pair, int], owned: _native.Owned) -> None:
        self._group, self._place, self._owned = group, place, owned
        self.shape, self.grid, self.block = place
        self.local: Any = numpy.asarray(owned)

    @property
    def blocks(self) -> list[tuple[range, range]]:
        at = divmod(self._group.rank, self.grid[1])
        rows, columns = (_indices(length, self.block, parts, part) for length, parts, part in zip(self.shape, self.grid, at))
        return [(down, across) for down in rows for across in columns]

    def _parts(self) -> list[Any]:
        """This rank's blocks, in the same order."""
        rows, columns = ([slice(at, at + self.block) for at in range(0, length, self.block)] for length in self.local.shape)
        return [self.local[down, across] for down in rows for across in columns]

    @classmethod
    def zeros(cls, group: Group, shape: Sequence[int], *, grid: _Pair | None = None, block: int | None = None, dtype: Any = "float32") -> DistMatrix:
        """A matrix of zeros.

        Parameters
        ----------
        group : Group
            Whose ranks have the blocks.
        shape : (int, int)
            Rows and columns.
        grid : (int, int), optional
            Rows and columns of ranks; without it those that are sent the least during a product of square matrices.
        block : int, optional
            Rows and columns of a block: without it, what follows from the shape alone. The bits of rounded sums depend on it.
        dtype : data type, default 'float32'
            That of elements.

        Returns
        -------
        DistMatrix

        Raises
        ------
        UnsupportedError
            Where the grid has another number of ranks, or a block no rows.
        DeviceError
            At all ranks, where one has too little memory; it is named.

        Examples
        --------
        >>> from tilewright.distributed import DistMatrix, Group
        >>> (group,) = Group.threads(1)
        >>> DistMatrix.zeros(group, (2, 2), dtype="int32").local
        array([[0, 0],
               [0, 0]], dtype=int32)
        """
        rows, columns = shape
        usual_grid, usual_block = _native.default_grid(group.size, (rows, columns))
        grid, block = usual_grid if grid is None else grid, usual_block if block is None else block
        place = ((rows, columns), (grid[0], grid[1]), block)
        return cls(group, place, _native.dist_zeros(group._ranks, place, numpy.dtype(dtype).name))

    @classmethod
    def from_function(cls, group: Group, shape: Sequence[int], f: Callable[[range, range], Any], *, grid: _Pair | None = None, block: int | None = None, dtype: Any = "float32") -> DistMatrix:
        """A matrix that a function makes block by block; each rank calls it for its own.

        Parameters
        ----------
        group, shape, grid, block, dtype
            As for `zeros`.
        f : function of two ranges
            Given the rows and the columns of a block, an array of their elements, or what NumPy makes one by broadcasting.

        Returns
        -------
        DistMatrix

        Raises
        ------
        UnsupportedError, DeviceError
            As `zeros`; also at all other ranks, where the function raises an exception at one. That rank raises its own.

        Examples
        --------
        >>> import numpy
        >>> from tilewright.distributed import DistMatrix, Group
        >>> (group,) = Group.threads(1)
        >>> weights = lambda rows, cols: numpy.abs(numpy.subtract.outer(rows, cols))
        >>> DistMatrix.from_function(group, (3, 3), weights, dtype="int32").local[0]
        array([0, 1, 2], dtype=int32)
        """
        made = cls.zeros(group, shape, grid=grid, block=block, dtype=dtype)

        def fill() -> None:
            for (rows, columns), part in zip(made.blocks, made._parts()):
                part[...] = f(rows, columns)

        _at_all(group, "making the elements", fill)
        return made

    @classmethod
    def from_local(cls, group: Group, shape: Sequence[int], local: Any, *, grid: _Pair | None = None, block: int | None = None) -> DistMatrix:
        """A matrix of which this rank has these elements.

        Parameters
        ----------
        group, shape, grid, block
            As for `zeros`.
        local : array
            The blocks of this rank, side by side, as the attribute `local` has them. It is copied.

        Returns
        -------
        DistMatrix

        Raises
        ------
        ShapeError
            Where it has another shape than this rank's blocks; other ranks raise DeviceError.
        UnsupportedError, DeviceError
            As `zeros`.

        Examples
        --------
        >>> import numpy
        >>> from tilewright.distributed import DistMatrix, Group
        >>> (group,) = Group.threads(1)
        >>> DistMatrix.from_local(group, (1, 2), numpy.array([[7, 8]])).gather()
        array([[7, 8]])
        """
        array = numpy.asarray(local)
        made = cls.zeros(group, shape, grid=grid, block=block, dtype=array.dtype)

        def copy() -> None:
            if array.shape != made.local.shape:
                raise ShapeError(f"the blocks of a rank are {made.local.shape}, but its array is {array.shape}", "result-mismatch", "blocks lie side by side, in the order of their numbers")
            made.local[...] = array

        _at_all(group, "copying the elements", copy)
        return made

    @classmethod
    def load(cls, group: Group, path: str | os.PathLike[str], *, grid: _Pair | None = None, block: int | None = None, dtype: Any = None) -> DistMatrix:
        """A matrix from a ``.npy`` file or a folder of blocks. Each rank reads its own part.

        Parameters
        ----------
        group, grid
            As for `zeros`.
        path : path
            Of a file or a folder that all ranks see.
        block : int, optional
            Rows and columns of a block; without it those of the folder, or what follows from the shape.
        dtype : data type, optional
            What elements become.

        Returns
        -------
        DistMatrix

        Raises
        ------
        FileError, DomainError, UnsupportedError, DeviceError
            At all ranks alike.

        Examples
        --------
        >>> import numpy
        >>> from tilewright.distributed import DistMatrix, Group
        >>> import tempfile
        >>> (group,) = Group.threads(1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     numpy.save(f"{folder}/a.npy", numpy.eye(2))
        ...     DistMatrix.load(group, f"{folder}/a.npy").local
        array([[1., 0.],
               [0., 1.]])
        """
        name = None if dtype is None else numpy.dtype(dtype).name
        owned, place = _native.dist_load(group._ranks, os.fspath(path), grid, block, name)
        return cls(group, place, owned)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it: a name that ends in ``.npy`` is one file, and any other a folder of blocks.

        Parameters
        ----------
        path : path
            What is there stays whole until all ranks have written their parts.

        Returns
        -------
        None

        Raises
        ------
        FileError, DeviceError
            At all ranks alike.

        Examples
        --------
        >>> import numpy
        >>> from tilewright.distributed import DistMatrix, Group
        >>> import tempfile
        >>> (group,) = Group.threads(1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     DistMatrix.zeros(group, (2, 2)).save(f"{folder}/d.npy")
        ...     numpy.load(f"{folder}/d.npy").shape
        (2, 2)
        """
        _native.dist_save(self._group._ranks, self._place, self._owned, os.fspath(path))

    def gather(self) -> Any:
        """The whole matrix, at every rank: for small ones.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        OutOfMemoryError, DeviceError

        Examples
        --------
        >>> from tilewright.distributed import DistMatrix, Group
        >>> (group,) = Group.threads(1)
        >>> DistMatrix.zeros(group, (1, 2)).gather()
        array([[0., 0.]], dtype=float32)
        """
        return numpy.asarray(_native.dist_gather(self._group._ranks, self._place, self._owned))

    def __repr__(self) -> str:
        return f"DistMatrix(shape={self.shape}, dtype={self.local.dtype}, grid={self.grid}, block={self.block})"


def closure(
    d: DistMatrix,
    semiring: str | _native.Semiring = "min-plus",
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_step: Callable[[int, int], object] | None = None,
    threads: int | None = None,
    backend: str = "cpu",
) -> int | None:
    """Weights of edges become weights of best paths, in place; paths without an edge are among them.

    The bits are the same on every grid, for the same size of blocks.

    Parameters
    ----------
    d : DistMatrix
        The weight of the edge from row to column; the semiring's zero (infinity for 'min-plus') is no edge.
    semiring : str or Semiring, default 'min-plus'
        As for `tilewright.shortest_paths`.
    checkpoint : path, optional
        A folder in which the two newest states are kept, some ten on the way.
    resume : bool, default False
        Go on from the newest state there. `d` has the weights that the earlier run had.
    on_step : function of two numbers, optional
        Called by each rank before each step, with its number from 0 on and how many there are. An exception ends the closure at all ranks.
    threads : int, optional
        Threads of each rank at most.
    backend : str, default 'cpu'
        As for `tilewright.matmul`. All ranks have the same.

    Returns
    -------
    int or None
        How many steps an earlier run had done; None where there was none.

    Raises
    ------
    ShapeError, DomainError, UnsupportedError, NegativeCycleError
        At all ranks alike. `d` is undefined then.
    DeviceError
        At all ranks, where one has failed: step, host and rank are named. So is a rank that Ctrl-C has ended, which raises KeyboardInterrupt itself.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, closure
    >>> (group,) = Group.threads(1)
    >>> ring = numpy.full((4, 4), numpy.inf)
    >>> ring[[0, 1, 2, 3], [1, 2, 3, 0]] = 1
    >>> d = DistMatrix.from_local(group, (4, 4), ring, block=2)
    >>> closure(d)
    >>> d.local[0]
    array([0., 1., 2., 3.])
    """
    folder = None if checkpoint is None else os.fspath(checkpoint)
    wishes = {"semiring": semiring, "threads": threads, "backend": backend, "checkpoint": folder, "resume": resume, "on_step": on_step}
    return _native.dist_closure(d._group._ranks, d._place, d._owned, wishes)


def predecessors(d: DistMatrix, semiring: str | _native.Semiring = "min-plus", *, threads: int | None = None, backend: str = "cpu") -> tuple[DistMatrix, DistMatrix]:
    """The weights of best paths, and the vertex before the last on each: those of `tilewright.shortest_paths`.

    Parameters
    ----------
    d : DistMatrix
        Of integers; it stays as it is.
    semiring : str or Semiring, default 'min-plus'
        That or 'max-plus'.
    threads, backend
        As for `closure`.

    Returns
    -------
    (DistMatrix, DistMatrix)
        Weights of the type of `d`, and vertices as int64: -1 where there is none.

    Raises
    ------
    ShapeError, DomainError, UnsupportedError, NegativeCycleError, DeviceError
        As `closure`; of floats and of other semirings.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, predecessors
    >>> (group,) = Group.threads(1)
    >>> d = DistMatrix.from_local(group, (2, 2), numpy.array([[0, 5], [5, 0]]))
    >>> predecessors(d)[1].local
    array([[-1,  0],
           [ 1, -1]])
    """
    found = _native.dist_predecessors(d._group._ranks, d._place, d._owned, {"semiring": semiring, "threads": threads, "backend": backend})
    distances, stops = (DistMatrix(d._group, d._place, owned) for owned in found)
    return distances, stops


def matmul(a: DistMatrix, b: DistMatrix, semiring: str | _native.Semiring = "plus-times", *, threads: int | None = None, backend: str = "cpu") -> DistMatrix:
    """The product of two matrices over a semiring. C stays where it is, and panels of A and B go round.

    Parameters
    ----------
    a, b : DistMatrix
        Of one element type, on one grid, in blocks of one size.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are.
    threads, backend
        As for `closure`.

    Returns
    -------
    DistMatrix
        The bits of one product, but for rounding of sums.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError, DeviceError
        At all ranks alike, as `closure`.

    Examples
    --------
    >>> import numpy
    >>> from tilewright.distributed import DistMatrix, Group, matmul
    >>> (group,) = Group.threads(1)
    >>> a = DistMatrix.from_local(group, (2, 2), numpy.array([[1, 2], [3, 4]]))
    >>> matmul(a, a, "max-plus").gather()
    array([[5, 6],
           [7, 8]])
    """
    if a._group is not b._group:
        raise ShapeError("matrices of two groups", "dimensions", "make both with one group")
    wishes = {"semiring": semiring, "threads": threads, "backend": backend}
    right = None if b is a else (b._place, b._owned)
    owned = _native.dist_matmul(a._group._ranks, (a._place, a._owned), right, wishes)
    return DistMatrix(a._group, ((a.shape[0], b.shape[1]), a.grid, a.block), owned)


def _indices(length: int, block: int, parts: int, part: int) -> list[range]:
    """The indices of the blocks that a place of a grid has."""
    return [range(start, min(start + block, length)) for start in range(part * block, length, parts * block)]


def _at_all(group: Group, doing: str, work: Callable[[], None]) -> None:
    """Does work at this rank; an exception at one becomes an error at all."""
    try:
        work()
    except Exception as error:
        try:
            group._ranks.agree(f"{type(error).__name__}: {error}", doing)
        except Exception:
            raise error from None
        raise
    group._ranks.agree(None, doing)
