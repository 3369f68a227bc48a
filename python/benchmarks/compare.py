"""Tilewright beside NumPy and SciPy, in one run: `python python/benchmarks/compare.py [SIZE ...]`.

Competitors take turns with pauses between, and the median of their times counts. Threads are those that each takes by default.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import tilewright


# Threads of OpenBLAS look out for work for 2^28 cycles after a product, and take a competitor's processor while they do.
PAUSE = 0.25


def medians(calls: dict[str, Callable[[], object]], turns: int = 7, turn: float = 0.03) -> dict[str, tuple[float, float]]:
    """The median time of each call, and the shortest; they take turns of some calls each, with pauses between."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            time.sleep(PAUSE)
            call()
            end = time.perf_counter() + turn
            while True:
                begin = time.perf_counter()
                call()
                now = time.perf_counter()
                times[name].append(now - begin)
                if now > end:
                    break
    return {name: (statistics.median(taken), min(taken)) for name, taken in times.items()}


def overhead() -> None:
    """What a call costs on operands of which the product takes no time."""
    a = np.ones((2, 2), "float32")
    c = np.empty((2, 2), "float32")
    turns = 2000

    def loop(call: Callable[[], object]) -> Callable[[], None]:
        return lambda: [call() for _ in range(turns)] and None

    calls = {"matmul": loop(lambda: tilewright.matmul(a, a)), "matmul, out": loop(lambda: tilewright.matmul(a, a, out=c)), "numpy": loop(lambda: a @ a), "a @ min_plus @ b": loop(lambda: a @ tilewright.min_plus @ a)}
    try:
        import torch

        t = torch.ones(2, 2)
        calls["matmul of torch"] = loop(lambda: tilewright.matmul(t, t))
    except ImportError:
        pass
    for name, (seconds, _) in medians(calls).items():
        print(f"call of a 2 x 2 product: {name:18} {seconds / turns * 1e6:8.2f} us")


def products(sizes: list[int]) -> None:
    for dtype in ("float32", "float64"):
        for n in sizes:
            a, b = (np.random.default_rng(seed).random((n, n), dtype=dtype) for seed in (0, 1))
            out = np.empty((n, n), dtype)
            found = medians({"tilewright": lambda: tilewright.matmul(a, b, out=out), "numpy": lambda: np.matmul(a, b, out=out)})
            (ours, fastest), (theirs, best) = found["tilewright"], found["numpy"]
            print(f"plus-times {dtype} {n:5}: {2 * n**3 / ours / 1e9:8.1f} GFLOP/s, NumPy {2 * n**3 / theirs / 1e9:8.1f}, ratio {theirs / ours:.2f} (fastest calls: {best / fastest:.2f})")


def shortest(n: int) -> None:
    a, b = (np.random.default_rng(seed).random((n, n), dtype="float32") for seed in (0, 1))

    def rows() -> np.ndarray:
        """The best of the expressions: a row at a time, which stays in cache."""
        out, terms = np.empty_like(a), np.empty_like(b)
        for i, row in enumerate(a):
            np.add(row[:, None], b, out=terms)
            terms.min(axis=0, out=out[i])
        return out

    np.testing.assert_array_equal(rows(), tilewright.matmul(a, b, semiring="min-plus"))
    found = medians({"tilewright": lambda: tilewright.matmul(a, b, semiring="min-plus"), "numpy": rows}, turns=5)
    (ours, _), (theirs, _) = found["tilewright"], found["numpy"]
    print(f"min-plus float32 {n}: {ours:.4f} s, NumPy {theirs:.3f} s, {theirs / ours:.0f} times")


def paths(n: int) -> None:
    from scipy.sparse import csgraph

    w = np.random.default_rng(0).integers(1, 1000, (n, n)).astype("float64")
    times = {}
    for name, call in [("tilewright", tilewright.floyd_warshall), ("SciPy", csgraph.floyd_warshall)]:
        begin = time.perf_counter()
        distances = call(w)
        times[name] = time.perf_counter() - begin
        print(f"all pairs of {n} vertices: {name} {times[name]:.2f} s", "" if name == "tilewright" else f"{times['SciPy'] / times['tilewright']:.0f} times", distances[0, 1])


def startup() -> None:
    def run(program: str) -> float:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    alone = run("pass")
    print(f"import: {(run('import tilewright') - alone) * 1e3:.0f} ms beyond Python's own {alone * 1e3:.0f} ms")


def install(wheel: str) -> None:
    """From a wheel to the first result, where NumPy is installed."""
    program = "import numpy, tilewright; a = numpy.ones((100, 100)); tilewright.matmul(a, a)"
    times = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", folder, wheel], check=True)
            installed = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": folder})
            times.append((time.perf_counter() - begin, installed - begin))
    total, alone = min(times)
    print(f"from a wheel to the first result: {total:.2f} s, of which pip takes {alone:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[64, 128, 256, 512, 1024, 2048])
    parser.add_argument("--vertices", type=int, default=2048)
    parser.add_argument("--wheel", help="also how long a wheel takes to its first result")
    options = parser.parse_args()
    if options.wheel:
        install(options.wheel)
    overhead()
    startup()
    products(options.sizes)
    shortest(1024)
    paths(options.vertices)


if __name__ == "__main__":
    main()
