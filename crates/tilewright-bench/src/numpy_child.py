"""Times NumPy's matrix product on request: one tab-separated request a line, one line in answer."""

import sys
import time

import numpy


def version():
    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"NumPy {numpy.__version__} with {blas['name']} {blas['version']}"


def load(path, dtype, rows, cols, transposed):
    data = numpy.fromfile(path, dtype=dtype)
    return data.reshape(cols, rows).T if transposed == "1" else data.reshape(rows, cols)


def main():
    print(version())
    a = b = c = None
    for line in sys.stdin:
        word, *rest = line.rstrip("\n").split("\t")
        if word == "open":
            m, n, k = (int(x) for x in rest[:3])
            dtype, transposed_a, transposed_b, path_a, path_b = rest[3:]
            a = load(path_a, dtype, m, k, transposed_a)
            b = load(path_b, dtype, k, n, transposed_b)
            c = numpy.zeros((m, n), dtype)
            print("ready")
        elif word == "run":
            repetitions = int(rest[0])
            start = time.perf_counter()
            for _ in range(repetitions):
                numpy.matmul(a, b, out=c)
            print((time.perf_counter() - start) / repetitions)
        elif word == "save":
            c.astype("float64").tofile(rest[0])
            print("saved")


main()
