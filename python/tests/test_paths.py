"""Best paths: against SciPy and NetworkX, of matrices and of graphs with labels."""

import pickle
import re

import numpy as np
import pytest
import tilewright
from tilewright import floyd_warshall, shortest_paths


def random_weights(n, density=0.3, seed=0, negative=False):
    """Weights whose sums are exact, with infinity where there is no edge."""
    generator = np.random.default_rng(seed)
    w = generator.integers(1, 50, (n, n)).astype("float64")
    if negative:
        height = generator.integers(0, 40, n)
        w += height[:, None] - height[None, :]
    w[generator.random((n, n)) > density] = np.inf
    np.fill_diagonal(w, 0)
    return w


def check_predecessors(w, distances, predecessors, none=-1):
    n = len(w)
    for i in range(n):
        for j in range(n):
            before = predecessors[i, j]
            if i == j or np.isinf(distances[i, j]):
                assert before == none
            else:
                assert distances[i, before] + w[before, j] == distances[i, j]


@pytest.mark.parametrize(("n", "negative"), [(1, False), (2, False), (40, False), (70, True)])
def test_a_drop_in_for_scipy(n, negative):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    w = random_weights(n, negative=negative)
    dense = np.where(np.isinf(w), 0, w)
    dense[np.isfinite(w) & (w == 0)] = 0
    for graph in [dense, w, sparse.csr_array(dense), sparse.csc_matrix(dense), sparse.lil_array(dense), dense.astype("float32"), dense.astype("int32")]:
        for directed in [True] if negative else [True, False]:
            for unweighted in [False] if negative else [False, True]:
                options = {"directed": directed, "unweighted": unweighted}
                expected, before = csgraph.floyd_warshall(graph, return_predecessors=True, **options)
                np.testing.assert_array_equal(floyd_warshall(graph, **options), expected)
                found, predecessors = floyd_warshall(graph, return_predecessors=True, **options)
                np.testing.assert_array_equal(found, expected)
                assert found.dtype == np.float64 and predecessors.dtype == np.int32
                np.testing.assert_array_equal(predecessors == -9999, before == -9999)
                weights = np.where(dense == 0, np.inf, dense)
                weights = weights if directed else np.minimum(weights, weights.T)
                weights = np.where(np.isfinite(weights), 1, weights) if unweighted else weights
                check_predecessors(weights, found, predecessors, -9999)


