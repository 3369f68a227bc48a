"""Functions of names that people search for, beside NetworkX, SciPy and NumPy's formulae, in one run: `python python/benchmarks/names.py [--quick]`.

Rows of Markdown: the least time of some calls each, which take turns. NetworkX's own functions that take longer than a second are called once.
NetworkX's rows include reading the graph; dictionaries are read to the last element.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import scipy.sparse.csgraph
import tilewright
import tilewright.networkx as backend
from tilewright import hmm


def seconds(calls: list[Callable[[], object]], turns: int = 5) -> list[float]:
    """The least time of each call; one that takes long is called once."""
    least = [float("inf")] * len(calls)
    for turn in range(turns):
        for number, call in enumerate(calls):
            if turn and least[number] > 1:
                continue
            begin = time.perf_counter()
            call()
            least[number] = min(least[number], time.perf_counter() - begin)
    return least


def told(taken: float) -> str:
    for unit, name in [(1, "s"), (1e-3, "ms"), (1e-6, "us")]:
        if taken >= unit or name == "us":
            return f"{taken / unit:.3g} {name}"
    raise AssertionError


def row(name: str, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
    before, after = seconds([theirs, ours])
    print(f"| {name} | {told(before)} | {told(after)} | {before / after:.2g} |", flush=True)


def read(answer: Any) -> Any:
    """An answer to its last number."""
    if hasattr(answer, "items"):
        return {key: read(value) for key, value in answer.items()}
    if hasattr(answer, "__next__"):
        return [read(part) for part in answer]
    return tuple(map(read, answer)) if isinstance(answer, tuple) else answer


def of_networkx(quick: bool) -> None:
    names = ["floyd_warshall", "floyd_warshall_numpy", "floyd_warshall_predecessor_and_distance", "johnson", "all_pairs_dijkstra_path_length", "average_shortest_path_length", "diameter", "closeness_centrality", "transitive_closure"]
    generator = np.random.default_rng(0)
    for vertices, edges, chosen in [(300, 30_000, names), (1000, 300_000, ["floyd_warshall_numpy", "diameter"])][: 1 if quick else 2]:
        graph = networkx.gnm_random_graph(vertices, edges, seed=1, directed=True)
        for _, _, data in graph.edges(data=True):
            data["weight"] = float(generator.integers(1, 1000))
        for name in chosen:
            theirs, ours = networkx.utils.backends._registered_algorithms[name].orig_func, getattr(backend, name)
            row(f"`networkx.{name}`, {vertices} vertices, {edges} edges", lambda: read(theirs(graph)), lambda: read(ours(backend.convert_from_nx(graph))))


def of_scipy(quick: bool) -> None:
    for n in [300] if quick else [300, 1000]:
        w = np.random.default_rng(0).random((n, n))
        for dtype in ["float64", "float32"]:
            typed = w.astype(dtype)
            row(f"`scipy.sparse.csgraph.floyd_warshall`, {n} vertices; ours in {dtype}", lambda: scipy.sparse.csgraph.floyd_warshall(w), lambda: tilewright.floyd_warshall(typed, dtype=dtype))


def by_squaring(a: np.ndarray) -> np.ndarray:
    """The reflexive transitive closure, as it is written in NumPy: on float32, of which NumPy has fast products."""
    closed = a.astype("float32") + np.eye(a.shape[-1], dtype="float32")
    for _ in range((a.shape[-1] - 1).bit_length()):
        closed = np.minimum(closed @ closed, 1)
    return closed > 0


def one_by_one(m: np.ndarray) -> np.ndarray:
    result = m.copy()
    for t in range(1, len(m)):
        result[t] = result[t - 1] @ m[t]
    return result


def shifted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy's formula for the logarithm of a product, which loses terms that lie far from the largest."""
    r, c = a.max(-1, keepdims=True), b.max(-2, keepdims=True)
    return np.log(np.exp(a - r) @ np.exp(b - c)) + r + c


def forward(init: np.ndarray, trans: np.ndarray, obs: np.ndarray) -> np.ndarray:
    alpha, total = init + obs[:, 0], np.zeros(len(obs))
    factor = np.exp(trans)
    for t in range(obs.shape[1]):
        if t:
            alpha = np.log(np.exp(alpha) @ factor) + obs[:, t]
        largest = alpha.max(1, keepdims=True)
        alpha = alpha - largest
        total += largest[:, 0]
    return total + np.log(np.exp(alpha).sum(1))


def best_path(init: np.ndarray, trans: np.ndarray, obs: np.ndarray) -> np.ndarray:
    batch, steps, _ = obs.shape
    score, stops = init + obs[:, 0], []
    for t in range(1, steps):
        ways = score[:, :, None] + trans
        stops.append(ways.argmax(1))
        score = ways.max(1) + obs[:, t]
    path = [score.argmax(1)]
    for stop in reversed(stops):
        path.append(stop[np.arange(batch), path[-1]])
    return np.stack(path[::-1], 1)


def of_numpy(quick: bool) -> None:
    generator = np.random.default_rng(0)
    for count, n in [(1, 1000), (512, 32)]:
        a = generator.random((count, n, n)) < 2 / n
        row(f"closure of {count} x {n}x{n} booleans, by squaring", lambda: by_squaring(a), lambda: tilewright.closure(a))
    for n in [8, 64, 512]:
        a = np.log(generator.random((max(1, 4096 // n // n), n, n)))
        row(f"logarithms of {len(a)} x {n}x{n} products, by shifts", lambda: shifted(a, a), lambda: tilewright.logmatmulexp(a, a))
    m = generator.random((4096, 4, 4)) / 2
    row("beginnings of 4096 x 4x4, one by one", lambda: one_by_one(m), lambda: tilewright.scan(m))
    for batch, steps, states in [(1, 2000, 4), (64, 500, 32)] + ([] if quick else [(64, 100, 256)]):
        init, trans, obs = (np.log(generator.random(shape)) for shape in [(states,), (states, states), (batch, steps, states)])
        shape = f"{batch} x {steps} steps x {states} states"
        np.testing.assert_allclose(forward(init, trans, obs), hmm.log_prob(init, trans, obs), rtol=1e-10)
        row(f"`hmm.log_prob`, {shape}", lambda: forward(init, trans, obs), lambda: hmm.log_prob(init, trans, obs))
        row(f"`hmm.viterbi`, {shape}", lambda: best_path(init, trans, obs), lambda: hmm.viterbi(init, trans, obs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small ones")
    quick = parser.parse_args().quick
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, NetworkX {networkx.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}\n")
    print("| what | theirs | ours | times |\n|---|---:|---:|---:|")
    of_networkx(quick)
    of_scipy(quick)
    of_numpy(quick)
    print(f"\nLoad at the end {os.getloadavg()[0]:.1f}")
