"""Installs a wheel into a Python that has nothing else, and computes with it: `python scripts/try_wheel.py [--size-only] FOLDER`, a folder with one wheel.

A wheel is at most 12 MB. It needs no other package, and serves Python 3.10 and all later versions.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import venv

MOST_BYTES = 12_000_000

# Without NumPy: what has only a buffer is enough.
PROGRAM = """
import array, importlib.metadata, tilewright

assert importlib.metadata.version("tilewright") == tilewright.__version__
assert importlib.metadata.requires("tilewright") is None or all("extra ==" in line for line in importlib.metadata.requires("tilewright"))
a = memoryview(array.array("d", [1, 2, 3, 4])).cast("B").cast("d", (2, 2))
assert tilewright.matmul(a, a).tolist() == [[7, 10], [15, 22]]
assert (a @ tilewright.min_plus @ a).tolist() == [[2, 3], [4, 5]]
try:
    tilewright.matmul(a, a, threads=-1)
except tilewright.UnsupportedError as error:
    assert "threads is -1" in str(error)
else:
    raise AssertionError("a wrong option was taken")
assert tilewright.occupancy("h200", threads=256, registers=64).occupancy == 0.5
double = '''
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x) {
    .reg .b64 %a<4>; .reg .b32 %i; .reg .f32 %f;
    ld.param.u64 %a1, [x];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %a2, %i, 4;
    add.s64 %a3, %a1, %a2;
    ld.global.f32 %f, [%a3];
    add.f32 %f, %f, %f;
    st.global.f32 [%a3], %f;
    ret;
}'''
explanation = tilewright.explain(double, grid=1, block=4, args=["f32[4]:ones"])
assert "twice" in explanation.text
print("tilewright", tilewright.__version__, "computes")
"""


def check(folder: pathlib.Path) -> pathlib.Path:
    """The wheel, if it is one for all versions of Python and small enough."""
    (wheel,) = folder.glob("*.whl")
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    if "-cp310-abi3-" not in wheel.name:
        raise SystemExit("it is not for all versions of Python from 3.10 on")
    if size > MOST_BYTES:
        raise SystemExit(f"it is larger than {MOST_BYTES / 1e6:.0f} MB")
    return wheel


def compute(wheel: pathlib.Path, folder: pathlib.Path) -> None:
    """What a user does, away from the source."""
    venv.create(folder / "python", with_pip=True)
    python = folder / "python" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel.resolve()], check=True)
    subprocess.run([python, "-I", "-c", PROGRAM], cwd=folder, check=True)


def main(arguments: list[str]) -> None:
    wheel = check(pathlib.Path(arguments[-1]))
    if "--size-only" not in arguments:
        with tempfile.TemporaryDirectory() as folder:
            compute(wheel, pathlib.Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
