"""Hidden Markov models: against sums over all sequences of states."""

import itertools
import re

import numpy as np
import pytest
import tilewright
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright import hmm


def model(batch, steps, states, seed, impossible=0.2, own=False, moving=False, dtype="float64"):
    generator = np.random.default_rng(seed)

    def logarithms(*shape):
        p = generator.random(shape) + 0.01
        p[generator.random(shape) < impossible] = 0
        with np.errstate(divide="ignore"):
            return np.log(p).astype(dtype)

    trans = logarithms(*([batch] if own else []), *([steps - 1] if moving else [1] if own else []), states, states)
    return logarithms(batch, states), trans, logarithms(batch, steps, states)


def joint(init, trans, obs):
    """The logarithm of the probability of each sequence of states together with what is observed, of one sequence, as an array with a dimension for each step."""
    steps, states = obs.shape
    trans = np.broadcast_to(trans, (max(steps - 1, 1), states, states)) if trans.shape[0:1] != (0,) or trans.ndim < 3 else trans
    found = np.full((states,) * steps, -np.inf)
    for path in itertools.product(range(states), repeat=steps):
        total = init[path[0]] + obs[0, path[0]]
        for step in range(1, steps):
            total += trans[step - 1, path[step - 1], path[step]] + obs[step, path[step]]
        found[path] = total
    return found


def total(values, axis=None):
    return np.logaddexp.reduce(values, axis=axis)


def marginal(values, kept):
    return total(values, axis=tuple(axis for axis in range(values.ndim) if axis != kept)) if values.ndim > 1 else values


def normal(values):
    whole = total(values)
    return values - whole if whole > -np.inf else values


def each(init, trans, obs, lengths):
    """The joint probabilities of each sequence until its end."""
    for b, length in enumerate(lengths):
        own = trans if trans.ndim == 2 else trans if trans.ndim == 3 else trans[b]
        yield joint(init[b], own if own.ndim == 2 or len(own) == 1 else own[: length - 1], obs[b, :length])


shapes = {"batch": st.integers(1, 3), "steps": st.integers(1, 5), "states": st.integers(1, 3), "own": st.booleans(), "moving": st.booleans(), "seed": st.integers(0, 9999)}


@settings(max_examples=120, deadline=None)
@given(data=st.data(), method=st.sampled_from(["auto", "steps", "scan"]), **shapes)
def test_all_beside_the_sum_over_all_sequences(data, method, batch, steps, states, own, moving, seed):
    init, trans, obs = model(batch, steps, states, seed, own=own, moving=moving)
    lengths = np.array(data.draw(st.lists(st.integers(1, steps), min_size=batch, max_size=batch)))
    padded = obs.copy()
    padded[np.arange(steps) >= lengths[:, None]] = np.nan
    options = {"lengths": lengths}
    found = hmm.log_prob(init, trans, padded, method=method, **options)
    filtered = hmm.filter(init, trans, padded, method=method, **options)
    smoothed = hmm.smooth(init, trans, padded, method=method, **options)
    paths, scores = hmm.viterbi(init, trans, padded, method=method, **options)
    drawn = hmm.sample(init, trans, padded, seed=seed, **options)
    assert found.shape == scores.shape == (batch,) and paths.shape == drawn.shape == (batch, steps) and filtered.shape == smoothed.shape == obs.shape
    for b, (length, all_paths) in enumerate(zip(lengths, each(init, trans, obs, lengths))):
        np.testing.assert_allclose(found[b], total(all_paths), atol=1e-12)
        np.testing.assert_allclose(scores[b], all_paths.max(), atol=1e-12)
        for answer in (paths, drawn):
            assert (answer[b, length:] == -1).all() and (answer[b, :length] == -1).all() == (scores[b] == -np.inf)
        assert (filtered[b, length:] == -np.inf).all() and (smoothed[b, length:] == -np.inf).all()
        if scores[b] > -np.inf:
            np.testing.assert_allclose(all_paths[tuple(paths[b, :length])], scores[b], atol=1e-12)
            assert all_paths[tuple(drawn[b, :length])] > -np.inf
        for t in range(length):
            np.testing.assert_allclose(smoothed[b, t], normal(marginal(all_paths, t)), atol=1e-11)
            own_trans = trans if trans.ndim == 2 else trans[b] if trans.ndim == 4 else trans
            until = joint(init[b], own_trans if own_trans.ndim == 2 or len(own_trans) == 1 else own_trans[:t], obs[b, : t + 1])
            np.testing.assert_allclose(filtered[b, t], normal(marginal(until, t)), atol=1e-11)


