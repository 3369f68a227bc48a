"""The launches that `bounds` measures, each at four sizes: lines "NAME KERNEL OPTIONS", options as `tilewright explain` takes them.

    launches.py [full|fit]

The PTX of programs/ is in the folder ptx. `full` launches are measured. `fit` launches stand for them where executing all of it would take too long:
products of the catalogue at two depths on 256 x 256, programs of others with a few of the blocks.
"""

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


def square(n):
    return f"--arg M={n} --arg N={n} --arg K={n}"


def products():
    for name in PRODUCTS:
        for n in SIDES:
            yield f"{name}/{n}", name, square(n), [(k, f"--arg M=256 --arg N=256 --arg K={k}") for k in (64, 128)]
    for n in [8, 16, 24, 32]:
        yield f"single-block/{n}", "single-block", square(n), None
    for semiring in SIMT:
        more = f" --arg semiring={semiring} --arg dtype=f32"
        for n in SIDES:
            depths = [(k, f"--arg M={n} --arg N={n} --arg K={k}{more}") for k in (64, 128)]
            yield f"simt-{semiring}/{n}", "simt", square(n) + more, depths


def gallery():
    for name in VECTORS:
        for n in LENGTHS:
            yield f"{name}/{n}", name, f"--arg n={n}", None
    for name in ["transpose-naive", "transpose-tiled", "transpose-padded"]:
        for n in SIDES:
            yield f"{name}/{n}", name, f"--arg n={n}", None
    for rows in [1024, 4096, 16384, 65536]:
        yield f"pitched-rows/{rows}", "pitched-rows", f"--arg rows={rows}", None
    for stride in [2, 32]:
        yield f"shared-stride/{stride}", "shared-stride", f"--arg stride={stride}", None
    yield "shared-broadcast/32", "shared-broadcast", "", None


class Program:
    """A program of others: its grid, block and arguments as functions of the size, and the grid that stands for all blocks, where they are alike."""

    def __init__(self, name, sizes, grid, block, arguments, sample=None):
        self.name, self.sizes, self.grid, self.block, self.arguments, self.sample = name, sizes, grid, block, arguments, sample

    def launches(self):
        for n in self.sizes:
            options = lambda grid: " ".join([f"--grid {grid} --block {self.block}"] + [f"--arg {a}" for a in self.arguments(n)])
            fit = [(0, options(self.sample(n)))] if self.sample else None
            yield f"{self.name}/{n}", f"ptx/{self.name}.ptx", options(self.grid(n)), fit


def matrix(name, n, filling=":random"):
    return f"{name}=f32[{n},{n}]{filling}"


def vector(name, n, filling=":random", kind="f32"):
    return f"{name}={kind}[{n}]{filling}"


def sgemm(name, tile, block, sample):
    arguments = lambda n: [matrix("a", n), matrix("b", n), matrix("c", n, ""), f"n={n}"]
    return Program(name, SIDES, lambda n: f"{n // tile[0]},{n // tile[1]}", block, arguments, lambda n: sample)


