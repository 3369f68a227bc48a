"""The stubs say what is there, and the package passes mypy."""

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


def test_stubs_agree_with_the_module():
    run("mypy.stubtest", "tilewright", "--mypy-config-file", str(HERE.parent / "pyproject.toml"), "--allowlist", str(HERE / "stubtest_allowlist.txt"))


def test_the_package_is_typed():
    run("mypy", "--strict", "--config-file", str(HERE.parent / "pyproject.toml"), "-p", "tilewright")