def test_the_corners_of_scipy():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    cycle = np.array([[0.0, -2.0], [1.0, 0.0]])
    for function in (csgraph.floyd_warshall, floyd_warshall):
        with pytest.raises(csgraph.NegativeCycleError):
            function(cycle)
    masked = np.ma.masked_equal(np.array([[0.0, 2.0], [7.0, 0.0]]), 7)
    np.testing.assert_array_equal(floyd_warshall(masked), csgraph.floyd_warshall(masked))
    halves = np.array([[0, 2], [7, 0]], pytest.importorskip("ml_dtypes").bfloat16)
    np.testing.assert_array_equal(floyd_warshall(halves), [[0, 2], [7, 0]])
    place = np.array([[0.0, 1.0, 5.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert floyd_warshall(place, overwrite=True) is place and place[0, 2] == 2
    stored = sparse.csr_array(([0.0, 3.0], ([0, 1], [1, 2])), shape=(3, 3))
    np.testing.assert_array_equal(floyd_warshall(stored), csgraph.floyd_warshall(stored))
    twice = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    np.testing.assert_array_equal(floyd_warshall(twice), csgraph.floyd_warshall(twice.tocsr()))
    for graph in (sparse.csr_array(np.ones((2, 3))), sparse.coo_array(np.ones(3)), np.ones(3)):
        with pytest.raises(tilewright.ShapeError) as caught:
            floyd_warshall(graph)
        assert caught.value.hint


def test_a_negative_cycle_is_tilewrights_and_scipys():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    with pytest.raises(tilewright.NegativeCycleError, match="0 -> 1 -> 0") as caught:
        floyd_warshall(np.array([[0.0, -2.0], [1.0, 0.0]]))
    error = caught.value
    assert isinstance(error, csgraph.NegativeCycleError) and error.cycle == [0, 1] and error.hint and error.code == "negative-cycle"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is tilewright.NegativeCycleError and again.cycle == [0, 1] and str(again) == str(error)


def test_what_is_refused_is_not_written_to():
    w = np.zeros((2, 3))
    with pytest.raises(tilewright.ShapeError):
        floyd_warshall(w, overwrite=True)
    assert not w.any()
    for dtype in ("foo", 3, "int32"):
        with pytest.raises(tilewright.ElementTypeError, match=str(dtype)):
            floyd_warshall(np.zeros((2, 2)), dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int32", "int64"])
@pytest.mark.parametrize("method", ["auto", "dense", "dijkstra"])
def test_distances_and_predecessors(dtype, method):
    w = random_weights(50)
    typed = np.where(np.isinf(w), 0, w).astype(dtype)
    typed[np.isinf(w)] = np.iinfo(dtype).max if dtype.startswith("int") else np.inf
    for view in [typed, np.asfortranarray(typed), np.concatenate([typed, typed], 1)[:, :50]]:
        paths = shortest_paths(view, method=method)
        assert paths.distances.dtype == dtype and paths.predecessors.dtype == np.int32
        expected = floyd_warshall(np.where(w == 0, np.inf, w))
        distances = np.where(paths.distances == np.iinfo(dtype).max, np.inf, paths.distances) if dtype.startswith("int") else paths.distances
        np.testing.assert_array_equal(distances, expected)
        check_predecessors(w, distances, paths.predecessors)
        alone = shortest_paths(view, method=method, predecessors=False, threads=1)
        np.testing.assert_array_equal(alone.distances, paths.distances)
        assert alone.predecessors is None
        with pytest.raises(tilewright.UnsupportedError, match="predecessors=True"):
            alone.path(0, 1)


def test_other_semirings():
    w = np.array([[0, 5.0, 1.0], [0, 0, 4.0], [2.0, 0, 0]])
    assert shortest_paths(w, semiring="max-min").distances[0, 2] == 4
    assert shortest_paths(w, semiring=tilewright.max_min).path(0, 2) == [0, 1, 2]
    assert shortest_paths(w > 0, semiring="or-and").distances.all()
    with pytest.raises(tilewright.UnsupportedError):
        shortest_paths(w, semiring="plus-times")
    chain = np.full((4, 4), np.inf)
    chain[[0, 1, 2], [1, 2, 3]] = 1
    two = shortest_paths(chain, max_edges=2, predecessors=False).distances
    assert two[0, 2] == 2 and np.isinf(two[0, 3])


def route_weight(w, route):
    return sum(w[a, b] for a, b in zip(route, route[1:]))


@pytest.mark.parametrize("method", ["auto", "dense", "dijkstra"])
def test_the_route_weighs_the_distance(method):
    i = np.inf
    w = np.array([[i, 0.4861576653663252, -1.0, i], [i, i, i, i], [1.0, i, i, 0.3044108938074692], [i, 3.0, i, i]])
    paths = shortest_paths(w, method=method)
    assert paths.path(0, 1) == [0, 1] and paths.distance(0, 1) == w[0, 1]
    # A cycle that weighs -2e-19.
    ring = np.array([[i, -0.0009120601173427901, i], [i, i, -0.0008992663401934466], [0.0018113264575362366, i, i]])
    paths = shortest_paths(ring, method=method)
    assert paths.path(0, 2) == [0, 1, 2] and paths.distance(0, 2) == route_weight(ring, [0, 1, 2])


def test_cycles_that_weigh_about_nothing_are_none():
    for n in [3, 9, 24, 40]:
        for seed in range(5):
            generator = np.random.default_rng(seed)
            h = np.log(generator.uniform(0.01, 100, n))
            w = h[None, :] - h[:, None]
            np.fill_diagonal(w, np.inf)
            tolerance = n * np.finfo(float).eps * np.abs(h[None, :] - h[:, None]).max()
            for method in ["dense", "dijkstra"]:
                paths = shortest_paths(w, method=method)
                assert np.abs(paths.distances - (h[None, :] - h[:, None])).max() <= tolerance
                for target in range(n):
                    route = paths.path(0, target)
                    assert abs(route_weight(w, route) - paths.distance(0, target)) <= tolerance
            rates = np.exp(-w)
            best = shortest_paths(rates, semiring="max-times").distances
            np.testing.assert_allclose(best, np.exp(h[:, None] - h[None, :]), rtol=n * 1e-15)


@pytest.mark.parametrize("semiring, taken", [("min-plus", ["float32", "float64", "int16", "int32", "int64"]), ("max-min", ["float32", "float64", "int32"]), ("or-and", ["bool"])])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "longdouble", "complex64", "object", "S3", "datetime64[s]"])
def test_types_of_weights(dtype, semiring, taken):
    w = np.zeros((3, 3), dtype)
    if dtype in taken:
        assert shortest_paths(w, semiring=semiring).distances.dtype == dtype
        return
    with pytest.raises(tilewright.ElementTypeError, match=f"weights of {re.escape(w.dtype.name)}") as caught:
        shortest_paths(w, semiring=semiring)
    assert f"best paths over {semiring} take {', '.join(taken)}" in caught.value.hint


def test_types_of_weights_in_sparse_arrays():
    sparse = pytest.importorskip("scipy.sparse")
    for dtype in ("bool", "complex128", "longdouble"):
        with pytest.raises(tilewright.ElementTypeError, match=f"weights of {np.dtype(dtype).name}"):
            shortest_paths(sparse.csr_array(np.eye(3, dtype=dtype)))


@pytest.mark.parametrize("dtype", ["complex128", "longdouble", "object", "datetime64[s]", "<U3"])
def test_types_of_weights_as_scipy_takes_them(dtype):
    with pytest.raises(tilewright.ElementTypeError, match="the graph has weights of") as caught:
        tilewright.floyd_warshall(np.zeros((3, 3)).astype(dtype))
    assert str(np.dtype(dtype)) in str(caught.value) and "floats of up to 64 bits" in caught.value.hint
    sparse = pytest.importorskip("scipy.sparse")
    if dtype in ("complex128", "longdouble"):
        with pytest.raises(tilewright.ElementTypeError, match="the graph has weights of"):
            tilewright.floyd_warshall(sparse.csr_array(np.eye(3, dtype=dtype)))
    # Booleans are edges of weight 1, as there, and so are smaller numbers what they are.
    for fine in ("bool", "float16", "uint64"):
        assert tilewright.floyd_warshall(np.array([[0, 1], [0, 0]], fine)).tolist() == [[0, 1], [np.inf, 0]]


@pytest.mark.parametrize("weight", [1j, "x", None, np.longdouble(1), 10**30, [2]])
def test_an_edge_whose_weight_is_no_number(weight):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "c", {"weight": weight})])
    with pytest.raises(tilewright.ElementTypeError, match=f"the edge from vertex 1 to vertex 2 weighs .*, an? {type(weight).__name__}"):
        shortest_paths(graph)


