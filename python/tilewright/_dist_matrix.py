"""Matrices in blocks that ranks have in turn."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _native
from ._errors import ShapeError
from ._group import Group

__all__ = ["DistMatrix"]

_Pair = tuple[int, int]


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