def test_a_single_sequence_has_no_batch():
    init, trans, obs = model(1, 6, 4, 0, impossible=0)
    one = (init[0], trans, obs[0])
    assert isinstance(hmm.log_prob(*one), np.float64) and hmm.log_prob(*one) == hmm.log_prob(init, trans, obs)[0]
    np.testing.assert_array_equal(hmm.filter(*one), hmm.filter(init, trans, obs)[0])
    np.testing.assert_array_equal(hmm.smooth(*one), hmm.smooth(init, trans, obs)[0])
    path, score = hmm.viterbi(*one)
    assert path.shape == (6,) and np.ndim(score) == 0
    assert hmm.sample(*one).shape == (6,) and hmm.sample(*one, count=3).shape == (3, 6) and hmm.sample(init, trans, obs, count=3).shape == (3, 1, 6)
    assert hmm.log_prob(*one, lengths=2) == hmm.log_prob(one[0], one[1], one[2][:2])
    np.testing.assert_array_equal(hmm.smooth(*one, lengths=np.int64(6)), hmm.smooth(*one))


def test_draws_are_as_probable_as_they_should_be():
    init, trans, obs = model(2, 3, 2, 3, own=True, moving=True)
    draws = hmm.sample(init, trans, obs, count=20_000, lengths=[3, 2], seed=np.random.default_rng(0))
    for b, (length, all_paths) in enumerate(zip([3, 2], each(init, trans, obs, [3, 2]))):
        expected = np.exp(normal(all_paths))
        counts = np.zeros_like(expected)
        np.add.at(counts, tuple(draws[:, b, :length].T), 1 / 20_000)
        # Five standard deviations.
        assert np.abs(counts - expected).max() < 5 * np.sqrt(0.25 / 20_000)


def test_long_sequences_lose_no_digits():
    generator = np.random.default_rng(0)
    steps, states = 3000, 5
    init, trans = np.full(states, -np.log(states)), np.full((states, states), -np.log(states))
    obs = generator.normal(-40, 5, (2, steps, states))
    # Transitions that forget make steps independent.
    expected = (total(obs, axis=2) - np.log(states)).sum(axis=1)
    for dtype, rounding in [("float64", 1e-13), ("float32", 1e-6)]:
        arrays = [array.astype(dtype) for array in (init, trans, obs)]
        found = hmm.log_prob(*arrays)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=rounding)
        smoothed = hmm.smooth(*arrays)
        assert smoothed.dtype == dtype
        np.testing.assert_allclose(smoothed, obs - total(obs, axis=2)[:, :, None], atol=1e-11 if dtype == "float64" else 1e-4)
        np.testing.assert_array_equal(hmm.viterbi(*arrays)[0], arrays[2].argmax(axis=2))
    np.testing.assert_allclose(hmm.log_prob(init, trans, obs, method="scan"), expected, rtol=1e-13)


def test_far_apart_terms_are_not_lost():
    init, trans = np.array([0.0, -150.0]), np.array([[-np.inf, -300.0], [0.0, -np.inf]])
    assert hmm.log_prob(init, trans, np.zeros((2, 2))) == -150


def test_ties_and_the_impossible():
    flat = np.zeros((3, 3))
    for method in ["steps", "scan"]:
        path, score = hmm.viterbi(flat[0], flat, np.zeros((4, 3)), method=method)
        assert path.tolist() == [0, 0, 0, 0] and score == 0
    none = np.full((4, 3), -np.inf)
    for method in ["steps", "scan"]:
        assert hmm.log_prob(flat[0], flat, none, method=method) == -np.inf
        assert (hmm.smooth(flat[0], flat, none, method=method) == -np.inf).all() and (hmm.filter(flat[0], flat, none, method=method) == -np.inf).all()
    assert (hmm.viterbi(flat[0], flat, none)[0] == -1).all() and (hmm.sample(flat[0], flat, none) == -1).all()


GOOD = {"log_init": np.zeros(3), "log_trans": np.zeros((3, 3)), "log_obs": np.zeros((2, 4, 3))}
HOLE = np.zeros((2, 4, 3))
HOLE[1, 2, 0] = np.nan