def test_cycles_and_what_is_refused():
    with pytest.raises(tilewright.NegativeCycleError) as caught:
        shortest_paths(np.array([[0.0, 1.0, np.inf], [np.inf, 0.0, -3.0], [1.0, np.inf, 0.0]]))
    assert sorted(caught.value.cycle) == [0, 1, 2] and isinstance(caught.value, ValueError)
    for wrong in [np.ones((2, 3)), np.ones(4), np.ones((2, 2, 2))]:
        with pytest.raises(tilewright.ShapeError):
            shortest_paths(wrong)
    with pytest.raises(TypeError):
        shortest_paths([[1.0]])
    with pytest.raises(tilewright.UnsupportedError, match="dijkstra"):
        shortest_paths(np.ones((2, 2)), method="best")
    paths = shortest_paths(np.array([[0.0, np.inf], [1.0, 0.0]]))
    assert paths.path(0, 1) is None and paths.path(1, 0) == [1, 0] and paths.path(0, 0) == [0]
    assert paths.distance(1, 0) == 1
    with pytest.raises(tilewright.UnsupportedError):
        paths.path(0, 2)
    assert shortest_paths(np.empty((0, 0))).distances.shape == (0, 0)


def test_sparse_arrays():
    sparse = pytest.importorskip("scipy.sparse")
    stored = sparse.csr_array((np.array([0.0, 3.0, 2.0]), ([0, 1, 2], [1, 2, 0])), shape=(4, 4))
    paths = shortest_paths(stored)
    assert paths.distances[0, 2] == 3 and paths.path(0, 2) == [0, 1, 2] and paths.path(0, 3) is None
    assert shortest_paths(stored.astype("int32")).distances.dtype == np.int32


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiDiGraph"])
def test_graphs_of_networkx(kind):
    networkx = pytest.importorskip("networkx")
    graph = getattr(networkx, kind)()
    generator = np.random.default_rng(0)
    names = [f"town {i}" for i in range(20)]
    graph.add_nodes_from(names)
    for a, b in generator.integers(0, 20, (60, 2)):
        if a != b:
            graph.add_edge(names[a], names[b], weight=int(generator.integers(1, 9)))
    paths = shortest_paths(graph)
    expected = dict(networkx.all_pairs_dijkstra_path_length(graph))
    for a in names:
        for b in names:
            assert paths.distance(a, b) == expected[a].get(b, np.inf)
            route = paths.path(a, b)
            assert (route is None) == (b not in expected[a])
            if route:
                assert route[0] == a and route[-1] == b and all(graph.has_edge(x, y) for x, y in zip(route, route[1:]))
    hops = shortest_paths(graph, weight="no such attribute")
    assert hops.distance(*next(iter(graph.edges()))[:2]) == 1
    with pytest.raises(tilewright.UnsupportedError, match="labels"):
        paths.path("town 0", "nowhere")
    assert shortest_paths(networkx.DiGraph([(1, 2)]), semiring="or-and").distance(1, 2)


