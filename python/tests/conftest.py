"""What several modules of tests ask for."""

import os
import pathlib
import sys

import pytest
import tilewright

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture
def installed(tmp_path):
    """The environment of a process in which NetworkX finds this package among those that are installed."""
    tomllib = pytest.importorskip("tomllib")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    folder = tmp_path / "tilewright-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tilewright\nVersion: 0\n")
    lines = [line for group, points in groups.items() for line in (f"[{group}]", *(f"{name} = {place}" for name, place in points.items()))]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    package = pathlib.Path(tilewright.__file__).parents[1]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(tmp_path)])}


@pytest.fixture
def mpiexec():
    """The launcher beside this Python: that of a wheel."""
    path = pathlib.Path(sys.executable).with_name("mpiexec")
    if not path.exists():
        if os.environ.get("TILEWRIGHT_REQUIRE_MPI") == "1":
            pytest.fail(f"there is no {path}")
        pytest.skip(f"there is no {path}")
    return [str(path), "-n", "4"]
