"""Arrays of other libraries: the buffer protocol, DLPack, bfloat16, torch."""

import array
import ctypes
import itertools
import multiprocessing
import subprocess
import sys

import exporters
import numpy as np
import pytest
import reference
import tilewright
from tilewright import matmul


def test_anything_with_a_buffer_gives_a_memoryview():
    a = memoryview(array.array("d", [1, 2, 3, 4, 5, 6])).cast("B").cast("d", (2, 3))
    c = matmul(a, array.array("d", [1, 1, 1]))
    assert isinstance(c, memoryview) and c.format == "d" and c.tolist() == [6, 15]
    vector = array.array("i", [1, 2, 3])
    assert matmul(vector, vector, semiring="max-plus")[()] == 6
    out = array.array("i", [0])
    matmul(memoryview(vector).cast("B").cast("i", (1, 3)), vector, out=out)
    assert out.tolist() == [14]
    with pytest.raises(tilewright.ShapeError, match="read-only"):
        matmul(vector, vector, out=memoryview(bytes(4)).cast("i", ()))
    with pytest.raises(tilewright.ElementTypeError, match=r"format 'c'(.|\n)*cast\('d'\)"):
        matmul(memoryview(b"abc").cast("c"), b"abc")
    assert matmul(b"\xff\x02", bytearray(b"\xff\x03"))[()] == 255 * 255 + 6
    place = array.array("i", [1, 2])
    matmul(memoryview(array.array("i", [0, 1, 1, 0])).cast("B").cast("i", (2, 2)), place, out=place)
    assert place.tolist() == [2, 1]


SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((1, 1), (1, 1)), ((2, 2, 3), (3, 4)), ((2, 3), (5, 3, 2)), ((0, 3), (3, 2))]


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_every_exporter_is_read_as_numpy_reads_it(dtype):
    for left, right in SHAPES:
        a, b = numbers(left, dtype, 1), numbers(right, dtype, 2)
        expected = reference.matmul(a, b, "max-plus")
        for kind, make in exporters.exporters(a).items():
            np.testing.assert_array_equal(np.asarray(matmul(make(), b, semiring="max-plus")), expected, err_msg=f"{kind} {left} @ {right}")
        for kind, make in exporters.exporters(b).items():
            np.testing.assert_array_equal(np.asarray(matmul(a, make(), semiring="max-plus")), expected, err_msg=f"{left} @ {kind} {right}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_every_exporter_is_written_or_refused_as_out(dtype):
    for left, right in SHAPES:
        a, b = numbers(left, dtype, 1), numbers(right, dtype, 2)
        expected = np.asarray(reference.matmul(a, b, "max-plus"))
        for kind, make in exporters.exporters(np.zeros_like(expected)).items():
            out = make()
            if kind in exporters.READ_ONLY:
                with pytest.raises(tilewright.ShapeError, match="read-only"):
                    matmul(a, b, semiring="max-plus", out=out)
                assert not exporters.elements(out).any()
                continue
            matmul(a, b, semiring="max-plus", out=out)
            np.testing.assert_array_equal(exporters.elements(out), expected, err_msg=f"{kind} {left} @ {right}")
            matmul(a, b, semiring="max-plus", out=out, accumulate=True)
            np.testing.assert_array_equal(exporters.elements(out), expected)


def test_every_exporter_may_be_the_operand_that_out_lies_on():
    for dtype, shape in itertools.product(["float64", "int32"], [(3,), (3, 3), (2, 3, 3)]):
        values, square = numbers(shape, dtype, 1), numbers((3, 3), dtype, 2)
        expected = values @ square
        for kind, make in exporters.exporters(values).items():
            if kind not in exporters.READ_ONLY:
                place = make()
                matmul(place, square, out=place)
                np.testing.assert_array_equal(exporters.elements(place), expected, err_msg=kind)
    half = memoryview(np.eye(2, dtype="float16") * 2)
    matmul(half, half, out=half)
    assert np.asarray(half).tolist() == [[4, 0], [0, 4]] and np.asarray(matmul(half, half)).tolist() == [[16, 0], [0, 16]]


def test_paths_of_every_exporter():
    w = np.array([[0.0, 1, 9], [9, 0, 1], [1, 9, 0]])
    for kind, make in exporters.exporters(w).items():
        assert np.asarray(tilewright.shortest_paths(make()).distances).tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]], kind


