"""`einsum`: beside a reference that enumerates all indices, for every semiring; orders, winners, memory, gradients, and what is refused."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import tilewright
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright import einsum

ADD = {"plus": np.add, "min": np.minimum, "max": np.maximum, "or": np.logical_or, "log": np.logaddexp}
MULTIPLY = {"times": np.multiply, "plus": np.add, "min": np.minimum, "max": np.maximum, "and": np.logical_and}


def by_terms(subscripts, *operands, semiring):
    """An element for each value of all letters, one operand after the other."""
    left, output = subscripts.split("->")
    terms = left.split(",")
    sizes = {label: extent for term, x in zip(terms, operands) for label, extent in zip(term, np.shape(x))}
    summed = [label for label in sizes if label not in output]
    add, multiply = semiring.split("-")
    zero = tilewright.Semiring(semiring).zero
    kind = np.result_type(*operands)
    if semiring == "plus-times" and kind in (np.int8, np.uint8, np.int16):
        kind = np.dtype("int32")
    result = np.zeros([sizes[label] for label in output], kind)
    for place in itertools.product(*(range(sizes[label]) for label in output)):
        total = zero if kind.kind == "f" or math.isfinite(zero) else np.iinfo(kind).max if zero > 0 else np.iinfo(kind).min
        total = kind.type(total)
        for numbers in itertools.product(*(range(sizes[label]) for label in summed)):
            at = dict(zip([*output, *summed], (*place, *numbers)))
            product = None
            for term, x in zip(terms, operands):
                element = kind.type(x[tuple(at[label] for label in term)])
                product = element if product is None else MULTIPLY[multiply](product, element)
            total = ADD[add](total, product)
        result[place] = total
    return result


def elements(shape, dtype, seed):
    """Whole numbers, whose sums and products are exact in any order."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.random(shape) < 0.7
    return generator.integers(0, 4, shape).astype(dtype)


def check(found, expected, semiring):
    assert np.shape(found) == expected.shape and found.dtype == expected.dtype
    if semiring == "log-plus":
        np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.dtype == "float32" else 1e-12, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, expected)


@st.composite
def networks(draw):
    """Some operands of few letters, with diagonals, hyperedges and letters that nobody else has."""
    labels = "abcde"[: draw(st.integers(1, 5))]
    sizes = {label: draw(st.integers(1, 3)) for label in labels}
    terms = draw(st.lists(st.text(labels, max_size=3), min_size=1, max_size=4))
    there = sorted(set("".join(terms)))
    output = "".join(draw(st.permutations(there))[: draw(st.integers(0, len(there)))])
    return terms, output, sizes


@pytest.mark.parametrize("semiring", tilewright.Semiring.NAMES)
@settings(max_examples=60, deadline=None)
@given(network=networks(), seed=st.integers(0, 1000), data=st.data())
def test_every_network(semiring, network, seed, data):
    terms, output, sizes = network
    dtype = data.draw(st.sampled_from([dtype for dtype in tilewright.Semiring(semiring).dtypes if dtype.rstrip("0123456789") in ("bool", "float", "int", "uint") and dtype != "float16"]))
    operands = [elements([sizes[label] for label in term], dtype, seed + i) for i, term in enumerate(terms)]
    operands = [x.transpose(order).copy().transpose(np.argsort(order)) for x in operands for order in [data.draw(st.permutations(range(x.ndim)))]]
    path, left = [], len(terms)
    while left > 1:
        path.append(tuple(data.draw(st.permutations(range(left)))[: data.draw(st.integers(1, left))]))
        left -= len(path[-1]) - 1
    subscripts = f"{','.join(terms)}->{output}"
    expected = by_terms(subscripts, *operands, semiring=semiring)
    for optimize in ("greedy", path):
        check(einsum(subscripts, *operands, semiring=semiring, optimize=optimize), expected, semiring)


