"""The examples of all docstrings give what they say."""

import doctest
import importlib
import inspect
import pkgutil

import pytest
import tilewright

OPTIONAL = {
    "tilewright.dask": "dask",
    "tilewright._frames": "pandas",
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
    # What is written in Rust has no source for the finder to ask.
    for public in vars(module).values():
        if inspect.isbuiltin(public) or (inspect.isclass(public) and public.__module__ == "tilewright"):
            tests += [test for test in finder.find(public, module=False, globs={}) if test.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in {test.name: test for test in tests}.values():
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_everything_public_is_documented_with_an_example():
    for name in tilewright.__all__:
        value = getattr(tilewright, name)
        assert isinstance(value, (str, tilewright.Semiring)) or value.__doc__, name
        if inspect.isroutine(value):
            assert ">>>" in value.__doc__, name
