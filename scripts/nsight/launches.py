"""The launches that `bounds` measures, each at four sizes: lines "NAME KERNEL OPTIONS", options as `tilewright explain` takes them.

    launches.py             what is measured
    launches.py stands      what is executed by the emulator: smaller launches stand for those that would take too long

The PTX of programs/ is in the folder ptx.
"""

import math
import sys

SIDES = [512, 1024, 2048, 4096]
LENGTHS = [1 << 16, 1 << 20, 1 << 22, 1 << 24]

# Products of Tilewright, square.
PRODUCTS = [
    "naive", "coalesced", "shared-tile", "shared-tile-ragged", "shared-tile-dynamic", "register-tile", "shared-register-tile",
    "block-tile-1d", "block-tile-2d", "vectorized", "warp-tile",
]  # fmt: skip
# Semirings of the production kernel `simt`.
SIMT = ["plus-times", "min-plus", "max-min"]
VECTORS = [
    "copy-offset", "copy-strided", "array-of-structs", "struct-of-arrays", "constant-uniform", "constant-divergent", "read-only", "texture-read",
    "local-array", "device-symbol", "atomics-global", "atomics-shared", "warp-broadcast", "warp-reduce",
]  # fmt: skip


# Larger launches are stood for by ones of at most this many rows and columns, or elements; products by two of these depths.
MOST_ROWS, MOST_ELEMENTS, DEPTHS = 256, 1 << 16, (32, 64)


class Launch:
    """A launch that is measured: `options` are those of `tilewright explain`.

    `stands` are launches that stand for it, (name, depth, options), one or two of different depths; `ratio` is how many times as many blocks it has, `once`
    the bytes that it touches, where that is not as many times as much. `begun` is the launch itself, of which only the beginning is executed: it tells how
    many blocks a multiprocessor holds, where that depends on the size.
    """

    def __init__(self, name, kernel, options, stands=None, ratio=1.0, once=None, depth=None, begun=None):
        self.name, self.kernel, self.options, self.ratio, self.once, self.depth = name, kernel, options, ratio, once, depth
        self.stands, self.begun = stands or [(name, None, options)], begun


def square(n, depth=None, more=""):
    return f"--arg M={n} --arg N={n} --arg K={depth or n}{more}"


def product(name, kernel, n, more=""):
    rows = min(n, MOST_ROWS)
    stands = [(f"{name}/{rows}@{k}", k, square(rows, k, more)) for k in DEPTHS]
    whole = square(n, more=more)
    # The recipe of `simt` asks for shared memory so that blocks spread over the chip.
    begun = (f"{name}/{n}@begun", None, f"{whole} --max-steps 1000") if kernel == "simt" else None
    return Launch(f"{name}/{n}", kernel, whole, stands, (n / rows) ** 2, 12 * n * n, n, begun)


def products():
    for name in PRODUCTS:
        for n in SIDES:
            yield product(name, name, n)
    for n in [8, 16, 24, 32]:
        yield Launch(f"single-block/{n}", "single-block", square(n))
    for semiring in SIMT:
        for n in SIDES:
            yield product(f"simt-{semiring}", "simt", n, f" --arg semiring={semiring} --arg dtype=f32")


def exhibit(name, parameter, n, most, power=1):
    size = min(n, most)
    stands = [(f"{name}/{size}", None, f"--arg {parameter}={size}")]
    return Launch(f"{name}/{n}", name, f"--arg {parameter}={n}", stands, (n / size) ** power)


def gallery():
    for name in VECTORS:
        for n in LENGTHS:
            yield exhibit(name, "n", n, MOST_ELEMENTS)
    for name in ["transpose-naive", "transpose-tiled", "transpose-padded"]:
        for n in SIDES:
            yield exhibit(name, "n", n, 2 * MOST_ROWS, 2)
    for rows in [1024, 4096, 16384, 65536]:
        yield exhibit("pitched-rows", "rows", rows, 4096)
    for stride in [2, 32]:
        yield exhibit("shared-stride", "stride", stride, stride)
    yield Launch("shared-broadcast/32", "shared-broadcast", "")


def blocks(grid):
    return math.prod(int(extent) for extent in grid.split(","))


