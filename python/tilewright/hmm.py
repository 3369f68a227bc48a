"""Hidden Markov models with any number of states, in batches of sequences, by products over log-plus and max-plus.

A model is three arrays of logarithms, where ``-inf`` is impossible:

* `log_init`, the states at the beginning: (K,), or (B, K) for B sequences;
* `log_trans`, the transitions from row to column: (K, K), or (B, T - 1, K, K) where they differ, with 1 for B or for T - 1 where they do not;
* `log_obs`, what is observed at each step in each state: (T, K), or (B, T, K).

They are of float32 or float64, all of the same: arrays of NumPy, or tensors of torch on this processor. With `lengths` sequence b ends after ``lengths[b]`` steps; what stands behind is not looked at.
Numbers so large that a sum along a sequence may overflow are refused.

>>> import numpy, tilewright.hmm
>>> init, trans = numpy.log([0.6, 0.4]), numpy.log([[0.7, 0.3], [0.4, 0.6]])
>>> walk, shop, clean = numpy.log([[0.1, 0.6], [0.4, 0.3], [0.5, 0.1]])
>>> path, score = tilewright.hmm.viterbi(init, trans, numpy.stack([walk, shop, clean]))
>>> path.tolist(), round(float(numpy.exp(score)), 5)
([1, 0, 0], 0.01344)
"""

from __future__ import annotations

from typing import Any

import numpy

from . import _native
from ._errors import ElementTypeError, UnsupportedError
from ._hmm_model import Model, finite
from ._powers import scan

__all__ = ["filter", "log_prob", "sample", "smooth", "viterbi"]

# A product of two small matrices takes about as long as a step from Python; these many elements of all sequences' transitions are a few.
_FEW = 64
# After so many steps sums are brought back to 0.
_NEAR = 8


def log_prob(log_init: Any, log_trans: Any, log_obs: Any, *, lengths: Any = None, method: str = "auto") -> Any:
    """The logarithm of the probability of what is observed: ``log sum_z p(z[0]) o[0, z[0]] prod_t p(z[t] | z[t - 1]) o[t, z[t]]``.

    Parameters
    ----------
    log_init, log_trans, log_obs : array
        The model, as the module tells.
    lengths : array of B whole numbers, optional
        Steps of each sequence, from 1 to T.
    method : {'auto', 'steps', 'scan'}, default 'auto'
        'steps' takes a product of (B, K) by (K, K) for each step. 'scan' takes 2 T products of (K, K) for each sequence in 2 log2(T) calls: for few states and few long sequences.

    Returns
    -------
    array of B, or a number for a single sequence
        ``-inf`` where what is observed is impossible.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError
        Each names the array, and a DomainError the element.

    Examples
    --------
    >>> import numpy, tilewright.hmm
    >>> half = numpy.log(numpy.full((2, 2), 0.5))
    >>> float(tilewright.hmm.log_prob(half[0], half, numpy.log([[0.5, 0.25], [0.75, 0.25]])).round(6))
    -1.673976
    """
    model = Model(log_init, log_trans, log_obs, lengths)
    _, totals, _ = _forward(model, method)
    return model.answer(totals, 0)


