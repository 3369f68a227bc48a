"""A step of training, forward and backward, beside what torch and tropical-gemm have: `python python/benchmarks/torch_training.py`.

All take turns in one process on one processor, and each says the least time of its turns, in milliseconds of that processor. Memory is the peak of a process of its own
that takes one step, beyond what it has before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

# Before libraries count the processors.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import tilewright.torch  # noqa: E402
import torch  # noqa: E402

BATCH, N = 64, 128


def max_plus_of_torch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a[..., :, :, None] + b[..., None, :, :]).amax(-2)


def log_plus_of_torch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a[..., :, :, None] + b[..., None, :, :]).logsumexp(-2)


def max_plus_of_tropical_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    from tropical_gemm.pytorch import tropical_maxplus_matmul_batched

    return tropical_maxplus_matmul_batched(a, b)


WAYS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "max-plus: Tilewright": lambda a, b: tilewright.torch.matmul(a, b, "max-plus"),
    "max-plus: tropical-gemm": max_plus_of_tropical_gemm,
    "max-plus: torch, broadcast and amax": max_plus_of_torch,
    "log-plus: Tilewright": lambda a, b: tilewright.torch.matmul(a, b, "log-plus"),
    "log-plus: torch, broadcast and logsumexp": log_plus_of_torch,
}


def operands(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(batch, N, N, generator=generator).requires_grad_() for _ in range(2))
    return a, b


def step(way: str, a: torch.Tensor, b: torch.Tensor) -> None:
    a.grad = b.grad = None
    WAYS[way](a, b).sum().backward()


def peak() -> int:
    """KiB, of this program alone: what `resource` says includes what the process was before."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def memory(way: str) -> float:
    done = subprocess.run([sys.executable, __file__, "--memory-of", way], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--memory-of", choices=WAYS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.memory_of:
        step(chosen.memory_of, *operands(1))
        large = operands(BATCH)
        before = peak()
        step(chosen.memory_of, *large)
        print((peak() - before) / 1024)
        return
    times: dict[str, list[float]] = {}
    a, b = operands(BATCH)
    for turn in range(chosen.turns + 1):
        for way in WAYS:
            # What takes a second is not measured as often.
            if turn > 3 and min(times.get(way, [0])) > 0.5:
                continue
            begin = time.process_time()
            try:
                step(way, a, b)
            except ImportError:
                continue
            if turn:
                times.setdefault(way, []).append(time.process_time() - begin)
    print(f"{BATCH} products of {N} x {N} x {N} in float32, forward and backward, on one processor\n")
    print("| | ms | MiB |\n|---|---:|---:|")
    for way, taken in times.items():
        print(f"| {way} | {1e3 * min(taken):.1f} | {memory(way):.0f} |", flush=True)


if __name__ == "__main__":
    main()