@pytest.mark.parametrize("function", [hmm.log_prob, hmm.filter, hmm.smooth, hmm.viterbi, hmm.sample])
@pytest.mark.parametrize(
    ("change", "error", "culprit"),
    [
        ({"log_obs": np.zeros(3)}, tilewright.ShapeError, "log_obs"),
        ({"log_obs": np.zeros((2, 0, 3))}, tilewright.ShapeError, "log_obs"),
        ({"log_init": np.zeros(4)}, tilewright.ShapeError, "log_init"),
        ({"log_init": np.zeros((5, 3))}, tilewright.ShapeError, "log_init"),
        ({"log_trans": np.zeros((3, 4))}, tilewright.ShapeError, "log_trans"),
        ({"log_trans": np.zeros((4, 3, 3))}, tilewright.ShapeError, "log_trans"),
        ({"log_trans": np.zeros((2, 2, 3, 3))}, tilewright.ShapeError, "log_trans"),
        ({"log_trans": np.zeros(3)}, tilewright.ShapeError, "log_trans"),
        ({"log_obs": np.zeros((2, 4, 3), int)}, tilewright.ElementTypeError, "log_obs"),
        ({"log_init": np.zeros(3, "float32")}, tilewright.ElementTypeError, "log_init"),
        ({"log_init": [0.0, 0.0, 0.0]}, tilewright.ElementTypeError, "log_init"),
        ({"log_obs": HOLE}, tilewright.DomainError, r"log_obs\[1, 2, 0\] is nan"),
        ({"log_init": np.array([0, np.inf, 0])}, tilewright.DomainError, "log_init"),
        ({"lengths": [4, 5]}, tilewright.DomainError, "sequence 1 of length 5"),
        ({"lengths": [0, 4]}, tilewright.DomainError, "sequence 0"),
        ({"lengths": [4]}, tilewright.ShapeError, "lengths"),
        ({"lengths": [4.0, 4.0]}, tilewright.ElementTypeError, "lengths"),
        ({"lengths": [[4], [4, 4]]}, tilewright.ElementTypeError, "lengths"),
        ({"log_obs": np.zeros((4, 3)), "lengths": [4]}, tilewright.ShapeError, "give a number"),
    ],
)
def test_what_is_refused(function, change, error, culprit):
    with pytest.raises(error, match=culprit) as caught:
        function(**{**GOOD, **change})
    assert caught.value.hint


@pytest.mark.parametrize("function", [hmm.log_prob, hmm.filter, hmm.smooth, hmm.viterbi, hmm.sample])
@pytest.mark.parametrize("large", [1e308, -1e308])
def test_numbers_whose_sums_would_be_none(function, large):
    for name in GOOD:
        changed = GOOD[name].copy()
        changed.reshape(-1)[-1] = large
        with pytest.raises(tilewright.DomainError, match=rf"^{name}\[.*\] is {re.escape(str(large))}") as caught:
            function(**{**GOOD, name: changed})
        assert "-inf for what is impossible" in caught.value.hint


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["steps", "scan"])
def test_the_largest_numbers_that_are_taken(dtype, method):
    """Of both signs beside each other, so that differences are twice as large."""
    steps = 7
    most = np.finfo(dtype).max / (16 * steps)
    init, trans, obs = (np.resize(np.array([most, -most], dtype), shape) for shape in [(2,), (2, 2), (steps, 2)])
    for other in (trans, trans.T.copy(), -trans):
        for found in (hmm.filter(init, other, obs, method=method), hmm.smooth(init, other, obs, method=method), hmm.viterbi(init, other, obs, method=method)[1], hmm.log_prob(init, other, obs, method=method)):
            assert not np.isnan(found).any() and not np.isposinf(found).any()


def test_other_wishes_that_are_refused():
    with pytest.raises(tilewright.UnsupportedError, match="'best'"):
        hmm.filter(**GOOD, method="best")
    for count in (1.5, "2"):
        with pytest.raises(tilewright.ElementTypeError, match="count is"):
            hmm.sample(**GOOD, count=count)
    with pytest.raises(tilewright.UnsupportedError, match="0 draws"):
        hmm.sample(**GOOD, count=0)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    found = hmm.log_prob(*(torch.from_numpy(array) for array in GOOD.values()))
    assert isinstance(found, torch.Tensor) and found.shape == (2,)
