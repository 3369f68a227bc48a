"""The backend of NetworkX: each function beside NetworkX's own, kinds of numbers and orders of dictionaries included."""

import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

networkx = pytest.importorskip("networkx")
backend = pytest.importorskip("tilewright.networkx")

CALLS = [
    ("all_pairs_dijkstra", {}),
    ("all_pairs_dijkstra", {"cutoff": 6}),
    ("all_pairs_dijkstra_path_length", {}),
    ("all_pairs_dijkstra_path_length", {"cutoff": -1}),
    ("all_pairs_bellman_ford_path_length", {}),
    ("average_shortest_path_length", {}),
    ("average_shortest_path_length", {"weight": "weight"}),
    ("average_shortest_path_length", {"weight": "weight", "method": "unweighted"}),
    ("center", {}),
    ("center", {"weight": "weight"}),
    ("closeness_centrality", {}),
    ("closeness_centrality", {"distance": "weight"}),
    ("closeness_centrality", {"distance": "weight", "wf_improved": False}),
    ("diameter", {}),
    ("diameter", {"weight": "weight"}),
    ("eccentricity", {}),
    ("eccentricity", {"weight": "weight"}),
    ("floyd_warshall", {}),
    ("floyd_warshall", {"weight": None}),
    ("floyd_warshall_numpy", {}),
    ("floyd_warshall_predecessor_and_distance", {}),
    ("global_efficiency", {}),
    ("harmonic_centrality", {}),
    ("harmonic_centrality", {"distance": "weight"}),
    ("johnson", {}),
    ("johnson", {"weight": None}),
    ("radius", {}),
    ("radius", {"weight": "weight"}),
    ("transitive_closure", {}),
    ("transitive_closure", {"reflexive": True}),
    ("transitive_closure", {"reflexive": None}),
    ("wiener_index", {}),
    ("wiener_index", {"weight": "weight"}),
]
# What is told in another order than NetworkX's.
UNORDERED = {"all_pairs_bellman_ford_path_length", "transitive_closure"}
# Fractions that are rounded in another order.
ROUNDED = {"floyd_warshall", "floyd_warshall_numpy"}
WEIGHTS = {
    "none": st.none(),
    "whole": st.integers(1, 50),
    "ties": st.integers(0, 3),
    "quarters": st.integers(0, 9).map(lambda fourth: fourth / 4),
    "fractions": st.floats(0.01, 1),
    "negative": st.integers(0, 5),
}


def plain(answer):
    """An answer as lists, in which order and kinds of numbers can be seen."""
    if hasattr(answer, "items"):
        return [(key, plain(value)) for key, value in answer.items()]
    if isinstance(answer, networkx.Graph):
        return type(answer).__name__, list(answer), sorted(map(repr, answer.edges(data=True)))
    if isinstance(answer, np.ndarray):
        return answer.dtype.name, answer.tolist()
    if hasattr(answer, "__next__"):
        return [plain(part) for part in answer]
    return tuple(map(plain, answer)) if isinstance(answer, tuple) else answer


def unordered(answer):
    return [(source, sorted(row)) for source, row in answer] if isinstance(answer, list) else answer


def asked(function, graph, options):
    try:
        return plain(function(graph, **options))
    except (networkx.NetworkXException, ValueError) as error:
        return type(error).__name__, str(error)


def theirs(name):
    # The function itself: nothing of a backend is between.
    return networkx.utils.backends._registered_algorithms[name].orig_func


def check(graph, name, options, *, rounded=False):
    converted = backend.convert_from_nx(graph)
    if backend.can_run(name, (graph,), options) is not True:
        assert name in ("center", "global_efficiency")
        return
    try:
        found = asked(getattr(backend, name), converted, options)
    except NotImplementedError as reason:
        assert re.search("negative", str(reason))
        return
    expected = asked(theirs(name), graph, options) if name != "global_efficiency" or not graph.is_directed() else found
    if name in UNORDERED:
        found, expected = unordered(found), unordered(expected)
    if rounded and name in ROUNDED:
        assert len(found) == len(expected)
        np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-14)
    else:
        assert repr(found) == repr(expected)


def numbers(answer):
    return answer[1] if isinstance(answer, tuple) else [value for _, row in answer for _, value in row]