@pytest.mark.parametrize("subscripts", ["ij,jk", "ba", "ii", "i...,i...->...", "...ij,...jk->...ik", "...,...", "a...b,...c->c...ab", "...ii->...i", "ij,j", " i j , j -> i ", "...a", ",", "a,->a"])
def test_subscripts_are_read_as_numpy_reads_them(subscripts):
    generator = np.random.default_rng(0)
    for shape in [(2,), (), (1, 3), (2, 1, 3)]:
        operands = []
        for position, term in enumerate(subscripts.split("->")[0].replace(" ", "").split(",")):
            # The second operand has one dimension less where there are dots, which are joined from the last.
            dots = shape[1:] if position and shape[:1] != (1,) else shape
            head, has, tail = term.partition("...")
            operands.append(generator.integers(0, 9, (*(3 for _ in head), *(dots if has else ()), *(3 for _ in tail))).astype(float))
        np.testing.assert_array_equal(einsum(subscripts, *operands), np.einsum(subscripts, *operands))


def test_sums_over_one_operand_are_the_semirings():
    x = elements((5, 40, 6), "float64", 0)
    for semiring, function in [("max-plus", np.max), ("min-plus", np.min), ("max-times", np.max), ("min-times", np.min), ("max-min", np.max), ("min-max", np.min), ("plus-times", np.sum)]:
        for output in ["", "i", "j", "k", "ik", "ki", "jk", "ij"]:
            axes = tuple(axis for axis, label in enumerate("ijk") if label not in output)
            expected = function(x, axis=axes)
            np.testing.assert_array_equal(einsum(f"ijk->{output}", x, semiring=semiring), expected.T if output == "ki" else expected)
    np.testing.assert_array_equal(einsum("ij->j", x[:, :, 0] > 2, semiring="or-and"), (x[:, :, 0] > 2).any(0))


@pytest.mark.parametrize("semiring", ["min-plus", "max-plus", "max-times", "min-times", "max-min", "min-max", "log-plus", "plus-times"])
def test_single_terms_are_those_of_a_product(semiring):
    """Infinities and what is no number: as the product of two matrices of one element has them."""
    numbers = [0.0, 1.5, np.inf, np.nan] if semiring.endswith("times") and semiring != "plus-times" else [0.0, -1.5, np.inf, -np.inf, np.nan]
    x, y = (np.array(column) for column in zip(*itertools.product(numbers, numbers)))
    expected = tilewright.matmul(x[:, None, None], y[:, None, None], semiring=semiring)[:, 0, 0]
    np.testing.assert_array_equal(einsum("i,i->i", x, y, semiring=semiring), expected)


def test_integers_that_stand_for_absent():
    most = np.iinfo("int32").max
    a, b = np.array([most, 3, most], "int32"), np.array([5, most, most], "int32")
    assert einsum("i,i->i", a, b, semiring="min-plus").tolist() == [most] * 3
    with pytest.raises(tilewright.DomainError):
        einsum("i,i->i", a - 1, b, semiring="min-plus")
    with pytest.raises(tilewright.DomainError, match="negative"):
        einsum("i,i->i", np.array([-1.0]), np.array([1.0]), semiring="max-times")
    with pytest.raises(tilewright.DomainError, match="operand 0 has a negative element"):
        einsum(",i->i", np.array(-1.0), np.ones(3), semiring="max-times")


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits_have_sums_of_32(name):
    a = np.arange(9).reshape(3, 3).astype(getattr(pytest.importorskip("ml_dtypes"), name))
    wide = a.astype("float32")
    for subscripts, count in [("ij,jk->ik", 2), ("ij,jk,kl->il", 3), ("ij->j", 1), ("ij,ij->ij", 2)]:
        found = einsum(subscripts, *[a] * count)
        assert found.dtype == np.float32 and np.array_equal(found, np.einsum(subscripts, *[wide] * count))


def test_small_integers_have_sums_of_32_bits():
    a = np.full((3, 3), 100, "int8")
    for subscripts, count in [("ij,jk->ik", 2), ("ij,jk,kl->il", 3), ("ij->j", 1), ("ij->ji", 1), ("ij,ij->ij", 2), ("ij,k->", 2)]:
        found = einsum(subscripts, *[a if term != "k" else a[0] for term in subscripts.split("->")[0].split(",")])
        assert found.dtype == np.int32
        assert count == 3 or np.array_equal(found, np.einsum(subscripts, *[a.astype("int32") if term != "k" else a[0].astype("int32") for term in subscripts.split("->")[0].split(",")]))


