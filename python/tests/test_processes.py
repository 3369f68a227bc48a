"""Threads, processes and signals around products."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tilewright import matmul


def test_ten_threads_at_once():
    generator = np.random.default_rng(0)
    operands = [(generator.random((n, 150)), generator.random((150, n))) for n in range(60, 160, 10)]
    expected = [matmul(a, b, semiring="min-plus") for a, b in operands]
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        for _ in range(5):
            results = pool.map(lambda pair: matmul(*pair, semiring="min-plus"), operands)
            for result, right in zip(results, expected):
                np.testing.assert_array_equal(result, right)


def test_other_threads_run_meanwhile():
    a = np.ones((700, 700))
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    matmul(a, a, semiring="min-plus", backend="reference")
    done.set()
    thread.join()
    assert turns[0] > 3


def test_an_operand_that_its_owner_forgets_stays():
    def forgetful():
        a = np.ones((600, 600))
        thread = threading.Thread(target=lambda held=[a]: results.append(matmul(held.pop(), np.ones((600, 600)))))
        thread.start()
        del a
        return thread

    results = []
    threads = [forgetful() for _ in range(4)]
    garbage = [np.zeros((600, 600)) for _ in range(8)]
    for thread in threads:
        thread.join()
    assert len(garbage) == 8 and all((result == 600).all() for result in results) and len(results) == 4


def test_operands_cannot_be_moved_meanwhile():
    a = np.ones((400, 400))
    thread = threading.Thread(target=lambda: matmul(a, a, semiring="min-plus", backend="reference"))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            a.resize((400, 400), refcheck=False)
        except (ValueError, BufferError):
            refused += 1
    thread.join()
    assert a.shape == (400, 400)


def product(n):
    a = np.arange(n * n, dtype="float64").reshape(n, n)
    return float(matmul(a, a, semiring="min-plus").sum())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_of_every_kind(method):
    expected = [product(n) for n in (10, 300)]
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(product, (10, 300), timeout=60)) == expected


INTERRUPTED = """
import numpy, signal, sys, tilewright, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # Scripts start what is in their background with SIGINT ignored.
a = numpy.ones((int(sys.argv[1]), int(sys.argv[1])), "float32")
print("ready", flush=True)
try:
    tilewright.matmul(a, a, semiring="min-plus", backend=sys.argv[2])
except KeyboardInterrupt:
    assert tilewright.matmul(a[:9], a[:, :9])[0, 0] == len(a)
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize(("n", "backend"), [(8000, "cpu"), (3000, "reference"), (900, "emulator")])
def test_ctrl_c_ends_a_product(n, backend):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(n), backend], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert process.returncode == 0 and time.monotonic() - started < 10


def test_a_handler_that_raises_nothing_ends_nothing():
    seen = []
    old = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        a = np.ones((500, 500))
        assert (matmul(a, a, semiring="min-plus", backend="reference") == 2).all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert seen


WITHOUT_NUMPY = """
import array, sys
sys.modules["numpy"] = None
import tilewright
a = memoryview(array.array("d", [1, 2, 3, 4])).cast("b").cast("d", (2, 2))
assert tilewright.matmul(a, a, semiring="min-plus").tolist() == [[2, 3], [4, 5]]
for name in ("shortest_paths", "closure", "scan"):
    try:
        getattr(tilewright, name)(a)
    except ImportError as error:
        assert "numpy" in str(error)
    else:
        raise AssertionError(name)
"""


def test_products_need_no_numpy():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