def test_graphs_of_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 2)], directed=True)
    assert shortest_paths(graph).distances[0, 2] == 1
    graph.es["weight"] = [1.5, 2, 9]
    graph.vs["name"] = ["a", "b", "c", "d"]
    paths = shortest_paths(graph)
    assert paths.distance("a", "c") == 3.5 and paths.path("a", "c") == ["a", "b", "c"] and paths.path("c", "a") is None
    assert shortest_paths(graph.as_undirected(combine_edges="min")).path("c", "a") == ["c", "b", "a"]


def test_torch_gives_torch():
    torch = pytest.importorskip("torch")
    paths = shortest_paths(torch.tensor([[0.0, 3.0, 9.0], [3.0, 0.0, 4.0], [9.0, 4.0, 0.0]]))
    assert isinstance(paths.distances, torch.Tensor) and paths.path(0, 2) == [0, 1, 2]


def closure(n):
    return float(floyd_warshall(random_weights(n, 0.9)).sum())


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_processes():
    import multiprocessing

    expected = closure(600)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(closure, [600, 600]).get(timeout=60) == [expected] * 2


def test_the_corners_of_scipy_with_edges_that_are_none():
    """Self loops, infinities and twice stored edges, dense and sparse: as SciPy, or refused."""
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    loops = np.array([[-1.0, 2, 0], [3, -np.inf, 4], [0, 0, 5]])
    for graph in [loops, sparse.csr_array(loops), sparse.csc_array(loops), np.array([[-1.0]]), np.array([[0, -np.inf], [1, 0]]), np.array([[np.nan, 1], [np.inf, 0]])]:
        for directed in [True, False]:
            for unweighted in [True, False]:
                options = {"directed": directed, "unweighted": unweighted}
                expected = csgraph.floyd_warshall(graph.copy(), **options)
                np.testing.assert_array_equal(floyd_warshall(graph.copy(), **options), expected)
    generator = np.random.default_rng(0)
    for make in (sparse.csr_array, sparse.csc_array):
        for _ in range(50):
            weights = generator.choice([1.0, 2.0, 5.0, np.inf, np.nan], 8)
            twice = make((weights, generator.integers(0, 4, 8), np.array([0, 2, 4, 6, 8])), shape=(4, 4))
            np.testing.assert_array_equal(floyd_warshall(twice.copy()), csgraph.floyd_warshall(twice.copy()))
    for graph in [sparse.csr_array(([-np.inf, 1.0], ([0, 1], [1, 2])), shape=(3, 3)), sparse.coo_array(([1.0, -np.inf], ([0, 1], [1, 2])), shape=(3, 3))]:
        for unweighted in [True, False]:
            with pytest.raises(tilewright.UnsupportedError, match="weighs -inf"):
                floyd_warshall(graph, unweighted=unweighted)


