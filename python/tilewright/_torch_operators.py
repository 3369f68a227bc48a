"""The operators ``torch.ops.tilewright``: what computes each, what says its shape to a compiler, and what a stack of it is. They have no gradients."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _native
from ._semirings import type_of_sums


def _product(a: torch.Tensor, b: torch.Tensor, semiring: str) -> torch.Tensor:
    c: torch.Tensor = _computed(a, b, semiring, False)
    return c


def _product_arg(a: torch.Tensor, b: torch.Tensor, semiring: str) -> tuple[torch.Tensor, torch.Tensor]:
    c, winners = _computed(a, b, semiring, True)
    return c, winners


def _weighted(p: torch.Tensor | None, x: torch.Tensor, q: torch.Tensor | None, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    total: torch.Tensor | None = None
    for sign_p, left in _logarithms(p, x):
        for sign_q, right in _logarithms(q, y):
            part = torch.add(_product(left, right, "log-plus"), z).exp_()
            if total is None:
                total = part if sign_p == sign_q else part.neg_()
            else:
                total.add_(part, alpha=sign_p * sign_q)
    return _shape_of_weighted(p, x, q, y, z).zero_() if total is None else total


def _logarithms(weights: torch.Tensor | None, x: torch.Tensor) -> list[tuple[int, torch.Tensor]]:
    """The logarithms of ``weights * exp(x)`` where they are positive, and of its negative where they are negative; only what occurs."""
    if weights is None:
        return [(1, x)]
    signs = [1, -1]
    # A GPU is not asked, since the answer would have to be waited for.
    if weights.device.type == "cpu":
        least, most = (bound.item() for bound in weights.aminmax()) if weights.numel() else (0, 0)
        # What is no number is of both signs.
        signs = [sign for sign, occurs in ((1, not most <= 0), (-1, not least >= 0)) if occurs]
    return [(sign, (weights * sign).clamp_(min=0).log_() + x) for sign in signs]


_HAS_NUMPY = importlib.util.find_spec("numpy") is not None
_NOT_NUMPYS = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)


def _computed(a: torch.Tensor, b: torch.Tensor, semiring: str, arg: bool) -> Any:
    a, b = a.detach(), b.detach()
    if a.is_cuda or a.dtype in _NOT_NUMPYS or not _HAS_NUMPY:
        return _native.matmul(a, b, semiring=semiring, arg=arg)
    # The same memory as arrays of NumPy, which takes a fifth of the time that DLPack takes.
    done = _native.matmul(a.numpy(), b.numpy(), semiring=semiring, arg=arg)
    return (torch.from_numpy(done[0]), torch.from_numpy(done[1])) if arg else torch.from_numpy(done)


def _shape_of_product(a: torch.Tensor, b: torch.Tensor, semiring: str) -> torch.Tensor:
    stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*stack, a.shape[-2], b.shape[-1]), dtype=getattr(torch, type_of_sums(a.dtype, semiring)))


def _shape_of_product_arg(a: torch.Tensor, b: torch.Tensor, semiring: str) -> tuple[torch.Tensor, torch.Tensor]:
    c = _shape_of_product(a, b, semiring)
    return c, torch.empty_like(c, dtype=torch.int32)


def _shape_of_weighted(p: torch.Tensor | None, x: torch.Tensor, q: torch.Tensor | None, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    stacks = [operand.shape[:-2] for operand in (p, x, q, y, z) if operand is not None]
    return x.new_empty((*torch.broadcast_shapes(*stacks), x.shape[-2], y.shape[-1]))


# What looks at operands, and raises the error that they deserve.
REFUSALS: list[Callable[[torch.Tensor, torch.Tensor], None]] = []


def _refused(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """In a compiled program, what a product of these operands becomes: the library's error, when it runs."""
    for check in REFUSALS:
        check(a, b)
    raise RuntimeError("operands that a compiler refused, and nobody else does")


def _shape_of_refused(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The rows of A by the columns of B, so that what follows can be compiled."""
    return a.new_empty((*a.shape[:-1], *b.shape[-1:]) if b.dim() > 1 else a.shape[:-1])


def _stack_of_refused(info: Any, in_dims: tuple[int | None, ...], a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, int]:
    return torch.ops.tilewright.refused(*(x if at is None else x.select(at, 0) for x, at in zip((a, b), in_dims))).unsqueeze(0), 0


def _stack_of_products(info: Any, in_dims: tuple[int | None, ...], a: torch.Tensor, b: torch.Tensor, semiring: str) -> tuple[torch.Tensor, int]:
    return torch.ops.tilewright.product(*_first(in_dims, a, b), semiring), 0


def _stack_of_products_arg(info: Any, in_dims: tuple[int | None, ...], a: torch.Tensor, b: torch.Tensor, semiring: str) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[int, int]]:
    return torch.ops.tilewright.product_arg(*_first(in_dims, a, b), semiring), (0, 0)


def _stack_of_weighted(info: Any, in_dims: tuple[int | None, ...], *operands: torch.Tensor | None) -> tuple[torch.Tensor, int]:
    return torch.ops.tilewright.weighted(*_first(in_dims, *operands)), 0


def _first(in_dims: Sequence[int | None], *operands: Any) -> list[Any]:
    """The dimension of vmap in front of all others, where no dimension of another operand meets it."""
    longest = max(x.dim() - (at is not None) for x, at in zip(operands, in_dims) if x is not None)
    moved = []
    for x, at in zip(operands, in_dims):
        if at is not None:
            x = x.movedim(at, 0)
            x = x.reshape(x.shape[0], *(1,) * (longest - x.dim() + 1), *x.shape[1:])
        moved.append(x)
    return moved


def _register(schema: str, computes: Any, shape: Any, stack: Any) -> None:
    name, of_what = schema.split("(", 1)
    name = f"tilewright::{name}"
    torch.library.define(name, f"({of_what}", tags=torch.Tag.pt2_compliant_tag)
    torch.library.impl(name, ("CPU", "CUDA"), computes)
    torch.library.register_fake(name, shape)
    torch.library.register_vmap(name, stack)


_register("product(Tensor a, Tensor b, str semiring) -> Tensor", _product, _shape_of_product, _stack_of_products)
_register("product_arg(Tensor a, Tensor b, str semiring) -> (Tensor, Tensor)", _product_arg, _shape_of_product_arg, _stack_of_products_arg)
_register("weighted(Tensor? p, Tensor x, Tensor? q, Tensor y, Tensor z) -> Tensor", _weighted, _shape_of_weighted, _stack_of_weighted)

_register("refused(Tensor a, Tensor b) -> Tensor", _refused, _shape_of_refused, _stack_of_refused)

OPERATORS: Any = torch.ops.tilewright
