"""Products of arrays of JAX with gradients, inside ``jax.jit``, ``jax.vmap``, ``jax.lax.scan`` and ``jax.shard_map``.

Each product is one call of a function of Tilewright's, which programs of XLA reach by its foreign function interface, on this processor and on GPUs
of NVIDIA. On a GPU it is put into XLA's own stream.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from . import _native
from ._errors import ElementTypeError, Error, ShapeError, UnsupportedError
from ._semirings import semiring_of, type_of_sums

__all__ = ["matmul"]

_TARGET = "tilewright_product"

for _platform, _handler in _native.xla_handlers().items():
    jax.ffi.register_ffi_target(_TARGET, _handler, platform=_platform)


def matmul(a: Any, b: Any, semiring: str | _native.Semiring = "plus-times") -> jax.Array:
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
    JAX's ``max`` shares it among them. Where no term won, and where ``c[i, j]`` of log-plus is ``-inf``, nothing has a gradient. Those of
    log-plus are products over log-plus themselves and take memory for some matrices, not for ``m n k`` terms. All can be differentiated again.

    Shapes and types are checked when a program is traced. Elements are looked at when it runs, on this processor: a negative one under max-times is an error of
    JAX's with the library's text.

    Parameters
    ----------
    a, b : jax.Array
        Arrays of one element type, or such of NumPy. Vectors, stacks of matrices and their broadcasting are as in ``a @ b``. Where a gradient is wanted,
        float32 or float64.
    semiring : str or Semiring, default 'plus-times'
        What sum and product are: one of `Semiring.NAMES`, or your own by expressions, which has no gradient.

    Returns
    -------
    jax.Array

    Raises
    ------
    ShapeError, ElementTypeError, UnsupportedError
        As `tilewright.matmul`; UnsupportedError for a gradient of a semiring of your own.
    jax.errors.JaxRuntimeError
        For what is found when a program runs: elements outside of the semiring, memory or a device that is not there.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, tilewright.jax
    >>> a, b = jnp.array([[1, 5], [2, 0]], "float32"), jnp.array([[0], [3]], "float32")
    >>> product = jax.jit(lambda a: tilewright.jax.matmul(a, b, "max-plus"))
    >>> product(a)
    Array([[8.],
           [3.]], dtype=float32)
    >>> jax.grad(lambda a: product(a).sum())(a)
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    name = _name(semiring)
    a, b = _array("A", a), _array("B", b)
    _check(a, b, name)
    return _product_of_arrays(a, b, name)


def _name(semiring: str | _native.Semiring) -> str:
    """What a function of XLA's takes: a text."""
    if isinstance(semiring, str) and semiring in _native.Semiring.NAMES:
        return semiring
    name = semiring_of(semiring).name
    if name in _native.Semiring.NAMES or _is_text(name):
        return name
    raise UnsupportedError(f"the semiring of {name}", "unsupported", "functions are called term by term; give expressions, or use tilewright.matmul")


def _is_text(name: str) -> bool:
    try:
        return _native.Semiring(name).name == name
    except Error:
        return False


def _array(what: str, x: Any) -> jax.Array:
    if isinstance(x, jax.Array):
        return x
    if not isinstance(x, numpy.ndarray):
        raise ElementTypeError(f"{what} is a {type(x).__name__}, and no array", "not-an-array", "give arrays of JAX, as by jax.numpy.asarray; tilewright.matmul takes others")
    if jax.dtypes.canonicalize_dtype(x.dtype) != x.dtype:
        raise ElementTypeError(f"{what} has element type {x.dtype}, which JAX would round", "dtype-mismatch", "convert it, or set jax_enable_x64")
    return jnp.asarray(x)


