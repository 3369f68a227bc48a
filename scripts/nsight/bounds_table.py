"""Writes what was measured beside what the emulator says: bounds.csv and bounds.md."""

import csv
from pathlib import Path

from bounds_model import said_of
from launches import PRODUCTS, PROGRAMS, launches

# The profiler's names for parts, by how they begin.
PARTS = [
    ("sm__inst_executed_pipe_lsu", "l1_data"), ("sm__inst_executed_pipe_adu", "constant"), ("sm__inst_executed_pipe_xu", "xu"),
    ("sm__inst_executed_pipe_tex", "texture"), ("sm__inst_executed", "issue"), ("sm__issue_active", "issue"), ("sm__pipe_fma", "fma"),
    ("sm__pipe_alu", "alu"), ("sm__pipe_fp64", "f64"), ("sm__pipe_tensor", "tensor"), ("sm__pipe_shared", "tensor"), ("sm__mio", "l1_data"),
    ("l1tex__lsuin", "l1_data"), ("l1tex__data", "l1_data"), ("l1tex__lsu", "l1_data"), ("l1tex__m_", "l2"), ("l1tex__f_", "texture"),
    ("l1tex__tex", "texture"), ("lts__d_atomic", "atomics"), ("lts__", "l2"), ("dram__", "dram"), ("fbpa__", "dram"), ("idc__", "constant"),
]  # fmt: skip
# Below this, in per cent of its peak, no part is busy: latencies and launches decide.
BUSY = 25.0
# A part that is at this share of the busiest is the busiest, too.
NEAR = 0.9


def part_of(metric):
    if metric.startswith("l1tex__data_pipe_tex"):
        return "texture"
    return next((part for start, part in PARTS if metric.startswith(start)), metric)


class Row:
    def __init__(self, launch, cells, said):
        self.name, self.size = launch.name.split("/")
        self.cold, self.warm = float(cells["cold_us"]), float(cells["warm_us"])
        self.parts = {}
        for word in cells["parts"].split():
            metric, value = word.split("=")
            part = part_of(metric)
            self.parts[part] = max(self.parts.get(part, 0.0), float(value))
        self.waits = cells["waits"].split()
        self.said = said
        if said:
            self.bound, self.prediction = said.bound / said.mhz, said.prediction / said.mhz

    def ratio(self):
        return self.cold / self.prediction

    def busiest(self):
        part, value = max(self.parts.items(), key=lambda item: item[1], default=("", 0.0))
        return part, value

    def is_busy(self):
        return self.busiest()[1] >= BUSY

    def agrees(self):
        """The same part, or one that is as busy within a tenth."""
        return self.parts.get(self.said.busiest(), 0.0) >= NEAR * self.busiest()[1]

    def waits_agree(self):
        """What makes warps wait first, by the emulator, is one of the two first of the profiler."""
        return self.said.waits[:1] != [] and self.said.waits[0] in [wait.split("=")[0] for wait in self.waits[:2]]

    def cells(self):
        bounding = max(self.said.cycles, key=self.said.cycles.get)
        part, value = self.busiest()
        return [
            self.name, self.size, f"{self.cold:.2f}", f"{self.warm:.2f}", f"{self.bound:.2f}", f"{self.cold / self.bound:.2f}",
            f"{self.prediction:.2f}", f"{self.ratio():.2f}", bounding, self.said.busiest(), part, f"{value:.0f}", (self.said.waits or [""])[0], (self.waits or [""])[0],
        ]  # fmt: skip


HEADER = [
    "kernel", "size", "measured_us", "warm_us", "bound_us", "measured_by_bound", "prediction_us", "measured_by_prediction", "bounding_part",
    "busiest_part", "ncu_busiest_part", "ncu_per_cent", "first_wait", "ncu_first_wait",
]  # fmt: skip


def rows(recorded, directory):
    with open(recorded, newline="") as file:
        measured = {cells["launch"]: cells for cells in csv.DictReader(file)}
    known = [launch for launch in launches() if launch.name in measured]
    return [Row(launch, measured[launch.name], said_of(launch, Path(directory) / "explain")) for launch in known]


def share(rows, holds):
    good = sum(holds(row) for row in rows)
    return f"{good} of {len(rows)} ({100 * good / max(len(rows), 1):.0f} %)"


def within(factor):
    return lambda row: 1 / factor <= row.ratio() <= factor


def summary(rows):
    programs = {program.name for program in PROGRAMS}
    kinds = {
        "ladder": [row for row in rows if row.name in {*PRODUCTS, "single-block"}],
        "simt": [row for row in rows if row.name.startswith("simt-")],
        "gallery": [row for row in rows if row.name not in {*PRODUCTS, "single-block", *programs} and not row.name.startswith("simt-")],
        "programs of others": [row for row in rows if row.name in programs],
        "all": rows,
    }
    out = ["| launches | bound not above measured / 0.97 | within 1.1x | 1.25x | 1.5x | busiest part agrees, where one is busy | first wait is one of the profiler's first two |", "|---|---|---|---|---|---|---|"]
    for kind, some in kinds.items():
        bounded = share(some, lambda row: row.cold >= 0.97 * row.bound)
        near = " | ".join(share(some, within(factor)) for factor in (1.1, 1.25, 1.5))
        busy = [row for row in some if row.is_busy()]
        out.append(f"| {kind} | {bounded} | {near} | {share(busy, Row.agrees)} | {share(some, Row.waits_agree)} |")
    return out


def formula_error(rows):
    """How far the model's formula is from the emulator's own prediction, of launches that were executed whole."""
    whole = [row.said for row in rows if not row.said.grown]
    return max((abs(said.predict() / said.prediction - 1) for said in whole), default=0.0)


def write_table(recorded, directory):
    every = rows(recorded, directory)
    said = [row for row in every if row.said]
    print(f"formula: {100 * formula_error(said):.1f} % at most from the emulator's predictions")
    with open(Path(directory) / "bounds.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        out.writerows(row.cells() for row in said)
    lines = summary(said)
    if len(said) < len(every):
        lines += ["", "Nothing is said of: " + ", ".join(f"{row.name}/{row.size}" for row in every if not row.said) + "."]
    lines += ["", "| " + " | ".join(HEADER) + " |", "|---|" + "---:|" * 7 + "---|---|---|---:|---|---|"]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in said]
    (Path(directory) / "bounds.md").write_text("\n".join(lines) + "\n")
    print("\n".join(summary(said)))
