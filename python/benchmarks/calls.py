"""What a call costs on a GPU, beside torch: `python python/benchmarks/calls.py [SIZE ...]`.

For each product two times in microseconds, medians of warm calls: until the call returns, and until the result is there.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import tilewright
import torch

SIZES = [16, 64, 128, 256, 512, 1024, 2048, 4096]
# Calls that are put into the stream one after another: fewer than it takes before it makes the caller wait.
CALLS = 50
TURNS = 5


def until_it_returns(call: Callable[[], object]) -> float:
    times = []
    for _ in range(TURNS):
        torch.cuda.synchronize()
        for _ in range(CALLS):
            begin = time.perf_counter_ns()
            call()
            times.append(time.perf_counter_ns() - begin)
    torch.cuda.synchronize()
    return statistics.median(times) / 1e3


def until_it_is_there(call: Callable[[], object]) -> float:
    times = []
    for _ in range(TURNS * 20):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1e3


def row(name: str, calls: dict[str, Callable[[], object]]) -> None:
    cells = []
    for call in calls.values():
        for _ in range(5):
            call()
        cells.append(f"{until_it_returns(call):7.1f} / {until_it_is_there(call):8.1f}")
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def head(names: list[str]) -> None:
    print("\n| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))


def squares(sizes: list[int]) -> None:
    head(["torch", "f32", "f32 with `out`", "min-plus f32", "min-plus with `out`"])
    for n in sizes:
        a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
        out = torch.empty_like(a)
        row(
            str(n),
            {
                "torch": lambda: torch.matmul(a, b),
                "f32": lambda: tilewright.matmul(a, b),
                "out": lambda: tilewright.matmul(a, b, out=out),
                "min-plus": lambda: tilewright.matmul(a, b, semiring="min-plus"),
                "min-plus out": lambda: tilewright.matmul(a, b, semiring="min-plus", out=out),
            },
        )


def batches() -> None:
    head(["torch", "f32", "torch's broadcast and `amax`", "max-plus f32"])
    for count, n in [(64, 32), (64, 128), (1024, 16)]:
        a, b = torch.rand(count, n, n, device="cuda"), torch.rand(count, n, n, device="cuda")
        row(
            f"{count} x {n}",
            {
                "torch": lambda: torch.matmul(a, b),
                "f32": lambda: tilewright.matmul(a, b),
                "formula": lambda: (a[:, :, :, None] + b[:, None, :, :]).amax(2),
                "max-plus": lambda: tilewright.matmul(a, b, semiring="max-plus"),
            },
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    torch.backends.cuda.matmul.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tilewright {tilewright.__version__}; microseconds until a call returns / until the result is there")
    squares(parser.parse_args().sizes)
    batches()
