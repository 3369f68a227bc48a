"""Products on tensor cores beside torch: time and error. `python python/benchmarks/tensor_cores.py [SIZE ...]`.

Times are medians of warm calls on a device with nothing else to do, in microseconds, until the result is there. An error is the largest `|c - exact| / (|a| @ |b|)` of all
elements of 16 rows, in units of 2^-24, or of 2^-53 for f64, where `exact` is computed by NumPy in `longdouble`. Operands are normal. Each tensor of the second table is a slice: an odd pitch, and a base that is no multiple of 16 bytes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import tilewright
import torch

SIZES = [512, 1000, 1024, 2047, 2048, 4096, 4097]
CALLS = 30
ROWS = 16
KINDS = [("bfloat16", "full"), ("float16", "full"), ("float32", "tf32"), ("float64", "full")]


def microseconds(call: Callable[[], object]) -> float:
    times = []
    for number in range(CALLS + 5):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        call()
        torch.cuda.synchronize()
        if number >= 5:
            times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1e3


def error(c: torch.Tensor, exact: np.ndarray, bound: np.ndarray) -> float:
    rows = c[:ROWS].double().cpu().numpy().astype(np.longdouble)
    return float((abs(rows - exact) / bound).max()) * (2**53 if c.dtype == torch.float64 else 2**24)


def operand(n: int, dtype: torch.dtype, is_slice: bool) -> torch.Tensor:
    if is_slice:
        return torch.randn(n + 1, n + 3, device="cuda").to(dtype)[1:, 1 : n + 1]
    return torch.randn(n, n, device="cuda").to(dtype)


def table(sizes: list[int], is_slice: bool) -> None:
    print(f"\n{'slices' if is_slice else 'whole tensors'}\n\n| | torch, us | tilewright, us | ratio | error of torch | error |\n|---|---:|---:|---:|---:|---:|")
    for name, math in KINDS:
        for n in sizes:
            torch.backends.cuda.matmul.allow_tf32 = math == "tf32"
            a, b = (operand(n, getattr(torch, name), is_slice) for _ in range(2))
            rows, columns = (x.double().cpu().numpy().astype(np.longdouble) for x in (a[:ROWS], b))
            exact, bound = rows @ columns, abs(rows) @ abs(columns)
            theirs, ours = torch.matmul(a, b), tilewright.matmul(a, b, math=math)
            errors = [error(c, exact, bound) for c in (theirs, ours)]
            times = [microseconds(lambda: torch.matmul(a, b)), microseconds(lambda: tilewright.matmul(a, b, math=math))]
            print(f"| {name} {n} | {times[0]:.1f} | {times[1]:.1f} | {times[0] / times[1]:.2f} | {errors[0]:.3g} | {errors[1]:.3g} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tilewright {tilewright.__version__}")
    for is_slice in (False, True):
        table(arguments.sizes, is_slice)
