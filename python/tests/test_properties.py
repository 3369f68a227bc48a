"""Random shapes and strides, by hypothesis."""

import numpy as np
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright import matmul


@st.composite
def views(draw, shape, dtype):
    """An array of this shape that lies anyhow: steps, reversals, transposed axes, repeats."""
    steps = [draw(st.integers(1, 3)) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    repeated = [draw(st.integers(0, 9)) == 0 for _ in shape]
    held = [1 if repeat else extent * step for extent, step, repeat in zip(shape, steps, repeated)]
    base = np.arange(np.prod(held, dtype=int), dtype=dtype).reshape([held[axis] for axis in order])
    view = base.transpose(np.argsort(order))
    view = view[tuple(slice(None) if repeat else slice(None, None, step) for step, repeat in zip(steps, repeated))]
    view = np.broadcast_to(view, shape)
    return view[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)]


extents = st.integers(1, 6)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), m=extents, k=extents, n=extents, batch=st.lists(st.integers(1, 3), max_size=3), semiring=st.sampled_from(["plus-times", "min-plus", "max-plus"]))
def test_products_of_views(data, m, k, n, batch, semiring):
    def own(batch):
        kept = batch[data.draw(st.integers(0, len(batch))) :]
        return [1 if data.draw(st.booleans()) else extent for extent in kept]

    a = data.draw(views((*own(batch), m, k), "int64"))
    b = data.draw(views((*own(batch), k, n), "int64"))
    expected = reference.matmul(a, b, semiring)
    np.testing.assert_array_equal(matmul(a, b, semiring=semiring), expected)
    # Into a part of something larger, whose other elements stay.
    place = np.full([2 * extent + 1 for extent in expected.shape], -7)
    out = place[tuple(slice(2 * extent - 1, None, -2) for extent in expected.shape)]
    matmul(a, b, semiring=semiring, out=out)
    np.testing.assert_array_equal(out, expected)
    out[...] = -7
    assert (place == -7).all()
