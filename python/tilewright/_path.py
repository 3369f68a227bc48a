"""In which order the operands of an einsum are joined."""

from __future__ import annotations

import heapq
import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._errors import UnavailableError, UnsupportedError

_Path = list[tuple[int, ...]]


def path_of(optimize: Any, inputs: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]) -> _Path:
    """Positions in the list of operands: those of a step are taken out, and their result is put at the end."""
    if isinstance(optimize, str) and optimize == "greedy":
        return greedy(inputs, output, sizes)
    if isinstance(optimize, str):
        optimize = _named(optimize)
    if hasattr(optimize, "get_path"):
        steps = optimize.get_path()
    elif callable(optimize):
        # One or two operands have one order, which not every optimiser gives.
        steps = optimize(list(inputs), output, dict(sizes)) if len(inputs) > 2 else []
    elif not isinstance(optimize, Iterable):
        raise UnsupportedError(f"optimize is {optimize!r}", "unsupported", "'greedy', another name of an optimiser, an optimiser, or a list of pairs of positions")
    else:
        # NumPy's own paths say first what they are.
        steps = [step for step in optimize if not isinstance(step, str)]
    return _checked(steps, len(inputs))


def _named(name: str) -> Any:
    try:
        from opt_einsum.paths import get_path_fn
    except ImportError:
        raise UnavailableError(f"the optimiser {name!r} is opt_einsum's, which is not here", "unavailable", "pip install opt_einsum, or optimize='greedy'") from None
    try:
        return get_path_fn(name)
    except KeyError:
        raise UnsupportedError(f"opt_einsum has no optimiser {name!r}", "unsupported", "'greedy', 'optimal', 'auto', 'auto-hq', 'dp', 'random-greedy'") from None


def _checked(steps: Iterable[Any], count: int) -> _Path:
    try:
        path = [tuple(operator.index(position) for position in step) for step in steps]
    except TypeError as error:
        raise UnsupportedError(f"a path with a step that is no pair of positions: {error}", "unsupported", "give a list such as [(0, 2), (0, 1)]") from error
    for step in path:
        if not step or len(set(step)) < len(step) or not all(0 <= position < count for position in step):
            raise UnsupportedError(f"a path whose step {step} joins what is not there: {count} operands are left", "unsupported", "each step names positions in the list of operands that are left, with its result at the end")
        count -= len(step) - 1
    return path


def greedy(inputs: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]) -> _Path:
    """Always the pair next whose result has the fewest elements more than its operands; those that share no letter at last, the smallest first."""
    alive: dict[int, frozenset[str]] = dict(enumerate(inputs))
    owners: dict[str, set[int]] = {}
    for number, labels in alive.items():
        for label in labels:
            owners.setdefault(label, set()).add(number)

    def size(labels: frozenset[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    def result(x: int, y: int) -> frozenset[str]:
        return frozenset(label for label in alive[x] | alive[y] if label in output or owners[label] - {x, y})

    def candidate(x: int, y: int) -> tuple[int, int, int]:
        return size(result(x, y)) - size(alive[x]) - size(alive[y]), min(x, y), max(x, y)

    pairs = {(min(x, y), max(x, y)) for members in owners.values() for x in members for y in members if x != y}
    heap = [candidate(*pair) for pair in pairs]
    heapq.heapify(heap)
    path: _Path = []
    places, numbers = list(alive), itertools.count(len(inputs))
    while len(alive) > 1:
        x = y = -1
        while heap and (x not in alive or y not in alive):
            _, x, y = heapq.heappop(heap)
        if x not in alive or y not in alive:
            x, y = heapq.nsmallest(2, alive, key=lambda number: size(alive[number]))
        joined, new = result(x, y), next(numbers)
        path.append((places.index(x), places.index(y)))
        for number in (x, y):
            places.remove(number)
            for label in alive.pop(number):
                owners[label].discard(number)
        neighbours = {number for label in joined for number in owners[label]}
        alive[new] = joined
        places.append(new)
        for label in joined:
            owners[label].add(new)
        for number in neighbours:
            heapq.heappush(heap, candidate(number, new))
    return path
