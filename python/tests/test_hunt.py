"""The hunt from Python finds nothing, and finds what is planted."""

import hunt
import pytest


def test_nothing_is_found():
    assert hunt.search(seed=1, cases=1500) == (1500, None)


@pytest.mark.parametrize("plant", hunt.PLANTS)
def test_every_planted_fault_is_found(plant):
    _, found = hunt.search(seed=2, cases=3000, plant=plant)
    assert found and "--seed 2 --case " in found


def test_a_finding_can_be_repeated():
    _, found = hunt.search(seed=3, cases=500, plant="last-term")
    index = int(found.split("--case ")[1].split()[0])
    assert hunt.attempt(3, index, hunt.planted("last-term")) == found and hunt.attempt(3, index, hunt.tilewright.matmul) is None
