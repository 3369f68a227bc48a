"""The table of `run`: what the emulator counts beside what the hardware counts.

    table.py metrics QUERY                        the counters to ask for, of those that `ncu --query-metrics` lists in QUERY
    table.py missing KERNELS CSV                  kernels without a row in the profiler's CSV
    table.py write KERNELS EXPLAIN O0 O3 OUT      OUT/comparison.csv and OUT/comparison.md

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
    """A number of the emulator, the hardware counters whose sum it is compared with, and whether they ought to be equal."""

    def __init__(self, name, metrics, emulator, kind=EXACT):
        self.name, self.metrics, self.emulator, self.kind = name, metrics, emulator, kind


def total(part, key):
    return lambda document: document["totals"][part][key]


def accesses(space, operation, key):
    """The sum over all accesses of a kind."""

    def of(document):
        every = (access for line in document["lines"] for access in line["accesses"])
        return sum(a.get(key, 0) for a in every if (a["space"], a["operation"]) == (space, operation))

    return of


def lsu(what, operation):
    return f"l1tex__{what}_pipe_lsu_mem_{operation}.sum"


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
    Counter("shared load instructions", ["smsp__inst_executed_op_shared_ld.sum"], total("shared_load", "requests")),
    Counter("shared load wavefronts", ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], total("shared_load", "wavefronts")),
    Counter("shared store instructions", ["smsp__inst_executed_op_shared_st.sum"], total("shared_store", "requests")),
    Counter("shared store wavefronts", ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], total("shared_store", "wavefronts")),
    Counter(
        "shared atomic wavefronts",
        ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
        accesses("shared", "atomic", "wavefronts"),
        INFORMATION,
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


def rows(kernels, explanations, plain, optimised):
    """One row for each kernel and counter; counters that are zero everywhere are left out."""
    for name, entry in kernels:
        document = explanations.get(name)
        for counter in COUNTERS:
            emulated = counter.emulator(document) if document else None
            found = [hardware(counter, levels.get(entry)) for levels in (plain, optimised)]
            if any([emulated, *found]):
                yield name, counter, emulated, *found


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
        out.writerow(
            ["kernel", "counter", "comparison", "metrics", "emulator", "hardware_O0", "hardware_O3", "difference_O0", "difference_O3"]
        )
        for name, counter, emulated, plain, optimised in table:
            differences = [difference(found, emulated) for found in (plain, optimised)]
            numbers = [cell(value) for value in (emulated, plain, optimised, *differences)]
            out.writerow([name, counter.name, counter.kind, " + ".join(counter.metrics), *numbers])


def markdown(table):
    out = ["# The emulator beside the hardware", ""]
    out += ["`-O0`: the PTX assembled one to one. `-O3`: the same PTX, optimised. Differences are hardware minus emulator.", ""]
    out += ["| counter | comparison | kernels | equal at -O0 | equal at -O3 |", "|---|---|---:|---:|---:|"]
    for counter in COUNTERS:
        of = [row for row in table if row[1] is counter]
        if of:
            equal = [sum(row[i] is not None and row[i] == row[2] for row in of) for i in (3, 4)]
            measured = [sum(None not in (row[i], row[2]) for row in of) for i in (3, 4)]
            marks = [f"{e} of {m}" for e, m in zip(equal, measured)]
            out.append(f"| {counter.name} | {counter.kind} | {len(of)} | {marks[0]} | {marks[1]} |")
    exact = [row for row in table if row[1].kind == EXACT]
    unequal = [row for row in exact if row[3] is not None and row[3] != row[2]]
    lost = sorted({row[0] for row in exact if row[3] is None})
    out += ["", "## Differences at -O0 that ought to be none", ""]
    out += counted_rows(unequal) if unequal else ["None." if len(lost) < len({row[0] for row in exact}) else "Nothing was measured."]
    if lost:
        out += ["", "Not measured, or not completely: " + ", ".join(lost) + "."]
    out += ["", "## All counters", ""]
    return "\n".join(out + counted_rows(table)) + "\n"


def counted_rows(table):
    out = ["| kernel | counter | emulator | -O0 | -O3 | -O0 differs by | -O3 differs by |", "|---|---|---:|---:|---:|---:|---:|"]
    for name, counter, emulated, plain, optimised in table:
        numbers = [shown(value) for value in (emulated, plain, optimised)]
        numbers += [signed(difference(found, emulated)) for found in (plain, optimised)]
        out.append(f"| {name} | {counter.name} | " + " | ".join(numbers) + " |")
    return out


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
            table = list(rows(kernels, explanations, read_ncu(read_text(plain)), read_ncu(read_text(optimised))))
            write_csv(Path(out) / "comparison.csv", table)
            (Path(out) / "comparison.md").write_text(markdown(table))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
