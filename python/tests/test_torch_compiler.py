"""Wrong operands in programs that torch compiles."""

import pytest
import tilewright

pytestmark = [pytest.mark.parallel_threads(1), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
from tilewright.torch import matmul  # noqa: E402


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_wrong_operands_under_the_compiler(backend):
    """The error is the library's, with the words that it has without a compiler; first for extents that are fixed, then for any."""
    torch.compiler.reset()
    program = torch.compile(lambda a, b: (matmul(a, b, "max-plus") + 1).sum(), fullgraph=True, backend=backend)
    for shape_a, shape_b, error in [
        ((3, 4), (5, 2), tilewright.ShapeError),
        ((7, 3), (6, 2), tilewright.ShapeError),
        ((4,), (5, 2), tilewright.ShapeError),
        ((3, 4), (), tilewright.ShapeError),
        ((2, 3, 4), (3, 4, 2), tilewright.ShapeError),
    ]:
        a, b = torch.ones(shape_a, requires_grad=True), torch.ones(shape_b)
        with pytest.raises(error) as plain:
            matmul(a, b, "max-plus")
        with pytest.raises(error) as compiled:
            program(a, b)
        assert (str(compiled.value), compiled.value.code) == (str(plain.value), plain.value.code)
    with pytest.raises(tilewright.ElementTypeError, match="but B has torch.float64"):
        program(torch.ones(3, 4), torch.ones(4, 2, dtype=torch.float64))
    # The program is not spoilt.
    assert program(torch.ones(3, 4), torch.ones(4, 2)) == 18
