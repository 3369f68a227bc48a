"""The examples of all docstrings give what they say, everything public has one, and docs/reference is made of them."""

import doctest
import importlib
import importlib.util
import inspect
import pathlib
import pkgutil
import re

import pytest
import tilewright

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "python_reference.py"
specification = importlib.util.spec_from_file_location("python_reference", SCRIPT)
reference = importlib.util.module_from_spec(specification)
specification.loader.exec_module(reference)

OPTIONAL = {
    "tilewright.dask": "dask",
    "tilewright._frames": "pandas",
    "tilewright.jax": "jax",
    "tilewright.networkx": "networkx",
    "tilewright.torch": "torch",
    "tilewright._torch_operators": "torch",
}


def modules():
    names = [info.name for info in pkgutil.iter_modules(tilewright.__path__, "tilewright.")]
    return ["tilewright", *sorted(names)]


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder()
    tests = finder.find(module, globs={"tilewright": tilewright})
    for part in pkgutil.iter_modules(getattr(module, "__path__", []), f"{name}.") if name != "tilewright" else ():
        tests += finder.find(importlib.import_module(part.name), globs={"tilewright": tilewright})
    # What is written in Rust has no source for the finder to ask.
    for public in vars(module).values():
        if inspect.isbuiltin(public) or (inspect.isclass(public) and public.__module__ == "tilewright"):
            tests += [test for test in finder.find(public, module=False, globs={}) if test.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in {test.name: test for test in tests}.values():
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def functions():
    """All public functions and methods, with the module that they are of."""
    for name in reference.modules():
        if name in OPTIONAL and importlib.util.find_spec(OPTIONAL[name]) is None:
            continue
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", []):
            value = getattr(module, public)
            if inspect.isroutine(value):
                yield name, public, value
            elif inspect.isclass(value):
                methods = {member: getattr(value, member) for member, part in vars(value).items() if not member.startswith("_") and inspect.isroutine(part) and inspect.getdoc(part)}
                yield from ((name, f"{public}.{member}", part) for member, part in methods.items() if name != "tilewright.networkx")


def test_everything_public_has_a_text_and_an_example():
    for name in reference.modules():
        if name in OPTIONAL and importlib.util.find_spec(OPTIONAL[name]) is None:
            continue
        module = importlib.import_module(name)
        assert module.__doc__
        for public in getattr(module, "__all__", []):
            value = getattr(module, public)
            if isinstance(value, (str, tilewright.Semiring)):
                continue
            text = inspect.getdoc(value)
            # What goes wrong is shown once for all errors.
            is_error = inspect.isclass(value) and issubclass(value, tilewright.Error)
            assert text and (">>>" in text or (is_error and value is not tilewright.Error)), public


def test_functions_tell_what_they_take_give_and_raise():
    checked = 0
    for name, public, value in functions():
        if name == "tilewright.networkx":
            # NetworkX's functions of these names tell it.
            continue
        text, signature = inspect.getdoc(value), inspect.signature(value)
        told = re.findall(r"^(\*{0,2}\w+(?:, \w+)*)(?: : .*)?$", section(text, "Parameters"), re.MULTILINE)
        told = [parameter for line in told for parameter in line.strip("*").split(", ")]
        taken = [parameter for parameter in signature.parameters if parameter != "self"]
        assert sorted(told) == sorted(taken), f"{name}.{public} tells of {told} and takes {taken}"
        for parameter in told:
            assert len(section(text, "Parameters").split(parameter, 1)[1].strip()) > 10
        if taken:
            assert public in ("Explanation.save", "load_ipython_extension") or section(text, "Returns"), public
            assert public == "load_ipython_extension" or section(text, "Raises"), public
        checked += 1
    assert checked > 25


def section(text, title):
    """What stands under a heading of a docstring."""
    parts = re.split(r"^(.+)\n-+\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2])).get(title, "")


@pytest.mark.parametrize("name", reference.modules())
def test_pages_of_the_reference_are_what_docstrings_say(name):
    pytest.importorskip("pdoc")
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    page = (reference.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert page == reference.page(name), "python scripts/python_reference.py renews the pages"


def test_the_reference_has_a_page_for_each_module():
    assert (reference.FOLDER / "README.md").read_text(encoding="utf-8") == reference.index(), "python scripts/python_reference.py renews the pages"
    assert sorted(path.stem for path in reference.FOLDER.glob("tilewright*.md")) == sorted(reference.modules())
    summary = (reference.FOLDER.parent / "SUMMARY.md").read_text(encoding="utf-8")
    assert re.findall(r"\(reference/(.*)\.md\)", summary) == ["README", *reference.modules()]