def test_a_semiring_of_ones_own():
    a, b = elements((3, 4), "float64", 0), elements((4, 5), "float64", 1)
    own = tilewright.Semiring(add="max(x,y)", mul="min(x,y)", zero="-inf", one="inf")
    for subscripts in ["ij,jk->ik", "ij,jk->i", "ij,jk->ijk"]:
        np.testing.assert_array_equal(einsum(subscripts, a, b, semiring=own), einsum(subscripts, a, b, semiring="max-min"))
    functions = tilewright.Semiring(add=np.maximum, mul=np.minimum, zero=-np.inf)
    np.testing.assert_array_equal(einsum("ij,jk->ik", a, b, semiring=functions), einsum("ij,jk->ik", a, b, semiring="max-min"))
    with pytest.raises(tilewright.UnsupportedError, match="one"):
        einsum("ij->i", a, semiring=functions)


def test_greedy_joins_what_is_small():
    from tilewright._path import greedy

    sizes = dict(a=2, b=1000, c=1000, d=2, e=5)
    path = greedy([frozenset("ab"), frozenset("bc"), frozenset("cd")], frozenset("ad"), sizes)
    assert path in ([(0, 1), (0, 1)], [(1, 2), (0, 1)])
    # Pieces that share nothing are joined at last.
    assert greedy([frozenset("ab"), frozenset("cd"), frozenset("ab"), frozenset("cd")], frozenset(), sizes) in ([(0, 2), (0, 1), (0, 1)], [(1, 3), (0, 1), (0, 1)])
    assert greedy([frozenset("a")], frozenset(), sizes) == []


def test_a_long_chain():
    """Two hundred operands, whose terms nobody could count."""
    n, x = 200, elements((200, 3, 3), "float64", 0)
    labels = [chr(0x4E00 + i) for i in range(n + 1)]
    subscripts = ",".join(labels[i] + labels[i + 1] for i in range(n)) + "->" + labels[0] + labels[n]
    expected = x[0]
    for matrix in x[1:]:
        expected = tilewright.matmul(expected, matrix, semiring="max-plus")
    np.testing.assert_array_equal(einsum(subscripts, *x, semiring="max-plus"), expected)


EXPRESSIONS = ["ij,jk->ik", "ij,jk,kl->il", "bij,bjk->bik", "ij,ij->", "ij,jk,ki->", "ijk,jl,km->ilm", "ab,bc,cd,de,ea->c", "ii->i", "ij->j", "ij->", "ijk->ki", "ij,j->", "ab,c->ac", "ab,ac,ad->bcd", "abc,cd->abd"]


def operands_of(subscripts, seed=0, low=2):
    sizes = {label: low + i % 3 for i, label in enumerate(sorted(set(subscripts) - set(",->")))}
    return [elements([sizes[label] for label in term], "float64", seed + i) for i, term in enumerate(subscripts.split("->")[0].split(","))]


