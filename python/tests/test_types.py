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
    missing = [f"tilewright.{name}" for name in ("dask", "torch") if importlib.util.find_spec(name) is None]
    if "tilewright.torch" not in missing:
        # The class of their class is torch's, whose types are skipped.
        missing.append(r"tilewright\.torch\._[A-Z]\w+")
    (tmp_path / "missing").write_text("\n".join(missing))
    allowed = [argument for file in (HERE / "stubtest_allowlist.txt", tmp_path / "missing") for argument in ("--allowlist", str(file))]
    run("mypy.stubtest", "tilewright", "--mypy-config-file", str(HERE.parent / "pyproject.toml"), *allowed)


def test_the_package_is_typed():
    run("mypy", "--strict", "--config-file", str(HERE.parent / "pyproject.toml"), "-p", "tilewright")
