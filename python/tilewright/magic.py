"""``%%cuda_explain``: a cell of CUDA C++ is run on the emulator, and explained. ``%load_ext tilewright.magic`` makes it known."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from .gpu import Explanation, explain

__all__ = ["cuda_explain", "load_ipython_extension"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        from ._errors import UnsupportedError

        raise UnsupportedError(message, "unsupported", self.format_usage().strip())


def _parser() -> argparse.ArgumentParser:
    def extents(text: str) -> list[int]:
        return [int(part) for part in text.replace("x", ",").split(",")]

    parser = _Parser(prog="%%cuda_explain", add_help=False, allow_abbrev=False)
    parser.add_argument("arguments", nargs="*", metavar="NAME=VALUE", help="a number, a text such as f32[64]:random, or a variable of the notebook")
    parser.add_argument("--grid", type=extents, default=[1])
    parser.add_argument("--block", type=extents, default=[32])
    parser.add_argument("--cluster", type=extents)
    parser.add_argument("--entry")
    parser.add_argument("--gpu")
    parser.add_argument("--dynamic-smem", type=int)
    parser.add_argument("--result", metavar="NAME", help="the variable that the explanation becomes")
    return parser


def cuda_explain(line: str, cell: str, variables: dict[str, Any]) -> Explanation:
    """What the magic ``%%cuda_explain`` does.

    Parameters
    ----------
    line : str
        The launch: ``--grid``, ``--block``, ``--cluster``, ``--entry``, ``--gpu``, ``--dynamic-smem``, ``--result NAME``, and arguments as ``name=value``.
    cell : str
        CUDA C++ or PTX.
    variables : dict
        Those of the notebook, which arguments may name.

    Returns
    -------
    Explanation

    Raises
    ------
    UnsupportedError
        Of a line that is not understood, and whatever `tilewright.explain` raises.

    Examples
    --------
    >>> import tilewright.magic
    >>> nothing = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry nothing() { ret; }"
    >>> tilewright.magic.cuda_explain("--grid 2 --block 64", nothing, {}).data["grid"]
    [2, 1, 1]
    """
    options = _parser().parse_args(shlex.split(line))
    arguments = {}
    for text in options.arguments:
        name, _, value = text.partition("=")
        arguments[name] = variables.get(value, _literal(value))
    explanation = explain(
        cell + "\n",
        options.grid,
        options.block,
        arguments,
        entry=options.entry,
        cluster=options.cluster,
        gpu=options.gpu,
        dynamic_shared_memory=options.dynamic_smem,
    )
    if options.result:
        variables[options.result] = explanation
    return explanation


def _literal(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def load_ipython_extension(shell: Any) -> None:
    """Makes ``%%cuda_explain`` known; ``%load_ext tilewright.magic`` calls it.

    Parameters
    ----------
    shell : InteractiveShell
        IPython's.

    Examples
    --------
    >>> import types, tilewright.magic
    >>> shell = types.SimpleNamespace(user_ns={}, register_magic_function=lambda function, kind, name: print(kind, name))
    >>> tilewright.magic.load_ipython_extension(shell)
    cell cuda_explain
    """

    def magic(line: str, cell: str) -> Explanation:
        return cuda_explain(line, cell, shell.user_ns)

    shell.register_magic_function(magic, "cell", "cuda_explain")
