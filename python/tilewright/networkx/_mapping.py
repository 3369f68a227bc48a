"""Dictionaries that are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from functools import cached_property, partial
from typing import Any

__all__ = ["Later", "Rows"]


class Later(MutableMapping[Any, Any]):
    """A dictionary that a function makes, once, at the first question."""

    def __init__(self, make: Callable[[], dict[Any, Any]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return self._make()

    def __getitem__(self, key: Any) -> Any:
        return self._made[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._made[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._made[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, key: object) -> bool:
        return key in self._made

    def keys(self) -> KeysView[Any]:
        return self._made.keys()

    def values(self) -> ValuesView[Any]:
        return self._made.values()

    def items(self) -> ItemsView[Any, Any]:
        return self._made.items()

    def copy(self) -> dict[Any, Any]:
        """A dictionary of its own, as of a dictionary."""
        return self._made.copy()

    def __repr__(self) -> str:
        return repr(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._made,)


class Rows(Later):
    """For each of some vertices a dictionary, which is made when that vertex is asked for."""

    def __init__(self, labels: list[Any], row: Callable[[int], dict[Any, Any]], chosen: list[int] | None = None) -> None:
        numbers = range(len(labels)) if chosen is None else chosen
        super().__init__(lambda: {labels[number]: Later(partial(row, number)) for number in numbers})
