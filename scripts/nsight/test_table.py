"""Tests of the comparison on outputs as the profiler writes them, without a GPU: python3 -m unittest discover -s scripts/nsight"""

import csv
import json
import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

import table

WIDE = """==PROF== Connected to process 17
==PROF== Profiling "copy_offset" - 0: 0%....100% - 1 pass
"ID","Process ID","Kernel Name","Grid Size","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","smsp__inst_executed.sum"
"","","","","sector","inst"
"0","17","copy_offset","(16, 1, 1)","640","2,304"
"1","17","pad(const float *, float *)","(2, 2, 1)","7","8"
"2","17","copy_offset","(1, 1, 1)","1","2"
"""

LONG = """"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","naive","Command line profiler metrics","smsp__inst_executed.sum","inst","1,024"
"0","naive","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","33"
==PROF== Disconnected from process 17
"""


def traffic(**numbers):
    return {"requests": 0, "sectors": 0, "wavefronts": 0} | numbers


def explanation(**changes):
    totals = {part: traffic() for part in ("global_load", "global_store", "shared_load", "shared_store")}
    for part in ("shared_load", "shared_store"):
        totals[part]["optimised"] = traffic()
    totals |= {"warp_instructions": 1024}
    atomic = {"space": "global", "operation": "atomic", "requests": 3, "sectors": 5}
    return {"totals": totals | changes, "lines": [{"accesses": [atomic, atomic]}, {"accesses": []}]}


def counter(name):
    return next(c for c in table.COUNTERS if c.name == name)


