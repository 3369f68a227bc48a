"""Measurements."""

import pytest
import tilewright
from tilewright import bench


def test_a_row_for_each_product():
    rows = bench([16, (8, 24, 4)], semiring="min-plus", dtype="int32", rounds=2, threads=1)
    assert [(row["m"], row["n"], row["k"]) for row in rows] == [(16, 16, 16), (8, 24, 4)]
    for row in rows:
        assert (row["backend"], row["dtype"], row["semiring"], row["threads"]) == ("cpu", "int32", "min-plus", 1)
        assert 0 < row["seconds"] <= row["call_seconds"] and row["fastest_call_seconds"] <= row["call_seconds"]
        assert row["operations_per_second"] == pytest.approx(2 * row["m"] * row["n"] * row["k"] / row["seconds"])
    assert {row["kernel"].split()[0] for row in bench([8], semiring="or-and", rounds=1)}


def test_against_numpy():
    ours, theirs = bench([32], against="numpy", rounds=2)
    assert (ours["backend"], theirs["backend"], theirs["kernel"]) == ("cpu", "numpy", "@")


def test_every_backend_and_own_expressions():
    assert bench([8], backend="emulator", rounds=1)[0]["backend"] == "emulator"
    row = bench([8], semiring="add=max(x,y); mul=min(x,y); zero=-inf", rounds=1)[0]
    assert row["kernel"].startswith("expressions") and row["dtype"] == "float32"


def test_refusals():
    import numpy

    for wrong in [{"sizes": [0]}, {"sizes": [(1, 2)]}, {"sizes": [2.5]}, {"rounds": 0}, {"against": "blas"}, {"semiring": "min-plus", "against": "numpy"}, {"semiring": tilewright.Semiring(add=numpy.minimum, mul=numpy.add, zero=numpy.inf)}, {"dtype": "bool"}]:
        with pytest.raises(tilewright.Error) as caught:
            bench(**{"sizes": [4], "rounds": 1, **wrong})
        assert caught.value.hint
    with pytest.raises(TypeError):
        bench(4)