@st.composite
def graphs(draw, kind):
    graph = getattr(networkx, draw(st.sampled_from(["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])))()
    names = draw(st.permutations([f"town {i}" for i in range(draw(st.integers(0, 9)))]))
    graph.add_nodes_from(names)
    if names:
        ends = st.sampled_from(names)
        heights = {name: draw(st.integers(0, 9)) for name in names}
        for begin, end, weight in draw(st.lists(st.tuples(ends, ends, WEIGHTS[kind]), max_size=40)):
            if kind == "negative":
                weight += heights[begin] - heights[end]
            graph.add_edge(begin, end, **({} if weight is None else {"weight": weight}))
    return graph


@pytest.mark.parametrize("kind", list(WEIGHTS))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_each_function_beside_networkx(kind, data):
    graph = data.draw(graphs(kind))
    for name, options in CALLS:
        check(graph, name, options, rounded=kind == "fractions")


@pytest.mark.parametrize("kind", ["Graph", "DiGraph"])
def test_larger_graphs(kind):
    generator = np.random.default_rng(0)
    graph = networkx.gnm_random_graph(130, 3000, seed=1, directed=kind == "DiGraph")
    for draw in [lambda: int(generator.integers(1, 9)), lambda: float(generator.random())]:
        for _, _, data in graph.edges(data=True):
            data["weight"] = draw()
        for name, options in CALLS:
            check(graph, name, options, rounded=True)


def test_weights_that_are_not_understood_are_networkx_own_business():
    for weight in [None, "3", 1 + 2j, np.float32(1), np.inf, np.nan, True, 2**60, 10**400]:
        graph = networkx.Graph()
        graph.add_edge(0, 1, weight=weight)
        with pytest.raises(NotImplementedError):
            backend.convert_from_nx(graph, edge_attrs={"weight": 1})
        assert backend.diameter(backend.convert_from_nx(graph)) == 1
    for weight in [np.float64(2.5), np.int64(2), np.int32(2)]:
        graph.add_edge(0, 1, weight=weight)
        found = backend.diameter(backend.convert_from_nx(graph), weight="weight")
        assert found == weight and type(found) in (int, float)


def test_mixed_weights_give_floats():
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", 0.5)])
    assert repr(backend.floyd_warshall(backend.convert_from_nx(graph))["a"]) == "{'a': 0, 'b': 1.0, 'c': 1.5}"


def test_negative_cycles():
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", -3), ("c", "b", 1), ("d", "d", 2)])
    converted = backend.convert_from_nx(graph)
    with pytest.raises(networkx.NetworkXUnbounded, match="Negative cycle detected."):
        backend.johnson(converted)
    rows = backend.all_pairs_bellman_ford_path_length(converted)
    with pytest.raises(networkx.NetworkXUnbounded):
        next(rows)
    for name in ["floyd_warshall", "floyd_warshall_numpy", "floyd_warshall_predecessor_and_distance"]:
        assert repr(plain(getattr(backend, name)(converted))) == repr(plain(theirs(name)(graph)))
    for name in ["all_pairs_dijkstra", "all_pairs_dijkstra_path_length"]:
        with pytest.raises(NotImplementedError, match="negative"):
            getattr(backend, name)(converted)


def test_orders_of_vertices():
    graph = networkx.path_graph(4)
    converted = backend.convert_from_nx(graph)
    for nodelist in [[3, 1, 0, 2], (0, 1, 2, 3), [0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 9]]:
        options = {"nodelist": nodelist}
        assert asked(backend.floyd_warshall_numpy, converted, options) == asked(theirs("floyd_warshall_numpy"), graph, options)


def test_rows_are_dictionaries_that_are_made_when_they_are_asked_for(monkeypatch):
    graph = networkx.cycle_graph(50, create_using=networkx.DiGraph)
    expected = theirs("floyd_warshall")(graph)
    found = backend.floyd_warshall(backend.convert_from_nx(graph))
    assert found[7][6] == 49 and list(found._made[7]._made) and not any("_made" in vars(row) for key, row in found._made.items() if key != 7)
    assert len(found) == 50 and 7 in found and 50 not in found and list(found) == list(expected)
    assert found == expected and expected == found and found != {} and repr(found[1]) == repr(dict(expected[1]))
    for row in (found, found[3]):
        with pytest.raises(KeyError):
            row["nowhere"]
        with pytest.raises(TypeError):
            [] in row
    assert found.get(50) is None and dict(found[2]) == found[2].copy() and type(found[2].copy()) is dict
    copied = pickle.loads(pickle.dumps(found))
    assert type(copied) is dict and type(copied[0]) is dict and copied == expected
    found[0][1] = -1
    del found[0][2]
    assert found[0][1] == -1 and 2 not in found[0] and list(found[0].values())[:2] == [0, -1]


def test_what_can_and_what_should_be_run():
    graph = networkx.complete_graph(120)
    assert backend.can_run("floyd_warshall", (graph,), {}) is True
    assert backend.should_run("floyd_warshall", (graph,), {}) is True
    assert backend.should_run("floyd_warshall", (), {"G": graph}) is True
    for name, options, reason in [
        ("johnson", {"weight": lambda u, v, d: 1}, "function"),
        ("closeness_centrality", {"distance": len}, "function"),
        ("closeness_centrality", {"u": 3}, "part"),
        ("eccentricity", {"v": 3}, "part"),
        ("diameter", {"e": {}}, "part"),
        ("harmonic_centrality", {"sources": [1]}, "part"),
        ("radius", {"usebounds": True}, "bounds"),
        ("average_shortest_path_length", {"method": "floyd-warshall"}, "method"),
        ("average_shortest_path_length", {"method": "best"}, "method"),
        ("johnson", {"wait": 3}, "wait"),
    ]:
        assert reason in backend.can_run(name, (graph,), options)
    assert "tree" in backend.can_run("center", (networkx.path_graph(120),), {})
    assert "tree" in backend.can_run("center", (backend.convert_from_nx(networkx.path_graph(120)),), {})
    assert "fewer" in backend.should_run("johnson", (networkx.complete_graph(20),), {})
    assert "matrix" in backend.should_run("johnson", (networkx.path_graph(5000),), {})


def test_information_is_of_what_is_there():
    from tilewright import _networkx_info

    functions = _networkx_info.info()["functions"]
    assert set(functions) == set(backend._rules.FUNCTIONS) and all(hasattr(backend, name) for name in functions)


def test_conversion_gives_back_the_graph():
    graph = networkx.MultiDiGraph([(0, 1), (0, 1)])
    converted = backend.convert_from_nx(graph)
    assert backend.convert_to_nx(converted) is graph and backend.convert_to_nx(3) == 3
    assert converted.is_directed() and converted.is_multigraph() and list(converted) == [0, 1] and 1 in converted and len(converted) == 2


CALLED = """
import logging, networkx
logging.basicConfig(level=logging.DEBUG)
networkx.config.warnings_to_ignore.add("cache")
graph = networkx.complete_graph(120)
assert networkx.diameter(graph) == 1
kept = graph.__networkx_cache__["backends"]["tilewright"]
assert len(kept) == 1
assert networkx.radius(graph) == 1 and len(kept) == 1
graph.remove_edge(0, 1)
assert networkx.diameter(graph) == 2
path = networkx.path_graph(3)
assert networkx.floyd_warshall(path, backend="tilewright")[0][2] == 2
path[0][1]["weight"] = 7    # NetworkX does not know, and warns
assert networkx.floyd_warshall(path, backend="tilewright")[0][2] == 2
path.__networkx_cache__.clear()
assert networkx.floyd_warshall(path, backend="tilewright")[0][2] == 8
path[0][1]["weight"] = 9
networkx.config.cache_converted_graphs = False
assert networkx.floyd_warshall(path, backend="tilewright")[0][2] == 10
for _, _, data in graph.edges(data=True):
    data["weight"] = "heavy"
try:
    networkx.johnson(graph)
except TypeError as error:
    print("by networkx:", error)
closed = networkx.transitive_closure(networkx.path_graph(120, networkx.DiGraph), backend="tilewright")
assert type(closed) is networkx.DiGraph and closed.number_of_edges() == 120 * 119 // 2
assert "all pairs at once" in networkx.johnson.__doc__.lower()
"""


def test_networkx_finds_and_uses_it(installed):
    done = subprocess.run([sys.executable, "-c", CALLED], env={**installed, "NETWORKX_BACKEND_PRIORITY": "tilewright"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Using backend 'tilewright' for call to 'diameter'" in done.stderr and "by networkx:" in done.stdout


MODULES = ["shortest_paths", "tests.test_distance_measures", "centrality.tests.test_closeness_centrality", "centrality.tests.test_harmonic_centrality", "tests.test_efficiency", "tests.test_wiener", "tests.test_dag"]


def test_networkx_own_tests(installed, tmp_path):
    settings = {"NETWORKX_TEST_BACKEND": "tilewright", "NETWORKX_FALLBACK_TO_NX": "True"}
    modules = [f"networkx.algorithms.{module}" for module in MODULES]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", *modules], env={**installed, **settings}, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