class Reading(unittest.TestCase):
    def test_the_wide_form(self):
        found = table.read_ncu(WIDE)
        self.assertEqual(found["copy_offset"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 640)
        self.assertEqual(found["copy_offset"]["smsp__inst_executed.sum"], 2304)
        self.assertEqual(set(found), {"copy_offset", "pad"})

    def test_the_long_form(self):
        self.assertEqual(table.read_ncu(LONG)["naive"]["smsp__inst_executed.sum"], 1024)

    def test_several_outputs_one_behind_the_other(self):
        found = table.read_ncu(WIDE + LONG)
        self.assertEqual(set(found), {"copy_offset", "pad", "naive"})
        self.assertEqual(found["copy_offset"]["smsp__inst_executed.sum"], 2304)

    def test_what_was_not_measured(self):
        text = WIDE.replace('"640"', '"n/a"')
        self.assertEqual(set(table.read_ncu(text)["copy_offset"]), {"smsp__inst_executed.sum"})
        self.assertEqual(table.read_ncu("==ERROR== the driver refuses\n"), {})

    def test_counters_that_the_profiler_knows(self):
        query = "Device NVIDIA H200\nsmsp__inst_executed   # of warp instructions\n"
        self.assertEqual(table.known_metrics(query), ["smsp__inst_executed.sum"])
        self.assertGreater(len(table.known_metrics("")), 10)


class Comparing(unittest.TestCase):
    def test_sums_of_hardware_and_of_accesses(self):
        atomics = counter("global atomic sectors")
        self.assertEqual(atomics.emulator(explanation()), 10)
        both = dict.fromkeys(atomics.metrics, 5.0)
        self.assertEqual(table.hardware(atomics, both), 10)
        both.popitem()
        self.assertIsNone(table.hardware(atomics, both))
        self.assertIsNone(table.hardware(atomics, None))

    def test_rows_and_summary(self):
        document = explanation(global_load=traffic(sectors=34, requests=8))
        kernels = [("naive", "naive"), ("gone", "gone")]
        made = list(table.rows(kernels, {"naive": document}, table.read_ncu(LONG), {}))
        by_name = {row.counter.name: row.numbers() for row in made}
        self.assertEqual(by_name["global load sectors"], [34, 34, 33, None])
        self.assertEqual(by_name["warp instructions"], [1024, 1024, 1024, None])
        self.assertNotIn("shared load wavefronts", by_name)
        text = table.markdown(made)
        self.assertIn("| naive | global load sectors | 34 | 34 | 33 | - | -1 | - |", text)
        self.assertIn("| warp instructions | levels differ | 1 | 1 of 1 | 0 of 0 | 0 of 0 |", text)
        self.assertIn("-O3 from the prediction\n\nNothing was measured.", text)
        self.assertNotIn("None.", text)

    def test_optimised_code_is_compared_with_the_prediction(self):
        loads = traffic(requests=64, wavefronts=64) | {"optimised": traffic(requests=40, wavefronts=48)}
        document = explanation(shared_load=loads)
        metric = counter("shared load instructions").metrics[0]
        measured = ({"naive": {metric: 64.0}}, {"naive": {metric: 40.0}})
        made = list(table.rows([("naive", "naive")], {"naive": document}, *measured))
        row = next(row for row in made if row.counter.name == "shared load instructions")
        self.assertEqual((row.numbers(), row.differences()), ([64, 40, 64, 40], [0, 0]))
        self.assertIn("| shared load instructions | one to one | 1 | 1 of 1 | 1 of 1 | 0 of 1 |", table.markdown(made))
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            (place / "naive.json").write_text(json.dumps(explanation(shared_load=loads | {"requests": 65})))
            table.write(made, place)
            self.assertEqual(table.main(["renew", place / "comparison.csv", place, place]), 0)
            with open(place / "comparison.csv", newline="") as file:
                found = next(row for row in csv.DictReader(file) if row["counter"] == "shared load instructions")
            self.assertEqual((found["emulator"], found["hardware_O0"], found["difference_O0"]), ("65", "64", "-1"))

    def test_nothing_measured_is_no_agreement(self):
        text = table.markdown(list(table.rows([("naive", "naive")], {"naive": explanation()}, {}, {})))
        self.assertIn("Nothing was measured.", text)


FAKES = {
    "ptxas": '#!/bin/sh\n[ "$1" = --version ] && exit\nfor last; do :; done\necho code >"$last"\n',
    "tilewright": """#!/bin/sh
[ "$1" = --version ] && exit
[ "$TILEWRIGHT_NVRTC_PATH" = none ] || exit 1
cat "$(dirname "$0")/explain.json"
""",
    "replay": """#!/bin/sh
case $1 in
list) printf 'copy-offset copy_offset\\nnaive naive\\nbroken broken\\n' ;;
export) shift; dir=$1; shift; for k; do echo ptx >"$dir/$k.0.ptx"; echo "$k ok"; done ;;
run) shift 2; for k; do [ "$k" = broken ] && echo "$k FAILED illegal address" || echo "$k ok same results"; done ;;
esac
""",
    # Of several kernels only the first is measured, as if the second had taken the device along.
    "ncu": """#!/bin/sh
case " $* " in *query*) exit 1 ;; *--version*) exit ;; esac
while [ $# -gt 0 ]; do
    [ "$1" = --log-file ] && log=$2
    [ "$1" = --metrics ] && shift 2 && break
    shift
done
"$@"
while [ "$1" != run ]; do shift; done
case $3 in
copy-offset) entry=copy_offset ;;
naive) entry=naive ;;
*) echo "==ERROR== no kernel" >"$log"; exit 1 ;;
esac
printf '"ID","Kernel Name","smsp__inst_executed.sum"\\n"","","inst"\\n"0","%s","1024"\\n' $entry >"$log"
""",
}


class Running(unittest.TestCase):
    def test_the_whole_run_with_stand_ins_for_all_programs(self):
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            environment = dict(os.environ)
            for name, text in FAKES.items():
                path = place / name
                path.write_text(text)
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
                environment[name.upper()] = str(path)
            (place / "explain.json").write_text(json.dumps(explanation()))
            out = place / "out"
            script = Path(__file__).with_name("run")
            done = subprocess.run(["bash", script, out], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("not measured at -O0: broken", done.stdout)
            self.assertIn("broken FAILED illegal address", done.stdout)
            with open(out / "comparison.csv", newline="") as file:
                found = {(row["kernel"], row["counter"]): row for row in csv.DictReader(file)}
            row = found["naive", "warp instructions"]
            self.assertEqual((row["emulator"], row["hardware_O0"], row["difference_O3"]), ("1024", "1024", "0"))
            self.assertEqual(found["broken", "warp instructions"]["hardware_O0"], "")
            self.assertIn("broken", (out / "comparison.md").read_text())
            self.assertLessEqual(len(list(out.iterdir())), 8)
            # A profiler that measures nothing is asked once.
            nothing = subprocess.run(["bash", script, out, "broken"], env=environment, capture_output=True, text=True)
            self.assertEqual(nothing.returncode, 1)
            self.assertIn("the profiler measured nothing", nothing.stdout)
            self.assertNotIn("again", nothing.stdout)
            unknown = subprocess.run(["bash", script, out, "voodoo"], env=environment, capture_output=True, text=True)
            self.assertEqual(unknown.returncode, 2)


if __name__ == "__main__":
    unittest.main()
