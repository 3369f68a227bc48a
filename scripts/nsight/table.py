"""The table of `run`: what the emulator counts beside what the hardware counts.

    table.py metrics QUERY                        the counters to ask for, of those that `ncu --query-metrics` lists in QUERY
    table.py missing KERNELS CSV                  kernels without a row in the profiler's CSV
    table.py write KERNELS EXPLAIN O0 O3 OUT      OUT/comparison.csv and OUT/comparison.md
    table.py renew RECORDED EXPLAIN OUT           the same, with the hardware's numbers of an earlier comparison.csv

KERNELS has a line "name entry" for each kernel, EXPLAIN a file NAME.json for each. Standard library only.
"""

import csv
import json
import sys
from pathlib import Path

EXACT = "one to one"
OPTIMISED = "levels differ"
INFORMATION = "for information"


class Counter:
    """A number of the emulator, the hardware counters whose sum it is compared with, and whether they ought to be equal.

    `predicted` is the number that the emulator expects of optimised code, if not the same.
    """

    def __init__(self, name, metrics, emulator, kind=EXACT, predicted=None):
        self.name, self.metrics, self.emulator, self.kind = name, metrics, emulator, kind
        self.predicted = predicted or emulator


def total(part, key):
    return lambda document: document["totals"][part][key]


def optimised(part, key):
    return lambda document: document["totals"][part]["optimised"][key]


def accesses(space, operation, key):
    """The sum over all accesses of a kind."""

    def of(document):
        every = (access for line in document["lines"] for access in line["accesses"])
        return sum(a.get(key, 0) for a in every if (a["space"], a["operation"]) == (space, operation))

    return of


def lsu(what, operation):
    return f"l1tex__{what}_pipe_lsu_mem_{operation}.sum"


def shared(operation, what, metric, key):
    part = f"shared_{operation}"
    return Counter(f"shared {operation} {what}", [metric], total(part, key), predicted=optimised(part, key))


