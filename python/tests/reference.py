"""What a product is, in NumPy."""

import numpy as np

ADD = {"plus": np.add, "min": np.minimum, "max": np.maximum, "or": np.logical_or, "log": np.logaddexp}
MULTIPLY = {"times": np.multiply, "plus": np.add, "min": np.minimum, "max": np.maximum, "and": np.logical_and}


def matmul(a, b, semiring):
    """The product over a semiring, as ``a @ b`` has shapes; k must not be 0."""
    add, multiply = semiring.split("-")
    a, b = np.asarray(a), np.asarray(b)
    rows, columns = a.ndim > 1, b.ndim > 1
    a = a if rows else a[None, :]
    b = b if columns else b[:, None]
    terms = MULTIPLY[multiply](a[..., :, :, None], b[..., None, :, :])
    c = ADD[add].reduce(terms, axis=-2, dtype=a.dtype)
    return c[(..., *([slice(None)] if rows else [0]), *([slice(None)] if columns else [0]))]
