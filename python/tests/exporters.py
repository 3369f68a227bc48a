"""The same numbers in the memory of other libraries: everything that offers its memory to Python, and can be had."""

import array
import ctypes
import mmap
import multiprocessing
import sys
import sysconfig

import numpy as np

FORMATS = {"float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q", "bool": "?"}
_OF_C = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "bool": ctypes.c_bool}
# Those that only lend their elements.
READ_ONLY = {"bytes", "a read-only memoryview", "arrow", "arrow tensor", "pil", "bare read-only"}
# Whether `bare` can be had.
HAS_BARE = sys.implementation.name == "cpython" and sys.maxsize > 2**32 and not sysconfig.get_config_var("Py_GIL_DISABLED")


def c_array(values):
    """An array of ctypes. It has no strides, and as many dimensions as it is nested."""
    kind = _OF_C[values.dtype.name]
    for extent in reversed(values.shape):
        kind = kind * extent
    return kind.from_buffer_copy(values.tobytes() or bytes(1))


def casted(memory, values):
    return memoryview(memory).cast("B").cast(FORMATS[values.dtype.name], values.shape)


def mapped(values):
    memory = mmap.mmap(-1, max(1, values.nbytes))
    memory.write(values.tobytes())
    return casted(memoryview(memory)[: values.nbytes], values)


def shared(values):
    memory = multiprocessing.RawArray(_OF_C[values.dtype.name], values.size)
    ctypes.memmove(memory, values.tobytes(), values.nbytes)
    return memory


def exporters(values):
    """Names, and functions that copy the elements of an array of NumPy into the memory of each library that takes such an array."""
    name, dimensions = values.dtype.name, values.ndim
    found = {}
    if name in _OF_C and dimensions:
        found["ctypes"] = lambda: c_array(values)
    if name in FORMATS and dimensions and values.size:
        found["bytes"] = lambda: casted(values.tobytes(), values)
        found["bytearray"] = lambda: casted(bytearray(values.tobytes()), values)
        found["a read-only memoryview"] = lambda: casted(bytearray(values.tobytes()), values).toreadonly()
        found["mmap"] = lambda: mapped(values)
        if dimensions == 1:
            found["multiprocessing"] = lambda: shared(values)
            if name != "bool":
                found["array.array"] = lambda: array.array(FORMATS[name], values.tolist())
    if name in FORMATS and HAS_BARE:
        found["bare"] = lambda: bare(values)
        found["bare read-only"] = lambda: bare(values, readonly=True)
    found["a memoryview of NumPy"] = lambda: memoryview(values.copy())
    if dimensions:
        add_libraries(found, values)
    return found


def add_libraries(found, values):
    name, dimensions = values.dtype.name, values.ndim
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        if dimensions == 1 and name != "bool":
            found["arrow"] = lambda: pyarrow.array(values)
        if values.size and name != "bool":
            found["arrow tensor"] = lambda: pyarrow.Tensor.from_numpy(values.copy())
    try:
        from PIL import Image
    except ImportError:
        pass
    else:
        if dimensions == 2 and values.size and name in ("float32", "int32"):
            found["pil"] = lambda: Image.fromarray(np.ascontiguousarray(values))


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


# The slot of a class for the functions of the buffer protocol, of which the first one fills in a buffer.
_SLOT = 160


def bare(values=None, **fields):
    """An object whose buffer has these fields, whatever they are: with none given, no strides, and no shape where one dimension is all.

    No library behaves so badly. It is made by putting a function into the slot of a class; CPython of 64 bits alone has that slot there.
    """
    memory = values.tobytes() if values is not None else bytes(64)
    kept = ctypes.create_string_buffer(memory, max(1, len(memory)))
    numbers = lambda them: None if them is None else (ctypes.c_ssize_t * len(them))(*them)
    described = {"buf": ctypes.addressof(kept), "len": len(memory), "readonly": 0, "suboffsets": None, "strides": None}
    if values is not None:
        shape = values.shape if values.ndim > 1 else None
        described |= {"itemsize": values.itemsize, "ndim": values.ndim, "format": FORMATS[values.dtype.name].encode(), "shape": shape}
    described |= fields
    arrays = {name: numbers(described[name]) for name in ("shape", "strides", "suboffsets")}

    def fill(owner, address, flags):
        view = _Buffer.from_address(address)
        for name, value in described.items():
            if name in arrays:
                array = arrays[name]
                value = ctypes.cast(array, ctypes.POINTER(ctypes.c_ssize_t)) if array is not None else ctypes.POINTER(ctypes.c_ssize_t)()
            setattr(view, name, value)
        view.internal = None
        # A reference that the consumer gives back.
        ctypes.memmove(address + _Buffer.obj.offset, ctypes.byref(ctypes.c_void_p(id(owner))), 8)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
        return 0

    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(fill)
    kind = type("Bare", (), {"kept": (kept, arrays, function)})
    procedures = ctypes.c_void_p.from_address(id(kind) + _SLOT)
    ctypes.c_void_p.from_address(procedures.value).value = ctypes.cast(function, ctypes.c_void_p).value
    made = kind()
    made.elements = lambda: np.frombuffer(kept, values.dtype, values.size).reshape(values.shape)
    return made


def elements(exported):
    """What the memory of an exporter holds, as NumPy has it."""
    if hasattr(exported, "elements"):
        return exported.elements()
    if not hasattr(exported, "shape") and hasattr(exported, "to_numpy"):
        return exported.to_numpy()
    return np.asarray(exported if hasattr(exported, "__array_interface__") else memoryview(exported))