COUNTERS = [
    Counter("global load requests", [lsu("t_requests", "global_op_ld")], total("global_load", "requests")),
    Counter("global load sectors", [lsu("t_sectors", "global_op_ld")], total("global_load", "sectors")),
    Counter("global store requests", [lsu("t_requests", "global_op_st")], total("global_store", "requests")),
    Counter("global store sectors", [lsu("t_sectors", "global_op_st")], total("global_store", "sectors")),
    Counter(
        "global atomic requests",
        [lsu("t_requests", "global_op_atom"), lsu("t_requests", "global_op_red")],
        accesses("global", "atomic", "requests"),
    ),
    Counter(
        "global atomic sectors",
        [lsu("t_sectors", "global_op_atom"), lsu("t_sectors", "global_op_red")],
        accesses("global", "atomic", "sectors"),
    ),
    shared("load", "instructions", "smsp__inst_executed_op_shared_ld.sum", "requests"),
    shared("load", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts"),
    shared("store", "instructions", "smsp__inst_executed_op_shared_st.sum", "requests"),
    shared("store", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts"),
    Counter(
        "shared atomic wavefronts",
        ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
        accesses("shared", "atomic", "wavefronts"),
    ),
    Counter("local load sectors", [lsu("t_sectors", "local_op_ld")], accesses("local", "load", "sectors"), INFORMATION),
    Counter("local store sectors", [lsu("t_sectors", "local_op_st")], accesses("local", "store", "sectors"), INFORMATION),
    Counter("warp instructions", ["smsp__inst_executed.sum"], lambda document: document["totals"]["warp_instructions"], OPTIMISED),
]


def known_metrics(query):
    """The counters that the profiler lists; all of them when it lists none of them."""
    wanted = [metric for counter in COUNTERS for metric in counter.metrics]
    listed = {line.split()[0] for line in query.splitlines() if line.split()}
    known = [metric for metric in wanted if metric.split(".")[0] in listed]
    return known or wanted


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read_ncu(text):
    """The counters of each entry, {entry: {metric: value}}: of its first launch that was measured.

    Takes the wide form of `--page raw` and the long form, several outputs one behind the other, and other lines between them.
    """
    launches, header = {}, None
    lines = [line for line in text.splitlines() if line.startswith('"')]
    for order, row in enumerate(csv.reader(lines)):
        if "Kernel Name" in row:
            header, section = row, order
            continue
        if header is None or len(row) != len(header):
            continue
        cells = dict(zip(header, row))
        # The row of units has no number.
        if not cells.get("ID", "").strip().isdigit():
            continue
        entry = cells["Kernel Name"].split("(")[0].strip()
        found = launches.setdefault((entry, section, int(cells["ID"])), {})
        pairs = [(cells["Metric Name"], cells["Metric Value"])] if "Metric Name" in cells else cells.items()
        for name, value in pairs:
            value = number(value) if "__" in name else None
            if value is not None:
                found[name] = value
    first = {}
    for (entry, _, _), found in launches.items():
        if found:
            first.setdefault(entry, found)
    return first


def read_kernels(path):
    return [tuple(line.split()) for line in Path(path).read_text().splitlines() if line.strip()]


def read_text(path):
    path = Path(path)
    return path.read_text(errors="replace") if path.is_file() else ""


def read_explanation(path):
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError:
        return None


def hardware(counter, measured):
    """The sum of the counters; None unless all of them were measured."""
    values = [(measured or {}).get(metric) for metric in counter.metrics]
    return None if None in values else round(sum(values))


class Row:
    """A counter of a kernel: of the emulator, predicted for optimised code, and of the hardware at -O0 and -O3."""

    def __init__(self, kernel, counter, document, plain, optimised):
        self.kernel, self.counter, self.plain, self.optimised = kernel, counter, plain, optimised
        self.emulated = counter.emulator(document) if document else None
        self.predicted = counter.predicted(document) if document else None

    def numbers(self):
        return [self.emulated, self.predicted, self.plain, self.optimised]

    def differences(self):
        return [difference(self.plain, self.emulated), difference(self.optimised, self.predicted)]


def rows(kernels, explanations, plain, optimised):
    """One row for each kernel and counter; counters that are zero everywhere are left out."""
    for name, entry in kernels:
        for counter in COUNTERS:
            found = [hardware(counter, levels.get(entry)) for levels in (plain, optimised)]
            row = Row(name, counter, explanations.get(name), *found)
            if any(row.numbers()):
                yield row


def recorded_rows(path, directory):
    """The rows of an earlier comparison, with what the emulator says today."""
    by_name = {counter.name: counter for counter in COUNTERS}
    with open(path, newline="") as file:
        for cells in csv.DictReader(file):
            found = [int(cells[level]) if cells[level] else None for level in ("hardware_O0", "hardware_O3")]
            document = read_explanation(Path(directory) / f"{cells['kernel']}.json")
            yield Row(cells["kernel"], by_name[cells["counter"]], document, *found)


def difference(found, emulated):
    return None if None in (found, emulated) else found - emulated


def cell(value):
    return "" if value is None else str(value)


def shown(value):
    return "-" if value is None else f"{value:,}"


def signed(value):
    return "-" if value is None else "0" if value == 0 else f"{value:+,}"


def write_csv(path, table):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        numbers = ["emulator", "predicted", "hardware_O0", "hardware_O3", "difference_O0", "difference_O3"]
        out.writerow(["kernel", "counter", "comparison", "metrics", *numbers])
        for row in table:
            numbers = [cell(value) for value in (*row.numbers(), *row.differences())]
            counter = row.counter
            out.writerow([row.kernel, counter.name, counter.kind, " + ".join(counter.metrics), *numbers])


def markdown(table):
    out = ["# The emulator beside the hardware", ""]
    out += ["`-O0`: the PTX assembled one to one, compared with the emulator's counts. `-O3`: the same PTX, optimised, compared with what the"]
    out += ["emulator predicts for it. Differences are hardware minus emulator, and hardware minus prediction.", ""]
    out += ["| counter | comparison | kernels | equal at -O0 | equal at -O3 | -O3 without prediction |", "|---|---|---:|---:|---:|---:|"]
    for counter in COUNTERS:
        of = [row for row in table if row.counter is counter]
        if of:
            pairs = [[(row.plain, row.emulated) for row in of], [(row.optimised, row.predicted) for row in of]]
            pairs.append([(row.optimised, row.emulated) for row in of])
            marks = [f"{sum(a == b for a, b in both)} of {len(both)}" for both in map(measured, pairs)]
            out.append(f"| {counter.name} | {counter.kind} | {len(of)} | " + " | ".join(marks) + " |")
    exact = [row for row in table if row.counter.kind == EXACT]
    lost = sorted({row.kernel for row in exact if row.plain is None})
    out += ["", "## Differences at -O0 that ought to be none", ""] + unequal_rows(exact, 0)
    out += ["", "## Differences at -O3 from the prediction", ""] + unequal_rows(exact, 1)
    out += ["", "Stores of optimised code come so close together that the counter holds passes which were lost to another unit, too; their instructions are equal."]
    out += ["A float addition in shared memory is a loop on the hardware; the rounds of optimised code depend on timing. `README.md` has more."]
    if lost:
        out += ["", "Not measured, or not completely: " + ", ".join(lost) + "."]
    out += ["", "## All counters", ""]
    return "\n".join(out + counted_rows(table)) + "\n"


def measured(pairs):
    return [pair for pair in pairs if None not in pair]


def counted_rows(table):
    out = ["| kernel | counter | emulator | predicted | -O0 | -O3 | -O0 differs by | -O3 differs by |", "|---|---|" + 6 * "---:|"]
    for row in table:
        numbers = [shown(value) for value in row.numbers()] + [signed(value) for value in row.differences()]
        out.append(f"| {row.kernel} | {row.counter.name} | " + " | ".join(numbers) + " |")
    return out


def unequal_rows(table, level):
    if any(row.differences()[level] for row in table):
        return counted_rows([row for row in table if row.differences()[level]])
    return ["Nothing was measured." if all(row.differences()[level] is None for row in table) else "None."]


def write(table, out):
    write_csv(Path(out) / "comparison.csv", table)
    (Path(out) / "comparison.md").write_text(markdown(table))


def main(arguments):
    match arguments:
        case ["metrics", query]:
            print(",".join(known_metrics(read_text(query))))
        case ["missing", kernels, path]:
            measured = read_ncu(read_text(path))
            print("\n".join(name for name, entry in read_kernels(kernels) if entry not in measured))
        case ["write", kernels, directory, plain, optimised, out]:
            kernels = read_kernels(kernels)
            explanations = {name: read_explanation(Path(directory) / f"{name}.json") for name, _ in kernels}
            write(list(rows(kernels, explanations, read_ncu(read_text(plain)), read_ncu(read_text(optimised)))), out)
        case ["renew", recorded, directory, out]:
            write(list(recorded_rows(recorded, directory)), out)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
