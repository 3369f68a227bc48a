"""Products of bytes by oneDNN and ONNX Runtime on one thread: G terms a second, the best of many repetitions.

    pip install numpy onnx onnxruntime onednn-cpu-gomp
    python python/benchmarks/bytes.py [SECONDS [SIZES]]

Those of Tilewright are printed by `cargo bench -p tilewright-cpu --bench integers -- SECONDS numbers`. Where that program is named by the environment
variable TILEWRIGHT_INTEGERS, it is run before and after each size. ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI keeps oneDNN from AMX.
Results of up to 256 x 256 are compared with NumPy's.
"""

from __future__ import annotations

import ctypes
import glob
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper


def onednn(name: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], c: np.ndarray[Any, Any]) -> Callable[[], object]:
    """A call of one of oneDNN's functions for products of matrices of bytes."""
    library = ctypes.CDLL(glob.glob(os.path.join(sys.prefix, "lib", "libdnnl.so.3"))[0])
    function, n, none = getattr(library, name), a.shape[0], np.zeros(1, np.int32)
    char, long, real, place = ctypes.c_char, ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    offset = ctypes.c_uint8 if a.dtype == np.uint8 else ctypes.c_int8
    function.argtypes = [char] * 3 + [long] * 3 + [real, place, long, offset, place, long, ctypes.c_int8, real, place, long, place]
    arguments = (b"N", b"N", b"F", n, n, n, 1, a.ctypes.data, n, 0, b.ctypes.data, n, 0, 0, c.ctypes.data, n, none.ctypes.data_as(place))

    def run() -> None:
        assert function(*arguments) == 0

    return run


def onnx_runtime(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], c: np.ndarray[Any, Any]) -> Callable[[], object]:
    """A run of a graph that is one `MatMulInteger`, without copies."""
    types = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int32): TensorProto.INT32}
    values = [helper.make_tensor_value_info(name, types[x.dtype], x.shape) for name, x in zip("abc", (a, b, c))]
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["a", "b"], ["c"])], "product", values[:2], values[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("a", a)
    binding.bind_cpu_input("b", b)
    binding.bind_output("c", "cpu", 0, np.int32, c.shape, c.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def rate(run: Callable[[], object], terms: int, seconds: float) -> float:
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return terms / best / 1e9


def ours(seconds: float, n: int) -> None:
    """Tilewright's rates of one size, by the program that the environment names."""
    if program := os.environ.get("TILEWRIGHT_INTEGERS"):
        lines = subprocess.run([program, str(seconds), "numbers", str(n)], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in lines[1:]:
            print("tilewright", *line.split("\t")[1:4], sep="\t", flush=True)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
    sizes = sys.argv[2] if len(sys.argv) > 2 else "16,64,256,1024,2048"
    random = np.random.default_rng(1)
    for n in map(int, sizes.split(",")):
        signed = [random.integers(-128, 128, (n, n)).astype(np.int8) for _ in range(2)]
        unsigned = [random.integers(0, 256, (n, n)).astype(np.uint8) for _ in range(2)]
        c = np.zeros((n, n), np.int32)
        ours(seconds, n)
        for library, name, a, b in [
            ("oneDNN", "s8 x s8", *signed),
            ("oneDNN", "u8 x s8", unsigned[0], signed[1]),
            ("ONNX Runtime", "s8 x s8", *signed),
            ("ONNX Runtime", "u8 x s8", unsigned[0], signed[1]),
            ("ONNX Runtime", "u8 x u8", *unsigned),
        ]:
            if library == "oneDNN":
                run = onednn("dnnl_gemm_u8s8s32" if a.dtype == np.uint8 else "dnnl_gemm_s8s8s32", a, b, c)
            else:
                run = onnx_runtime(a, b, c)
            run()
            assert n > 256 or (c == a.astype(np.int32) @ b.astype(np.int32)).all(), (library, name)
            print(library, name, n, f"{rate(run, n**3, seconds):.1f}", sep="\t", flush=True)
        ours(seconds, n)


if __name__ == "__main__":
    main()
