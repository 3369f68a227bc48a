"""Occupancy, and kernels on the emulator."""

import html
import json
import re

import numpy as np
import pytest
import tilewright
from tilewright import best_block, explain, gpus, occupancy

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 x, .param .u32 n) {
    .reg .b64 %a<4>; .reg .b32 %r<5>; .reg .f32 %f; .reg .pred %p;
    ld.param.u64 %a1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra DONE;
    mul.wide.u32 %a2, %r2, 4;
    add.s64 %a3, %a1, %a2;
    ld.global.f32 %f, [%a3];
    add.f32 %f, %f, 0f3F800000;
    st.global.f32 [%a3], %f;
DONE:
    ret;
}
"""


def compiler():
    try:
        explain("__global__ void nothing() {}\n", 1, 1)
    except tilewright.UnavailableError as missing:
        pytest.skip(str(missing))


def test_occupancy_of_the_courses():
    found = occupancy("RTX A6000", threads=1024, registers=37, shared_memory=8192)
    assert (found.blocks_per_sm, found.warps_per_sm, found.max_warps_per_sm) == (1, 32, 48)
    assert found.limited_by == ["warps", "registers"] and found.limits["shared_memory"] == 11
    assert found.occupancy == pytest.approx(2 / 3) and found.error is None
    assert occupancy("8.6", threads=1024, registers=37, shared_memory=8192).blocks_per_sm == 1
    assert "threads" in occupancy("8.6", threads=2048, registers=16).error
    for wrong in [{"gpu": "RTX 9999"}, {"gpu": "1.0"}, {"threads": 0}]:
        with pytest.raises(tilewright.UnsupportedError):
            occupancy(**{"gpu": "h100", "threads": 32, "registers": 32, **wrong})


def test_best_block():
    best = best_block("rtx a6000", registers=37, dynamic_shared_memory_per_thread=8)
    assert (best.threads, best.blocks_per_sm, best.min_grid_size, best.square_side) == (768, 2, 168, 16)
    assert best_block("8.6", registers=37).min_grid_size is None


def test_gpus():
    table = gpus()
    assert len(table) > 10 and len({gpu["name"] for gpu in table}) == len(table)
    assert all(gpu["multiprocessors"] > 0 for gpu in table)


def test_a_kernel_in_ptx(tmp_path):
    x = np.arange(100, dtype="float32")
    explanation = explain(PTX, 4, 32, [x, 100])
    np.testing.assert_array_equal(explanation.arrays["x"], [x + 1])
    assert x[0] == 0, "arguments are copied"
    assert explanation.data["schema"] == 1 and "add_one" in explanation.text
    path = tmp_path / "kernel.ptx"
    path.write_text(PTX)
    by_name = explain(path, grid=(4, 1, 1), block=[32], args={"x": x, "n": np.int32(100)})
    np.testing.assert_array_equal(by_name.arrays["x"], [x + 1])
    assert explain(str(path), 4, 32, [x, 100]).data["kernel"] == by_name.data["kernel"]
    assert explain(PTX, 4, 32, ["f32[100]:range", 100]).arrays["x"][0, 99] == 100


def test_the_report_in_a_notebook(tmp_path):
    explanation = explain(PTX, 4, 32, ["f32[100]:range", 100])
    frame = explanation._repr_html_()
    assert frame.startswith("<iframe") and 'sandbox="allow-scripts"' in frame
    page = html.unescape(re.search('srcdoc="([^"]*)"', frame).group(1))
    assert page == explanation.page and page.lower().startswith("<!doctype html>")
    explanation.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == explanation.page
    assert repr(explanation) == explanation.text
    json.dumps(explanation.data)


def test_counters_are_a_table():
    pandas = pytest.importorskip("pandas")
    explanation = explain(PTX, 4, 32, ["f32[100]:range", 100])
    table = pandas.DataFrame(explanation.counters)
    assert table["global_load_sectors"].sum() == 13 and table["global_load_requests"].sum() == 4, table.columns


def test_what_goes_wrong_is_a_finding_and_what_is_wrong_an_error():
    assert explain(PTX, 4, 32, ["f32[100]:range", 100], cluster=2).data["cluster"] == [2, 1, 1]
    beyond = explain(PTX, 4, 32, ["f32[100]:range", 128])
    assert any("bounds" in finding["kind"] for finding in beyond.findings), beyond.findings
    with pytest.raises(tilewright.UnsupportedError, match="missing"):
        explain(PTX, 4, 32, [])
    with pytest.raises(tilewright.UnsupportedError):
        explain(PTX, 4, 32, {"x": "f32[4]", "n": 4, "m": 5})
    # No GPU has the instruction: the assembler says so in a finding, and where there is none, the emulator in an error.
    try:
        unknown = explain(PTX.replace("mad.lo", "madd.lo"), 4, 32, ["f32[100]", 100])
        assert unknown.findings[0]["kind"] == "does-not-compile", unknown.findings
    except tilewright.Error as error:
        assert "madd.lo" in str(error), error
    with pytest.raises(tilewright.UnsupportedError, match="naive"):
        explain("no-such-kernel")
    with pytest.raises(TypeError):
        explain(3)


def test_hints_name_keywords_of_the_function():
    hints = []
    for kernel, args in [(PTX, []), (PTX + PTX[PTX.index(".visible") :].replace("add_one", "add_two"), ["f32[4]", 4])]:
        with pytest.raises(tilewright.UnsupportedError) as caught:
            explain(kernel, 1, None if args == [] else 4, args)
        hints.append(caught.value.hint)
    assert "block and args" in hints[0] and hints[1].startswith("choose one with entry: add_one")
    endless = explain(PTX.replace("    mul.wide", "AGAIN:\n    bra AGAIN;\n    mul.wide"), 1, 32, ["f32[100]", 100], max_seconds=0.05)
    assert "with max_seconds" in endless.text and "--max" not in endless.text, endless.text


def test_kernels_of_the_catalogue():
    explanation = explain("transpose-padded", gpu="rtx a6000")
    assert explanation.data["gpu"] == "RTX A6000" and not explanation.findings
    a, b = (np.random.default_rng(seed).random((32, 32), dtype="float32") for seed in (0, 1))
    explanation = explain("shared-tile", args={"A": a, "B": b})
    np.testing.assert_allclose(explanation.arrays["C"], a @ b, rtol=1e-5)
    assert "shared-tile" in tilewright.kernel_names()


def test_kernels_of_cupy_and_numba():
    class RawKernel:
        code, name = 'extern "C" __global__ void add_two(float* x) { x[threadIdx.x] += 2; }', "add_two"

    class Dispatcher:
        def inspect_asm(self):
            return {("a signature",): PTX}

    np.testing.assert_array_equal(explain(Dispatcher(), 1, 4, ["f32[4]", 4]).arrays["x"], [[1, 1, 1, 1]])
    compiler()
    np.testing.assert_array_equal(explain(RawKernel(), 1, 4, [np.zeros(4, "float32")]).arrays["x"], [[2, 2, 2, 2]])


@pytest.mark.filterwarnings("ignore:Attempting to work in a virtualenv")
def test_a_cell_of_cuda():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tilewright.magic")
    shell.user_ns["v"] = np.ones(64, "float32")
    explanation = shell.run_cell_magic("cuda_explain", "--grid 2 --block 32 --result found x=v n=64", PTX)
    assert shell.user_ns["found"] is explanation
    np.testing.assert_array_equal(explanation.arrays["x"], np.full((1, 64), 2))
    compiler()
    cuda = "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"
    explanation = shell.run_cell_magic("cuda_explain", "--block 64 x=f32[64]:ones n=64", cuda)
    np.testing.assert_array_equal(explanation.arrays["x"], np.full((1, 64), 2))
    with pytest.raises(tilewright.UnsupportedError, match="usage"):
        shell.run_cell_magic("cuda_explain", "--blok 64", cuda)