@pytest.mark.parametrize("subscripts", EXPRESSIONS)
def test_opt_einsum(subscripts):
    oe = pytest.importorskip("opt_einsum")
    operands = operands_of(subscripts)
    for semiring in ["max-plus", "min-max"]:
        expected = by_terms(subscripts, *operands, semiring=semiring)
        found = oe.contract(subscripts, *operands, backend="tilewright.opt_einsum." + semiring.replace("-", "_"))
        np.testing.assert_array_equal(found, expected)
        for optimize in ["optimal", "auto", oe.DynamicProgramming(), oe.RandomGreedy(max_repeats=4), oe.contract_path(subscripts, *operands)[0], np.einsum_path(subscripts, *operands)[0]]:
            np.testing.assert_array_equal(einsum(subscripts, *operands, semiring=semiring, optimize=optimize), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("subscripts", EXPRESSIONS)
def test_cotengra(subscripts):
    ctg = pytest.importorskip("cotengra")
    operands = operands_of(subscripts)
    expected = by_terms(subscripts, *operands, semiring="max-plus")
    for optimize in [ctg.GreedyOptimizer(), ctg.einsum_tree(subscripts, *[x.shape for x in operands])]:
        np.testing.assert_array_equal(einsum(subscripts, *operands, semiring="max-plus", optimize=optimize), expected)


def test_tensordot_of_the_backend():
    import importlib

    backend = importlib.import_module("tilewright.opt_einsum.max_plus")
    a, b = elements((2, 3, 4), "float64", 0), elements((4, 3, 5), "float64", 1)
    for axes in [([2, 1], [0, 1]), ([-1], [0]), (2, 0), 1, 0]:
        pairs = axes if not isinstance(axes, int) else (list(range(3 - axes, 3)), list(range(axes)))
        pairs = [[axis] if isinstance(axis, int) else axis for axis in pairs]
        left, right = np.moveaxis(a, pairs[0], range(3 - len(pairs[0]), 3)), np.moveaxis(b, pairs[1], range(len(pairs[1])))
        rest_a, rest_b = left.shape[: 3 - len(pairs[0])], right.shape[len(pairs[1]) :]
        k = math.prod(left.shape[len(rest_a) :])
        terms = left.reshape(-1, k, 1) + right.reshape(k, -1)
        np.testing.assert_array_equal(backend.tensordot(a, b, axes), terms.max(1).reshape(rest_a + rest_b))
    np.testing.assert_array_equal(backend.transpose(a, (2, 0, 1)), a.transpose(2, 0, 1))
    with pytest.raises(tilewright.UnsupportedError, match="out"):
        backend.einsum("ijk->i", a, out=np.zeros(2))


@settings(max_examples=60, deadline=None)
@given(network=networks(), seed=st.integers(0, 1000), semiring=st.sampled_from(["min-plus", "max-plus", "max-times", "max-min", "min-max"]))
def test_winning_indices(network, seed, semiring):
    terms, output, sizes = network
    operands = [elements([sizes[label] for label in term], "float64", seed + i) for i, term in enumerate(terms)]
    c, winners = einsum(f"{','.join(terms)}->{output}", *operands, semiring=semiring, arg=True)
    summed = [label for label in dict.fromkeys("".join(terms)) if label not in output]

    def term(at):
        product = None
        for letters, x in zip(terms, operands):
            element = x[tuple(at[label] for label in letters)]
            product = element if product is None else MULTIPLY[semiring.split("-")[1]](product, element)
        return product

    for place in itertools.product(*(range(sizes[label]) for label in output)):
        at = dict(zip(output, place))
        candidates = [dict(zip(summed, numbers)) for numbers in itertools.product(*(range(sizes[label]) for label in summed))]
        first = next(numbers for numbers in candidates if term({**at, **numbers}) == c[place])
        # Zero of max-times is what it has without terms.
        if semiring == "max-times" and c[place] == 0 and summed:
            first = {label: -1 for label in summed}
        assert winners[place] == first, place


def test_winners_are_asked_for_as_elements_are():
    a = np.array([[0.0, 7.0], [2.0, -np.inf]])
    _, winners = einsum("ij,jk->ik", a, a, semiring="max-plus", arg=True)
    assert winners[0, 0] == winners[-2, 0] == {"j": 1} and winners[1, 1] == {"j": 0}
    _, vector = einsum("ij->j", a[:, 1:], semiring="max-plus", arg=True)
    assert vector[0] == {"i": 0}
    _, nothing = einsum("ij->j", a[1:, 1:], semiring="max-plus", arg=True)
    assert nothing[0] == {"i": -1}
    for wrong in [(0,), (0, 0, 0), (2, 0)]:
        with pytest.raises(tilewright.ShapeError):
            winners[wrong]
    for wrong in [(0, slice(None)), ("a", 0), (0, 1.0), (0, True), (None, 0)]:
        with pytest.raises(tilewright.ElementTypeError, match="an index of"):
            winners[wrong]
    for semiring in ["plus-times", "log-plus", "add=max(x,y); mul=min(x,y); zero=-inf"]:
        with pytest.raises(tilewright.UnsupportedError, match="winning"):
            einsum("ij->j", abs(a), semiring=semiring, arg=True)


def test_refusals_name_what_is_wrong():
    a = np.ones((3, 4))

    def error(kind, code, *arguments, **options):
        with pytest.raises(kind) as caught:
            einsum(*arguments, **options)
        assert isinstance(caught.value, tilewright.Error) and caught.value.code == code and caught.value.hint
        return str(caught.value)

    assert "'j' has 4 elements in operand 0, but 3 in operand 1" in error(ValueError, "inner-mismatch", "ij,jk->ik", a, a)
    assert "'i' has 3 and 4 elements in operand 0" in error(ValueError, "inner-mismatch", "ii->i", a)
    error(ValueError, "inner-mismatch", "...,...->...", a, a.T)
    assert "operand 1 has 2 dimensions, but 'j'" in error(ValueError, "dimensions", "ij,j->i", a, a)
    error(ValueError, "dimensions", "ijk...->i", a)
    for wrong in ["ij,jk->ik", "i1->i", "ij->k", "ij->ii", "...->", "ij.->i", "i->j->i", "......->i", ""]:
        error(ValueError, "dimensions" if wrong == "" else "unsupported", wrong, a)
    error(TypeError, "not-an-array", a, "ij->i")
    error(TypeError, "not-an-array", "ij->i", a.tolist())
    error(TypeError, "not-an-array", "ij,ij->ij", np.ma.masked_array(a), a)
    error(TypeError, "dtype-mismatch", "ij,ij->i", a, a.astype("float32"))
    assert "operand 0 has elements of type complex128" in error(TypeError, "dtype-mismatch", "ij,jk->i", a + 0j, a.T + 0j)
    assert "operand 0 has elements of type complex128" in error(TypeError, "dtype-mismatch", "ij->ji", a + 0j)
    # Products of elements take the types that sums of them do.
    for semiring, dtype in [("or-and", "int64"), ("plus-times", "bool"), ("max-min", "bool"), ("max-times", "int32"), ("log-plus", "float16")]:
        for subscripts in ("ij,kj->ik", "ij,ij->ij", "ij,k->ijk"):
            assert semiring in error(ValueError, "unsupported", subscripts, a.astype(dtype), a.astype(dtype) if subscripts != "ij,k->ijk" else a[0].astype(dtype), semiring=semiring)
    for dtype in ["complex128", "uint16", "<U1", "datetime64[s]", ">f8"]:
        error(TypeError, "dtype-mismatch", "ij,ij->ij", a.astype("int64").astype(dtype), a.astype("int64").astype(dtype))
    error(ValueError, "unsupported", "ij->i", a, semiring="plus-plus")
    error(TypeError, "not-an-array", "ij->i", a, semiring=3)
    for path in [[(0, 2)], [(0, 0)], [(0, 1), (0, 1)], [()], [(0.0, 1.0)], [0, 1], True, None, 3]:
        error(ValueError, "unsupported", "ij,jk->ik", a, a.T, optimize=path)
    if "opt_einsum" in sys.modules:
        error(ValueError, "unsupported", "ij,jk->ik", a, a.T, optimize="fastest")


def test_errors_number_the_operand():
    """Of three, whose pairs have other names where they are multiplied."""
    a, b, c = np.ones((3, 4)), np.ones((4, 5)), np.ones((5, 2))
    odd = np.frombuffer(bytes(8 * 10 + 1), np.uint8)[1:].view(float).reshape(5, 2)
    for wrong, semiring, message in [
        (np.ones((6, 2)), "plus-times", "'k' has 5 elements in operand 1, but 6 in operand 2"),
        (c.astype("float32"), "plus-times", "operand 2 has float32"),
        (c.astype(">f8"), "plus-times", "operand 2 has >f8"),
        (c.tolist(), "plus-times", "operand 2 is a list"),
        (np.ma.array(c), "plus-times", "operand 2 is a MaskedArray"),
        (odd, "plus-times", "operand 2 has elements at addresses"),
        (np.where(np.arange(10).reshape(5, 2) == 7, -2.5, c), "max-times", "operand 2 has a negative element, -2.5 at [3, 1]"),
        (-c, "min-times", "operand 2 has a negative element, -1.0 at [0, 0]"),
    ]:
        with pytest.raises(tilewright.Error) as caught:
            einsum("ij,jk,kl->il", a, b, wrong, semiring=semiring)
        assert message in str(caught.value) and caught.value.hint
    with pytest.raises(tilewright.ElementTypeError, match="operand 0 has elements of the other byte order"):
        einsum("ij,jk,kl->il", *(x.astype(">f8") for x in (a, b, c)))
    with pytest.raises(tilewright.ShapeError, match=r"'\.\.\.' has 2 elements in operand 0, but 3 in operand 1"):
        einsum("...i,...i->...", np.ones((2, 4)), np.ones((3, 4)))


def test_another_librarys_optimiser_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "opt_einsum", None)
    monkeypatch.setitem(sys.modules, "opt_einsum.paths", None)
    with pytest.raises(tilewright.UnavailableError, match="pip install opt_einsum"):
        einsum("i,i->", np.ones(3), np.ones(3), optimize="optimal")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is asked of Linux")
