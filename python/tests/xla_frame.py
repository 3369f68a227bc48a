"""Calls of the functions for XLA as XLA makes them, by structs of its header: without JAX, so also where arrays are on a GPU."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p, cast

import numpy as np
from tilewright import _native

# XLA's numbers of element types.
TYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "float16": 10, "float32": 11, "float64": 12}
METADATA, STRING, BUFFER = 1, 4, 1

ctypes.pythonapi.PyCapsule_GetPointer.restype = c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]


def structure(name, **fields):
    head = {"size": c_size_t, "extension": c_void_p}
    return type(name, (Structure,), {"_fields_": list({**head, **fields}.items())})


Version = structure("Version", major=c_int, minor=c_int)
Buffer = structure("Buffer", dtype=c_int, data=c_void_p, rank=c_int64, dims=POINTER(c_int64))
Buffers = structure("Buffers", count=c_int64, kinds=c_void_p, buffers=c_void_p)
Attributes = structure("Attributes", count=c_int64, kinds=c_void_p, names=c_void_p, values=c_void_p)
NewError = structure("NewError", message=c_char_p, code=c_int)
OldError = structure("OldError", error=c_void_p)
ErrorMessage = structure("ErrorMessage", error=c_void_p, message=c_char_p)
StreamOf = structure("StreamOf", context=c_void_p, stream=c_void_p)
NewMemory = structure("NewMemory", context=c_void_p, bytes=c_size_t, alignment=c_size_t, data=c_void_p)
OldMemory = structure("OldMemory", context=c_void_p, bytes=c_size_t, data=c_void_p)


class Metadata(Structure):
    _fields_ = [("size", c_size_t), ("version", Version), ("traits", c_uint32), ("state", c_int64)]


class MetadataExtension(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("next", c_void_p), ("metadata", POINTER(Metadata))]


class Span(Structure):
    _fields_ = [("first", c_char_p), ("length", c_size_t)]


def function(argument, result=c_void_p):
    return ctypes.CFUNCTYPE(result, POINTER(argument))


FUNCTIONS = {
    "error_create": function(NewError),
    "error_message": function(ErrorMessage, None),
    "error_destroy": function(OldError, None),
    "handler_register": c_void_p,
    "stream_get": function(StreamOf),
    "type_register": c_void_p,
    "context_get": c_void_p,
    "state_set": c_void_p,
    "state_get": c_void_p,
    "memory_allocate": function(NewMemory),
    "memory_free": function(OldMemory),
}
Api = structure("Api", version=Version, internal=c_void_p, **FUNCTIONS)
CallFrame = structure("CallFrame", api=POINTER(Api), context=c_void_p, stage=c_int, operands=Buffers, results=Buffers, attributes=Attributes)


class CallError(Exception):
    """What a function for XLA says went wrong: its text, and XLA's number of the kind."""


def handler(platform):
    capsule = _native.xla_handlers()[platform]
    address = ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"xla._CUSTOM_CALL_TARGET")
    return ctypes.CFUNCTYPE(c_void_p, POINTER(CallFrame))(address)


def metadata(platform):
    """What a function says of itself."""
    said = Metadata(size=ctypes.sizeof(Metadata))
    extension = MetadataExtension(size=ctypes.sizeof(MetadataExtension), kind=METADATA, metadata=ctypes.pointer(said))
    frame = CallFrame(size=ctypes.sizeof(CallFrame), extension=cast(byref(extension), c_void_p))
    assert handler(platform)(byref(frame)) is None
    return said


class Call:
    """One call, and what XLA would lend for it. An array is its address, its shape and its type."""

    def __init__(self, operands, results, stream=0, allocate=None, free=None, **attributes):
        self.kept, self.errors = [], []

        def lend(new):
            # As XLA does.
            if new[0].alignment > 16:
                return self.fail("Unsupported alignment")
            new[0].data = allocate(new[0].bytes)
            return None

        give = {
            "error_create": lambda new: self.fail(new[0].message.decode(), new[0].code),
            "error_message": lambda of: setattr(of[0], "message", self.errors[-1][0].encode()),
            "error_destroy": lambda old: None,
            "stream_get": lambda of: setattr(of[0], "stream", stream),
            "memory_allocate": lend,
            "memory_free": lambda old: free(old[0].data),
        }
        functions = {name: FUNCTIONS[name](does) for name, does in give.items()}
        api = Api(size=ctypes.sizeof(Api), **functions)
        self.frame = CallFrame(size=ctypes.sizeof(CallFrame), api=ctypes.pointer(api), stage=3, operands=self.buffers(operands), results=self.buffers(results), attributes=self.attributes(attributes))
        self.kept += [functions, api]

    def fail(self, text, kind=13):
        self.errors.append((text, kind))
        return len(self.errors)

    def __call__(self, platform):
        if handler(platform)(byref(self.frame)) is not None:
            raise CallError(*self.errors[-1])

    def table(self, kind, entries):
        made = (kind * max(1, len(entries)))(*entries)
        self.kept.append((made, entries))
        return cast(made, c_void_p)

    def buffers(self, arrays):
        structs = []
        for address, shape, dtype in arrays:
            dims = (c_int64 * max(1, len(shape)))(*shape)
            structs.append(Buffer(size=ctypes.sizeof(Buffer), dtype=TYPES.get(dtype, 15), data=address, rank=len(shape), dims=dims))
        self.kept.append(structs)
        pointers = [ctypes.addressof(struct) for struct in structs]
        return Buffers(size=ctypes.sizeof(Buffers), count=len(structs), kinds=self.table(c_int, [BUFFER] * len(structs)), buffers=self.table(c_void_p, pointers))

    def attributes(self, given):
        spans = [[Span(text.encode(), len(text)) for text in texts] for texts in (given, given.values())]
        self.kept.append(spans)
        names, values = ([ctypes.addressof(span) for span in of] for of in spans)
        return Attributes(size=ctypes.sizeof(Attributes), count=len(given), kinds=self.table(c_int, [STRING] * len(given)), names=self.table(c_void_p, names), values=self.table(c_void_p, values))


def of_numpy(array):
    """An array of NumPy as such a call has it."""
    assert array.flags.c_contiguous
    return array.ctypes.data, array.shape, array.dtype.name


def empty(shape, dtype):
    """Memory that no result has been written to."""
    return np.full(shape, 77, dtype)