def test_other_elements_of_ctypes_are_refused():
    class Pair(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double)]

    class Packed(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_byte)]

    class Either(ctypes.Union):
        _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_long)]

    a = np.ones(3)
    for kind in [Pair, Packed, Either, ctypes.c_longdouble, ctypes.c_char, ctypes.c_wchar, ctypes.c_uint, ctypes.c_ubyte, ctypes.c_void_p, ctypes.c_double.__ctype_be__, ctypes.c_int.__ctype_be__]:
        for wrong in [(kind * 3)(), (kind * 3 * 3)()]:
            for operands in [(wrong, a), (a, wrong)]:
                with pytest.raises(tilewright.ElementTypeError):
                    matmul(*operands)
    with pytest.raises(tilewright.ShapeError, match="no dimension"):
        matmul(ctypes.c_double(1), a)


@pytest.mark.skipif(not exporters.HAS_BARE, reason="needs the slots of CPython's classes")
def test_wrong_descriptions_of_buffers_are_refused():
    a = np.ones(8)
    good = {"itemsize": 8, "ndim": 1, "format": b"d", "shape": None}
    np.testing.assert_array_equal(matmul(exporters.bare(**good), a), 0)
    for wrong, why in [
        ({"ndim": 2}, "no shape"),
        ({"ndim": 65}, "so many dimensions"),
        ({"ndim": -1}, "so many dimensions"),
        ({"len": 60}, "no shape"),
        ({"itemsize": 0}, "no shape"),
        ({"shape": (9,)}, "number of bytes"),
        ({"shape": (-8,)}, "number of bytes"),
        ({"shape": (-8,), "strides": (8,)}, "negative"),
        ({"ndim": 2, "shape": (2**62, 2**62)}, "number of bytes"),
        ({"suboffsets": (0,), "shape": (8,), "strides": (8,)}, "pointers"),
        ({"buf": None}, "without an address"),
        ({"format": b"b"}, "format"),
        ({"format": b"l", "itemsize": 2}, "format"),
        ({"format": b">d"}, "newbyteorder"),
        ({"format": None}, "format 'B'"),
        ({"strides": (7,), "shape": (8,)}, "multiples"),
    ]:
        with pytest.raises(tilewright.ElementTypeError if why != "multiples" else tilewright.UnsupportedError, match=why):
            matmul(exporters.bare(**good | wrong), a)
        with pytest.raises(tilewright.Error):
            matmul(np.ones((8, 8)), a, out=exporters.bare(**good | wrong))