def _check(a: jax.Array, b: jax.Array, semiring: str) -> None:
    for what, x in (("A", a), ("B", b)):
        if x.ndim == 0:
            raise ShapeError(f"{what} has no dimension, and a product needs one at least", "dimensions", "multiply by numbers with *")
    if a.dtype != b.dtype:
        raise ElementTypeError(f"A has element type {a.dtype}, but B has {b.dtype}", "dtype-mismatch", "convert one of them: b.astype(a.dtype)")
    _check_type(a, semiring)
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        extents = ["x".join(map(str, x.shape)) for x in (a, b)]
        raise ShapeError(f"A is {extents[0]} but B is {extents[1]}: the inner dimensions differ", "inner-mismatch", "the columns of A must equal the rows of B; is a transposition missing?")
    if any(x != y and x != 1 and y != 1 for x, y in zip(reversed(a.shape[:-2]), reversed(b.shape[:-2]))):
        raise ShapeError(f"stacks of {list(a.shape[:-2])} and {list(b.shape[:-2])} matrices cannot be joined", "batch-mismatch", "extents must be equal, or one of them 1")


# Types and semirings that were looked at before: trying a text takes longer than a small product.
_fitting: set[tuple[Any, str]] = set()


def _check_type(x: jax.Array, semiring: str) -> None:
    """The type of A, which B has."""
    if (x.dtype, semiring) in _fitting:
        return
    known = _native.Semiring(semiring).dtypes
    if str(x.dtype) not in known:
        raise UnsupportedError(f"A has element type {x.dtype}, on which {semiring} is not defined", "unsupported", f"it is defined on {', '.join(known)}")
    _fitting.add((x.dtype, semiring))


@functools.partial(jax.jit, static_argnums=2, inline=True)
def _product_of_arrays(a: jax.Array, b: jax.Array, semiring: str) -> jax.Array:
    """The product of arrays that were checked."""
    is_row, is_column = a.ndim == 1, b.ndim == 1
    if is_row:
        a = a[None]
    if is_column:
        b = b[:, None]
    rows = a.shape[:-1]
    if b.ndim == 2:
        # One B for all: the gradient of B is one product, too, and no stack that is summed afterwards.
        a = a.reshape(math.prod(rows), a.shape[-1])
    # As many dimensions, so that the one that vmap puts in front meets none of the other's stack.
    dimensions = max(a.ndim, b.ndim)
    a, b = (x.reshape(*(1,) * (dimensions - x.ndim), *x.shape) for x in (a, b))
    c = _product(*_alike(a, b), semiring)
    if dimensions == 2:
        c = c.reshape(*rows, c.shape[-1])
    if is_column:
        c = c.squeeze(-1)
    return c.squeeze(-1 if is_column else -2) if is_row else c


