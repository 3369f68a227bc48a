"""The stubs say what is there, and the package passes mypy."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
import tilewright

HERE = pathlib.Path(__file__).parent
pytest.importorskip("mypy")


def run(*arguments):
    package = pathlib.Path(tilewright.__file__).parent
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=package.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_agree_with_the_module(tmp_path):
    # What needs a library that is not here cannot be looked at.
    is_here = {name: importlib.util.find_spec(name) is not None for name in ("dask", "jax", "torch")}
    allowed = [rf"tilewright\.{name}" for name in ("dask", "jax") if not is_here[name]]
    # The class of their class is torch's, whose types are skipped.
    allowed += [r"tilewright\.torch\._[A-Z]\w+"] if is_here["torch"] else [r"tilewright\.torch", r"tilewright\._torch_operators"]
    (tmp_path / "allowed").write_text("\n".join(allowed))
    allowed = [argument for file in (HERE / "stubtest_allowlist.txt", tmp_path / "allowed") for argument in ("--allowlist", str(file))]
    run("mypy.stubtest", "tilewright", "--mypy-config-file", str(HERE.parent / "pyproject.toml"), *allowed)


def test_the_package_is_typed():
    run("mypy", "--strict", "--config-file", str(HERE.parent / "pyproject.toml"), "-p", "tilewright")