def filter(log_init: Any, log_trans: Any, log_obs: Any, *, lengths: Any = None, method: str = "auto") -> Any:
    """The logarithm of the probability of each state, given what was observed until then: ``log p(z[t] | o[0], ..., o[t])``.

    Parameters
    ----------
    log_init, log_trans, log_obs, lengths, method
        As for `log_prob`.

    Returns
    -------
    array of (B, T, K) or (T, K)
        ``-inf`` behind the end of a sequence, and from where what is observed is impossible.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError
        Each names the array, and a DomainError the element.

    Examples
    --------
    >>> import numpy, tilewright.hmm
    >>> half = numpy.log(numpy.full((2, 2), 0.5))
    >>> numpy.exp(tilewright.hmm.filter(half[0], half, numpy.log([[0.75, 0.25], [0.1, 0.1]]))).round(6)
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    model = Model(log_init, log_trans, log_obs, lengths)
    forward, _, _ = _forward(model, method)
    return model.answer(_behind_the_end(model, _normalized(forward)), 2)


def smooth(log_init: Any, log_trans: Any, log_obs: Any, *, lengths: Any = None, method: str = "auto") -> Any:
    """The logarithm of the probability of each state, given all that was observed: ``log p(z[t] | o[0], ..., o[T - 1])``.

    Parameters
    ----------
    log_init, log_trans, log_obs, lengths, method
        As for `log_prob`.

    Returns
    -------
    array of (B, T, K) or (T, K)
        ``-inf`` behind the end of a sequence, and everywhere where what is observed is impossible.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError
        Each names the array, and a DomainError the element.

    Examples
    --------
    >>> import numpy, tilewright.hmm
    >>> init, trans = numpy.log([0.5, 0.5]), numpy.log([[0.9, 0.1], [0.1, 0.9]])
    >>> numpy.exp(tilewright.hmm.smooth(init, trans, numpy.log([[0.5, 0.5], [0.8, 0.2]]))).round(6)
    array([[0.74, 0.26],
           [0.8 , 0.2 ]])
    """
    model = Model(log_init, log_trans, log_obs, lengths)
    forward, _, _ = _forward(model, method)
    backward = _backward(model, method)
    return model.answer(_behind_the_end(model, _normalized(forward + backward)), 2)


def viterbi(log_init: Any, log_trans: Any, log_obs: Any, *, lengths: Any = None, method: str = "auto") -> tuple[Any, Any]:
    """The most probable states, and the logarithm of their probability together with what is observed.

    Of several the one whose last state is the smallest, then the one before it, and so on.

    Parameters
    ----------
    log_init, log_trans, log_obs, lengths, method
        As for `log_prob`. They need not be logarithms of probabilities: scores of any kind will do.

    Returns
    -------
    states : array of (B, T) or (T,), int64
        -1 behind the end of a sequence, and everywhere where what is observed is impossible.
    scores : array of B, or a number

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError
        Each names the array, and a DomainError the element.

    Examples
    --------
    >>> import numpy, tilewright.hmm
    >>> init, trans = numpy.log([0.5, 0.5]), numpy.log([[0.9, 0.1], [0.1, 0.9]])
    >>> tilewright.hmm.viterbi(init, trans, numpy.log([[0.5, 0.5], [0.8, 0.2], [0.3, 0.7]]))[0]
    array([0, 0, 0])
    """
    model = Model(log_init, log_trans, log_obs, lengths)
    rows, scores, stops = _forward(model, method, "max-plus")
    stops[numpy.arange(1, model.steps)[:, None] >= model.lengths] = numpy.arange(model.states)
    states = numpy.empty((model.count, model.steps), numpy.int64)
    sequences = numpy.arange(model.count)
    states[:, -1] = rows[sequences, model.lengths - 1].argmax(axis=1)
    for step in reversed(range(1, model.steps)):
        states[:, step - 1] = stops[step - 1, sequences, states[:, step]]
    states[numpy.arange(model.steps) >= model.lengths[:, None]] = -1
    states[scores == -numpy.inf] = -1
    return model.answer(states, 1), model.answer(scores, 0)


def sample(log_init: Any, log_trans: Any, log_obs: Any, *, lengths: Any = None, count: int | None = None, seed: Any = None) -> Any:
    """States drawn from ``p(z[0], ..., z[T - 1] | o[0], ..., o[T - 1])``: forwards by products, and backwards by drawing.

    Parameters
    ----------
    log_init, log_trans, log_obs, lengths
        As for `log_prob`.
    count : int, optional
        Draws of each sequence; one, without a dimension of its own, unless given.
    seed : int or numpy.random.Generator, optional
        As for `numpy.random.default_rng`.

    Returns
    -------
    array of (B, T) or (T,), or (count, B, T) or (count, T), int64
        -1 behind the end of a sequence, and everywhere where what is observed is impossible.

    Raises
    ------
    ShapeError, ElementTypeError, DomainError, UnsupportedError
        Each names the array, and a DomainError the element.

    Examples
    --------
    >>> import numpy, tilewright.hmm
    >>> init, trans = numpy.log([0.5, 0.5]), numpy.log([[0.9, 0.1], [0.1, 0.9]])
    >>> tilewright.hmm.sample(init, trans, numpy.zeros((5, 2)), count=3, seed=0).shape
    (3, 5)
    """
    model = Model(log_init, log_trans, log_obs, lengths)
    if count is not None and (isinstance(count, bool) or not hasattr(count, "__index__")):
        raise ElementTypeError(f"count is {count!r}", "dtype-mismatch", "give a whole number")
    if count is not None and count < 1:
        raise UnsupportedError(f"{count} draws", "unsupported", "give one at least")
    draws = count or 1
    try:
        generator = numpy.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ElementTypeError(f"seed is {seed!r}", "dtype-mismatch", "give a whole number from 0 on, or a numpy.random.Generator") from error
    forward, totals, _ = _forward(model, "steps")
    states = numpy.full((draws, model.count, model.steps), -1, numpy.int64)
    sequences = numpy.arange(model.count)
    state = numpy.zeros((draws, model.count), numpy.int64)
    for step in reversed(range(model.steps)):
        weights = numpy.broadcast_to(forward[:, step], (draws, *forward.shape[::2]))
        if step + 1 < model.steps:
            onwards = model.transitions(step + 1)[sequences[None, :] if model.differ else 0, :, state]
            weights = weights + numpy.where(model.goes_on(step + 1), onwards, 0)
        # The largest of logarithms with Gumbel's noise is drawn as often as its probability says.
        drawn = (weights + generator.gumbel(size=weights.shape)).argmax(axis=-1)
        within = step < model.lengths
        state = numpy.where(within, drawn, state)
        states[:, within, step] = drawn[:, within]
    states[:, totals == -numpy.inf] = -1
    return model.answer(states if count is not None else states[0], 1)


def _forward(model: Model, method: str, semiring: str = "log-plus") -> tuple[Any, Any, Any]:
    """The rows of all steps, of (B, T, K), but for a term of each step and sequence; totals of sequences; and under max-plus the state before each, of (T - 1, B, K).

    Under log-plus a row has the logarithms of the states' probabilities together with what was observed until then, under max-plus those of the best ways there.
    """
    selects = semiring == "max-plus"
    stops: Any = numpy.empty((model.steps - 1, model.count, model.states), numpy.int32) if selects else None
    shifts = numpy.zeros((model.steps, model.count))
    if _by_scan(model, method):
        rows = _scanned(model, semiring)
        if selects:
            _, found = _native.matmul(rows[:, :-1, None], model.trans, semiring=semiring, arg=True)
            stops = numpy.swapaxes(found[:, :, 0], 0, 1)
    else:
        rows = numpy.empty_like(model.obs)
        row, shift = _near_zero(model.init + model.obs[:, 0], 0)
        rows[:, 0], shifts[0] = row, shift
        for step in range(1, model.steps):
            if selects:
                row, stops[step - 1] = model.advance(row, step, semiring, arg=True)
            else:
                row = model.advance(row, step, semiring)
            row += model.obs[:, step]
            if step % _NEAR == 0:
                row, shift = _near_zero(row, shift)
            rows[:, step], shifts[step] = row, shift
    sequences, last = numpy.arange(model.count), model.lengths - 1
    ends = rows[sequences, last]
    totals = (ends.max(axis=1) if selects else _sum(ends)[:, 0]) + shifts[last, sequences] + model.base
    return rows, totals.astype(model.obs.dtype), stops


def _scanned(model: Model, semiring: str) -> Any:
    """The rows of all steps, those behind the end of a sequence as at its end."""
    first = (model.init + model.obs[:, 0])[:, None]
    products = scan(model.factors(), semiring)
    return numpy.concatenate([first, _native.matmul(first[:, None], products, semiring=semiring)[:, :, 0]], axis=1)


def _backward(model: Model, method: str) -> Any:
    """For each step and state the logarithm of the probability of what is observed later, but for a term of each step and sequence."""
    backward = numpy.zeros_like(model.obs)
    if _by_scan(model, method):
        products = scan(model.factors(), "log-plus", reverse=True)
        backward[:, :-1] = _native.matmul(products, numpy.zeros(model.states, model.obs.dtype), semiring="log-plus")
        return backward
    for step in reversed(range(1, model.steps)):
        beta = model.retreat(backward[:, step] + model.obs[:, step], step)
        if step % _NEAR == 0:
            beta, _ = _near_zero(beta, 0)
        backward[:, step - 1] = numpy.where(model.goes_on(step), beta, 0)
    return backward


def _by_scan(model: Model, method: str) -> bool:
    if method not in ("auto", "steps", "scan"):
        raise UnsupportedError(f"the method {method!r}", "unsupported", "give 'auto', 'steps' or 'scan'")
    # Sums along a scan are not brought near to 0, for which float32 has too few digits.
    few = model.count * model.states**2 <= _FEW and model.obs.dtype == numpy.float64
    return model.steps > 1 and (method == "scan" or (method == "auto" and few))


def _behind_the_end(model: Model, values: Any) -> Any:
    values[numpy.arange(model.steps) >= model.lengths[:, None]] = -numpy.inf
    return values


def _normalized(values: Any) -> Any:
    return values - finite(_sum(values))


def _near_zero(values: Any, shifts: Any) -> tuple[Any, Any]:
    """Rows whose largest element is 0, and what was taken from them in all, in float64."""
    largest = finite(values.max(axis=1, keepdims=True))
    return values - largest, shifts + largest[:, 0].astype(numpy.float64)


def _sum(values: Any) -> Any:
    """The logarithm of the sum of exponentials along the last dimension, which is kept."""
    largest = finite(values.max(axis=-1, keepdims=True))
    with numpy.errstate(divide="ignore"):
        return largest + numpy.log(numpy.exp(values - largest).sum(axis=-1, keepdims=True))
