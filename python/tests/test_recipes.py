"""The programs of docs/recipes.md run as they stand there, each in a Python of its own, and print what the page says."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import tilewright

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
HEAD, *SECTIONS = PAGE.split("\n## ")
RECIPES = {section.split("\n")[0]: re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE) for section in SECTIONS}
PACKAGE = str(pathlib.Path(tilewright.__file__).parents[1])


def run(program, folder, environment):
    (folder / "program.txt").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "program.txt"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", RECIPES)
def test_program(name, tmp_path, request):
    (program,) = RECIPES[name]
    libraries = set(re.findall(r"\b(jax|ml_dtypes|networkx|numpy|torch)\b", program))
    for library in libraries:
        pytest.importorskip(library)
    environment = request.getfixturevalue("installed") if "networkx" in libraries else {**os.environ, "PYTHONPATH": PACKAGE}
    done = run(program, tmp_path, environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_answer_is_noticed(tmp_path):
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    assert run(">>> import tilewright\n>>> tilewright.min_plus.zero\ninf\n", tmp_path, environment).returncode == 0
    done = run(">>> import tilewright\n>>> tilewright.min_plus.zero\n0.0\n", tmp_path, environment)
    assert done.returncode == 1 and "Got:\n    inf" in done.stdout


@pytest.mark.parametrize("name", RECIPES)
def test_program_is_short_and_shows_something(name):
    (program,) = RECIPES[name]
    lines = program.splitlines()
    assert len([line for line in lines if line.startswith((">>>", "..."))]) <= 15
    assert not lines[-1].startswith((">>>", "..."))


def test_the_table_names_each_recipe():
    links = re.findall(r"^\| \[(.*?)\]\(#(.*?)\)", HEAD, re.MULTILINE)
    assert [anchor for _, anchor in links] == [name.lower().replace(" ", "-") for name in RECIPES]
