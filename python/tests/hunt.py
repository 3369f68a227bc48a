"""Hunts for wrong products from Python: random shapes, strides, memory of other libraries, semirings, threads; compared with NumPy.

All of a problem follows from a seed and its number. Elements are small integers, so that every result is exact.

    python hunt.py                        # 20 seconds, with a new seed
    python hunt.py --seed 7 --case 12     # a finding once more
    python hunt.py --plant last-term      # a fault, which must be found
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import exporters
import numpy as np
import tilewright

TYPES = ["float16", "float32", "float64", "int16", "int32", "int64"]
BUILT_IN = {
    "plus-times": (np.add, np.multiply, ["float32", "float64", "int32", "int64"]),
    "min-plus": (np.minimum, np.add, TYPES),
    "max-plus": (np.maximum, np.add, TYPES),
    "max-min": (np.maximum, np.minimum, ["float32", "float64", "int32"]),
    "min-max": (np.minimum, np.maximum, ["float32", "float64", "int32"]),
}
# Semirings by their text, and what NumPy has for them; the constants are in no float, or at the edge of a type.
OWN = {
    "add=min(x,y); mul=max(x,y); zero=inf": (np.minimum, np.maximum, ["float32", "float64", "int32", "int64"]),
    "add=x>y ? x : y; mul=-max(-x, -y); zero=-inf": (np.maximum, np.minimum, ["float32", "float64"]),
    "add=max(x,y); mul=min(x,y); zero=-2147483648": (np.maximum, np.minimum, ["int32"]),
    "add=min(x,y); mul=max(max(x,y),9007199254740993); zero=9223372036854775807": (np.minimum, lambda x, y: np.maximum(np.maximum(x, y), 9007199254740993), ["int64"]),
    "add=x+y; mul=x*y*1; zero=0; one=1": (np.add, np.multiply, ["float32", "float64", "int32", "int64"]),
    "add=y-(-x); mul=y*x; zero=0": (np.add, np.multiply, ["float64", "int64"]),
}
POISON = -77
# Problems that are computed at a time, by threads of Python.
AT_A_TIME = 4


def by_definition(a, b, add, multiply):
    """As ``a @ b`` has shapes."""
    rows, columns = a.ndim > 1, b.ndim > 1
    a, b = a if rows else a[None, :], b if columns else b[:, None]
    c = add.reduce(multiply(a[..., :, :, None], b[..., None, :, :]), axis=-2, dtype=a.dtype)
    return np.asarray(c[(..., *([slice(None)] if rows else [0]), *([slice(None)] if columns else [0]))])


def strided(r, values, repeats):
    """A view of other memory with the same elements, and all of that memory: steps, reversals, axes in another order, repeats."""
    order = r.permutation(values.ndim)
    steps = r.integers(1, 4, values.ndim)
    signs = r.choice([1, -1], values.ndim)
    shape, same = values.shape, [repeats and extent > 0 and r.random() < 0.1 for extent in values.shape]
    held = [1 if repeat else extent * step + 1 for extent, step, repeat in zip(values.shape, steps, same)]
    base = np.full([held[axis] for axis in order], POISON, values.dtype)
    view = base.transpose(np.argsort(order))
    view = view[(..., *(slice(None) if repeat else slice(1, 1 + extent * step, step) for extent, step, repeat in zip(values.shape, steps, same)))]
    view = view[(..., *(slice(None, None, sign) for sign in signs))]
    if any(same):
        values = values[tuple(slice(0, 1) if repeat else slice(None) for repeat in same)]
    view[...] = values
    return (np.broadcast_to(view, shape) if any(same) else view), base


class Case:
    """A problem, all of which follows from two numbers."""

    def __init__(self, seed, index):
        self.seed, self.index = seed, index
        r = self.r = np.random.default_rng([seed, index])
        known = BUILT_IN if r.random() < 0.7 else OWN
        self.semiring = list(known)[r.integers(len(known))]
        self.add, self.multiply, types = known[self.semiring]
        self.dtype = np.dtype(types[r.integers(len(types))])
        batch = [int(extent) for extent in r.integers(1, 4, r.integers(0, 4) if r.random() < 0.4 else 0)]
        m, k, n = (int(r.choice([1, 2, 3, 5, r.integers(1, 12), r.integers(1, 12 if batch else 80)])) for _ in range(3))
        mine = [[1 if r.random() < 0.2 else extent for extent in batch[r.integers(0, len(batch) + 1) :]] for _ in range(2)]
        shape_a = [k] if r.random() < 0.1 and not mine[0] else [*mine[0], m, k]
        shape_b = [k] if r.random() < 0.1 and not mine[1] else [*mine[1], k, n]
        self.values = [r.integers(-8, 8, shape).astype(self.dtype) for shape in (shape_a, shape_b)]
        self.threads = [None, 1, 2, 3][r.integers(4)]
        self.given = [self.place(values) for values in self.values]
        # With repeats the elements are others than those that were drawn.
        self.values = [np.array(view) if kind == "a view" else values for (kind, view, _), values in zip(self.given, self.values)]
        self.expected = by_definition(*self.values, self.add, self.multiply)
        self.old = r.integers(-8, 8, self.expected.shape).astype(self.dtype)
        self.out = self.place(self.old, out=True) if r.random() < 0.6 else None
        self.joins = self.out is not None and r.random() < 0.4
        if self.joins:
            self.expected = self.add(self.old, self.expected).astype(self.dtype)

    def place(self, values, out=False):
        """The name of a kind of memory, the object that lies there, and all of that memory where it is known."""
        r = self.r
        if r.random() < 0.5:
            return "a view", *strided(r, values, not out)
        kinds = exporters.exporters(values)
        name = list(kinds)[r.integers(len(kinds))]
        return name, kinds[name](), None

    def __str__(self):
        kinds = [kind for kind, *_ in self.given] + [self.out[0] if self.out else "none"]
        shapes = " @ ".join(str(values.shape) for values in self.values)
        return f"--seed {self.seed} --case {self.index}\n  {self.semiring} on {self.dtype}, {shapes}, threads={self.threads}, accumulate={self.joins}; A, B, out: {', '.join(kinds)}"

    def run(self, matmul):
        """What is wrong, in words; None for nothing."""
        (_, a, all_a), (_, b, all_b) = self.given
        before = [None if base is None else base.copy() for base in (all_a, all_b)]
        options = {"semiring": self.semiring, "threads": self.threads}
        if self.out is None:
            found = np.asarray(matmul(a, b, **options))
        else:
            kind, out, base = self.out
            untouched = None if base is None else base.copy()
            try:
                result = matmul(a, b, out=out, accumulate=self.joins, **options)
            except tilewright.ShapeError as error:
                return None if kind in exporters.READ_ONLY and error.code == "read-only" and self.is_old(out) else f"{error}"
            if kind in exporters.READ_ONLY:
                return "memory that is lent only was taken as out"
            if result is not out:
                return "the result is not out"
            found = out if base is not None else exporters.elements(out)
            if base is not None:
                kept = found.copy()
                out[...] = self.old
                if not np.array_equal(base, untouched):
                    return "memory beside out was written"
                found = kept
        for base, old in zip((all_a, all_b), before):
            if base is not None and not np.array_equal(base, old):
                return "an operand was written"
        if found.dtype != self.dtype or found.shape != self.expected.shape:
            return f"{found.dtype} of {found.shape} instead of {self.expected.shape}"
        wrong = np.argwhere(found != self.expected)
        if len(wrong):
            at = tuple(map(int, wrong[0]))
            return f"C{list(at)} is {found[at]} instead of {self.expected[at]}, and {len(wrong) - 1} others are wrong"
        return None

    def is_old(self, out):
        return np.array_equal(exporters.elements(out), self.old)


def planted(name):
    """The product with a fault."""

    def matmul(a, b, **options):
        out, array = options.get("out"), np.asarray(a)
        if name == "last-term" or name == "threads" and (options["threads"] or 0) > 1:
            if array.shape[-1] > 1:
                b = np.asarray(b)
                a, b = array[..., :-1], b[:-1] if b.ndim == 1 else b[..., :-1, :]
        elif name == "strides" and array.strides != np.empty_like(array, order="C").strides:
            a = np.frombuffer(np.array(array, order="K").tobytes("A"), array.dtype).reshape(array.shape)
        elif name == "repeats" and array.ndim > 2 and array.shape[0] > 1:
            a = np.broadcast_to(array[:1], array.shape)
        elif name == "accumulate":
            options["accumulate"] = False
        elif name == "read-only" and out is not None:
            options["out"] = None
            made = tilewright.matmul(a, b, **options | {"accumulate": False})
            return out if made is not None else None
        elif name == "copied-out" and isinstance(out, np.ndarray):
            options["out"] = out.copy()
            tilewright.matmul(a, b, **options)
            return out
        result = tilewright.matmul(a, b, **options)
        if name == "beside" and isinstance(out, np.ndarray) and out.base is not None:
            out.base.flat[0] = 5
        if name == "operand" and isinstance(a, np.ndarray) and a.flags.writeable and a.size:
            a.flat[0] += 1
        if name == "constants" and "9007199254740993" in options["semiring"] and out is None:
            return np.asarray(result) - (np.asarray(result) == 9007199254740993)
        return result

    return matmul


PLANTS = ["last-term", "threads", "strides", "repeats", "accumulate", "read-only", "copied-out", "beside", "operand", "constants"]


def attempt(seed, index, matmul):
    case = Case(seed, index)
    try:
        what = case.run(matmul)
    except BaseException as error:  # A panic of Rust is no Exception.
        what = f"{type(error).__name__}: {error}"
    return None if what is None else f"{what}\n{case}"


def search(seed, cases=None, seconds=None, plant=None):
    """How many problems were computed, and what is wrong with the first that is."""
    matmul = tilewright.matmul if plant is None else planted(plant)
    began, done = time.monotonic(), 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        while (cases is None or done < cases) and (seconds is None or time.monotonic() - began < seconds):
            some = range(done, done + 50 if cases is None else min(done + 50, cases))
            found = next((what for what in pool.map(lambda index: attempt(seed, index, matmul), some) if what), None)
            done = some.stop
            if found:
                return done, found
    return done, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what all problems follow from [default: the time]")
    parser.add_argument("--seconds", type=float, default=20, help="how long to hunt [default: 20]")
    parser.add_argument("--cases", type=int, help="how many problems at most")
    parser.add_argument("--case", type=int, help="this problem alone")
    parser.add_argument("--plant", choices=PLANTS, help="with a fault in the product, which must be found")
    given = parser.parse_args()
    if given.case is not None:
        found = attempt(given.seed, given.case, planted(given.plant) if given.plant else tilewright.matmul)
        done = 1
    else:
        done, found = search(given.seed, given.cases, given.seconds, given.plant)
    print(f"FOUND: {found}" if found else f"seed {given.seed}: {done} products from Python; nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