@pytest.mark.parametrize("subscripts", ["ab,bc,cd->ad", "abi,bcj,cak->ijk", "ab,ac,ad->bcd", "abcd->bd"])
def test_peak_memory(subscripts):
    """Beyond the operands, the two largest results of pairs are in memory, and what the engine packs."""
    program = f"""
import numpy, tilewright
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
subscripts = {subscripts!r}
def run(sizes):
    terms = subscripts.split("->")[0].split(",")
    operands = [numpy.ones([sizes[label] for label in term], "float32") for term in terms]
    before = peak()
    tilewright.einsum(subscripts, *operands, semiring="max-plus")
    return peak() - before
small, large = ({{label: extents.get(label, extents[""]) for label in "abcdijk"}} for extents in {({"": 4}, {"ab,bc,cd->ad": {"": 1024}, "abi,bcj,cak->ijk": {"": 64, "a": 8, "b": 8, "c": 8}, "ab,ac,ad->bcd": {"": 128, "a": 32}, "abcd->bd": {"": 48}}[subscripts])})
run(small)
print(run(large))
"""
    grown = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    # The largest results, in KiB.
    largest = {"ab,bc,cd->ad": 2 * 4096, "abi,bcj,cak->ijk": 2 * 1024, "ab,ac,ad->bcd": 2 * 8192, "abcd->bd": 0}[subscripts]
    assert grown < largest + 10_000, f"{grown} KiB"


