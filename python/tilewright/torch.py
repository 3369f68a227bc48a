"""Products of tensors of torch with gradients, under ``torch.compile``, ``torch.func.vmap`` and ``torch.func.grad``.

Each product is an operator of torch, ``torch.ops.tilewright.product``, which compilers see as a whole. The gradients lie outside of it, in
functions of autograd, so that a call without gradients pays nothing for them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from . import _native, _torch_operators
from ._errors import ElementTypeError, Error, ShapeError, UnsupportedError
from ._semirings import semiring_of

__all__ = ["matmul"]

_operators = _torch_operators.OPERATORS


def matmul(a: torch.Tensor, b: torch.Tensor, semiring: str | _native.Semiring = "plus-times") -> torch.Tensor:
    """The matrix product over a semiring, with gradients: ``c[i, j] = sum(a[i, k] * b[k, j] for k)``, with the semiring's sum and product.

    With ``g`` the gradient of C, and ``K[i, j]`` the smallest `k` whose term is ``c[i, j]``, the gradients are:

    ================== ============================================= ==============================================
    semiring           of A                                          of B
    ================== ============================================= ==============================================
    plus-times         ``g @ b.mT``                                  ``a.mT @ g``
    min-plus, max-plus ``sum(g[i, j] for j if K[i, j] == k)``        the same over `i`
    max-times,         as above, of ``g[i, j] * b[k, j]``            as above, of ``g[i, j] * a[i, k]``
    min-times
    max-min, min-max   as above where ``a[i, k]`` is ``c[i, j]``     as above where it is not
    log-plus           ``sum(g[i, j] * exp(a[i, k] + b[k, j] - c[i, j]) for j)``, and the same over `i`
    ================== ============================================= ==============================================

    The first winner takes all: among equal terms the one of the smallest `k` has the gradient, and in max-min and min-max A has it where both are equal.
    Torch's ``amax`` shares it among them. Where no term won, and where ``c[i, j]`` of log-plus is ``-inf``, nothing has a gradient. Those of
    log-plus are products over log-plus themselves and take memory for some matrices, not for ``m n k`` terms. All can be differentiated again.

    Under ``torch.autocast`` operands keep their types: nothing is rounded without being asked. Under ``torch.use_deterministic_algorithms`` gradients
    have the same bits in each run.

    Parameters
    ----------
    a, b : torch.Tensor
        Tensors of one element type, on this processor or on one GPU of NVIDIA. Vectors, stacks of matrices and their broadcasting are as in ``a @ b``.
        Where a gradient is wanted, float32 or float64.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are: one of `Semiring.NAMES`, or your own by expressions, which has no gradient.

    Returns
    -------
    torch.Tensor
        On a GPU, in the order of torch's current stream.

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError, DomainError, UnavailableError, OutOfMemoryError
        As `tilewright.matmul`; UnsupportedError for a gradient of or-and, whose elements are true and false, and of a semiring of your own.

    Examples
    --------
    >>> import torch, tilewright.torch
    >>> a = torch.tensor([[1.0, 5.0], [2.0, 0.0]], requires_grad=True)
    >>> c = tilewright.torch.matmul(a, torch.tensor([[0.0], [3.0]]), "max-plus")
    >>> c.sum().backward()
    >>> c.detach(), a.grad
    (tensor([[8.],
            [3.]]), tensor([[0., 1.],
            [0., 1.]]))
    """
    name = semiring if isinstance(semiring, str) else _name(semiring)
    try:
        _check(a, b)
    except Error:
        # A compiler would make an error of its own of it.
        if not torch.compiler.is_compiling() or not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            raise
        return _operators.refused(a.detach(), b.detach())
    is_row, is_column = a.dim() == 1, b.dim() == 1
    if is_row:
        a = a.unsqueeze(0)
    if is_column:
        b = b.unsqueeze(1)
    c = _multiplied(a, b, name)
    if is_column:
        c = c.squeeze(-1)
    return c.squeeze(-1 if is_column else -2) if is_row else c


def _name(semiring: _native.Semiring) -> str:
    """What an operator of torch takes: a text."""
    name = semiring_of(semiring).name
    if name in _native.Semiring.NAMES or _is_text(name):
        return name
    raise UnsupportedError(f"the semiring of {name}", "unsupported", "functions are called term by term; give expressions, or use tilewright.matmul")


def _is_text(name: str) -> bool:
    try:
        return _native.Semiring(name).name == name
    except Error:
        return False


def _check(a: torch.Tensor, b: torch.Tensor) -> None:
    for what, x in (("A", a), ("B", b)):
        if not isinstance(x, torch.Tensor):
            raise ElementTypeError(f"{what} is a {type(x).__name__}, and no tensor", "not-an-array", "give tensors, as by torch.as_tensor; tilewright.matmul takes other arrays")
        if x.layout != torch.strided:
            raise UnsupportedError(f"{what} is a tensor of layout {x.layout}", "unsupported", "give x.to_dense()")
        if x.is_nested or x.is_quantized:
            raise UnsupportedError(f"{what} is a {'nested' if x.is_nested else 'quantized'} tensor", "unsupported", "give x.to_padded_tensor(zero) with the semiring's zero, or x.dequantize()")
        if x.device.type not in ("cpu", "cuda", "meta"):
            raise UnsupportedError(f"{what} is on {x.device}", "unsupported", "products are computed on this processor and on GPUs of NVIDIA: give x.cpu()")
        if x.dim() == 0:
            raise ShapeError(f"{what} has no dimension, and a product needs one at least", "dimensions", "multiply by numbers with *")
    if a.device != b.device:
        raise UnsupportedError(f"A is on {a.device}, but B on {b.device}", "unsupported", "nothing is moved without being asked: a.to(b.device)")
    if a.dtype != b.dtype:
        raise ElementTypeError(f"A has element type {a.dtype}, but B has {b.dtype}", "dtype-mismatch", "convert one of them: b.to(a.dtype)")
    if a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
        raise ShapeError(f"A is {_extents(a)} but B is {_extents(b)}: the inner dimensions differ", "inner-mismatch", "the columns of A must equal the rows of B; is a transposition missing?")
    if a.dim() > 2 and b.dim() > 2 and any(x != y and x != 1 and y != 1 for x, y in zip(reversed(a.shape[:-2]), reversed(b.shape[:-2]))):
        raise ShapeError(f"stacks of {list(a.shape[:-2])} and {list(b.shape[:-2])} matrices cannot be joined", "batch-mismatch", "extents must be equal, or one of them 1")


def _extents(x: torch.Tensor) -> str:
    # A compiler cannot write them; the operator that raises the error can.
    return "" if torch.compiler.is_compiling() else "x".join(str(extent) for extent in x.shape)


_torch_operators.REFUSALS.append(_check)


def _multiplied(a: torch.Tensor, b: torch.Tensor, semiring: str) -> torch.Tensor:
    """The product of stacks of matrices that were checked."""
    if forward_ad._current_level >= 0 and (_has_tangent(a) or _has_tangent(b)):
        # Torch would go on with a tangent of zeros.
        raise UnsupportedError("products have no gradients forward, as by torch.func.jvp and jacfwd", "unsupported", "torch.func.grad, vjp and jacrev have them backward")
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or _wants_gradient(a) or _wants_gradient(b)):
        return _with_gradient(a, b, semiring)
    return _operators.product(a, b, semiring)


_functorch: Any = torch._C._functorch


def _wants_gradient(x: torch.Tensor) -> bool:
    """Whether a tensor requires a gradient below the levels of vmap and grad that it is seen through, where torch says no."""
    if torch.compiler.is_compiling() and _functorch.maybe_current_level() is None:
        return False
    # A compiler does not know these, and leaves the transform as it is.
    while not x.requires_grad and _functorch.is_functorch_wrapped_tensor(x):
        x = _functorch.get_unwrapped(x)
    return bool(x.requires_grad)


def _has_tangent(x: torch.Tensor) -> bool:
    # Torch cannot say it of what vmap goes through.
    return bool(_functorch.is_batchedtensor(x)) or forward_ad.unpack_dual(x).tangent is not None


def _with_gradient(a: torch.Tensor, b: torch.Tensor, semiring: str) -> torch.Tensor:
    if semiring == "or-and":
        raise UnsupportedError("or-and has no gradient: its elements are true and false, and nothing lies between", "unsupported", "max-min on numbers from 0 to 1 is or-and with a gradient")
    if semiring not in _native.Semiring.NAMES:
        raise UnsupportedError(f"{semiring} has no gradient: nobody knows which term won", "unsupported", "give a semiring of the library by its name, or a.detach()")
    if a.dtype not in (torch.float32, torch.float64):
        raise ElementTypeError(f"a gradient of {a.dtype}, whose sums would be too coarse", "dtype-mismatch", "convert the operands, which has a gradient as well: a.float()")
    if a.dim() > 2 and b.dim() == 2:
        # One B for all: the gradient of B is one product, too, and no stack that is summed afterwards.
        return _with_gradient(a.flatten(0, -2), b, semiring).unflatten(0, a.shape[:-1])
    if semiring == "plus-times":
        return _PlusTimes.apply(a, b)
    return _LogPlus.apply(a, b) if semiring == "log-plus" else _Selective.apply(a, b, semiring)[0]


def _signed(forward: Any) -> Any:
    """A function that remembers its signature, for which torch asks in every call."""
    forward.__signature__ = inspect.signature(forward)
    return forward


class _PlusTimes(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    @_signed
    def forward(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _operators.product(a, b, "plus-times")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b = ctx.saved_tensors
        wants_a, wants_b = ctx.needs_input_grad
        return (_summed(_multiplied(g, b.mT, "plus-times"), a.shape) if wants_a else None, _summed(_multiplied(a.mT, g, "plus-times"), b.shape) if wants_b else None)


class _Selective(torch.autograd.Function):
    """A product whose sum selects one of its terms, and the number of that term."""

    generate_vmap_rule = True

    @staticmethod
    @_signed
    def forward(a: torch.Tensor, b: torch.Tensor, semiring: str) -> tuple[torch.Tensor, torch.Tensor]:
        return _operators.product_arg(a, b, semiring)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        a, b, semiring = inputs
        _, winners = output
        ctx.mark_non_differentiable(winners)
        ctx.semiring, ctx.shapes = semiring, (a.shape, b.shape)
        # Sums of two elements have gradients that need neither.
        ctx.save_for_backward(winners, *((a, b) if semiring in _SHARES else ()))

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor, _: Any) -> tuple[torch.Tensor | None, ...]:
        winners, *operands = ctx.saved_tensors
        shape_a, shape_b = ctx.shapes
        if shape_a[-1] == 0:
            return g.new_zeros(shape_a), g.new_zeros(shape_b), None
        stack = winners.shape[:-2]
        k = winners.clamp(min=0).long()
        won = winners >= 0
        left = right = torch.where(won, g, 0)
        if operands:
            a, b = operands
            # Where no term won, elements may be infinite, and 0 times them is no gradient.
            won_a = torch.where(won, a.expand(*stack, *a.shape[-2:]).gather(-1, k), 0)
            won_b = torch.where(won, b.expand(*stack, *b.shape[-2:]).gather(-2, k), 0)
            left, right = _SHARES[ctx.semiring](left, won_a, won_b)
        wants_a, wants_b, _ = ctx.needs_input_grad
        of_a = _summed(g.new_zeros(*stack, *shape_a[-2:]).scatter_add(-1, k, left), shape_a) if wants_a else None
        of_b = _summed(g.new_zeros(*stack, *shape_b[-2:]).scatter_add(-2, k, right), shape_b) if wants_b else None
        return of_a, of_b, None


_Share = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def _of_times(g: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return g * b, g * a


def _of_min(g: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.where(a <= b, g, 0), torch.where(a <= b, 0, g)


def _of_max(g: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.where(a >= b, g, 0), torch.where(a >= b, 0, g)


# What the two elements of the winning term have of the gradient of their result.
_SHARES: dict[str, _Share] = {"max-times": _of_times, "min-times": _of_times, "max-min": _of_min, "min-max": _of_max}


class _LogPlus(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    @_signed
    def forward(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _operators.product(a, b, "log-plus")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b, c = ctx.saved_tensors
        wants_a, wants_b = ctx.needs_input_grad
        # A sum of nothing has no terms that weigh.
        w = torch.where(c == -torch.inf, -torch.inf, -c)
        of_a = _summed(_Weighted.apply(g, w, None, b.mT, a), a.shape) if wants_a else None
        of_b = _summed(_Weighted.apply(None, a.mT, g, w, b), b.shape) if wants_b else None
        return of_a, of_b


class _Weighted(torch.autograd.Function):
    """``exp(z[i, j]) * sum(p[i, k] * exp(x[i, k]) * q[k, j] * exp(y[k, j]) for k)``, where p and q may be None for ones.

    The gradients of a product over log-plus are of this form, and so are those of the form itself: it treats its three matrices alike.
    """

    generate_vmap_rule = True

    @staticmethod
    @_signed
    def forward(p: torch.Tensor | None, x: torch.Tensor, q: torch.Tensor | None, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return _operators.weighted(p, x, q, y, z)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        p, x, q, y, z, result = ctx.saved_tensors
        wants_p, wants_x, wants_q, wants_y, wants_z = ctx.needs_input_grad
        of_p = of_q = of_x = of_y = None
        if wants_p or wants_x:
            of_p = _summed(_Weighted.apply(g, z, None if q is None else q.mT, y.mT, x), x.shape)
            of_x = of_p if p is None else p * of_p
        if wants_q or wants_y:
            of_q = _summed(_Weighted.apply(None if p is None else p.mT, x.mT, g, z, y), y.shape)
            of_y = of_q if q is None else q * of_q
        of_z = _summed(g * result, z.shape)
        return tuple(gradient if wanted else None for gradient, wanted in zip((of_p, of_x, of_q, of_y, of_z), ctx.needs_input_grad))


def _summed(gradient: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """That of an operand that was repeated along a stack."""
    extra = gradient.dim() - len(shape)
    if extra:
        gradient = gradient.sum(list(range(extra)))
    repeated = [i for i, extent in enumerate(shape) if extent == 1 and gradient.shape[i] != 1]
    return gradient.sum(repeated, keepdim=True) if repeated else gradient
