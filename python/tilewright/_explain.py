"""What a kernel does on an emulated GPU: `explain`, and the report that it gives."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _native
from ._errors import ElementTypeError, UnsupportedError

__all__ = ["Explanation", "explain"]


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation:
    """What a launch did on the emulator. In a notebook it shows itself as the report.

    Attributes
    ----------
    data : dict
        All numbers, with the keys of ``tilewright explain --format json``.
    arrays : dict of array
        The arrays in device memory after the launch, by the name of their parameter. Where NumPy is missing, objects that have its `__array_interface__`.
    page : str
        The report as one page of HTML that needs nothing else.
    text : str
        The report as text.

    Examples
    --------
    >>> import tilewright
    >>> explanation = tilewright.explain("naive")
    >>> explanation.findings[0]["kind"], explanation.counters["line"][0]
    ('uncoalesced', 8)
    """

    data: dict[str, Any]
    arrays: dict[str, Any]
    page: str
    text: str

    @property
    def counters(self) -> dict[str, list[Any]]:
        """The counters of each line of source as columns: ``pandas.DataFrame(explanation.counters)`` is a table of them."""
        rows = [_flat(line) for line in self.data.get("lines") or []]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong or slow, the worst first."""
        found: list[dict[str, Any]] = self.data.get("findings") or []
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file.

        Parameters
        ----------
        path : str or path
            Where; a file that is there is replaced.

        Raises
        ------
        OSError
            Where nothing can be written.
        """
        pathlib.Path(path).write_text(self.page, encoding="utf-8")

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # A frame of its own: neither the notebook's styles nor its policy for scripts reach into it.
        return f'<iframe srcdoc="{html.escape(self.page)}" sandbox="allow-scripts" style="width: 100%; height: 48rem; border: 0" title="report of a kernel"></iframe>'


def _flat(line: Mapping[str, Any]) -> dict[str, Any]:
    """One level: `global_load_sectors` for the sectors of the global loads."""
    flat: dict[str, Any] = {}
    for name, value in line.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}_{part}": number for part, number in value.items() if not isinstance(number, (list, dict))})
        elif not isinstance(value, list):
            flat[name] = value
    return flat


def explain(
    kernel: Any,
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    args: Sequence[Any] | Mapping[str, Any] = (),
    *,
    entry: str | None = None,
    cluster: int | Sequence[int] | None = None,
    dynamic_shared_memory: int | None = None,
    gpu: str | None = None,
    max_seconds: float | None = None,
) -> Explanation:
    """Runs a kernel on an emulated GPU with all checks, and tells what it did.

    Parameters
    ----------
    kernel : str, path, or kernel of CuPy or Numba
        CUDA C++ or PTX, as text or in a file ``.cu`` or ``.ptx``; the name of a kernel of Tilewright; a `cupy.RawKernel`; or a kernel of
        `numba.cuda` that has been compiled. CUDA C++ needs NVRTC: ``pip install nvidia-cuda-nvrtc``.
    grid, block : int or up to three of them
        Blocks, and threads of a block. Not for kernels of Tilewright, which know their own.
    args : sequence or mapping
        What the kernel takes, in order or by name: numbers, arrays, or texts such as ``'f32[256,256]:random'``. Arrays are copied to the emulated device;
        what becomes of them is in the result's `arrays`.
    entry : str, optional
        The kernel's name, where there are several.
    cluster : int or up to three of them, optional
        Blocks of a cluster, which reach each other's shared memory; what the kernel was compiled for unless given.
    dynamic_shared_memory : int, optional
        Bytes for each block.
    gpu : str, default 'h200'
        A name, as in `gpus`, or a compute capability such as '8.6'.
    max_seconds : float, optional
        Seconds that the launch may take.

    Returns
    -------
    Explanation

    Raises
    ------
    CompilationError, UnavailableError, FileError, UnsupportedError, ElementTypeError
        Of a kernel that does not compile, of a compiler that is not here, of a file, and of what cannot be launched so. What a kernel does wrong is no error
        but in the result's `findings`.

    Examples
    --------
    >>> import numpy, tilewright
    >>> double = '''
    ... .version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry twice(.param .u64 x) {
    ...     .reg .b64 %a<4>; .reg .b32 %i; .reg .f32 %f;
    ...     ld.param.u64 %a1, [x];
    ...     mov.u32 %i, %tid.x;
    ...     mul.wide.u32 %a2, %i, 4;
    ...     add.s64 %a3, %a1, %a2;
    ...     ld.global.f32 %f, [%a3];
    ...     add.f32 %f, %f, %f;
    ...     st.global.f32 [%a3], %f;
    ...     ret;
    ... }'''
    >>> explanation = tilewright.explain(double, grid=1, block=4, args=[numpy.arange(4, dtype="float32")])
    >>> explanation.arrays["x"]
    array([[0., 2., 4., 6.]], dtype=float32)
    """
    names: list[tuple[str, str]] = []
    arrays: dict[str, Any] = {}
    for name, value in args.items() if isinstance(args, Mapping) else ((str(index), value) for index, value in enumerate(args)):
        if isinstance(value, str):
            names.append((name, value))
        elif _is_array(value):
            arrays[f"array {name}"] = value
            names.append((name, f"array {name}"))
        else:
            names.append((name, _number(value)))
    launch = {
        "entry": entry,
        "grid": _extents(grid),
        "block": _extents(block),
        "cluster": _extents(cluster),
        "dynamic_shared_memory": dynamic_shared_memory,
        "arguments": names,
        "arrays": arrays,
        "gpu": gpu,
        "max_seconds": max_seconds,
    }
    source, suffix, launch["entry"] = _source(kernel, entry)
    if suffix is None:
        told = _native.explain_kernel(source, launch)
    else:
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            path = pathlib.Path(folder, f"kernel{suffix}")
            path.write_text(source, encoding="utf-8")
            told = _native.explain_kernel(str(path), launch)
    page, text, document, after = told
    return Explanation(json.loads(document), {name: _as_array(array) for name, array in after}, page, text)


def _as_array(array: _native.Owned) -> Any:
    """An array of NumPy where that is here: the report needs none."""
    try:
        import numpy
    except ImportError:
        return array
    return numpy.asarray(array)


def _extents(extent: int | Sequence[int] | None) -> list[int] | None:
    """Three of them, which the engine looks at."""
    if extent is None:
        return None
    extents = list(extent) if isinstance(extent, Iterable) and not isinstance(extent, str) else [extent]
    return (extents + [1, 1])[: max(3, len(extents))]


def _is_array(value: Any) -> bool:
    """Whether it has dimensions, by itself or by the buffer protocol."""
    if getattr(value, "shape", None):
        return True
    try:
        return memoryview(value).ndim > 0
    except (TypeError, ValueError, BufferError):
        return False


def _number(value: Any) -> str:
    """A number as the command line would have it."""
    if isinstance(value, bool):
        return str(int(value))
    item = value.item() if hasattr(value, "item") else value
    return repr(item)


def _source(kernel: Any, entry: str | None) -> tuple[str, str | None, str | None]:
    """What to run: text with the suffix of its language, or a file or name without."""
    if isinstance(kernel, os.PathLike):
        return os.fspath(kernel), None, entry
    if isinstance(kernel, str):
        if "\n" not in kernel and "{" not in kernel:
            return kernel, None, entry
        return kernel, ".ptx" if ".address_size" in kernel or ".entry" in kernel else ".cu", entry
    # cupy.RawKernel: its source, and the name of its function.
    code = getattr(kernel, "code", None)
    if isinstance(code, str):
        return code, ".cu", entry or getattr(kernel, "name", None)
    # A kernel of numba.cuda: PTX for each of the signatures that it was compiled for.
    inspect = getattr(kernel, "inspect_asm", None)
    if callable(inspect):
        compiled = inspect()
        if isinstance(compiled, Mapping) and len(compiled) == 1:
            compiled = next(iter(compiled.values()))
        if isinstance(compiled, str):
            return compiled, ".ptx", entry
        raise UnsupportedError(f"a kernel of Numba that was compiled for {len(compiled)} signatures", "unsupported", "give kernel.inspect_asm(signature)")
    raise ElementTypeError(f"{type(kernel).__name__} is no kernel", "not-an-array", "give CUDA C++, PTX, a file, or a kernel of CuPy or Numba")