def test_neither_numpy_nor_anything_else_is_imported():
    program = """
import sys, tilewright, array
assert not {"numpy", "scipy", "torch", "pandas"} & set(sys.modules), sys.modules
x = array.array("f", [1, 2])
assert tilewright.matmul(x, x, semiring="min-plus")[()] == 2
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


class ByDlpack:
    """What a library of arrays offers at least."""

    def __init__(self, held, device=None):
        self.held, self.device = held, device

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.held.__dlpack_device__()


def test_dlpack():
    a = np.arange(12, dtype="float32").reshape(3, 4)
    for view in [a, a[::-1, ::2], a.T]:
        b = np.ones((view.shape[1], 2), "float32")
        np.testing.assert_array_equal(matmul(ByDlpack(view), b), view @ b)
    out = np.zeros((3, 3), "float32")
    matmul(a, a.T, out=ByDlpack(out))
    np.testing.assert_array_equal(out, a @ a.T)
    fixed = out.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(matmul(ByDlpack(fixed), ByDlpack(a)), fixed @ a)
    with pytest.raises(ValueError, match="read-only"):
        matmul(a, a.T, out=ByDlpack(fixed))
    with pytest.raises(TypeError):
        matmul(ByDlpack(a.astype("uint8")), a)
    assert matmul(ByDlpack(a[:0]), a.T).shape == (0, 3)


def test_arrays_on_other_devices():
    """Those that are on a GPU are tested in test_gpu_arrays.py."""
    a = np.ones((2, 2), "float32")
    with pytest.raises(tilewright.UnsupportedError, match=r"kind 10.*\n.*a\.cpu\(\)"):
        matmul(ByDlpack(a, (10, 0)), a)

    class Nowhere:
        __cuda_array_interface__ = {}

    with pytest.raises(tilewright.ElementTypeError, match="wrongly"):
        matmul(Nowhere(), a)
    # Without a driver there is no GPU that it could be on, and with one no such address.
    Nowhere.__cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f4", "data": (4096, False), "version": 3}
    with pytest.raises((tilewright.UnavailableError, tilewright.UnsupportedError)) as caught:
        matmul(Nowhere(), a)
    assert caught.value.hint


def test_hints_for_what_is_no_array():
    scipy = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    a = np.eye(2)
    for other, hint in [(scipy.csr_array(a), "toarray"), (pandas.Index([1.0]), "to_numpy"), ([[1.0]], "asarray"), (multiprocessing.Array("d", 2), "get_obj")]:
        with pytest.raises(tilewright.ElementTypeError, match=hint):
            matmul(other, a)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    generator = np.random.default_rng(3)
    a, b = (generator.integers(-8, 9, shape).astype(dtype) for shape in [(9, 8), (8, 7)])
    exact = a.astype("float32") @ b.astype("float32")
    c = matmul(a, b)
    assert c.dtype == np.float32
    np.testing.assert_array_equal(c, exact)
    for other in [np.float16, ml_dtypes.bfloat16]:
        rounded = matmul(a[::-1], b, dtype=other)
        assert rounded.dtype == other
        np.testing.assert_array_equal(rounded, exact[::-1].astype(other))
    # Every code means what ml_dtypes says.
    codes = np.arange(256, dtype="uint8").view(dtype).reshape(256, 1)
    np.testing.assert_array_equal(matmul(codes, np.ones((1, 1), dtype)), codes.astype("float32"))
    with pytest.raises(tilewright.UnsupportedError):
        matmul(a, b, semiring="min-plus")
    with pytest.raises(tilewright.ElementTypeError):
        matmul(a, b.view("uint8"))
    with pytest.raises(tilewright.ElementTypeError):
        matmul(a, b, out=np.zeros((9, 7), dtype))


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    generator = np.random.default_rng(0)
    a, b = (generator.random(shape).astype(ml_dtypes.bfloat16) for shape in [(9, 8), (8, 7)])
    c = matmul(a[::-1], b)
    assert c.dtype == ml_dtypes.bfloat16
    expected = a[::-1].astype("float32") @ b.astype("float32")
    np.testing.assert_allclose(c.astype("float32"), expected, rtol=2**-8)
    shortest = matmul(a, b, semiring="min-plus")
    np.testing.assert_array_equal(shortest, reference.matmul(a.astype("float32"), b.astype("float32"), "min-plus").astype(ml_dtypes.bfloat16))
    out = np.zeros((9, 7), ml_dtypes.bfloat16)
    assert matmul(a, b, out=out) is out and out.any()
    with pytest.raises(tilewright.ElementTypeError, match="float8"):
        matmul(a.astype(ml_dtypes.float8_e4m3fn), b)


def test_other_byte_orders_are_refused():
    others = [np.dtype(name).newbyteorder() for name in ["float16", "float32", "float64", "int16", "int32", "int64", "complex64", "uint16", "datetime64[s]"]]
    others += [np.dtype([("x", ">f8")]), np.dtype([("x", "<f8"), ("y", ">i2")])]
    try:
        import ml_dtypes
    except ImportError:
        pass
    else:
        others.append(np.dtype(ml_dtypes.bfloat16).newbyteorder())
    for dtype in others:
        a = np.zeros((2, 2), dtype)
        for operands in [(a, a), (a, np.eye(2)), (np.eye(2), a)]:
            with pytest.raises(tilewright.ElementTypeError) as caught:
                matmul(*operands, semiring="min-plus")
            assert "other byte order" not in str(caught.value) or "newbyteorder" in caught.value.hint
        with pytest.raises(tilewright.ElementTypeError):
            matmul(np.eye(2), np.eye(2), out=a)
        with pytest.raises(tilewright.ElementTypeError):
            tilewright.shortest_paths(a)
    named = np.zeros((2, 2), np.dtype("float64").newbyteorder())
    with pytest.raises(tilewright.ElementTypeError, match="float64 of the other byte order"):
        matmul(named, named)


def test_torch():
    torch = pytest.importorskip("torch")
    for dtype in ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"]:
        a, b = torch.arange(12).reshape(3, 4).to(getattr(torch, dtype)), torch.arange(20).reshape(5, 4).to(getattr(torch, dtype)).T
        semiring = "plus-times" if dtype in ("int8", "uint8") else "min-plus"
        c = matmul(a, b, semiring=semiring)
        assert isinstance(c, torch.Tensor) and c.dtype == (torch.int32 if dtype in ("int8", "uint8") else a.dtype)
        terms = a[:, :, None].double() + b[None].double() if semiring == "min-plus" else None
        expected = terms.amin(1) if terms is not None else a.double() @ b.double()
        assert torch.equal(c.double(), expected)
    a = torch.arange(12).reshape(3, 4).to(torch.bfloat16)
    c = matmul(a, a.T, dtype=torch.float32)
    assert c.dtype == torch.float32 and torch.equal(c, a.float() @ a.T.float())
    a = torch.rand(3, 4)
    np.testing.assert_allclose((a @ tilewright.plus_times @ a.T).numpy(), (a @ a.T).numpy(), rtol=1e-6)
    np.testing.assert_allclose(matmul(a.numpy(), a.T), (a @ a.T).numpy(), rtol=1e-6)
    out = torch.zeros(3, 3)
    assert matmul(a, a.T, out=out) is out and out.any()
    place = torch.eye(3) * 2
    matmul(place, place, out=place)
    assert torch.equal(place, torch.eye(3) * 4)
    c, arg = matmul(a, a.T, semiring="max-plus", arg=True)
    assert torch.equal(arg, (a[:, :, None] + a.T[None]).argmax(1).int())
    with pytest.raises(tilewright.UnsupportedError, match="detach"):
        matmul(a.clone().requires_grad_(), a.T)
    with pytest.raises((tilewright.Error, BufferError, ValueError, RuntimeError)):
        matmul(torch.empty(2, 2, device="meta"), a.T)


def test_arrays_are_read_where_they_lie_whatever_their_first_one_was():
    """The first array that a process shows decides how the others are read; each kind of first one leads to the same products."""
    for first in ("a", "a.astype('>f8')", "a[:, ::-1]", "numpy.float64(2)", "a.view(type('ndarray', (numpy.ndarray,), {'__module__': 'numpy'}))", "type('ndarray', (), {'__module__': 'numpy'})()"):
        program = f"""