def test_tensors_and_their_gradients():
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    for semiring in tilewright.Semiring.NAMES:
        if semiring == "or-and":
            continue
        for subscripts in EXPRESSIONS:
            operands = [torch.rand(x.shape, dtype=torch.float64, generator=generator).add(0.5).requires_grad_() for x in operands_of(subscripts)]
            c = einsum(subscripts, *operands, semiring=semiring)
            assert isinstance(c, torch.Tensor)
            np.testing.assert_allclose(c.detach(), by_terms(subscripts, *[x.detach().numpy() for x in operands], semiring=semiring), rtol=1e-12)
            assert torch.autograd.gradcheck(lambda *operands: einsum(subscripts, *operands, semiring=semiring), operands), (semiring, subscripts)  # noqa: B023
    _, winners = einsum("ij->j", operands[0][0], semiring="max-plus", arg=True)
    assert winners[0] == {"i": int(operands[0][0][:, 0].argmax())}
    with pytest.raises(tilewright.ElementTypeError, match="one library"):
        einsum("i,i->", torch.ones(3), np.ones(3))


def test_cupy_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as missing:
        pytest.skip(str(missing))
    for subscripts in EXPRESSIONS:
        operands = operands_of(subscripts)
        found = einsum(subscripts, *map(cupy.asarray, operands), semiring="max-plus")
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_array_equal(found.get(), by_terms(subscripts, *operands, semiring="max-plus"))
