"""Tests of launches.py, bounds_model.py and bounds_table.py."""

import json
import tempfile
import unittest
from pathlib import Path

import bounds
from bounds_model import Said, said_of
from bounds_table import Row, part_of
from launches import Launch, blocks, launches


def document(parts, grid, on_busiest=1.0, chains=(0.0, 0.0), once=4096.0, likely=None):
    rows = [{"part": part, "cycles": cycles, "likely_cycles": cycles} for part, cycles in parts.items()]
    latency = {"resident_blocks": 2, "chain_cycles_per_warp": [chains[0], chains[1]], "new_data_chain_cycles_per_warp": [chains[1], chains[-1]]}
    return {
        "grid": grid,
        "bound": {
            "sms": 132, "clock_hz": 1_980_000_000, "blocks_on_busiest_sm": on_busiest, "parts": rows, "cycles": max(parts.values()),
            "traffic": {"l2_bytes": [once, once], "likely_l2_bytes": once, "likely_l2_load_bytes": once, "likely_l2_store_bytes": 0.0}, "latency": latency, "waits": [{"reason": "lg_throttle", "share": 1.0}], "prediction": {"likely_cycles": likely or 0.0},
        },
    }  # fmt: skip


def said(launch, documents):
    with tempfile.TemporaryDirectory() as folder:
        for (name, _, _), found in zip(launch.stands, documents, strict=True):
            (Path(folder) / f"{name.replace('/', '_')}.json").write_text(json.dumps(found))
        return said_of(launch, folder)


class Launches(unittest.TestCase):
    def test_every_launch_has_a_name_of_its_own_and_stands_that_are_no_larger(self):
        every = list(launches())
        self.assertEqual(len({launch.name for launch in every}), len(every))
        self.assertTrue(all(launch.ratio >= 1 for launch in every))
        self.assertTrue(all(launch.name.count("/") == 1 for launch in every))

    def test_a_grid_is_counted(self):
        self.assertEqual(blocks("8,4"), 32)


class Model(unittest.TestCase):
    def test_a_launch_that_is_executed_whole_is_what_was_said(self):
        launch = Launch("k/1", "k", "")
        found = said(launch, [document({"fma": 9000.0, "launch": 2400.0}, [132, 1, 1], likely=12000.0)])
        self.assertEqual((found.bound, found.prediction, found.busiest()), (9000.0, 12000.0, "fma"))

    def test_blocks_are_dealt_to_multiprocessors_and_the_chip_grows_with_all_of_them(self):
        launch = Launch("k/4", "k", "", [("k/1", None, "")], ratio=3.0)
        found = said(launch, [document({"fma": 1000.0, "atomics": 500.0}, [132, 1, 1], on_busiest=1.0)])
        self.assertEqual((found.on_busiest, found.cycles["fma"], found.cycles["atomics"]), (3, 3000.0, 1500.0))
        few = said(Launch("k/4", "k", "", [("k/1", None, "")], ratio=4.0), [document({"fma": 1000.0}, [66, 1, 1])])
        self.assertEqual((few.on_busiest, few.cycles["fma"]), (2, 2000.0))

    def test_a_bound_has_the_mean_where_a_prediction_has_the_blocks_left_over(self):
        launch = Launch("k/4", "k", "", [("k/1", None, "")], ratio=1.5)
        found = said(launch, [document({"fma": 1000.0}, [132, 1, 1])])
        self.assertEqual((found.cycles["fma"], found.likely["fma"]), (1500.0, 2000.0))

    def test_depth_is_a_straight_line(self):
        launch = Launch("k/4", "k", "", [("a", 10, ""), ("b", 20, "")], depth=100)
        found = said(launch, [document({"fma": fma}, [132, 1, 1]) for fma in (5100.0, 10100.0)])
        self.assertAlmostEqual(found.cycles["fma"], 50100.0)

    def test_chains_take_as_long_as_multiprocessors_are_filled_anew(self):
        launch = Launch("k/4", "k", "", [("k/1", None, "")], ratio=6.0)
        found = said(launch, [document({"fma": 10.0}, [132, 1, 1], chains=(0.0, 1e6))])
        # Two of six blocks at a time.
        self.assertAlmostEqual(found.prediction / (2.4 * 1980 + 3e6), 1.0, places=3)

    def test_data_that_no_block_has_loaded_before_comes_from_device_memory(self):
        # One round of blocks, so that all load for the first time; with ten, a tenth does.
        launch = lambda ratio: Launch("k/4", "k", "", [("k/1", None, "")], ratio=ratio, once=1.0)
        chained = lambda ratio: said(launch(ratio), [document({"fma": 1.0}, [132, 1, 1], chains=(0.0, 1e6, 3e6))]).prediction
        self.assertAlmostEqual(chained(2.0) / (2.4 * 1980 + 3e6), 1.0, places=2)
        self.assertAlmostEqual(chained(20.0) / (2.4 * 1980 + 1.2e7), 1.0, places=2)

    def test_nothing_is_said_without_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(said_of(Launch("k/1", "k", ""), folder))


class Table(unittest.TestCase):
    CELLS = {"cold_us": "10.0", "warm_us": "9.0", "parts": "l1tex__data_pipe_lsu_wavefronts=80.0 sm__issue_active=75.0", "waits": "lg_throttle=0.9 wait=0.1"}

    def test_names_of_the_profiler_are_ours(self):
        names = ["sm__inst_executed_pipe_lsu", "sm__inst_executed", "lts__d_atomic_input_cycles_active", "l1tex__data_pipe_tex_wavefronts"]
        self.assertEqual([part_of(name) for name in names], ["l1_data", "issue", "atomics", "texture"])

    def test_parts_within_a_tenth_of_the_busiest_agree(self):
        row = lambda part: Row(Launch("k/1", "k", ""), self.CELLS, Said(**of(part)))
        of = lambda part: (lambda d: {"bound": d["bound"], "grid": d["grid"]})(document({part: 1e4}, [132, 1, 1], likely=2e4))
        self.assertEqual([row(part).agrees() for part in ("l1_data", "issue", "dram")], [True, True, False])
        self.assertAlmostEqual(row("issue").ratio(), 10.0 / (2e4 / 1980))
        self.assertTrue(row("issue").waits_agree())

    def test_shares_of_waiting_add_up(self):
        cells = {f"{bounds.STATE}{name}_per_issue_active.ratio": value for name, value in [("wait", 1.0), ("barrier", 3.0), ("selected", 9.0)]}
        self.assertEqual(bounds.states(cells), [(0.75, "barrier"), (0.25, "wait")])


if __name__ == "__main__":
    unittest.main()
