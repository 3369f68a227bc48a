"""Arrays in the memory of a GPU by nothing but CUDA's driver: what a library offers to others, and no more."""

import ctypes
import math
import os

import numpy as np

_CUDA = ctypes.CDLL(os.environ["TILEWRIGHT_CUDA_PATH"])
_SIZE, _ADDRESS, _POINTER = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p


def call(name, *arguments):
    code = getattr(_CUDA, name)(*arguments)
    assert code == 0, f"{name}: {code}"


def _contexts():
    call("cuInit", 0)
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    contexts = []
    for ordinal in range(count.value):
        device, context = ctypes.c_int(), _POINTER()
        call("cuDeviceGet", ctypes.byref(device), ordinal)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        contexts.append(context)
    return contexts


CONTEXTS = _contexts()


class current:
    """The context of a device, for as long as this."""

    def __init__(self, ordinal):
        self.context = CONTEXTS[ordinal]

    def __enter__(self):
        call("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_):
        call("cuCtxPopCurrent_v2", ctypes.byref(_POINTER()))


def free_memory(ordinal=0):
    free, total = _SIZE(), _SIZE()
    with current(ordinal):
        call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value


def stream(ordinal=0):
    made = _POINTER()
    with current(ordinal):
        call("cuStreamCreate", ctypes.byref(made), 1)
    return made.value


class Allocation:
    def __init__(self, bytes, ordinal):
        self.ordinal, self.address, self.bytes = ordinal, _ADDRESS(), bytes
        with current(ordinal):
            call("cuMemAlloc_v2", ctypes.byref(self.address), _SIZE(max(1, bytes)))

    def __del__(self):
        with current(self.ordinal):
            call("cuMemFree_v2", self.address)


class GpuArray:
    """An array with both protocols. `numpy()` copies it here."""

    def __init__(self, allocation, shape, dtype, strides, offset=0, stream=None, read_only=False):
        self.allocation, self.shape, self.dtype, self.strides = allocation, shape, np.dtype(dtype), strides
        self.offset, self.stream, self.read_only, self.asked_for = offset, stream, read_only, []

    @property
    def device(self):
        return self.allocation.ordinal

    @property
    def address(self):
        return self.allocation.address.value + self.offset

    def numpy(self):
        host = np.empty(self.allocation.bytes, "u1")
        with current(self.device):
            call("cuCtxSynchronize")
            if host.nbytes:
                call("cuMemcpyDtoH_v2", host.ctypes.data_as(_POINTER), self.allocation.address, _SIZE(host.nbytes))
        return np.ndarray(self.shape, self.dtype, host, self.offset, self.strides).copy()

    def view(self, make):
        """What `make` does to an array of NumPy, as a view of the same memory."""
        base = np.ndarray(self.shape, self.dtype, np.empty(self.allocation.bytes, "u1"), self.offset, self.strides)
        view = make(base)
        offset = self.offset + view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return type(self)(self.allocation, view.shape, self.dtype, view.strides, offset, self.stream)


class ByDlpack(GpuArray):
    def __array_namespace__(self):
        return Namespace

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, *, stream=None, **_):
        self.asked_for.append(stream)
        return _capsule(self)


class ByInterface(GpuArray):
    @property
    def __cuda_array_interface__(self):
        strides = None if self.strides == _compact(self.shape, self.dtype.itemsize) else self.strides
        data = (self.address if math.prod(self.shape) else 0, self.read_only)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": strides, "version": 3, "stream": self.stream}


class Namespace:
    """As much of the array API standard as results need."""

    float16, float32, float64, int8, int32, int64, bool = "float16", "float32", "float64", "int8", "int32", "int64", "bool"

    @staticmethod
    def empty(shape, *, dtype, device):
        return on_gpu(np.zeros(shape, dtype), ByDlpack, ordinal=device)

    @staticmethod
    def asarray(array, *, copy):
        assert copy
        return on_gpu(array.numpy(), ByDlpack, ordinal=array.device)


class InStream(ByInterface, ByDlpack):
    """Of a library that says in which stream it works, and makes new arrays there."""

    def __array_namespace__(self):
        return _StreamsNamespace(self.stream)


class _StreamsNamespace(Namespace):
    def __init__(self, stream):
        self.stream = stream

    def empty(self, shape, *, dtype, device):
        return on_gpu(np.zeros(shape, dtype), InStream, ordinal=device, stream=self.stream)


class Frozen(ByDlpack):
    """As arrays of JAX: nobody writes to them, and new ones come by DLPack."""

    __module__ = "jaxlib._jax"

    def __array_namespace__(self):
        return _FrozenNamespace


class _FrozenNamespace:
    @staticmethod
    def from_dlpack(source):
        kind, ordinal = source.__dlpack_device__()
        assert kind == 2
        capsule = source.__dlpack__(stream=stream(ordinal))
        tensor = _taken(capsule)
        shape = tuple(tensor.shape[: tensor.ndim])
        dtype = np.dtype({2: "f", 0: "i", 1: "u", 6: "b"}[tensor.code] + str(tensor.bits // 8))
        strides = tuple(stride * dtype.itemsize for stride in tensor.strides[: tensor.ndim])
        assert strides == _compact(shape, dtype.itemsize)
        return Frozen(_Adopted(tensor, math.prod(shape) * dtype.itemsize), shape, dtype, strides)


def on_gpu(array, kind=ByDlpack, ordinal=0, **options):
    """A copy on a GPU."""
    array = np.ascontiguousarray(array) if array.ndim else array
    allocation = Allocation(array.nbytes, ordinal)
    with current(ordinal):
        call("cuMemcpyHtoD_v2", allocation.address, array.ctypes.data_as(_POINTER), _SIZE(array.nbytes))
    return kind(allocation, array.shape, array.dtype, array.strides, **options)


def _compact(shape, size):
    strides = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)


class _Tensor(ctypes.Structure):
    """`DLManagedTensor`."""

    _fields_ = [
        ("data", _POINTER),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", _POINTER),
        ("deleter", ctypes.CFUNCTYPE(None, _POINTER)),
    ]


_USED = b"used_dltensor"


def _taken(capsule):
    """The tensor in a capsule, which is whose it is that asked."""
    get, rename = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_SetName
    get.restype, get.argtypes = _POINTER, (ctypes.py_object, ctypes.c_char_p)
    rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(get(capsule, b"dltensor"))
    rename(capsule, _USED)
    return tensor


class _Adopted:
    """Memory that another library has lent."""

    def __init__(self, tensor, bytes):
        self.tensor, self.ordinal, self.bytes = tensor, tensor.device_id, bytes
        self.address = _ADDRESS(tensor.data or 0)

    def __del__(self):
        self.tensor.deleter(ctypes.addressof(self.tensor))


# What tensors need until their consumer lets go of them, by their address.
LENT = {}


@ctypes.CFUNCTYPE(None, _POINTER)
def _deleter(address):
    del LENT[address]


def _capsule(array):
    numbers = ctypes.c_int64 * len(array.shape)
    shape, strides = numbers(*array.shape), numbers(*(stride // array.dtype.itemsize for stride in array.strides))
    code = {"f": 2, "i": 0, "u": 1, "b": 6}[array.dtype.kind]
    tensor = _Tensor(array.address, 2, array.device, len(array.shape), code, 8 * array.dtype.itemsize, 1, shape, strides, 0, None, _deleter)
    address = ctypes.addressof(tensor)
    LENT[address] = (tensor, shape, strides, array.allocation)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (_POINTER, ctypes.c_char_p, _POINTER)
    return make(address, b"dltensor", None)
