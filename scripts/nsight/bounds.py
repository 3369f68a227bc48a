"""What `bounds` measured, and the table beside what the emulator says.

    bounds.py metrics                    the counters to ask for
    bounds.py measured DIR               DIR/measured.csv from DIR/measured.{cold,warm,counters}.csv and DIR/order.*: one row for each launch
    bounds.py table MEASURED DIR         DIR/bounds.csv and DIR/bounds.md from MEASURED (such a file, perhaps of another day) and DIR/explain

Standard library only.
"""

import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from bounds_table import write_table
from table import number

WARP_STATES = [
    "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar",
    "mio_throttle", "misc", "no_instruction", "not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait",
]  # fmt: skip
METRICS = [
    "gpu__time_duration.sum", "gpc__cycles_elapsed.avg.per_second", "sm__cycles_active.avg", "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum", "l1tex__data_pipe_lsu_wavefronts.sum", "l1tex__t_set_accesses.sum", "l1tex__m_xbar2l1tex_read_bytes.sum",
    "l1tex__m_l1tex2xbar_write_bytes.sum", "lts__t_bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
    "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed", "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    *(f"smsp__average_warps_issue_stalled_{state}_per_issue_active.ratio" for state in WARP_STATES),
]  # fmt: skip


STATE = "smsp__average_warps_issue_stalled_"
THROUGHPUT = ".avg.pct_of_peak_sustained_elapsed"
COUNTS = [metric for metric in METRICS[2:12] if not metric.startswith("breakdown")]


def launches(directory, name):
    """The profiler's rows with the names of their launches: [(launch, {metric: value})]."""
    lines = (Path(directory) / f"measured.{name}.csv").read_text(errors="replace").splitlines()
    header, *rows = csv.reader(line for line in lines if line.startswith('"'))
    order = (Path(directory) / f"order.{name}").read_text().split("\n")[:-1]
    # The first row is that of the units.
    for launched, row in zip(order, rows[1:], strict=False):
        launch, entry = launched.split()
        cells = dict(zip(header, row, strict=True))
        if cells["Kernel Name"].split("(")[0] != entry:
            raise ValueError(f"{name}: {cells['Kernel Name']} was measured where {entry} was launched")
        yield launch, entry, {key: number(value) for key, value in cells.items() if "__" in key}


def times(directory, name):
    """Microseconds of each launch: the median, without kernels that only prepare it."""
    found, last = defaultdict(list), {}
    for launch, entry, cells in launches(directory, name):
        found[launch, entry].append(cells["gpu__time_duration.sum"] / 1000)
        last[launch] = entry
    return {launch: statistics.median(found[launch, entry]) for launch, entry in last.items()}


def busiest(cells):
    """The parts of the chip by their throughput, in per cent of their peaks."""
    parts = [(value, key.removesuffix(THROUGHPUT)) for key, value in cells.items() if key.endswith(THROUGHPUT) and value is not None]
    # What has "internal" in its name is no part that one could read about.
    return sorted(((value, key) for value, key in parts if "internal" not in key), reverse=True)


def states(cells):
    """What the warps wait for, as shares of all their waiting."""
    waits = {
        key.removeprefix(STATE).removesuffix("_per_issue_active.ratio"): value
        for key, value in cells.items()
        if key.startswith(STATE) and value is not None and "selected" not in key
    }
    total = sum(waits.values()) or 1.0
    return sorted(((value / total, key) for key, value in waits.items()), reverse=True)


def measured(directory):
    cold, warm = times(directory, "cold"), times(directory, "warm")
    counted = {launch: cells for launch, _, cells in launches(directory, "counters")}
    with open(Path(directory) / "measured.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["launch", "cold_us", "warm_us", "mhz", "parts", "waits", *COUNTS])
        for launch, us in cold.items():
            cells = counted.get(launch, {})
            mhz = round(cells["gpc__cycles_elapsed.avg.per_second"] / 1e6) if cells else ""
            parts = " ".join(f"{key}={value:.1f}" for value, key in busiest(cells)[:6])
            waits = " ".join(f"{key}={share:.2f}" for share, key in states(cells)[:4])
            out.writerow([launch, f"{us:.2f}", f"{warm[launch]:.2f}", mhz, parts, waits, *(f"{cells.get(count) or 0:.6g}" for count in COUNTS)])


def main(arguments):
    match arguments:
        case ["metrics"]:
            print(",".join(METRICS))
        case ["measured", directory]:
            measured(directory)
        case ["table", recorded, directory]:
            write_table(recorded, directory)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
