"""Options that cannot be: each is an error of the library that names the option and says what to give."""

import networkx
import numpy as np
import pytest
import tilewright
import tilewright.hmm

A, B, W, M = np.ones((3, 4)), np.ones((4, 5)), np.zeros((3, 3)), np.ones((3, 2, 2))
INIT, TRANS, OBS = np.log([0.5, 0.5]), np.log([[0.9, 0.1], [0.1, 0.9]]), np.zeros((5, 2))

# What is called with threads=...
THREADED = {
    "matmul": lambda **options: tilewright.matmul(A, B, **options),
    "semiring.matmul": lambda **options: tilewright.min_plus.matmul(A, B, **options),
    "logmatmulexp": lambda **options: tilewright.logmatmulexp(A, B, **options),
    "shortest_paths": lambda **options: tilewright.shortest_paths(W, **options),
    "shortest_paths of edges": lambda **options: tilewright.shortest_paths(networkx.path_graph(3), **options),
    "scan": lambda **options: tilewright.scan(M, **options),
    "closure": lambda **options: tilewright.closure(W, "min-plus", **options),
    "closure of bits": lambda **options: tilewright.closure(W == 0, **options),
    "bench": lambda **options: tilewright.bench([8], rounds=1, **options),
}


def refused(call, name):
    with pytest.raises(tilewright.Error) as caught:
        call()
    message, hint = str(caught.value.args[0]), caught.value.hint
    assert message.startswith(f"{name} is "), message
    assert hint and hint.startswith("give ")
    return caught.value


@pytest.mark.parametrize("call", THREADED.values(), ids=THREADED)
@pytest.mark.parametrize("threads", [-1, 2**70, 1.5, "2", [1]])
def test_threads(call, threads):
    error = refused(lambda: call(threads=threads), "threads")
    # A number that is none of them is a wrong value, and all else a wrong type.
    assert isinstance(error, ValueError if isinstance(threads, int) else TypeError) and repr(threads) in str(error)
    for fine in (None, 1, np.int64(2)):
        call(threads=fine)


WRONG = [
    (lambda **o: tilewright.matmul(A, B, **o), {"backend": 3, "math": 1, "arg": "yes", "accumulate": "no", "alpha": "x", "beta": 1j, "activation": 3}),
    (lambda **o: tilewright.shortest_paths(W, **o), {"method": 3, "max_edges": -1, "predecessors": "yes"}),
    (lambda **o: tilewright.shortest_paths(W, predecessors=False, **o), {"max_edges": 1.5}),
    (lambda **o: tilewright.bench(**{"sizes": [8], **o}), {"sizes": 3.5, "rounds": "x", "dtype": 3, "backend": 3}),
    (lambda **o: tilewright.bench([8], **o), {"dtype": "float63", "rounds": 1.5}),
    (lambda **o: tilewright.occupancy(**{"threads": 32, "registers": 32, **o}), {"gpu": 3, "threads": -1, "registers": "x", "shared_memory": 1.5, "dynamic_shared_memory": -1, "barriers": None, "cluster_size": [2], "carveout": -5}),
    (lambda **o: tilewright.best_block(**{"registers": 32, **o}), {"gpu": 3, "registers": -1, "dynamic_shared_memory_per_thread": 1.5, "max_threads": "x"}),
    (lambda **o: tilewright.explain("naive", **o), {"grid": "x", "block": -1, "cluster": 1.5, "entry": 3, "gpu": 3, "dynamic_shared_memory": -1, "max_seconds": "x"}),
    (lambda **o: tilewright.hmm.sample(INIT, TRANS, OBS, **o), {"count": "x", "seed": "x"}),
    (lambda **o: tilewright.hmm.sample(INIT, TRANS, OBS, **o), {"count": True, "seed": -1}),
]


@pytest.mark.parametrize("call, name, wrong", [(call, name, wrong) for call, options in WRONG for name, wrong in options.items()])
def test_wrong_options(call, name, wrong):
    if name in ("grid", "block", "cluster"):
        # Three of them are shown.
        with pytest.raises(tilewright.Error, match=rf"^{name} is \["):
            call(**{name: wrong})
    else:
        refused(lambda: call(**{name: wrong}), name)


def test_the_name_of_a_semiring():
    with pytest.raises(tilewright.ElementTypeError, match="the name of a semiring is 3"):
        tilewright.Semiring(3)
    for call in (tilewright.matmul, tilewright.bench):
        with pytest.raises(tilewright.ElementTypeError, match="semiring"):
            call(*((A, B) if call is tilewright.matmul else ([8],)), semiring=3)


def test_data_frames_have_the_same_options():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.ones((2, 2)))
    refused(lambda: tilewright.matmul(frame, frame, threads=-1), "threads")
    assert tilewright.matmul(frame, frame).to_numpy().tolist() == [[2, 2], [2, 2]]
