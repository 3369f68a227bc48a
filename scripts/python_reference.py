"""Writes the pages of the reference of Python, docs/reference, from docstrings: `python scripts/python_reference.py [FOLDER]`.

It needs pdoc, which reads the sections of docstrings, the package, and the libraries of its optional modules. A test compares the pages with the docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pathlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

import tilewright

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "reference"
# What a line of a table of docutils begins with.
_RULE = re.compile(r"=+( +=+)*$")


def modules() -> list[str]:
    """Those that have public names of their own, which the package does not have."""
    names = [f"tilewright.{info.name}" for info in pkgutil.iter_modules(tilewright.__path__) if not info.name.startswith("_")]
    return ["tilewright", *(name for name in names if name.rpartition(".")[2] not in ("gpu", "paths"))]


def page(name: str) -> str:
    """The page of a module, in Markdown."""
    module = importlib.import_module(name)
    members = [(public, getattr(module, public)) for public in getattr(module, "__all__", [])]
    documented = [(public, value) for public, value in members if inspect.isclass(value) or inspect.isroutine(value)]
    ordered = sorted(documented, key=lambda member: (inspect.isclass(member[1]), inspect.isclass(member[1]) and issubclass(member[1], BaseException)))
    parts = [f"# `{name}`", _markdown(module), *_values(members)]
    for public, value in ordered:
        parts += _entry(name, public, value)
    return "\n\n".join(part for part in parts if part) + "\n"


def index() -> str:
    """The page that leads to the others."""
    lines = ["# Reference of Python", "", "Written from docstrings by `scripts/python_reference.py`; `help(tilewright.matmul)` shows the same. [Recipes](../recipes.md) has whole programs.", ""]
    for name in modules():
        lines.append(f"* [`{name}`]({name}.md): {_summary(name)}")
    return "\n".join(lines) + "\n"


def _summary(name: str) -> str:
    """The first sentence of a module's text, which is read without importing it: its library may not be here."""
    folder = pathlib.Path(tilewright.__file__).parent
    path = folder / "/".join([*name.split(".")[1:], "__init__.py"])
    text = (path if path.exists() else path.parent.with_suffix(".py")).read_text(encoding="utf-8")
    return _quoted_once(text.split('"""')[1].split("\n\n")[0].split(": ``")[0].replace("\n", " ").rstrip(".") + ".")


def _values(members: list[tuple[str, Any]]) -> Iterator[str]:
    semirings = [f"* `{public}`: `{value!r}`" for public, value in members if isinstance(value, tilewright.Semiring)]
    if semirings:
        yield "## Semirings\n\n" + "\n".join(semirings)


def _entry(module: str, name: str, value: Any) -> Iterator[str]:
    yield f"## {name}"
    if inspect.isclass(value) and issubclass(value, BaseException):
        yield f"*{', '.join(base.__name__ for base in value.__bases__)}*"
    else:
        yield f"```python\n{module}.{name}{_signature(value)}\n```"
    yield _markdown(value)
    for member, part in sorted(vars(value).items()) if inspect.isclass(value) else ():
        of_class = isinstance(part, classmethod)
        part = getattr(value, member) if of_class else part
        if member.startswith("_") or not inspect.getdoc(part) or not (callable(part) or inspect.isdatadescriptor(part)):
            continue
        is_method = callable(part)
        yield f"### {name}.{member}"
        owner = name if of_class else f"{name[0].lower()}{name[1:]}"
        yield f"```python\n{owner}.{member}{_signature(part, bound=not of_class) if is_method else ''}\n```"
        yield _markdown(part)


def _signature(value: Any, bound: bool = False) -> str:
    """Without annotations: types stand in the text, and are shown differently by each version of Python."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return "(...)"
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    shown = signature.replace(parameters=parameters[1:] if bound else parameters, return_annotation=inspect.Signature.empty)
    return str(shown)


def _markdown(value: Any) -> str:
    from pdoc.docstrings import convert

    text = convert(inspect.getdoc(value) or "", "numpy", None)
    # Entries alone have headings: sections have the same names in all of them.
    text = re.sub(r"^#{6} (.*)\n+", r"**\1**\n\n", text, flags=re.MULTILINE)
    return _fenced(text).strip()


def _fenced(text: str) -> str:
    """Examples, and tables of docutils, as blocks of code."""
    found: list[str] = []
    for kind, lines in itertools.groupby(_kinds(text.split("\n")), key=lambda line: line[0]):
        block = [line for _, line in lines]
        while kind and not block[-1]:
            block.pop()
        found += [f"```{kind}", *block, "```", ""] if kind else map(_quoted_once, block)
    return "\n".join(found)


def _quoted_once(line: str) -> str:
    """What docutils quotes twice, Markdown quotes once."""
    return re.sub(r"(?<!`)``([^`]+)``(?!`)", r"`\1`", line)


def _kinds(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line with the language of its block; an empty one for text."""
    kind = ""
    rules = 0
    for line in lines:
        if line.startswith(">>>"):
            kind = "python"
        elif kind == "python" and not line.strip():
            kind = ""
        elif _RULE.match(line):
            kind, rules = "text", rules + 1
        yield kind, line
        if kind == "text" and rules == 3:
            kind, rules = "", 0


def main(folder: pathlib.Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(index(), encoding="utf-8")
    for name in modules():
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