def vectors(name, arrays, per_block, block, more=lambda n: [], sizes=LENGTHS):
    return Program(name, sizes, lambda n: str(n // per_block), str(block), lambda n: [vector(a, n) for a in arrays] + more(n))


def plate(name, block, per_block, sizes=SIDES, more=lambda n: []):
    """One array to another, n x n."""
    arguments = lambda n: [matrix("x", n), matrix("y", n, ""), f"n={n}"] + more(n)
    return Program(name, sizes, lambda n: f"{n // per_block[0]},{n // per_block[1]}", block, arguments)


def sums(name, per_block):
    return Program(
        name, LENGTHS, lambda n: str(n // per_block), str(per_block), lambda n: [vector("x", n), vector("sums", n // per_block, "")]
    )


def rows_of_32(name, threads_per_row):
    arguments = lambda n: [
        vector("starts", n + 1, ":range", "u32"), vector("columns", n * 32, f":random(0,{n - 1})", "u32"), vector("values", n * 32),
        vector("x", n), vector("y", n, ""),
    ]  # fmt: skip
    sizes = [1 << 14, 1 << 16, 1 << 18, 1 << 19]
    return Program(name, sizes, lambda n: str(n * threads_per_row // 256), "256", arguments)


def indexed(name):
    arguments = lambda n: [vector("index", n, f":random(0,{n - 1})", "u32"), vector("x", n), vector("y", n, "")]
    return Program(name, LENGTHS, lambda n: str(n // 256), "256", arguments)


PROGRAMS = [
    Program("empty", [1, 132, 16384, 1 << 20], str, "32", lambda n: []),
    sgemm("sgemm_row_major", (32, 8), "32,8", "2,4"),
    sgemm("sgemm_swapped", (32, 8), "32,8", "2,4"),
    sgemm("sgemm_tile16", (16, 16), "16,16", "4,2"),
    sgemm("sgemm_patch", (64, 64), "256", "2,2"),
    sgemm("sgemm_vector_patch", (128, 128), "256", "2,1"),
    Program("matrix_vector", SIDES, lambda n: str(n // 8), "256", lambda n: [matrix("a", n), vector("x", n), vector("y", n, ""), f"n={n}"]),
    sums("reduce_modulo", 256),
    sums("reduce_strided", 256),
    Program("reduce_shuffle", LENGTHS, lambda n: "264", "256", lambda n: [vector("x", n), vector("total", 1, ""), f"n={n}"]),
    vectors("scan_doubling", ["x", "y"], 512, 512),
    vectors("scan_warps", ["x", "y"], 1024, 1024),
    vectors("stencil_1d", ["x", "y"], 256, 256, lambda n: [f"n={n}"]),
    Program("stencil_2d", SIDES, lambda n: f"{n // 32},{n // 8}", "32,8", lambda n: [matrix("old", n), matrix("next", n, ""), f"n={n}"]),
    Program(
        "stencil_3d", [64, 128, 192, 256], lambda n: f"{n // 32},{n // 4}", "32,4",
        lambda n: [f"old=f32[{n},{n},{n}]:random", f"next=f32[{n},{n},{n}]", f"n={n}"],
    ),
    Program(
        "histogram_shared", LENGTHS, lambda n: "264", "256",
        lambda n: [vector("words", n, ":random(0,4294967295)", "u32"), vector("counts", 256, "", "u32"), f"n={n}"],
    ),
    Program(
        "histogram_global", LENGTHS, lambda n: str(n // 256), "256",
        lambda n: [vector("words", n, ":random(0,4294967295)", "u32"), vector("counts", 4096, "", "u32"), "bins=4096"],
    ),
    plate("transpose_direct", "32,8", (32, 8)),
    plate("transpose_blocks", "32,8", (32, 32)),
    vectors("saxpy", ["x", "y"], 256, 256, lambda n: ["a=2"]),
    Program(
        "triad_vector", LENGTHS, lambda n: "528", "256",
        lambda n: [vector("x", n), vector("y", n), vector("z", n, ""), "a=2", f"n={n // 4}"],
    ),
    rows_of_32("spmv_rows", 1),
    rows_of_32("spmv_warps", 32),
    Program(
        "bitonic_step", LENGTHS, lambda n: str(n // 256), "256",
        lambda n: [vector("keys", n, ":random(0,4294967295)", "u32"), "apart=64", "length=1024"],
    ),
    Program("bitonic_block", LENGTHS, lambda n: str(n // 1024), "1024", lambda n: [vector("keys", n, ":random(0,4294967295)", "u32")]),
    Program(
        "n_body", [4096, 8192, 16384, 65536], lambda n: str(n // 256), "256",
        lambda n: [f"bodies=f32[{n},4]:random", f"pulls=f32[{n},4]", f"n={n}"], lambda n: "1",
    ),
    Program("mandelbrot", SIDES, lambda n: f"{n // 32},{n // 8}", "32,8", lambda n: [f"counts=u32[{n},{n}]", f"n={n}"]),
    Program(
        "softmax_rows", [256, 1024, 4096, 16384], lambda n: str(n), "256",
        lambda n: [f"x=f32[{n},1024]:random", f"y=f32[{n},1024]", "columns=1024"],
    ),
    Program(
        "layer_norm", [256, 1024, 4096, 16384], lambda n: str(n // 8), "256",
        lambda n: [f"x=f32[{n},1024]:random", "scale=f32[1024]:ones", f"y=f32[{n},1024]"],
    ),
    plate("convolve_5x5", "32,16", (32, 16)),
    indexed("gather"),
    indexed("scatter"),
    vectors("black_scholes", ["price", "strike", "years", "call", "put"], 256, 256),
]  # fmt: skip


def launches():
    """(name, kernel, options, fit): `fit` is None, or pairs of a depth and options."""
    yield from products()
    yield from gallery()
    for program in PROGRAMS:
        yield from program.launches()


def main(arguments):
    for name, kernel, options, fit in launches():
        if arguments == ["fit"] and fit:
            for depth, other in fit:
                print(f"{name}@{depth}", kernel, other)
        else:
            print(name, kernel, options)


if __name__ == "__main__":
    main(sys.argv[1:])
