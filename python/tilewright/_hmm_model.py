"""The arrays of a hidden Markov model, checked, as batches; and the steps that all its algorithms take."""

from __future__ import annotations

from typing import Any

import numpy

from . import _arrays, _native
from ._errors import DomainError, ElementTypeError, ShapeError

__all__ = ["Model", "finite"]


class Model:
    """A batch of sequences.

    Attributes
    ----------
    count, steps, states : int
        B, T and K.
    init : array of (B, K)
    trans : array of (B, T - 1, K, K), with 1 for what does not differ
    obs : array of (B, T, K)
        With 0 as the largest at each step, so that sums along a sequence stay near 0 and lose no digits.
    lengths : array of (B,)
    base : array of (B,), float64
        What was taken from `obs` in all.
    differ : bool
        Whether sequences have transitions of their own.
    """

    def __init__(self, log_init: Any, log_trans: Any, log_obs: Any, lengths: Any) -> None:
        self._origin = log_obs
        arrays = {"log_init": log_init, "log_trans": log_trans, "log_obs": log_obs}
        init, trans, obs = (_arrays.view(name, array) for name, array in arrays.items())
        for name, array in zip(arrays, (init, trans, obs)):
            _check_type(name, array.dtype, obs.dtype)
        self._single = obs.ndim == 2
        if obs.ndim not in (2, 3) or 0 in obs.shape:
            raise ShapeError(f"log_obs is of shape {obs.shape}", "dimensions", "give (T, K), or (B, T, K) for B sequences, with one step and one state at least")
        obs = obs[None] if self._single else obs
        self.count, self.steps, self.states = obs.shape
        self.init = _fitting("log_init", init, (self.count, self.states), 1)
        trans = _fitting("log_trans", trans, (self.count, self.steps - 1, self.states, self.states), 2, stretched=False)
        self.trans = trans.reshape(*(1,) * (4 - trans.ndim), *trans.shape)
        self.differ = len(self.trans) > 1
        self.lengths = self._checked(lengths)
        # Whatever pads sequences counts for nothing.
        within = numpy.arange(self.steps) < self.lengths[:, None]
        obs = obs if within.all() else numpy.where(within[:, :, None], obs, obs.dtype.type(0))
        for name, array in zip(arrays, (init, trans, obs[0] if self._single else obs)):
            _check_logarithms(name, array, self.steps)
        largest = finite(obs.max(axis=2, keepdims=True))
        self.obs = obs - largest
        self.base = largest.sum(axis=(1, 2), dtype=numpy.float64)

    def _checked(self, lengths: Any) -> Any:
        if lengths is None:
            return numpy.full(self.count, self.steps)
        try:
            found = numpy.asarray(lengths)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ElementTypeError(f"lengths are no array: {error}", "dtype-mismatch", "give whole numbers, of NumPy or in a list") from error
        if found.dtype.kind not in "iu":
            raise ElementTypeError(f"lengths of {found.dtype}", "dtype-mismatch", "give whole numbers")
        if found.shape != (() if self._single else (self.count,)):
            given = "one sequence, and log_obs is (T, K)" if self._single else f"{self.count} sequences"
            hint = "give a number, or log_obs as (1, T, K)" if self._single else "give a vector with one for each sequence"
            raise ShapeError(f"lengths of shape {found.shape} for {given}", "dimensions", hint)
        found = found.reshape(self.count).astype(numpy.int64)
        wrong = numpy.flatnonzero((found < 1) | (found > self.steps))
        if len(wrong):
            raise DomainError(f"sequence {wrong[0]} of length {found[wrong[0]]}", "domain", f"lengths are from 1 to {self.steps}, the steps of log_obs")
        return found

    def answer(self, result: Any, dimensions: int) -> Any:
        """A result of so many dimensions for each sequence, as the caller gave sequences."""
        if self._single:
            result = result.squeeze(-1 - dimensions)
        return _arrays.like(self._origin, result)

    def goes_on(self, step: int) -> Any:
        """Which sequences have this step, as a column."""
        return (step < self.lengths)[:, None]

    def transitions(self, step: int) -> Any:
        """Those into a step: of (B, K, K), or (1, K, K) for all sequences."""
        return self.trans[:, min(step, self.trans.shape[1]) - 1]

    def advance(self, before: Any, step: int, semiring: str, **options: Any) -> Any:
        """A row of each sequence by the transitions into a step."""
        return self._thin(before, self.transitions(step), semiring, **options)

    def retreat(self, after: Any, step: int) -> Any:
        """The transitions into a step by a column of each sequence."""
        return self._thin(after, numpy.swapaxes(self.transitions(step), 1, 2), "log-plus")

    def _thin(self, rows: Any, matrices: Any, semiring: str, **options: Any) -> Any:
        if not self.differ:
            return _native.matmul(rows, matrices[0], semiring=semiring, **options)
        found = _native.matmul(rows[:, None], matrices, semiring=semiring, **options)
        return tuple(part[:, 0] for part in found) if isinstance(found, tuple) else found[:, 0]

    def factors(self) -> Any:
        """A matrix of (K, K) for each step but the first, with what is observed there; the identity behind the end of a sequence."""
        factors = numpy.broadcast_to(self.trans, (self.count, self.steps - 1, self.states, self.states)) + self.obs[:, 1:, None]
        identity = numpy.where(numpy.eye(self.states, dtype=bool), 0, -numpy.inf).astype(self.obs.dtype)
        factors[numpy.arange(1, self.steps) >= self.lengths[:, None]] = identity
        return factors


def finite(largest: Any) -> Any:
    """What is subtracted: nothing where all is -inf."""
    return numpy.where(largest == -numpy.inf, largest.dtype.type(0), largest)


def _check_type(name: str, dtype: Any, expected: Any) -> None:
    if dtype not in (numpy.float32, numpy.float64):
        raise ElementTypeError(f"{name} is of {dtype}", "dtype-mismatch", "give logarithms of float32 or float64")
    if dtype != expected:
        raise ElementTypeError(f"{name} is of {dtype} but log_obs is of {expected}", "dtype-mismatch", f"convert it: {name}.astype(log_obs.dtype)")


def _check_logarithms(name: str, array: Any, steps: int) -> None:
    """Refuses what is no number, and numbers so large that a sum along a sequence, or the difference of two, would be none."""
    most = numpy.finfo(array.dtype).max / (16 * steps)
    right = numpy.abs(array) <= most
    if not right.all():
        right |= array == -numpy.inf
    if not right.all():
        at = tuple(numpy.argwhere(~right)[0].tolist())
        hint = f"give -inf for what is impossible; for {steps} steps of {array.dtype} numbers lie between {-most:.3g} and {most:.3g}" if numpy.isfinite(array[at]) else "logarithms of probabilities are finite, or -inf for 0"
        raise DomainError(f"{name}{list(at)} is {array[at]}", "domain", hint)


def _fitting(name: str, array: Any, shape: tuple[int, ...], least: int, *, stretched: bool = True) -> Any:
    """An array whose last dimensions are of this shape, and others 1 or as they should be."""
    fits = least <= array.ndim <= len(shape) and array.shape[-least:] == shape[-least:]
    if not fits or any(have not in (1, want) for have, want in zip(array.shape[::-1], shape[::-1])):
        raise ShapeError(f"{name} is of shape {array.shape}", "dimensions", f"with this log_obs give {shape[-least:]}, or what stretches to {shape}")
    return numpy.broadcast_to(array, shape) if stretched else array
