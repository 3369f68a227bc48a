"""Dask: the same bits as one machine, with spilling, and with a worker killed in the middle."""

import numpy as np
import pytest
import tilewright

pytestmark = [pytest.mark.parallel_threads(1), pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore::ResourceWarning")]
da = pytest.importorskip("dask.array")


def integers(shape, dtype="float64", seed=0):
    return np.random.default_rng(seed).integers(0, 1000, shape).astype(dtype)


OWN = [tilewright.Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf), tilewright.Semiring("add=max(x,y); mul=min(x,y); zero=-inf"), tilewright.max_min]


@pytest.mark.parametrize("semiring", ["plus-times", "min-plus", "max-plus", *OWN])
@pytest.mark.parametrize("chunks", [(50, 50), (17, 30), (100, 7)])
def test_products_by_blocks(semiring, chunks):
    import tilewright.dask

    a, b = integers((100, 80)), integers((80, 60), seed=1)
    c = tilewright.dask.matmul(da.from_array(a, chunks=chunks), da.from_array(b, chunks=(33, 41)), semiring)
    assert c.shape == (100, 60) and c.dtype == a.dtype
    np.testing.assert_array_equal(c.compute(scheduler="threads"), tilewright.matmul(a, b, semiring=semiring))


def test_types_and_shapes():
    import tilewright.dask

    a = da.from_array(integers((20, 20), "int8") % 8, chunks=6)
    assert tilewright.dask.matmul(a, a).dtype == np.int32 == tilewright.dask.matmul(a, a).compute().dtype
    with pytest.raises(tilewright.ShapeError):
        tilewright.dask.matmul(a, a[:3])
    with pytest.raises(tilewright.ShapeError):
        tilewright.dask.shortest_paths(a[:3])


@pytest.mark.parametrize("chunk", [20, 33, 100])
def test_paths_by_blocks(chunk):
    import tilewright.dask

    w = integers((100, 100)) + 1
    w[np.random.default_rng(1).random(w.shape) > 0.1] = np.inf
    found = tilewright.dask.shortest_paths(da.from_array(w, chunks=chunk)).compute(scheduler="threads")
    np.testing.assert_array_equal(found, tilewright.shortest_paths(w).distances)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_spills_and_loses_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    import tilewright.dask
    import dask

    n, chunk = 1200, 200
    a, b = integers((n, n)), integers((n, n), seed=1)
    # 11 MB each, and a worker keeps 12 MB of blocks at most: the others go to disk.
    settings = {"temporary-directory": str(tmp_path), "distributed.worker.memory.target": 0.1, "distributed.worker.memory.spill": 0.2, "distributed.worker.memory.pause": False, "distributed.worker.memory.terminate": False, "logging.distributed": "critical"}
    with dask.config.set(settings), distributed.LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="128MiB", dashboard_address=None, processes=True) as cluster, distributed.Client(cluster) as client:
        c = tilewright.dask.matmul(da.from_array(a, chunks=chunk), da.from_array(b, chunks=chunk), "min-plus").persist()
        # Some tasks are done when one of the two workers dies, with what it holds.
        first = list(cluster.workers.values())[0]
        distributed.wait(client.futures_of(c)[:8], timeout=60)
        first.process.process.kill()
        distributed.wait(c, timeout=120)
        spilled = client.run(lambda dask_worker: dask_worker.data.spilled_total.disk, on_error="ignore")
        assert sum(spilled.values()) > 0, spilled
        np.testing.assert_array_equal(c.compute(), tilewright.matmul(a, b, semiring="min-plus"))