class Program:
    """A program of others: its grid, block and arguments as functions of the size.

    `most` is the largest size that is executed; a larger one has blocks that do the same. `sample` is a grid of some of the blocks, with `once`, the bytes that
    all of them touch. Two `depths` are sizes that stand for all others of the same grid, in a straight line.
    """

    def __init__(self, name, sizes, grid, block, arguments, most=None, sample=None, once=None, depths=None):
        self.name, self.sizes, self.grid, self.block, self.arguments = name, sizes, grid, block, arguments
        self.most, self.sample, self.once, self.depths = most, sample, once, depths

    def options(self, n, grid):
        return " ".join([f"--grid {grid} --block {self.block}"] + [f"--arg {a}" for a in self.arguments(n)])

    def launches(self):
        for n in self.sizes:
            size = min(n, self.most or n)
            grid = self.sample or self.grid(size)
            stands = [(f"{self.name}/{d}", d, self.options(d, grid)) for d in self.depths or [size]]
            ratio = blocks(self.grid(n)) / blocks(grid)
            once = self.once(n) if self.once else None
            yield Launch(f"{self.name}/{n}", f"ptx/{self.name}.ptx", self.options(n, self.grid(n)), stands, ratio, once, n)


def matrix(name, n, filling=":random"):
    return f"{name}=f32[{n},{n}]{filling}"


def vector(name, n, filling=":random", kind="f32"):
    return f"{name}={kind}[{n}]{filling}"


def sgemm(name, tile, block, sample):
    arguments = lambda n: [matrix("a", n), matrix("b", n), matrix("c", n, ""), f"n={n}"]
    grid = lambda n: f"{n // tile[0]},{n // tile[1]}"
    return Program(name, SIDES, grid, block, arguments, sample=sample, once=lambda n: 12 * n * n)