import numpy, tilewright
a = numpy.arange(6.0).reshape(2, 3)
try:
    tilewright.matmul({first}, a.T)
except tilewright.Error as error:
    print(error.code)
for dtype in ("float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "longlong", "long", "bool"):
    b = a.astype(dtype)
    for left, right in ((b, b.T), (b[:, ::-1], b.T[::-1]), (b[::-1], b.T), (b[0], b.T), (b[:0], b.T)):
        if dtype == "bool":
            numpy.testing.assert_array_equal(tilewright.matmul(left, right, semiring="or-and"), left @ right)
        elif dtype in ("int8", "uint8"):
            numpy.testing.assert_array_equal(tilewright.matmul(left, right), left.astype(int) @ right.astype(int))
        else:
            best = (left[..., :, None] + right).max(axis=-2)
            numpy.testing.assert_array_equal(tilewright.matmul(left, right, semiring="max-plus"), best)
b = a.copy()
b.flags.writeable = False
try:
    tilewright.matmul(a[:, :2], a[:, :2], out=b[:, :2])
    raise SystemExit("written")
except tilewright.ShapeError:
    pass
swapped = a.astype(">f8")
try:
    tilewright.matmul(swapped, a.T)
    raise SystemExit("read")
except tilewright.ElementTypeError:
    pass
"""
        subprocess.run([sys.executable, "-c", program], check=True)