def test_vertices_are_whole_numbers():
    paths = shortest_paths(np.array([[0.0, 2], [1, 0]]))
    for good in [1, np.int8(1), np.uint64(1), np.array(1)]:
        assert paths.path(0, good) == [0, 1] and paths.distance(good, 0) == 1
    for wrong in [0.7, 1.0, np.float64(1), "1", None, True, np.True_, [1], np.array([0, 1])]:
        for ends in [(wrong, 1), (0, wrong)]:
            for ask in (paths.path, paths.distance):
                with pytest.raises(TypeError):
                    ask(*ends)
    for wrong in [-1, 2, 2**70]:
        with pytest.raises(tilewright.UnsupportedError):
            paths.path(0, wrong)


def test_names_that_are_not_unique_are_refused():
    igraph = pytest.importorskip("igraph")
    for names in [["a", "b", "a"], [None, None, "c"]]:
        graph = igraph.Graph(directed=True, edges=[(0, 1), (1, 2)])
        graph.vs["name"] = names
        with pytest.raises(tilewright.UnsupportedError, match="two vertices are called"):
            shortest_paths(graph)


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    towns = ["x", "y", "z"]
    w = pandas.DataFrame([[0, 3.0, 9], [np.inf, 0, 4], [1, np.inf, 0]], index=towns, columns=towns)
    for frame in [w, w[["z", "x", "y"]]]:
        paths = shortest_paths(frame)
        assert paths.path("x", "z") == ["x", "y", "z"] and paths.distance("x", "z") == 7 and paths.labels == towns
    edges = pandas.DataFrame({"source": ["x", "y"], "target": ["y", "z"], "weight": [3.0, 4.0]})
    for wrong in [edges, edges.head(2), w.iloc[:2]]:
        with pytest.raises(tilewright.ShapeError, match="from_pandas_edgelist"):
            shortest_paths(wrong)
    with pytest.raises(tilewright.UnsupportedError, match="two vertices are called 'x'"):
        shortest_paths(pandas.DataFrame(np.eye(3), index=list("xxy"), columns=list("xxy")))
    with pytest.raises(tilewright.UnsupportedError, match="Series"):
        shortest_paths(w["x"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("directed", [True, False])
def test_single_precision_and_in_place(dtype, directed):
    sparse = pytest.importorskip("scipy.sparse")
    w = random_weights(40)
    w[np.isinf(w)] = 0
    expected = floyd_warshall(w, directed)
    for graph in [w, w.astype("float32"), w.astype(int), sparse.csr_array(w)]:
        before = graph.copy()
        found, stops = floyd_warshall(graph, directed, return_predecessors=True, dtype=dtype)
        assert found.dtype == dtype and stops.dtype == np.int32
        np.testing.assert_array_equal(found, expected)
        assert (graph != before).sum() == 0
    place = w.astype(dtype)
    assert floyd_warshall(place, directed, overwrite=True, dtype=np.dtype(dtype)) is place
    np.testing.assert_array_equal(place, expected)
    # Where distances cannot lie in the graph's place, it stays as it is.
    for graph in [np.asfortranarray(w, dtype), w.astype("float32" if dtype == "float64" else "float64")]:
        before = graph.copy()
        np.testing.assert_array_equal(floyd_warshall(graph, directed, overwrite=True, dtype=dtype), expected)
        np.testing.assert_array_equal(graph, before)


def test_other_types_of_distances_are_refused():
    for wrong in ["int32", "float16", bool]:
        with pytest.raises(tilewright.ElementTypeError, match="float32"):
            floyd_warshall(np.ones((2, 2)), dtype=wrong)