def vectors(name, arrays, per_block, block, more=lambda n: [], sizes=LENGTHS):
    arguments = lambda n: [vector(a, n) for a in arrays] + more(n)
    return Program(name, sizes, lambda n: str(n // per_block), str(block), arguments, MOST_ELEMENTS)


def plate(name, block, per_block, sizes=SIDES, more=lambda n: []):
    """One array to another, n x n."""
    arguments = lambda n: [matrix("x", n), matrix("y", n, ""), f"n={n}"] + more(n)
    return Program(name, sizes, lambda n: f"{n // per_block[0]},{n // per_block[1]}", block, arguments, 2 * MOST_ROWS)


def sums(name, per_block):
    arguments = lambda n: [vector("x", n), vector("sums", n // per_block, "")]
    return Program(name, LENGTHS, lambda n: str(n // per_block), str(per_block), arguments, MOST_ELEMENTS)


def rows_of_32(name, threads_per_row):
    arguments = lambda n: [
        vector("starts", n + 1, ":range", "u32"), vector("columns", n * 32, f":random(0,{n - 1})", "u32"), vector("values", n * 32),
        vector("x", n), vector("y", n, ""),
    ]  # fmt: skip
    sizes = [1 << 14, 1 << 16, 1 << 18, 1 << 19]
    return Program(name, sizes, lambda n: str(n * threads_per_row // 256), "256", arguments, 1 << 14)


def indexed(name):
    arguments = lambda n: [vector("index", n, f":random(0,{n - 1})", "u32"), vector("x", n), vector("y", n, "")]
    return Program(name, LENGTHS, lambda n: str(n // 256), "256", arguments, MOST_ELEMENTS)


PROGRAMS = [
    Program("empty", [1, 132, 16384, 1 << 20], str, "32", lambda n: [], 132),
    sgemm("sgemm_row_major", (32, 8), "32,8", "2,4"),
    sgemm("sgemm_swapped", (32, 8), "32,8", "2,4"),
    sgemm("sgemm_tile16", (16, 16), "16,16", "4,2"),
    sgemm("sgemm_patch", (64, 64), "256", "2,2"),
    sgemm("sgemm_vector_patch", (128, 128), "256", "2,1"),
    Program(
        "matrix_vector", SIDES, lambda n: str(n // 8), "256", lambda n: [matrix("a", n), vector("x", n), vector("y", n, ""), f"n={n}"],
        sample="16", once=lambda n: 4 * n * n + 8 * n,
    ),
    sums("reduce_modulo", 256),
    sums("reduce_strided", 256),
    Program(
        "reduce_shuffle", LENGTHS, lambda n: "264", "256", lambda n: [vector("x", n), vector("total", 1, ""), f"n={n}"],
        depths=[264 * 256 * 4, 264 * 256 * 8],
    ),
    vectors("scan_doubling", ["x", "y"], 512, 512),
    vectors("scan_warps", ["x", "y"], 1024, 1024),
    vectors("stencil_1d", ["x", "y"], 256, 256, lambda n: [f"n={n}"]),
    Program("stencil_2d", SIDES, lambda n: f"{n // 32},{n // 8}", "32,8", lambda n: [matrix("old", n), matrix("next", n, ""), f"n={n}"], 2 * MOST_ROWS),
    Program(
        "stencil_3d", [64, 128, 192, 256], lambda n: f"{n // 32},{n // 4}", "32,4",
        lambda n: [f"old=f32[{n},{n},{n}]:random", f"next=f32[{n},{n},{n}]", f"n={n}"], sample="2,4", once=lambda n: 8 * n**3,
    ),
    Program(
        "histogram_shared", LENGTHS, lambda n: "264", "256",
        lambda n: [vector("words", n, ":random(0,4294967295)", "u32"), vector("counts", 256, "", "u32"), f"n={n}"],
        depths=[264 * 256, 264 * 256 * 2],
    ),
    Program(
        "histogram_global", LENGTHS, lambda n: str(n // 256), "256",
        lambda n: [vector("words", n, ":random(0,4294967295)", "u32"), vector("counts", 4096, "", "u32"), "bins=4096"], MOST_ELEMENTS,
    ),
    plate("transpose_direct", "32,8", (32, 8)),
    plate("transpose_blocks", "32,8", (32, 32)),
    vectors("saxpy", ["x", "y"], 256, 256, lambda n: ["a=2"]),
    Program(
        "triad_vector", LENGTHS, lambda n: "528", "256",
        lambda n: [vector("x", n), vector("y", n), vector("z", n, ""), "a=2", f"n={n // 4}"],
        depths=[528 * 256 * 4 * 2, 528 * 256 * 4 * 4],
    ),
    rows_of_32("spmv_rows", 1),
    rows_of_32("spmv_warps", 32),
    Program(
        "bitonic_step", LENGTHS, lambda n: str(n // 256), "256",
        lambda n: [vector("keys", n, ":random(0,4294967295)", "u32"), "apart=64", "length=1024"], MOST_ELEMENTS,
    ),
    Program(
        "bitonic_block", LENGTHS, lambda n: str(n // 1024), "1024", lambda n: [vector("keys", n, ":random(0,4294967295)", "u32")], 1 << 15,
    ),
    Program(
        "n_body", [4096, 8192, 16384, 65536], lambda n: str(n // 256), "256",
        lambda n: [f"bodies=f32[{n},4]:random", f"pulls=f32[{n},4]", f"n={n}"], sample="1", once=lambda n: 32 * n,
    ),
    Program("mandelbrot", SIDES, lambda n: f"{n // 32},{n // 8}", "32,8", lambda n: [f"counts=u32[{n},{n}]", f"n={n}"], 2 * MOST_ROWS),
    Program(
        "softmax_rows", [256, 1024, 4096, 16384], lambda n: str(n), "256",
        lambda n: [f"x=f32[{n},1024]:random", f"y=f32[{n},1024]", "columns=1024"], 256,
    ),
    Program(
        "layer_norm", [256, 1024, 4096, 16384], lambda n: str(n // 8), "256",
        lambda n: [f"x=f32[{n},1024]:random", "scale=f32[1024]:ones", f"y=f32[{n},1024]"], 256,
    ),
    plate("convolve_5x5", "32,16", (32, 16)),
    indexed("gather"),
    indexed("scatter"),
    vectors("black_scholes", ["price", "strike", "years", "call", "put"], 256, 256),
]  # fmt: skip


def launches():
    yield from products()
    yield from gallery()
    for program in PROGRAMS:
        yield from program.launches()


def main(arguments):
    lines = {}
    for launch in launches():
        if arguments == ["stands"]:
            begun = [launch.begun] if launch.begun else []
            lines.update((name, f"{launch.kernel} {options}") for name, _, options in launch.stands + begun)
        else:
            lines[launch.name] = f"{launch.kernel} {launch.options}"
    for name, line in lines.items():
        print(name, line)


if __name__ == "__main__":
    main(sys.argv[1:])