def _alike(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both with the axes of shard_map along which either differs, so that the gradient of the one that is repeated there is summed."""
    left, right = _axes(a), _axes(b)
    if left == right:
        return a, b
    return _spread(a, right - left), _spread(b, left - right)


def _axes(x: jax.Array) -> frozenset[Any]:
    kind = getattr(jax.typeof(x), "manual_axis_type", None)
    return kind.varying if kind else frozenset()


def _spread(x: jax.Array, axes: frozenset[Any]) -> jax.Array:
    return jax.lax.pcast(x, tuple(axes), to="varying") if axes else x


def _call(a: jax.Array, b: jax.Array, semiring: str, *types: Any) -> Any:
    """Results of these types by Tilewright's function. Operands have equally many dimensions."""
    shape = (*jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    kind: dict[str, Any] = {}
    if _axes(a):
        # As JAX wants to be told inside of shard_map.
        of_a = jax.typeof(a)
        sharding = jax.sharding.NamedSharding(of_a.sharding.mesh, jax.sharding.PartitionSpec(*(None for _ in shape)))
        kind = {"sharding": sharding, "manual_axis_type": of_a.manual_axis_type}
    results = [jax.ShapeDtypeStruct(shape, dtype, **kind) for dtype in types]
    return jax.ffi.ffi_call(_TARGET, results, vmap_method="expand_dims")(a, b, semiring=semiring)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _product(a: jax.Array, b: jax.Array, semiring: str) -> jax.Array:
    return _call(a, b, semiring, type_of_sums(a.dtype, semiring))[0]


def _forward(a: jax.Array, b: jax.Array, semiring: str) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    if semiring not in _native.Semiring.NAMES:
        raise UnsupportedError(f"{semiring} has no gradient: nobody knows which term won", "unsupported", "give a semiring of the library by its name, or jax.lax.stop_gradient(a)")
    if a.dtype not in (jnp.float32, jnp.float64):
        raise ElementTypeError(f"a gradient of {a.dtype}, whose sums would be too coarse", "dtype-mismatch", "convert the operands, which has a gradient as well: a.astype('float32')")
    if semiring in _SUMS:
        c = _product(a, b, semiring)
        return c, (a, b, c)
    c, winners = _selected(a, b, semiring)
    return c, (a, b, winners)


def _backward(semiring: str, kept: tuple[jax.Array, ...], g: jax.Array) -> tuple[jax.Array, jax.Array]:
    return _of_operands(semiring, kept, g)


@functools.partial(jax.jit, static_argnums=0, inline=True)
def _of_operands(semiring: str, kept: tuple[jax.Array, ...], g: jax.Array) -> tuple[jax.Array, jax.Array]:
    a, b, c = kept
    of_a, of_b = _SUMS.get(semiring, functools.partial(_of_winners, semiring))(a, b, c, g)
    return _summed(of_a, a.shape), _summed(of_b, b.shape)


_product.defvjp(_forward, _backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _selected(a: jax.Array, b: jax.Array, semiring: str) -> tuple[jax.Array, jax.Array]:
    """A product whose sum selects one of its terms, and the number of that term."""
    c, winners = _call(a, b, semiring, a.dtype, jnp.int32)
    return c, winners


def _forward_of_selected(a: jax.Array, b: jax.Array, semiring: str) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, ...]]:
    c, winners = _selected(a, b, semiring)
    return (c, winners), (a, b, winners)


def _backward_of_selected(semiring: str, kept: tuple[jax.Array, ...], g: tuple[jax.Array, Any]) -> tuple[jax.Array, jax.Array]:
    return _of_operands(semiring, kept, g[0])


_selected.defvjp(_forward_of_selected, _backward_of_selected)


def _of_winners(semiring: str, a: jax.Array, b: jax.Array, winners: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
    if a.shape[-1] == 0:
        return jnp.zeros_like(a), jnp.zeros_like(b)
    stack = winners.shape[:-2]
    k = jnp.maximum(winners, 0)
    a, b = (jnp.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, b))
    won = winners >= 0
    left = right = jnp.where(won, g, 0)
    if semiring in _SHARES:
        # Where no term won, elements may be infinite, and 0 times them is no gradient.
        won_a = jnp.where(won, jnp.take_along_axis(a, k, -1, mode="clip"), 0)
        won_b = jnp.where(won, jnp.take_along_axis(b, k, -2, mode="clip"), 0)
        left, right = _SHARES[semiring](left, won_a, won_b)
    return _scattered(left, k, a, -1), _scattered(right, k, b, -2)


def _scattered(g: jax.Array, k: jax.Array, like: jax.Array, axis: int) -> jax.Array:
    """Zeros, and each element of `g` added where `k` says, along an axis."""
    return jax.linear_transpose(lambda x: jnp.take_along_axis(x, k, axis, mode="clip"), like)(g)[0]


_Share = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def _of_times(g: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    return g * b, g * a


def _of_min(g: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.where(a <= b, g, 0), jnp.where(a <= b, 0, g)


def _of_max(g: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.where(a >= b, g, 0), jnp.where(a >= b, 0, g)


# What the two elements of the winning term have of the gradient of their result.
_SHARES: dict[str, _Share] = {"max-times": _of_times, "min-times": _of_times, "max-min": _of_min, "min-max": _of_max}


def _of_plus_times(a: jax.Array, b: jax.Array, c: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
    return _product(g, b.mT, "plus-times"), _product(a.mT, g, "plus-times")


def _of_log_plus(a: jax.Array, b: jax.Array, c: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
    # A sum of nothing has no terms that weigh.
    w = jnp.where(c == -jnp.inf, -jnp.inf, -c)
    return _weighted(g, w, None, b.mT, a), _weighted(None, a.mT, g, w, b)


_SUMS: dict[str, Callable[..., tuple[jax.Array, jax.Array]]] = {"plus-times": _of_plus_times, "log-plus": _of_log_plus}


@jax.custom_vjp
def _weighted(p: jax.Array | None, x: jax.Array, q: jax.Array | None, y: jax.Array, z: jax.Array) -> jax.Array:
    """``exp(z[i, j]) * sum(p[i, k] * exp(x[i, k]) * q[k, j] * exp(y[k, j]) for k)``, where p and q may be None for ones.

    The gradients of a product over log-plus are of this form, and so are those of the form itself: it treats its three matrices alike.
    """
    return _sum_of_weighted(p, x, q, y, z)


@jax.jit
def _sum_of_weighted(p: jax.Array | None, x: jax.Array, q: jax.Array | None, y: jax.Array, z: jax.Array) -> jax.Array:
    # A GPU is not asked which signs occur, since the answer would have to be waited for.
    return jax.lax.platform_dependent(p, x, q, y, z, cpu=functools.partial(_sum_of_parts, True), default=functools.partial(_sum_of_parts, False))


def _sum_of_parts(asks: bool, p: jax.Array | None, x: jax.Array, q: jax.Array | None, y: jax.Array, z: jax.Array) -> jax.Array:
    """One product for each sign of p and of q; where it `asks`, for those that occur."""
    parts = []
    for sign_p, sign_q in ((sign_p, sign_q) for sign_p in _signs(p) for sign_q in _signs(q)):
        part = functools.partial(_part, sign_p, sign_q)
        if asks and (p is not None or q is not None):
            occurs = _occurs(p, sign_p) & _occurs(q, sign_q)
            part = functools.partial(jax.lax.cond, occurs, part, _nothing)
        parts.append(sign_p * sign_q * part(p, x, q, y, z))
    return functools.reduce(jnp.add, parts)


def _part(sign_p: int, sign_q: int, p: jax.Array | None, x: jax.Array, q: jax.Array | None, y: jax.Array, z: jax.Array) -> jax.Array:
    return jnp.exp(_call(_logarithm(p, sign_p, x), _logarithm(q, sign_q, y), "log-plus", x.dtype)[0] + z)


def _nothing(p: jax.Array | None, x: jax.Array, q: jax.Array | None, y: jax.Array, z: jax.Array) -> jax.Array:
    return _spread(jnp.zeros((*jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2], z.shape[:-2]), *z.shape[-2:]), z.dtype), _axes(z))


def _signs(weights: jax.Array | None) -> tuple[int, ...]:
    return (1,) if weights is None else (1, -1)


def _occurs(weights: jax.Array | None, sign: int) -> Any:
    # What is no number is of both signs.
    return True if weights is None else jnp.any(~(weights * sign <= 0))


def _logarithm(weights: jax.Array | None, sign: int, x: jax.Array) -> jax.Array:
    """That of ``weights * exp(x)`` where the weights have this sign; otherwise of 0."""
    return x if weights is None else jnp.log(jnp.maximum(weights * sign, 0)) + x


def _forward_of_weighted(*operands: Any) -> tuple[jax.Array, tuple[Any, ...]]:
    result = _weighted(*operands)
    return result, (*operands, result)


def _backward_of_weighted(kept: tuple[Any, ...], g: jax.Array) -> tuple[Any, ...]:
    p, x, q, y, z, result = kept
    of_p = of_x = _summed(_weighted(g, z, None if q is None else q.mT, y.mT, x), x.shape)
    of_q = of_y = _summed(_weighted(None if p is None else p.mT, x.mT, g, z, y), y.shape)
    return None if p is None else of_p, of_x if p is None else p * of_p, None if q is None else of_q, of_y if q is None else q * of_q, _summed(g * result, z.shape)


_weighted.defvjp(_forward_of_weighted, _backward_of_weighted)


def _summed(gradient: jax.Array, shape: Sequence[int]) -> jax.Array:
    """That of an operand that was repeated along a stack."""
    repeated = [i for i, extent in enumerate(shape) if extent == 1 and gradient.shape[i] != 1]
    return gradient.sum(repeated, keepdims=True) if repeated else gradient
