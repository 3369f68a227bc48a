"""The notebooks of docs/notebooks run, and hold no outputs."""

import os
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytestmark = [pytest.mark.parallel_threads(1), pytest.mark.filterwarnings("ignore")]
FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    done = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    last = done.cells[-1].outputs[-1]
    assert last.output_type != "error"
    # A notebook that says so draws, in each cell that has a figure.
    drawn = sum("image/png" in output.get("data", {}) for cell in done.cells for output in cell.get("outputs", []))
    assert drawn == sum(".axis(" in cell.source or ".legend(" in cell.source for cell in done.cells)
    assert (drawn > 0) == ("draws with matplotlib" in done.cells[0].source)


def test_all_are_there():
    assert len(list(FOLDER.glob("*.ipynb"))) == 6
